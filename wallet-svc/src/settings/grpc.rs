//! `SettingsService`.

use std::sync::Arc;

use proto::wallet::v1::{
    GetSettingsRequest, GetSettingsResponse, Settings as WireSettings,
    settings_service_server::SettingsService,
};
use tonic::{Request, Response, Status};

use super::Settings;

/// Adapts [`Settings`] to gRPC.
#[derive(Debug, Clone)]
pub(crate) struct SettingsGrpc(pub(crate) Arc<Settings>);

#[tonic::async_trait]
impl SettingsService for SettingsGrpc {
    async fn get_settings(
        &self,
        _request: Request<GetSettingsRequest>,
    ) -> Result<Response<GetSettingsResponse>, Status> {
        let settings = Some(WireSettings {
            default_wallet_id: self.0.default_wallet.to_string(),
            default_asset_code: self.0.default_asset.to_string(),
            bonus_asset_code: self.0.bonus_asset.as_ref().map(ToString::to_string),
        });
        Ok(Response::new(GetSettingsResponse { settings }))
    }
}
