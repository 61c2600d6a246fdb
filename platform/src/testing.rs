//! Helpers for tests of several crates: waiting for a condition, leftovers, tokens, traces, and log lines.

use std::{
    io,
    sync::{Arc, Mutex, Once, PoisonError},
    time::Duration,
};

use secrecy::ExposeSecret as _;
use sqlx::{ConnectOptions as _, PgConnection, PgPool, postgres::PgConnectOptions};
use tokio::time::{Instant, interval};
use tracing::{Level, Subscriber};

use crate::{auth::TokenIssuer, pg::Schema, sealing::SealingKey, telemetry};

/// Waits until the condition holds; checks it every few milliseconds.
///
/// # Panics
/// If the condition does not hold within `timeout`.
pub async fn eventually(what: &str, timeout: Duration, mut condition: impl AsyncFnMut() -> bool) {
    let deadline = Instant::now() + timeout;
    let mut ticks = interval(Duration::from_millis(10));
    loop {
        ticks.tick().await;
        if condition().await {
            return;
        }
        assert!(Instant::now() < deadline, "not within {timeout:?}: {what}");
    }
}

/// SQL that creates the messaging tables in the schema, with all rights for every role.
pub fn messaging_tables(schema: Schema) -> String {
    include_str!("../sql/messaging.sql")
        .replace("guerdon_:schema_app", "public")
        .replace(":schema", schema.name())
}

/// Returns the URL of a test's database with the rights of the schema's app role, whose password no test
/// knows: the superuser logs in and takes the role.
pub fn app_role_url(superuser: &PgConnectOptions, schema: Schema) -> String {
    let mut url = superuser.to_url_lossy();
    let options = format!("-c role=guerdon_{}_app", schema.name());
    url.query_pairs_mut().append_pair("options", &options);
    url.to_string()
}

/// Opens the newest signing key that identity-svc has stored, to issue tokens that it would not: without
/// a login, or without roles.
pub async fn stored_issuer(
    identity: &mut PgConnection,
    key_encryption_key: &str,
) -> anyhow::Result<TokenIssuer> {
    let newest = "select key_id, sealed_seed from identity.signing_keys
                  where signs_from <= now() order by signs_from desc limit 1";
    let row = sqlx::query_as(newest).fetch_one(identity).await?;
    let (key_id, sealed): (String, Vec<u8>) = row;
    let key = SealingKey::from_base64(&key_encryption_key.into())?;
    let seed = key.open(&format!("signing key {key_id}"), &sealed)?;
    Ok(TokenIssuer::new(seed.expose_secret().try_into()?))
}

/// Checks that the schema has no unfinished work: unpublished events, dead letters, idempotency keys
/// in progress. Waits up to a minute for the relay.
pub async fn assert_no_leftovers(pool: &PgPool, schema: Schema) {
    let sql = schema.sql(
        "select (select count(*) from :schema.outbox_pending)
              + (select count(*) from :schema.dead_letters)
              + (select count(*) from :schema.idempotency_keys where response is null)",
    );
    let sql = sqlx::SqlSafeStr::into_sql_str(sql);
    let what = format!("no leftovers in {}", schema.name());
    eventually(&what, Duration::from_mins(1), async || {
        let left: Result<i64, _> = sqlx::query_scalar(sql.clone()).fetch_one(pool).await;
        left.is_ok_and(|left| left == 0)
    })
    .await;
}

/// Installs a subscriber that traces all threads of the process, as in a service; nothing is exported.
///
/// Call it at the start of every test. A thread-local subscriber is not enough: tracing caches for
/// all threads whether a span is enabled.
///
/// # Panics
/// If the process has another subscriber.
pub fn trace_process() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        tracing::subscriber::set_global_default(telemetry::quiet_subscriber())
            .expect("no other subscriber");
        // Spans that were cached as disabled before.
        tracing::callsite::rebuild_interest_cache();
    });
}

/// The log of a test.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Creates a subscriber that logs here, from level debug.
    ///
    /// # Panics
    /// If the process has another subscriber than that of [`trace_process`].
    pub fn subscriber(&self) -> impl Subscriber + Send + Sync + use<> {
        trace_process();
        let log = self.clone();
        tracing_subscriber::fmt()
            .with_ansi(false)
            .with_max_level(Level::DEBUG)
            .with_writer(move || log.clone())
            .finish()
    }

    /// Returns whether the text has been logged.
    pub fn contains(&self, text: &str) -> bool {
        String::from_utf8_lossy(&self.bytes()).contains(text)
    }

    fn bytes(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
