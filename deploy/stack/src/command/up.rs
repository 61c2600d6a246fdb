//! `cargo stack up`: from a clone to a running product, until Ctrl-C.

use std::{
    fs,
    io::{IsTerminal as _, Write as _, stdout},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};

use super::{
    cargo::build_programs,
    open_workspace,
    signals::Signals,
    start_environment,
    summary::{self, Summary},
};
use crate::{
    demo, envfile,
    logs::Terminal,
    options::StackOptions,
    ports,
    progress::Progress,
    run_lock::RunLock,
    secrets::Secrets,
    servers::ServerOptions,
    service::{Auth, Service, parse_replicas},
    stack::Stack,
    workspace::Workspace,
};

const CHECK_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(super) struct UpArgs {
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
    /// Data to play with, created once everything is ready: `demo` is a small shop.
    #[arg(long, value_enum)]
    seed: Option<Seed>,
    /// Print the API key and the passwords of Postgres and NATS, which are in `.stack/env`.
    #[arg(long)]
    show_secrets: bool,
    #[command(flatten)]
    servers: ServerOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Seed {
    /// Products, questions, users with money, tasks and orders in all states.
    Demo,
}

pub(super) fn run(args: &UpArgs) -> Result<ExitCode> {
    let (workspace, progress) = open_workspace()?;
    let lock = RunLock::take(&workspace.state, "The stack")?;
    check_port(args.port)?;
    let signals = Signals::catch()?;
    let _ = fs::remove_dir_all(workspace.logs());

    let secrets = Secrets::load_or_generate(&workspace.secrets())?;
    let environment = start_environment(&workspace, &args.servers, progress)?;
    lock.record(&environment.process_ids())?;
    signals.check()?;
    let binaries = programs(args, &workspace, progress)?;
    signals.check()?;
    check_port(args.port)?;

    let terminal = Terminal::new(stdout().is_terminal());
    let stack = Stack::start(StackOptions {
        database: Some("guerdon".to_owned()),
        auth: args.auth,
        otlp: args.otlp.clone(),
        secrets,
        rest_port: Some(args.port),
        replicas: args.replicas.iter().copied().collect(),
        terminal: Some(Arc::clone(&terminal)),
        ..StackOptions::new(binaries, environment)
    })?;
    lock.record(&stack.process_ids())?;
    let result =
        show(args, &workspace, &stack, &terminal, progress).and_then(|()| watch(&stack, &signals));
    progress.line("\nStopping ...");
    let _ = fs::remove_file(workspace.state.join("env"));
    drop(stack);
    result?;
    progress.line("Stopped.");
    Ok(ExitCode::SUCCESS)
}

fn programs(args: &UpArgs, workspace: &Workspace, progress: Progress) -> Result<PathBuf> {
    if let Some(binaries) = &args.binaries {
        return Ok(std::path::absolute(binaries)?);
    }
    progress.line("  ..  Building the programs (minutes the first time, seconds later)");
    build_programs(&workspace.root, args.release)
}

/// Seeds the stack on request, prints the summary, then the logs.
fn show(
    args: &UpArgs,
    workspace: &Workspace,
    stack: &Stack,
    terminal: &Terminal,
    progress: Progress,
) -> Result<()> {
    let wiring = stack.wiring();
    let mut seeded = String::new();
    if let Some(Seed::Demo) = args.seed {
        progress.line("  ..  Creating the demo shop");
        let created = demo::seed(&wiring.rest_url(), &wiring.secrets.api_key)?;
        let summary = demo::summary(&created);
        seeded = format!("  Demo shop: {summary}. {}\n\n", demo::HINT);
    }
    let env = workspace.state.join("env");
    envfile::write_private(&env, &envfile::render(&wiring.exports()?))?;
    let summary = summary::render(&Summary {
        wiring,
        env: &env,
        logs: &workspace.logs(),
        secrets: args.show_secrets,
    })?;
    let _ = stdout().write_all((summary + &seeded).as_bytes());
    terminal.open();
    Ok(())
}

/// Waits for a signal, or for a process that ends by itself.
fn watch(stack: &Stack, signals: &Signals) -> Result<()> {
    while !signals.received() {
        stack.check()?;
        thread::sleep(CHECK_INTERVAL);
    }
    Ok(())
}

fn check_port(port: u16) -> Result<()> {
    if !ports::is_free(port) {
        let process = ports::listening_process(port);
        let process = process.as_deref().unwrap_or("another process");
        bail!("REST port {port} is taken by {process}: stop it, or choose another with `--port`");
    }
    Ok(())
}
