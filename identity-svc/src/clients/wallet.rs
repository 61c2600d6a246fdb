//! wallet-svc: wallets for users, and the asset that rewards are paid in.

use std::time::Duration;

use moka::future::Cache;
use platform::{
    error::{Code, Failure, FieldCode},
    grpc::client::Client,
    ids::Id,
    money::DecimalPlaces,
};
use proto::wallet::v1::{
    self as wire, CreateWalletRequest, GetAssetRequest, GetSettingsRequest, GetWalletRequest,
    UpdateWalletRequest, asset_service_client::AssetServiceClient,
    settings_service_client::SettingsServiceClient, wallet_service_client::WalletServiceClient,
};
use tonic::{Response, Status};

use crate::{
    error::{Error, Result},
    user::UserId,
};

/// The longest name of a wallet, in characters.
pub const WALLET_NAME_MAX: usize = 255;

/// How long a setting of wallet-svc is believed.
const SETTINGS_FOR: Duration = Duration::from_secs(30);

/// The id of a wallet.
pub type WalletId = Id<Wallet>;

/// A wallet of wallet-svc; only its id is known here.
#[derive(Debug)]
pub struct Wallet;

/// What rewards are paid in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardAsset {
    /// Its code.
    pub code: String,
    /// How fine its amounts are.
    pub places: DecimalPlaces,
}

/// The client.
#[derive(Debug, Clone)]
pub struct Wallets {
    ledger: WalletServiceClient<Client>,
    settings: SettingsServiceClient<Client>,
    assets: AssetServiceClient<Client>,
    reward: Cache<(), RewardAsset>,
}

impl Wallets {
    /// Over this connection.
    pub fn new(client: &Client) -> Self {
        Self {
            ledger: client.service(),
            settings: client.service(),
            assets: client.service(),
            reward: Cache::builder()
                .max_capacity(1)
                .time_to_live(SETTINGS_FOR)
                .build(),
        }
    }

    /// Makes the user's primary wallet; a repeat answers the one made first.
    pub async fn create(&self, user_id: UserId, name: String) -> Result<WalletId> {
        let request = CreateWalletRequest {
            name: Some(name),
            owner_id: Some(user_id.to_string()),
            operation_id: Some(format!("user:{user_id}:wallet")),
            ..CreateWalletRequest::default()
        };
        let answer = answered(self.ledger.clone().create_wallet(request).await)?;
        let wallet = present(answer.wallet)?;
        WalletId::parse(&wallet.id).map_err(Error::internal)
    }

    /// Makes an existing wallet the user's. Safe to repeat.
    pub async fn adopt(&self, wallet_id: WalletId, user_id: UserId) -> Result<()> {
        let wallet = self.find(wallet_id).await?;
        if wallet.owner_id.as_deref() == Some(&*user_id.to_string()) {
            return Ok(());
        }
        if wallet.owner_id.is_some() || self.receives_payments(wallet_id).await? {
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
        answered(self.ledger.clone().update_wallet(request).await)?;
        Ok(())
    }

    async fn find(&self, wallet_id: WalletId) -> Result<wire::Wallet> {
        let id = wallet_id.to_string();
        let answer = self
            .ledger
            .clone()
            .get_wallet(GetWalletRequest { id })
            .await;
        present(answered(answer).map_err(unknown_wallet)?.wallet)
    }

    /// Whether it is the shop's own wallet, which belongs to nobody on purpose.
    async fn receives_payments(&self, wallet_id: WalletId) -> Result<bool> {
        Ok(self.read_settings().await?.default_wallet_id == wallet_id.to_string())
    }

    /// The bonus asset where one is set, else the default one.
    pub async fn reward_asset(&self) -> Result<RewardAsset> {
        if let Some(known) = self.reward.get(&()).await {
            return Ok(known);
        }
        let settings = self.read_settings().await?;
        let code = settings
            .bonus_asset_code
            .unwrap_or(settings.default_asset_code);
        let answer = self
            .assets
            .clone()
            .get_asset(GetAssetRequest { code })
            .await;
        let asset = present(answered(answer).map_err(missing_asset)?.asset)?;
        let places = DecimalPlaces::new(asset.decimal_places.into()).map_err(Error::internal)?;
        let code = asset.code;
        let reward = RewardAsset { code, places };
        self.reward.insert((), reward.clone()).await;
        Ok(reward)
    }

    async fn read_settings(&self) -> Result<wire::Settings> {
        let answer = self
            .settings
            .clone()
            .get_settings(GetSettingsRequest {})
            .await;
        present(answered(answer)?.settings)
    }
}

fn answered<T>(answer: Result<Response<T>, Status>) -> Result<T, Failure> {
    match answer {
        Ok(response) => Ok(response.into_inner()),
        Err(status) => Err(Failure::from_status(&status)),
    }
}

/// A message that the contract promises.
fn present<T>(message: Option<T>) -> Result<T> {
    message.ok_or_else(|| Error::internal("wallet-svc answered without a body"))
}

/// The wallet was named in a body: there it is an unknown reference, not a missing resource.
fn unknown_wallet(failure: Failure) -> Failure {
    if failure.code != Code::WalletNotFound {
        return failure;
    }
    let message = "there is no such wallet";
    Failure::invalid("primaryWalletId", FieldCode::UnknownReference, message)
}

/// An asset that a setting names is never the caller's mistake.
fn missing_asset(failure: Failure) -> Failure {
    if failure.code != Code::AssetNotFound {
        return failure;
    }
    Failure::internal(failure)
}
