//! Creates what every start needs: the system assets, the system wallets, the default wallet. Safe to
//! repeat, also by two processes at the same time.

use anyhow::Context as _;
use platform::{clock::Clock, pg};
use sqlx::{PgConnection, PgPool};

use super::Settings;
use crate::{
    asset::{model::AssetCode, repo, service::Assets},
    wallet::{
        self,
        model::{NewWallet, WalletId},
        service::Wallets,
    },
};

/// The row of `wallet.settings` that holds the default wallet's id.
const DEFAULT_WALLET: &str = "default_wallet_id";

/// Creates what is missing and reads the settings. Fails if a setting names no asset.
pub(crate) async fn first_start(
    pool: &PgPool,
    clock: &Clock,
    wallets: &Wallets,
    assets: &Assets,
    default_asset: &str,
    bonus_asset: Option<&str>,
) -> anyhow::Result<Settings> {
    let mut tx = pg::tx(pool).await?;
    assets.create_system_assets_in_tx(&mut tx).await?;
    wallet::repo::insert_system_wallets_in_tx(&mut tx, clock.now()).await?;
    let default_wallet = default_wallet_in_tx(&mut tx, wallets).await?;
    tx.commit().await?;
    let bonus_asset = match bonus_asset {
        Some(code) => Some(asset(pool, code, "BONUS_ASSET_CODE").await?),
        None => None,
    };
    Ok(Settings {
        default_wallet,
        default_asset: asset(pool, default_asset, "DEFAULT_ASSET_CODE").await?,
        bonus_asset,
    })
}

/// Returns the default wallet, which its operation id makes unique among concurrent first starts.
async fn default_wallet_in_tx(
    conn: &mut PgConnection,
    wallets: &Wallets,
) -> anyhow::Result<WalletId> {
    let new = NewWallet {
        name: Some("Default wallet".to_owned()),
        operation_id: Some("settings:default_wallet".to_owned()),
        owner_fixed: true,
        ..NewWallet::default()
    };
    let wallet = wallets.create_in_tx(conn, &new).await?;
    let id = sqlx::query_scalar!(
        "insert into wallet.settings (name, value) values ($1, $2)
         on conflict (name) do update set name = excluded.name
         returning value",
        DEFAULT_WALLET,
        wallet.id.to_string(),
    )
    .fetch_one(conn)
    .await?;
    WalletId::parse(&id).context("the setting default_wallet_id")
}

async fn asset(pool: &PgPool, code: &str, setting: &str) -> anyhow::Result<AssetCode> {
    let found = repo::find_asset(pool, code).await?;
    let asset = found.with_context(|| format!("{setting}: asset {code} not found"))?;
    Ok(asset.code)
}
