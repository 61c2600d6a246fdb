//! `bench ledger`: transfers through gRPC in a closed loop, compared with one transfer per transaction
//! in the same Postgres.

mod baseline;
pub mod measure;
mod report;
pub mod settings;
pub mod workload;

use std::{path::PathBuf, time::Duration};

use anyhow::ensure;
use clap::Args;
use stack::{Replicas, Service};

use self::{
    baseline::Baseline,
    measure::{Route, measure},
    report::{Point, Report, System},
    workload::Workload,
};
use crate::{
    Server, cost,
    environment::{Environment, Options},
    machine, wal,
};

/// Options of `load bench ledger`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How long each point is measured.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// How long each point runs before it is measured.
    #[arg(long, default_value_t = 5)]
    warm_up: u64,
    /// Requests in flight, one point each.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64,256")]
    in_flight: Vec<u32>,
    /// Transfers of each request: with more than one, in flight are requests of `PostMany`.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    batch: u32,
    /// Who pays whom.
    #[arg(long, value_delimiter = ',', default_value = "hot,random")]
    workload: Vec<Workload>,
    /// Measures wallet-svc only, and prints no ratios.
    #[arg(long)]
    skip_baselines: bool,
    /// With 2, the hot workload is also measured on two processes of wallet-svc.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    replicas: u8,
    /// The folder of pgledger's SQL, a public ledger in SQL, to be measured too.
    #[arg(long, env = "PGLEDGER_SQL")]
    pgledger_sql: Option<PathBuf>,
    #[command(flatten)]
    server: Server,
}

impl Arguments {
    fn warm_up(&self) -> Duration {
        Duration::from_secs(self.warm_up)
    }

    fn seconds(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// Measures, and prints a table. Fails, without figures, when the ledger is inconsistent afterwards.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    ensure!(arguments.seconds > 0, "a point takes at least a second");
    let environment = Environment::start(Options {
        replicas: Replicas::from([(Service::Wallet, arguments.replicas.into())]),
        ..Options::new("ledger", arguments.server.clone())
    })?;
    for number in 2..=arguments.replicas {
        environment.stack.stop(&format!("wallet-svc-{number}"))?;
    }
    for workload in &arguments.workload {
        workload.wallets().seed(&environment, "now()").await?;
    }
    let baselines = Baseline::set_up(&environment, &arguments).await?;
    wal::allocate(&environment).await?;
    settings::check_and_print(&environment, &baselines).await?;
    let mut report = Report::default();
    for &workload in &arguments.workload {
        measure_guerdon(&environment, &arguments, workload, 1, &mut report).await?;
        for baseline in &baselines {
            measure_baseline(&environment, &arguments, workload, baseline, &mut report).await?;
        }
    }
    if arguments.replicas > 1 && arguments.workload.contains(&Workload::Hot) {
        for number in 2..=arguments.replicas {
            let name = format!("wallet-svc-{number}");
            environment.stack.start_again(&name, &[])?;
        }
        let replicas = arguments.replicas.into();
        measure_guerdon(
            &environment,
            &arguments,
            Workload::Hot,
            replicas,
            &mut report,
        )
        .await?;
    }
    report.memory = machine::peak_memory(cost::pid_of(&environment, "wallet-svc")?)?;
    report.print();
    environment.stop()
}

/// Measures wallet-svc; the points count only if the ledger is consistent afterwards.
async fn measure_guerdon(
    environment: &Environment,
    arguments: &Arguments,
    workload: Workload,
    replicas: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let system = System::Guerdon { replicas };
    let mut points = Vec::new();
    for &in_flight in &arguments.in_flight {
        eprintln!("{workload}, {system}, {in_flight} in flight …");
        let route = Route::open(
            environment,
            workload,
            workload.wallets(),
            replicas,
            arguments.batch,
        )
        .await?;
        let (warm_up, seconds) = (arguments.warm_up(), arguments.seconds());
        let measured = measure(environment, route, in_flight, warm_up, seconds).await?;
        let point = Point::new(workload, system, in_flight, measured);
        environment.settle().await?;
        points.push(point);
    }
    environment.stack.verify_ledger()?;
    environment.stack.check()?;
    report.points.extend(points);
    Ok(())
}

async fn measure_baseline(
    environment: &Environment,
    arguments: &Arguments,
    workload: Workload,
    baseline: &Baseline,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut points = Vec::new();
    for &in_flight in &arguments.in_flight {
        eprintln!("{workload}, {}, {in_flight} in flight …", baseline.system);
        baseline
            .run(environment, workload, in_flight, arguments.warm_up())
            .await?;
        let seconds = arguments.seconds();
        let measured = baseline
            .run(environment, workload, in_flight, seconds)
            .await?;
        points.extend(measured.map(|it| Point::new(workload, baseline.system, in_flight, it)));
        environment.settle().await?;
    }
    baseline.verify(environment).await?;
    report.points.extend(points);
    Ok(())
}
