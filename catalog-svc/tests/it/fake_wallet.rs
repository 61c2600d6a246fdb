//! A fake wallet-svc with four assets, which can be made unavailable.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use platform::error::{Code, Failure};
use proto::wallet::v1::{
    self as wire,
    asset_service_server::{AssetService, AssetServiceServer},
    settings_service_server::{SettingsService, SettingsServiceServer},
};
use tokio::net::TcpListener;
use tonic::{Request, Response, Status, transport::server::TcpIncoming};

/// `usd` with 2 decimals, `points` with none, `btc` with 8; `old` is disabled.
pub struct FakeWallet {
    pub address: SocketAddr,
    state: State,
}

#[derive(Clone, Default)]
struct State {
    requested: Arc<Mutex<Vec<String>>>,
    unavailable: Arc<AtomicBool>,
}

impl FakeWallet {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = State::default();
        let server = tonic::transport::Server::builder()
            .add_service(AssetServiceServer::new(state.clone()))
            .add_service(SettingsServiceServer::new(state.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(async move { server.await.unwrap() });
        Self { address, state }
    }

    /// Returns the codes of the requested assets.
    pub fn requested_assets(&self) -> Vec<String> {
        self.state.requested.lock().unwrap().clone()
    }

    /// Makes every later call fail.
    pub fn make_unavailable(&self) {
        self.state.unavailable.store(true, Ordering::SeqCst);
    }
}

impl State {
    fn check(&self) -> Result<(), Status> {
        if self.unavailable.load(Ordering::SeqCst) {
            return Err(Status::unavailable("made unavailable"));
        }
        Ok(())
    }
}

fn asset(code: &str, decimal_places: u32) -> wire::Asset {
    wire::Asset {
        code: code.into(),
        decimal_places,
        enabled: code != "old",
        ..wire::Asset::default()
    }
}

#[tonic::async_trait]
impl AssetService for State {
    async fn get_asset(
        &self,
        request: Request<wire::GetAssetRequest>,
    ) -> Result<Response<wire::GetAssetResponse>, Status> {
        self.check()?;
        let code = request.into_inner().code;
        self.requested.lock().unwrap().push(code.clone());
        let asset = match code.to_lowercase().as_str() {
            "usd" => asset("usd", 2),
            "old" => asset("old", 2),
            "points" => asset("points", 0),
            "btc" => asset("btc", 8),
            _ => return Err(Failure::new(Code::AssetNotFound, "asset not found").into()),
        };
        Ok(Response::new(wire::GetAssetResponse { asset: Some(asset) }))
    }

    async fn list_assets(
        &self,
        _: Request<wire::ListAssetsRequest>,
    ) -> Result<Response<wire::ListAssetsResponse>, Status> {
        Err(Status::unimplemented("not used in these tests"))
    }

    async fn create_asset(
        &self,
        _: Request<wire::CreateAssetRequest>,
    ) -> Result<Response<wire::CreateAssetResponse>, Status> {
        Err(Status::unimplemented("not used in these tests"))
    }

    async fn update_asset(
        &self,
        _: Request<wire::UpdateAssetRequest>,
    ) -> Result<Response<wire::UpdateAssetResponse>, Status> {
        Err(Status::unimplemented("not used in these tests"))
    }
}

#[tonic::async_trait]
impl SettingsService for State {
    async fn get_settings(
        &self,
        _: Request<wire::GetSettingsRequest>,
    ) -> Result<Response<wire::GetSettingsResponse>, Status> {
        self.check()?;
        Ok(Response::new(wire::GetSettingsResponse {
            settings: Some(wire::Settings {
                default_asset_code: "usd".into(),
                ..wire::Settings::default()
            }),
        }))
    }
}
