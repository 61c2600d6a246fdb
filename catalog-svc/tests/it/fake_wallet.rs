//! A fake wallet-svc with four assets, which can be made unavailable.

use std::{
    collections::HashMap,
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

/// `usd` with 2 decimals, `points` with none, `btc` with 8; `old` is disabled at first.
pub struct FakeWallet {
    pub address: SocketAddr,
    state: State,
}

#[derive(Clone)]
struct State {
    /// By code.
    assets: Arc<Mutex<HashMap<String, wire::Asset>>>,
    unavailable: Arc<AtomicBool>,
}

impl FakeWallet {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let assets = [("usd", 2), ("old", 2), ("points", 0), ("btc", 8)].map(asset);
        let state = State {
            assets: Arc::new(Mutex::new(assets.into())),
            unavailable: Arc::default(),
        };
        let server = tonic::transport::Server::builder()
            .add_service(AssetServiceServer::new(state.clone()))
            .add_service(SettingsServiceServer::new(state.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(async move { server.await.unwrap() });
        Self { address, state }
    }

    /// Changes an asset; no event is published.
    pub fn change(&self, code: &str, change: impl FnOnce(&mut wire::Asset)) {
        let mut assets = self.state.assets.lock().unwrap();
        change(assets.get_mut(code).unwrap());
    }

    /// Makes every later call fail, or succeed again.
    pub fn set_available(&self, available: bool) {
        self.state.unavailable.store(!available, Ordering::SeqCst);
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

fn asset((code, decimal_places): (&str, u32)) -> (String, wire::Asset) {
    let asset = wire::Asset {
        code: code.into(),
        decimal_places,
        enabled: code != "old",
        ..wire::Asset::default()
    };
    (code.into(), asset)
}

#[tonic::async_trait]
impl AssetService for State {
    async fn get_asset(
        &self,
        request: Request<wire::GetAssetRequest>,
    ) -> Result<Response<wire::GetAssetResponse>, Status> {
        self.check()?;
        let code = request.into_inner().code.to_lowercase();
        let asset = self.assets.lock().unwrap().get(&code).cloned();
        let asset = asset.ok_or_else(|| Failure::new(Code::AssetNotFound, "asset not found"))?;
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
