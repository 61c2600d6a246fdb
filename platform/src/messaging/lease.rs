//! One runner per schema and job, by a row that expires: works behind a transaction pooler and on
//! distributed engines, where advisory locks don't.

use std::time::Duration;

use sqlx::PgPool;
use tokio::time::Instant;
use uuid::Uuid;

use crate::pg::Schema;

/// How long a lease outlives its last renewal, by the database's clock.
const TTL: Duration = Duration::from_secs(6);
const RENEW_EVERY: Duration = Duration::from_secs(2);
/// How long a refusal is believed.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// A claim to be the only runner of a job.
///
/// A holder that stalls for longer than the lease lives may run beside its successor for a moment,
/// so the job itself has to bear that.
#[derive(Debug)]
pub struct Lease {
    pool: PgPool,
    schema: Schema,
    name: &'static str,
    holder: Uuid,
    /// The last answer, and when it was asked for.
    answer: Option<(Instant, bool)>,
}

impl Lease {
    /// A lease not held yet. `name` is the job's: `outbox-relay`, `order-recovery`.
    pub fn new(pool: PgPool, schema: Schema, name: &'static str) -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "tells processes apart and appears in no data"
        )]
        let holder = Uuid::new_v4();
        Self {
            pool,
            schema,
            name,
            holder,
            answer: None,
        }
    }

    /// Takes or renews the lease; call it before each piece of work. Asks the database only every
    /// second or two.
    pub async fn hold(&mut self) -> Result<bool, sqlx::Error> {
        if let Some((asked, held)) = self.answer
            && asked.elapsed() < if held { RENEW_EVERY } else { ASK_EVERY }
        {
            return Ok(held);
        }
        let asked = Instant::now();
        self.answer = None;
        let sql = self.schema.sql(
            "insert into :schema.leases as lease (name, holder, expires_at)
             values ($1, $2, now() + $3 * interval '1 second')
             on conflict (name) do update
             set holder = excluded.holder, expires_at = excluded.expires_at
             where lease.holder = excluded.holder or lease.expires_at < now()",
        );
        let taken = sqlx::query(sql)
            .bind(self.name)
            .bind(self.holder)
            .bind(TTL.as_secs_f64())
            .execute(&self.pool)
            .await?;
        let held = taken.rows_affected() == 1;
        self.answer = Some((asked, held));
        Ok(held)
    }

    /// Gives the lease up, so that the next runner need not wait for it to expire.
    pub async fn release(&mut self) -> Result<(), sqlx::Error> {
        self.answer = None;
        let sql = self
            .schema
            .sql("delete from :schema.leases where name = $1 and holder = $2");
        sqlx::query(sql)
            .bind(self.name)
            .bind(self.holder)
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
