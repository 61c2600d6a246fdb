//! Rewards of referrers: a share of task rewards and of paid orders, in any order of their events.

use platform::{error::Failure, messaging::inbox::Applied};
use proto::events::v1::{OrderCanceled, OrderPaid, OrderRefunded, ReferralEarned, TaskCompleted};
use sqlx::PgPool;
use wallet_svc::consumers::{
    order_canceled::RevokeBonuses, order_paid::GrantBonus, order_refunded::ReduceBonuses,
    referral_earned::PayReferrer, task_completed::CreditReward,
};

use crate::harness::{TestApp, balance, transfer};

pub(crate) const ORDER: &str = "0192abcd-0000-7000-8000-000000000201";
const OTHER: &str = "0192abcd-0000-7000-8000-000000000202";
const TASK: &str = "0192abcd-0000-7000-8000-000000000203";
const COMPLETION: &str = "0192abcd-0000-7000-8000-000000000204";
const TRANSACTION: &str = "0192abcd-0000-7000-8000-000000000205";
const REWARD: &str = "0192abcd-0000-7000-8000-000000000206";

/// 10 % of an order of 39.60 usd.
pub(crate) fn of_order(order: &str, wallet: &str) -> ReferralEarned {
    ReferralEarned {
        referral_id: order.replace("0192abcd", "0192abce"),
        version: 1,
        source_kind: "order".to_owned(),
        source_id: order.to_owned(),
        wallet_id: wallet.to_owned(),
        base_amount: "39.60000000".to_owned(),
        base_asset_code: "usd".to_owned(),
        percent: "10.00000000".to_owned(),
        transaction_id: order.replace("0192abcd", "0192abcf"),
        ..ReferralEarned::default()
    }
}

/// 10 % of a task's reward of 5.00 usd.
fn of_task(wallet: &str) -> ReferralEarned {
    ReferralEarned {
        source_kind: "task".to_owned(),
        source_id: COMPLETION.to_owned(),
        task_id: TASK.to_owned(),
        base_amount: "5.00000000".to_owned(),
        transaction_id: TRANSACTION.to_owned(),
        ..of_order(COMPLETION, wallet)
    }
}

/// The cancellation of the order, whose buyer has no bonus.
fn refund(order: &str, refunded: &str) -> OrderCanceled {
    OrderCanceled {
        order_id: order.to_owned(),
        amount: "39.60000000".to_owned(),
        refunded_amount: refunded.to_owned(),
        unearned_amount: refunded.to_owned(),
        asset_code: "usd".to_owned(),
        ..OrderCanceled::default()
    }
}

pub(crate) async fn earn(app: &TestApp, event: ReferralEarned) -> Applied {
    try_earn(app, event).await.unwrap()
}

async fn try_earn(app: &TestApp, event: ReferralEarned) -> Result<Applied, Failure> {
    PayReferrer(app.referrals()).handle(event).await
}

async fn cancel(app: &TestApp, event: OrderCanceled) -> Applied {
    let revoke = RevokeBonuses(app.referrals());
    revoke.handle(event).await.unwrap()
}

async fn spend(app: &TestApp, wallet: &str, amount: &str) {
    let other = app.new_wallet().await;
    let request = transfer(wallet, &other, amount, true);
    let response = app.admin.transactions().create_transfer(request).await;
    response.unwrap();
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_share_of_a_task_is_paid_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    assert_eq!(earn(&app, of_task(&wallet)).await, Applied::Now);
    assert_eq!(earn(&app, of_task(&wallet)).await, Applied::Before);
    assert_eq!(app.balances(&wallet).await, [balance("usd", "0.5")]);
    let reward = "select count(*) from wallet.transactions
                  where id = '0192abcd-0000-7000-8000-000000000205' and code = 'internal'
                      and type = 'deposit' and metadata::jsonb = jsonb_build_object(
                          'reason', 'referral',
                          'taskId', '0192abcd-0000-7000-8000-000000000203',
                          'taskCompletionId', '0192abcd-0000-7000-8000-000000000204')";
    assert_eq!(app.count(reward).await, 1);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_share_of_an_order_is_paid_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let replica = app.replica().await;
    let wallet = app.new_wallet().await;
    let (first, second) = tokio::join!(
        earn(&app, of_order(ORDER, &wallet)),
        earn(&replica, of_order(ORDER, &wallet))
    );
    assert_ne!(first, second);
    assert_eq!(app.balances(&wallet).await, [balance("usd", "3.96")]);
    let reward = "select count(*) from wallet.transactions
                  where id = '0192abcf-0000-7000-8000-000000000201' and code = 'internal'
                      and type = 'deposit' and metadata::jsonb = jsonb_build_object(
                          'reason', 'referral', 'orderId', '0192abcd-0000-7000-8000-000000000201')";
    assert_eq!(app.count(reward).await, 1);
    replica.finish().await;
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn reward_and_refund_commute(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (first, second) = (app.new_wallet().await, app.new_wallet().await);
    earn(&app, of_order(ORDER, &first)).await;
    assert_eq!(
        cancel(&app, refund(ORDER, "19.80000000")).await,
        Applied::Now
    );
    assert_eq!(
        cancel(&app, refund(ORDER, "19.80000000")).await,
        Applied::Before
    );

    let early = cancel(&app, refund(OTHER, "19.80000000")).await;
    assert_eq!(early, Applied::Before);
    assert!(app.balances(&second).await.is_empty());
    assert_eq!(earn(&app, of_order(OTHER, &second)).await, Applied::Now);
    assert_eq!(earn(&app, of_order(OTHER, &second)).await, Applied::Before);
    assert_eq!(
        cancel(&app, refund(OTHER, "19.80000000")).await,
        Applied::Before
    );
    for wallet in [&first, &second] {
        assert_eq!(app.balances(wallet).await, [balance("usd", "1.98")]);
    }
    // The second wallet was credited what was left, and never the whole.
    let moved = "select count(*) from wallet.transactions
                 where metadata::jsonb ->> 'orderId' = '0192abcd-0000-7000-8000-000000000202'";
    assert_eq!(app.count(moved).await, 1);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_reward_and_refund_leave_the_share_of_what_stays_paid(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    for n in 0..20 {
        let order = format!("0192abcd-0000-7000-8000-{n:012}");
        tokio::join!(
            earn(&app, of_order(&order, &wallet)),
            cancel(&app, refund(&order, "19.80000000"))
        );
    }
    assert_eq!(app.balances(&wallet).await, [balance("usd", "39.6")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_whole_refund_takes_all_of_the_reward_back(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (first, second) = (app.new_wallet().await, app.new_wallet().await);
    earn(&app, of_order(ORDER, &first)).await;
    cancel(&app, refund(ORDER, "39.60000000")).await;
    assert_eq!(app.balances(&first).await, [balance("usd", "0")]);
    cancel(&app, refund(OTHER, "39.60000000")).await;
    earn(&app, of_order(OTHER, &second)).await;
    assert!(app.balances(&second).await.is_empty());
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_spent_reward_is_owed_and_settled_from_later_rewards(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    earn(&app, of_order(ORDER, &wallet)).await;
    spend(&app, &wallet, "3.00").await;
    cancel(&app, refund(ORDER, "39.60000000")).await;
    assert_eq!(app.balances(&wallet).await, [balance("usd", "0")]);
    let owed = "select count(*) from wallet.order_bonuses
                where beneficiary = 'referrer' and owed = 3.00";
    assert_eq!(app.count(owed).await, 1);

    earn(&app, of_task(&wallet)).await;
    assert_eq!(app.balances(&wallet).await, [balance("usd", "0")]);
    let task = TaskCompleted {
        transaction_id: REWARD.to_owned(),
        wallet_id: wallet.clone(),
        amount: "2.00000000".to_owned(),
        asset_code: "usd".to_owned(),
        ..TaskCompleted::default()
    };
    CreditReward(app.ledger()).handle(task).await.unwrap();
    earn(&app, of_order(OTHER, &wallet)).await;
    // 3.00 were owed: 0.50 and 2.00 went there, and 0.50 of the last 3.96.
    assert_eq!(app.balances(&wallet).await, [balance("usd", "3.46")]);
    app.finish().await;
}

/// Of several refunds the one that leaves the least paid counts, in whichever order they arrive.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn refunds_of_an_order_take_its_share_back_together(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (buyer, referrer) = (app.new_wallet().await, app.new_wallet().await);
    let refunded = async |bonus_revoked: &str, unearned: &str| {
        let event = OrderRefunded {
            order_id: ORDER.to_owned(),
            wallet_id: buyer.clone(),
            bonus_revoked: bonus_revoked.to_owned(),
            bonus_asset_code: "usd".to_owned(),
            amount: "39.60000000".to_owned(),
            unearned_amount: unearned.to_owned(),
            ..OrderRefunded::default()
        };
        let reduce = ReduceBonuses(app.referrals());
        reduce.handle(event).await.unwrap()
    };
    // Before the bonus and the reward are credited, and the second refund first.
    refunded("1.65000000", "19.80000000").await;
    refunded("0.83000000", "9.90000000").await;
    let paid = OrderPaid {
        order_id: ORDER.to_owned(),
        wallet_id: buyer.clone(),
        bonus: "3.30000000".to_owned(),
        bonus_asset_code: "usd".to_owned(),
        ..OrderPaid::default()
    };
    GrantBonus(app.ledger()).handle(paid).await.unwrap();
    earn(&app, of_order(ORDER, &referrer)).await;
    assert_eq!(app.balances(&buyer).await, [balance("usd", "1.65")]);
    assert_eq!(app.balances(&referrer).await, [balance("usd", "1.98")]);
    // The rest is refunded by a cancellation.
    assert_eq!(refunded("3.30000000", "39.60000000").await, Applied::Now);
    assert_eq!(
        cancel(&app, refund(ORDER, "39.60000000")).await,
        Applied::Before
    );
    assert_eq!(app.balances(&buyer).await, [balance("usd", "0")]);
    assert_eq!(app.balances(&referrer).await, [balance("usd", "0")]);
    app.finish().await;
}

/// The buyer's bonus and the referrer's reward of one order are apart, and only the buyer's is
/// published for the order to show.
#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn the_buyers_bonus_is_apart_from_the_referrers_reward(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (buyer, referrer) = (app.new_wallet().await, app.new_wallet().await);
    let paid = OrderPaid {
        order_id: ORDER.to_owned(),
        wallet_id: buyer.clone(),
        bonus: "3.30000000".to_owned(),
        bonus_asset_code: "usd".to_owned(),
        ..OrderPaid::default()
    };
    GrantBonus(app.ledger()).handle(paid).await.unwrap();
    earn(&app, of_order(ORDER, &referrer)).await;
    spend(&app, &referrer, "3.96").await;
    let canceled = OrderCanceled {
        wallet_id: buyer.clone(),
        bonus_revoked: "1.65000000".to_owned(),
        bonus_asset_code: "usd".to_owned(),
        ..refund(ORDER, "19.80000000")
    };
    assert_eq!(cancel(&app, canceled).await, Applied::Now);
    assert_eq!(app.balances(&buyer).await, [balance("usd", "1.65")]);
    assert_eq!(app.balances(&referrer).await, [balance("usd", "0")]);
    assert_eq!(app.event_types(ORDER).await, ["BonusRevoked"]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_reward_is_converted_to_the_bonus_asset_once(pool: PgPool) {
    let app = TestApp::with_flags(pool, &["--bonus-asset-code", "points"]).await;
    let wallet = app.new_wallet().await;
    app.set_rate("points", "usd", "0.03").await;
    earn(&app, of_order(ORDER, &wallet)).await;
    // Another rate at the redelivery changes nothing.
    app.execute("update wallet.rates set rate = 0.01").await;
    assert_eq!(earn(&app, of_order(ORDER, &wallet)).await, Applied::Before);
    assert_eq!(app.balances(&wallet).await, [balance("points", "132")]);
    cancel(&app, refund(ORDER, "0.01000000")).await;
    // 132.00 x 0.01 / 39.60 of it, rounded up.
    assert_eq!(app.balances(&wallet).await, [balance("points", "131.96")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn without_a_rate_nothing_is_paid_and_the_reason_is_recorded(pool: PgPool) {
    let app = TestApp::with_flags(pool, &["--bonus-asset-code", "points"]).await;
    let wallet = app.new_wallet().await;
    assert_eq!(earn(&app, of_order(ORDER, &wallet)).await, Applied::Before);
    assert_eq!(earn(&app, of_task(&wallet)).await, Applied::Before);
    let skipped = "select count(*) from wallet.referral_rewards
                   where skipped = 'rate_not_found' and amount = 0";
    assert_eq!(app.count(skipped).await, 2);
    // A rate that is created later does not pay it.
    app.set_rate("usd", "points", "100").await;
    assert_eq!(earn(&app, of_order(ORDER, &wallet)).await, Applied::Before);
    cancel(&app, refund(ORDER, "39.60000000")).await;
    assert!(app.balances(&wallet).await.is_empty());
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_share_that_rounds_to_zero_is_not_paid(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let tiny = ReferralEarned {
        percent: "0.01000000".to_owned(),
        ..of_order(ORDER, &wallet)
    };
    assert_eq!(earn(&app, tiny).await, Applied::Before);
    let recorded = "select count(*) from wallet.referral_rewards where skipped is null";
    assert_eq!(app.count(recorded).await, 1);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_malformed_referral_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let event = || of_order(ORDER, &wallet);
    let malformed = [
        ReferralEarned {
            percent: "101".to_owned(),
            ..event()
        },
        ReferralEarned {
            base_amount: "-1.00000000".to_owned(),
            ..event()
        },
        ReferralEarned {
            base_asset_code: "none".to_owned(),
            ..event()
        },
        ReferralEarned {
            source_kind: "other".to_owned(),
            ..event()
        },
        ReferralEarned {
            wallet_id: "x".to_owned(),
            ..event()
        },
    ];
    for event in malformed {
        assert!(try_earn(&app, event.clone()).await.is_err(), "{event:?}");
    }
    assert!(app.balances(&wallet).await.is_empty());
    app.finish().await;
}
