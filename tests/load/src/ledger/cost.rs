//! Who used how much CPU while a point was measured.

use std::collections::BTreeMap;

use anyhow::Context as _;

use crate::{
    bed::Bed,
    machine::{self, CpuTime},
};

/// CPU seconds so far.
#[derive(Debug)]
pub struct Snapshot {
    postgres: f64,
    sessions: BTreeMap<String, f64>,
    processes: BTreeMap<String, f64>,
    us: CpuTime,
}

/// CPU seconds of a point.
#[derive(Debug)]
pub struct Costs {
    /// Postgres, all of it.
    pub postgres: f64,
    /// Its parts: sessions by the name that they go by, and its own tasks.
    pub sessions: BTreeMap<String, f64>,
    /// The processes of the stack, replicas together.
    pub processes: BTreeMap<String, f64>,
    /// This program.
    pub client: f64,
    /// Programs that this one started and that have ended: pgbench.
    pub children: f64,
}

impl Snapshot {
    /// Asks the kernel, and Postgres for the names of its sessions.
    pub async fn take(bed: &Bed) -> anyhow::Result<Self> {
        let mut conn = bed.connect(None).await?;
        let named = "select pid, coalesce(nullif(application_name, ''), backend_type)
                     from pg_stat_activity where pid <> pg_backend_pid()";
        let named: Vec<(i32, String)> = sqlx::query_as(named).fetch_all(&mut conn).await?;
        let mut sessions = BTreeMap::new();
        for (pid, name) in named {
            let own = machine::cpu_time(u32::try_from(pid)?).own;
            *sessions.entry(name).or_default() += own;
        }
        let mut processes = BTreeMap::new();
        for (name, pid) in bed.stack.process_ids() {
            let name = name.trim_end_matches(|c: char| c == '-' || c.is_ascii_digit());
            *processes.entry(name.to_owned()).or_default() += machine::cpu_time(pid).own;
        }
        let postmaster = bed.cluster.process().id();
        let own = machine::cpu_time(postmaster);
        let running = machine::children(postmaster)
            .into_iter()
            .map(|pid| machine::cpu_time(pid).own);
        Ok(Self {
            postgres: own.own + own.children + running.sum::<f64>(),
            sessions,
            processes,
            us: machine::cpu_time(std::process::id()),
        })
    }

    /// What was used since `before`. A session that has ended in between counts in the sum only.
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
            client: self.us.own - before.us.own,
            children: self.us.children - before.us.children,
        }
    }
}

/// The process id of a program of the stack.
pub fn pid_of(bed: &Bed, name: &str) -> anyhow::Result<u32> {
    let pid = bed.stack.process_ids().get(name).copied();
    pid.with_context(|| format!("{name} does not run"))
}
