//! Reads balances at a past time: the amount from the last movement, held and incoming from the
//! transactions that were open.

use chrono::{DateTime, Utc};
use platform::money::Amount;
use sqlx::PgConnection;

use super::model::{Balance, WalletId};
use crate::asset::model::AssetCode;

/// Finds the balances of a wallet at a time, inclusive, by asset code. Assets that no transaction had
/// used by then are left out.
pub(crate) async fn find_balances_at(
    conn: &mut PgConnection,
    wallet: WalletId,
    assets: &[AssetCode],
    at: DateTime<Utc>,
) -> Result<Vec<Balance>, sqlx::Error> {
    let codes: Vec<_> = assets
        .iter()
        .map(|asset| asset.as_str().to_owned())
        .collect();
    let rows = sqlx::query_file!("src/wallet/past.sql", wallet as _, &codes, at,)
        .fetch_all(conn)
        .await?;
    Ok(rows
        .into_iter()
        .map(|row| Balance {
            asset: AssetCode::stored(&row.asset_code),
            amount: row.amount,
            held: row.held,
            incoming: row.incoming,
        })
        .collect())
}
