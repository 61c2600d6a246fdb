//! What a first start makes: the first assets, the system wallets, the default wallet. Later starts
//! find it, also when two begin at once.

use anyhow::Context as _;
use platform::{clock::Clock, pg};
use sqlx::{PgConnection, PgPool};

use super::Settings;
use crate::{
    asset::{model::AssetCode, repo, service::Assets},
    wallet::{
        model::{NewWallet, WalletId},
        repo as wallets,
        service::Wallets,
    },
};

/// The name under which the default wallet's id is kept.
const DEFAULT_WALLET: &str = "default_wallet_id";

/// Makes what is missing and reads the settings. Fails on a setting that names no asset.
pub async fn first_start(
    pool: &PgPool,
    clock: &Clock,
    maker: &Wallets,
    assets: &Assets,
    default_asset: &str,
    bonus_asset: Option<&str>,
) -> anyhow::Result<Settings> {
    let mut tx = pg::tx(pool).await?;
    assets.make_first_in_tx(&mut tx).await?;
    wallets::insert_system_wallets_in_tx(&mut tx, clock.now()).await?;
    let default_wallet = default_wallet_in_tx(&mut tx, maker).await?;
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

/// The operation id makes one wallet of any number of first starts.
async fn default_wallet_in_tx(
    conn: &mut PgConnection,
    maker: &Wallets,
) -> anyhow::Result<WalletId> {
    let new = NewWallet {
        name: Some("Default wallet".to_owned()),
        operation_id: Some("settings:default_wallet".to_owned()),
        ..NewWallet::default()
    };
    let wallet = maker.create_in_tx(conn, &new).await?;
    let id = sqlx::query_scalar!(
        "insert into wallet.settings (name, value) values ($1, $2)
         on conflict (name) do update set name = excluded.name
         returning value",
        DEFAULT_WALLET,
        wallet.id.to_string(),
    );
    let id = id.fetch_one(conn).await?;
    WalletId::parse(&id).context("the setting default_wallet_id")
}

async fn asset(pool: &PgPool, code: &str, setting: &str) -> anyhow::Result<AssetCode> {
    let found = repo::find_asset(pool, code).await?;
    let asset = found.with_context(|| format!("{setting}: there is no asset {code}"))?;
    Ok(asset.code)
}
