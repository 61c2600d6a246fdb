//! Bonuses in another asset than the order's: earned by the rate, and paid with.

use proto::{
    events::v1::{OrderCanceled, OrderPaid, OrderPaymentReceived, OrderRefunded},
    orders::v1::PaymentStatus,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, new_id, refused},
    fakes::TILL,
};

impl Bed {
    /// Bonuses are paid in points, which have no decimals, and there is this rate.
    fn bonus_in_points(&self, base: &str, quote: &str, rate: &str) {
        let mut state = self.world.state();
        state.bonus_asset_code = Some("points".into());
        let pair = (base.to_owned(), quote.to_owned());
        state.rates.insert(pair, rate.to_owned());
    }

    fn points(&self) -> String {
        self.world.balance(&self.user.primary_wallet_id, "points")
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn it_is_earned_by_the_rate_of_the_moment(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.bonus_in_points("points", "usd", "0.10");
    let product = bed.add_product("10.00", "0", "0.25");
    let cart = bed.cart(&[(&product, 3)]);
    let order = bed.create(cart).await.unwrap();
    // 2.5 points a unit
    assert_eq!(
        (&*order.bonus, &*order.bonus_asset_code),
        ("9.00000000", "points")
    );
    assert_eq!(&*order.lines[0].unit_bonus, "3.00000000");
    assert!(!order.metadata.contains("bonusSkipped"));
    bed.bonus_in_points("points", "usd", "1");
    assert_eq!(bed.get(&order.id).await.bonus, order.bonus);
    bed.pay(&order.id, None).await.unwrap();
    let told: OrderPaid = bed.event(&order.id, "OrderPaid").await;
    assert_eq!(
        (&*told.bonus, &*told.bonus_asset_code),
        ("9.00000000", "points")
    );
    // A third of the money, a third of the bonus.
    bed.cancel(&order.id, Some("10.00")).await.unwrap();
    let told: OrderCanceled = bed.event(&order.id, "OrderCanceled").await;
    assert_eq!(&*told.bonus_revoked, "3.00000000");
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn points_pay_what_they_are_worth(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.bonus_in_points("points", "usd", "0.03");
    bed.world
        .fund(&bed.user.primary_wallet_id, "points", "1000");
    let product = bed.add_product("10.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.dry_run = true;
    let dry = bed.create(cart.clone()).await.unwrap();
    assert_eq!(
        (&*dry.paid_amount, &*bed.points()),
        ("10.00000000", "1000.00000000")
    );
    cart.dry_run = false;
    let paid = bed.create(cart).await.unwrap();
    assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(&*paid.paid_amount, "10.00000000");
    // 333.33 are not enough.
    assert_eq!(&*bed.points(), "666.00000000");
    assert_eq!(bed.world.balance(TILL, "points"), "334.00000000");
    let received: OrderPaymentReceived = bed.event(&paid.id, "OrderPaymentReceived").await;
    assert_eq!(
        (&*received.amount, &*received.asset_code),
        ("10.00000000", "usd")
    );
    bed.cancel(&paid.id, None).await.unwrap();
    assert_eq!(&*bed.points(), "1000.00000000");
    let told: OrderRefunded = bed.event(&paid.id, "OrderRefunded").await;
    let refunded = &told.refunded[0];
    assert_eq!(
        (&*refunded.amount, &*refunded.asset_code),
        ("334.00000000", "points")
    );
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_wallet_pays_the_rest_and_is_refunded_first(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    // The inverse of the rate that is needed.
    bed.bonus_in_points("usd", "points", "33");
    bed.world.fund(&bed.user.primary_wallet_id, "points", "100");
    let purse = new_id();
    bed.add_wallet(&purse, &bed.user.id);
    bed.world.fund(&purse, "usd", "6.98");
    let product = bed.add_product("10.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    cart.wallet_id = Some(purse.clone());
    // 100 / 33 is 3.03, so 6.97 are missing.
    bed.world.fund(&purse, "usd", "6.96");
    for dry_run in [true, false] {
        cart.dry_run = dry_run;
        let short = refused(bed.create(cart.clone()).await);
        assert_eq!(
            short,
            ("insufficient_funds".into(), vec!["walletId".into()])
        );
    }
    assert_eq!(&*bed.points(), "100.00000000");
    bed.world.fund(&purse, "usd", "6.97");
    let paid = bed.create(cart).await.unwrap();
    assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
    let left = || (bed.points(), bed.world.balance(&purse, "usd"));
    assert_eq!(left(), ("0.00000000".into(), "0.00000000".into()));

    let canceled = bed.cancel(&paid.id, Some("8.00")).await.unwrap();
    assert_eq!(canceled.payment_status(), PaymentStatus::PartiallyRefunded);
    assert_eq!(&*canceled.paid_amount, "2.00000000");
    // 1.03 of 3.03 is 33.99 of 100 points.
    assert_eq!(left(), ("33.00000000".into(), "6.97000000".into()));
    let told: OrderRefunded = bed.event(&paid.id, "OrderRefunded").await;
    let refunded = told.refunded.iter();
    let refunded = refunded.map(|back| (&*back.asset_code, &*back.amount));
    assert!(refunded.eq([("points", "33.00000000"), ("usd", "6.97000000")]));
    assert_eq!(told.transaction_ids.len(), 2);
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn dust_pays_nothing(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.bonus_in_points("points", "usd", "0.001");
    bed.world.fund(&bed.user.primary_wallet_id, "points", "9");
    let product = bed.add_product("10.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.use_bonus = true;
    let placed = bed.create(cart).await.unwrap();
    assert_eq!(placed.payment_status(), PaymentStatus::Unpaid);
    assert_eq!(&*bed.points(), "9.00000000");
    bed.assert_settled().await;
}
