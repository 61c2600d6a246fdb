//! Reads what a group is decided on in one look and without locks. All of it may have changed when
//! the group is written; the write fails then.

use chrono::DateTime;
use sqlx::PgConnection;

use super::{
    earlier,
    load::{self, BalanceRow},
    needs::Needs,
    poster::Poster,
    queue::Posting,
};
use crate::ledger::{Book, Command, WalletState};

/// Reads for these postings. `None` where it takes locks to go on: with something that is not there,
/// or with what was asked before.
pub(super) async fn read(
    conn: &mut PgConnection,
    poster: &mut Poster,
    postings: &[&Posting],
    needs: &Needs,
) -> Result<Option<Book>, sqlx::Error> {
    let commands: Vec<&Command> = postings.iter().map(|posting| &posting.command).collect();
    let mut book = Book::new(DateTime::UNIX_EPOCH, poster.ids.clone());
    let wallets: Vec<_> = needs.wallets.iter().copied().collect();
    let assets = needs.assets.iter();
    let assets: Vec<_> = assets.map(|code| code.as_str().to_owned()).collect();
    let operations = earlier::new_operations(&book, &commands);
    let scopes = load::scope_column(&load::scopes(postings));
    let rows = sqlx::query!(
        r#"select b.wallet_id, b.asset_code, b.amount, b.held, b.incoming, b.sequence, b.moved_at,
             b.system, b.version, a.enabled, a.decimal_places, a.version as asset_version,
             w.owner_id, w.locked, clock_timestamp() as "read_at!",
             exists (select from wallet.transactions where operation_id = any($3))
                 or exists (select from wallet.idempotency_keys where scope = any($4))
                 as "is_repeated!"
         from wallet.balances b
         join wallet.assets a on a.code = b.asset_code
         join wallet.wallets w on w.id = b.wallet_id
         where b.wallet_id = any($1) and b.asset_code = any($2)"#,
        wallets as _,
        &assets,
        &operations,
        &scopes,
    );
    let rows = rows.fetch_all(conn).await?;
    if let Some(row) = rows.first() {
        poster.memory.set_clock(row.read_at);
    }
    for row in rows {
        if row.is_repeated {
            return Ok(None);
        }
        let party = WalletState {
            owner: row.owner_id,
            locked: row.locked,
            system: row.system,
        };
        book.wallets.insert(row.wallet_id, party);
        let balance = BalanceRow {
            wallet_id: row.wallet_id,
            asset_code: row.asset_code,
            amount: row.amount,
            held: row.held,
            incoming: row.incoming,
            sequence: row.sequence,
            moved_at: row.moved_at,
            system: row.system,
            version: row.version,
            enabled: row.enabled,
            decimal_places: row.decimal_places,
            asset_version: row.asset_version,
            read_at: row.read_at,
        };
        balance.enter_into(&mut book);
    }
    Ok(needs.are_met_by(&book).then_some(book))
}
