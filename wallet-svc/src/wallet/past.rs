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
    // The times of an account's movements never decrease; within a millisecond, the sequence decides.
    let rows = sqlx::query!(
        r#"select asset_code as "asset_code!", coalesce(moved.amount, 0) as "amount!: Amount",
             coalesce(debits.amount, 0) as "held!: Amount",
             coalesce(credits.amount, 0) as "incoming!: Amount"
         from unnest($2::text[]) asset_code
         left join lateral (
             select m.balance_after as amount
             from wallet.movements m
             where m.wallet_id = $1 and m.asset_code = asset_code.asset_code
                 and m.created_at = (
                     select last.created_at
                     from wallet.movements last
                     where last.wallet_id = $1 and last.asset_code = asset_code.asset_code
                         and last.created_at <= $3
                     order by last.created_at desc
                     limit 1)
             order by m.sequence desc
             limit 1) moved on true
         left join lateral (
             select sum(t.amount) as amount
             from wallet.transactions t
             where t.origin_wallet_id = $1 and t.asset_code = asset_code.asset_code
                 and t.created_at <= $3 and t.processed_at is distinct from t.created_at
                 and (t.processed_at is null or t.processed_at > $3)) debits on true
         left join lateral (
             select sum(t.amount) as amount
             from wallet.transactions t
             where t.destination_wallet_id = $1 and t.asset_code = asset_code.asset_code
                 and t.created_at <= $3 and t.processed_at is distinct from t.created_at
                 and (t.processed_at is null or t.processed_at > $3)) credits on true
         where coalesce(moved.amount, debits.amount, credits.amount) is not null
         order by asset_code"#,
        wallet as _,
        &codes,
        at,
    )
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
