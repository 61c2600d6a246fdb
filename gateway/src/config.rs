//! The gateway's settings.

use std::{
    net::SocketAddr,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use clap::{Args, value_parser};
use ipnet::IpNet;
use platform::{
    config::{Common, ServiceSecret, Settings, SignUp},
    http::Limits,
};

use crate::rate_limit::Rate;

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

    /// Who may create users; identity-svc has the same setting.
    #[arg(long, env = "SIGN_UP", value_enum, default_value_t = SignUp::Closed)]
    pub sign_up: SignUp,

    /// Address of `/livez`, `/readyz` and `/metrics`; they are not served without it.
    #[arg(long, env = "GATEWAY_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// Most connections at once; further ones wait.
    #[arg(long, env = "GATEWAY_MAX_CONNECTIONS", default_value = "4096")]
    pub max_connections: NonZeroUsize,

    /// Seconds for a request head, from its first byte.
    #[arg(long, env = "GATEWAY_HEAD_TIMEOUT", default_value = "10", value_parser = value_parser!(u32).range(1..=600))]
    pub head_timeout: u32,

    /// Seconds that a connection may be idle.
    #[arg(long, env = "GATEWAY_IDLE_TIMEOUT", default_value = "75", value_parser = value_parser!(u32).range(1..=3600))]
    pub idle_timeout: u32,

    /// Seconds for a request, its body included.
    #[arg(long, env = "GATEWAY_REQUEST_TIMEOUT", default_value = "30", value_parser = value_parser!(u32).range(1..=600))]
    pub request_timeout: u32,

    /// Requests a second of a user, an API key, or an address without credentials; 0 for no limit.
    #[arg(long, env = "RATE_LIMIT", default_value = "100", value_parser = value_parser!(u32).range(..=100_000))]
    pub rate_limit: u32,

    /// Requests at once after a pause; not less than those of a second.
    #[arg(long, env = "RATE_LIMIT_BURST", default_value = "200", value_parser = value_parser!(u32).range(1..=1_000_000))]
    pub rate_limit_burst: u32,

    /// Networks of proxies whose `X-Forwarded-For` names the client: `10.0.0.0/8,fd00::/8`.
    #[arg(long, env = "TRUSTED_PROXIES", value_delimiter = ',')]
    pub trusted_proxies: Vec<IpNet>,

    /// Origins of web pages that may use the API, `https://shop.example,https://admin.example`, or `*`.
    #[arg(long, env = "CORS_ORIGINS", value_delimiter = ',')]
    pub cors_origins: Vec<String>,
}

impl Config {
    /// Returns what the server bears from its clients.
    pub(crate) fn limits(&self) -> Limits {
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        Limits {
            connections: self.max_connections.get(),
            head: seconds(self.head_timeout),
            idle: seconds(self.idle_timeout),
        }
    }

    /// Returns the limit of requests, if there is one.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let per_second = NonZeroU32::new(self.rate_limit)?;
        let burst = NonZeroU32::new(self.rate_limit_burst)?;
        Some(Rate {
            per_second,
            burst: burst.max(per_second),
        })
    }
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
