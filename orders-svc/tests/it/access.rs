//! Access: users act on their own orders, from their own wallets; everything else is for admins.

use platform::error::{Code, Failure};
use proto::{
    common::v1::ListRequest,
    orders::v1::{Order, UpdateOrderRequest},
};
use sqlx::PgPool;

use crate::{assertions::assert_refused, client::Client, harness::TestApp};

/// The code of every RPC on an order that exists, except for the lists.
async fn codes(client: &Client<'_>, order: &Order) -> [(&'static str, Option<Code>); 11] {
    fn code<T>(result: Result<T, Failure>) -> Option<Code> {
        result.err().map(|failure| failure.code)
    }
    let (id, line) = (&order.id, &order.lines[0].id);
    let untouched = UpdateOrderRequest {
        id: id.clone(),
        ..UpdateOrderRequest::default()
    };
    let list = ListRequest::default();
    [
        ("get", code(client.get(id).await)),
        ("get_line", code(client.get_line(id, line).await)),
        ("list_lines", code(client.list_lines(id, list).await)),
        ("pay", code(client.pay(id, Some("1")).await)),
        ("update", code(client.update(untouched).await)),
        (
            "fulfil_line",
            code(client.fulfil_line(id, line, None).await),
        ),
        (
            "unfulfil_line",
            code(client.unfulfil_line(id, line, None).await),
        ),
        ("fulfil", code(client.fulfil(id, None).await)),
        ("unfulfil", code(client.unfulfil(id).await)),
        ("refund", code(client.refund(id, "1").await)),
        ("cancel", code(client.cancel(id, None).await)),
    ]
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn admins_may_call_everything(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    for (rpc, code) in codes(&app.admin(), &order).await {
        assert_eq!(code, None, "{rpc}");
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn users_read_and_pay_their_own_orders_only(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    for (rpc, code) in codes(&app.client_of(&app.user), &order).await {
        let allowed = ["get", "get_line", "list_lines", "pay"].contains(&rpc);
        let expected = (!allowed).then_some(Code::Forbidden);
        assert_eq!(code, expected, "{rpc}");
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn orders_of_other_users_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let other = app.add_user();
    for (rpc, code) in codes(&app.client_of(&other), &order).await {
        let visible = ["get", "get_line", "list_lines", "pay"].contains(&rpc);
        let expected = if visible {
            Code::OrderNotFound
        } else {
            Code::Forbidden
        };
        assert_eq!(code, Some(expected), "{rpc}");
    }
    assert_eq!(app.admin().get(&order.id).await.unwrap(), order);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn callers_without_a_token_are_unauthenticated(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let anonymous = app.anonymous();
    for (rpc, code) in codes(&anonymous, &order).await {
        assert_eq!(code, Some(Code::Unauthenticated), "{rpc}");
    }
    let listed = anonymous.list(ListRequest::default()).await;
    assert_refused(listed, Code::Unauthenticated, &[]);
    let created = anonymous.create(app.cart(&[])).await;
    assert_refused(created, Code::Unauthenticated, &[]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn users_order_for_themselves_only(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("10.00", "0", "0");
    let cart = app.cart(&[(&product, 1)]);
    let own = app.client_of(&app.user).create(cart.clone()).await;
    assert_eq!(own.unwrap().user_id, app.user.id);
    let other = app.client_of(&app.add_user()).create(cart).await;
    assert_refused(other, Code::ValidationFailed, &["userId"]);
    assert_eq!(app.count("orders").await, 1);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn users_pay_from_their_own_wallets_only(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let own = app.add_wallet(&app.user.id);
    let others = app.add_wallet(&app.add_user().id);
    for wallet in [&own, &others] {
        app.peers.set_balance(wallet, "usd", "10");
    }
    let user = app.client_of(&app.user);
    let refused = user.pay_from(&id, &others).await;
    assert_refused(refused, Code::ValidationFailed, &["walletId"]);
    assert_eq!(app.peers.balance(&others, "usd"), "10.00000000");
    user.pay_from(&id, &own).await.unwrap();
    assert_eq!(app.peers.balance(&own, "usd"), "0.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_primary_wallet_pays_only_while_it_belongs_to_the_user(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let product = app.add_product("10.00", "0", "0");
    let primary_wallet = app.user.primary_wallet_id.clone();
    let new_owner = app.add_user().id;
    app.peers
        .change_wallet(&primary_wallet, |wallet| wallet.owner_id = Some(new_owner));
    let user = app.client_of(&app.user);
    let refused = user.pay(&id, None).await;
    assert_refused(refused, Code::ValidationFailed, &["walletId"]);
    for use_bonus in [false, true] {
        let mut cart = app.cart(&[(&product, 1)]);
        cart.use_bonus = use_bonus;
        cart.wallet_id = (!use_bonus).then(|| primary_wallet.clone());
        let refused = user.create(cart).await;
        assert_refused(refused, Code::ValidationFailed, &["walletId"]);
    }
    assert_eq!(app.balance("usd"), "100.00000000");
    app.admin().pay(&id, None).await.unwrap();
    assert_eq!(app.balance("usd"), "90.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn admins_pay_from_wallets_of_other_users(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let others = app.add_wallet(&app.add_user().id);
    app.peers.set_balance(&others, "usd", "10");
    app.admin().pay_from(&id, &others).await.unwrap();
    assert_eq!(app.peers.balance(&others, "usd"), "0.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn lists_hold_the_callers_own_orders(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.unpaid_order("10.00").await;
    let other = app.add_user();
    for (client, orders) in [
        (app.admin(), 1),
        (app.client_of(&app.user), 1),
        (app.client_of(&other), 0),
    ] {
        let page = client.list(ListRequest::default()).await.unwrap();
        assert_eq!(page.orders.len(), orders);
        assert_eq!(page.page.unwrap().total, orders as u64);
    }
}
