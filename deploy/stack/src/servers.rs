//! Which servers are used instead of our own.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Parser};

/// Servers to use instead of our own.
#[derive(Debug, Clone, Default, Args)]
pub struct ServerOptions {
    /// A running Postgres to use, as a user that may make roles and databases. `DATABASE_URL` is
    /// not read: other tools use that name, and it may lead anywhere.
    #[arg(
        long,
        value_name = "URL",
        env = "STACK_DATABASE_URL",
        hide_env_values = true
    )]
    pub database_url: Option<String>,
    /// A running NATS with `JetStream` to use.
    #[arg(
        long,
        value_name = "URL",
        env = "STACK_NATS_URL",
        hide_env_values = true
    )]
    pub nats_url: Option<String>,
    /// The nats-server executable; without it, it is searched for, and downloaded where missing.
    #[arg(long, value_name = "FILE", env = "STACK_NATS_SERVER", hide = true)]
    pub nats_server: Option<PathBuf>,
}

impl ServerOptions {
    /// Reads the environment variables only, for programs whose arguments mean something else.
    pub fn from_env() -> Result<Self> {
        #[derive(Parser)]
        struct NoArguments {
            #[command(flatten)]
            servers: ServerOptions,
        }
        Ok(NoArguments::try_parse_from(["stack"])?.servers)
    }
}
