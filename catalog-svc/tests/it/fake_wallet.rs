//! A wallet-svc with three assets, which can go away.

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
    answers: Answers,
}

#[derive(Clone, Default)]
struct Answers {
    asked: Arc<Mutex<Vec<String>>>,
    away: Arc<AtomicBool>,
}

impl FakeWallet {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answers = Answers::default();
        let server = tonic::transport::Server::builder()
            .add_service(AssetServiceServer::new(answers.clone()))
            .add_service(SettingsServiceServer::new(answers.clone()))
            .serve_with_incoming(TcpIncoming::from(listener));
        tokio::spawn(async move { server.await.unwrap() });
        Self { address, answers }
    }

    /// The asset codes that were asked for.
    pub fn asked(&self) -> Vec<String> {
        self.answers.asked.lock().unwrap().clone()
    }

    /// Every call fails from now on.
    pub fn go_away(&self) {
        self.answers.away.store(true, Ordering::SeqCst);
    }
}

impl Answers {
    fn check(&self) -> Result<(), Status> {
        if self.away.load(Ordering::SeqCst) {
            return Err(Status::unavailable("gone"));
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
impl AssetService for Answers {
    async fn get_asset(
        &self,
        request: Request<wire::GetAssetRequest>,
    ) -> Result<Response<wire::GetAssetResponse>, Status> {
        self.check()?;
        let code = request.into_inner().code;
        self.asked.lock().unwrap().push(code.clone());
        let asset = match code.to_lowercase().as_str() {
            "usd" => asset("usd", 2),
            "old" => asset("old", 2),
            "points" => asset("points", 0),
            "btc" => asset("btc", 8),
            _ => return Err(Failure::new(Code::AssetNotFound, "no such asset").into()),
        };
        Ok(Response::new(wire::GetAssetResponse { asset: Some(asset) }))
    }

    async fn list_assets(
        &self,
        _: Request<wire::ListAssetsRequest>,
    ) -> Result<Response<wire::ListAssetsResponse>, Status> {
        Err(Status::unimplemented("not needed here"))
    }

    async fn create_asset(
        &self,
        _: Request<wire::CreateAssetRequest>,
    ) -> Result<Response<wire::CreateAssetResponse>, Status> {
        Err(Status::unimplemented("not needed here"))
    }

    async fn update_asset(
        &self,
        _: Request<wire::UpdateAssetRequest>,
    ) -> Result<Response<wire::UpdateAssetResponse>, Status> {
        Err(Status::unimplemented("not needed here"))
    }
}

#[tonic::async_trait]
impl SettingsService for Answers {
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
