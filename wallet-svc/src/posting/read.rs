//! Reads under locks, taken in one order: transactions, balances, other assets, bonuses. A locked
//! balance keeps its wallet from changing, and locks its asset `for share`.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, SubsecRound as _, Utc};
use platform::{
    idempotency::{self, Record, Scope},
    ids::Ids,
};
use sqlx::PgConnection;

use super::{
    balance_row::BalanceRow,
    existing,
    read_set::{ReadSet, columns},
};
use crate::{
    SCHEMA,
    asset::model::AssetCode,
    ledger::{AccountKey, AssetState, Book, Command, WalletState},
    wallet::model::WalletId,
};

/// The commands and keys of a batch.
pub(super) struct Wanted<'b> {
    pub commands: Vec<&'b Command>,
    pub scopes: Vec<Scope>,
}

/// A book read under locks.
pub(super) struct Locked {
    pub book: Book,
    /// The records of the batch's idempotency keys.
    pub records: HashMap<Scope, Record>,
    /// Balances that have to be created before the batch is decided.
    pub missing: BTreeSet<AccountKey>,
    pub read_at: DateTime<Utc>,
}

/// Locks and reads what the batch is decided on.
pub(super) async fn lock_and_read_in_tx(
    conn: &mut PgConnection,
    wanted: &Wanted<'_>,
    ids: &Ids,
) -> Result<Locked, sqlx::Error> {
    let commands = &wanted.commands;
    let mut book = Book::new(DateTime::UNIX_EPOCH, ids.clone());
    existing::lock_transactions(conn, &mut book, commands).await?;
    let rows = ReadSet::of(commands, &book);
    let read_at = lock_balances(conn, &mut book, &rows.accounts).await?;
    lock_assets(conn, &mut book, &rows.assets).await?;
    existing::lock_bonuses(conn, &mut book, commands).await?;
    // The rest needs no lock: a change of a wallet waits for its balances.
    let operations = existing::new_operations(&book, commands);
    let repeats = read_wallets(conn, &mut book, &rows, &operations, &wanted.scopes).await?;
    if repeats.operations {
        existing::read_operations(conn, &mut book, &operations).await?;
    }
    let records = if repeats.keys {
        idempotency::find_in_tx(conn, SCHEMA, &wanted.scopes).await?
    } else {
        HashMap::new()
    };
    Ok(Locked {
        missing: rows.missing_accounts(&book),
        book,
        records,
        read_at,
    })
}

/// Locks and reads the balances, with a shared lock on their assets. Sets the time of the book: no
/// earlier than the database's clock once all are locked, nor than any movement on them, so that
/// time and sequence agree. Returns the database's clock.
async fn lock_balances(
    conn: &mut PgConnection,
    book: &mut Book,
    keys: &BTreeSet<AccountKey>,
) -> Result<DateTime<Utc>, sqlx::Error> {
    let wallets: BTreeSet<_> = keys.iter().map(|key| key.wallet).collect();
    let wallets: Vec<_> = wallets.into_iter().collect();
    let assets: BTreeSet<_> = keys.iter().map(|key| key.asset.as_str()).collect();
    let assets: Vec<_> = assets.into_iter().map(str::to_owned).collect();
    // The cross product of wallets and assets is one plain scan of the primary key.
    let rows = sqlx::query_as!(
        BalanceRow,
        r#"/* posting.lock_balances */
         select wallet_id, asset_code, amount, held, incoming, sequence, moved_at, system, version,
             enabled, decimal_places, asset_version, clock_timestamp() as "read_at!"
         from (
             select b.*, a.enabled, a.decimal_places, a.version as asset_version
             from wallet.balances b join wallet.assets a on a.code = b.asset_code
             where b.wallet_id = any($1) and b.asset_code = any($2)
             order by b.wallet_id, b.asset_code
             for update of b for share of a) locked"#,
        wallets as _,
        &assets,
    )
    .fetch_all(&mut *conn)
    .await?;
    let read_at = match rows.iter().map(|row| row.read_at).max() {
        Some(read_at) => read_at,
        None => read_clock(conn).await?,
    };
    book.now = book.now.max(read_at.trunc_subsecs(3));
    book.clock = read_at;
    for row in rows {
        row.apply_to(book);
    }
    Ok(read_at)
}

async fn read_clock(conn: &mut PgConnection) -> Result<DateTime<Utc>, sqlx::Error> {
    sqlx::query_scalar!(r#"/* posting.read_clock */ select clock_timestamp() as "now!""#)
        .fetch_one(conn)
        .await
}

/// Locks and reads the assets that came with no balance.
async fn lock_assets(
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
        "/* posting.lock_assets */
         select code, enabled, decimal_places, version
         from wallet.assets where code = any($1) order by code for share",
        &codes,
    )
    .fetch_all(conn)
    .await?;
    for row in rows {
        let state = AssetState {
            enabled: row.enabled,
            decimal_places: row.decimal_places,
            version: row.version,
        };
        book.assets.insert(AssetCode::stored(&row.code), state);
    }
    Ok(())
}

/// Whether any operation or idempotency key of the batch exists already.
#[derive(Default)]
pub(super) struct Repeats {
    operations: bool,
    keys: bool,
}

/// Reads the wallets, and whether any of the operations and keys exists already, which is rare.
pub(super) async fn read_wallets(
    conn: &mut PgConnection,
    book: &mut Book,
    rows: &ReadSet,
    operations: &[String],
    scopes: &[Scope],
) -> Result<Repeats, sqlx::Error> {
    let ids: Vec<_> = rows.wallets.iter().copied().collect();
    let scopes: Vec<_> = scopes
        .iter()
        .map(|scope| scope.as_bytes().to_vec())
        .collect();
    let rows = sqlx::query!(
        r#"/* posting.read_wallets */
         select repeats.operations as "operations!", repeats.keys as "keys!",
             w.id as "id?", w.owner_id, w.locked as "locked?", w.system as "system?"
         from (select
             exists (select from wallet.transactions where operation_id = any($2)) as operations,
             exists (select from wallet.idempotency_keys where scope = any($3)) as keys) repeats
         left join wallet.wallets w on w.id = any($1)"#,
        ids as _,
        operations,
        &scopes,
    )
    .fetch_all(conn)
    .await?;
    let mut repeats = Repeats::default();
    for row in rows {
        repeats = Repeats {
            operations: row.operations,
            keys: row.keys,
        };
        if let (Some(id), Some(locked), Some(system)) = (row.id, row.locked, row.system) {
            let state = WalletState {
                owner: row.owner_id,
                locked,
                system,
            };
            book.wallets.insert(id, state);
        }
    }
    Ok(repeats)
}

/// Creates balance rows, in the order of locks. Waits for a change of their wallets, which would not
/// change the versions of rows that it cannot see.
pub(super) async fn create_balances(
    conn: &mut PgConnection,
    keys: &BTreeSet<AccountKey>,
) -> Result<(), sqlx::Error> {
    let (wallets, assets) = columns(keys);
    sqlx::query!(
        "/* posting.create_balances */
         insert into wallet.balances (wallet_id, asset_code, system)
         select input.wallet_id, input.asset_code, wallets.system
         from unnest($1::uuid[], $2::text[]) input (wallet_id, asset_code)
         join wallet.wallets on wallets.id = input.wallet_id
         order by input.wallet_id, input.asset_code
         for share of wallets
         on conflict do nothing",
        wallets as _,
        &assets,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns those of the balances that another transaction has locked, without waiting for it.
pub(super) async fn find_locked(
    conn: &mut PgConnection,
    keys: &BTreeSet<AccountKey>,
) -> Result<BTreeSet<AccountKey>, sqlx::Error> {
    let (wallets, assets) = columns(keys);
    let rows = sqlx::query!(
        r#"/* posting.find_locked */
         with free as materialized (
             select wallet_id, asset_code from wallet.balances
             where wallet_id = any($1) and asset_code = any($2)
             for update skip locked)
         select wallet_id as "wallet_id: WalletId", asset_code from wallet.balances b
         where wallet_id = any($1) and asset_code = any($2)
             and not exists (
                 select from free
                 where free.wallet_id = b.wallet_id and free.asset_code = b.asset_code)"#,
        wallets as _,
        &assets,
    )
    .fetch_all(conn)
    .await?;
    let locked = rows.into_iter();
    let locked =
        locked.map(|row| AccountKey::new(row.wallet_id, &AssetCode::stored(&row.asset_code)));
    Ok(locked.filter(|key| keys.contains(key)).collect())
}
