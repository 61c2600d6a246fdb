//! The contestants: ledgers in SQL that run one transfer per transaction, driven by pgbench.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use sqlx::PgConnection;
use tokio::process::Command;

use super::{Arguments, Contestant, Workload, cost::Snapshot, measure::Measured};
use crate::bed::Bed;

/// A ledger in a database of its own on the same server.
#[derive(Debug)]
pub struct Peer {
    /// Which one.
    pub contestant: Contestant,
    pgbench: PathBuf,
    hot: &'static str,
    random: &'static str,
    check: &'static str,
}

impl Peer {
    /// Those that can be measured here; says why one can't.
    pub async fn set_up(bed: &Bed, arguments: &Arguments) -> anyhow::Result<Vec<Self>> {
        let pgbench = bed.programs.join("pgbench");
        if arguments.skip_peers {
            return Ok(Vec::new());
        }
        if !pgbench.is_file() {
            println!("There is no pgbench beside Postgres' programs: no contestants, no ratios.");
            return Ok(Vec::new());
        }
        let plain = Self::plpgsql(pgbench.clone());
        plain
            .make(bed, &[include_str!("../../sql/peer/ledger.sql").to_owned()])
            .await?;
        let mut peers = vec![plain];
        if let Some(folder) = &arguments.pgledger_sql {
            let peer = Self::pgledger(pgbench);
            peer.make(bed, &pgledger_scripts(folder)?).await?;
            peers.push(peer);
        } else {
            println!("PGLEDGER_SQL names no folder: pgledger is not measured.");
        }
        Ok(peers)
    }

    const fn plpgsql(pgbench: PathBuf) -> Self {
        Self {
            contestant: Contestant::PlPgSql,
            pgbench,
            hot: include_str!("../../sql/peer/hot.pgbench"),
            random: include_str!("../../sql/peer/random.pgbench"),
            check: "select coalesce(sum(amount), 0) = 0
                 and (select sum(amount) from peer.accounts) = 100001 * 1000000::numeric
                 from peer.movements",
        }
    }

    const fn pgledger(pgbench: PathBuf) -> Self {
        Self {
            contestant: Contestant::PgLedger,
            pgbench,
            hot: include_str!("../../sql/pgledger/hot.pgbench"),
            random: include_str!("../../sql/pgledger/random.pgbench"),
            check: "select coalesce(sum(amount), 0) = 0 from pgledger_entries",
        }
    }

    /// The name of its database.
    pub const fn database(&self) -> &'static str {
        match self.contestant {
            Contestant::PgLedger => "load_pgledger",
            _ => "load_plpgsql",
        }
    }

    async fn make(&self, bed: &Bed, scripts: &[String]) -> anyhow::Result<()> {
        eprintln!("setting up {} …", self.contestant);
        let mut conn = bed.connect(Some("postgres")).await?;
        let create = format!("create database {} template template0", self.database());
        execute(&mut conn, create).await?;
        let mut conn = bed.connect(Some(self.database())).await?;
        for script in scripts {
            execute(&mut conn, script.clone()).await?;
        }
        execute(&mut conn, "vacuum analyze".to_owned()).await
    }

    /// Runs pgbench. A run of no length has no figures.
    pub async fn run(
        &self,
        bed: &Bed,
        workload: Workload,
        in_flight: u32,
        length: Duration,
    ) -> anyhow::Result<Option<Measured>> {
        if length.is_zero() {
            return Ok(None);
        }
        let scratch = bed.scratch.join("pgbench");
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch)?;
        let mut pgbench = self.pgbench(bed, workload, in_flight, &scratch)?;
        pgbench.args(["-T", &length.as_secs().to_string()]);
        let before = Snapshot::take(bed).await?;
        let output = pgbench.output().await.context("pgbench can't be started")?;
        let after = Snapshot::take(bed).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "pgbench: {said}");
        let mut latencies = Measured::latencies()?;
        read_logs(&scratch, |micros| latencies.saturating_record(micros))?;
        fs::remove_dir_all(&scratch)?;
        Ok(Some(Measured {
            latencies,
            errors: BTreeMap::new(),
            seconds: length.as_secs_f64(),
            costs: after.since(&before),
            events: None,
        }))
    }

    fn pgbench(
        &self,
        bed: &Bed,
        workload: Workload,
        in_flight: u32,
        scratch: &Path,
    ) -> anyhow::Result<Command> {
        let script = scratch.join("transfer.pgbench");
        let text = match workload {
            Workload::Hot => self.hot,
            Workload::Random => self.random,
        };
        fs::write(&script, text)?;
        let mut command = Command::new(&self.pgbench);
        command
            .args(["-n", "-l", "-M", "prepared"])
            .args(["-c", &in_flight.to_string()])
            .args(["-j", if in_flight > 1 { "2" } else { "1" }])
            .arg(format!("--log-prefix={}", scratch.join("log").display()))
            .arg("-f")
            .arg(&script)
            .stdin(Stdio::null())
            .env("PGDATABASE", bed.url(self.database())?);
        Ok(command)
    }

    /// Its books, by its own rule: a contestant that loses money is none.
    pub async fn verify(&self, bed: &Bed) -> anyhow::Result<()> {
        let mut conn = bed.connect(Some(self.database())).await?;
        let clean: bool = sqlx::query_scalar(self.check).fetch_one(&mut conn).await?;
        ensure!(clean, "the books of {} are wrong", self.contestant);
        Ok(())
    }
}

async fn execute(conn: &mut PgConnection, sql: String) -> anyhow::Result<()> {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(conn)
        .await?;
    Ok(())
}

/// One file a thread; the third field of a line is the latency in microseconds.
fn read_logs(directory: &Path, mut record: impl FnMut(u64)) -> anyhow::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with("log.") {
            continue;
        }
        for line in fs::read_to_string(&path)?.lines() {
            let latency = line.split(' ').nth(2).and_then(|field| field.parse().ok());
            record(latency.with_context(|| format!("pgbench logged {line:?}"))?);
        }
    }
    Ok(())
}

/// pgledger's scripts: what it needs, itself, then the accounts.
fn pgledger_scripts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if path.is_dir() && !matches!(&*name, "examples" | "go" | "test") {
                folders.push(path.clone());
            } else if path.extension().is_some_and(|end| end == "sql") {
                files.push((name == "pgledger.sql", path.clone()));
            }
        }
    }
    files.sort();
    let scripts = files.iter().map(|(_, path)| Ok(fs::read_to_string(path)?));
    let accounts = include_str!("../../sql/pgledger/accounts.sql").to_owned();
    scripts.chain([Ok(accounts)]).collect()
}
