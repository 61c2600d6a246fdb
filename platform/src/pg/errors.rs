//! Classification of database errors: a violated constraint, a transient error, or a fault.

use std::{
    borrow::Cow,
    error::Error,
    sync::Mutex,
    time::{Duration, Instant},
};

use sqlx::{
    error::DatabaseError,
    postgres::{PgDatabaseError, PgQueryResult},
};

use crate::error::{Code, Failure};

/// Attempts at a transaction that fails with a deadlock or a serialization failure.
const MAX_ATTEMPTS: u32 = 6;

const QUERY_CANCELED: &str = "57014";

/// SQLSTATEs after which a retry may succeed: lock and statement timeouts, an idle transaction ended
/// by the server, and a server that is starting or stopping.
const TRANSIENT: [&str; 7] = [
    "55P03",
    QUERY_CANCELED,
    "25P03",
    "57P01",
    "57P02",
    "57P03",
    "57P05",
];

/// SQLSTATEs that say that the session is of no use any more: its server is read-only, as after a
/// switchover, its transaction is aborted, or its prepared statement is gone.
const UNUSABLE_SESSION: [&str; 3] = ["25006", "25P02", "26000"];

/// When it last turned out that the sessions opened before are of no use.
static SESSIONS_ENDED_AT: Mutex<Option<Instant>> = Mutex::new(None);

/// Returns whether a retry may succeed: the database is unavailable, busy or restarting, or another
/// session is needed.
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
            ["08", "53", "40"].contains(&&code[..2])
                || TRANSIENT.contains(&code.as_ref())
                || needs_new_session(database.as_ref())
        }),
        _ => false,
    }
}

/// Returns whether the server cancelled the statement, which took longer than it may.
pub(crate) fn is_canceled(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(DatabaseError::code);
    code.is_some_and(|code| code == QUERY_CANCELED)
}

/// Whether only another session can succeed.
fn needs_new_session(error: &dyn DatabaseError) -> bool {
    let code = error.code();
    code.is_some_and(|code| UNUSABLE_SESSION.contains(&code.as_ref())) || is_plan_outdated(error)
}

/// Whether a migration changed the columns that a prepared statement returns (0A000): each execution
/// in the session fails. The message may be translated, the name of the routine is not.
fn is_plan_outdated(error: &dyn DatabaseError) -> bool {
    let error = error.try_downcast_ref::<PgDatabaseError>();
    error.is_some_and(|error| error.routine() == Some("RevalidateCachedQuery"))
}

/// Has the pools close the sessions that are open now, if the error says that they are of no use.
fn end_sessions_after(error: &sqlx::Error) {
    if error.as_database_error().is_some_and(needs_new_session) {
        end_sessions();
    }
}

/// Has the pools close the sessions that are open now.
pub(super) fn end_sessions() {
    if let Ok(mut ended_at) = SESSIONS_ENDED_AT.lock() {
        *ended_at = Some(Instant::now());
    }
}

/// Returns whether sessions of this age are closed.
pub(super) fn has_ended_sessions_of_age(age: Duration) -> bool {
    let ended_at = SESSIONS_ENDED_AT.lock().ok().and_then(|ended_at| *ended_at);
    ended_at.is_some_and(|ended_at| age >= ended_at.elapsed())
}

impl Failure {
    /// Creates the failure of a database error, without its cause.
    pub(super) fn of_database(error: &sqlx::Error) -> Self {
        end_sessions_after(error);
        if is_transient(error) {
            Self::new(Code::Unavailable, "the database is unavailable")
        } else {
            Self::new(Code::Internal, "an unexpected error")
        }
    }
}

impl From<sqlx::Error> for Failure {
    fn from(error: sqlx::Error) -> Self {
        Self::of_database(&error).with_source(error)
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
