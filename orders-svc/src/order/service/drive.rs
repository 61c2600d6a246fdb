//! Drives claims to their end: posts them, then settles or releases them.
//!
//! Only a refusal that is final releases a claim, because an earlier call may still be on its way to
//! the ledger, where it would take the money for an order that is gone. It is final if
//!
//! * the request's own call was refused, and no worker has taken the claim, so that it is the only one;
//! * the transfers are malformed or name what does not exist, which no earlier call could change;
//! * the ledger says that the operation has expired.
//!
//! Otherwise the claim stays until it expires.

use platform::{
    error::{Code, Failure},
    failpoint,
    idempotency::{self, Reply},
    pg,
    saga::{Outcome, Saga, Table},
};
use proto::orders::v1 as wire;
use sqlx::PgConnection;
use uuid::Uuid;

use super::{OrderReply, Orders, lock_in_tx, settlement, showing};
use crate::{
    SCHEMA,
    clients::PostError,
    error::Error,
    order::{
        convert,
        model::{Action, Claim, OpenClaim, OrderId, OrderWithLines, TransactionId},
        repo,
    },
};

/// Which call to the ledger an attempt makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// The call of the request that made the claim.
    First,
    /// A call of the worker: whether there was an earlier one is not known.
    Repeat,
}

/// A claim whose transfers are posted.
pub(super) struct Applied<'c> {
    pub(super) claim: &'c Claim,
    pub(super) transactions: &'c [TransactionId],
    /// What the response shows of the order's user.
    pub(super) user: Option<wire::OrderUser>,
}

/// Why a claim was not settled.
enum Unsettled {
    /// The ledger refused it, and it is released.
    Refused(Failure),
    /// The ledger refused this call, but an earlier one may take effect until the claim expires.
    Undecided(Failure),
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

impl Orders {
    /// Drives a claim for the request that made it, and that has inserted `draft` with it. If the outcome
    /// is unknown, the claim is given back to the saga worker and the error is transient.
    pub(super) async fn drive_new(
        &self,
        open: &OpenClaim,
        draft: Option<OrderWithLines>,
        user: Option<wire::OrderUser>,
    ) -> Result<OrderReply, Error> {
        failpoint::hit(&format!("orders.{}.claimed", open.claim.action().name()));
        match self.drive(open, Call::First, draft, user).await {
            Ok(order) => Ok(Reply::fresh(order)),
            Err(Unsettled::Refused(failure)) if failure.code != Code::OperationExpired => {
                Err(failure.into())
            }
            Err(Unsettled::Refused(_) | Unsettled::Undecided(_)) => {
                Err(Failure::unavailable("wallet").into())
            }
            Err(Unsettled::Unknown(failure)) => {
                self.give_back(&open.claim, &failure).await;
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
    async fn drive(
        &self,
        open: &OpenClaim,
        call: Call,
        draft: Option<OrderWithLines>,
        user: Option<wire::OrderUser>,
    ) -> Result<wire::Order, Unsettled> {
        let claim = &open.claim;
        let posted = self.clients.wallets.post(open).await;
        failpoint::hit(&format!("orders.{}.posted", claim.action().name()));
        match posted {
            Ok(transactions) => {
                let applied = Applied {
                    claim,
                    transactions: &transactions,
                    user,
                };
                Ok(self.settle(applied, draft).await?)
            }
            Err(PostError::Uncertain(failure)) => Err(Unsettled::Unknown(failure)),
            Err(PostError::Refused(failure)) if !is_final(&failure, call) => {
                Err(Unsettled::Undecided(failure))
            }
            Err(PostError::Refused(failure)) => {
                if self.release(claim, call).await? {
                    Err(Unsettled::Refused(failure))
                } else {
                    Err(Unsettled::Undecided(failure))
                }
            }
        }
    }

    /// Applies the claim, unless another driver has settled it.
    async fn settle(
        &self,
        applied: Applied<'_>,
        draft: Option<OrderWithLines>,
    ) -> Result<wire::Order, Error> {
        match draft {
            Some(draft) => self.settle_draft(applied, draft).await,
            None => self.settle_stored(applied).await,
        }
    }

    /// Applies a claim to its draft, which is as it was inserted: while it is claimed nothing else changes it.
    async fn settle_draft(
        &self,
        applied: Applied<'_>,
        mut draft: OrderWithLines,
    ) -> Result<wire::Order, Error> {
        let (order_id, user) = (applied.claim.order_id, applied.user.clone());
        let (settlement, response) = self.settlement(applied, &mut draft, self.clock.now())?;
        if self.settlements.write(settlement).await? {
            return Ok(response);
        }
        let mut tx = pg::tx(&self.pool).await?;
        let settled = lock_in_tx(&mut tx, order_id).await?;
        Ok(showing(convert::order(&settled), user))
    }

    async fn settle_stored(&self, applied: Applied<'_>) -> Result<wire::Order, Error> {
        let claim = applied.claim;
        let mut tx = pg::tx(&self.pool).await?;
        // Before the order's row, as in `release`: two drivers of a claim can't deadlock.
        let is_deleted = repo::claims::delete_in_tx(&mut tx, claim).await?;
        let mut order = lock_in_tx(&mut tx, claim.order_id).await?;
        if !is_deleted {
            return Ok(showing(convert::order(&order), applied.user));
        }
        let settled = self.apply_in_tx(&mut tx, applied, &mut order).await?;
        tx.commit().await?;
        Ok(settled)
    }

    /// Applies a claim whose transfers are posted, and completes the idempotency record.
    pub(super) async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        applied: Applied<'_>,
        order: &mut OrderWithLines,
    ) -> Result<wire::Order, Error> {
        let now = self.clock.now();
        let (claim, transactions) = (applied.claim, applied.transactions);
        let (settlement, response) = self.settlement(applied, order, now)?;
        if let Some(refund) = claim.action().refund() {
            let id = self.ids.uuid();
            repo::refunds::insert_in_tx(conn, id, claim, refund, transactions, now).await?;
        }
        match claim.action() {
            Action::PlaceAndCharge(_) | Action::Charge(_) => {}
            Action::Cancel(_) => repo::lines::cancel_in_tx(conn, claim.order_id, now).await?,
            Action::Refund(refund) => {
                repo::lines::refund_in_tx(conn, &refund.lines, now).await?;
            }
        }
        settlement::write_all_in_tx(conn, &[&settlement]).await?;
        Ok(response)
    }

    async fn find_claim(&self, order_id: OrderId) -> Result<Option<OpenClaim>, sqlx::Error> {
        let mut conn = self.pool.acquire().await?;
        repo::claims::find(&mut conn, order_id).await
    }

    /// Deletes a claim that the ledger refused, with its idempotency record and its draft. Returns
    /// `false` if the claim is gone, or, after the first call, if a worker has taken it.
    async fn release(&self, claim: &Claim, call: Call) -> Result<bool, Error> {
        let mut tx = pg::tx(&self.pool).await?;
        let is_deleted = match call {
            Call::First => repo::claims::delete_untaken_in_tx(&mut tx, claim).await?,
            Call::Repeat => repo::claims::delete_in_tx(&mut tx, claim).await?,
        };
        if is_deleted {
            if matches!(claim.action(), Action::PlaceAndCharge(_)) {
                repo::lines::delete_in_tx(&mut tx, claim.order_id).await?;
                repo::orders::delete_draft_in_tx(&mut tx, claim.order_id).await?;
            }
            if let Some(scope) = &claim.idempotency_scope {
                idempotency::forget_in_tx(&mut tx, SCHEMA, scope).await?;
            }
        }
        tx.commit().await?;
        Ok(is_deleted)
    }
}

/// Returns whether a refused call leaves no earlier one that may take effect.
fn is_final(refusal: &Failure, call: Call) -> bool {
    call == Call::First
        || matches!(
            refusal.code,
            Code::OperationExpired | Code::ValidationFailed
        )
}

impl Saga for Orders {
    const NAME: &'static str = "order-claim";
    const TABLE: Table = Table {
        schema: SCHEMA,
        name: "claims",
        key: "order_id",
    };

    async fn resume(&self, id: Uuid) -> Outcome {
        let open = match self.find_claim(OrderId::new(id)).await {
            Ok(Some(open)) => open,
            Ok(None) => return Outcome::Completed,
            Err(error) => return Outcome::Failed(error.into()),
        };
        let user = match self.find_user(open.claim.order_id).await {
            Ok(user) => user,
            Err(error) => return Outcome::Failed(error.into()),
        };
        match self.drive(&open, Call::Repeat, None, user).await {
            Ok(_) => Outcome::Completed,
            Err(Unsettled::Refused(failure)) => Outcome::Compensated(failure.into()),
            Err(Unsettled::Undecided(failure)) => Outcome::Undecided {
                error: failure.into(),
                until: open.expires_at(),
            },
            Err(Unsettled::Unknown(failure)) => Outcome::Unknown(failure.into()),
            Err(Unsettled::Failed(error)) => Outcome::Failed(error.into()),
        }
    }
}
