//! `bench growth`: what transfers and reads cost, and what disk the ledger takes, as its history grows.

mod disk;
mod fill;
mod history;
mod indexes;
mod json;
mod plot;
mod point;
mod reads;
mod report;
mod transfers;

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use anyhow::ensure;
use clap::{Args, value_parser};
use serde_json::{Value, json};
use tokio::time::Instant;

use self::{
    fill::Ledger,
    history::History,
    point::{Group, Point},
    transfers::Load,
};
use crate::{
    Server,
    environment::{Environment, Options},
    ledger::{settings, workload::Wallets},
    machine::Machine,
    output, rpc, wal,
};

/// The name of the stack's data and of the files.
const NAME: &str = "growth";

/// Options of `load bench growth`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// Movements of the ledger, one point each, in ascending order.
    #[arg(long, value_delimiter = ',', default_value = "10000,1000000,20000000",
        value_parser = value_parser!(u32).range(1..=100_000_000))]
    movements: Vec<u32>,
    /// Wallets that pay each other and the default wallet. The deposit of each is two movements.
    #[arg(long, default_value_t = 2_000, value_parser = value_parser!(u32).range(2..=1_000_000))]
    wallets: u32,
    /// Transfers in flight.
    #[arg(long, default_value_t = 64, value_parser = value_parser!(u32).range(1..=1_024))]
    in_flight: u32,
    /// How long transfers of each kind, and reads of each kind, are measured.
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u64).range(1..=3_600))]
    seconds: u64,
    /// How long transfers of each kind are sent before they are measured.
    #[arg(long, default_value_t = 3, value_parser = value_parser!(u64).range(..=3_600))]
    warm_up: u64,
    /// Leaves out the verification of the ledger at each size, which takes a minute for 1 000 000 movements.
    #[arg(long)]
    skip_verification: bool,
    /// Writes growth.json and growth.svg into this directory.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    server: Server,
}

impl Arguments {
    const fn load(&self) -> Load {
        Load {
            in_flight: self.in_flight,
            warm_up: Duration::from_secs(self.warm_up),
            length: Duration::from_secs(self.seconds),
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "movements": self.movements,
            "wallets": self.wallets,
            "inFlight": self.in_flight,
            "seconds": self.seconds,
            "warmUpSeconds": self.warm_up,
        })
    }
}

/// Prints the figures of each size. Fails on an error, and on an inconsistent ledger.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let history = History::new(arguments.wallets, &arguments.movements)?;
    let environment = Environment::start_empty(Options::new(NAME, arguments.server.clone()))?;
    let machine = Machine::read()?;
    let mut points = Vec::new();
    let measured = measure(&environment, &arguments, &history, &mut points).await;
    // Also those before an error: they took a while.
    report::print(&points);
    if let Some(directory) = &arguments.output {
        let document = json::document(&arguments, &machine, &points);
        output::write(directory, NAME, &document, &plot::svg(&points)?)?;
    }
    measured?;
    environment.stop()?;
    let errors = points.iter().map(|point| point.errors.len());
    ensure!(errors.sum::<usize>() == 0, "some requests failed");
    Ok(())
}

/// Measures all sizes, and adds their points.
async fn measure(
    environment: &Environment,
    arguments: &Arguments,
    history: &History,
    points: &mut Vec<Point>,
) -> anyhow::Result<()> {
    let token = rpc::ledger_token(environment).await?;
    let channel = rpc::wallets(environment, 1, 1).await?.remove(0);
    let default_wallet = rpc::default_wallet(channel, &token).await?;
    let wallets = Wallets {
        kind: NAME,
        prefix: "0000000c-0000-7000-8000-",
        count: arguments.wallets,
    };
    let mut ledger = Ledger::create(environment, history, wallets, default_wallet).await?;
    wal::allocate(environment).await?;
    settings::check_and_print(environment, &[]).await?;
    for &movements in history.sizes() {
        ledger.grow_to(movements).await?;
        // It keeps the number of old rows, which only grows here.
        environment.stack.stop("wallet-svc")?;
        environment.stack.start_again("wallet-svc", &[])?;
        let mut point = Point {
            movements,
            groups: Vec::new(),
            errors: BTreeMap::new(),
        };
        disk::measure(environment, &mut point).await?;
        let load = arguments.load();
        reads::measure(environment, &ledger, load.length, &mut point).await?;
        transfers::measure(environment, &ledger, load, &mut point).await?;
        // Also if the verification fails: filling took minutes.
        points.push(point);
        if !arguments.skip_verification {
            let verification = verify(environment)?;
            if let Some(point) = points.last_mut() {
                point.groups.push(verification);
            }
        }
        environment.stack.check()?;
    }
    Ok(())
}

/// Verifies the ledger, and returns how long it takes.
fn verify(environment: &Environment) -> anyhow::Result<Group> {
    eprintln!("verifying …");
    let started = Instant::now();
    environment.stack.verify_ledger()?;
    Ok(Group {
        name: "verification",
        title: "wallet-svc verify, s",
        figures: vec![("seconds", Some(started.elapsed().as_secs_f64()))],
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Arguments,
    }

    pub(in crate::growth) fn parse(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        let arguments = ["load"].iter().chain(arguments);
        Ok(Program::try_parse_from(arguments)?.arguments)
    }

    #[test]
    fn the_default_sizes_have_a_history() {
        let arguments = parse(&[]).unwrap();
        assert_eq!(arguments.movements, [10_000, 1_000_000, 20_000_000]);
        assert!(History::new(arguments.wallets, &arguments.movements).is_ok());
    }

    #[test]
    fn values_without_meaning_are_refused() {
        for arguments in [
            ["--movements", "0"],
            ["--movements", "10000,x"],
            ["--movements", "4000000000"],
            ["--wallets", "1"],
            ["--in-flight", "0"],
            ["--seconds", "0"],
        ] {
            assert!(parse(&arguments).is_err(), "{arguments:?}");
        }
    }
}
