//! The gateway's settings.

use std::net::SocketAddr;

use clap::Args;
use platform::config::{Common, ServiceSecret, Settings};

/// Settings of the gateway.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// Settings common to all processes.
    #[command(flatten)]
    pub common: Common,

    /// Secret of the gateway.
    #[command(flatten)]
    pub service_secret: ServiceSecret,

    /// Address of the public REST API.
    #[arg(long, env = "GATEWAY_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
}

impl Settings for Config {
    fn common(&self) -> &Common {
        &self.common
    }

    fn listen(&self) -> SocketAddr {
        self.listen
    }
}
