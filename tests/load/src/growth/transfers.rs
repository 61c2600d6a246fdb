//! Transfers between wallets at random, and from them into the default wallet.

use std::time::Duration;

use super::{
    fill::Ledger,
    point::{Group, Point},
};
use crate::{
    environment::Environment,
    ledger::{
        measure::{Measured, Route, measure as run},
        workload::Workload,
    },
};

const MICROS: f64 = 1e6;

/// How transfers are measured.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Requests in flight.
    pub in_flight: u32,
    /// How long they are sent before they are measured.
    pub warm_up: Duration,
    /// How long they are measured.
    pub length: Duration,
}

/// Measures one workload after the other, and adds the figures to the point.
pub async fn measure(
    environment: &Environment,
    ledger: &Ledger<'_>,
    load: Load,
    point: &mut Point,
) -> anyhow::Result<()> {
    for workload in [Workload::Random, Workload::Hot] {
        eprintln!("{workload} transfers, {} movements …", point.movements);
        let route = Route::open(environment, workload, ledger.wallets, 1, 1).await?;
        let measured = run(
            environment,
            route,
            load.in_flight,
            load.warm_up,
            load.length,
        )
        .await?;
        environment.settle().await?;
        point.groups.extend(groups(workload, &measured));
        for (reason, count) in measured.errors {
            *point
                .errors
                .entry(format!("{workload}: {reason}"))
                .or_default() += count;
        }
    }
    Ok(())
}

fn groups(workload: Workload, measured: &Measured) -> [Group; 2] {
    let [[transfers, of_transfers], [cpu, of_cpu]] = match workload {
        Workload::Random => [
            ["random", "random transfers, ms and bytes of WAL each"],
            ["randomCpu", "random transfers, CPU us each"],
        ],
        Workload::Hot => [
            [
                "hot",
                "transfers into the default wallet, ms and bytes of WAL each",
            ],
            ["hotCpu", "transfers into the default wallet, CPU us each"],
        ],
    };
    let costs = &measured.costs;
    let process = |name: &str| costs.processes.get(name).copied().unwrap_or_default();
    let micros = |seconds| Some(measured.each(seconds) * MICROS);
    [
        Group {
            name: transfers,
            title: of_transfers,
            figures: vec![
                ("perSecond", Some(measured.rate())),
                ("p50", Some(measured.millis(0.5))),
                ("p99", Some(measured.millis(0.99))),
                ("walBytes", Some(measured.each(costs.wal))),
            ],
        },
        Group {
            name: cpu,
            title: of_cpu,
            figures: vec![
                ("postgres", micros(costs.postgres)),
                ("walletSvc", micros(process("wallet-svc"))),
                ("nats", micros(process("nats"))),
            ],
        },
    ]
}
