//! Bonuses and rewards, in whatever order their events come.

use platform::{ids::Ids, messaging::inbox::Applied};
use proto::events::v1::{OrderCanceled, OrderPaid, TaskCompleted};
use sqlx::{
    ConnectOptions as _,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use wallet_svc::{
    asset::directory::AssetDirectory,
    consumers::{
        Poster, order_canceled::RevokeBonus, order_paid::GrantBonus, task_completed::CreditReward,
    },
    posting,
};

use crate::bed::Bed;

/// Handles events as the consumers of a process do.
struct Events {
    poster: Poster,
    _stop: DropGuard,
}

impl Events {
    fn new(server: &PgConnectOptions) -> Self {
        let app = server.clone().username("guerdon_wallet_app");
        let url = app.to_url_lossy().to_string();
        let pool = posting::Poster::connect(&url).unwrap();
        let assets = AssetDirectory::new(pool.clone());
        let (postings, poster) = posting::Poster::new(pool, Ids::seeded(9));
        let stop = CancellationToken::new();
        tokio::spawn(poster.run(stop.clone()));
        Self {
            poster: Poster { postings, assets },
            _stop: stop.drop_guard(),
        }
    }

    async fn paid(&self, order: &str, wallet: &str, bonus: &str) -> Applied {
        let event = OrderPaid {
            order_id: order.to_owned(),
            wallet_id: wallet.to_owned(),
            bonus: bonus.to_owned(),
            bonus_asset_code: "points".to_owned(),
            ..OrderPaid::default()
        };
        GrantBonus(self.poster.clone()).handle(event).await.unwrap()
    }

    async fn canceled(&self, order: &str, wallet: &str, revoked: &str) -> Applied {
        let event = OrderCanceled {
            order_id: order.to_owned(),
            wallet_id: wallet.to_owned(),
            bonus_revoked: revoked.to_owned(),
            bonus_asset_code: "points".to_owned(),
            ..OrderCanceled::default()
        };
        RevokeBonus(self.poster.clone())
            .handle(event)
            .await
            .unwrap()
    }

    async fn task_completed(&self, transaction: &str, wallet: &str, amount: &str) -> Applied {
        let event = TaskCompleted {
            transaction_id: transaction.to_owned(),
            wallet_id: wallet.to_owned(),
            amount: amount.to_owned(),
            asset_code: "points".to_owned(),
            ..TaskCompleted::default()
        };
        CreditReward(self.poster.clone())
            .handle(event)
            .await
            .unwrap()
    }
}

const ORDER: &str = "0192abcd-0000-7000-8000-000000000101";
const OTHER: &str = "0192abcd-0000-7000-8000-000000000102";
const REWARD: &str = "0192abcd-0000-7000-8000-000000000103";

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn payment_and_cancellation_commute(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server.clone()).await;
    let events = Events::new(&server);
    let (first, second) = (bed.wallet().await, bed.wallet().await);
    assert_eq!(
        events.paid(ORDER, &first, "10.00000000").await,
        Applied::Now
    );
    assert_eq!(
        events.paid(ORDER, &first, "10.00000000").await,
        Applied::Before
    );
    assert_eq!(bed.balance(&first).await, ["points 10 10 0 0"]);
    assert_eq!(
        events.canceled(ORDER, &first, "4.00000000").await,
        Applied::Now
    );
    assert_eq!(
        events.canceled(ORDER, &first, "4.00000000").await,
        Applied::Before
    );

    events.canceled(OTHER, &second, "4.00000000").await;
    assert!(bed.balance(&second).await.is_empty());
    events.paid(OTHER, &second, "10.00000000").await;
    events.canceled(OTHER, &second, "4.00000000").await;
    assert_eq!(bed.balance(&first).await, bed.balance(&second).await);
    assert_eq!(bed.balance(&first).await, ["points 6 6 0 0"]);
    assert_eq!(
        events.paid(ORDER, &first, "0.00000000").await,
        Applied::Before
    );
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_was_spent_is_owed_and_settled_first(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server.clone()).await;
    let events = Events::new(&server);
    let (wallet, other) = (bed.wallet().await, bed.wallet().await);
    bed.lock(&wallet, true).await;
    events.paid(ORDER, &wallet, "10.00000000").await;
    bed.lock(&wallet, false).await;
    let mut spend = crate::bed::transfer(&wallet, &other, "7", true);
    "points".clone_into(&mut spend.asset_code);
    bed.transactions().create_transfer(spend).await.unwrap();
    events.canceled(ORDER, &wallet, "10.00000000").await;
    assert_eq!(bed.balance(&wallet).await, ["points 0 0 0 0"]);
    let short = "select count(*) from wallet.transactions
                 where metadata::jsonb ->> 'bonusShortfall' = '7.00000000'";
    assert_eq!(bed.count(short).await, 1);

    events.task_completed(REWARD, &wallet, "5.00000000").await;
    events.task_completed(REWARD, &wallet, "5.00000000").await;
    assert_eq!(bed.balance(&wallet).await, ["points 0 0 0 0"]);
    events.paid(OTHER, &wallet, "6.00000000").await;
    assert_eq!(bed.balance(&wallet).await, ["points 4 4 0 0"]);
    let owed = "select count(*) from wallet.order_bonuses where owed > 0";
    assert_eq!(bed.count(owed).await, 0);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_reward_is_credited_once(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server.clone()).await;
    let (one, two) = (Events::new(&server), Events::new(&server));
    let wallet = bed.wallet().await;
    let (first, second) = tokio::join!(
        one.task_completed(REWARD, &wallet, "5.00000000"),
        two.task_completed(REWARD, &wallet, "5.00000000")
    );
    assert_ne!(first, second);
    assert_eq!(bed.balance(&wallet).await, ["points 5 5 0 0"]);
    let reward = "select count(*) from wallet.transactions
                  where id = '0192abcd-0000-7000-8000-000000000103' and code = 'internal'
                      and type = 'deposit' and metadata::jsonb ->> 'reason' = 'task'";
    assert_eq!(bed.count(reward).await, 1);
    bed.end().await;
}
