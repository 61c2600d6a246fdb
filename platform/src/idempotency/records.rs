//! The SQL of records. A record without a response is in progress.

use std::collections::HashMap;

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
    let claim = schema.sql(
        "insert into :schema.idempotency_keys as record (scope, request_hash) values ($1, $2)
         on conflict (scope) do update
         set request_hash = excluded.request_hash, response = null, created_at = now()
         where record.created_at < now() - interval '24 hours' and record.response is not null",
    );
    let claimed = sqlx::query(claim)
        .bind(key.scope.as_bytes())
        .bind(&key.request_hash)
        .execute(&mut *conn)
        .await
        .map_err(in_use_if_locked)?;
    if claimed.rows_affected() == 1 {
        return Ok(Begin::Fresh);
    }
    match find_in_tx(conn, schema, &[key.scope])
        .await?
        .remove(&key.scope)
    {
        Some(record) => record.response_for(key).map(Begin::Replay),
        // Deleted between the two statements: the client tries again.
        None => Err(Error::InUse),
    }
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
    let sql = schema.sql("update :schema.idempotency_keys set response = $2 where scope = $1");
    let completed = sqlx::query(sql)
        .bind(scope.as_bytes())
        .bind(response.encode_to_vec())
        .execute(conn)
        .await?;
    pg::ensure_affected(completed, 1)
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
