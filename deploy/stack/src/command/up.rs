//! `cargo stack up`: from a clone to a running product, until Ctrl-C.

use std::fmt::Write as _;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use stack::cluster::Cluster;
use stack::logs::Screen;
use stack::ports::{self, Ports};
use stack::secrets::Secrets;
use stack::service::parse_replicas;
use stack::{Auth, Service, Stack, StackOptions, demo, envfile};

use super::cargo::build_programs;
use super::leftovers::Leftovers;
use super::lock::Lock;
use super::servers::{ServerArgs, Servers, Wish};
use super::signals::Signals;
use super::{Place, summary};

/// Options of `cargo stack up`.
#[derive(Debug, Args)]
pub(crate) struct UpArgs {
    /// Build with optimisations.
    #[arg(long)]
    release: bool,
    /// Who may call: everybody, or holders of an API key or token.
    #[arg(long, value_enum, default_value_t = Auth::Open)]
    auth: Auth,
    /// The REST port.
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// Where to send traces (OTLP over gRPC), such as <http://127.0.0.1:4317>; all are sampled.
    #[arg(long, value_name = "URL", env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    otlp: Option<String>,
    /// More than one process of a service: `wallet=2`.
    #[arg(long, value_name = "SERVICE=N", value_parser = parse_replicas, value_delimiter = ',')]
    replicas: Vec<(Service, usize)>,
    /// Programs that are built already, instead of building them.
    #[arg(long, value_name = "DIR")]
    binaries: Option<PathBuf>,
    /// Things to play with, made once everything is ready: `demo` is a small shop.
    #[arg(long, value_enum)]
    seed: Option<Seed>,
    #[command(flatten)]
    servers: ServerArgs,
}

/// Things to play with.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Seed {
    /// Products, questions, users with money, tasks and orders in all states.
    Demo,
}

/// Runs the command.
pub(crate) fn run(args: &UpArgs) -> Result<ExitCode> {
    let place = Place::find()?;
    let state = &place.dirs.state;
    let _lock = Lock::take(&state.join("up.lock"), "The stack")?;
    let leftovers = Leftovers::clear(state.join("up.pids"));
    check_port(args.port)?;
    let signals = Signals::catch()?;
    let _ = fs::remove_dir_all(state.join("logs"));

    let secrets = Secrets::kept_in(&state.join("secrets"))?;
    let mut ports = Ports::kept_in(&state.join("ports.json"));
    let password = Some(secrets.database_password.clone());
    let wish = Wish {
        dirs: &place.dirs,
        password,
        durable: true,
    };
    let servers = Servers::start(&place, &args.servers, &wish, &mut ports)?;
    leftovers.note(postgres_id(&servers))?;
    signals.go_on()?;
    let binaries = programs(args, &place)?;
    signals.go_on()?;
    check_port(args.port)?;

    let screen = Screen::new("identity-svc".len(), std::io::stdout().is_terminal());
    let options = StackOptions {
        role_password: wish.password,
        secrets,
        ports,
        screen: Some(Arc::clone(&screen)),
        progress: place.progress,
        ..options(args, &servers, binaries, state.join("logs"))
    };
    let stack = Stack::start(options)?;
    leftovers.note(postgres_id(&servers).chain(stack.process_ids().into_values()))?;
    let outcome = seed(args, &place, &stack)
        .and_then(|seeded| show(&place, &stack, &screen, seeded.as_deref()))
        .and_then(|()| watch(&stack, servers.cluster.as_ref(), &signals));
    place.progress.tell("\nStopping ...");
    let _ = fs::remove_file(state.join("env"));
    stack.shut_down();
    drop((stack, servers));
    leftovers.forget();
    outcome?;
    place.progress.tell("Stopped.");
    Ok(ExitCode::SUCCESS)
}

fn programs(args: &UpArgs, place: &Place) -> Result<PathBuf> {
    if let Some(binaries) = &args.binaries {
        return Ok(std::path::absolute(binaries)?);
    }
    place
        .progress
        .tell("  ..  Building the programs (minutes the first time, seconds later)");
    build_programs(&place.project.root, args.release)
}

fn options(args: &UpArgs, servers: &Servers, binaries: PathBuf, logs: PathBuf) -> StackOptions {
    StackOptions {
        database: Some("guerdon".to_owned()),
        auth: args.auth,
        otlp: args.otlp.clone(),
        rest_port: Some(args.port),
        usual_ports: true,
        replicas: args.replicas.iter().copied().collect(),
        ..StackOptions::new(
            binaries,
            servers.postgres_url.clone(),
            servers.broker.clone(),
            logs,
        )
    }
}

fn postgres_id(servers: &Servers) -> impl Iterator<Item = u32> {
    servers.cluster.iter().map(|cluster| cluster.process().id())
}

/// Says what was made, and how to look at it.
fn seed(args: &UpArgs, place: &Place, stack: &Stack) -> Result<Option<String>> {
    let Some(Seed::Demo) = args.seed else {
        return Ok(None);
    };
    place.progress.tell("  ..  Making the demo shop");
    let wiring = stack.wiring();
    let tally = demo::seed(&wiring.rest_url(), &wiring.secrets.api_key)?;
    Ok(Some(format!("Demo shop: {tally}. {}", demo::HINT)))
}

/// The summary first, then what was made, then the logs.
fn show(place: &Place, stack: &Stack, screen: &Screen, seeded: Option<&str>) -> Result<()> {
    let env = place.dirs.state.join("env");
    envfile::write_private(&env, &envfile::render(&stack.wiring().exports()?))?;
    let mut summary = summary::render(stack.wiring(), &env, &place.dirs.state.join("logs"))?;
    if let Some(seeded) = seeded {
        let _ = write!(summary, "  {seeded}\n\n");
    }
    let _ = std::io::stdout().write_all(summary.as_bytes());
    screen.open();
    Ok(())
}

/// Until somebody asks us to stop, or something ends that should not.
fn watch(stack: &Stack, cluster: Option<&Cluster>, signals: &Signals) -> Result<()> {
    while !signals.came() {
        stack.check()?;
        cluster.map_or(Ok(()), |cluster| cluster.process().check())?;
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

fn check_port(port: u16) -> Result<()> {
    if !ports::is_free(port) {
        let holder = ports::holder(port).unwrap_or_else(|| "another process".to_owned());
        bail!("REST port {port} is taken by {holder}: stop it, or choose another with `--port`");
    }
    Ok(())
}
