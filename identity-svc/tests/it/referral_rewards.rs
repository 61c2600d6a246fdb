//! What referrers earn: a share of tasks and of paid orders, once for each.

use futures::future::join_all;
use identity_svc::consumers::order_paid::EarnPurchaseReward;
use platform::{clock::Clock, error::Failure};
use prost::Message as _;
use proto::{
    events::v1::{OrderPaid, ReferralEarned},
    identity::v1::{BlockUserRequest, CreateUserRequest, UnblockUserRequest, User},
};
use sqlx::PgPool;

use crate::{
    harness::{Event, TestApp, new_user, noon},
    task_calls::{complete, completion_of, create, new_task},
};

const ORDER: &str = "0192abcd-0000-7000-8000-000000000101";
const OTHER: &str = "0192abcd-0000-7000-8000-000000000102";

/// Starts a service with 10 % of tasks and 2.5 % of purchases.
async fn start(pool: PgPool) -> TestApp {
    let flags = [
        "--referral-task-percent=10",
        "--referral-purchase-percent=2.5",
    ];
    TestApp::start_with(pool, Clock::fixed(noon()), &flags).await
}

/// Creates a user, and one that it referred.
async fn referrer_and_referred(app: &TestApp) -> (User, User) {
    let referrer = app.create_user("rita@x.com").await;
    let request = CreateUserRequest {
        code: Some(referrer.referral_code.clone()),
        ..new_user("ann@x.com")
    };
    let created = app.users().create_user(request).await.unwrap();
    (referrer, created.into_inner().user.unwrap())
}

fn paid(order: &str, user: &User, amount: &str) -> OrderPaid {
    OrderPaid {
        order_id: order.to_owned(),
        version: 3,
        user_id: user.id.clone(),
        wallet_id: user.primary_wallet_id.clone(),
        amount: amount.to_owned(),
        asset_code: "eur".to_owned(),
        ..OrderPaid::default()
    }
}

async fn handle(app: &TestApp, event: OrderPaid) -> Result<(), Failure> {
    handle_all(app, vec![event]).await
}

/// Handles the events as the consumer of a process does.
async fn handle_all(app: &TestApp, events: Vec<OrderPaid>) -> Result<(), Failure> {
    let mut conn = app.pool.acquire().await.unwrap();
    let consumer = EarnPurchaseReward(app.rewards.clone().unwrap());
    consumer.handle(&mut conn, events).await
}

/// Returns the rewards that were published.
async fn earned(app: &TestApp) -> Vec<ReferralEarned> {
    let sql = "select body from identity.outbox where event_type like '%.ReferralEarned'
               order by position";
    let bodies: Vec<Vec<u8>> = sqlx::query_scalar(sql).fetch_all(&app.pool).await.unwrap();
    bodies
        .iter()
        .map(|body| ReferralEarned::decode(&**body).unwrap())
        .collect()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_completed_task_earns_a_share(pool: PgPool) {
    let app = start(pool).await;
    let (referrer, user) = referrer_and_referred(&app).await;
    let task = create(&app, new_task("Survey")).await;
    let completion = complete(&app, &task, &user.id).await;
    let rewards = earned(&app).await;
    let [reward] = &*rewards else {
        panic!("{rewards:?}")
    };
    let expected = ReferralEarned {
        referral_id: reward.referral_id.clone(),
        version: 1,
        source_kind: "task".to_owned(),
        source_id: completion.id,
        task_id: task.id,
        referrer_user_id: referrer.id,
        wallet_id: referrer.primary_wallet_id,
        base_amount: "1.50000000".to_owned(),
        base_asset_code: "usd".to_owned(),
        percent: "10.00000000".to_owned(),
        transaction_id: reward.transaction_id.clone(),
    };
    assert_eq!(*reward, expected);
    assert_ne!(reward.transaction_id, completion.transaction_id);
    let events: Vec<Event> = app.events(&reward.referral_id).await;
    assert_eq!((events.len(), events[0].version), (1, 1));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_paid_order_earns_a_share_once(pool: PgPool) {
    let app = start(pool).await;
    let (referrer, user) = referrer_and_referred(&app).await;
    for _ in 0..2 {
        let event = paid(ORDER, &user, "39.60000000");
        handle(&app, event).await.unwrap();
    }
    let rewards = earned(&app).await;
    let [reward] = &*rewards else {
        panic!("{rewards:?}")
    };
    let expected = ReferralEarned {
        referral_id: reward.referral_id.clone(),
        version: 1,
        source_kind: "order".to_owned(),
        source_id: ORDER.to_owned(),
        task_id: String::new(),
        referrer_user_id: referrer.id,
        wallet_id: referrer.primary_wallet_id,
        base_amount: "39.60000000".to_owned(),
        base_asset_code: "eur".to_owned(),
        percent: "2.50000000".to_owned(),
        transaction_id: reward.transaction_id.clone(),
    };
    assert_eq!(*reward, expected);
    handle(&app, paid(OTHER, &user, "1.00000000"))
        .await
        .unwrap();
    assert_eq!(earned(&app).await.len(), 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn each_of_the_orders_that_arrive_together_earns(pool: PgPool) {
    let app = start(pool).await;
    let (referrer, user) = referrer_and_referred(&app).await;
    let events = [
        paid(ORDER, &user, "4.00000000"),
        paid(ORDER, &referrer, "4.00000000"),
        paid(OTHER, &user, "8.00000000"),
        paid(OTHER, &user, "8.00000000"),
    ];
    handle_all(&app, events.into()).await.unwrap();
    let earned = earned(&app).await.into_iter();
    let earned: Vec<_> = earned.map(|it| (it.source_id, it.base_amount)).collect();
    let expected = [(ORDER, "4.00000000"), (OTHER, "8.00000000")];
    assert_eq!(
        earned,
        expected.map(|(id, amount)| (id.to_owned(), amount.to_owned()))
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_blocked_referrer_earns_nothing_also_not_later(pool: PgPool) {
    let app = start(pool).await;
    let (referrer, user) = referrer_and_referred(&app).await;
    let id = || referrer.id.clone();
    let task = create(&app, new_task("Survey")).await;
    let block = BlockUserRequest { id: id() };
    app.users().block_user(block).await.unwrap();
    complete(&app, &task, &user.id).await;
    handle(&app, paid(ORDER, &user, "39.60000000"))
        .await
        .unwrap();
    let unblock = UnblockUserRequest { id: id() };
    app.users().unblock_user(unblock).await.unwrap();
    assert!(earned(&app).await.is_empty());
    handle(&app, paid(OTHER, &user, "39.60000000"))
        .await
        .unwrap();
    assert_eq!(earned(&app).await.len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn users_whom_nobody_referred_earn_for_nobody(pool: PgPool) {
    let app = start(pool).await;
    let user = app.create_user("bob@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    complete(&app, &task, &user.id).await;
    handle(&app, paid(ORDER, &user, "39.60000000"))
        .await
        .unwrap();
    let unknown = User {
        id: OTHER.to_owned(),
        ..user
    };
    handle(&app, paid(OTHER, &unknown, "39.60000000"))
        .await
        .unwrap();
    assert!(earned(&app).await.is_empty());
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn nothing_is_earned_without_percentages_or_of_nothing(pool: PgPool) {
    let app = TestApp::start(pool.clone()).await;
    let (_, user) = referrer_and_referred(&app).await;
    let task = create(&app, new_task("Survey")).await;
    complete(&app, &task, &user.id).await;
    handle(&app, paid(ORDER, &user, "39.60000000"))
        .await
        .unwrap();
    assert!(earned(&app).await.is_empty());
    let mut app = app;
    app.stop().await;
    app.start_process(&["--referral-purchase-percent=100"])
        .await;
    handle(&app, paid(OTHER, &user, "0.00000000"))
        .await
        .unwrap();
    assert!(earned(&app).await.is_empty());
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_malformed_order_is_refused(pool: PgPool) {
    let app = start(pool).await;
    let (_, user) = referrer_and_referred(&app).await;
    for (order, amount) in [("x", "1.00000000"), (ORDER, "much")] {
        assert!(handle(&app, paid(order, &user, amount)).await.is_err());
    }
    assert!(earned(&app).await.is_empty());
    app.finish().await;
}

/// The completion and the share are one transaction: of concurrent completions one earns.
#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn concurrent_completions_earn_once(pool: PgPool) {
    let app = start(pool).await;
    let (_, user) = referrer_and_referred(&app).await;
    let task = create(&app, new_task("Survey")).await;
    let racing = (0..20).map(|_| {
        let request = completion_of(&task, &user.id);
        let mut tasks = app.tasks();
        async move { tasks.complete_task(request).await }
    });
    let results = join_all(racing).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    assert_eq!(earned(&app).await.len(), 1);
    app.finish().await;
}
