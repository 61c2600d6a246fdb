//! Reads what is committed, for a decision that is not written.

use chrono::{DateTime, SubsecRound as _, Utc};
use platform::{
    ids::Ids,
    money::{Amount, DecimalPlaces},
};
use sqlx::PgConnection;

use super::{
    existing,
    read_set::{ReadSet, columns},
};
use crate::{
    asset::model::AssetCode,
    ledger::{Account, AccountKey, AssetState, Book, Command, WalletState},
    wallet::model::{UserId, WalletId},
};

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
    let accounts = ReadSet::of(&[command], &book).accounts;
    let (wallets, assets) = columns(&accounts);
    let rows = sqlx::query_as!(
        BalanceRow,
        r#"/* posting.read_committed */
         select w.id as wallet_id, w.owner_id, w.locked, w.system, a.code as asset_code, a.enabled,
             a.decimal_places, a.version as asset_version, b.amount as "amount?", b.held as "held?",
             b.incoming as "incoming?", b.sequence as "sequence?", b.moved_at as "moved_at?",
             b.version as "version?", clock_timestamp() as "read_at!"
         from unnest($1::uuid[], $2::text[]) input (wallet_id, asset_code)
         join wallet.wallets w on w.id = input.wallet_id
         join wallet.assets a on a.code = input.asset_code
         left join wallet.balances b on b.wallet_id = w.id and b.asset_code = a.code"#,
        wallets as _,
        &assets,
    )
    .fetch_all(conn)
    .await?;
    if let Some(read_at) = rows.iter().map(|row| row.read_at).max() {
        book.now = read_at.trunc_subsecs(3);
        book.clock = read_at;
    }
    for row in rows {
        row.apply_to(&mut book);
    }
    Ok(book)
}

/// A row of `posting.read_committed`.
struct BalanceRow {
    wallet_id: WalletId,
    owner_id: Option<UserId>,
    locked: bool,
    system: bool,
    asset_code: String,
    enabled: bool,
    decimal_places: DecimalPlaces,
    asset_version: i64,
    amount: Option<Amount>,
    held: Option<Amount>,
    incoming: Option<Amount>,
    sequence: Option<i64>,
    moved_at: Option<DateTime<Utc>>,
    version: Option<i64>,
    read_at: DateTime<Utc>,
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
            amount: self.amount.unwrap_or_default(),
            held: self.held.unwrap_or_default(),
            incoming: self.incoming.unwrap_or_default(),
            sequence: self.sequence.unwrap_or_default(),
            moved_at: self.moved_at.unwrap_or_default(),
            system: self.system,
            version: self.version.unwrap_or_default(),
        };
        book.accounts.insert(account.key.clone(), account);
        book.assets.insert(code, asset);
    }
}
