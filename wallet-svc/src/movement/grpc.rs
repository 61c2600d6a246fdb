//! `MovementService`.

use std::collections::HashMap;

use platform::{
    grpc::Call,
    list::{Totals, check},
};
use proto::{
    lists::wallet::MOVEMENTS,
    wallet::v1::{
        GetMovementRequest, GetMovementResponse, ListMovementsRequest, ListMovementsResponse,
        movement_service_server::MovementService,
    },
};
use sqlx::PgPool;
use tonic::{Request, Response, Status};

use super::{
    convert,
    model::{Movement, MovementId},
    repo,
};
use crate::{
    access,
    error::Error,
    transaction::{
        self,
        model::{Transaction, TransactionId},
    },
    wallet::service::Wallets,
};

/// Adapts movements to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct MovementGrpc {
    pub(crate) pool: PgPool,
    pub(crate) totals: Totals,
    pub(crate) wallets: Wallets,
}

impl MovementGrpc {
    /// Returns the transactions of movements, in one query, if they are included.
    async fn transactions(
        &self,
        rows: &[Movement],
        include: bool,
    ) -> Result<HashMap<TransactionId, Transaction>, Error> {
        if !include {
            return Ok(HashMap::new());
        }
        let ids: Vec<_> = rows.iter().map(|movement| movement.transaction).collect();
        let mut conn = self.pool.acquire().await?;
        let found = transaction::repo::find_transactions(&mut conn, &ids, None).await?;
        Ok(found.into_iter().map(|tx| (tx.id, tx)).collect())
    }
}

#[tonic::async_trait]
impl MovementService for MovementGrpc {
    async fn get_movement(
        &self,
        request: Request<GetMovementRequest>,
    ) -> Result<Response<GetMovementResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let reader = access::reader(&caller)?;
        let include = check::includes(&MOVEMENTS, &body.include)?;
        let id = MovementId::parse(&body.id).map_err(|_| Error::MovementNotFound)?;
        let mut conn = self.pool.acquire().await.map_err(Error::from)?;
        let found = repo::find_movement(&mut conn, id, reader).await;
        let found = found.map_err(Error::from)?.ok_or(Error::MovementNotFound)?;
        let found = [found];
        let transactions = self.transactions(&found, !include.is_empty()).await?;
        let [found] = found;
        let transaction = transactions.get(&found.transaction);
        let movement = Some(convert::movement(&found, transaction));
        Ok(Response::new(GetMovementResponse { movement }))
    }

    async fn list_movements(
        &self,
        request: Request<ListMovementsRequest>,
    ) -> Result<Response<ListMovementsResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let wallet = self.wallets.find_listed(&caller, body.wallet_id).await?;
        let (list, reader) = (body.list.unwrap_or_default(), access::reader(&caller)?);
        let mut conn = self.pool.acquire().await.map_err(Error::from)?;
        let page = repo::list_movements(&mut conn, &self.totals, &list, wallet, reader).await?;
        drop(conn);
        let include = page.includes("transaction");
        let transactions = self.transactions(&page.rows, include).await?;
        let (movements, page) =
            page.encode(|row| convert::movement(&row, transactions.get(&row.transaction)));
        let page = Some(page);
        Ok(Response::new(ListMovementsResponse { movements, page }))
    }
}
