//! Postgres and NATS for a command: those named in the environment, else our own.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use stack::Broker;
use stack::cluster::{Cluster, ClusterOptions, data_version};
use stack::find;
use stack::logs::Log;
use stack::ports::Ports;
use stack::project::Dirs;

use super::Place;

/// Servers that somebody else runs.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// A running Postgres to use, as a user that may make roles and databases.
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    database_url: Option<String>,
    /// A running NATS with `JetStream` to use.
    #[arg(long, value_name = "URL", env = "NATS_URL", hide_env_values = true)]
    nats_url: Option<String>,
}

/// What a command got.
#[derive(Debug)]
pub(super) struct Servers {
    /// Postgres, if it is ours.
    pub(super) cluster: Option<Cluster>,
    /// Its superuser's URL.
    pub(super) postgres_url: String,
    /// NATS; ours is started by whoever uses it.
    pub(super) broker: Broker,
}

/// How our own servers are to be.
pub(super) struct Wish<'a> {
    /// Where their data goes.
    pub(super) dirs: &'a Dirs,
    /// The superuser's password; everybody on this machine is trusted without one.
    pub(super) password: Option<String>,
    /// Whether data has to survive a power cut.
    pub(super) durable: bool,
}

impl Servers {
    /// Finds or fetches the programs, and starts Postgres.
    pub(super) fn start(
        place: &Place,
        args: &ServerArgs,
        wish: &Wish<'_>,
        ports: &mut Ports,
    ) -> Result<Self> {
        let broker = match &args.nats_url {
            Some(url) => Broker::Url(url.clone()),
            None => Broker::Own {
                program: find_nats(place)?,
                home: wish.dirs.state.join("nats"),
            },
        };
        if let Some(url) = &args.database_url {
            place.progress.tell("  ok  Postgres of DATABASE_URL");
            return Ok(Self {
                cluster: None,
                postgres_url: url.clone(),
                broker,
            });
        }
        let cluster = start_postgres(place, wish, ports)?;
        Ok(Self {
            postgres_url: cluster.url().to_owned(),
            cluster: Some(cluster),
            broker,
        })
    }
}

/// The NATS server's executable.
pub(super) fn find_nats(place: &Place) -> Result<PathBuf> {
    place
        .progress
        .step("Finding NATS (fetched where the machine has none)", || {
            let found = find::nats(&place.dirs.servers.join("cache"))?;
            let now = format!("NATS {}: {}", found.version, found.path.display());
            Ok((found.path, now))
        })
}

fn start_postgres(place: &Place, wish: &Wish<'_>, ports: &mut Ports) -> Result<Cluster> {
    let data = wish.dirs.servers.join("postgres");
    let title = "Finding Postgres (fetched where the machine has none)";
    let programs = place.progress.step(title, || {
        let found = find::postgres(&place.dirs.servers.join("cache"), data_version(&data))?;
        let now = format!("Postgres {}: {}", found.version, found.path.display());
        Ok((found, now))
    })?;
    place.progress.step("Starting Postgres", || {
        let port = ports.give("postgres", None)?;
        let cluster = Cluster::start(&ClusterOptions {
            programs: &programs,
            data,
            account: place.account.clone(),
            port,
            password: wish.password.clone(),
            durable: wish.durable,
            log: Log::open(&wish.dirs.state.join("logs"), "postgres", None)?,
        })?;
        let user = place
            .account
            .as_ref()
            .map(|account| format!(" as user {}", account.name));
        Ok((
            cluster,
            format!("Postgres on 127.0.0.1:{port}{}", user.unwrap_or_default()),
        ))
    })
}
