//! `WalletService`.

use platform::grpc::{Call, precondition::Versions, respond};
use proto::wallet::v1::{
    CloseWalletsRequest, CloseWalletsResponse, CreateWalletRequest, CreateWalletResponse,
    GetTotalBalanceRequest, GetTotalBalanceResponse, GetWalletBalanceRequest,
    GetWalletBalanceResponse, GetWalletRequest, GetWalletResponse, ListWalletsRequest,
    ListWalletsResponse, UpdateWalletRequest, UpdateWalletResponse,
    wallet_service_server::WalletService,
};
use tonic::{Request, Response, Status};

use super::{convert, service::Wallets};

/// Adapts [`Wallets`] to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct WalletGrpc(pub(crate) Wallets);

#[tonic::async_trait]
impl WalletService for WalletGrpc {
    async fn create_wallet(
        &self,
        request: Request<CreateWalletRequest>,
    ) -> Result<Response<CreateWalletResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_wallet(body)?;
        let reply = self.0.create(new, key.as_ref()).await?;
        Ok(respond(reply, |wallet| CreateWalletResponse {
            wallet: Some(wallet),
        }))
    }

    async fn get_wallet(
        &self,
        request: Request<GetWalletRequest>,
    ) -> Result<Response<GetWalletResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let wallet = self.0.get(&caller, &body.id).await?;
        let wallet = Some(convert::wallet(&wallet));
        Ok(Response::new(GetWalletResponse { wallet }))
    }

    async fn list_wallets(
        &self,
        request: Request<ListWalletsRequest>,
    ) -> Result<Response<ListWalletsResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let page = self.0.list(&caller, &list).await?;
        let (wallets, page) = page.encode(|wallet| convert::wallet(&wallet));
        let page = Some(page);
        Ok(Response::new(ListWalletsResponse { wallets, page }))
    }

    async fn update_wallet(
        &self,
        request: Request<UpdateWalletRequest>,
    ) -> Result<Response<UpdateWalletResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { caller, body, .. } = Call::of(request)?;
        let id = body.id.clone();
        let patch = convert::wallet_patch(body)?;
        let updated = self.0.update(&caller, &id, patch, if_version.as_ref());
        let wallet = updated.await?;
        let wallet = Some(convert::wallet(&wallet));
        Ok(Response::new(UpdateWalletResponse { wallet }))
    }

    async fn close_wallets(
        &self,
        request: Request<CloseWalletsRequest>,
    ) -> Result<Response<CloseWalletsResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        self.0.close_all(convert::owner(&body.owner_id)?).await?;
        Ok(Response::new(CloseWalletsResponse {}))
    }

    async fn get_wallet_balance(
        &self,
        request: Request<GetWalletBalanceRequest>,
    ) -> Result<Response<GetWalletBalanceResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let at = body.at.as_ref().map(convert::time).transpose()?;
        let balances = self.0.balances(&caller, &body.id, &list, at).await?;
        let balances = balances.iter().map(convert::balance).collect();
        Ok(Response::new(GetWalletBalanceResponse { balances }))
    }

    async fn get_total_balance(
        &self,
        request: Request<GetTotalBalanceRequest>,
    ) -> Result<Response<GetTotalBalanceResponse>, Status> {
        let Call { caller, body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let balances = self.0.total_balances(&caller, &list).await?;
        let balances = balances.iter().map(convert::balance).collect();
        Ok(Response::new(GetTotalBalanceResponse { balances }))
    }
}
