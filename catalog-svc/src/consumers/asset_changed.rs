//! `AssetChanged`: updates the decimals that prices have, and whether new prices may be in the asset.
//! Without the event both are those of the last response of wallet-svc.

use platform::{
    error::Failure,
    messaging::inbox::{Envelope, Handler},
    money::DecimalPlaces,
};
use proto::events::v1::AssetChanged;
use sqlx::PgConnection;

use crate::clients::wallet::{Asset, Wallet};

/// Stores changed assets in the database and in the cache of the client.
#[derive(Debug, Clone)]
pub struct FollowAssets(pub Wallet);

impl FollowAssets {
    /// Applies the event, unless a newer one of the asset was applied.
    pub async fn handle(
        &self,
        conn: &mut PgConnection,
        event: AssetChanged,
    ) -> Result<(), Failure> {
        let decimal_places =
            DecimalPlaces::new(event.decimal_places.into()).map_err(Failure::internal)?;
        let newer = sqlx::query!(
            "insert into catalog.assets as stored (code, decimal_places, version)
             values ($1, $2, $3)
             on conflict (code) do update
             set decimal_places = greatest(stored.decimal_places, excluded.decimal_places),
                 version = excluded.version
             where stored.version < excluded.version",
            event.asset_code,
            decimal_places as _,
            event.version,
        )
        .execute(conn)
        .await?;
        if newer.rows_affected() == 1 {
            let asset = Asset {
                code: event.asset_code,
                decimal_places,
                enabled: event.enabled,
            };
            self.0.store(asset).await;
        }
        Ok(())
    }
}

impl Handler for FollowAssets {
    type Body = AssetChanged;

    async fn apply_in_tx(
        &self,
        conn: &mut PgConnection,
        _envelope: &Envelope,
        event: AssetChanged,
    ) -> Result<(), Failure> {
        self.handle(conn, event).await
    }
}
