//! Creates orders that a wallet or the bonus balance pays immediately.

use futures::future::join_all;
use platform::{error::Code, testing::eventually};
use proto::orders::v1::{OrderStatus, PaymentStatus};
use sqlx::PgPool;

use crate::{
    assertions::{State, assert_refused},
    fakes::LedgerMode,
    harness::{TIMEOUT, TestApp},
};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_immediate_payment_creates_a_fully_paid_order(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("60.00", "0", "3.00");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    let order = app.admin().create(cart).await.unwrap();
    let expected = State {
        order: OrderStatus::Unfulfilled,
        payment: PaymentStatus::FullyPaid,
        paid_amount: "60.00000000",
    };
    assert_eq!(State::of(&order), expected);
    assert!(order.paid_at.is_some());
    let events = app.events(&order.id).await;
    assert_eq!(events, ["OrderPlaced", "OrderPaymentReceived", "OrderPaid"]);
    assert_eq!(app.balance("usd"), "40.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refused_immediate_payment_leaves_no_order(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("100.01", "0", "3.00");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    let refused = app.admin().create(cart).await;
    assert_refused(refused, Code::InsufficientFunds, &["walletId"]);
    for table in ["orders", "order_lines", "payments", "outbox"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
    assert_eq!(app.balance("usd"), "100.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn orders_that_would_be_late_are_refused_at_once(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let unpaid = app.unpaid_order("0.10").await;
    let product = app.add_product("0.10", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    app.peers.set_ledger(LedgerMode::Waits);
    let in_progress = join_all((0..64).map(|_| {
        let (app, cart) = (&app, cart.clone());
        async move { app.admin().create(cart).await }
    }));
    let meanwhile = async {
        eventually("all wait for the ledger", TIMEOUT, async || {
            app.count("claims").await == 64
        })
        .await;
        let refused = app.admin().create(cart.clone()).await;
        let failure = assert_refused(refused, Code::Unavailable, &[]);
        assert!(failure.retry_after.is_some());
        let refused = app.admin().pay(&unpaid.id, None).await;
        assert_refused(refused, Code::Unavailable, &[]);
        app.peers.set_ledger(LedgerMode::Works);
        eventually("all are paid", TIMEOUT, async || {
            app.peers.post_may_continue.notify_waiters();
            app.count("payments").await == 64
        })
        .await;
    };
    let (placed, ()) = tokio::join!(in_progress, meanwhile);
    assert!(placed.into_iter().all(|order| order.is_ok()));
    app.admin().create(cart).await.unwrap();
    app.admin().pay(&unpaid.id, None).await.unwrap();
    app.assert_settled().await;
}

/// They are stored and settled in groups.
#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn of_orders_at_once_each_is_paid_or_leaves_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("10.00", "0", "3.00");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    let keys: Vec<_> = (0..15).map(|n| format!("at-once-{n}")).collect();
    let creates = keys.iter().map(|key| {
        let (app, cart) = (&app, cart.clone());
        async move { app.admin().with_key(key).create(cart).await }
    });
    let mut paid = 0;
    for created in join_all(creates).await {
        match created {
            Ok(order) => {
                paid += 1;
                assert_eq!(order.payment_status(), PaymentStatus::FullyPaid);
                assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
                let events = app.events(&order.id).await;
                assert_eq!(events, ["OrderPlaced", "OrderPaymentReceived", "OrderPaid"]);
            }
            refused => {
                assert_refused(refused, Code::InsufficientFunds, &["walletId"]);
            }
        }
    }
    assert_eq!(paid, 10);
    assert_eq!(app.balance("usd"), "0.00000000");
    for (table, rows) in [
        ("orders", 10),
        ("order_lines", 10),
        ("payments", 10),
        ("audit_log", 10),
        ("order_history", 30),
        ("idempotency_keys", 10),
    ] {
        assert_eq!(app.count(table).await, rows, "{table}");
    }
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_bonus_balance_pays_before_the_wallet(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let second_wallet = app.add_wallet(&app.user.id);
    app.peers.set_balance(&second_wallet, "usd", "7.00");
    let primary_wallet = &app.user.primary_wallet_id;
    app.peers.set_balance(primary_wallet, "usd", "3.00");
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.wallet_id = Some(second_wallet.clone());
    let paid = app.admin().create(cart).await.unwrap();
    assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(app.balance("usd"), "0.00000000");
    assert_eq!(app.peers.balance(&second_wallet, "usd"), "0.00000000");

    app.admin().cancel(&paid.id, None).await.unwrap();
    assert_eq!(app.balance("usd"), "3.00000000");
    assert_eq!(app.peers.balance(&second_wallet, "usd"), "7.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_bonus_balance_alone_pays_as_far_as_it_goes(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let primary_wallet = &app.user.primary_wallet_id;
    app.peers.set_balance(primary_wallet, "usd", "3.00");
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    let part = app.admin().create(cart.clone()).await.unwrap();
    let expected = State {
        order: OrderStatus::Unfulfilled,
        payment: PaymentStatus::Paid,
        paid_amount: "3.00000000",
    };
    assert_eq!(State::of(&part), expected);
    let nothing_left = app.admin().create(cart).await.unwrap();
    assert_eq!(nothing_left.payment_status(), PaymentStatus::Unpaid);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_bonus_without_a_rate_is_skipped_and_cannot_pay(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.peers.state().bonus_asset_code = Some("points".into());
    let order = app.unpaid_order("10.00").await;
    assert_eq!(order.bonus, "0.00000000");
    assert_eq!(order.bonus_asset_code, "points");
    let skipped = r#""bonusSkipped":"rate_not_found""#;
    assert!(order.metadata.contains(skipped), "{}", order.metadata);

    let mut cart = app.cart(&[(&order.lines[0].product_id, 1)]);
    cart.use_bonus = true;
    let refused = app.admin().create(cart).await;
    assert_refused(refused, Code::NoRate, &["useBonus"]);
}
