//! CPU time by process and by Postgres session, and bytes of write-ahead log, while something is measured.

use std::collections::BTreeMap;

use anyhow::Context as _;

use crate::{
    environment::Environment,
    machine::{self, CpuTime},
    wal,
};

/// CPU seconds since the start of each process, and the bytes of Postgres' log.
#[derive(Debug)]
pub struct Snapshot {
    postgres: f64,
    sessions: BTreeMap<String, f64>,
    processes: BTreeMap<String, f64>,
    client: CpuTime,
    wal: f64,
}

/// CPU seconds of a point, and bytes of Postgres' log.
#[derive(Debug)]
pub struct Costs {
    /// Postgres, all of it.
    pub postgres: f64,
    /// Its parts: sessions by application name, and background processes.
    pub sessions: BTreeMap<String, f64>,
    /// The processes of the stack, replicas together.
    pub processes: BTreeMap<String, f64>,
    /// This program.
    pub client: f64,
    /// Programs that this one started and that have ended: pgbench.
    pub children: f64,
    /// Bytes of Postgres' write-ahead log.
    pub wal: f64,
}

impl Snapshot {
    /// Reads the CPU times from the kernel, and the names of sessions from Postgres.
    pub async fn take(environment: &Environment) -> anyhow::Result<Self> {
        let mut conn = environment.connect(None).await?;
        let names = "select pid, coalesce(nullif(application_name, ''), backend_type)
                     from pg_stat_activity where pid <> pg_backend_pid()";
        let names: Vec<(i32, String)> = sqlx::query_as(names).fetch_all(&mut conn).await?;
        let mut sessions = BTreeMap::new();
        for (pid, name) in names {
            let own = machine::cpu_time(u32::try_from(pid)?).own;
            *sessions.entry(name).or_default() += own;
        }
        let mut processes = BTreeMap::new();
        for (name, pid) in environment.stack.process_ids() {
            let name = name.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit());
            *processes.entry(name.to_owned()).or_default() += machine::cpu_time(pid).own;
        }
        let postmaster = pid_of(environment, "postgres")?;
        let own = machine::cpu_time(postmaster);
        let running = machine::children(postmaster)
            .into_iter()
            .map(|pid| machine::cpu_time(pid).own);
        Ok(Self {
            postgres: own.own + own.children + running.sum::<f64>(),
            sessions,
            processes,
            client: machine::cpu_time(std::process::id()),
            wal: wal::position(&mut conn).await?,
        })
    }

    /// Returns the difference to `before`. A session that has ended in between counts in the sum only.
    pub fn since(&self, before: &Self) -> Costs {
        let parts = |now: &BTreeMap<String, f64>, then: &BTreeMap<String, f64>| {
            let spent = now.iter().map(|(name, now)| {
                let then = then.get(name).copied().unwrap_or_default();
                (name.clone(), (now - then).max(0.0))
            });
            spent.collect()
        };
        Costs {
            postgres: self.postgres - before.postgres,
            sessions: parts(&self.sessions, &before.sessions),
            processes: parts(&self.processes, &before.processes),
            client: self.client.own - before.client.own,
            children: self.client.children - before.client.children,
            wal: self.wal - before.wal,
        }
    }
}

/// Returns the id of a process of the stack.
pub fn pid_of(environment: &Environment, name: &str) -> anyhow::Result<u32> {
    let pid = environment.stack.process_ids().get(name).copied();
    pid.with_context(|| format!("{name} is not running"))
}
