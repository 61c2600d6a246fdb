//! A use case in one transaction, with or without a key.

use std::ops::{Deref, DerefMut};

use sqlx::{PgConnection, PgPool, Postgres, Transaction};

use super::{Begin, Error, Key, Reply, Scope, begin_in_tx, complete_in_tx, records::find_response};
use crate::pg::{self, Schema};

/// The result of starting a use case.
#[derive(Debug)]
pub enum Started<T> {
    /// The request is the first: the transaction of its effect.
    Fresh(Work),
    /// An earlier request had the effect: its reply.
    Replay(Reply<T>),
}

/// A transaction that records its response under the request's key. Dropping it rolls back and leaves
/// no record.
#[derive(Debug)]
pub struct Work {
    tx: Transaction<'static, Postgres>,
    schema: Schema,
    scope: Option<Scope>,
}

/// Begins a transaction and claims the key in it, if there is one. Waits for a concurrent request with
/// the same key.
pub async fn start<T: prost::Message + Default>(
    pool: &PgPool,
    schema: Schema,
    key: Option<&Key>,
) -> Result<Started<T>, Error> {
    let mut tx = pg::tx(pool).await?;
    if let Some(key) = key
        && let Begin::Replay(recorded) = begin_in_tx(&mut tx, schema, key).await?
    {
        return Reply::replay(&recorded).map(Started::Replay);
    }
    let scope = key.map(|key| key.scope);
    Ok(Started::Fresh(Work { tx, schema, scope }))
}

/// Finds the reply that an earlier request with the key had. A use case that asks another service
/// calls it before it asks: what was done before is repeated whatever that service says now, and also
/// while it is unavailable. Fails if the body differs or the first request still runs.
///
/// It claims nothing: [`start`] looks again.
pub async fn find_replay<T: prost::Message + Default>(
    pool: &PgPool,
    schema: Schema,
    key: Option<&Key>,
) -> Result<Option<Reply<T>>, Error> {
    let Some(key) = key else { return Ok(None) };
    let recorded = find_response(pool, schema, key).await?;
    recorded
        .map(|response| Reply::replay(&response))
        .transpose()
}

impl Work {
    /// Records the response and commits.
    pub async fn commit<T: prost::Message>(mut self, message: T) -> Result<Reply<T>, sqlx::Error> {
        if let Some(scope) = &self.scope {
            complete_in_tx(&mut self.tx, self.schema, scope, &message).await?;
        }
        self.tx.commit().await?;
        Ok(Reply::fresh(message))
    }
}

impl Deref for Work {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.tx
    }
}

impl DerefMut for Work {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.tx
    }
}
