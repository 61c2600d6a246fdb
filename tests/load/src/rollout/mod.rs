//! `load rollout`: two processes of everything, the gateways behind a proxy. One process after the other is
//! stopped (SIGTERM) and starts again, as when a new version is rolled out, while clients read products, and
//! create and pay orders; and once more with a migration of each schema in between.

mod clients;
mod migration;
mod proxy;

use std::{thread, time::Instant};

use anyhow::{Context as _, ensure};
use clap::Args;
use scenarios::checks;
use stack::{Service, Stack, Variable};
use tokio::task::block_in_place;

use self::{
    clients::{Clients, Counts},
    proxy::{Backend, Proxy},
};
use crate::{
    Server,
    api::Api,
    environment::{Environment, Options},
    fixture::Fixture,
    machine,
};

const REPLICAS: usize = 2;
/// The most errors of a thousand requests.
const MAX_ERRORS: u64 = 1;
/// The services in the order in which they are replaced; the gateways are the last.
const SERVICES: [Service; 4] = [
    Service::Identity,
    Service::Wallet,
    Service::Catalog,
    Service::Orders,
];

/// Options of `load rollout`.
#[derive(Debug, Args)]
pub struct Arguments {
    /// For how many seconds a process that stops goes on serving (`DRAIN_DELAY`).
    #[arg(long, default_value_t = 4)]
    delay: u8,
    #[command(flatten)]
    server: Server,
}

/// Prints what the clients got, and fails if more than one request of a thousand failed.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut environment = Environment::start_empty(Options {
        replicas: SERVICES.map(|service| (service, REPLICAS)).into(),
        settings: vec![("DRAIN_DELAY".to_owned(), arguments.delay.to_string())],
        ..Options::new("rollout", arguments.server)
    })?;
    println!("load average {}", machine::load_average());
    environment.stack.add_gateway()?;
    let rollout = Rollout::prepare(&environment).await?;
    let fixture = Fixture::create(Api::new(&environment), clients::COUNT).await?;
    let fixture = fixture.at(rollout.proxy.url());
    let plain = rollout.under_load(&fixture, false).await?;
    plain.print("every process restarted");
    let migrated = rollout.under_load(&fixture, true).await?;
    migrated.print("every process restarted, every schema migrated in between");
    drop(rollout);
    checks::assert_settled(&environment.stack).await?;
    environment.stop()?;
    for counts in [plain, migrated] {
        ensure!(
            counts.errors() * 1000 <= counts.requests() * MAX_ERRORS,
            "{} of {} requests failed",
            counts.errors(),
            counts.requests()
        );
    }
    Ok(())
}

/// The processes of a stack, each of which knows all replicas of the others.
struct Rollout<'a> {
    stack: &'a Stack,
    peers: Vec<Variable>,
    proxy: Proxy,
}

impl<'a> Rollout<'a> {
    /// Tells the processes where all replicas are, and starts the proxy.
    async fn prepare(environment: &'a Environment) -> anyhow::Result<Self> {
        let stack = &environment.stack;
        let peers = SERVICES.map(|service| peers(stack, service)).to_vec();
        block_in_place(|| restart_all(stack, &peers))?;
        let gateways = stack.wiring().instances.iter();
        let gateways = gateways.filter(|instance| instance.service.is_none());
        let proxy = Proxy::start(gateways.map(Backend::of).collect()).await?;
        Ok(Self {
            stack,
            peers,
            proxy,
        })
    }

    /// Restarts every process while clients send requests, and returns what these got.
    async fn under_load(&self, fixture: &Fixture, migrate: bool) -> anyhow::Result<Counts> {
        let started = Instant::now();
        let clients = Clients::start(fixture);
        for service in SERVICES {
            for (number, name) in self.names(Some(service)).iter().enumerate() {
                if migrate && number == 1 {
                    migration::add_column(self.stack, service).await?;
                }
                self.restart(name)?;
            }
        }
        for name in self.names(None) {
            self.restart(&name)?;
            let gateway = Backend::of(self.stack.wiring().instance(&name)?);
            self.proxy.wait_until_ready(&gateway).await?;
        }
        let seconds = started.elapsed().as_secs_f64();
        println!("replaced everything in {seconds:.0} s");
        clients.stop().await
    }

    fn names(&self, service: Option<Service>) -> Vec<String> {
        let instances = self.stack.wiring().instances.iter();
        let replicas = instances.filter(|instance| instance.service == service);
        replicas.map(|instance| instance.name.clone()).collect()
    }

    fn restart(&self, name: &str) -> anyhow::Result<()> {
        block_in_place(|| {
            self.stack.stop(name)?;
            self.stack.start_again(name, &self.peers)
        })
    }
}

/// Returns the setting with the addresses of all replicas of a service.
fn peers(stack: &Stack, service: Service) -> Variable {
    let context = service.context().to_uppercase();
    let instances = stack.wiring().instances.iter();
    let replicas = instances.filter(|instance| instance.service == Some(service));
    let urls = replicas.map(|instance| format!("http://127.0.0.1:{}", instance.port));
    let urls = urls.collect::<Vec<_>>().join(",");
    (format!("{context}_GRPC_URL"), urls)
}

/// Starts all processes again at the same time, with these settings.
fn restart_all(stack: &Stack, settings: &[Variable]) -> anyhow::Result<()> {
    let names = stack.wiring().instances.iter().map(|it| it.name.as_str());
    let names: Vec<_> = names.collect();
    names.iter().try_for_each(|name| stack.kill(name))?;
    thread::scope(|scope| {
        let start = |name| scope.spawn(move || stack.start_again(name, settings));
        let starts: Vec<_> = names.into_iter().map(start).collect();
        starts
            .into_iter()
            .try_for_each(|start| start.join().ok().context("a start panicked")?)
    })
}
