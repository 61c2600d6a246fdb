//! Bonuses and rewards, in any order of their events.

use platform::{error::Failure, messaging::inbox::Applied, pg, testing::eventually};
use proto::events::v1::{BonusRevoked, OrderCanceled, OrderPaid, TaskCompleted};
use sqlx::PgPool;
use wallet_svc::consumers::{
    Ledger, Referrals, order_canceled::RevokeBonuses, order_paid::GrantBonus,
    task_completed::CreditReward,
};

use crate::harness::{DEADLINE, TestApp, balance, transfer};

/// Handles events as the consumers of a process do.
struct Events {
    ledger: Ledger,
    referrals: Referrals,
}

impl Events {
    fn of(app: &TestApp) -> Self {
        Self {
            ledger: app.ledger(),
            referrals: app.referrals(),
        }
    }

    async fn paid(&self, order: &str, wallet: &str, bonus: &str) -> Applied {
        self.grant(order, wallet, bonus).await.unwrap()
    }

    async fn grant(&self, order: &str, wallet: &str, bonus: &str) -> Result<Applied, Failure> {
        let event = OrderPaid {
            order_id: order.to_owned(),
            wallet_id: wallet.to_owned(),
            bonus: bonus.to_owned(),
            bonus_asset_code: "points".to_owned(),
            ..OrderPaid::default()
        };
        GrantBonus(self.ledger.clone()).handle(event).await
    }

    async fn canceled(&self, order: &str, wallet: &str, revoked: &str) -> Applied {
        let event = OrderCanceled {
            order_id: order.to_owned(),
            wallet_id: wallet.to_owned(),
            bonus_revoked: revoked.to_owned(),
            bonus_asset_code: "points".to_owned(),
            ..OrderCanceled::default()
        };
        let revoke = RevokeBonuses(self.referrals.clone());
        revoke.handle(event).await.unwrap()
    }

    async fn task_completed(&self, transaction: &str, wallet: &str, amount: &str) -> Applied {
        let completed = self.complete_task(transaction, wallet, amount).await;
        completed.unwrap()
    }

    async fn complete_task(
        &self,
        transaction: &str,
        wallet: &str,
        amount: &str,
    ) -> Result<Applied, Failure> {
        let event = TaskCompleted {
            transaction_id: transaction.to_owned(),
            wallet_id: wallet.to_owned(),
            amount: amount.to_owned(),
            asset_code: "points".to_owned(),
            ..TaskCompleted::default()
        };
        CreditReward(self.ledger.clone()).handle(event).await
    }
}

const ORDER: &str = "0192abcd-0000-7000-8000-000000000101";
const OTHER: &str = "0192abcd-0000-7000-8000-000000000102";
const REWARD: &str = "0192abcd-0000-7000-8000-000000000103";

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn grant_and_revocation_commute(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let events = Events::of(&app);
    let (first, second) = (app.new_wallet().await, app.new_wallet().await);
    assert_eq!(
        events.paid(ORDER, &first, "10.00000000").await,
        Applied::Now
    );
    assert_eq!(
        events.paid(ORDER, &first, "10.00000000").await,
        Applied::Before
    );
    assert_eq!(app.balances(&first).await, [balance("points", "10")]);
    assert_eq!(
        events.canceled(ORDER, &first, "4.00000000").await,
        Applied::Now
    );
    assert_eq!(
        events.canceled(ORDER, &first, "4.00000000").await,
        Applied::Before
    );

    events.canceled(OTHER, &second, "4.00000000").await;
    assert!(app.balances(&second).await.is_empty());
    events.paid(OTHER, &second, "10.00000000").await;
    events.canceled(OTHER, &second, "4.00000000").await;
    assert_eq!(app.balances(&first).await, app.balances(&second).await);
    assert_eq!(app.balances(&first).await, [balance("points", "6")]);
    assert_eq!(
        events.paid(ORDER, &first, "0.00000000").await,
        Applied::Before
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_spent_bonus_is_owed_and_settled_from_later_credits(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let events = Events::of(&app);
    let (wallet, other) = (app.new_wallet().await, app.new_wallet().await);
    app.lock(&wallet, true).await;
    events.paid(ORDER, &wallet, "10.00000000").await;
    app.lock(&wallet, false).await;
    let mut spend = transfer(&wallet, &other, "7", true);
    "points".clone_into(&mut spend.asset_code);
    app.admin
        .transactions()
        .create_transfer(spend)
        .await
        .unwrap();
    events.canceled(ORDER, &wallet, "10.00000000").await;
    assert_eq!(app.balances(&wallet).await, [balance("points", "0")]);
    let short = "select count(*) from wallet.transactions
                 where metadata::jsonb ->> 'bonusShortfall' = '7.00000000'";
    assert_eq!(app.count(short).await, 1);

    events.task_completed(REWARD, &wallet, "5.00000000").await;
    events.task_completed(REWARD, &wallet, "5.00000000").await;
    assert_eq!(app.balances(&wallet).await, [balance("points", "0")]);
    events.paid(OTHER, &wallet, "6.00000000").await;
    assert_eq!(app.balances(&wallet).await, [balance("points", "4")]);
    let owed = "select count(*) from wallet.order_bonuses where owed > 0";
    assert_eq!(app.count(owed).await, 0);
    app.finish().await;
}

/// Another replica records the bonus for another wallet, after this one has read that there is none.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_bonus_of_one_order_is_credited_to_one_wallet(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let events = Events::of(&app);
    let (wallet, other) = (app.new_wallet().await, app.new_wallet().await);
    let mut replica = pg::tx(&app.pool).await.unwrap();
    let record = "insert into wallet.order_bonuses values
        ($1::uuid, 'buyer', $2::uuid, 'points', 0, 0, 0, 0, 1, now(), now())";
    let record = sqlx::query(record).bind(ORDER).bind(&other);
    record.execute(&mut *replica).await.unwrap();
    let commit = async {
        eventually("the batch waits for the row", DEADLINE, async || {
            app.lock_waiters().await == 1
        })
        .await;
        replica.commit().await.unwrap();
    };
    let (granted, ()) = tokio::join!(events.grant(ORDER, &wallet, "10.00000000"), commit);
    let refused = granted.unwrap_err();
    assert!(!refused.code.is_transient(), "{refused:?}");
    assert!(app.balances(&wallet).await.is_empty());

    events.paid(ORDER, &other, "10.00000000").await;
    assert_eq!(app.balances(&other).await, [balance("points", "10")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_reward_is_credited_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let replica = app.replica().await;
    let (one, two) = (Events::of(&app), Events::of(&replica));
    let wallet = app.new_wallet().await;
    let (first, second) = tokio::join!(
        one.task_completed(REWARD, &wallet, "5.00000000"),
        two.task_completed(REWARD, &wallet, "5.00000000")
    );
    assert_ne!(first, second);
    assert_eq!(app.balances(&wallet).await, [balance("points", "5")]);
    let reward = "select count(*) from wallet.transactions
                  where id = '0192abcd-0000-7000-8000-000000000103' and code = 'internal'
                      and type = 'deposit' and metadata::jsonb ->> 'reason' = 'task'";
    assert_eq!(app.count(reward).await, 1);
    replica.finish().await;
    app.finish().await;
}

/// Also where nothing of it can be charged, so that there is no transaction.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_is_owed_of_a_bonus_is_published_until_it_is_paid(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let events = Events::of(&app);
    let (wallet, other) = (app.new_wallet().await, app.new_wallet().await);
    events.paid(ORDER, &wallet, "10.00000000").await;
    assert!(app.event_types(ORDER).await.is_empty());
    let mut spend = transfer(&wallet, &other, "10", true);
    "points".clone_into(&mut spend.asset_code);
    app.admin
        .transactions()
        .create_transfer(spend)
        .await
        .unwrap();
    // Nothing moves: what is cached of the balance stays valid.
    let versions = "select sum(version % 1000003)::bigint from wallet.balances";
    let before = app.count(versions).await;
    for _ in 0..2 {
        events.canceled(ORDER, &wallet, "8.00000000").await;
    }
    assert_eq!(app.count(versions).await, before);
    let revoked = BonusRevoked {
        order_id: ORDER.to_owned(),
        version: 1,
        wallet_id: wallet.clone(),
        asset_code: "points".to_owned(),
        revoked: "8.00000000".to_owned(),
        owed: "8.00000000".to_owned(),
    };
    assert_eq!(app.event::<BonusRevoked>(ORDER).await, revoked);
    events.task_completed(REWARD, &wallet, "5.00000000").await;
    let reduced = BonusRevoked {
        version: 2,
        owed: "3.00000000".to_owned(),
        ..revoked
    };
    assert_eq!(app.event::<BonusRevoked>(ORDER).await, reduced);
    events.paid(OTHER, &wallet, "4.00000000").await;
    let paid = BonusRevoked {
        version: 3,
        owed: "0.00000000".to_owned(),
        ..reduced
    };
    assert_eq!(app.event::<BonusRevoked>(ORDER).await, paid);
    assert_eq!(app.event_types(ORDER).await, ["BonusRevoked"; 3]);
    assert!(app.event_types(OTHER).await.is_empty());
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_revoked_bonus_that_can_be_charged_is_published_with_nothing_owed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let events = Events::of(&app);
    let wallet = app.new_wallet().await;
    events.paid(ORDER, &wallet, "10.00000000").await;
    events.canceled(ORDER, &wallet, "4.00000000").await;
    let revoked: BonusRevoked = app.event(ORDER).await;
    assert_eq!((revoked.version, &*revoked.owed), (1, "0.00000000"));
    assert_eq!(revoked.revoked, "4.00000000");
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_reward_is_above_zero(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let events = Events::of(&app);
    let wallet = app.new_wallet().await;
    for amount in ["-5.00000000", "0.00000000"] {
        let malformed = events.complete_task(REWARD, &wallet, amount).await;
        let reason = format!("{:?}", malformed.unwrap_err());
        assert!(reason.contains("is not above zero"), "{reason}");
    }
    assert!(app.balances(&wallet).await.is_empty());
    app.finish().await;
}
