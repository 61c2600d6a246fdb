//! The settings of catalog-svc, from flags and the environment.

use std::net::SocketAddr;

use clap::Args;
use platform::config::{self, Common, Grpc, Nats, ServiceSecret, Settings};
use secrecy::SecretString;

/// Settings of catalog-svc.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// Settings of all processes.
    #[command(flatten)]
    pub common: Common,

    /// Secret of this process.
    #[command(flatten)]
    pub service_secret: ServiceSecret,

    /// Settings of the gRPC server.
    #[command(flatten)]
    pub grpc: Grpc,

    /// Settings of the broker.
    #[command(flatten)]
    pub nats: Nats,

    /// Address of the gRPC server.
    #[arg(long, env = "CATALOG_LISTEN", default_value = "127.0.0.1:15051")]
    pub listen: SocketAddr,

    /// Address of `/livez`, `/readyz` and `/metrics`; they are not served without it.
    #[arg(long, env = "CATALOG_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// Postgres URL, as the role `guerdon_catalog_app`.
    #[arg(long, env = "CATALOG_DATABASE_URL", value_parser = config::secret, hide_env_values = true)]
    pub database_url: SecretString,

    /// URL that relative images are resolved against.
    #[arg(
        long,
        env = "MEDIA_BASE_URL",
        value_parser = config::http_base,
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

    fn nats(&self) -> Option<&Nats> {
        Some(&self.nats)
    }

    fn database_url(&self) -> Option<&SecretString> {
        Some(&self.database_url)
    }
}
