//! The state of Postgres that decides how fast it may commit: durable, run in, and the same for all.

use anyhow::ensure;
use sqlx::{Connection as _, Executor as _, PgConnection};
use stack::Service;

use super::peer::Peer;
use crate::{bed::Bed, machine};

const NAMES: &str = "checkpoint_timeout, commit_delay, fsync, full_page_writes, max_wal_size, \
     min_wal_size, server_version, shared_buffers, synchronous_commit, wal_compression, wal_level, wal_sync_method";

/// Files of the write-ahead log that are there before anything is measured. A server that has run for
/// a while recycles its old ones; a new one has to make each, 16 MB, while all commits wait.
const LOG_FILES: usize = 48;

/// Brings a new server into the state of one that has run for a while.
pub async fn run_in(bed: &Bed) -> anyhow::Result<()> {
    let mut conn = bed.connect(None).await?;
    for statement in [
        "alter system set min_wal_size = '1GB'",
        "select pg_reload_conf()",
        "vacuum analyze",
    ] {
        conn.execute(statement).await?;
    }
    for _ in 0..LOG_FILES {
        conn.execute("select pg_logical_emit_message(false, 'load', ''), pg_switch_wal()")
            .await?;
    }
    conn.execute("checkpoint").await?;
    Ok(())
}

/// Prints the settings with what else a reader of figures should know.
pub async fn check_and_print(bed: &Bed, peers: &[Peer]) -> anyhow::Result<()> {
    let wallet = bed.stack.wiring().app_url(Service::Wallet)?;
    let ours = read(&wallet).await?;
    for peer in peers {
        let theirs = read(&bed.url(peer.database())?).await?;
        ensure!(ours == theirs, "other settings: {ours:?}, {theirs:?}");
    }
    for name in ["fsync", "synchronous_commit", "full_page_writes"] {
        let on = ours
            .iter()
            .any(|(known, value)| known == name && value == "on");
        ensure!(on, "{name} is not on");
    }
    let settings: Vec<_> = ours
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    println!("Postgres, for all contestants: {}", settings.join(" "));
    let cores = std::thread::available_parallelism()?;
    println!("{cores} cores, load average {}", machine::load_average());
    Ok(())
}

async fn read(url: &str) -> anyhow::Result<Vec<(String, String)>> {
    let mut conn = PgConnection::connect(url).await?;
    let names: Vec<_> = NAMES
        .split(',')
        .map(|name| name.trim().to_owned())
        .collect();
    let settings = "select name, current_setting(name) from pg_settings
                    where name = any($1) order by name";
    let settings = sqlx::query_as(settings).bind(names);
    Ok(settings.fetch_all(&mut conn).await?)
}
