//! `MovementService`.

use std::collections::HashMap;

use platform::{grpc::Call, list::check};
use proto::{
    lists::wallet::MOVEMENTS,
    wallet::v1::{
        GetMovementRequest, GetMovementResponse, ListMovementsRequest, ListMovementsResponse,
        Movement as WireMovement, movement_service_server::MovementService,
    },
};
use sqlx::PgPool;
use tonic::{Request, Response, Status};

use super::{
    convert,
    model::{Movement, MovementId},
    repo,
};
use crate::{access, error::Error, transaction, wallet::service::Wallets};

/// Adapts movements to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct MovementGrpc {
    pub(crate) pool: PgPool,
    pub(crate) wallets: Wallets,
}

impl MovementGrpc {
    /// Encodes movements; their transactions take one more query.
    async fn encode(&self, rows: &[Movement], embed: bool) -> Result<Vec<WireMovement>, Error> {
        let mut transactions = HashMap::new();
        if embed {
            let ids: Vec<_> = rows.iter().map(|movement| movement.transaction).collect();
            let mut conn = self.pool.acquire().await?;
            let found = transaction::repo::find_transactions(&mut conn, &ids, None).await?;
            transactions.extend(found.into_iter().map(|tx| (tx.id, tx)));
        }
        Ok(rows
            .iter()
            .map(|row| convert::movement(row, transactions.get(&row.transaction)))
            .collect())
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
        let encoded = self.encode(&[found], !include.is_empty()).await?;
        let movement = encoded.into_iter().next();
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
        let page = repo::list_movements(&mut conn, &list, wallet, reader).await?;
        let movements = self
            .encode(&page.rows, page.includes("transaction"))
            .await?;
        let page = Some(page.info());
        Ok(Response::new(ListMovementsResponse { movements, page }))
    }
}
