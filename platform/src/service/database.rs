//! The commands on a service's schema: `migrate`, `replay`, `dead-letters list|retry`, `verify`.

use anyhow::Context as _;
use async_nats::jetstream;
use chrono::{DateTime, FixedOffset};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::PgPool;
use uuid::Uuid;

use super::{Database, Verify};
use crate::{
    config::{self, Nats, Telemetry},
    messaging::{self, dead_letters},
    pg,
};

const OWNER_URL: &str = "owner-database-url";
const URL: &str = "database-url";

/// A command on the schema of a service.
pub(super) struct DatabaseCommand {
    pub(super) telemetry: Telemetry,
    database: Database,
    url: SecretString,
    action: Action,
}

enum Action {
    Migrate,
    Replay(Replay),
    DeadLetters(DeadLetters),
    Verify(Verify),
}

#[derive(Args)]
struct Replay {
    /// Publishes every event appended at or after this time (RFC 3339) again; consumers skip those
    /// they have applied.
    #[arg(long)]
    since: DateTime<FixedOffset>,
    #[command(flatten)]
    nats: Nats,
}

#[derive(Subcommand)]
enum DeadLetters {
    /// Show the events whose consumer gave up on them, oldest first.
    List,
    /// Give them back to their consumers.
    Retry {
        /// Only the event with this id.
        #[arg(long)]
        event_id: Option<Uuid>,
        #[command(flatten)]
        nats: Nats,
    },
}

/// The command lines of a service that owns this schema.
pub(super) fn commands(database: Database, verify: Option<Verify>) -> Vec<Command> {
    let owner = || {
        url(
            OWNER_URL,
            database.owner_url_env,
            "Database url of the owner role",
        )
    };
    let app = || url(URL, database.url_env, "Database url of the service's role");
    let migrate = Command::new("migrate").arg(owner());
    let replay = Replay::augment_args(Command::new("replay").arg(app()));
    let letters = DeadLetters::augment_subcommands(Command::new("dead-letters").arg(app()));
    let verify = verify.map(|_| Command::new("verify").arg(app()));
    let verify = verify.map(|verify| (verify, "Check that the data agree with each other"));
    // Flattened structs bring their own descriptions, so ours come last.
    [
        (
            migrate,
            "Bring the schema up to date, as the role that owns it",
        ),
        (
            replay,
            "Publish past events again, after the broker lost them",
        ),
        (letters, "Events that a consumer failed to apply too often"),
    ]
    .into_iter()
    .chain(verify)
    .map(|(command, about)| {
        Telemetry::augment_args(command)
            .about(about)
            .long_about(None)
    })
    .collect()
}

fn url(name: &'static str, env: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name("URL")
        .env(env)
        .hide_env_values(true)
        .required(true)
        .help(help)
        .value_parser(config::secret)
}

impl DatabaseCommand {
    pub(super) fn parse(
        name: &str,
        matches: &ArgMatches,
        database: Database,
        verify: Option<Verify>,
    ) -> Result<Self, clap::Error> {
        let (url, action) = match (name, verify) {
            ("migrate", _) => (OWNER_URL, Action::Migrate),
            ("replay", _) => (URL, Action::Replay(Replay::from_arg_matches(matches)?)),
            ("verify", Some(verify)) => (URL, Action::Verify(verify)),
            _ => (
                URL,
                Action::DeadLetters(DeadLetters::from_arg_matches(matches)?),
            ),
        };
        let url = matches
            .get_one::<SecretString>(url)
            .cloned()
            .unwrap_or_default();
        Ok(Self {
            telemetry: Telemetry::from_arg_matches(matches)?,
            database,
            url,
            action,
        })
    }

    pub(super) async fn run(self) -> anyhow::Result<()> {
        let Database {
            schema, migrator, ..
        } = self.database;
        match &self.action {
            Action::Migrate => {
                pg::migrate(self.url.expose_secret(), migrator).await?;
                let newest = migrator.iter().last().map(|newest| newest.version);
                tracing::info!(newest, "schema {} is up to date", schema.name());
                Ok(())
            }
            Action::Replay(Replay { since, nats }) => {
                let js = broker(nats).await?;
                let count = messaging::replay(&self.pool()?, schema, &js, since.to_utc()).await?;
                tracing::info!(count, "published again");
                Ok(())
            }
            Action::Verify(verify) => verify(self.pool()?).await,
            Action::DeadLetters(DeadLetters::List) => show(&self.pool()?, schema).await,
            Action::DeadLetters(DeadLetters::Retry { event_id, nats }) => {
                let js = broker(nats).await?;
                let count = dead_letters::retry(&self.pool()?, schema, &js, *event_id).await?;
                tracing::info!(count, "given back to their consumers");
                Ok(())
            }
        }
    }

    fn pool(&self) -> anyhow::Result<PgPool> {
        let options = pg::Options::new("operator");
        pg::connect(self.url.expose_secret(), &options).context("the database url")
    }
}

async fn broker(nats: &Nats) -> anyhow::Result<jetstream::Context> {
    let connected = messaging::jetstream::connect(&nats.nats_url, "operator").await;
    connected.context("the address of NATS")
}

/// One line a letter, on standard output.
async fn show(pool: &PgPool, schema: pg::Schema) -> anyhow::Result<()> {
    for letter in dead_letters::list(pool, schema).await? {
        println!(
            "{}  {}  {}  {} failures  {}",
            letter.parked_at.to_rfc3339(),
            letter.event_id,
            letter.consumer,
            letter.failures,
            letter.reason
        );
    }
    Ok(())
}
