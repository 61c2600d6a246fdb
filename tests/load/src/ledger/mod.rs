//! `bench ledger`: transfers through gRPC in a closed loop, beside one transfer per transaction in
//! the same Postgres.

mod cost;
mod measure;
mod peer;
mod report;
mod settings;
mod workload;

use std::{path::PathBuf, time::Duration};

use anyhow::ensure;
use clap::Args;

use self::{
    measure::{Route, measure},
    peer::Peer,
    report::{Contestant, Point, Report},
    workload::Workload,
};
use crate::{
    Server,
    bed::{Bed, Options},
    machine,
};

/// Options of `load bench ledger`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// How long each point is measured.
    #[arg(long, default_value_t = 30)]
    seconds: u64,
    /// How long each point runs before.
    #[arg(long, default_value_t = 5)]
    warm_up: u64,
    /// Requests in flight, one point each.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64,256")]
    in_flight: Vec<u32>,
    /// Who pays whom.
    #[arg(long, value_delimiter = ',', default_value = "hot,random")]
    workload: Vec<Workload>,
    /// Measures wallet-svc only, and prints no ratios.
    #[arg(long)]
    skip_peers: bool,
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

/// Measures, and prints a table. Fails, without figures, when the books are wrong afterwards.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    ensure!(arguments.seconds > 0, "a point takes at least a second");
    let bed = Bed::start(&Options {
        name: "ledger",
        keep: false,
        wallets: arguments.replicas.into(),
        server: arguments.server.clone(),
    })?;
    for number in 2..=arguments.replicas {
        bed.stack.stop(&format!("wallet-svc-{number}"))?;
    }
    for workload in &arguments.workload {
        workload.seed(&bed).await?;
    }
    let peers = Peer::set_up(&bed, &arguments).await?;
    settings::run_in(&bed).await?;
    settings::check_and_print(&bed, &peers).await?;
    let mut report = Report::default();
    for &workload in &arguments.workload {
        ours(&bed, &arguments, workload, 1, &mut report).await?;
        for peer in &peers {
            theirs(&bed, &arguments, workload, peer, &mut report).await?;
        }
    }
    if arguments.replicas > 1 && arguments.workload.contains(&Workload::Hot) {
        for number in 2..=arguments.replicas {
            let name = format!("wallet-svc-{number}");
            bed.stack.start_again(&name, &[])?;
        }
        let replicas = arguments.replicas.into();
        ours(&bed, &arguments, Workload::Hot, replicas, &mut report).await?;
    }
    report.memory = machine::peak_memory(cost::pid_of(&bed, "wallet-svc")?)?;
    report.print();
    bed.stop()
}

/// Points of wallet-svc; they count only if the books are clean afterwards.
async fn ours(
    bed: &Bed,
    arguments: &Arguments,
    workload: Workload,
    replicas: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let contestant = Contestant::Guerdon { replicas };
    let mut points = Vec::new();
    for &in_flight in &arguments.in_flight {
        eprintln!("{workload}, {contestant}, {in_flight} in flight …");
        let route = Route::open(bed, workload, replicas).await?;
        let (warm_up, seconds) = (arguments.warm_up(), arguments.seconds());
        let measured = measure(bed, route, in_flight, warm_up, seconds).await?;
        let point = Point::new(workload, contestant, in_flight, measured);
        bed.settle().await?;
        points.push(point);
    }
    bed.verify()?;
    bed.stack.check()?;
    report.points.extend(points);
    Ok(())
}

async fn theirs(
    bed: &Bed,
    arguments: &Arguments,
    workload: Workload,
    peer: &Peer,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut points = Vec::new();
    for &in_flight in &arguments.in_flight {
        eprintln!("{workload}, {}, {in_flight} in flight …", peer.contestant);
        peer.run(bed, workload, in_flight, arguments.warm_up())
            .await?;
        let seconds = arguments.seconds();
        let measured = peer.run(bed, workload, in_flight, seconds).await?;
        points.extend(measured.map(|it| Point::new(workload, peer.contestant, in_flight, it)));
        bed.settle().await?;
    }
    peer.verify(bed).await?;
    report.points.extend(points);
    Ok(())
}
