//! Reads without locks, in one statement: a row that changes before the batch is written makes that
//! write fail.

use chrono::{DateTime, SubsecRound as _, Utc};
use platform::{
    ids::Ids,
    money::{Amount, DecimalPlaces},
};
use sqlx::PgConnection;

use super::{Wanted, insert_balance, scope_column};
use crate::{
    asset::model::AssetCode,
    ledger::{Account, AccountKey, AssetState, Book, WalletState},
    posting::{existing, read_set::ReadSet},
    wallet::model::{UserId, WalletId},
};

/// A book read without locks.
pub(in crate::posting) struct Snapshot {
    pub book: Book,
    pub read_at: DateTime<Utc>,
}

/// Reads what a batch of new transactions is decided on without locks. Returns `None` if a row is
/// missing, or an operation or key exists already.
pub(in crate::posting) async fn read_snapshot(
    conn: &mut PgConnection,
    wanted: &Wanted<'_>,
    ids: &Ids,
) -> Result<Option<Snapshot>, sqlx::Error> {
    let mut book = Book::new(DateTime::UNIX_EPOCH, ids.clone());
    let read_set = ReadSet::of(&wanted.commands, &book);
    let wallets: Vec<_> = read_set.wallets.iter().copied().collect();
    let assets = read_set.assets.iter();
    let assets: Vec<_> = assets.map(|code| code.as_str().to_owned()).collect();
    let operations = existing::new_operations(&book, &wanted.commands);
    let rows = sqlx::query_as!(
        BalanceRow,
        r#"/* posting.read_snapshot */
         select b.wallet_id, b.asset_code, b.amount, b.held, b.incoming, b.sequence, b.moved_at,
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
        &scope_column(&wanted.scopes),
    )
    .fetch_all(conn)
    .await?;
    let Some(read_at) = rows.iter().map(|row| row.read_at).max() else {
        return Ok(None);
    };
    if rows.iter().any(|row| row.is_repeated) {
        return Ok(None);
    }
    book.now = read_at.trunc_subsecs(3);
    for row in rows {
        row.apply_to(&mut book);
    }
    let is_complete = read_set.is_covered_by(&book);
    Ok(is_complete.then_some(Snapshot { book, read_at }))
}

/// A row of `posting.read_snapshot`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the columns of the statement"
)]
struct BalanceRow {
    wallet_id: WalletId,
    asset_code: String,
    amount: Amount,
    held: Amount,
    incoming: Amount,
    sequence: i64,
    moved_at: DateTime<Utc>,
    system: bool,
    version: i64,
    enabled: bool,
    decimal_places: DecimalPlaces,
    asset_version: i64,
    owner_id: Option<UserId>,
    locked: bool,
    read_at: DateTime<Utc>,
    is_repeated: bool,
}

impl BalanceRow {
    fn apply_to(self, book: &mut Book) {
        let wallet = WalletState {
            owner: self.owner_id,
            locked: self.locked,
            system: self.system,
        };
        book.wallets.insert(self.wallet_id, wallet);
        let code = AssetCode::stored(&self.asset_code);
        let asset = AssetState {
            enabled: self.enabled,
            decimal_places: self.decimal_places,
            version: self.asset_version,
        };
        let account = Account {
            key: AccountKey::new(self.wallet_id, &code),
            amount: self.amount,
            held: self.held,
            incoming: self.incoming,
            sequence: self.sequence,
            moved_at: self.moved_at,
            system: self.system,
            version: self.version,
        };
        insert_balance(book, account, asset);
    }
}
