//! Leader leases: one runner per schema and job, by a row that expires. Unlike advisory locks they
//! work behind a transaction pooler and on distributed engines.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::Instant;
use uuid::Uuid;

use crate::pg::{self, Schema};

/// Time from the last renewal to expiry, by the database's clock.
const TTL: Duration = Duration::from_secs(6);
const RENEW_INTERVAL: Duration = Duration::from_secs(2);
/// Interval between attempts to take a lease that another process holds.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// The right to be the only runner of a job.
///
/// A holder that stalls until the lease expires may run concurrently with its successor for a
/// moment, so the job must tolerate that.
#[derive(Debug)]
pub struct Lease {
    pool: PgPool,
    schema: Schema,
    name: &'static str,
    holder: Uuid,
    last_attempt: Option<Attempt>,
}

#[derive(Debug, Clone, Copy)]
struct Attempt {
    at: Instant,
    held: bool,
}

impl Lease {
    /// Creates a lease that is not held yet. `name` is the job's: `outbox-relay`, `order-recovery`.
    pub fn new(pool: PgPool, schema: Schema, name: &'static str) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "identifies the process and appears in no data"
        )]
        let holder = Uuid::new_v4();
        Self {
            pool,
            schema,
            name,
            holder,
            last_attempt: None,
        }
    }

    /// Takes or renews the lease and returns whether it is held; call it before each unit of work.
    /// Queries the database every one or two seconds only.
    pub async fn hold(&mut self) -> Result<bool, sqlx::Error> {
        if let Some(Attempt { at, held }) = self.last_attempt
            && at.elapsed() < if held { RENEW_INTERVAL } else { RETRY_INTERVAL }
        {
            return Ok(held);
        }
        let at = Instant::now();
        self.last_attempt = None;
        let sql = self.schema.sql(
            "insert into :schema.leases as lease (name, holder, expires_at)
             values ($1, $2, now() + $3 * interval '1 second')
             on conflict (name) do update
             set holder = excluded.holder, expires_at = excluded.expires_at
             where lease.holder = excluded.holder or lease.expires_at < now()",
        );
        let take = sqlx::query(sql)
            .bind(self.name)
            .bind(self.holder)
            .bind(TTL.as_secs_f64())
            .execute(&self.pool);
        let taken = pg::bounded(take).await?;
        let held = taken.rows_affected() == 1;
        self.last_attempt = Some(Attempt { at, held });
        Ok(held)
    }

    /// Releases the lease, so that the next runner need not wait for its expiry.
    pub async fn release(&mut self) -> Result<(), sqlx::Error> {
        self.last_attempt = None;
        let sql = self
            .schema
            .sql("delete from :schema.leases where name = $1 and holder = $2");
        let delete = sqlx::query(sql)
            .bind(self.name)
            .bind(self.holder)
            .execute(&self.pool);
        pg::bounded(delete).await?;
        Ok(())
    }
}
