//! The command line: `serve` (the default), and what an operator does to the service's schema.

use anyhow::Context as _;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches as _};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::PgPoolOptions;

use super::{Application, Schema};
use crate::config::{self, Settings, Telemetry};

/// What was asked for.
pub(super) enum Invocation<C> {
    Serve(Box<C>),
    Database(DatabaseCommand),
}

impl<C: Settings> Invocation<C> {
    pub(super) fn telemetry(&self) -> &Telemetry {
        match self {
            Self::Serve(config) => &config.common().telemetry,
            Self::Database(command) => &command.telemetry,
        }
    }
}

/// Reads the command line; prints help or what is wrong with it, and exits.
pub(super) fn parse<A: Application>() -> Invocation<A::Config> {
    let mut command = command::<A>();
    let matches = command.get_matches_mut();
    let parsed = match (matches.subcommand(), A::SCHEMA) {
        (Some((name, matches)), Some(schema)) if name != "serve" => {
            DatabaseCommand::parse(matches, schema).map(Invocation::Database)
        }
        (Some((_, matches)), _) => serve::<A>(matches),
        (None, _) => serve::<A>(&matches),
    };
    parsed.unwrap_or_else(|error| error.format(&mut command).exit())
}

fn serve<A: Application>(matches: &ArgMatches) -> Result<Invocation<A::Config>, clap::Error> {
    A::Config::from_arg_matches(matches).map(|config| Invocation::Serve(Box::new(config)))
}

fn command<A: Application>() -> Command {
    // Flattened structs bring their own descriptions, so ours come last.
    let serve = A::Config::augment_args(Command::new("serve")).long_about(None);
    let command = A::Config::augment_args(Command::new(A::NAME))
        .about(A::ABOUT)
        .long_about(None)
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_negates_reqs(true)
        .args_conflicts_with_subcommands(true)
        .subcommand(serve.about("Serve; the default"));
    match A::SCHEMA {
        Some(schema) => command.subcommands(database_commands(schema)),
        None => command,
    }
}

/// The commands that need a schema.
fn database_commands(schema: Schema) -> [Command; 1] {
    let owner = url_arg(
        "owner-database-url",
        schema.owner_url_env,
        "The owner role's database url",
    );
    let migrate = Telemetry::augment_args(Command::new("migrate").arg(owner));
    [migrate
        .about("Bring the schema up to date, as the role that owns it")
        .long_about(None)]
}

fn url_arg(name: &'static str, env: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .env(env)
        .hide_env_values(true)
        .required(true)
        .help(help)
        .value_parser(config::secret)
}

/// A command on the schema of a service.
pub(super) struct DatabaseCommand {
    telemetry: Telemetry,
    schema: Schema,
    action: Action,
}

enum Action {
    Migrate { owner_url: SecretString },
}

impl DatabaseCommand {
    fn parse(matches: &ArgMatches, schema: Schema) -> Result<Self, clap::Error> {
        let url = |arg| {
            matches
                .get_one::<SecretString>(arg)
                .cloned()
                .unwrap_or_default()
        };
        let action = Action::Migrate {
            owner_url: url("owner-database-url"),
        };
        Ok(Self {
            telemetry: Telemetry::from_arg_matches(matches)?,
            schema,
            action,
        })
    }

    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self.action {
            Action::Migrate { owner_url } => migrate(self.schema, &owner_url).await,
        }
    }
}

async fn migrate(schema: Schema, owner_url: &SecretString) -> anyhow::Result<()> {
    let options = PgPoolOptions::new().max_connections(1);
    let pool = options
        .connect(owner_url.expose_secret())
        .await
        .context("no database")?;
    schema.migrator.run(&pool).await?;
    let newest = schema
        .migrator
        .iter()
        .last()
        .map(|migration| migration.version);
    tracing::info!(schema = schema.name, newest, "the schema is up to date");
    Ok(())
}
