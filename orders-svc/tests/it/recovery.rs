//! A process that dies between two steps, and the next one that ends what it began.

use platform::testing::eventually;
use proto::orders::v1::{OrderStatus, PaymentStatus};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, SOON, refused, state},
    fakes::{Ledger, TILL},
};

/// The points at which a process can die: before the ledger posted, and after.
const DEATHS: [Ledger; 2] = [Ledger::Down, Ledger::LosesAnswers];

impl Bed {
    /// The process is gone, its claim has run out, and a new process starts.
    async fn die_and_start(&mut self) {
        self.stop().await;
        sqlx::query("update orders.claims set due_at = now() - interval '1 second'")
            .execute(&self.pool)
            .await
            .unwrap();
        self.world.state().ledger = Ledger::Works;
        self.start().await;
        eventually("every claim is settled", SOON, async || {
            self.count("claims").await == 0
        })
        .await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_payment_ends_paid_once(_: PgPoolOptions, options: PgConnectOptions) {
    let mut bed = Bed::new(options).await;
    for death in DEATHS {
        bed.world.fund(&bed.user.primary_wallet_id, "usd", "100.00");
        let id = bed.place("60.00").await.id;
        bed.world.state().ledger = death;
        assert_eq!(refused(bed.pay(&id, None).await).0, "unavailable");
        let open = bed.get(&id).await;
        assert_eq!(open.payment_status(), PaymentStatus::Unpaid);
        assert_eq!(refused(bed.pay(&id, None).await).0, "order_busy");

        bed.die_and_start().await;
        let paid = bed.get(&id).await;
        assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
        assert_eq!(bed.money(), "40.00000000");
        let events = bed.events(&id).await;
        assert_eq!(events, ["OrderPlaced", "OrderPaymentReceived", "OrderPaid"]);
        bed.assert_settled().await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_draft_ends_as_a_paid_order_or_as_none(_: PgPoolOptions, options: PgConnectOptions) {
    let mut bed = Bed::new(options).await;
    let product = bed.add_product("60.00", "0", "0");
    let mut cart = bed.cart(&[(&product, 1)]);
    cart.wallet_id = Some(bed.user.primary_wallet_id.clone());
    for death in DEATHS {
        bed.world.fund(&bed.user.primary_wallet_id, "usd", "100.00");
        let told = bed.count("outbox").await;
        bed.world.state().ledger = death;
        assert_eq!(refused(bed.create(cart.clone()).await).0, "unavailable");
        assert_eq!(bed.count("orders where order_status = 'draft'").await, 1);
        assert_eq!(bed.count("outbox").await, told);
        bed.die_and_start().await;
        assert_eq!(bed.money(), "40.00000000");
        bed.assert_settled().await;
    }
    assert_eq!(
        bed.count("orders where payment_status = 'fully_paid'")
            .await,
        2
    );

    // The money went elsewhere in the meantime.
    bed.world.state().ledger = Ledger::Down;
    assert_eq!(refused(bed.create(cart).await).0, "unavailable");
    bed.world.fund(&bed.user.primary_wallet_id, "usd", "59.99");
    bed.die_and_start().await;
    assert_eq!(
        (bed.count("orders").await, bed.count("order_lines").await),
        (2, 2)
    );
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_cancellation_ends_refunded_once(_: PgPoolOptions, options: PgConnectOptions) {
    let mut bed = Bed::new(options).await;
    for death in DEATHS {
        bed.world.fund(&bed.user.primary_wallet_id, "usd", "100.00");
        let id = bed.place("60.00").await.id;
        bed.pay(&id, None).await.unwrap();
        bed.world.state().ledger = death;
        assert_eq!(refused(bed.cancel(&id, Some("20")).await).0, "unavailable");
        assert_eq!(bed.get(&id).await.order_status(), OrderStatus::Unfulfilled);
        bed.die_and_start().await;
        let canceled = bed.get(&id).await;
        assert_eq!(
            state(&canceled),
            (
                OrderStatus::Canceled,
                PaymentStatus::PartiallyRefunded,
                "40.00000000"
            )
        );
        assert_eq!(bed.money(), "60.00000000");
        bed.assert_settled().await;
    }

    // The till was emptied in the meantime: the order stays as it was.
    let id = bed.place("10.00").await.id;
    let paid = bed.pay(&id, None).await.unwrap();
    bed.world.state().ledger = Ledger::Down;
    assert_eq!(refused(bed.cancel(&id, None).await).0, "unavailable");
    bed.world.fund(TILL, "usd", "0");
    bed.die_and_start().await;
    assert_eq!(bed.get(&id).await, paid);
    bed.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_living_process_ends_its_own_as_well(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let id = bed.place("60.00").await.id;
    bed.world.state().ledger = Ledger::LosesAnswers;
    assert_eq!(refused(bed.pay(&id, None).await).0, "unavailable");
    bed.world.state().ledger = Ledger::Works;
    eventually("the payment is settled", SOON, async || {
        bed.get(&id).await.payment_status() == PaymentStatus::FullyPaid
    })
    .await;
    assert_eq!(bed.money(), "40.00000000");
}
