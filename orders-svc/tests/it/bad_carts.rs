//! Malformed and invalid carts, refused by `CreateOrder` and by its dry run.

use platform::error::Code;
use proto::{
    catalog::v1::QuoteLine,
    orders::v1::{CreateOrderRequest, DeliveryMethod},
};
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    fakes::DEFAULT_WALLET,
    harness::{TestApp, quote},
};

/// Asserts that a cart is refused, also as a dry run, and that no order is stored.
async fn assert_cart_refused(app: &TestApp, cart: &CreateOrderRequest, code: Code, field: &str) {
    for dry_run in [false, true] {
        let cart = CreateOrderRequest {
            dry_run,
            ..cart.clone()
        };
        let refused = app.admin().create(cart).await;
        assert_refused(refused, code, &[field]);
    }
    assert_eq!(app.count("orders").await, 0);
    assert_eq!(app.count("order_lines").await, 0);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn carts_with_products_that_cannot_be_ordered_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let good = app.add_product("1.00", "0", "0");
    let product = |change: fn(&mut QuoteLine)| {
        let mut quote = quote("1.00", "0", "0");
        change(&mut quote);
        app.add_quote(quote)
    };
    let unavailable = product(|quote| quote.available = false);
    let in_euro = product(|quote| quote.asset_code = "eur".into());
    let single = product(|quote| quote.allow_choosing_quantity = false);
    let verified_only = product(|quote| quote.requires_identity = true);
    let unknown = app.new_id();
    for (second, quantity, code, field) in [
        (&unknown, 1, Code::ValidationFailed, "lines[1].productId"),
        (
            &unavailable,
            1,
            Code::ProductUnavailable,
            "lines[1].productId",
        ),
        (&in_euro, 1, Code::MixedAssets, "lines[1].productId"),
        (&single, 2, Code::QuantityNotAllowed, "lines[1].quantity"),
        (
            &verified_only,
            1,
            Code::IdentityRequired,
            "lines[1].productId",
        ),
    ] {
        let cart = app.cart(&[(&good, 1), (second, quantity)]);
        assert_cart_refused(&app, &cart, code, field).await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn carts_with_malformed_lines_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let good = app.add_product("1.00", "0", "0");
    for (cart, field) in [
        (app.cart(&[(&good, 0)]), "lines[0].quantity"),
        (app.cart(&[(&good, 1_000_001)]), "lines[0].quantity"),
        (app.cart(&[("nonsense", 1)]), "lines[0].productId"),
        (app.cart(&[]), "lines"),
        (app.cart(&vec![(&*good, 1); 201]), "lines"),
    ] {
        assert_cart_refused(&app, &cart, Code::ValidationFailed, field).await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn carts_with_malformed_fields_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let good = app.add_product("1.00", "0", "0");
    let cart = |change: fn(&mut CreateOrderRequest)| {
        let mut cart = app.cart(&[(&good, 1)]);
        change(&mut cart);
        cart
    };
    for (cart, field) in [
        (cart(|cart| cart.user_id = "x".into()), "userId"),
        (cart(|cart| cart.wallet_id = Some("x".into())), "walletId"),
        (cart(|cart| cart.delivery_method = 1), "shippingAddressId"),
        (
            cart(|cart| cart.shipping_address_id = Some("x".repeat(2049))),
            "shippingAddressId",
        ),
        (
            cart(|cart| cart.user_notes = Some("x".repeat(2049))),
            "userNotes",
        ),
        (
            cart(|cart| cart.chosen_payment_method = Some("a\0b".into())),
            "chosenPaymentMethod",
        ),
        (
            cart(|cart| cart.custom_data = Some("[]".into())),
            "customData",
        ),
        (
            cart(|cart| cart.lines[0].product_questions_result = Some("1".into())),
            "lines[0].productQuestionsResult",
        ),
    ] {
        assert_cart_refused(&app, &cart, Code::ValidationFailed, field).await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn carts_of_users_that_cannot_order_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let good = app.add_product("1.00", "0", "0");
    let (blocked, unapproved) = (app.add_user(), app.add_user());
    app.peers
        .change_user(&blocked.id, |user| user.blocked = true);
    app.peers
        .change_user(&unapproved.id, |user| user.approved = false);
    for user_id in [app.new_id(), blocked.id, unapproved.id] {
        let mut cart = app.cart(&[(&good, 1)]);
        cart.user_id = user_id;
        assert_cart_refused(&app, &cart, Code::ValidationFailed, "userId").await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn carts_paid_from_wallets_that_cannot_pay_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let good = app.add_product("1.00", "0", "0");
    for wallet_id in [app.new_id(), DEFAULT_WALLET.to_owned()] {
        let mut cart = app.cart(&[(&good, 1)]);
        cart.wallet_id = Some(wallet_id);
        assert_cart_refused(&app, &cart, Code::ValidationFailed, "walletId").await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn all_faults_of_a_cart_are_reported_together(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut cart = app.cart(&[("x", 0), ("y", 1)]);
    cart.user_id = "x".into();
    cart.wallet_id = Some("x".into());
    cart.custom_data = Some("[]".into());
    cart.set_delivery_method(DeliveryMethod::Shipping);
    let refused = app.admin().create(cart).await;
    let fields = [
        "shippingAddressId",
        "customData",
        "userId",
        "walletId",
        "lines[0].productId",
        "lines[0].quantity",
        "lines[1].productId",
    ];
    assert_refused(refused, Code::ValidationFailed, &fields);
}
