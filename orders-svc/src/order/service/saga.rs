//! Sagas that move money: a claim, a call to the ledger, and a settlement.
//!
//! 1. Claim: one transaction inserts the claim, with the idempotency record in progress. From then
//!    on every other operation on the order is refused as busy.
//! 2. Post: the ledger is called under the claim's operation id. A repeat returns the same result.
//! 3. Settle: one transaction deletes the claim, applies it to the order, appends the events and
//!    completes the idempotency record. After a refusal, release: the claim is deleted, and so are
//!    the record and a draft.
//!
//! If the process dies in between, or the outcome of the call is unknown, recovery repeats steps 2
//! and 3 once the claim is due. Whoever deletes the claim first applies it.

use std::time::Duration;

use futures::future::join_all;
use platform::{
    failpoint,
    idempotency::{self, Begin, Key, Reply},
    messaging::Lease,
    pg,
};
use proto::orders::v1 as wire;
use sqlx::{PgConnection, Postgres, Transaction};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{
    OrderReply, Orders,
    create::{PreparedOrder, count_skipped_bonus},
    lock_in_tx, lock_unclaimed_in_tx,
};
use crate::{
    SCHEMA,
    clients::{PostError, Settings},
    error::Error,
    order::{
        convert,
        model::{
            Action, Claim, Intent, Order, OrderId, OrderStatus, OrderWithLines, Payment,
            TransactionId,
        },
        repo,
    },
};

const RECOVERY_INTERVAL: Duration = Duration::from_secs(1);
/// Claims that recovery drives concurrently.
const RECOVERY_BATCH: i64 = 32;

/// The start of a claiming transaction.
enum Begun {
    Fresh(Transaction<'static, Postgres>),
    Replay(Box<OrderReply>),
}

impl Orders {
    /// Claims the order for the action that `decide` derives from its locked state, and drives the
    /// claim. An action without transfers is applied in the claiming transaction.
    pub(super) async fn run_saga(
        &self,
        key: Option<&Key>,
        order_id: OrderId,
        settings: &Settings,
        decide: impl FnOnce(&OrderWithLines, &[Payment]) -> Result<Action, Error>,
    ) -> Result<OrderReply, Error> {
        let mut tx = match self.begin(key).await? {
            Begun::Fresh(tx) => tx,
            Begun::Replay(reply) => return Ok(*reply),
        };
        let mut order = lock_unclaimed_in_tx(&mut tx, order_id).await?;
        let payments = repo::payments::of_order(&mut tx, order_id).await?;
        let action = decide(&order, &payments)?;
        let claim = claim(&mut order.order, action, settings, key);
        if claim.action().legs().is_empty() {
            let applied = self.apply_in_tx(&mut tx, &claim, &mut order, &[]).await?;
            tx.commit().await?;
            return Ok(Reply::fresh(applied));
        }
        repo::orders::update_in_tx(&mut tx, &order.order).await?;
        if !repo::claims::insert_in_tx(&mut tx, &claim).await? {
            return Err(Error::OrderBusy);
        }
        tx.commit().await?;
        self.drive_new(&claim).await
    }

    /// Stores the order as a draft, and drives its payment.
    pub(super) async fn place_paid(
        &self,
        key: Option<&Key>,
        prepared: PreparedOrder,
    ) -> Result<OrderReply, Error> {
        let mut tx = match self.begin(key).await? {
            Begun::Fresh(tx) => tx,
            Begun::Replay(reply) => return Ok(*reply),
        };
        let PreparedOrder {
            mut order,
            legs,
            settings,
        } = prepared;
        order.order.order_status = OrderStatus::Draft;
        let action = Action::PlaceAndCharge(legs);
        let claim = claim(&mut order.order, action, &settings, key);
        self.insert_in_tx(&mut tx, &mut order).await?;
        repo::claims::insert_in_tx(&mut tx, &claim).await?;
        tx.commit().await?;
        let reply = self.drive_new(&claim).await?;
        count_skipped_bonus(&order.order);
        Ok(reply)
    }

    async fn begin(&self, key: Option<&Key>) -> Result<Begun, Error> {
        let mut tx = pg::tx(&self.pool).await?;
        if let Some(key) = key
            && let Begin::Replay(recorded) = idempotency::begin_in_tx(&mut tx, SCHEMA, key).await?
        {
            return Ok(Begun::Replay(Box::new(Reply::replay(&recorded)?)));
        }
        Ok(Begun::Fresh(tx))
    }

    async fn drive_new(&self, claim: &Claim) -> Result<OrderReply, Error> {
        failpoint::hit(&format!("orders.{}.claimed", claim.action().name()));
        Ok(Reply::fresh(self.drive(claim).await?))
    }

    /// Posts the claim, then settles or releases it. If the outcome is unknown, the claim stays for
    /// recovery and the error is transient.
    async fn drive(&self, claim: &Claim) -> Result<wire::Order, Error> {
        let posted = self.clients.wallets.post(claim).await;
        failpoint::hit(&format!("orders.{}.posted", claim.action().name()));
        match posted {
            Ok(transactions) => self.settle(claim, &transactions).await,
            Err(PostError::Refused(refusal)) => {
                self.release(claim).await?;
                Err(Error::Failure(refusal))
            }
            Err(PostError::Uncertain(failure)) => Err(Error::Failure(failure)),
        }
    }

    async fn settle(
        &self,
        claim: &Claim,
        transactions: &[TransactionId],
    ) -> Result<wire::Order, Error> {
        let mut tx = pg::tx(&self.pool).await?;
        let mut order = lock_in_tx(&mut tx, claim.order_id).await?;
        if !repo::claims::delete_in_tx(&mut tx, claim).await? {
            // Settled by another driver.
            return Ok(convert::order(&order));
        }
        let settled = self
            .apply_in_tx(&mut tx, claim, &mut order, transactions)
            .await?;
        tx.commit().await?;
        Ok(settled)
    }

    /// Applies a claim whose transfers are posted, and completes the idempotency record.
    async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        claim: &Claim,
        order: &mut OrderWithLines,
        transactions: &[TransactionId],
    ) -> Result<wire::Order, Error> {
        let now = self.clock.now();
        let mut events = Vec::new();
        match claim.action() {
            Action::PlaceAndCharge(legs) | Action::Charge(legs) => {
                if matches!(claim.action(), Action::PlaceAndCharge(_)) {
                    events.push(order.order.activate());
                }
                repo::payments::insert_in_tx(conn, claim, legs, transactions, now).await?;
                events.extend(order.order.record_payment(legs, transactions, now)?);
            }
            Action::Cancel(cancellation) => {
                for leg in &cancellation.legs {
                    repo::payments::refund_in_tx(conn, leg).await?;
                }
                repo::lines::cancel_in_tx(conn, claim.order_id, now).await?;
                events.extend(order.cancel(cancellation, transactions, now)?);
            }
        }
        self.write_in_tx(conn, &mut order.order, &events).await?;
        let encoded = convert::order(order);
        if let Some(scope) = &claim.idempotency_scope {
            idempotency::complete_in_tx(conn, SCHEMA, scope, &encoded).await?;
        }
        Ok(encoded)
    }

    /// Deletes a claim that the ledger refused, with its idempotency record and its draft.
    async fn release(&self, claim: &Claim) -> Result<(), Error> {
        let mut tx = pg::tx(&self.pool).await?;
        repo::orders::lock_in_tx(&mut tx, claim.order_id).await?;
        if repo::claims::delete_in_tx(&mut tx, claim).await? {
            if matches!(claim.action(), Action::PlaceAndCharge(_)) {
                repo::lines::delete_in_tx(&mut tx, claim.order_id).await?;
                repo::orders::delete_draft_in_tx(&mut tx, claim.order_id).await?;
            }
            if let Some(scope) = &claim.idempotency_scope {
                idempotency::forget_in_tx(&mut tx, SCHEMA, scope).await?;
            }
        }
        tx.commit().await?;
        Ok(())
    }

    /// Runs the recovery worker until the process stops; one process does the work at a time.
    pub(crate) async fn recover(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut lease = Lease::new(self.pool.clone(), SCHEMA, "order-recovery");
        let mut ticks = interval(RECOVERY_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.recover_due(&mut lease).await {
                tracing::debug!(%error, "order saga: reading due claims failed, retrying");
            }
        }
        lease.release().await?;
        Ok(())
    }

    async fn recover_due(&self, lease: &mut Lease) -> Result<(), Error> {
        if !lease.hold().await? {
            return Ok(());
        }
        let due = {
            let mut conn = self.pool.acquire().await?;
            repo::claims::take_due(&mut conn, RECOVERY_BATCH).await?
        };
        join_all(due.iter().map(|claim| self.recover_claim(claim))).await;
        Ok(())
    }

    async fn recover_claim(&self, claim: &Claim) {
        let operation = claim.operation_id();
        metrics::counter!("orders_claims_recovered_total").increment(1);
        match self.drive(claim).await {
            Ok(_) => tracing::info!(operation, "order saga: claim settled"),
            Err(error) => {
                tracing::warn!(operation, %error, "order saga: settling failed, retrying");
            }
        }
    }
}

/// Makes the next claim of the order.
fn claim(order: &mut Order, action: Action, settings: &Settings, key: Option<&Key>) -> Claim {
    order.claims += 1;
    Claim {
        order_id: order.id,
        sequence: order.claims,
        intent: Intent {
            default_wallet_id: settings.default_wallet_id,
            action,
        },
        idempotency_scope: key.map(|key| *key.scope()),
    }
}
