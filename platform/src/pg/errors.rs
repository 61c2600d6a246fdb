//! Classification of database errors: a violated constraint, a transient error, or a fault.

use std::{borrow::Cow, error::Error, time::Duration};

use sqlx::{error::DatabaseError, postgres::PgQueryResult};

use crate::error::{Code, Failure};

/// Attempts at a transaction that fails with a deadlock or a serialization failure.
const MAX_ATTEMPTS: u32 = 6;

/// SQLSTATEs after which a retry may succeed: lock and statement timeouts, an idle transaction ended
/// by the server, and a server that is starting or stopping.
const TRANSIENT: [&str; 7] = [
    "55P03", "57014", "25P03", "57P01", "57P02", "57P03", "57P05",
];

/// Returns whether a retry may succeed: the database is unavailable, busy or restarting.
pub fn is_transient(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => true,
        sqlx::Error::Database(database) => database.code().is_some_and(|code| {
            // 08 connection exception, 53 insufficient resources, 40 transaction rollback
            ["08", "53", "40"].contains(&&code[..2]) || TRANSIENT.contains(&code.as_ref())
        }),
        _ => false,
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        if is_transient(&error) {
            Self::new(Code::Unavailable, "the database is unavailable").with_source(error)
        } else {
            Self::internal(error)
        }
    }
}

/// Maps violations of named constraints to errors of the domain, for `map_err`:
///
/// ```
/// # #[derive(Debug, thiserror::Error)]
/// # enum Error { #[error("taken")] CodeTaken, #[error(transparent)] Database(#[from] sqlx::Error) }
/// # async fn insert() -> Result<(), sqlx::Error> { Err(sqlx::Error::RowNotFound) }
/// # async fn example() -> Result<(), Error> {
/// insert()
///     .await
///     .map_err(platform::pg::on_constraint([("products_code_key", Error::CodeTaken)]))
/// # }
/// ```
pub fn on_constraint<E: From<sqlx::Error>, const N: usize>(
    errors: [(&'static str, E); N],
) -> impl FnOnce(sqlx::Error) -> E {
    move |error| {
        let violated = error
            .as_database_error()
            .and_then(|database| database.constraint());
        let mapped = errors
            .into_iter()
            .find(|(constraint, _)| violated == Some(constraint));
        match mapped {
            Some((_, mapped)) => mapped,
            None => E::from(error),
        }
    }
}

/// Checks the number of rows that a statement wrote; another number is a fault.
#[expect(
    clippy::needless_pass_by_value,
    reason = "takes what execute() returns"
)]
pub fn ensure_affected(result: PgQueryResult, rows: u64) -> Result<(), sqlx::Error> {
    match result.rows_affected() {
        affected if affected == rows => Ok(()),
        affected => Err(sqlx::Error::Encode(
            format!("{affected} rows written, {rows} expected").into(),
        )),
    }
}

/// Retries a whole transaction after a deadlock (40P01) or a serialization failure (40001):
/// `retry_serialization(|| self.transfer_once(&order))`.
///
/// The future begins and commits. (Not `AsyncFnMut`: its futures are not `Send` for every lifetime,
/// which a gRPC handler needs.)
pub async fn retry_serialization<T, E, F, Fut>(mut transaction: F) -> Result<T, E>
where
    E: Error + 'static,
    F: FnMut() -> Fut,
    Fut: Future<Output = Result<T, E>>,
{
    let mut attempt = 1;
    loop {
        match transaction().await {
            Err(error) if attempt < MAX_ATTEMPTS && is_rolled_back(&error) => {
                metrics::counter!("db_transactions_retried_total").increment(1);
                tracing::debug!(%error, attempt, "postgres: transaction rolled back by the server, retrying");
                tokio::time::sleep(delay(attempt)).await;
                attempt += 1;
            }
            result => return result,
        }
    }
}

/// Returns 2, 4, 8 … ms with jitter of up to the same again, so that two victims do not collide
/// again.
fn delay(attempt: u32) -> Duration {
    let base = 1_u64 << attempt.min(6);
    let nanos = std::time::SystemTime::UNIX_EPOCH
        .elapsed()
        .map_or(0, |elapsed| u64::from(elapsed.subsec_nanos()));
    Duration::from_micros(base * 1000 + nanos % (base * 1000))
}

fn is_rolled_back(error: &(dyn Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if sqlstate(error).is_some_and(|code| code == "40001" || code == "40P01") {
            return true;
        }
        cause = error.source();
    }
    false
}

fn sqlstate<'e>(error: &'e (dyn Error + 'static)) -> Option<Cow<'e, str>> {
    // The source of a transparent wrapper is that of `sqlx::Error`: the boxed database error.
    if let Some(boxed) = error.downcast_ref::<Box<dyn DatabaseError>>() {
        return boxed.code();
    }
    let error: &'e sqlx::Error = error.downcast_ref()?;
    error.as_database_error()?.code()
}
