//! Driving a claim to its end: ask the ledger, then settle what it did or release what it refused.
//! Both the request and recovery come through here, and whoever ends the claim first wins.

use platform::{failpoint, idempotency, pg};
use proto::orders::v1::GetOrderResponse;
use sqlx::PgConnection;

use super::{Orders, claiming::scope, lock_in_tx};
use crate::{
    SCHEMA,
    clients::PostError,
    error::Error,
    order::{
        claim::{Claim, Kind, Step},
        convert,
        model::{OrderWithLines, TransactionId},
        repo,
    },
};

impl Orders {
    /// Posts what the claim asks for and settles it. Where the outcome is not known, the claim stays
    /// for recovery and the error says to try again.
    pub(super) async fn drive(&self, claim: &Claim) -> Result<GetOrderResponse, Error> {
        let posted = self.clients.wallets.post(claim).await;
        failpoint::hit(match claim.kind {
            Kind::Create => "orders.create.posted",
            Kind::Pay => "orders.pay.posted",
            Kind::Cancel => "orders.cancel.posted",
        });
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
    ) -> Result<GetOrderResponse, Error> {
        let mut tx = pg::tx(&self.pool).await?;
        let mut placed = lock_in_tx(&mut tx, claim.order_id).await?;
        let ours = repo::claims::delete_in_tx(&mut tx, claim).await?;
        if ours {
            self.apply_in_tx(&mut tx, claim, &mut placed, transactions)
                .await?;
        }
        let answer = convert::answer(&placed);
        if ours && let Some(scope) = scope(claim) {
            idempotency::complete_in_tx(&mut tx, SCHEMA, &scope, &answer).await?;
        }
        tx.commit().await?;
        Ok(answer)
    }

    /// What follows from the claim, once its transfers are posted.
    pub(super) async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        claim: &Claim,
        placed: &mut OrderWithLines,
        transactions: &[TransactionId],
    ) -> Result<(), Error> {
        let now = self.clock.now();
        let mut happened = Vec::new();
        if claim.kind == Kind::Create {
            happened.push(placed.order.place());
        }
        match &claim.plan.step {
            Step::Charge(legs) => {
                repo::payments::insert_in_tx(conn, claim, legs, transactions, now).await?;
                happened.extend(placed.order.receive(legs, transactions, now)?);
            }
            Step::Cancel(cancellation) => {
                for leg in &cancellation.legs {
                    repo::payments::refund_in_tx(conn, leg).await?;
                }
                repo::lines::cancel_in_tx(conn, claim.order_id, now).await?;
                happened.extend(placed.cancel(cancellation, transactions, now)?);
            }
        }
        self.write_in_tx(conn, &mut placed.order, &happened).await
    }

    /// The ledger refused: the order is as it was, and a draft is gone.
    async fn release(&self, claim: &Claim) -> Result<(), Error> {
        let mut tx = pg::tx(&self.pool).await?;
        repo::orders::lock_in_tx(&mut tx, claim.order_id).await?;
        if repo::claims::delete_in_tx(&mut tx, claim).await? {
            if claim.kind == Kind::Create {
                repo::lines::delete_in_tx(&mut tx, claim.order_id).await?;
                repo::orders::delete_draft_in_tx(&mut tx, claim.order_id).await?;
            }
            if let Some(scope) = scope(claim) {
                idempotency::forget_in_tx(&mut tx, SCHEMA, &scope).await?;
            }
        }
        tx.commit().await?;
        Ok(())
    }
}
