//! Claiming an order for an operation: from then on every other one is refused as busy, until the
//! ledger has answered and the claim is settled or released.

use platform::{
    idempotency::{self, Begin, Key, Reply, Scope},
    pg,
};
use sqlx::PgConnection;

use super::{OrderAnswer, Orders, lock_in_tx};
use crate::{
    SCHEMA,
    error::Error,
    order::{
        claim::{Claim, Kind, Plan, Step},
        convert,
        model::{OrderId, OrderWithLines, WalletId},
        payment::Payment,
        repo,
    },
};

/// What became of an attempt to claim.
pub(super) enum Claimed {
    /// The ledger has to be asked.
    Claim(Claim),
    /// There was nothing to ask, or all was done before.
    Done(Box<OrderAnswer>),
}

impl Orders {
    /// Claims the order for what `step` decides from its locked state.
    pub(super) async fn claim(
        &self,
        key: Option<&Key>,
        (id, kind, till): (OrderId, Kind, WalletId),
        step: impl Fn(&OrderWithLines, &[Payment]) -> Result<Step, Error>,
    ) -> Result<Claimed, Error> {
        let mut tx = pg::tx(&self.pool).await?;
        if let Some(key) = key
            && let Begin::Replay(recorded) = idempotency::begin_in_tx(&mut tx, SCHEMA, key).await?
        {
            return Ok(Claimed::Done(Box::new(Reply::replay(&recorded)?)));
        }
        let mut placed = idle_in_tx(&mut tx, id).await?;
        let payments = repo::payments::of_order(&mut tx, id).await?;
        placed.order.claims += 1;
        let claim = Claim {
            order_id: id,
            n: placed.order.claims,
            kind,
            plan: Plan {
                till,
                step: step(&placed, &payments)?,
            },
            idempotency_scope: key.map(|key| key.scope().as_bytes().to_vec()),
        };
        let claimed = if claim.legs().is_empty() {
            self.apply_in_tx(&mut tx, &claim, &mut placed, &[]).await?;
            let answer = convert::answer(&placed);
            if let Some(key) = key {
                idempotency::complete_in_tx(&mut tx, SCHEMA, key.scope(), &answer).await?;
            }
            Claimed::Done(Box::new(Reply::fresh(answer)))
        } else {
            repo::orders::update_in_tx(&mut tx, &placed.order).await?;
            if !repo::claims::insert_in_tx(&mut tx, &claim).await? {
                return Err(Error::OrderBusy);
            }
            Claimed::Claim(claim)
        };
        tx.commit().await?;
        Ok(claimed)
    }
}

/// The order, locked; refused while an operation on it is under way.
pub(super) async fn idle_in_tx(
    conn: &mut PgConnection,
    id: OrderId,
) -> Result<OrderWithLines, Error> {
    let placed = lock_in_tx(conn, id).await?;
    if repo::claims::is_claimed(conn, id).await? {
        return Err(Error::OrderBusy);
    }
    Ok(placed)
}

/// The idempotency record of the claim's request.
pub(super) fn scope(claim: &Claim) -> Option<Scope> {
    Scope::from_bytes(claim.idempotency_scope.as_deref()?)
}
