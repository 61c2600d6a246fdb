//! Prints the figures as a table, and compares them with the targets.

use std::fmt;

use super::{
    measure::{Events, Measured},
    workload::Workload,
};
use crate::{
    latency::count,
    machine,
    target::{at_least, at_most},
};

/// A measured ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// wallet-svc, through gRPC.
    Guerdon {
        /// The number of its processes.
        replicas: usize,
    },
    /// One transfer per transaction.
    PlPgSql,
    /// The public ledger in SQL.
    PgLedger,
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Guerdon { replicas: 1 } => "wallet-svc",
            Self::Guerdon { .. } => "wallet-svc, two",
            Self::PlPgSql => "PL/pgSQL",
            Self::PgLedger => "pgledger",
        })
    }
}

/// One measured point.
#[derive(Debug)]
pub struct Point {
    workload: Workload,
    system: System,
    in_flight: u32,
    measured: Measured,
}

impl Point {
    /// A point.
    pub const fn new(
        workload: Workload,
        system: System,
        in_flight: u32,
        measured: Measured,
    ) -> Self {
        Self {
            workload,
            system,
            in_flight,
            measured,
        }
    }

    /// Converts CPU seconds into CPU seconds per 1 000 transfers.
    fn each(&self, seconds: f64) -> f64 {
        self.measured.each(seconds) * 1000.0
    }

    fn errors(&self) -> String {
        let errors = self.measured.errors.iter();
        let errors: Vec<_> = errors.map(|(why, n)| format!("{n} {why}")).collect();
        if errors.is_empty() {
            "0".to_owned()
        } else {
            errors.join(", ")
        }
    }
}

/// All points of a run.
#[derive(Debug, Default)]
pub struct Report {
    /// In the order measured.
    pub points: Vec<Point>,
    /// The peak memory of a process of wallet-svc, in kilobytes.
    pub memory: u32,
}

const ONE: System = System::Guerdon { replicas: 1 };
const TWO: System = System::Guerdon { replicas: 2 };

impl Report {
    fn find(&self, workload: Workload, system: System, in_flight: u32) -> Option<&Point> {
        self.points.iter().find(|point| {
            (point.workload, point.system, point.in_flight) == (workload, system, in_flight)
        })
    }

    fn rate(&self, workload: Workload, system: System, in_flight: u32) -> Option<f64> {
        let point = self.find(workload, system, in_flight)?;
        Some(point.measured.rate())
    }

    /// Prints everything.
    pub fn print(&self) {
        println!(
            "\n{:<8}{:>10}  {:<16}{:>12}{:>9}{:>9}{:>9}{:>12}  errors",
            "", "in flight", "", "transfers/s", "p50 ms", "p99", "p99.9", "x PL/pgSQL"
        );
        for point in &self.points {
            self.print_point(point);
        }
        self.print_costs();
        self.print_targets();
    }

    fn print_point(&self, point: &Point) {
        let baseline = self.rate(point.workload, System::PlPgSql, point.in_flight);
        let ratio = baseline.map(|baseline| format!("{:.2}", point.measured.rate() / baseline));
        println!(
            "{:<8}{:>10}  {:<16}{:>12.0}{:>9.2}{:>9.2}{:>9.2}{:>12}  {}",
            point.workload.name(),
            point.in_flight,
            point.system,
            point.measured.rate(),
            point.measured.millis(0.5),
            point.measured.millis(0.99),
            point.measured.millis(0.999),
            ratio.unwrap_or_default(),
            point.errors()
        );
    }

    fn print_costs(&self) {
        println!(
            "\nCPU seconds per 1 000 transfers\n{:<8}{:>10}  {:<16}{:>9}{:>11}{:>7}{:>8}{:>9}  of Postgres; events",
            "", "in flight", "", "Postgres", "wallet-svc", "NATS", "client", "together"
        );
        for point in &self.points {
            let costs = &point.measured.costs;
            let process = |name: &str| costs.processes.get(name).copied().unwrap_or_default();
            let (wallet, nats) = (process("wallet-svc"), process("nats"));
            let client = costs.client + costs.children;
            let all = costs.postgres + wallet + nats + client;
            let cores = all / point.measured.seconds;
            println!(
                "{:<8}{:>10}  {:<16}{:>9.3}{:>11.3}{:>7.3}{:>8.3}{:>9}  {}{}",
                point.workload.name(),
                point.in_flight,
                point.system,
                point.each(costs.postgres),
                point.each(wallet),
                point.each(nats),
                point.each(client),
                format!("{cores:.2} CPU"),
                sessions(point),
                events(point)
            );
        }
        let megabytes = machine::megabytes(self.memory);
        println!("\nwallet-svc: peak memory {megabytes:.0} MB (resident)");
    }

    fn print_targets(&self) {
        use Workload::{Hot, Random};
        let rate = |workload, system, n| self.rate(workload, system, n);
        let ratio = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a / b);
        let millis = |workload, n, quantile| {
            let point = self.find(workload, ONE, n)?;
            Some(point.measured.millis(quantile))
        };
        let hot = rate(Hot, ONE, 64);
        let plain = |workload| rate(workload, System::PlPgSql, 64);
        println!("\nTargets (on 2 idle cores)");
        at_least("64 hot, x PL/pgSQL", ratio(hot, plain(Hot)), 8.0);
        let random = rate(Random, ONE, 64);
        at_least("64 random, x PL/pgSQL", ratio(random, plain(Random)), 1.3);
        at_least("64 hot / random", ratio(hot, random), 1.0);
        at_least("64 hot, transfers/s", hot, 5_000.0);
        at_least("64 hot, transfers/s (stretch)", hot, 8_000.0);
        at_most("64 hot, p99 ms", millis(Hot, 64, 0.99), 30.0);
        at_most("64 random, p99 ms", millis(Random, 64, 0.99), 30.0);
        at_least("256 hot, transfers/s", rate(Hot, ONE, 256), 8_000.0);
        at_most("256 hot, p99 ms", millis(Hot, 256, 0.99), 70.0);
        at_most("1 hot, p50 ms", millis(Hot, 1, 0.5), 3.0);
        for n in [64, 256] {
            let two = ratio(rate(Hot, TWO, n), rate(Hot, ONE, n));
            at_least(&format!("{n} hot, two replicas / one"), two, 0.6);
        }
        at_most(
            "wallet-svc, MB",
            Some(machine::megabytes(self.memory)),
            200.0,
        );
    }
}

fn events(point: &Point) -> String {
    let Some(Events { published, pending }) = point.measured.events else {
        return String::new();
    };
    let rate = count(published.try_into().unwrap_or_default()) / point.measured.seconds;
    format!("; {rate:.0} events/s published, {pending} pending")
}

/// Formats the largest parts of Postgres' CPU time.
fn sessions(point: &Point) -> String {
    let mut parts: Vec<_> = point.measured.costs.sessions.iter().collect();
    parts.sort_by(|a, b| b.1.total_cmp(a.1));
    let parts = parts.iter().take(4).filter(|part| *part.1 > 0.0);
    let parts: Vec<_> = parts
        .map(|(name, spent)| format!("{name} {:.3}", point.each(**spent)))
        .collect();
    parts.join(", ")
}
