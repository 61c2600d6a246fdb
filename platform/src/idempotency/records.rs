//! The records' SQL. A record without an answer is in progress.

use std::collections::HashMap;

use sqlx::{PgConnection, error::DatabaseError};

use super::{Error, Key, Scope};
use crate::pg::{self, Schema};

/// How a request with a key goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Begin {
    /// It is the first; its record is in progress in the caller's transaction.
    Fresh,
    /// It had its effect before; this is the encoded answer.
    Replay(Vec<u8>),
}

/// What is recorded of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    request_hash: Vec<u8>,
    answer: Option<Vec<u8>>,
}

impl Record {
    /// Returns the response to repeat; an error if the body differs or the first request still runs.
    pub fn response_for(self, key: &Key) -> Result<Vec<u8>, Error> {
        if self.request_hash != key.request_hash {
            return Err(Error::Reused);
        }
        self.answer.ok_or(Error::InUse)
    }
}

/// Claims the key, or says what became of it. A request with the same key that is under way is
/// waited for; one that takes longer than the lock timeout is [`Error::InUse`], and so is a saga in
/// progress.
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
        // Forgotten or purged between the two statements: the client tries again.
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

/// Records the answer of the key that [`begin_in_tx`] claimed, here or in an earlier transaction.
pub async fn complete_in_tx(
    conn: &mut PgConnection,
    schema: Schema,
    scope: &Scope,
    answer: &impl prost::Message,
) -> Result<(), sqlx::Error> {
    let sql = schema.sql("update :schema.idempotency_keys set response = $2 where scope = $1");
    let completed = sqlx::query(sql)
        .bind(scope.as_bytes())
        .bind(answer.encode_to_vec())
        .execute(conn)
        .await?;
    pg::ensure_affected(completed, 1)
}

/// Drops the claim of a saga that was refused, so that the key can be used again.
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

/// What is recorded of these keys. Records that have had their day are removed, so that a group can
/// insert them anew.
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
    let record = |row: Row| {
        let record = Record {
            request_hash: row.request_hash,
            answer: row.response,
        };
        Some((Scope::from_bytes(&row.scope)?, record))
    };
    Ok(rows.into_iter().filter_map(record).collect())
}

#[derive(sqlx::FromRow)]
struct Row {
    scope: Vec<u8>,
    request_hash: Vec<u8>,
    response: Option<Vec<u8>>,
}

/// Completed records as columns for `unnest`, for engines that write them with other rows in one
/// statement: `insert into <schema>.idempotency_keys (scope, request_hash, response) select …`.
#[derive(Debug, Default)]
pub struct Columns {
    /// `bytea[]`
    pub scopes: Vec<Vec<u8>>,
    /// `bytea[]`
    pub request_hashes: Vec<Vec<u8>>,
    /// `bytea[]`
    pub answers: Vec<Vec<u8>>,
}

impl Columns {
    /// Adds the record of a key.
    pub fn push(&mut self, key: &Key, answer: &impl prost::Message) {
        self.scopes.push(key.scope.as_bytes().to_vec());
        self.request_hashes.push(key.request_hash.clone());
        self.answers.push(answer.encode_to_vec());
    }
}
