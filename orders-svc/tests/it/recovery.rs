//! Recovery: a process dies between two steps, and another one completes what it began.

use platform::{error::Code, saga::LEASE, testing::eventually};
use proto::orders::v1::{OrderStatus, PaymentStatus};
use sqlx::PgPool;

use crate::{
    assertions::{State, assert_refused},
    fakes::{DEFAULT_WALLET, LedgerMode},
    harness::{TIMEOUT, TestApp},
};

/// The points at which a process can die: before the ledger posted, and after.
pub(crate) const DEATHS: [LedgerMode; 2] = [LedgerMode::Unreachable, LedgerMode::LosesResponses];

impl TestApp {
    /// Replaces the process by another one, and waits until that has completed every claim.
    pub(crate) async fn restart_and_recover(&mut self) {
        self.stop_process().await;
        sqlx::query("update orders.claims set due_at = now() - interval '1 second'")
            .execute(&self.pool)
            .await
            .unwrap();
        self.peers.set_ledger(LedgerMode::Works);
        self.start_process().await;
        eventually("every claim is completed", TIMEOUT, async || {
            self.count("claims").await == 0
        })
        .await;
    }

    /// Lets the time end in which the ledger may accept what is claimed.
    pub(crate) async fn expire_claims(&self) {
        sqlx::query("update orders.claims set not_after = now() - interval '10 seconds'")
            .execute(&self.pool)
            .await
            .unwrap();
    }

    async fn until_refused(&self) {
        let refused = "claims where last_error like '%not enough%'";
        eventually("a repeat is refused", TIMEOUT, async || {
            self.count(refused).await == 1
        })
        .await;
    }

    /// Returns the actions on an order, all of which the admin asked for.
    pub(crate) async fn audited(&self, id: &str) -> Vec<String> {
        let sql = "select action, actor from orders.audit_log where resource_id = $1 order by id";
        let rows: Vec<(String, String)> = sqlx::query_as(sql)
            .bind(id)
            .fetch_all(&self.pool)
            .await
            .unwrap();
        assert!(
            rows.iter().all(|(_, actor)| actor == "key:admin"),
            "{rows:?}"
        );
        rows.into_iter().map(|(action, _)| action).collect()
    }

    pub(crate) fn set_user_balance(&self, amount: &str) {
        let primary_wallet = &self.user.primary_wallet_id;
        self.peers.set_balance(primary_wallet, "usd", amount);
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_interrupted_payment_is_completed_once(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    for death in DEATHS {
        app.set_user_balance("100.00");
        let id = app.unpaid_order("60.00").await.id;
        app.peers.set_ledger(death);
        let interrupted = app.admin().pay(&id, None).await;
        assert_refused(interrupted, Code::Unavailable, &[]);
        let open = app.admin().get(&id).await.unwrap();
        assert_eq!(open.payment_status(), PaymentStatus::Unpaid);
        let busy = app.admin().pay(&id, None).await;
        assert_refused(busy, Code::OrderBusy, &[]);

        app.restart_and_recover().await;
        let paid = app.admin().get(&id).await.unwrap();
        assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
        assert_eq!(app.audited(&id).await, ["order.created", "order.paid"]);
        assert_eq!(app.balance("usd"), "40.00000000");
        let events = app.events(&id).await;
        assert_eq!(events, ["OrderPlaced", "OrderPaymentReceived", "OrderPaid"]);
        app.assert_settled().await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_interrupted_draft_becomes_a_paid_order(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let product = app.add_product("60.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    for (death, orders) in DEATHS.into_iter().zip(1..) {
        app.set_user_balance("100.00");
        let events = app.count("outbox").await;
        app.peers.set_ledger(death);
        let interrupted = app.admin().create(cart.clone()).await;
        assert_refused(interrupted, Code::Unavailable, &[]);
        assert_eq!(app.count("orders where order_status = 'draft'").await, 1);
        assert_eq!(app.count("outbox").await, events);
        let draft = "select id::text from orders.orders where order_status = 'draft'";
        let draft: String = sqlx::query_scalar(draft)
            .fetch_one(&app.pool)
            .await
            .unwrap();
        let busy = app.admin().track(&draft, Some(&app.user.id)).await;
        assert_refused(busy, Code::OrderBusy, &[]);

        app.restart_and_recover().await;
        assert_eq!(app.balance("usd"), "40.00000000");
        let paid = app
            .count("orders where payment_status = 'fully_paid'")
            .await;
        assert_eq!(paid, orders);
        app.assert_settled().await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_interrupted_draft_is_deleted_if_its_payment_is_refused(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let product = app.add_product("60.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    app.peers.set_ledger(LedgerMode::Unreachable);
    let client = app.admin().with_key("a");
    let interrupted = client.create(cart.clone()).await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    let in_progress = client.create(cart.clone()).await;
    assert_refused(in_progress, Code::IdempotencyKeyInUse, &[]);

    app.set_user_balance("59.99");
    app.expire_claims().await;
    app.restart_and_recover().await;
    for table in ["orders", "order_lines", "outbox", "idempotency_keys"] {
        assert_eq!(app.count(table).await, 0, "{table}");
    }
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_recovered_request_is_replayed_under_its_key(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    app.peers.set_ledger(LedgerMode::LosesResponses);
    let interrupted = app.admin().with_key("a").pay(&id, None).await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    app.restart_and_recover().await;
    let client = app.admin().with_key("a");
    let paid = client.pay(&id, None).await.unwrap();
    assert!(client.was_replayed());
    assert_eq!(paid, app.admin().get(&id).await.unwrap());
    assert_eq!(app.balance("usd"), "40.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_interrupted_cancellation_is_completed_once(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    for death in DEATHS {
        app.set_user_balance("100.00");
        let id = app.paid_order("60.00").await.id;
        app.peers.set_ledger(death);
        let interrupted = app.admin().cancel(&id, Some("20")).await;
        assert_refused(interrupted, Code::Unavailable, &[]);
        let open = app.admin().get(&id).await.unwrap();
        assert_eq!(open.order_status(), OrderStatus::Unfulfilled);

        app.restart_and_recover().await;
        let canceled = app.admin().get(&id).await.unwrap();
        let expected = State {
            order: OrderStatus::Canceled,
            payment: PaymentStatus::PartiallyRefunded,
            paid_amount: "40.00000000",
        };
        assert_eq!(State::of(&canceled), expected);
        assert_eq!(app.balance("usd"), "60.00000000");
        app.assert_settled().await;
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_interrupted_cancellation_is_undone_if_its_refund_is_refused(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let paid = app.paid_order("10.00").await;
    app.peers.set_ledger(LedgerMode::Unreachable);
    let interrupted = app.admin().cancel(&paid.id, None).await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    app.peers.set_balance(DEFAULT_WALLET, "usd", "0");
    app.expire_claims().await;
    app.restart_and_recover().await;
    assert_eq!(app.admin().get(&paid.id).await.unwrap(), paid);
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_running_process_completes_its_own_claims(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    app.peers.set_ledger(LedgerMode::LosesResponses);
    let interrupted = app.admin().pay(&id, None).await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    app.peers.set_ledger(LedgerMode::Works);
    eventually("the payment is settled", TIMEOUT, async || {
        let order = app.admin().get(&id).await.unwrap();
        order.payment_status() == PaymentStatus::FullyPaid
    })
    .await;
    assert_eq!(app.balance("usd"), "40.00000000");
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_claim_of_unknown_outcome_is_resumed_before_its_lease_ends(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    app.peers.set_ledger(LedgerMode::LosesResponses);
    let interrupted = app.admin().pay(&id, None).await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    let resumed = "claims where attempts > 0 and last_error is not null";
    eventually("the claim is resumed", LEASE / 2, async || {
        app.count(resumed).await == 1
    })
    .await;
    assert_eq!(app.balance("usd"), "40.00000000");
}

/// The first call is still on its way when the worker's is refused, and takes the money afterwards.
#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_payment_that_arrives_after_a_refused_repeat_is_recorded(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    app.peers.set_ledger(LedgerMode::PostsLate);
    let interrupted = app.admin().pay(&id, None).await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    app.set_user_balance("0");
    app.peers.set_ledger(LedgerMode::Works);
    app.until_refused().await;

    app.set_user_balance("100.00");
    app.peers.post_late().unwrap();
    let busy = app.admin().pay(&id, None).await;
    assert_refused(busy, Code::OrderBusy, &[]);
    app.expire_claims().await;
    app.restart_and_recover().await;
    let paid = app.admin().get(&id).await.unwrap();
    assert_eq!(paid.payment_status(), PaymentStatus::FullyPaid);
    assert_eq!(app.balance("usd"), "40.00000000");
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refused_repeat_is_tried_again_when_the_claim_expires(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("60.00").await.id;
    app.peers.set_ledger(LedgerMode::PostsLate);
    let interrupted = app.admin().pay(&id, None).await;
    assert_refused(interrupted, Code::Unavailable, &[]);
    app.set_user_balance("0");
    app.peers.set_ledger(LedgerMode::Works);
    app.until_refused().await;
    let due = "claims where due_at = not_after + interval '5 seconds'
         and not_after = created_at + interval '30 seconds'";
    assert_eq!(app.count(due).await, 1);
}

/// A worker has taken the claim while the request waited: its call may take effect later.
#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_refusal_of_the_request_is_not_final_once_a_worker_has_its_claim(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("100.01").await.id;
    app.peers.set_ledger(LedgerMode::Waits);
    let refuse = async {
        app.peers.post_called.notified().await;
        sqlx::query("update orders.claims set attempts = 1")
            .execute(&app.pool)
            .await
            .unwrap();
        app.peers.post_may_continue.notify_one();
    };
    let client = app.admin();
    let (refused, ()) = tokio::join!(client.pay(&id, None), refuse);
    assert_refused(refused, Code::Unavailable, &[]);
    assert_eq!(app.count("claims").await, 1);
}
