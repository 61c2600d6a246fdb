//! Reads movements; the posting worker writes them.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page, Totals},
    money::Amount,
};
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    lists::{MAX_VALUES, wallet::MOVEMENTS},
};
use sqlx::{FromRow, PgConnection, postgres::PgRow};

use super::model::{MAX_MOVEMENTS, Movement, MovementId, movement_id};
use crate::{
    asset::model::AssetCode,
    transaction::model::TransactionId,
    wallet::{
        model::{UserId, WalletId},
        repo::find_listed_wallets,
    },
};

#[derive(FromRow)]
struct MovementRow {
    id: MovementId,
    wallet_id: WalletId,
    asset_code: String,
    sequence: i64,
    transaction_id: TransactionId,
    amount: Amount,
    balance_after: Amount,
    code: String,
    created_at: DateTime<Utc>,
}

impl TryFrom<MovementRow> for Movement {
    type Error = sqlx::Error;

    fn try_from(row: MovementRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            id: row.id,
            wallet: row.wallet_id,
            asset: AssetCode::stored(&row.asset_code),
            sequence: row.sequence,
            transaction: row.transaction_id,
            kind: row.code.parse().map_err(sqlx::Error::decode)?,
            amount: row.amount,
            balance_after: row.balance_after,
            created_at: row.created_at,
        })
    }
}

impl FromRow<'_, PgRow> for Movement {
    fn from_row(row: &PgRow) -> Result<Self, sqlx::Error> {
        MovementRow::from_row(row)?.try_into()
    }
}

/// Finds a movement; with a `reader`, only on one of their wallets.
pub(crate) async fn find_movement(
    conn: &mut PgConnection,
    id: MovementId,
    reader: Option<UserId>,
) -> Result<Option<Movement>, sqlx::Error> {
    let row = sqlx::query_as!(
        MovementRow,
        r#"select id as "id: MovementId", wallet_id as "wallet_id: WalletId", asset_code, sequence,
             transaction_id as "transaction_id: TransactionId", amount as "amount: Amount",
             balance_after as "balance_after: Amount", code, created_at
         from wallet.movements m
         where id = $1
           and ($2::uuid is null or exists (
               select from wallet.wallets w where w.id = m.wallet_id and w.owner_id = $2))"#,
        id as _,
        reader as _,
    )
    .fetch_optional(conn)
    .await?;
    row.map(Movement::try_from).transpose()
}

/// Lists the movements of `wallet`, which the reader may see, or of the wallets of `reader`; without
/// both, of all wallets. Those of system wallets are listed only if a filter asks for the wallet.
pub(crate) async fn list_movements(
    conn: &mut PgConnection,
    totals: &Totals,
    request: &ListRequest,
    wallet: Option<WalletId>,
    reader: Option<UserId>,
) -> Result<Page<Movement>, Failure> {
    let wallets = find_listed_wallets(conn, wallet, reader).await?;
    let moved = find_movements_of_filter(conn, request).await?;
    let mut list = List::new(&MOVEMENTS, "wallet.movements m", Key::TimeOrderedId("m.id"))
        .select("m.*")
        .append_only(totals, &[])
        .column("updatedAt", "m.created_at")
        .only_any_of(&["m.wallet_id"], wallets)
        .only_any_of(&["m.id"], moved);
    let names_wallet = request.filters.iter().any(|filter| {
        filter.field == "walletId" && matches!(filter.operator(), Operator::Eq | Operator::In)
    });
    if !names_wallet {
        list = list.only("m.wallet_id not in (select id from wallet.wallets where system)");
    }
    list.fetch(conn, request).await
}

/// Returns the ids that the movements have of transactions which a filter asks for, if one does: there is an index on
/// them, and none on the transactions.
async fn find_movements_of_filter(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Option<Vec<MovementId>>, sqlx::Error> {
    let of_transactions = |filter: &&Filter| {
        filter.field == "transactionId" && matches!(filter.operator(), Operator::Eq | Operator::In)
    };
    let Some(filter) = request.filters.iter().find(of_transactions) else {
        return Ok(None);
    };
    // The list refuses what is no id.
    let ids = filter
        .values
        .iter()
        .filter_map(|id| TransactionId::parse(id).ok());
    let ids: Vec<_> = ids.take(MAX_VALUES).collect();
    let transactions = sqlx::query!(
        r#"select id as "id: TransactionId", processed_at as "moved_at!"
         from wallet.transactions
         where id = any($1) and processed_at is not null"#,
        ids as _,
    )
    .fetch_all(conn)
    .await?;
    let ids = transactions.into_iter().flat_map(|tx| {
        (0..MAX_MOVEMENTS).map(move |number| movement_id(tx.id, tx.moved_at, number))
    });
    Ok(Some(ids.collect()))
}
