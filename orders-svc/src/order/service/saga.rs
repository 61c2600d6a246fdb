//! Sagas that move money: a claim, a call to the ledger, and a settlement.
//!
//! 1. Claim: one transaction inserts the claim, with the idempotency record in progress. From then
//!    on every other operation on the order is refused as busy.
//! 2. Post: the ledger is called under the claim's operation id. A repeat returns the same result.
//! 3. Settle: one transaction deletes the claim, applies it to the order, appends the events and
//!    completes the idempotency record. After a refusal, release: the claim is deleted, and so are
//!    the record and a draft.
//!
//! If the process dies in between, or the outcome of the call is unknown, the saga worker repeats
//! steps 2 and 3. Whoever deletes the claim first applies it.

use std::time::Duration;

use platform::{
    error::{Code, Failure},
    failpoint,
    grpc::deadline,
    idempotency::{self, Begin, Key, Reply},
    pg,
    saga::{Outcome, Saga, Table},
};
use proto::orders::v1 as wire;
use sqlx::{PgConnection, Postgres, Transaction};
use uuid::Uuid;

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

/// The least time that a request needs to call the ledger and settle. With less, the caller would
/// get a timeout although the order is paid.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// Why a claim was not settled.
enum Unsettled {
    /// The ledger refused it, and it is released.
    Refused(Failure),
    /// The ledger's outcome is unknown, and the claim stays.
    Unknown(Failure),
    /// The database failed, and the claim stays.
    Failed(Error),
}

impl From<Error> for Unsettled {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

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
        check_time_left()?;
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
        check_time_left()?;
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

    /// Drives a claim for the request that made it. If the outcome is unknown, the claim is given
    /// back to the saga worker and the error is transient.
    async fn drive_new(&self, claim: &Claim) -> Result<OrderReply, Error> {
        failpoint::hit(&format!("orders.{}.claimed", claim.action().name()));
        match self.drive(claim).await {
            Ok(order) => Ok(Reply::fresh(order)),
            Err(Unsettled::Refused(failure)) => Err(failure.into()),
            Err(Unsettled::Unknown(failure)) => {
                self.give_back(claim, &failure).await;
                Err(failure.into())
            }
            Err(Unsettled::Failed(error)) => Err(error),
        }
    }

    async fn give_back(&self, claim: &Claim, failure: &Failure) {
        let order_id = claim.order_id.uuid();
        let given_back = Self::TABLE.retry_now(&self.pool, order_id, failure).await;
        if let Err(error) = given_back {
            tracing::debug!(
                %order_id, %error,
                "order saga: giving a claim back failed, it is resumed when its lease ends"
            );
        }
    }

    /// Posts the claim, then settles or releases it.
    async fn drive(&self, claim: &Claim) -> Result<wire::Order, Unsettled> {
        let posted = self.clients.wallets.post(claim).await;
        failpoint::hit(&format!("orders.{}.posted", claim.action().name()));
        match posted {
            Ok(transactions) => Ok(self.settle(claim, &transactions).await?),
            Err(PostError::Refused(failure)) => {
                self.release(claim).await?;
                Err(Unsettled::Refused(failure))
            }
            Err(PostError::Uncertain(failure)) => Err(Unsettled::Unknown(failure)),
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

    async fn find_claim(&self, order_id: OrderId) -> Result<Option<Claim>, sqlx::Error> {
        let mut conn = self.pool.acquire().await?;
        repo::claims::find(&mut conn, order_id).await
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
}

impl Saga for Orders {
    const NAME: &'static str = "order-claim";
    const TABLE: Table = Table {
        schema: SCHEMA,
        name: "claims",
        key: "order_id",
    };

    async fn resume(&self, id: Uuid) -> Outcome {
        let claim = match self.find_claim(OrderId::new(id)).await {
            Ok(Some(claim)) => claim,
            Ok(None) => return Outcome::Completed,
            Err(error) => return Outcome::Failed(error.into()),
        };
        match self.drive(&claim).await {
            Ok(_) => Outcome::Completed,
            Err(Unsettled::Refused(failure)) => Outcome::Compensated(failure.into()),
            Err(Unsettled::Unknown(failure)) => Outcome::Unknown(failure.into()),
            Err(Unsettled::Failed(error)) => Outcome::Failed(error.into()),
        }
    }
}

/// Fails if the request's deadline is too close to claim the order.
fn check_time_left() -> Result<(), Error> {
    if deadline::remaining().is_none_or(|left| left > LEAST_TIME) {
        return Ok(());
    }
    Err(Failure::new(Code::Timeout, "no time is left to call the ledger").into())
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
