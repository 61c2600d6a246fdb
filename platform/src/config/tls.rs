//! TLS between the processes: the files of certificates, and where plain connections are refused.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use clap::Args;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use tonic::transport::{Certificate, ClientTlsConfig, Identity, ServerTlsConfig, Uri};

use super::{Nats, Peers, is_loopback};

/// How long a client or a server may take to agree on a connection.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

/// Settings of TLS between the processes. Files are read at the start: a renewed certificate needs
/// another one.
#[derive(Debug, Clone, Default, Args)]
pub struct Tls {
    /// PEM file of the authorities that issue the certificates of the other services; addresses with
    /// `https` need it.
    #[arg(long, env = "PEER_CA_FILE")]
    pub peer_ca_file: Option<PathBuf>,

    /// PEM file of this process's certificate. Its gRPC server shows it to clients, and its clients
    /// to servers that ask for one.
    #[arg(long, env = "TLS_CERT_FILE", requires = "tls_key_file")]
    pub tls_cert_file: Option<PathBuf>,

    /// PEM file of the key of `TLS_CERT_FILE`.
    #[arg(long, env = "TLS_KEY_FILE", requires = "tls_cert_file")]
    pub tls_key_file: Option<PathBuf>,

    /// Whether services, NATS and Postgres beyond loopback may be reached without TLS.
    #[arg(long, env = "INSECURE_PEERS")]
    pub insecure_peers: bool,
}

impl Tls {
    /// Reads the certificates for calls to other services.
    pub(crate) fn client(&self) -> anyhow::Result<ClientTlsConfig> {
        let file = self.peer_ca_file.as_deref();
        let file = file.context("PEER_CA_FILE is not set, which https needs")?;
        let authorities = Certificate::from_pem(read("PEER_CA_FILE", file)?);
        let config = ClientTlsConfig::new()
            .ca_certificate(authorities)
            .timeout(HANDSHAKE_TIMEOUT);
        Ok(match self.identity()? {
            Some(identity) => config.identity(identity),
            None => config,
        })
    }

    /// Reads the certificates of the server; `None` if it has no certificate. With `client_ca`, the
    /// server refuses clients without a certificate of these authorities.
    pub(crate) fn server(
        &self,
        client_ca: Option<&Path>,
    ) -> anyhow::Result<Option<ServerTlsConfig>> {
        let Some(identity) = self.identity()? else {
            anyhow::ensure!(
                client_ca.is_none(),
                "TLS_CLIENT_CA_FILE needs TLS_CERT_FILE"
            );
            return Ok(None);
        };
        let config = ServerTlsConfig::new()
            .identity(identity)
            .timeout(HANDSHAKE_TIMEOUT);
        let Some(client_ca) = client_ca else {
            return Ok(Some(config));
        };
        let authorities = Certificate::from_pem(read("TLS_CLIENT_CA_FILE", client_ca)?);
        Ok(Some(config.client_ca_root(authorities)))
    }

    fn identity(&self) -> anyhow::Result<Option<Identity>> {
        let (Some(certificate), Some(key)) = (&self.tls_cert_file, &self.tls_key_file) else {
            return Ok(None);
        };
        let certificate = read("TLS_CERT_FILE", certificate)?;
        let key = read("TLS_KEY_FILE", key)?;
        Ok(Some(Identity::from_pem(certificate, key)))
    }
}

fn read(setting: &str, file: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("{setting}: cannot read {}", file.display()))
}

/// Refuses services that are reached without TLS beyond loopback.
pub(super) fn check_services(peers: &Peers) -> anyhow::Result<()> {
    for (setting, url) in [
        ("CATALOG_GRPC_URL", &peers.catalog_grpc_url),
        ("ORDERS_GRPC_URL", &peers.orders_grpc_url),
        ("WALLET_GRPC_URL", &peers.wallet_grpc_url),
        ("IDENTITY_GRPC_URL", &peers.identity_grpc_url),
    ] {
        for url in url.split(',').map(str::trim) {
            let uri: Uri = url.parse().with_context(|| format!("{setting}: {url}"))?;
            let host = uri.host().unwrap_or_default();
            if uri.scheme_str() != Some("https") && !is_loopback(host) {
                return Err(refusal(setting, host, "write it with https://"));
            }
        }
    }
    Ok(())
}

/// Refuses a broker that is reached without TLS beyond loopback.
pub(super) fn check_nats(nats: &Nats) -> anyhow::Result<()> {
    let servers = nats.servers()?;
    let mut plain = servers.iter().filter(|server| !server.tls_required());
    match plain.find(|server| !is_loopback(server.host())) {
        Some(server) => Err(refusal("NATS_URL", server.host(), "write it with tls://")),
        None => Ok(()),
    }
}

/// Refuses a database whose certificate is not verified, beyond loopback.
pub(super) fn check_postgres(setting: &str, url: &SecretString) -> anyhow::Result<()> {
    let options: PgConnectOptions = url
        .expose_secret()
        .parse()
        .with_context(|| format!("{setting} is not the URL of a database"))?;
    let host = options.get_host();
    let is_local = options.get_socket().is_some() || host.starts_with('/') || is_loopback(host);
    if is_local || matches!(options.get_ssl_mode(), PgSslMode::VerifyFull) {
        return Ok(());
    }
    let how = "add sslmode=verify-full&sslrootcert=<file>";
    Err(refusal(setting, host, how))
}

fn refusal(setting: &str, host: &str, how: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "{setting} reaches {host} without TLS: {how}, or allow it with INSECURE_PEERS=true"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::from_args;

    fn message(result: anyhow::Result<()>) -> String {
        format!("{:#}", result.unwrap_err())
    }

    #[test]
    fn services_beyond_loopback_need_tls() {
        for (url, is_accepted) in [
            ("http://127.0.0.1:15052", true),
            ("http://[::1]:15052", true),
            ("http://localhost:15052", true),
            ("https://orders.example:15052", true),
            ("http://orders.example:15052", false),
            ("http://192.0.2.1:15052", false),
            ("http://127.0.0.1:1,https://orders.example:2", true),
            ("http://127.0.0.1:1, http://192.0.2.1:2", false),
        ] {
            let peers = from_args(&["--orders-grpc-url", url]).unwrap();
            let result = check_services(&peers);
            assert_eq!(result.is_ok(), is_accepted, "{url}");
            if !is_accepted {
                let message = message(result);
                assert!(message.starts_with("ORDERS_GRPC_URL reaches"), "{message}");
                assert!(message.contains("INSECURE_PEERS=true"), "{message}");
            }
        }
    }

    #[test]
    fn a_broker_beyond_loopback_needs_tls() {
        assert!(check_nats(&Nats::at("nats://127.0.0.1:4222")).is_ok());
        assert!(check_nats(&Nats::at("tls://u:pa55@nats.example:4222")).is_ok());
        let nodes = "tls://u:pa55@a.example,nats://127.0.0.1,tls://u:pa55@nats.example";
        assert!(check_nats(&Nats::at(nodes)).is_ok());
        for url in [
            "nats://u:pa55@nats.example:4222",
            "tls://u:pa55@a.example,nats://127.0.0.1,nats://u:pa55@nats.example",
        ] {
            let message = message(check_nats(&Nats::at(url)));
            assert!(
                message.starts_with("NATS_URL reaches nats.example"),
                "{message}"
            );
            assert!(!message.contains("pa55"), "{message}");
        }
    }

    #[test]
    fn a_database_beyond_loopback_is_verified() {
        let check = |url: &str| check_postgres("ORDERS_DATABASE_URL", &url.into());
        for url in [
            "postgres://u:pa55@127.0.0.1/guerdon",
            "postgres://u:pa55@localhost/guerdon?sslmode=disable",
            "postgres:///guerdon?host=/run/postgresql",
            "postgres://u:pa55@db.example/guerdon?sslmode=verify-full",
        ] {
            assert!(check(url).is_ok(), "{url}");
        }
        for mode in ["", "?sslmode=require", "?sslmode=disable"] {
            let message = message(check(&format!(
                "postgres://u:pa55@db.example/guerdon{mode}"
            )));
            assert!(
                message.starts_with("ORDERS_DATABASE_URL reaches db.example"),
                "{message}"
            );
            assert!(!message.contains("pa55"), "{message}");
        }
    }

    #[test]
    fn missing_files_stop_the_start_by_the_name_of_the_setting() {
        let missing = "--peer-ca-file=/nonexistent";
        let tls: Tls = from_args(&[missing]).unwrap();
        let message = format!("{:#}", tls.client().unwrap_err());
        assert!(
            message.starts_with("PEER_CA_FILE: cannot read"),
            "{message}"
        );
        assert!(Tls::default().client().is_err(), "https needs authorities");
        assert!(Tls::default().server(None).unwrap().is_none());
        assert!(Tls::default().server(Some(Path::new("/ca"))).is_err());
        assert!(
            from_args::<Tls>(&["--tls-cert-file=/cert"]).is_err(),
            "no key"
        );
    }
}
