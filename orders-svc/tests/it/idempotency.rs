//! Idempotency keys: a repeated request has one effect and gets the first response.

use platform::error::Code;
use sqlx::PgPool;

use crate::{assertions::assert_refused, harness::TestApp};

/// Calls an action twice with one key, and asserts that the second call is a replay.
macro_rules! assert_replayed {
    ($app:expr, $client:ident => $action:expr) => {{
        let $client = $app.admin().with_key(stringify!($action));
        let first = $action.await.unwrap();
        assert!(!$client.was_replayed());
        let user = $client.shown_user().unwrap();
        $app.peers.change_user(&user.id, |user| {
            user.name = Some(stringify!($action).to_owned());
        });
        let events = $app.count("outbox").await;
        let again = $action.await.unwrap();
        assert!($client.was_replayed());
        assert_eq!(again, first);
        assert_eq!($client.shown_user(), Some(user));
        assert_eq!($app.count("outbox").await, events);
        first
    }};
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn every_action_is_replayed(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("10.00", "0", "1.00");
    let cart = app.cart(&[(&product, 2)]);
    let order = assert_replayed!(app, client => client.create(cart.clone()));
    let (id, line) = (order.id.as_str(), order.lines[0].id.as_str());
    assert_replayed!(app, client => client.fulfil_line(id, line, Some(1)));
    assert_replayed!(app, client => client.unfulfil_line(id, line, Some(1)));
    assert_replayed!(app, client => client.fulfil(id, None));
    assert_replayed!(app, client => client.unfulfil(id));
    assert_replayed!(app, client => client.pay(id, Some("5")));
    assert_replayed!(app, client => client.refund(id, "2"));
    let canceled = assert_replayed!(app, client => client.cancel(id, None));
    assert_eq!(app.admin().get(id).await.unwrap(), canceled);
    assert_eq!(app.balance("usd"), "100.00000000");
    assert_eq!(app.peers.state().postings.len(), 3);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_cancellation_without_a_refund_is_replayed(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let id = order.id.as_str();
    assert_replayed!(app, client => client.cancel(id, None));
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_immediate_payment_is_replayed_without_the_peers(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let product = app.add_product("50.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    let paid = app.admin().with_key("a").create(cart.clone()).await;
    app.stop_process().await;
    app.peers_address = "127.0.0.1:9".parse().unwrap();
    app.start_process().await;
    let client = app.admin().with_key("a");
    let again = client.create(cart).await;
    assert!(client.was_replayed());
    assert_eq!(again.unwrap(), paid.unwrap());
    assert_eq!(app.balance("usd"), "50.00000000");
    assert_eq!(app.count("orders").await, 1);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_key_cannot_be_used_with_another_body(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("50.00", "0", "0");
    let cart = app.cart(&[(&product, 1)]);
    let first = app.admin().with_key_of_body("a", "01");
    first.create(cart.clone()).await.unwrap();
    let other_body = app.admin().with_key_of_body("a", "02");
    let refused = other_body.create(cart).await;
    assert_refused(refused, Code::IdempotencyKeyReused, &[]);
    assert_eq!(app.count("orders").await, 1);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn another_key_has_another_effect(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("50.00").await.id;
    app.admin().with_key("a").pay(&id, None).await.unwrap();
    let again = app.admin().with_key("b").pay(&id, None).await;
    assert_refused(again, Code::InvalidState, &[]);
    assert_eq!(app.balance("usd"), "50.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refused_request_is_not_recorded(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("150.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    let primary_wallet = app.user.primary_wallet_id.clone();
    cart.wallet_id = Some(primary_wallet.clone());
    let client = app.admin().with_key("a");
    for _ in 0..2 {
        let refused = client.create(cart.clone()).await;
        assert_refused(refused, Code::InsufficientFunds, &["walletId"]);
    }
    app.peers.set_balance(&primary_wallet, "usd", "150.00");
    client.create(cart).await.unwrap();
    assert!(!client.was_replayed());
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn concurrent_repeats_have_one_effect(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    let client = app.admin().with_key("a");
    let creates = (0..10).map(|_| client.create(cart.clone()));
    for result in futures::future::join_all(creates).await {
        match result {
            Ok(order) => assert_eq!(order.paid_amount, "10.00000000"),
            Err(failure) => assert_eq!(failure.code, Code::IdempotencyKeyInUse),
        }
    }
    assert_eq!(app.balance("usd"), "90.00000000");
    assert_eq!(app.count("orders").await, 1);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_used_key_is_refused_whatever_else_is_wrong(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("10.00", "0", "0");
    let cart = app.cart(&[(&product, 1)]);
    let first = app.admin().with_key("k");
    first.create(cart.clone()).await.unwrap();
    let mut invalid = cart.clone();
    invalid.lines.clear();
    let mut dry_run = cart;
    dry_run.dry_run = true;
    let other = app.admin().with_key_of_body("k", "01");
    for body in [invalid, dry_run] {
        let refused = other.create(body).await;
        assert_refused(refused, Code::IdempotencyKeyReused, &[]);
    }
    app.assert_settled().await;
}
