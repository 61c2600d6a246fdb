//! Peers that are unreachable or answer nonsense.

use std::time::{Duration, Instant};

use platform::{error::Code, testing::eventually};
use proto::{catalog::v1::QuoteLine, orders::v1::PaymentStatus};
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    fakes::LedgerMode,
    harness::{TIMEOUT, TestApp, quote},
};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn unreachable_peers_make_an_action_unavailable_within_its_deadline(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let order = app.unpaid_order("1.00").await;
    app.stop_process().await;
    app.peers_address = "127.0.0.1:9".parse().unwrap();
    app.start_process().await;

    let start = Instant::now();
    let cart = app.cart(&[(&order.lines[0].product_id, 1)]);
    let created = app.admin().create(cart).await;
    let failure = assert_refused(created, Code::Unavailable, &[]);
    assert!(failure.retry_after.is_some());
    assert!(start.elapsed() < Duration::from_secs(4));
    let paid = app.admin().pay(&order.id, None).await;
    assert_refused(paid, Code::Unavailable, &[]);
    let canceled = app.admin().cancel(&order.id, None).await;
    assert_refused(canceled, Code::Unavailable, &[]);
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn actions_without_peers_work_while_peers_are_unreachable(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let order = app.unpaid_order("1.00").await;
    app.stop_process().await;
    app.peers_address = "127.0.0.1:9".parse().unwrap();
    app.start_process().await;

    let admin = app.admin();
    admin.fulfil(&order.id, None).await.unwrap();
    admin.unfulfil(&order.id).await.unwrap();
    let tracking_id = app.new_id();
    admin.track(&order.id, Some(&tracking_id)).await.unwrap();
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_malformed_quote_is_an_internal_error(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let malformed: [fn(&mut QuoteLine); 5] = [
        |quote| quote.unit_price = "x".into(),
        |quote| quote.unit_tax = String::new(),
        |quote| quote.unit_bonus = "1e3".into(),
        |quote| quote.tax_rate = Some("x".into()),
        |quote| quote.asset_decimal_places = 9,
    ];
    for malform in malformed {
        let mut quote = quote("1.00", "0", "0");
        malform(&mut quote);
        let product = app.add_quote(quote);
        let created = app.admin().create(app.cart(&[(&product, 1)])).await;
        assert_refused(created, Code::Internal, &[]);
    }
    assert_eq!(app.count("orders").await, 0);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn malformed_ids_of_peers_are_internal_errors(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("1.00", "0", "0");
    let wallet = app.add_wallet("nobody");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(wallet);
    let created = app.admin().create(cart.clone()).await;
    assert_refused(created, Code::Internal, &[]);

    cart.wallet_id = None;
    let without_wallet = app.add_user();
    app.peers.change_user(&without_wallet.id, |user| {
        user.primary_wallet_id.clear();
    });
    cart.user_id = without_wallet.id;
    let created = app.admin().create(cart).await;
    assert_refused(created, Code::Internal, &[]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn malformed_settings_are_an_internal_error(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.peers.state().default_wallet_id = "x".into();
    let product = app.add_product("1.00", "0", "0");
    let created = app.admin().create(app.cart(&[(&product, 1)])).await;
    assert_refused(created, Code::Internal, &[]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_posting_without_transactions_is_repeated_until_it_is_settled(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    app.peers.set_ledger(LedgerMode::LosesTransactions);
    let paid = app.admin().pay(&id, None).await;
    assert_refused(paid, Code::Internal, &[]);
    let busy = app.admin().pay(&id, None).await;
    assert_refused(busy, Code::OrderBusy, &[]);

    app.peers.set_ledger(LedgerMode::Works);
    eventually("the payment is settled", TIMEOUT, async || {
        let order = app.admin().get(&id).await.unwrap();
        order.payment_status() == PaymentStatus::FullyPaid
    })
    .await;
    assert_eq!(app.balance("usd"), "40.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn actions_show_the_id_of_a_user_who_has_been_deleted(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    let client = app.admin();
    client.fulfil(&id, None).await.unwrap();
    assert_eq!(client.shown_user().unwrap().id, app.user.id);
    app.peers.state().users.clear();
    let deleted = || {
        let shown = client.shown_user().unwrap();
        assert_eq!(
            (shown.id, shown.email),
            (app.user.id.clone(), String::new())
        );
    };
    client.unfulfil(&id).await.unwrap();
    deleted();
    client.pay(&id, None).await.unwrap();
    deleted();
    client.cancel(&id, None).await.unwrap();
    deleted();
}
