//! Bonuses in another asset than the order's: earned at a rate, and spent on orders.

use platform::error::Code;
use proto::{
    events::v1::{OrderCanceled, OrderPaymentReceived, OrderRefunded},
    orders::v1::PaymentStatus,
};
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    fakes::{DEFAULT_WALLET, LedgerMode},
    harness::TestApp,
};

impl TestApp {
    /// Pays bonuses in points, which have no decimal places, and sets this rate.
    fn bonus_in_points(&self, base: &str, quote: &str, rate: &str) {
        let mut state = self.peers.state();
        state.bonus_asset_code = Some("points".into());
        let pair = (base.to_owned(), quote.to_owned());
        state.rates.insert(pair, rate.to_owned());
    }

    fn set_points(&self, points: &str) {
        let primary_wallet = &self.user.primary_wallet_id;
        self.peers.set_balance(primary_wallet, "points", points);
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_bonus_is_earned_at_the_rate_of_the_order(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.bonus_in_points("points", "usd", "0.10");
    let product = app.add_product("10.00", "0", "0.25");
    let cart = app.cart(&[(&product, 3)]);
    let order = app.admin().create(cart).await.unwrap();
    // 2.5 points a unit, rounded to 3.
    assert_eq!(order.lines[0].unit_bonus, "3.00000000");
    assert_eq!(order.bonus, "9.00000000");
    assert_eq!(order.bonus_asset_code, "points");
    assert!(!order.metadata.contains("bonusSkipped"));

    app.bonus_in_points("points", "usd", "1");
    let later = app.admin().get(&order.id).await.unwrap();
    assert_eq!(later.bonus, "9.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_partial_refund_revokes_its_share_of_the_bonus(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.bonus_in_points("points", "usd", "0.10");
    let product = app.add_product("10.00", "0", "0.25");
    let cart = app.cart(&[(&product, 3)]);
    let id = app.admin().create(cart).await.unwrap().id;
    app.admin().pay(&id, None).await.unwrap();
    app.admin().cancel(&id, Some("10.00")).await.unwrap();
    let event: OrderCanceled = app.event(&id, "OrderCanceled").await;
    assert_eq!(event.bonus_revoked, "3.00000000");
    assert_eq!(event.bonus_asset_code, "points");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn points_pay_at_their_value_and_are_refunded_as_points(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.bonus_in_points("points", "usd", "0.03");
    app.set_points("1000");
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.dry_run = true;
    let dry_run = app.admin().create(cart.clone()).await.unwrap();
    assert_eq!(dry_run.paid_amount, "10.00000000");
    assert_eq!(app.balance("points"), "1000.00000000");

    cart.dry_run = false;
    let paid = app.admin().create(cart).await.unwrap();
    assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(paid.paid_amount, "10.00000000");
    // 10.00 / 0.03 is 333.33, rounded up.
    assert_eq!(app.balance("points"), "666.00000000");
    assert_eq!(app.peers.balance(DEFAULT_WALLET, "points"), "334.00000000");
    let event: OrderPaymentReceived = app.event(&paid.id, "OrderPaymentReceived").await;
    assert_eq!(event.amount, "10.00000000");
    assert_eq!(event.asset_code, "usd");

    app.admin().cancel(&paid.id, None).await.unwrap();
    assert_eq!(app.balance("points"), "1000.00000000");
    let event: OrderRefunded = app.event(&paid.id, "OrderRefunded").await;
    assert_eq!(event.refunded[0].amount, "334.00000000");
    assert_eq!(event.refunded[0].asset_code, "points");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_wallet_pays_what_the_points_do_not_cover(pool: PgPool) {
    let app = TestApp::start(pool).await;
    // The inverse of the rate that is needed: 100 / 33 is 3.03, so 6.97 remain.
    app.bonus_in_points("usd", "points", "33");
    app.set_points("100");
    let second_wallet = app.add_wallet(&app.user.id);
    app.peers.set_balance(&second_wallet, "usd", "6.96");
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.wallet_id = Some(second_wallet.clone());
    for dry_run in [true, false] {
        cart.dry_run = dry_run;
        let refused = app.admin().create(cart.clone()).await;
        assert_refused(refused, Code::InsufficientFunds, &["walletId"]);
    }
    assert_eq!(app.balance("points"), "100.00000000");

    app.peers.set_balance(&second_wallet, "usd", "6.97");
    let paid = app.admin().create(cart).await.unwrap();
    assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(app.balance("points"), "0.00000000");
    assert_eq!(app.peers.balance(&second_wallet, "usd"), "0.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_wallet_pays_for_points_that_were_spent_meanwhile(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.bonus_in_points("points", "usd", "0.10");
    app.set_points("50");
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    app.peers.set_ledger(LedgerMode::Waits);
    let spend = async {
        app.peers.post_called.notified().await;
        app.set_points("20");
        app.peers.set_ledger(LedgerMode::Works);
        app.peers.post_may_continue.notify_one();
    };
    let admin = app.admin().with_key("spent");
    let (paid, ()) = tokio::join!(admin.create(cart), spend);
    assert_eq!(paid.unwrap().payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(app.balance("points"), "0.00000000");
    assert_eq!(app.balance("usd"), "92.00000000");
    assert_eq!(app.count("orders").await, 1);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_wallet_is_refunded_before_the_points(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.bonus_in_points("usd", "points", "33");
    app.set_points("100");
    let second_wallet = app.add_wallet(&app.user.id);
    app.peers.set_balance(&second_wallet, "usd", "6.97");
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.wallet_id = Some(second_wallet.clone());
    let paid = app.admin().create(cart).await.unwrap();

    let canceled = app.admin().cancel(&paid.id, Some("8.00")).await.unwrap();
    assert_eq!(canceled.payment_status(), PaymentStatus::PartiallyRefunded);
    assert_eq!(canceled.paid_amount, "2.00000000");
    assert_eq!(app.peers.balance(&second_wallet, "usd"), "6.97000000");
    // 1.03 of 3.03 is 33.99 of 100 points, rounded down.
    assert_eq!(app.balance("points"), "33.00000000");
    let event: OrderRefunded = app.event(&paid.id, "OrderRefunded").await;
    insta::assert_debug_snapshot!(event.refunded, @r#"
    [
        RefundedAmount {
            amount: "33.00000000",
            asset_code: "points",
        },
        RefundedAmount {
            amount: "6.97000000",
            asset_code: "usd",
        },
    ]
    "#);
    assert_eq!(event.transaction_ids.len(), 2);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn points_worth_less_than_a_cent_pay_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.bonus_in_points("points", "usd", "0.001");
    app.set_points("9");
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    let order = app.admin().create(cart).await.unwrap();
    assert_eq!(order.payment_status(), PaymentStatus::Unpaid);
    assert_eq!(app.balance("points"), "9.00000000");
    app.assert_settled().await;
}
