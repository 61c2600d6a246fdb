//! Reads what is committed, for a decision that is not written.

use chrono::{DateTime, SubsecRound as _};
use platform::{ids::Ids, money::Amount};
use sqlx::PgConnection;

use super::{
    balance_row::BalanceRow,
    existing,
    read::read_wallets,
    read_set::{ReadSet, columns},
};
use crate::ledger::{Book, Command};

/// Reads the rows that a command of new transactions is decided on. A balance that does not exist yet
/// is zero.
pub(crate) async fn read_committed(
    conn: &mut PgConnection,
    command: &Command,
    ids: &Ids,
) -> Result<Book, sqlx::Error> {
    let mut book = Book::new(DateTime::UNIX_EPOCH, ids.clone());
    let operations = existing::new_operations(&book, &[command]);
    existing::read_operations(conn, &mut book, &operations).await?;
    let rows = ReadSet::of(&[command], &book);
    let (wallets, assets) = columns(&rows.accounts);
    let balances = sqlx::query_as!(
        BalanceRow,
        r#"/* posting.read_committed */
         select w.id as wallet_id, a.code as asset_code,
             coalesce(b.amount, 0) as "amount!: Amount", coalesce(b.held, 0) as "held!: Amount",
             coalesce(b.incoming, 0) as "incoming!: Amount", coalesce(b.sequence, 0) as "sequence!",
             coalesce(b.moved_at, 'epoch') as "moved_at!", w.system,
             coalesce(b.version, 0) as "version!", a.enabled, a.decimal_places,
             a.version as asset_version, clock_timestamp() as "read_at!"
         from unnest($1::uuid[], $2::text[]) input (wallet_id, asset_code)
         join wallet.wallets w on w.id = input.wallet_id
         join wallet.assets a on a.code = input.asset_code
         left join wallet.balances b on b.wallet_id = w.id and b.asset_code = a.code"#,
        wallets as _,
        &assets,
    )
    .fetch_all(&mut *conn)
    .await?;
    if let Some(read_at) = balances.iter().map(|row| row.read_at).max() {
        book.now = read_at.trunc_subsecs(3);
        book.clock = read_at;
    }
    for row in balances {
        row.apply_to(&mut book);
    }
    read_wallets(conn, &mut book, &rows, &[], &[]).await?;
    Ok(book)
}
