//! The settings of Postgres that decide the cost of a commit: durable, and the same for all ledgers.

use anyhow::ensure;
use sqlx::{Connection as _, PgConnection};
use stack::Service;

use super::baseline::Baseline;
use crate::{environment::Environment, machine::Machine};

const NAMES: &str = "checkpoint_timeout, commit_delay, fsync, full_page_writes, max_wal_size, \
     min_wal_size, server_version, shared_buffers, synchronous_commit, wal_compression, wal_level, wal_sync_method";

/// Prints the settings, and the cores and load of the machine.
pub async fn check_and_print(
    environment: &Environment,
    baselines: &[Baseline],
) -> anyhow::Result<()> {
    let wallet = environment.stack.wiring().app_url(Service::Wallet)?;
    let settings = read(&wallet).await?;
    for baseline in baselines {
        let others = read(&environment.url(baseline.database())?).await?;
        ensure!(
            settings == others,
            "settings differ: {settings:?}, {others:?}"
        );
    }
    for name in ["fsync", "synchronous_commit", "full_page_writes"] {
        let on = settings
            .iter()
            .any(|(known, value)| known == name && value == "on");
        ensure!(on, "{name} is not on");
    }
    let settings: Vec<_> = settings
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    println!("Postgres, for all ledgers: {}", settings.join(" "));
    println!("{}", Machine::read()?);
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
