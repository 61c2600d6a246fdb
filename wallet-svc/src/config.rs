//! The settings of wallet-svc, from flags and the environment.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use platform::config::{self, Common, Grpc, Nats, ServiceSecret, Settings};
use secrecy::SecretString;

/// Settings of wallet-svc.
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
    #[arg(long, env = "WALLET_LISTEN", default_value = "127.0.0.1:15053")]
    pub listen: SocketAddr,

    /// Address of `/livez`, `/readyz` and `/metrics`; they are not served without it.
    #[arg(long, env = "WALLET_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// Postgres URL, as the role `guerdon_wallet_app`.
    #[arg(long, env = "WALLET_DATABASE_URL", value_parser = config::secret, hide_env_values = true)]
    pub database_url: SecretString,

    /// Asset of bonuses and rewards; without it a bonus is in its order's asset, a reward in the
    /// default asset.
    #[arg(long, env = "BONUS_ASSET_CODE")]
    pub bonus_asset_code: Option<String>,

    /// Asset of products that name none.
    #[arg(long, env = "DEFAULT_ASSET_CODE", default_value = "usd")]
    pub default_asset_code: String,

    /// Extended public keys (xpub, zpub; tpub, vpub on test networks) of accounts, from which
    /// addresses are derived by BIP 84: `btc=zpub…`, separated by commas.
    // A secret, because clap's messages quote a malformed value: it could be a private key.
    #[arg(long, env = "HD_PUBLIC_KEYS", value_parser = config::secret, hide_env_values = true)]
    pub hd_public_keys: Option<SecretString>,

    /// TOML file of the payment methods; there are none without it.
    #[arg(long, env = "PAYMENT_METHODS_FILE")]
    pub payment_methods_file: Option<PathBuf>,
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
