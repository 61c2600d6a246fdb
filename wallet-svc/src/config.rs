//! The settings of wallet-svc.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;
use platform::config::{self, Common, Nats, Settings};
use secrecy::SecretString;

/// The settings of wallet-svc.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// Address for gRPC.
    #[arg(long, env = "WALLET_LISTEN", default_value = "127.0.0.1:50053")]
    pub listen: SocketAddr,

    /// Address for /livez, /readyz and /metrics; none are served without it.
    #[arg(long, env = "WALLET_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// The app role's database url.
    #[arg(long, env = "WALLET_DATABASE_URL", value_parser = config::secret, hide_env_values = true)]
    pub database_url: SecretString,

    /// Asset that bonuses and rewards are paid in; unset: a bonus in its order's asset, a reward in
    /// the default asset.
    #[arg(long, env = "BONUS_ASSET_CODE")]
    pub bonus_asset_code: Option<String>,

    /// Asset of products that name none.
    #[arg(long, env = "DEFAULT_ASSET_CODE", default_value = "usd")]
    pub default_asset_code: String,

    /// Extended public keys (xpub, zpub; tpub, vpub on test networks) of accounts, from which
    /// addresses are derived by BIP 84: `btc=zpub…`, with commas between.
    // Kept from clap's messages, which quote what they refuse: it could be a private key.
    #[arg(long, env = "HD_PUBLIC_KEYS", value_parser = config::secret, hide_env_values = true)]
    pub hd_public_keys: Option<SecretString>,

    /// TOML file of the payment methods; there are none without it.
    #[arg(long, env = "PAYMENT_METHODS_FILE")]
    pub payment_methods_file: Option<PathBuf>,

    /// The part that all processes share.
    #[command(flatten)]
    pub common: Common,

    /// The part that all services share.
    #[command(flatten)]
    pub nats: Nats,
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
