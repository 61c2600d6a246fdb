//! A fake of wallet-svc: keeps wallets in memory and fails on demand.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use platform::error::{Code, Failure};
use proto::wallet::v1::{
    Asset, CloseWalletsRequest, CloseWalletsResponse, CreateAssetRequest, CreateAssetResponse,
    CreateWalletRequest, CreateWalletResponse, GetAssetRequest, GetAssetResponse,
    GetSettingsRequest, GetSettingsResponse, GetTotalBalanceRequest, GetTotalBalanceResponse,
    GetWalletBalanceRequest, GetWalletBalanceResponse, GetWalletRequest, GetWalletResponse,
    ListAssetsRequest, ListAssetsResponse, ListWalletsRequest, ListWalletsResponse, Settings,
    UpdateAssetRequest, UpdateAssetResponse, UpdateWalletRequest, UpdateWalletResponse, Wallet,
    asset_service_server::{AssetService, AssetServiceServer},
    settings_service_server::{SettingsService, SettingsServiceServer},
    wallet_service_server::{WalletService, WalletServiceServer},
};
use tokio::net::TcpListener;
use tonic::{
    Request, Response, Status,
    transport::{Server, server::TcpIncoming},
};

pub(crate) const DEFAULT_WALLET: &str = "d0000000-0000-7000-8000-000000000000";

/// How creating or closing wallets fails.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The service does nothing.
    Unavailable,
    /// It is done, but the response is lost.
    ResponseLost,
    Refused,
}

#[derive(Default)]
struct State {
    fault: Option<Fault>,
    wallets: HashMap<String, Wallet>,
    operations: HashMap<String, String>,
    bonus_asset: Option<String>,
}

#[derive(Clone, Default)]
pub(crate) struct FakeWallet(Arc<Mutex<State>>);

impl FakeWallet {
    /// Serves on a free port until the runtime ends.
    pub(crate) async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::builder()
            .add_service(WalletServiceServer::new(self.clone()))
            .add_service(SettingsServiceServer::new(self.clone()))
            .add_service(AssetServiceServer::new(self.clone()));
        tokio::spawn(server.serve_with_incoming(TcpIncoming::from(listener)));
        address
    }

    /// Makes creating and closing wallets fail; `None` makes it succeed.
    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        self.state().fault = fault;
    }

    pub(crate) fn set_bonus_asset(&self, asset: &str) {
        self.state().bonus_asset = Some(asset.to_owned());
    }

    pub(crate) fn add_wallet(&self, id: &str, owner: Option<&str>) {
        let wallet = Wallet {
            id: id.to_owned(),
            owner_id: owner.map(str::to_owned),
            ..Wallet::default()
        };
        self.state().wallets.insert(id.to_owned(), wallet);
    }

    pub(crate) fn wallet(&self, id: &str) -> Wallet {
        self.state().wallets[id].clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.state().wallets.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn not_found() -> Status {
    Failure::new(Code::WalletNotFound, "wallet not found").into()
}

#[tonic::async_trait]
impl WalletService for FakeWallet {
    async fn create_wallet(
        &self,
        request: Request<CreateWalletRequest>,
    ) -> Result<Response<CreateWalletResponse>, Status> {
        let request = request.into_inner();
        let mut state = self.state();
        match state.fault {
            Some(Fault::Unavailable) => return Err(Failure::unavailable("wallet").into()),
            Some(Fault::Refused) => {
                return Err(Failure::new(Code::InvalidState, "refused by the test").into());
            }
            Some(Fault::ResponseLost) | None => {}
        }
        let operation = request.operation_id.unwrap();
        let new_id = format!("a0000000-0000-7000-8000-{:012}", state.operations.len());
        let id = state.operations.entry(operation).or_insert(new_id).clone();
        let wallet = Wallet {
            id: id.clone(),
            name: request.name,
            owner_id: request.owner_id,
            ..Wallet::default()
        };
        let wallet = state.wallets.entry(id).or_insert(wallet).clone();
        if state.fault == Some(Fault::ResponseLost) {
            return Err(Failure::unavailable("wallet").into());
        }
        let wallet = Some(wallet);
        Ok(Response::new(CreateWalletResponse { wallet }))
    }

    async fn get_wallet(
        &self,
        request: Request<GetWalletRequest>,
    ) -> Result<Response<GetWalletResponse>, Status> {
        let wallet = self.state().wallets.get(&request.get_ref().id).cloned();
        let wallet = wallet.ok_or_else(not_found)?;
        Ok(Response::new(GetWalletResponse {
            wallet: Some(wallet),
        }))
    }

    async fn update_wallet(
        &self,
        request: Request<UpdateWalletRequest>,
    ) -> Result<Response<UpdateWalletResponse>, Status> {
        let request = request.into_inner();
        assert_eq!(request.update_mask.unwrap().paths, ["owner_id"]);
        let mut state = self.state();
        let wallet = state.wallets.get_mut(&request.id).ok_or_else(not_found)?;
        wallet.owner_id = request.owner_id;
        let wallet = Some(wallet.clone());
        Ok(Response::new(UpdateWalletResponse { wallet }))
    }

    async fn close_wallets(
        &self,
        request: Request<CloseWalletsRequest>,
    ) -> Result<Response<CloseWalletsResponse>, Status> {
        let owner = Some(request.into_inner().owner_id);
        let mut state = self.state();
        match state.fault {
            Some(Fault::Unavailable) => return Err(Failure::unavailable("wallet").into()),
            Some(Fault::Refused) => {
                return Err(Failure::new(Code::InvalidState, "refused by the test").into());
            }
            Some(Fault::ResponseLost) | None => {}
        }
        let wallets = state.wallets.values_mut();
        for wallet in wallets.filter(|wallet| wallet.owner_id == owner) {
            wallet.locked = true;
        }
        if state.fault == Some(Fault::ResponseLost) {
            return Err(Failure::unavailable("wallet").into());
        }
        Ok(Response::new(CloseWalletsResponse {}))
    }

    async fn list_wallets(
        &self,
        _request: Request<ListWalletsRequest>,
    ) -> Result<Response<ListWalletsResponse>, Status> {
        Err(Status::unimplemented("not in the fake"))
    }

    async fn get_wallet_balance(
        &self,
        _request: Request<GetWalletBalanceRequest>,
    ) -> Result<Response<GetWalletBalanceResponse>, Status> {
        Err(Status::unimplemented("not in the fake"))
    }

    async fn get_total_balance(
        &self,
        _request: Request<GetTotalBalanceRequest>,
    ) -> Result<Response<GetTotalBalanceResponse>, Status> {
        Err(Status::unimplemented("not in the fake"))
    }
}

#[tonic::async_trait]
impl SettingsService for FakeWallet {
    async fn get_settings(
        &self,
        _request: Request<GetSettingsRequest>,
    ) -> Result<Response<GetSettingsResponse>, Status> {
        let settings = Some(Settings {
            default_wallet_id: DEFAULT_WALLET.to_owned(),
            default_asset_code: "usd".to_owned(),
            bonus_asset_code: self.state().bonus_asset.clone(),
        });
        Ok(Response::new(GetSettingsResponse { settings }))
    }
}

#[tonic::async_trait]
impl AssetService for FakeWallet {
    async fn get_asset(
        &self,
        request: Request<GetAssetRequest>,
    ) -> Result<Response<GetAssetResponse>, Status> {
        let code = request.into_inner().code;
        let decimal_places = match &*code {
            "usd" => 2,
            "points" => 0,
            _ => return Err(Failure::new(Code::AssetNotFound, "asset not found").into()),
        };
        let asset = Some(Asset {
            code,
            decimal_places,
            ..Asset::default()
        });
        Ok(Response::new(GetAssetResponse { asset }))
    }

    async fn list_assets(
        &self,
        _request: Request<ListAssetsRequest>,
    ) -> Result<Response<ListAssetsResponse>, Status> {
        Err(Status::unimplemented("not in the fake"))
    }

    async fn create_asset(
        &self,
        _request: Request<CreateAssetRequest>,
    ) -> Result<Response<CreateAssetResponse>, Status> {
        Err(Status::unimplemented("not in the fake"))
    }

    async fn update_asset(
        &self,
        _request: Request<UpdateAssetRequest>,
    ) -> Result<Response<UpdateAssetResponse>, Status> {
        Err(Status::unimplemented("not in the fake"))
    }
}
