//! Commands on a service's schema: `migrate`, `replay`, `dead-letters list|retry|discard`, `verify`.

use anyhow::Context as _;
use async_nats::jetstream;
use chrono::{DateTime, FixedOffset};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, Subcommand};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::PgPool;
use uuid::Uuid;

use super::{Database, OwnCommand, Verify};
use crate::{
    config::{self, Nats, Telemetry},
    messaging::{
        self,
        dead_letters::{self, DeadLetter},
    },
    pg,
    telemetry::OneLine,
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
    Own(OwnCommand, ArgMatches),
}

#[derive(Args)]
struct Replay {
    /// Time (RFC 3339) since which events are published again; consumers skip those they have
    /// applied.
    #[arg(long)]
    since: DateTime<FixedOffset>,
    #[command(flatten)]
    nats: Nats,
}

#[derive(Subcommand)]
enum DeadLetters {
    /// List the parked events, oldest first.
    List,
    /// Publish parked events again. They are events of other contexts, so `NATS_URL` is that of the
    /// user `operator`.
    Retry {
        /// Only the event with this id.
        #[arg(long)]
        event_id: Option<Uuid>,
        #[command(flatten)]
        nats: Nats,
    },
    /// Delete a parked event: the consumers that failed to apply it never do.
    Discard {
        /// The id of the event.
        #[arg(long)]
        event_id: Uuid,
    },
}

/// Returns the commands on a database.
pub(super) fn commands(
    database: Database,
    verify: Option<Verify>,
    own: &'static [OwnCommand],
) -> Vec<Command> {
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
    let dead_letters = DeadLetters::augment_subcommands(Command::new("dead-letters").arg(app()));
    let verify = verify.map(|_| Command::new("verify").arg(app()));
    let verify = verify.map(|verify| (verify, "Check the data for consistency"));
    // Descriptions come last, as flattened structs have their own.
    [
        (migrate, "Run the migrations, as the owner role"),
        (
            replay,
            "Publish past events again, after the broker lost them",
        ),
        (
            dead_letters,
            "List, retry or discard the events that a consumer failed to apply, or that NATS refuses",
        ),
    ]
    .into_iter()
    .chain(verify)
    .chain(own.iter().map(|own| {
        let command = Command::new(own.name).arg(app());
        ((own.settings)(command), own.about)
    }))
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
        own: &'static [OwnCommand],
    ) -> Result<Self, clap::Error> {
        let own = own.iter().find(|own| own.name == name);
        let (url, action) = match (name, verify, own) {
            (_, _, Some(own)) => (URL, Action::Own(*own, matches.clone())),
            ("migrate", ..) => (OWNER_URL, Action::Migrate),
            ("replay", ..) => (URL, Action::Replay(Replay::from_arg_matches(matches)?)),
            ("verify", Some(verify), _) => (URL, Action::Verify(verify)),
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
                tracing::info!(
                    schema = schema.name(),
                    newest,
                    "migrate: schema is up to date"
                );
                Ok(())
            }
            Action::Replay(Replay { since, nats }) => {
                let js = broker(nats).await?;
                let count = messaging::replay(
                    &self.pool()?,
                    schema,
                    &js,
                    nats.nats_stream_replicas,
                    since.to_utc(),
                )
                .await?;
                tracing::info!(count, "replay: events published again");
                Ok(())
            }
            Action::Verify(verify) => verify(self.pool()?).await,
            Action::Own(own, settings) => (own.run)(self.pool()?, settings.clone()).await,
            Action::DeadLetters(DeadLetters::List) => show(&self.pool()?, schema).await,
            Action::DeadLetters(DeadLetters::Retry { event_id, nats }) => {
                let js = broker(nats).await?;
                let count = dead_letters::retry(&self.pool()?, schema, &js, *event_id).await?;
                tracing::info!(count, "dead letters: events published again");
                Ok(())
            }
            Action::DeadLetters(DeadLetters::Discard { event_id }) => {
                let discarded = dead_letters::discard(&self.pool()?, schema, *event_id).await?;
                anyhow::ensure!(!discarded.is_empty(), "no event {event_id} is parked");
                for DeadLetter {
                    consumer,
                    subject,
                    reason,
                    ..
                } in discarded
                {
                    tracing::info!(%event_id, consumer, subject, reason, "dead letters: event discarded");
                }
                Ok(())
            }
        }
    }

    fn pool(&self) -> anyhow::Result<PgPool> {
        let options = pg::Options::new("operator");
        pg::connect(self.url.expose_secret(), &options).context("malformed database url")
    }
}

async fn broker(nats: &Nats) -> anyhow::Result<jetstream::Context> {
    messaging::jetstream::connect(nats, "operator").await
}

/// Prints one line for each dead letter.
async fn show(pool: &PgPool, schema: pg::Schema) -> anyhow::Result<()> {
    for dead_letter in dead_letters::list(pool, schema).await? {
        println!(
            "{}  {}  {}  {} failures  {}",
            dead_letter.parked_at.to_rfc3339(),
            dead_letter.event_id,
            dead_letter.consumer,
            dead_letter.failures,
            OneLine(&dead_letter.reason)
        );
    }
    Ok(())
}
