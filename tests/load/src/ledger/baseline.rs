//! The baselines: ledgers in SQL that run one transfer per transaction, driven by pgbench.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, ensure};
use sqlx::PgConnection;
use tokio::{
    process::Command,
    time::{interval, timeout},
};

use super::{Arguments, System, Workload, measure::Measured};
use crate::{cost::Snapshot, environment::Environment, latency};

const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Limit for Postgres to end the connections of a run.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A ledger in a database of its own on the same server.
#[derive(Debug)]
pub struct Baseline {
    /// Which one.
    pub system: System,
    pgbench: PathBuf,
    hot: &'static str,
    random: &'static str,
    check: &'static str,
}

impl Baseline {
    /// Sets up those that can be measured here, and prints why one can't.
    pub async fn set_up(
        environment: &Environment,
        arguments: &Arguments,
    ) -> anyhow::Result<Vec<Self>> {
        let programs = environment.stack.environment().postgres_programs()?;
        let pgbench = programs.join("pgbench");
        if arguments.skip_baselines {
            return Ok(Vec::new());
        }
        if !pgbench.is_file() {
            println!("There is no pgbench beside Postgres' programs: no baselines, no ratios.");
            return Ok(Vec::new());
        }
        let plain = Self::plpgsql(pgbench.clone());
        plain
            .make(
                environment,
                &[include_str!("../../sql/baseline/ledger.sql").to_owned()],
            )
            .await?;
        let mut baselines = vec![plain];
        if let Some(folder) = &arguments.pgledger_sql {
            let baseline = Self::pgledger(pgbench);
            baseline
                .make(environment, &pgledger_scripts(folder)?)
                .await?;
            baselines.push(baseline);
        } else {
            println!("PGLEDGER_SQL names no folder: pgledger is not measured.");
        }
        Ok(baselines)
    }

    const fn plpgsql(pgbench: PathBuf) -> Self {
        Self {
            system: System::PlPgSql,
            pgbench,
            hot: include_str!("../../sql/baseline/hot.pgbench"),
            random: include_str!("../../sql/baseline/random.pgbench"),
            check: "select coalesce(sum(amount), 0) = 0
                 and (select sum(amount) from baseline.accounts) = 100001 * 1000000::numeric
                 from baseline.movements",
        }
    }

    const fn pgledger(pgbench: PathBuf) -> Self {
        Self {
            system: System::PgLedger,
            pgbench,
            hot: include_str!("../../sql/pgledger/hot.pgbench"),
            random: include_str!("../../sql/pgledger/random.pgbench"),
            check: "select coalesce(sum(amount), 0) = 0 from pgledger_entries",
        }
    }

    /// Returns the name of its database.
    pub const fn database(&self) -> &'static str {
        match self.system {
            System::PgLedger => "load_pgledger",
            _ => "load_plpgsql",
        }
    }

    async fn make(&self, environment: &Environment, scripts: &[String]) -> anyhow::Result<()> {
        eprintln!("setting up {} …", self.system);
        let mut conn = environment.connect(Some("postgres")).await?;
        let create = format!("create database {} template template0", self.database());
        execute(&mut conn, create).await?;
        let mut conn = environment.connect(Some(self.database())).await?;
        for script in scripts {
            execute(&mut conn, script.clone()).await?;
        }
        execute(&mut conn, "vacuum analyze".to_owned()).await
    }

    /// Runs pgbench. A run without length has no figures.
    pub async fn run(
        &self,
        environment: &Environment,
        workload: Workload,
        in_flight: u32,
        length: Duration,
    ) -> anyhow::Result<Option<Measured>> {
        if length.is_zero() {
            return Ok(None);
        }
        let scratch = environment.directory().join("pgbench");
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir_all(&scratch)?;
        let mut pgbench = self.pgbench(environment, workload, in_flight, &scratch)?;
        pgbench.args(["-T", &length.as_secs().to_string()]);
        timeout(DISCONNECT_TIMEOUT, wait_for_disconnects(environment))
            .await
            .context("the connections of the run before are still open")??;
        let before = Snapshot::take(environment).await?;
        let output = pgbench.output().await.context("cannot start pgbench")?;
        let after = Snapshot::take(environment).await?;
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "pgbench: {errors}");
        let mut latencies = latency::histogram()?;
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
        environment: &Environment,
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
            .env("PGDATABASE", environment.url(self.database())?);
        Ok(command)
    }

    /// Checks that no money was lost or made.
    pub async fn verify(&self, environment: &Environment) -> anyhow::Result<()> {
        let mut conn = environment.connect(Some(self.database())).await?;
        let consistent: bool = sqlx::query_scalar(self.check).fetch_one(&mut conn).await?;
        ensure!(consistent, "the ledger of {} is inconsistent", self.system);
        Ok(())
    }
}

/// Waits until Postgres has ended the connections of the run before: those of two runs are more than
/// it allows.
async fn wait_for_disconnects(environment: &Environment) -> anyhow::Result<()> {
    let mut conn = environment.connect(None).await?;
    let mut interval = interval(POLL_INTERVAL);
    loop {
        interval.tick().await;
        let open =
            "select exists (select from pg_stat_activity where application_name = 'pgbench')";
        let is_open: bool = sqlx::query_scalar(open).fetch_one(&mut conn).await?;
        if !is_open {
            return Ok(());
        }
    }
}

async fn execute(conn: &mut PgConnection, sql: String) -> anyhow::Result<()> {
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(conn)
        .await?;
    Ok(())
}

/// Reads pgbench's logs, one file a thread: the third field of a line is the latency in microseconds.
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

/// Returns pgledger's scripts in order: its dependencies, itself, then the accounts.
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
