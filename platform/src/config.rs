//! Settings that all processes share, from flags and the environment.
//!
//! Secrets are [`SecretString`], which `Debug` does not show. Settings of one service are in its
//! `config.rs`, which flattens [`Common`].

mod nats;
mod strong_secret;
mod tls;

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
};

use clap::{Args, Command, ValueEnum};
use secrecy::SecretString;

pub use nats::Nats;
pub use strong_secret::{StrongSecret, weakness};
pub use tls::Tls;

/// Settings of all processes, flattened with `#[command(flatten)]`.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Whether callers without credentials are rejected, or act as admin (loopback only).
    #[arg(long, env = "AUTH", value_enum, default_value_t = Auth::Required)]
    pub auth: Auth,

    /// Addresses of the other services.
    #[command(flatten)]
    pub peers: Peers,

    /// Certificates, and where connections need them.
    #[command(flatten)]
    pub tls: Tls,

    /// Seconds for which a process that is told to stop goes on serving: it is not ready meanwhile, so that
    /// proxies and clients leave it before it closes its listeners.
    #[arg(
        long,
        env = "DRAIN_DELAY",
        default_value_t = 0,
        value_parser = clap::value_parser!(u8).range(..=60)
    )]
    pub drain_delay: u8,

    /// Whether memory may be in huge pages, where the kernel has transparent ones: a request takes about a tenth
    /// less CPU, and an idle process twice the memory.
    #[arg(long, env = "HUGE_PAGES")]
    pub huge_pages: bool,

    /// Settings of logs and traces.
    #[command(flatten)]
    pub telemetry: Telemetry,
}

/// The rights of callers without credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Auth {
    /// They are rejected.
    Required,
    /// They act as admin; the process then listens on loopback only.
    Open,
}

/// Who may create users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SignUp {
    /// Admins.
    Closed,
    /// Anybody: an unapproved user with the role `user`.
    Open,
}

/// The gRPC addresses of the services. Each is one URL, whose name may resolve to several replicas, or those
/// of all replicas, separated by commas.
#[derive(Debug, Clone, Args)]
pub struct Peers {
    /// Address of catalog-svc, or those of its replicas, separated by commas.
    #[arg(
        long,
        env = "CATALOG_GRPC_URL",
        default_value = "http://127.0.0.1:15051"
    )]
    pub catalog_grpc_url: String,

    /// Address of orders-svc, or those of its replicas, separated by commas.
    #[arg(
        long,
        env = "ORDERS_GRPC_URL",
        default_value = "http://127.0.0.1:15052"
    )]
    pub orders_grpc_url: String,

    /// Address of wallet-svc, or those of its replicas, separated by commas.
    #[arg(
        long,
        env = "WALLET_GRPC_URL",
        default_value = "http://127.0.0.1:15053"
    )]
    pub wallet_grpc_url: String,

    /// Address of identity-svc, or those of its replicas, separated by commas.
    #[arg(
        long,
        env = "IDENTITY_GRPC_URL",
        default_value = "http://127.0.0.1:15054"
    )]
    pub identity_grpc_url: String,
}

/// Settings of logs and traces.
#[derive(Debug, Clone, Args)]
pub struct Telemetry {
    /// Filter of logs, such as `info` or `warn,orders_svc=debug`.
    #[arg(long, env = "LOG", default_value = "info")]
    pub log: String,

    /// Format of a log line.
    #[arg(long, env = "LOG_FORMAT", value_enum, default_value_t = LogFormat::Pretty)]
    pub log_format: LogFormat,

    /// Address to which spans are exported (OTLP over gRPC); they are not exported without it.
    #[arg(long, env = "OTEL_EXPORTER_OTLP_ENDPOINT")]
    pub otel_exporter_otlp_endpoint: Option<String>,

    /// Share of new traces that is recorded, 0 to 1; the decision of a caller has precedence.
    #[arg(long, env = "TRACE_SAMPLE_RATIO", default_value_t = 0.05)]
    pub trace_sample_ratio: f64,
}

/// The format of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text with colors.
    Pretty,
    /// One JSON object for each line.
    Json,
}

/// The secret of a process, flattened into the config of all but identity-svc, which has the other
/// side: a `<NAME>_SERVICE_SECRET` for each.
#[derive(Debug, Clone, Args)]
pub struct ServiceSecret {
    /// Secret by which identity-svc knows this process, of at least 32 bytes. No other process has
    /// the same.
    #[arg(
        id = "service_secret",
        long = "service-secret",
        env = "SERVICE_SECRET",
        value_parser = StrongSecret,
        hide_env_values = true
    )]
    pub value: SecretString,
}

/// Settings of a gRPC server, flattened into the config of the services.
#[derive(Debug, Clone, Default, Args)]
pub struct Grpc {
    /// Whether the gRPC server describes its services to anybody (reflection), for tools such as
    /// grpcurl.
    #[arg(long, env = "GRPC_REFLECTION")]
    pub grpc_reflection: bool,

    /// PEM file of the authorities whose certificates the server's clients must have.
    #[arg(long, env = "TLS_CLIENT_CA_FILE")]
    pub tls_client_ca_file: Option<PathBuf>,
}

/// Tells whether a host is this machine by its name or address.
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse();
    host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Parses a secret: `#[arg(.., value_parser = config::secret, hide_env_values = true)]`.
pub fn secret(value: &str) -> Result<SecretString, Infallible> {
    Ok(SecretString::from(value))
}

/// Parses the URL that images are below: `#[arg(.., value_parser = config::http_base)]`. With any other,
/// an image could be `javascript:…`.
pub fn http_base(value: &str) -> Result<String, &'static str> {
    let host = value.split_once("://").filter(|(scheme, _)| {
        scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
    });
    match host {
        Some((_, host)) if !host.is_empty() => Ok(value.to_owned()),
        _ => Err("must be an http(s) URL"),
    }
}

/// Parses settings like the command line, for tests.
///
/// ```
/// # use platform::config::{Auth, Common, from_args};
/// let common: Common = from_args(&["--log", "debug"]).unwrap();
/// assert_eq!(common.auth, Auth::Required);
/// ```
pub fn from_args<A: Args>(args: &[&str]) -> Result<A, clap::Error> {
    let command = A::augment_args(Command::new("config").no_binary_name(true));
    A::from_arg_matches(&command.try_get_matches_from(args)?)
}

/// The settings that [`crate::service::main`] reads.
pub trait Settings: Args + Send + 'static {
    /// Returns the settings of all processes.
    fn common(&self) -> &Common;

    /// Returns the address of the server.
    fn listen(&self) -> SocketAddr;

    /// Returns the address of `/livez`, `/readyz` and `/metrics`, if they are served.
    fn metrics_listen(&self) -> Option<SocketAddr> {
        None
    }

    /// Returns the broker, if the process uses one.
    fn nats(&self) -> Option<&Nats> {
        None
    }

    /// Returns the URL of the database, if the process has one.
    fn database_url(&self) -> Option<&SecretString> {
        None
    }
}

/// Rejects settings that leave a connection or a port open to others: open mode and plain connections
/// beyond loopback. `database` is the variable of [`Settings::database_url`].
pub(crate) fn check(settings: &impl Settings, database: Option<&str>) -> anyhow::Result<()> {
    check_open_mode(settings)?;
    if settings.common().tls.insecure_peers {
        return Ok(());
    }
    tls::check_services(&settings.common().peers)?;
    settings.nats().map_or(Ok(()), tls::check_nats)?;
    match (database, settings.database_url()) {
        (Some(setting), Some(url)) => tls::check_postgres(setting, url),
        _ => Ok(()),
    }
}

/// Rejects `AUTH=open` beyond loopback, as it makes every caller an admin.
fn check_open_mode(settings: &impl Settings) -> anyhow::Result<()> {
    if settings.common().auth == Auth::Required {
        return Ok(());
    }
    let mut listens = settings
        .metrics_listen()
        .into_iter()
        .chain([settings.listen()]);
    match listens.find(|address| !address.ip().is_loopback()) {
        Some(public) => {
            anyhow::bail!("AUTH=open makes every caller an admin: refusing to listen on {public}")
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "k3J9x0PqLr7sTz2Vb5Yw8Nc1Md4Fg6Ha";

    #[derive(Debug, Args)]
    struct Config {
        #[command(flatten)]
        common: Common,
        #[command(flatten)]
        service_secret: ServiceSecret,
        #[arg(long, default_value = "127.0.0.1:0")]
        listen: SocketAddr,
        #[arg(long)]
        metrics_listen: Option<SocketAddr>,
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

    fn config(args: &[&str]) -> Config {
        from_args(&[&["--service-secret", SECRET], args].concat()).unwrap()
    }

    #[test]
    fn open_auth_is_limited_to_loopback() {
        assert!(check_open_mode(&config(&["--auth", "open"])).is_ok());
        assert!(check_open_mode(&config(&["--auth", "open", "--listen", "[::1]:0"])).is_ok());
        assert!(check_open_mode(&config(&["--listen", "0.0.0.0:0"])).is_ok());
        let refused = check_open_mode(&config(&["--auth", "open", "--listen", "0.0.0.0:80"]));
        assert!(refused.unwrap_err().to_string().contains("0.0.0.0:80"));
        assert!(
            check_open_mode(&config(&[
                "--auth",
                "open",
                "--metrics-listen",
                "0.0.0.0:9"
            ]))
            .is_err()
        );
    }

    #[test]
    fn plain_peers_beyond_loopback_stop_the_start() {
        let plain = ["--identity-grpc-url", "http://identity.example:15054"];
        let error = check(&config(&plain), None).unwrap_err().to_string();
        assert!(error.contains("INSECURE_PEERS"), "{error}");
        let insecure = [&plain[..], &["--insecure-peers"]].concat();
        assert!(check(&config(&insecure), None).is_ok());
        assert!(check(&config(&[]), None).is_ok());
    }

    #[test]
    fn images_are_below_an_http_url() {
        for accepted in ["http://127.0.0.1:8080/media/", "HTTPS://media.example"] {
            assert_eq!(http_base(accepted).as_deref(), Ok(accepted));
        }
        for refused in ["", "media/", "https://", "file:///media/", "://x"] {
            assert!(http_base(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn debug_output_shows_no_secrets() {
        let shown = format!("{:?}", config(&[]));
        assert!(shown.contains("service_secret") && !shown.contains(SECRET));
    }
}
