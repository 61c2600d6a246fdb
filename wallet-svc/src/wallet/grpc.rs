//! `WalletService`.

use platform::{auth::Caller, idempotency::Key};
use proto::wallet::v1::{
    CreateWalletRequest, CreateWalletResponse, GetTotalBalanceRequest, GetTotalBalanceResponse,
    GetWalletBalanceRequest, GetWalletBalanceResponse, GetWalletRequest, GetWalletResponse,
    ListWalletsRequest, ListWalletsResponse, UpdateWalletRequest, UpdateWalletResponse,
    wallet_service_server::WalletService,
};
use tonic::{Request, Response, Status};

use super::{convert, service::Wallets};

/// Adapts [`Wallets`] to gRPC.
#[derive(Debug, Clone)]
pub struct WalletGrpc(
    /// The use cases.
    pub Wallets,
);

#[tonic::async_trait]
impl WalletService for WalletGrpc {
    async fn create_wallet(
        &self,
        request: Request<CreateWalletRequest>,
    ) -> Result<Response<CreateWalletResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let new = convert::new_wallet(request.into_inner())?;
        Ok(self.0.create(new, key.as_ref()).await?.into_response())
    }

    async fn get_wallet(
        &self,
        request: Request<GetWalletRequest>,
    ) -> Result<Response<GetWalletResponse>, Status> {
        let caller = Caller::of(&request)?;
        let wallet = self.0.get(caller, &request.get_ref().id).await?;
        let wallet = Some(convert::wallet(&wallet));
        Ok(Response::new(GetWalletResponse { wallet }))
    }

    async fn list_wallets(
        &self,
        request: Request<ListWalletsRequest>,
    ) -> Result<Response<ListWalletsResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.0.list(&caller, &list).await?;
        Ok(Response::new(ListWalletsResponse {
            page: Some(page.info()),
            wallets: page.rows.iter().map(convert::wallet).collect(),
        }))
    }

    async fn update_wallet(
        &self,
        request: Request<UpdateWalletRequest>,
    ) -> Result<Response<UpdateWalletResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        caller.require_admin()?;
        let request = request.into_inner();
        let id = request.id.clone();
        let patch = convert::wallet_patch(request)?;
        let wallet = self.0.update(&caller, &id, patch).await?;
        let wallet = Some(convert::wallet(&wallet));
        Ok(Response::new(UpdateWalletResponse { wallet }))
    }

    async fn get_wallet_balance(
        &self,
        request: Request<GetWalletBalanceRequest>,
    ) -> Result<Response<GetWalletBalanceResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let request = request.into_inner();
        let list = request.list.unwrap_or_default();
        let at = request.at.as_ref().map(convert::moment).transpose()?;
        let balances = self.0.balance(&caller, &request.id, &list, at).await?;
        let balances = balances.iter().map(convert::balance).collect();
        Ok(Response::new(GetWalletBalanceResponse { balances }))
    }

    async fn get_total_balance(
        &self,
        request: Request<GetTotalBalanceRequest>,
    ) -> Result<Response<GetTotalBalanceResponse>, Status> {
        let caller = Caller::of(&request)?.clone();
        let list = request.into_inner().list.unwrap_or_default();
        let balances = self.0.total_balance(&caller, &list).await?;
        let balances = balances.iter().map(convert::balance).collect();
        Ok(Response::new(GetTotalBalanceResponse { balances }))
    }
}
