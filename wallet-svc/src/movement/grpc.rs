//! `MovementService`.

use std::collections::HashMap;

use platform::{auth::Caller, list::check};
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

/// Answers about movements.
#[derive(Debug, Clone)]
pub struct MovementGrpc {
    /// Where they are.
    pub pool: PgPool,
    /// For the lists of one wallet.
    pub wallets: Wallets,
}

impl MovementGrpc {
    /// The movements for the wire, with their transactions where asked for: one more query.
    async fn encode(&self, rows: &[Movement], embed: bool) -> Result<Vec<WireMovement>, Error> {
        let mut transactions = HashMap::new();
        if embed {
            let ids: Vec<_> = rows.iter().map(|movement| movement.transaction).collect();
            let mut conn = self.pool.acquire().await?;
            let found = transaction::repo::find_transactions(&mut conn, &ids).await?;
            transactions.extend(found.into_iter().map(|tx| (tx.id, tx)));
        }
        let encode = |one: &Movement| convert::movement(one, transactions.get(&one.transaction));
        Ok(rows.iter().map(encode).collect())
    }
}

#[tonic::async_trait]
impl MovementService for MovementGrpc {
    async fn get_movement(
        &self,
        request: Request<GetMovementRequest>,
    ) -> Result<Response<GetMovementResponse>, Status> {
        let reader = access::reader(Caller::of(&request)?)?;
        let request = request.into_inner();
        let include = check::includes(&MOVEMENTS, &request.include)?;
        let id = MovementId::parse(&request.id).map_err(|_| Error::MovementNotFound)?;
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
        let caller = Caller::of(&request)?.clone();
        let request = request.into_inner();
        let wallet = match &request.wallet_id {
            Some(id) => Some(self.wallets.get(&caller, id).await?.id),
            None => None,
        };
        let (list, reader) = (request.list.unwrap_or_default(), access::reader(&caller)?);
        let mut conn = self.pool.acquire().await.map_err(Error::from)?;
        let page = repo::list_movements(&mut conn, &list, wallet, reader).await?;
        let movements = self
            .encode(&page.rows, page.includes("transaction"))
            .await?;
        let page = Some(page.info());
        Ok(Response::new(ListMovementsResponse { movements, page }))
    }
}
