//! Dry runs: the order as it would be, and nothing stored.

use platform::error::Code;
use proto::orders::v1::Order;
use sqlx::PgPool;

use crate::{assertions::assert_refused, harness::TestApp};

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_dry_run_returns_the_order_without_ids(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("9.99", "1.07", "1.00");
    let mut cart = app.cart(&[(&product, 2)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    cart.dry_run = true;
    let order = app.admin().create(cart).await.unwrap();
    insta::assert_debug_snapshot!(order, @r#"
    Order {
        id: "",
        user_id: "018bcfe5-6800-7758-b5de-1c9756ce0000",
        asset_code: "usd",
        amount: "22.12000000",
        amount_without_shipment: "22.12000000",
        amount_without_taxes: "19.98000000",
        shipping_amount: "0.00000000",
        taxes_amount: "2.14000000",
        bonus: "2.00000000",
        bonus_asset_code: "usd",
        paid_amount: "22.12000000",
        unpaid_amount: "0.00000000",
        order_status: Unfulfilled,
        payment_status: FullyPaid,
        delivery_method: Unspecified,
        tracking_id: None,
        reference: "",
        paid_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        fulfilled_at: None,
        canceled_at: None,
        lines: [
            OrderLine {
                id: "",
                order_id: "",
                product_id: "018bcfe5-6802-787b-bcbf-dd7e532f0000",
                product: Some(
                    OrderedProduct {
                        id: "018bcfe5-6802-787b-bcbf-dd7e532f0000",
                        name: "Lamp",
                        description: None,
                        type_code: "",
                        image: None,
                        thumbnail: None,
                        custom_data: "",
                        metadata: "",
                        category: None,
                    },
                ),
                quantity: 2,
                fulfilled_quantity: 0,
                status: Unfulfilled,
                unit_price: "9.99000000",
                unit_tax: "1.07000000",
                tax_rate: Some(
                    "20.00000000",
                ),
                unit_bonus: "1.00000000",
                asset_code: "usd",
                bonus_asset_code: "usd",
                fulfilled_at: None,
                metadata: "{\"amount\":\"22.12000000\",\"amountWithoutTaxes\":\"19.98000000\",\"taxesAmount\":\"2.14000000\",\"bonus\":\"2.00000000\",\"refundedQuantity\":0}",
                created_at: Some(
                    Timestamp {
                        seconds: 1769853600,
                        nanos: 0,
                    },
                ),
                updated_at: Some(
                    Timestamp {
                        seconds: 1769853600,
                        nanos: 0,
                    },
                ),
            },
        ],
        metadata: "{\"deliveryMethod\":null,\"shippingAmount\":\"0.00000000\",\"taxesAmount\":\"2.14000000\",\"taxes\":[{\"rate\":\"20.00000000\",\"taxableAmount\":\"19.98000000\",\"taxAmount\":\"2.14000000\"}]}",
        custom_data: "{}",
        created_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 0,
            },
        ),
        updated_at: Some(
            Timestamp {
                seconds: 1769853600,
                nanos: 1000000,
            },
        ),
        user: None,
    }
    "#);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_dry_run_stores_nothing_and_moves_no_money(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("9.99", "1.07", "1.00");
    let mut cart = app.cart(&[(&product, 2)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    cart.dry_run = true;
    app.admin().with_key("a").create(cart).await.unwrap();
    for table in [
        "orders",
        "order_lines",
        "payments",
        "claims",
        "outbox",
        "idempotency_keys",
    ] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
    assert_eq!(app.balance("usd"), "100.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_dry_run_equals_the_order_that_follows(pool: PgPool) {
    fn without_ids(mut order: Order) -> Order {
        order.id.clear();
        order.reference.clear();
        for line in &mut order.lines {
            line.id.clear();
            line.order_id.clear();
        }
        order
    }
    let app = TestApp::start(pool).await;
    let product = app.add_product("9.99", "1.07", "1.00");
    for wallet_id in [None, Some(app.user.primary_wallet_id.clone())] {
        let mut cart = app.cart(&[(&product, 2)]);
        cart.wallet_id = wallet_id;
        cart.dry_run = true;
        let dry_run = app.admin().create(cart.clone()).await.unwrap();
        cart.dry_run = false;
        let order = app.admin().create(cart).await.unwrap();
        assert_eq!(dry_run, without_ids(order));
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_order_and_its_dry_run_need_the_same_funds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let primary_wallet = app.user.primary_wallet_id.clone();
    app.peers.set_balance(&primary_wallet, "usd", "22.11");
    let product = app.add_product("9.99", "1.07", "1.00");
    let mut cart = app.cart(&[(&product, 2)]);
    cart.wallet_id = Some(primary_wallet.clone());
    for dry_run in [true, false] {
        cart.dry_run = dry_run;
        let refused = app.admin().create(cart.clone()).await;
        assert_refused(refused, Code::InsufficientFunds, &["walletId"]);
    }
    app.peers.set_balance(&primary_wallet, "usd", "22.12");
    for dry_run in [true, false] {
        cart.dry_run = dry_run;
        app.admin().create(cart.clone()).await.unwrap();
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_dry_run_is_refused_if_its_payer_is_locked(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let primary_wallet = app.user.primary_wallet_id.clone();
    app.peers
        .change_wallet(&primary_wallet, |wallet| wallet.locked = true);
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(primary_wallet);
    cart.dry_run = true;
    let refused = app.admin().create(cart).await;
    assert_refused(refused, Code::WalletLocked, &["walletId"]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn two_legs_from_one_wallet_are_checked_as_one_sum(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let primary_wallet = app.user.primary_wallet_id.clone();
    app.peers.set_balance(&primary_wallet, "usd", "6.00");
    let product = app.add_product("10.00", "0", "0");
    // The bonus balance is the same balance: 6.00 from it and 4.00 from the wallet.
    let mut cart = app.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.wallet_id = Some(primary_wallet);
    cart.dry_run = true;
    let refused = app.admin().create(cart).await;
    assert_refused(refused, Code::InsufficientFunds, &["walletId"]);
}
