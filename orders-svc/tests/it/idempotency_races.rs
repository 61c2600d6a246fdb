//! Idempotency keys under races and crashes: one effect per key, and the final result for whoever repeats.

use futures::{StreamExt as _, stream};
use platform::error::{Code, Failure};
use proto::orders::v1::Order;
use sqlx::PgPool;

use crate::{assertions::assert_refused, harness::TestApp, recovery::DEATHS};

/// Pairs of requests with one key.
const ROUNDS: usize = 100;
/// Rounds at the same time.
const IN_FLIGHT: usize = 4;
/// Requests that a crash interrupts at each point.
const RUNS: usize = 50;

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn of_two_payments_with_one_key_and_other_amounts_one_is_made(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.set_user_balance("10000.00");
    let rounds = stream::iter(0..ROUNDS).map(|round| pay_twice(&app, round));
    let paid: Vec<_> = rounds.buffer_unordered(IN_FLIGHT).collect().await;
    assert_eq!(paid.len(), ROUNDS);
    let sum: u32 = paid.iter().sum();
    assert_eq!(app.balance("usd"), format!("{}.00000000", 10_000 - sum));
    assert_eq!(app.peers.state().postings.len(), ROUNDS);
    app.assert_settled().await;
}

/// Pays 10 and 20 of an order at once with one key. Returns the amount that was paid.
async fn pay_twice(app: &TestApp, round: usize) -> u32 {
    let id = app.unpaid_order("50.00").await.id;
    let key = format!("race-{round}");
    let client = |hash| app.admin().with_key_of_body(&key, hash);
    let (ten, twenty) = (client("10"), client("20"));
    let (by_ten, by_twenty) = if round.is_multiple_of(2) {
        tokio::join!(ten.pay(&id, Some("10")), twenty.pay(&id, Some("20")))
    } else {
        let both = tokio::join!(twenty.pay(&id, Some("20")), ten.pay(&id, Some("10")));
        (both.1, both.0)
    };
    let (amount, paid, other) = match (by_ten, by_twenty) {
        (Ok(paid), Err(refused)) => {
            check_refusal(&refused);
            (10, paid, twenty.pay(&id, Some("20")).await)
        }
        (Err(refused), Ok(paid)) => {
            check_refusal(&refused);
            (20, paid, ten.pay(&id, Some("10")).await)
        }
        both => panic!("{both:?}"),
    };
    assert_refused(other, Code::IdempotencyKeyReused, &[]);
    assert_eq!(paid.paid_amount, format!("{amount}.00000000"));
    let events = app.events(&id).await;
    assert_eq!(events, ["OrderPlaced", "OrderPaymentReceived"]);
    assert_eq!(app.admin().get(&id).await.unwrap(), paid);
    amount
}

fn check_refusal(refused: &Failure) {
    let codes = [Code::IdempotencyKeyReused, Code::IdempotencyKeyInUse];
    assert!(codes.contains(&refused.code), "{refused}");
}

/// The process dies after the key and the claim are stored, or after the ledger has posted and before the
/// reply is recorded under the key.
#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_payment_that_a_crash_interrupts_is_made_once_for_whoever_repeats_it(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    app.set_user_balance("1000.00");
    for (death, paid_before) in DEATHS.into_iter().zip([0, RUNS]) {
        let mut orders = Vec::new();
        for _ in 0..RUNS {
            orders.push(app.unpaid_order("2.00").await.id);
        }
        app.peers.set_ledger(death);
        for id in &orders {
            let interrupted = pay(&app, id).await.1;
            assert_refused(interrupted, Code::Unavailable, &[]);
        }
        app.restart_and_recover().await;
        for id in &orders {
            let (replayed, paid) = pay(&app, id).await;
            assert!(replayed, "{paid:?}");
            assert_eq!(paid.unwrap(), app.admin().get(id).await.unwrap());
            let events = app.events(id).await;
            assert_eq!(events, ["OrderPlaced", "OrderPaymentReceived", "OrderPaid"]);
        }
        let paid = paid_before + RUNS;
        assert_eq!(app.balance("usd"), format!("{}.00000000", 1_000 - 2 * paid));
        assert_eq!(app.peers.state().postings.len(), paid);
        app.assert_settled().await;
    }
}

/// Pays an order with a key of its own. Returns whether the response is a replay.
async fn pay(app: &TestApp, id: &str) -> (bool, Result<Order, Failure>) {
    let client = app.admin().with_key(id);
    let paid = client.pay(id, None).await;
    (client.was_replayed(), paid)
}
