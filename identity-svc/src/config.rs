//! Settings of identity-svc.

use std::{net::SocketAddr, path::PathBuf};

use anyhow::Context as _;
use clap::Args;
use lettre::message::Mailbox;
use platform::{
    config::{Common, Grpc, Nats, Settings, SignUp, StrongSecret, http_base, secret},
    money::Percent,
    sealing::SealingKey,
};
use secrecy::SecretString;

use crate::{referral_reward::model::Percentages, user::HashingCost, webhook::Rules};

/// Flags and environment variables.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// The settings of every process.
    #[command(flatten)]
    pub common: Common,

    /// The secrets of the other processes.
    #[command(flatten)]
    pub service_secrets: ServiceSecrets,

    /// The gRPC server.
    #[command(flatten)]
    pub grpc: Grpc,

    /// The message broker.
    #[command(flatten)]
    pub nats: Nats,

    /// The address of the gRPC server.
    #[arg(long, env = "IDENTITY_LISTEN", default_value = "127.0.0.1:15054")]
    pub listen: SocketAddr,

    /// The address of `/livez`, `/readyz` and `/metrics`; not served if unset.
    #[arg(long, env = "IDENTITY_METRICS_LISTEN")]
    pub metrics_listen: Option<SocketAddr>,

    /// Postgres, as the role `guerdon_identity_app`.
    #[arg(long, env = "IDENTITY_DATABASE_URL", value_parser = secret, hide_env_values = true)]
    pub database_url: SecretString,

    /// The key that seals stored secrets.
    #[command(flatten)]
    pub key_encryption: KeyEncryption,

    /// An API key with the role `admin`, `gk_…`; it replaces the one configured before.
    #[arg(long, env = "BOOTSTRAP_API_KEY", value_parser = secret, hide_env_values = true)]
    pub bootstrap_api_key: Option<SecretString>,

    /// Mails to users.
    #[command(flatten)]
    pub mail: MailSettings,

    /// The cost of password hashes.
    #[command(flatten)]
    pub password_hashing: PasswordHashing,

    /// Targets of webhooks.
    #[command(flatten)]
    pub webhooks: WebhookSettings,

    /// The base URL of images whose path is relative.
    #[arg(
        long,
        env = "MEDIA_BASE_URL",
        value_parser = http_base,
        default_value = "http://127.0.0.1:8080/media/"
    )]
    pub media_base_url: String,

    /// Share of a referred user's task rewards that its referrer earns, in percent: 0 to 100.
    #[arg(long, env = "REFERRAL_TASK_PERCENT", value_parser = Percent::parse, default_value = "0")]
    pub referral_task_percent: Percent,

    /// Share of a referred user's fully paid orders that its referrer earns, in percent: 0 to 100.
    #[arg(long, env = "REFERRAL_PURCHASE_PERCENT", value_parser = Percent::parse, default_value = "0")]
    pub referral_purchase_percent: Percent,

    /// Who may create users.
    #[arg(long, env = "SIGN_UP", value_enum, default_value_t = SignUp::Closed)]
    pub sign_up: SignUp,
}

/// Settings of mails to users.
#[derive(Debug, Clone, Args)]
pub struct MailSettings {
    /// The SMTP server that sends mails: `smtps://user:password@host`, or
    /// `smtp://user:password@host:587?tls=required`.
    #[arg(long, env = "SMTP_URL", value_parser = secret, hide_env_values = true)]
    pub smtp_url: Option<SecretString>,

    /// A directory into which mails are written instead, as files with the ending `.eml`.
    #[arg(long, env = "MAIL_DIR")]
    pub mail_dir: Option<PathBuf>,

    /// The sender of mails, also the name of the shop in them: `Coffee Shop <shop@example.com>`.
    /// Needed with `SMTP_URL`.
    #[arg(long, env = "MAIL_FROM")]
    pub mail_from: Option<Mailbox>,

    /// The base URL of the pages that mails and invites link to: `sign-up`, `confirm-email` and
    /// `reset-password`.
    #[arg(
        long,
        env = "APP_URL",
        value_parser = http_base,
        default_value = "http://127.0.0.1:8080/"
    )]
    pub app_url: String,
}

impl MailSettings {
    /// Returns the sender. One that no mail reaches is good enough for a directory.
    pub(crate) fn sender(&self) -> anyhow::Result<Mailbox> {
        match &self.mail_from {
            Some(sender) => Ok(sender.clone()),
            None if self.smtp_url.is_none() => Ok("Guerdon <no-reply@localhost>".parse()?),
            None => anyhow::bail!("MAIL_FROM is needed with SMTP_URL"),
        }
    }
}

/// Where events may be sent to.
#[derive(Debug, Clone, Copy, Args)]
pub struct WebhookSettings {
    /// Whether webhooks may have URLs with `http`, over which events are sent in the clear.
    #[arg(long, env = "WEBHOOK_ALLOW_HTTP")]
    pub webhook_allow_http: bool,

    /// Whether webhooks may have private and local addresses: for receivers in one's own network. Any
    /// admin can then make this process send requests to all that it reaches.
    #[arg(long, env = "WEBHOOK_ALLOW_PRIVATE")]
    pub webhook_allow_private: bool,
}

impl WebhookSettings {
    pub(crate) const fn rules(self) -> Rules {
        Rules {
            allow_http: self.webhook_allow_http,
            allow_private: self.webhook_allow_private,
        }
    }
}

/// The key that encrypts what identity-svc stores: base64url of 32 random bytes.
#[derive(Debug, Clone, Args)]
pub struct KeyEncryption {
    /// The key that seals the stored signing keys of tokens and the secrets of webhooks: base64url of
    /// 32 random bytes. It stays the same as long as the database does.
    #[arg(
        long,
        env = "IDENTITY_KEY_ENCRYPTION_KEY",
        value_parser = secret,
        hide_env_values = true
    )]
    pub key_encryption_key: SecretString,
}

impl KeyEncryption {
    pub(crate) fn sealing_key(&self) -> anyhow::Result<SealingKey> {
        SealingKey::from_base64(&self.key_encryption_key).context("IDENTITY_KEY_ENCRYPTION_KEY")
    }
}

/// The cost of password hashes (Argon2id). The defaults are the least that OWASP advises. A hash that
/// cost less is made again when its user logs in.
#[derive(Debug, Clone, Args)]
pub struct PasswordHashing {
    /// Memory of a hash in KiB.
    #[arg(
        long,
        env = "PASSWORD_HASH_MEMORY_KIB",
        default_value_t = 19_456,
        value_parser = clap::value_parser!(u32).range(8_192..=1_048_576)
    )]
    pub password_hash_memory_kib: u32,

    /// Passes over the memory.
    #[arg(
        long,
        env = "PASSWORD_HASH_PASSES",
        default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(1..=20)
    )]
    pub password_hash_passes: u32,

    /// Lanes that the memory is divided into.
    #[arg(
        long,
        env = "PASSWORD_HASH_LANES",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=16)
    )]
    pub password_hash_lanes: u32,
}

impl PasswordHashing {
    pub(crate) const fn cost(&self) -> HashingCost {
        HashingCost {
            memory: self.password_hash_memory_kib,
            passes: self.password_hash_passes,
            lanes: self.password_hash_lanes,
        }
    }
}

/// The secrets by which identity-svc knows the other processes: each is the `SERVICE_SECRET` of one,
/// and no two are the same.
#[derive(Debug, Clone, Args)]
pub struct ServiceSecrets {
    /// The `SERVICE_SECRET` of the gateway.
    #[arg(
        id = "gateway_service_secret",
        long = "gateway-service-secret",
        env = "GATEWAY_SERVICE_SECRET",
        value_parser = StrongSecret,
        hide_env_values = true
    )]
    gateway: SecretString,

    /// The `SERVICE_SECRET` of catalog-svc.
    #[arg(
        id = "catalog_service_secret",
        long = "catalog-service-secret",
        env = "CATALOG_SERVICE_SECRET",
        value_parser = StrongSecret,
        hide_env_values = true
    )]
    catalog: SecretString,

    /// The `SERVICE_SECRET` of orders-svc.
    #[arg(
        id = "orders_service_secret",
        long = "orders-service-secret",
        env = "ORDERS_SERVICE_SECRET",
        value_parser = StrongSecret,
        hide_env_values = true
    )]
    orders: SecretString,

    /// The `SERVICE_SECRET` of wallet-svc.
    #[arg(
        id = "wallet_service_secret",
        long = "wallet-service-secret",
        env = "WALLET_SERVICE_SECRET",
        value_parser = StrongSecret,
        hide_env_values = true
    )]
    wallet: SecretString,
}

impl Config {
    /// Returns the shares that referrers earn.
    pub(crate) const fn referral_percentages(&self) -> Percentages {
        Percentages {
            task: self.referral_task_percent,
            purchase: self.referral_purchase_percent,
        }
    }
}

impl ServiceSecrets {
    /// Returns each process with its secret.
    pub(crate) fn by_service(&self) -> [(&'static str, &SecretString); 4] {
        [
            ("gateway", &self.gateway),
            ("catalog-svc", &self.catalog),
            ("orders-svc", &self.orders),
            ("wallet-svc", &self.wallet),
        ]
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

    fn nats(&self) -> Option<&Nats> {
        Some(&self.nats)
    }

    fn database_url(&self) -> Option<&SecretString> {
        Some(&self.database_url)
    }
}
