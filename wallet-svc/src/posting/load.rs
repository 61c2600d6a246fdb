//! Locks and reads what a group is decided on, in the one order of locks: transactions, balances,
//! bonuses; each balance keeps its wallet from changing, and takes a share in its asset. Then looks
//! up what earlier postings left.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, SubsecRound as _, Utc};
use platform::{
    idempotency::{self, Record, Scope},
    money::{Amount, DecimalPlaces},
    pg,
};
use sqlx::{PgConnection, PgPool};

use super::{earlier, needs::Needs, poster::Poster, queue::Posting};
use crate::{
    SCHEMA,
    asset::model::AssetCode,
    ledger::{Account, AccountKey, AssetState, Book, StatusChange, WalletState},
    wallet::model::WalletId,
};

/// What a group is decided on.
pub(super) struct Loaded {
    pub book: Book,
    /// Records of the group's idempotency keys.
    pub records: HashMap<Scope, Record>,
    /// Balance rows that have to be made first.
    pub missing: BTreeSet<AccountKey>,
}

/// Locks and reads for these postings.
pub(super) async fn load_in_tx(
    conn: &mut PgConnection,
    poster: &Poster,
    postings: &[&Posting],
) -> Result<Loaded, sqlx::Error> {
    let mut book = Book::new(DateTime::UNIX_EPOCH, poster.ids.clone());
    let commands: Vec<_> = postings.iter().map(|posting| &posting.command).collect();
    earlier::transactions(conn, &mut book, &commands).await?;
    let needs = Needs::of(&commands, &book);
    balances(conn, &mut book, &needs.accounts).await?;
    assets(conn, &mut book, &needs.assets).await?;
    earlier::bonuses(conn, &mut book, &commands).await?;
    let operations = earlier::new_operations(&book, &commands);
    let records = look_up(conn, &mut book, &needs, &operations, &scopes(postings)).await?;
    let exists = |key: &AccountKey| book.wallets.contains_key(&key.wallet);
    let missing = needs
        .accounts
        .into_iter()
        .filter(|key| exists(key) && !book.accounts.contains_key(key))
        .collect();
    Ok(Loaded {
        book,
        records,
        missing,
    })
}

/// Scopes as a column.
pub(super) fn scope_column(scopes: &[Scope]) -> Vec<Vec<u8>> {
    scopes
        .iter()
        .map(|scope| scope.as_bytes().to_vec())
        .collect()
}

/// The scopes of the postings' idempotency keys.
pub(super) fn scopes(postings: &[&Posting]) -> Vec<Scope> {
    let keys = postings.iter().filter_map(|posting| posting.key.as_ref());
    keys.map(|key| *key.scope()).collect()
}

/// The assets that came with no balance.
async fn assets(
    conn: &mut PgConnection,
    book: &mut Book,
    codes: &BTreeSet<AssetCode>,
) -> Result<(), sqlx::Error> {
    let unread = codes.iter().filter(|code| !book.assets.contains_key(code));
    let codes: Vec<_> = unread.map(|code| code.as_str().to_owned()).collect();
    if codes.is_empty() {
        return Ok(());
    }
    let rows = sqlx::query!(
        "select code, enabled, decimal_places, version
         from wallet.assets where code = any($1) order by code for share",
        &codes,
    );
    for row in rows.fetch_all(conn).await? {
        let rule = AssetState {
            enabled: row.enabled,
            decimal_places: row.decimal_places,
            version: row.version,
        };
        book.assets.insert(AssetCode::stored(&row.code), rule);
    }
    Ok(())
}

/// What needs no lock, once the locks are held: the wallets, whose changes wait for their balances,
/// and the operations and keys that are repeated, of which there mostly are none.
async fn look_up(
    conn: &mut PgConnection,
    book: &mut Book,
    needs: &Needs,
    operations: &[String],
    scopes: &[Scope],
) -> Result<HashMap<Scope, Record>, sqlx::Error> {
    let repeats = wallets(conn, book, needs, operations, scopes).await?;
    if repeats.operations {
        earlier::operations(conn, book, operations).await?;
    }
    if !repeats.keys {
        return Ok(HashMap::new());
    }
    idempotency::find_in_tx(conn, SCHEMA, scopes).await
}

/// Whether any was there before.
struct Repeats {
    operations: bool,
    keys: bool,
}

/// The wallets, and whether any of the operations and keys is repeated.
async fn wallets(
    conn: &mut PgConnection,
    book: &mut Book,
    needs: &Needs,
    operations: &[String],
    scopes: &[Scope],
) -> Result<Repeats, sqlx::Error> {
    let ids: Vec<_> = needs.wallets.iter().copied().collect();
    let rows = sqlx::query!(
        r#"select repeats.operations as "operations!", repeats.keys as "keys!",
             w.id as "id?", w.owner_id, w.locked as "locked?", w.system as "system?"
         from (select
             exists (select from wallet.transactions where operation_id = any($2)) as operations,
             exists (select from wallet.idempotency_keys where scope = any($3)) as keys) repeats
         left join wallet.wallets w on w.id = any($1)"#,
        ids as _,
        operations,
        &scope_column(scopes),
    );
    let mut repeats = Repeats {
        operations: false,
        keys: false,
    };
    for row in rows.fetch_all(conn).await? {
        repeats = Repeats {
            operations: row.operations,
            keys: row.keys,
        };
        if let (Some(id), Some(locked), Some(system)) = (row.id, row.locked, row.system) {
            let party = WalletState {
                owner: row.owner_id,
                locked,
                system,
            };
            book.wallets.insert(id, party);
        }
    }
    Ok(repeats)
}

/// Locks the balances, with a share in their assets. Fixes the group's time: no earlier than the
/// database's clock once all are locked, nor than any earlier movement on them, so that time and
/// sequence agree.
async fn balances(
    conn: &mut PgConnection,
    book: &mut Book,
    keys: &BTreeSet<AccountKey>,
) -> Result<(), sqlx::Error> {
    let wallets: BTreeSet<_> = keys.iter().map(|key| key.wallet).collect();
    let wallets: Vec<_> = wallets.into_iter().collect();
    let assets: BTreeSet<_> = keys.iter().map(|key| key.asset.as_str()).collect();
    let assets: Vec<_> = assets.into_iter().map(str::to_owned).collect();
    // The cross product of wallets and assets: one plain scan of the balances' key.
    let rows = sqlx::query_as!(
        BalanceRow,
        r#"select wallet_id, asset_code, amount, held,
             incoming, sequence, moved_at, system, version, enabled,
             decimal_places, asset_version,
             clock_timestamp() as "read_at!"
         from (
             select b.*, a.enabled, a.decimal_places, a.version as asset_version
             from wallet.balances b join wallet.assets a on a.code = b.asset_code
             where b.wallet_id = any($1) and b.asset_code = any($2)
             order by b.wallet_id, b.asset_code
             for update of b for share of a) locked"#,
        wallets as _,
        &assets,
    );
    let rows = rows.fetch_all(&mut *conn).await?;
    if rows.is_empty() {
        let now = sqlx::query_scalar!(r#"select clock_timestamp() as "now!""#);
        let now: DateTime<Utc> = now.fetch_one(conn).await?;
        book.now = book.now.max(now.trunc_subsecs(3));
    }
    for row in rows {
        row.enter_into(book);
    }
    Ok(())
}

/// A row of `wallet.balances` with its asset, and when it was read.
pub(super) struct BalanceRow {
    pub wallet_id: WalletId,
    pub asset_code: String,
    pub amount: Amount,
    pub held: Amount,
    pub incoming: Amount,
    pub sequence: i64,
    pub moved_at: DateTime<Utc>,
    pub system: bool,
    pub version: i64,
    pub enabled: bool,
    pub decimal_places: DecimalPlaces,
    pub asset_version: i64,
    pub read_at: DateTime<Utc>,
}

impl BalanceRow {
    /// Brings it into the book, whose time is no earlier than this one's.
    pub(super) fn enter_into(self, book: &mut Book) {
        let read_at = self.read_at.trunc_subsecs(3);
        book.now = book.now.max(read_at).max(self.moved_at);
        let asset = AssetCode::stored(&self.asset_code);
        if !book.assets.contains_key(&asset) {
            let rule = AssetState {
                enabled: self.enabled,
                decimal_places: self.decimal_places,
                version: self.asset_version,
            };
            book.assets.insert(asset.clone(), rule);
        }
        let key = AccountKey {
            wallet: self.wallet_id,
            asset,
        };
        let account = Account {
            key: key.clone(),
            amount: self.amount,
            held: self.held,
            incoming: self.incoming,
            sequence: self.sequence,
            moved_at: self.moved_at,
            system: self.system,
            version: self.version,
        };
        book.accounts.insert(key, account);
    }
}

/// Makes balance rows in a transaction of their own, in the order of locks.
pub(super) async fn make_balances(
    pool: &PgPool,
    keys: &BTreeSet<AccountKey>,
) -> Result<(), sqlx::Error> {
    let (wallets, assets): (Vec<_>, Vec<_>) = keys
        .iter()
        .map(|key| (key.wallet, key.asset.as_str().to_owned()))
        .unzip();
    let mut tx = pg::tx(pool).await?;
    sqlx::query!(
        "insert into wallet.balances (wallet_id, asset_code, system)
         select wanted.wallet_id, wanted.asset_code, wallets.system
         from unnest($1::uuid[], $2::text[]) wanted (wallet_id, asset_code)
         join wallet.wallets on wallets.id = wanted.wallet_id
         order by wanted.wallet_id, wanted.asset_code
         on conflict do nothing",
        wallets as _,
        &assets,
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await
}

/// Whether a group with this step was committed.
pub(super) async fn is_committed(
    conn: &mut PgConnection,
    step: &StatusChange,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (
             select from wallet.transaction_changes
             where transaction_id = $1 and version = $2) as "exists!""#,
        step.transaction as _,
        step.version,
    )
    .fetch_one(conn)
    .await
}
