//! Settings of the broker: one server, or those of a cluster.

use std::path::PathBuf;

use anyhow::Context as _;
use async_nats::ServerAddr;
use clap::Args;
use secrecy::{ExposeSecret as _, SecretString};

use super::secret;

/// Settings of the broker, flattened into the config of the services.
#[derive(Debug, Clone, Args)]
pub struct Nats {
    /// URL of NATS with `JetStream`, `nats://user:password@host:4222`; without a user on loopback
    /// only. Those of several servers of one cluster are separated by commas: while one is away, the
    /// process uses another.
    #[arg(
        long,
        env = "NATS_URL",
        default_value = "nats://127.0.0.1:4222",
        value_parser = secret,
        hide_env_values = true
    )]
    pub nats_url: SecretString,

    /// Nodes of a cluster that store each event, when this process creates its stream. Three survive the
    /// loss of one.
    #[arg(
        long,
        env = "NATS_STREAM_REPLICAS",
        default_value_t = 1,
        value_parser = clap::value_parser!(u8).range(1..=5)
    )]
    pub nats_stream_replicas: u8,

    /// PEM file of the authorities of the broker's certificate; those of the machine without it.
    #[arg(long, env = "NATS_CA_FILE")]
    pub nats_ca_file: Option<PathBuf>,

    /// PEM file of the certificate that is shown to the broker.
    #[arg(long, env = "NATS_CERT_FILE", requires = "nats_key_file")]
    pub nats_cert_file: Option<PathBuf>,

    /// PEM file of the key of `NATS_CERT_FILE`.
    #[arg(long, env = "NATS_KEY_FILE", requires = "nats_cert_file")]
    pub nats_key_file: Option<PathBuf>,
}

impl Nats {
    /// Returns the settings of a server, for tests.
    pub fn at(url: &str) -> Self {
        Self {
            nats_url: SecretString::from(url),
            nats_stream_replicas: 1,
            nats_ca_file: None,
            nats_cert_file: None,
            nats_key_file: None,
        }
    }

    /// Returns the servers of the URL, at least one.
    pub(crate) fn servers(&self) -> anyhow::Result<Vec<ServerAddr>> {
        let urls = self.nats_url.expose_secret().split(',').map(str::trim);
        let servers = urls.map(str::parse).collect::<Result<Vec<ServerAddr>, _>>();
        let servers = servers.context("NATS_URL is not the URL of a NATS server")?;
        let have_hosts = servers.iter().all(|server| !server.host().is_empty());
        anyhow::ensure!(have_hosts, "NATS_URL has no host");
        Ok(servers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(url: &str) -> Result<Vec<String>, String> {
        let servers = Nats::at(url).servers();
        let servers = servers.map_err(|error| format!("{error:#}"))?;
        let host = |server: &ServerAddr| format!("{}:{}", server.host(), server.port());
        Ok(servers.iter().map(host).collect())
    }

    #[test]
    fn a_url_names_one_server_or_several() {
        let one = hosts("nats://127.0.0.1");
        assert_eq!(one, Ok(vec!["127.0.0.1:4222".to_owned()]));
        let two = hosts("nats://u:p@a.example:1, tls://b.example:2");
        let expected = ["a.example:1", "b.example:2"].map(str::to_owned);
        assert_eq!(two, Ok(expected.to_vec()));
    }

    #[test]
    fn a_url_of_the_list_that_is_none_is_refused_without_being_shown() {
        for url in [
            "",
            "nats://u:pa55@127.0.0.1,",
            "nats://u:pa55@127.0.0.1,http://u:pa55@127.0.0.1",
            "nats://u:pa55,pa55@127.0.0.1",
        ] {
            let error = hosts(url).unwrap_err();
            assert!(error.starts_with("NATS_URL"), "{url}: {error}");
            assert!(!error.contains("pa55"), "{url}: {error}");
        }
    }
}
