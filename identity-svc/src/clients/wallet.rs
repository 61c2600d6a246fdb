//! wallet-svc: the wallets of users, and the asset of rewards.

use std::time::Duration;

use moka::future::Cache;
use platform::{
    error::{Code, Failure, FieldCode},
    grpc::client::Client,
    ids::Id,
    money::DecimalPlaces,
};
use proto::wallet::v1::{
    self as wire, CloseWalletsRequest, CreateWalletRequest, GetAssetRequest, GetSettingsRequest,
    GetWalletRequest, UpdateWalletRequest, asset_service_client::AssetServiceClient,
    settings_service_client::SettingsServiceClient, wallet_service_client::WalletServiceClient,
};
use tonic::{Response, Status};

use crate::{
    error::{Error, Result},
    user::UserId,
};

/// The longest name of a wallet, in characters.
pub(crate) const MAX_WALLET_NAME: usize = 255;

/// Settings of wallet-svc change only when it restarts.
const SETTINGS_TTL: Duration = Duration::from_secs(30);

pub(crate) type WalletId = Id<Wallet>;

/// A wallet of wallet-svc, of which only the id is used.
#[derive(Debug)]
pub(crate) struct Wallet;

/// The asset that rewards are paid in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RewardAsset {
    pub(crate) code: String,
    pub(crate) places: DecimalPlaces,
}

#[derive(Debug, Clone)]
pub(crate) struct Wallets {
    wallet: WalletServiceClient<Client>,
    settings: SettingsServiceClient<Client>,
    assets: AssetServiceClient<Client>,
    reward: Cache<(), RewardAsset>,
}

impl Wallets {
    /// Creates the clients over a connection to wallet-svc.
    pub(crate) fn new(connection: &Client) -> Self {
        Self {
            wallet: connection.service(),
            settings: connection.service(),
            assets: connection.service(),
            reward: Cache::builder()
                .max_capacity(1)
                .time_to_live(SETTINGS_TTL)
                .build(),
        }
    }

    /// Creates the user's primary wallet. A repeat returns the same wallet.
    pub(crate) async fn create(&self, user_id: UserId, name: String) -> Result<WalletId> {
        let request = CreateWalletRequest {
            name: Some(name),
            owner_id: Some(user_id.to_string()),
            operation_id: Some(format!("user:{user_id}:wallet")),
            ..CreateWalletRequest::default()
        };
        let response = message(self.wallet.clone().create_wallet(request).await)?;
        let wallet = required(response.wallet)?;
        WalletId::parse(&wallet.id).map_err(Error::internal)
    }

    /// Makes the user the owner of an existing wallet. Safe to repeat.
    pub(crate) async fn adopt(&self, wallet_id: WalletId, user_id: UserId) -> Result<()> {
        let wallet = self.find(wallet_id).await?;
        if wallet.owner_id.as_deref() == Some(&*user_id.to_string()) {
            return Ok(());
        }
        if wallet.owner_id.is_some() || self.is_default_wallet(wallet_id).await? {
            return Err(Error::WalletTaken);
        }
        let request = UpdateWalletRequest {
            id: wallet_id.to_string(),
            owner_id: Some(user_id.to_string()),
            update_mask: Some(prost_types::FieldMask {
                paths: vec!["owner_id".to_owned()],
            }),
            ..UpdateWalletRequest::default()
        };
        let updated = self.wallet.clone().update_wallet(request).await;
        match message(updated) {
            Ok(_) => Ok(()),
            // It got an owner since it was read.
            Err(failure) if failure.code == Code::InvalidState => Err(Error::WalletTaken),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Locks the wallets of a user who is being deleted. Safe to repeat; `invalid_state` if one holds
    /// anything.
    pub(crate) async fn close(&self, owner_id: UserId) -> Result<()> {
        let owner_id = owner_id.to_string();
        let request = CloseWalletsRequest { owner_id };
        message(self.wallet.clone().close_wallets(request).await)?;
        Ok(())
    }

    async fn find(&self, wallet_id: WalletId) -> Result<wire::Wallet> {
        let id = wallet_id.to_string();
        let request = GetWalletRequest { id };
        let response = self.wallet.clone().get_wallet(request).await;
        required(message(response).map_err(unknown_wallet)?.wallet)
    }

    /// The default wallet is the shop's own: it has no owner on purpose.
    async fn is_default_wallet(&self, wallet_id: WalletId) -> Result<bool> {
        Ok(self.settings().await?.default_wallet_id == wallet_id.to_string())
    }

    /// Returns the bonus asset if one is set, otherwise the default asset.
    pub(crate) async fn reward_asset(&self) -> Result<RewardAsset> {
        if let Some(cached) = self.reward.get(&()).await {
            return Ok(cached);
        }
        let settings = self.settings().await?;
        let code = settings
            .bonus_asset_code
            .unwrap_or(settings.default_asset_code);
        let reward = self.asset(code).await?;
        self.reward.insert((), reward.clone()).await;
        Ok(reward)
    }

    /// Returns an asset that a setting or a task names.
    pub(crate) async fn asset(&self, code: String) -> Result<RewardAsset> {
        let request = GetAssetRequest { code };
        let response = self.assets.clone().get_asset(request).await;
        let asset = required(message(response).map_err(missing_asset)?.asset)?;
        Ok(RewardAsset {
            code: asset.code,
            places: DecimalPlaces::new(asset.decimal_places.into()).map_err(Error::internal)?,
        })
    }

    async fn settings(&self) -> Result<wire::Settings> {
        let request = GetSettingsRequest {};
        let response = self.settings.clone().get_settings(request).await;
        required(message(response)?.settings)
    }
}

/// Unwraps a response.
fn message<T>(response: Result<Response<T>, Status>) -> Result<T, Failure> {
    match response {
        Ok(response) => Ok(response.into_inner()),
        Err(status) => Err(Failure::from_status(&status)),
    }
}

/// Unwraps a field that the contract promises.
fn required<T>(field: Option<T>) -> Result<T> {
    field.ok_or_else(|| Error::internal("a response of wallet-svc has no body"))
}

/// The request named the wallet in its body: an unknown reference, not a missing resource.
fn unknown_wallet(failure: Failure) -> Failure {
    if failure.code != Code::WalletNotFound {
        return failure;
    }
    Failure::invalid(
        "primaryWalletId",
        FieldCode::UnknownReference,
        "wallet not found",
    )
}

/// A setting or a task names the asset: that it is missing is never the caller's mistake.
fn missing_asset(failure: Failure) -> Failure {
    if failure.code != Code::AssetNotFound {
        return failure;
    }
    Failure::internal(failure)
}
