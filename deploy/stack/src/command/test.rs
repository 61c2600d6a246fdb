//! `cargo stack test`: every test of the workspace, against servers of their own.

use std::ffi::OsString;
use std::fs;
use std::process::{ExitCode, ExitStatus};

use anyhow::Result;
use clap::{Args, Parser};
use stack::logs::Log;
use stack::nats::Nats;
use stack::ports::Ports;
use stack::project::Dirs;
use stack::{Broker, database};

use super::leftovers::Leftovers;
use super::lock::Lock;
use super::servers::{ServerArgs, Servers, Wish, find_nats};
use super::signals::Signals;
use super::{Place, cargo, node};

/// Options of `cargo stack test`.
#[derive(Debug, Args)]
#[command(override_usage = "cargo stack test [ARGUMENTS OF CARGO TEST]")]
pub(crate) struct TestArgs {
    /// Passed on to `cargo test --workspace`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Servers are named by the environment only: the arguments are cargo's.
#[derive(Debug, Parser)]
struct TestEnv {
    #[command(flatten)]
    servers: ServerArgs,
}

/// Runs the command with the arguments as they came: clap drops the `--` among them.
pub(crate) fn run(args: &[OsString]) -> Result<ExitCode> {
    let place = Place::find()?;
    let dirs = place.dirs.apart("test")?;
    let _lock = Lock::take(&dirs.state.join("test.lock"), "A test run")?;
    let leftovers = Leftovers::clear(dirs.state.join("test.pids"));
    let signals = Signals::catch()?;
    for passing in ["stacks", "nats"] {
        let _ = fs::remove_dir_all(dirs.state.join(passing));
    }
    node::install(&place.project.root, place.progress)?;

    let mut ports = Ports::kept_in(&dirs.state.join("ports.json"));
    let wish = Wish {
        dirs: &dirs,
        password: None,
        durable: false,
    };
    let servers = Servers::start(
        &place,
        &TestEnv::parse_from(["test"]).servers,
        &wish,
        &mut ports,
    )?;
    let nats = Messages::start(&place, &servers.broker, &dirs, &mut ports)?;
    let postgres = servers.cluster.iter().map(|cluster| cluster.process().id());
    leftovers.note(postgres.chain(nats.own.iter().map(|nats| nats.process().id())))?;
    database::ensure_roles(&servers.postgres_url, None)?;
    database::ensure_database(&servers.postgres_url, "guerdon")?;
    let variables = [
        (
            "DATABASE_URL",
            database::url_with(&servers.postgres_url, None, "guerdon")?.into(),
        ),
        ("NATS_URL", nats.url.clone().into()),
        ("STACK_NATS_SERVER", nats.program.clone()),
        ("STACK_TEST_HOME", dirs.state.clone().into()),
        ("SQLX_OFFLINE", "true".into()),
    ];
    let status = build_and_test(&place, args, &variables, &signals)?;
    drop((nats, servers));
    leftovers.forget();
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The NATS server that tests share, and the program for those that want their own.
struct Messages {
    own: Option<Nats>,
    url: String,
    program: OsString,
}

impl Messages {
    fn start(place: &Place, broker: &Broker, dirs: &Dirs, ports: &mut Ports) -> Result<Self> {
        match broker {
            Broker::Url(url) => Ok(Self {
                own: None,
                url: url.clone(),
                program: find_nats(place)?.into(),
            }),
            Broker::Own { program, home } => {
                let log = Log::open(&dirs.state.join("logs"), "nats", None)?;
                let port = ports.give("nats", None)?;
                let own = Nats::start(program, home, port, &log)?;
                let url = format!("nats://127.0.0.1:{port}");
                Ok(Self {
                    own: Some(own),
                    url,
                    program: program.into(),
                })
            }
        }
    }
}

fn build_and_test(
    place: &Place,
    args: &[OsString],
    variables: &[(&str, OsString)],
    signals: &Signals,
) -> Result<ExitStatus> {
    // Tests start the programs themselves. Building them together with the tests gives all of
    // them the same features; `--bins` alone would compile the dependencies a second time.
    let mut build = cargo::cargo(&place.project.root);
    build
        .args(["build", "--workspace", "--bins", "--tests"])
        .args(profile(args));
    let built = cargo::supervised(&mut build, variables, signals)?;
    if !built.success() {
        return Ok(built);
    }
    let mut test = cargo::cargo(&place.project.root);
    test.args(["test", "--workspace"]).args(args);
    cargo::supervised(&mut test, variables, signals)
}

/// The arguments that choose what is built, which the build before the tests must share.
fn profile(args: &[OsString]) -> Vec<OsString> {
    const FLAGS: [&str; 5] = ["--release", "-r", "--offline", "--locked", "--frozen"];
    let mut chosen = Vec::new();
    let mut args = args.iter().take_while(|arg| *arg != "--");
    while let Some(arg) = args.next() {
        let text = arg.to_string_lossy();
        if FLAGS.contains(&&*text) || text.starts_with("--profile=") {
            chosen.push(arg.clone());
        } else if text == "--profile" {
            chosen.push(arg.clone());
            chosen.extend(args.next().cloned());
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_shares_the_tests_profile() {
        let of = |args: &[&str]| profile(&args.iter().map(OsString::from).collect::<Vec<_>>());
        let args = ["--test", "e2e", "--release", "--", "--profile", "x"];
        assert_eq!(of(&args), ["--release"]);
        assert_eq!(of(&["--profile", "bench", "name"]), ["--profile", "bench"]);
        assert!(of(&["--lib"]).is_empty());
    }
}
