//! The SQL of records. A record without a response is in progress.

use std::collections::{BTreeMap, HashMap, HashSet};

use sqlx::{PgConnection, PgPool, error::DatabaseError};

use super::{Error, Key, Scope};
use crate::pg::{self, Schema};

/// The result of claiming a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// The request is the first; its record is in progress in the caller's transaction.
    Fresh,
    /// An earlier request had the effect; the encoded response.
    Replay(Vec<u8>),
}

/// The record of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    request_hash: Vec<u8>,
    response: Option<Vec<u8>>,
}

impl Record {
    /// Returns the response to repeat; an error if the body differs or the first request still runs.
    pub fn response_for(&self, key: &Key) -> Result<Vec<u8>, Error> {
        if self.request_hash != key.request_hash {
            return Err(Error::Reused);
        }
        self.response.clone().ok_or(Error::InUse)
    }
}

/// Claims the key, or returns the recorded response. Waits for a concurrent transaction with the same
/// key; [`Error::InUse`] if that takes longer than the lock timeout, and for a saga in progress.
pub async fn begin_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    key: &Key,
) -> Result<Begin, Error> {
    let begun = begin_all_in_tx(conn, schema, &[key]).await;
    let begun = begun.map_err(in_use_if_locked)?;
    begun.into_iter().next().unwrap_or(Err(Error::InUse))
}

/// Claims the keys like [`begin_in_tx`], and returns what each led to. Of two that are the same, the second is
/// in use. A lock timeout is an error of all.
pub async fn begin_all_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    keys: &[&Key],
) -> Result<Vec<Result<Begin, Error>>, sqlx::Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    // In the order of the keys, so that two transactions can't wait for each other.
    let distinct: BTreeMap<Scope, &Key> = keys.iter().rev().map(|key| (key.scope, *key)).collect();
    let claim = schema.sql(
        "insert into :schema.idempotency_keys as record (scope, request_hash)
         select * from unnest($1::bytea[], $2::bytea[])
         on conflict (scope) do update
         set request_hash = excluded.request_hash, response = null, created_at = now()
         where record.created_at < now() - interval '24 hours' and record.response is not null
         returning scope",
    );
    let scopes: Vec<&[u8]> = distinct.keys().map(Scope::as_bytes).collect();
    let hashes: Vec<&[u8]> = distinct.values().map(|key| &*key.request_hash).collect();
    let claimed: Vec<Vec<u8>> = sqlx::query_scalar(claim)
        .bind(scopes)
        .bind(hashes)
        .fetch_all(&mut *conn)
        .await?;
    let mut claimed: HashSet<Scope> = parse(&claimed).collect();
    let others: Vec<Scope> = distinct
        .into_keys()
        .filter(|it| !claimed.contains(it))
        .collect();
    let records = if others.is_empty() {
        HashMap::new()
    } else {
        find_in_tx(conn, schema, &others).await?
    };
    let begun = keys.iter().map(|key| match records.get(&key.scope) {
        Some(record) => record.response_for(key).map(Begin::Replay),
        None if claimed.remove(&key.scope) => Ok(Begin::Fresh),
        // The second of two, or deleted between the two statements: the client tries again.
        None => Err(Error::InUse),
    });
    Ok(begun.collect())
}

fn parse(scopes: &[Vec<u8>]) -> impl Iterator<Item = Scope> {
    scopes.iter().filter_map(|scope| Scope::from_bytes(scope))
}

fn in_use_if_locked(error: sqlx::Error) -> Error {
    let database = error.as_database_error();
    let code = database.and_then(DatabaseError::code);
    if code.is_some_and(|code| code == "55P03") {
        Error::InUse
    } else {
        Error::Database(error)
    }
}

/// Records the response of a key that [`begin_in_tx`] claimed, in this or an earlier transaction.
pub async fn complete_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    scope: &Scope,
    response: &impl prost::Message,
) -> Result<(), sqlx::Error> {
    complete_all_in_tx(conn, schema, &[(scope, &response.encode_to_vec())]).await
}

/// Records encoded responses like [`complete_in_tx`].
pub async fn complete_all_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    responses: &[(&Scope, &[u8])],
) -> Result<(), sqlx::Error> {
    if responses.is_empty() {
        return Ok(());
    }
    let sql = schema.sql(
        "update :schema.idempotency_keys as record set response = given.response
         from unnest($1::bytea[], $2::bytea[]) as given (scope, response)
         where record.scope = given.scope",
    );
    let (scopes, responses): (Vec<_>, Vec<_>) = responses
        .iter()
        .map(|(scope, response)| (scope.as_bytes(), *response))
        .unzip();
    let expected = scopes.len() as u64;
    let completed = sqlx::query(sql)
        .bind(scopes)
        .bind(responses)
        .execute(conn)
        .await?;
    pg::ensure_affected(completed, expected)
}

/// Deletes the claim of a saga that was refused; the key can be used again.
pub async fn forget_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    scope: &Scope,
) -> Result<(), sqlx::Error> {
    let sql =
        schema.sql("delete from :schema.idempotency_keys where scope = $1 and response is null");
    sqlx::query(sql)
        .bind(scope.as_bytes())
        .execute(conn)
        .await?;
    Ok(())
}

/// Finds the recorded response of a key, and writes nothing.
pub(super) async fn find_response(
    pool: &PgPool,
    schema: Schema,
    key: &Key,
) -> Result<Option<Vec<u8>>, Error> {
    let sql = schema.sql(
        "select scope, request_hash, response from :schema.idempotency_keys
         where scope = $1 and (response is null or created_at >= now() - interval '24 hours')",
    );
    let row: Option<Row> = sqlx::query_as(sql)
        .bind(key.scope.as_bytes())
        .fetch_optional(pool)
        .await?;
    row.map(|row| Record::from(row).response_for(key))
        .transpose()
}

/// Returns whether a request with this key and another body had its effect, or is in progress.
pub(crate) async fn is_used_with_other_body(
    pool: &PgPool,
    schema: Schema,
    key: &Key,
) -> Result<bool, sqlx::Error> {
    match find_response(pool, schema, key).await {
        Err(Error::Reused) => Ok(true),
        Err(Error::Database(error)) => Err(error),
        Ok(_) | Err(_) => Ok(false),
    }
}

/// Finds the records of these keys. Deletes expired ones, so that a batch can insert new ones.
pub async fn find_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    scopes: &[Scope],
) -> Result<HashMap<Scope, Record>, sqlx::Error> {
    let sql = schema.sql(
        "with expired as (
             delete from :schema.idempotency_keys
             where scope = any($1) and response is not null
               and created_at < now() - interval '24 hours'
             returning scope)
         select scope, request_hash, response from :schema.idempotency_keys
         where scope = any($1) and scope not in (select scope from expired)",
    );
    let scopes: Vec<&[u8]> = scopes.iter().map(Scope::as_bytes).collect();
    let rows: Vec<Row> = sqlx::query_as(sql).bind(scopes).fetch_all(conn).await?;
    let records = rows
        .into_iter()
        .filter_map(|row| Some((Scope::from_bytes(&row.scope)?, Record::from(row))));
    Ok(records.collect())
}

#[derive(sqlx::FromRow)]
struct Row {
    scope: Vec<u8>,
    request_hash: Vec<u8>,
    response: Option<Vec<u8>>,
}

impl From<Row> for Record {
    fn from(row: Row) -> Self {
        Self {
            request_hash: row.request_hash,
            response: row.response,
        }
    }
}

/// Completed records as columns for `unnest`, to insert them with other rows in one statement:
/// `insert into <schema>.idempotency_keys (scope, request_hash, response) select …`.
#[derive(Debug, Default)]
pub struct Columns {
    /// `bytea[]`
    pub scopes: Vec<Vec<u8>>,
    /// `bytea[]`
    pub request_hashes: Vec<Vec<u8>>,
    /// `bytea[]`
    pub responses: Vec<Vec<u8>>,
}

impl Columns {
    /// Adds a record, and returns it.
    pub fn push(&mut self, key: &Key, response: &impl prost::Message) -> Record {
        let response = response.encode_to_vec();
        self.scopes.push(key.scope.as_bytes().to_vec());
        self.request_hashes.push(key.request_hash.clone());
        self.responses.push(response.clone());
        Record {
            request_hash: key.request_hash.clone(),
            response: Some(response),
        }
    }
}
