//! The settings of catalog-svc.

use std::net::SocketAddr;

use clap::Args;
use platform::config::{self, Common, Nats, Settings};
use secrecy::SecretString;

/// Flags and environment variables.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// What every process has.
    #[command(flatten)]
    pub common: Common,

    /// Where events go.
    #[command(flatten)]
    pub nats: Nats,

    /// Where gRPC is served.
    #[arg(long, env = "CATALOG_LISTEN", default_value = "127.0.0.1:50051")]
    pub listen: SocketAddr,

    /// Where `/livez`, `/readyz` and `/metrics` are served over HTTP; nowhere unless given.
    #[arg(long, env = "CATALOG_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// The database, as the app role.
    #[arg(long, env = "CATALOG_DATABASE_URL", value_parser = config::secret, hide_env_values = true)]
    pub database_url: SecretString,

    /// What images are put behind that were not written as URLs.
    #[arg(
        long,
        env = "MEDIA_BASE_URL",
        default_value = "http://127.0.0.1:8080/media/"
    )]
    pub media_base_url: String,
}

impl Settings for Config {
    fn common(&self) -> &Common {
        &self.common
    }

    fn listen(&self) -> SocketAddr {
        self.listen
    }

    fn metrics_listen(&self) -> Option<SocketAddr> {
        self.metrics_listen
    }
}
