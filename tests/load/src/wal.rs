//! Postgres' write-ahead log: its files, and how far it is written.

use sqlx::{Executor as _, PgConnection};

use crate::environment::Environment;

/// Files of the write-ahead log that are there before anything is measured. A server that has run for
/// a while recycles its old ones; a new one has to make each, 16 MB, while all commits wait.
const FILES: usize = 48;

/// Brings a new server into the state of one that has run for a while.
pub async fn allocate(environment: &Environment) -> anyhow::Result<()> {
    let mut conn = environment.connect(None).await?;
    for statement in [
        "alter system set min_wal_size = '1GB'",
        "select pg_reload_conf()",
        "vacuum analyze",
    ] {
        conn.execute(statement).await?;
    }
    for _ in 0..FILES {
        conn.execute("select pg_logical_emit_message(false, 'load', ''), pg_switch_wal()")
            .await?;
    }
    conn.execute("checkpoint").await?;
    Ok(())
}

/// Returns the bytes of the log until now.
pub async fn position(conn: &mut PgConnection) -> anyhow::Result<f64> {
    let position = "select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8";
    Ok(sqlx::query_scalar(position).fetch_one(conn).await?)
}
