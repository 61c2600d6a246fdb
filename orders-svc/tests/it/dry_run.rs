//! What is refused, for real and as if; and what a dry run leaves behind.

use proto::{
    catalog::v1::QuoteLine,
    orders::v1::{CreateOrderRequest, Order},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, new_id, quote, refused, state},
    fakes::TILL,
};

fn named(code: &str, field: &str) -> (String, Vec<String>) {
    (code.to_owned(), vec![field.to_owned()])
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn what_cannot_be_ordered_is_refused_and_dry_runs_agree(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let good = bed.add_product("1.00", "0", "0");
    let product = |change: &dyn Fn(&mut QuoteLine)| {
        let mut quote = quote("1.00", "0", "0");
        change(&mut quote);
        bed.add_quote(quote)
    };
    let gone = product(&|quote| quote.available = false);
    let euro = product(&|quote| quote.asset_code = "eur".into());
    let single = product(&|quote| quote.allow_choosing_quantity = false);
    let adult = product(&|quote| quote.requires_identity = true);
    let (blocked, pending) = (bed.add_user(), bed.add_user());
    bed.world
        .state()
        .users
        .get_mut(&blocked.id)
        .unwrap()
        .blocked = true;
    bed.world
        .state()
        .users
        .get_mut(&pending.id)
        .unwrap()
        .approved = false;
    let cart = |change: &dyn Fn(&mut CreateOrderRequest)| {
        let mut cart = bed.cart(&[(&good, 1)]);
        change(&mut cart);
        cart
    };
    let with = |id: &str, quantity| bed.cart(&[(&good, 1), (id, quantity)]);
    let cases = [
        (
            with(&new_id(), 1),
            "validation_failed",
            "lines[1].productId",
        ),
        (with(&gone, 1), "product_unavailable", "lines[1].productId"),
        (with(&euro, 1), "mixed_assets", "lines[1].productId"),
        (
            with(&single, 2),
            "quantity_not_allowed",
            "lines[1].quantity",
        ),
        (with(&adult, 1), "identity_required", "lines[1].productId"),
        (with(&good, 0), "validation_failed", "lines[1].quantity"),
        (
            with(&good, 1_000_001),
            "validation_failed",
            "lines[1].quantity",
        ),
        (
            with("nonsense", 1),
            "validation_failed",
            "lines[1].productId",
        ),
        (bed.cart(&[]), "validation_failed", "lines"),
        (
            bed.cart(&vec![(&*good, 1); 201]),
            "validation_failed",
            "lines",
        ),
        (
            cart(&|cart| cart.user_id = "x".into()),
            "validation_failed",
            "userId",
        ),
        (
            cart(&|cart| cart.user_id = new_id()),
            "validation_failed",
            "userId",
        ),
        (
            cart(&|cart| cart.user_id = blocked.id.clone()),
            "validation_failed",
            "userId",
        ),
        (
            cart(&|cart| cart.user_id = pending.id.clone()),
            "validation_failed",
            "userId",
        ),
        (
            cart(&|cart| cart.delivery_method = 1),
            "validation_failed",
            "shippingAddressId",
        ),
        (
            cart(&|cart| cart.user_notes = Some("x".repeat(2049))),
            "validation_failed",
            "userNotes",
        ),
        (
            cart(&|cart| cart.chosen_payment_method = Some("a\0b".into())),
            "validation_failed",
            "chosenPaymentMethod",
        ),
        (
            cart(&|cart| cart.custom_data = Some("[]".into())),
            "validation_failed",
            "customData",
        ),
        (
            cart(&|cart| cart.wallet_id = Some(new_id())),
            "validation_failed",
            "walletId",
        ),
        (
            cart(&|cart| cart.wallet_id = Some(TILL.into())),
            "validation_failed",
            "walletId",
        ),
    ];
    for (mut cart, code, field) in cases {
        for dry_run in [false, true] {
            cart.dry_run = dry_run;
            assert_eq!(refused(bed.create(cart.clone()).await), named(code, field));
        }
    }
    assert_eq!(
        bed.count("orders").await + bed.count("order_lines").await,
        0
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_dry_run_shows_the_order_and_leaves_no_trace(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let product = bed.add_product("9.99", "1.07", "1.00");
    let mut cart = bed.cart(&[(&product, 2)]);
    cart.wallet_id = Some(bed.user.primary_wallet_id.clone());
    cart.dry_run = true;
    let dry = bed.create(cart.clone()).await.unwrap();
    for table in ["orders", "order_lines", "payments", "claims", "outbox"] {
        assert_eq!(bed.count(table).await, 0, "{table}");
    }
    assert_eq!(bed.money(), "100.00000000");
    assert_eq!((&*dry.id, &*dry.lines[0].id), ("", ""));
    cart.dry_run = false;
    let real = bed.create(cart.clone()).await.unwrap();
    let money = |order: &Order| {
        [
            &order.amount,
            &order.taxes_amount,
            &order.bonus,
            &order.paid_amount,
        ]
        .map(String::clone)
    };
    assert_eq!((money(&dry), state(&dry)), (money(&real), state(&real)));

    // The second would not be paid: neither for real nor as if.
    bed.world.fund(&bed.user.primary_wallet_id, "usd", "22.11");
    for dry_run in [true, false] {
        cart.dry_run = dry_run;
        let answer = refused(bed.create(cart.clone()).await);
        assert_eq!(answer, named("insufficient_funds", "walletId"));
    }
    let wallet_id = bed.user.primary_wallet_id.clone();
    bed.world
        .state()
        .wallets
        .get_mut(&wallet_id)
        .unwrap()
        .locked = true;
    bed.world.fund(&wallet_id, "usd", "50");
    cart.dry_run = true;
    assert_eq!(
        refused(bed.create(cart).await),
        named("wallet_locked", "walletId")
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn without_the_others_it_is_unavailable_soon(_: PgPoolOptions, options: PgConnectOptions) {
    let mut bed = Bed::new(options).await;
    let placed = bed.place("1.00").await;
    bed.stop().await;
    bed.peers = "127.0.0.1:9".parse().unwrap();
    bed.start().await;
    let began = std::time::Instant::now();
    let cart = bed.cart(&[(&placed.lines[0].product_id, 1)]);
    let failure = bed.create(cart).await.unwrap_err();
    assert_eq!(failure.code.as_str(), "unavailable");
    assert!(failure.retry_after.is_some() && began.elapsed().as_secs() < 4);
    assert_eq!(refused(bed.pay(&placed.id, None).await).0, "unavailable");
    // What needs nobody goes on.
    assert_eq!(bed.get(&placed.id).await, placed);
    bed.assert_settled().await;
}
