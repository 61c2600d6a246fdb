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
//!
//! This module claims; [`super::drive`] does the rest.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use platform::{
    audit,
    error::{Code, Failure},
    grpc::deadline,
    idempotency::{self, Begin, Key, Reply},
    pg,
};
use proto::orders::v1::OrderUser;
use sqlx::{Postgres, Transaction};

use super::{
    OrderReply, Orders,
    create::{PreparedOrder, REFERENCE_ATTEMPTS, count_skipped_bonus, no_free_reference},
    draft::{Draft, Stored},
    drive::Applied,
    lock_unclaimed_in_tx,
};
use crate::{
    SCHEMA,
    clients::Settings,
    error::Error,
    order::{
        model::{
            Action, Claim, Intent, OpenClaim, Order, OrderId, OrderStatus, OrderWithLines, Payment,
            REFERENCE_LENGTH,
        },
        repo,
    },
};

/// The least time that a request needs to call the ledger and settle. With less, the caller would
/// get a timeout although the order is paid.
const LEAST_TIME: Duration = Duration::from_millis(500);

/// A request that moves money.
pub(super) struct SagaRequest<'r> {
    pub(super) key: Option<&'r Key>,
    pub(super) order_id: OrderId,
    pub(super) settings: &'r Settings,
    /// What the response shows of the order's user.
    pub(super) user: Option<OrderUser>,
}

/// What was paid and refunded of an order.
pub(super) struct Paid {
    pub(super) payments: Vec<Payment>,
    /// Number of refunds.
    pub(super) refunds: i64,
}

/// What storing a draft led to.
enum Placed {
    /// Until when the ledger may accept its payment.
    Claimed(DateTime<Utc>),
    Replay(Box<OrderReply>),
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
        request: SagaRequest<'_>,
        decide: impl FnOnce(&OrderWithLines, Paid) -> Result<Action, Error>,
    ) -> Result<OrderReply, Error> {
        let SagaRequest {
            key,
            order_id,
            settings,
            user,
        } = request;
        let mut tx = match self.begin(key).await? {
            Begun::Fresh(tx) => tx,
            Begun::Replay(reply) => return Ok(*reply),
        };
        let mut order = lock_unclaimed_in_tx(&mut tx, order_id).await?;
        let paid = Paid {
            payments: repo::payments::of_order(&mut tx, order_id).await?,
            refunds: repo::refunds::count(&mut tx, order_id).await?,
        };
        let action = decide(&order, paid)?;
        let claim = claim(&mut order.order, action, settings, key);
        if claim.action().legs().is_empty() {
            let applied = Applied {
                claim: &claim,
                transactions: &[],
                user,
            };
            let applied = self.apply_in_tx(&mut tx, applied, &mut order).await?;
            tx.commit().await?;
            return Ok(Reply::fresh(applied));
        }
        check_time_left()?;
        repo::orders::update_all_in_tx(&mut tx, &[&order.order]).await?;
        let ends = repo::claims::insert_all_in_tx(&mut tx, &[&claim]).await?;
        let not_after = *ends.get(&order_id).ok_or(Error::OrderBusy)?;
        tx.commit().await?;
        let open = OpenClaim { claim, not_after };
        self.drive_new(&open, None, user).await
    }

    /// Stores the order as a draft, and drives its payment.
    pub(super) async fn place_paid(
        &self,
        key: Option<&Key>,
        prepared: PreparedOrder,
    ) -> Result<OrderReply, Error> {
        let PreparedOrder {
            mut order,
            legs,
            settings,
            user,
        } = prepared;
        order.order.order_status = OrderStatus::Draft;
        check_time_left()?;
        let action = Action::PlaceAndCharge(legs);
        let claim = claim(&mut order.order, action, &settings, key);
        let key = key.cloned();
        let mut draft = Arc::new(Draft { order, claim, key });
        let not_after = match self.store(&mut draft).await? {
            Placed::Claimed(not_after) => not_after,
            Placed::Replay(reply) => return Ok(*reply),
        };
        let Draft { order, claim, .. } = Arc::unwrap_or_clone(draft);
        let is_bonus_skipped = order.order.bonus_skipped.is_some();
        let open = OpenClaim { claim, not_after };
        let driven = self.drive_new(&open, Some(order), Some(user));
        let reply = Box::pin(driven).await?;
        if is_bonus_skipped {
            count_skipped_bonus();
        }
        Ok(reply)
    }

    /// Stores a draft, under another reference if its own is taken.
    async fn store(&self, draft: &mut Arc<Draft>) -> Result<Placed, Error> {
        for _ in 0..REFERENCE_ATTEMPTS {
            match self.drafts.write(draft.clone()).await? {
                Stored::Claimed(not_after) => return Ok(Placed::Claimed(not_after)),
                Stored::Replay(recorded) => {
                    return Ok(Placed::Replay(Box::new(Reply::replay(&recorded)?)));
                }
                Stored::KeyRefused(error) => return Err(error.into()),
                Stored::ReferenceTaken => {
                    let order = &mut Arc::make_mut(draft).order.order;
                    order.reference = self.ids.code(REFERENCE_LENGTH);
                }
            }
        }
        Err(no_free_reference())
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
}

/// Fails if the request's deadline is too close to claim the order.
fn check_time_left() -> Result<(), Error> {
    if deadline::remaining().is_none_or(|left| left > LEAST_TIME) {
        return Ok(());
    }
    Err(Failure::new(Code::Timeout, "no time is left to call the ledger").into())
}

/// Makes the next claim of the order.
pub(super) fn claim(
    order: &mut Order,
    action: Action,
    settings: &Settings,
    key: Option<&Key>,
) -> Claim {
    order.claims += 1;
    Claim {
        order_id: order.id,
        sequence: order.claims,
        intent: Intent {
            default_wallet_id: settings.default_wallet_id,
            actor: audit::actor(SCHEMA),
            action,
        },
        idempotency_scope: key.map(|key| *key.scope()),
    }
}
