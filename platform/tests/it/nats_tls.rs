//! A NATS server that asks for TLS, and for a certificate of its clients.

use std::{fs, path::PathBuf, process::Stdio, time::Duration};

use platform::{
    config::{Nats, from_args},
    messaging::jetstream::connect,
    testing::eventually,
};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::process::{Child, Command};

use crate::harness::{TIMEOUT, env};

/// A server with the certificates of one authority, in a directory of its own.
struct Server {
    directory: PathBuf,
    address: String,
    _process: Child,
}

impl Server {
    async fn start() -> Self {
        let directory = std::env::temp_dir().join(format!("nats-tls-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        authority(&directory, "ca", &["server", "client"]);
        authority(&directory, "other-ca", &["stranger"]);
        let home = directory.display();
        let config = format!(
            "listen: \"127.0.0.1:-1\"\nports_file_dir: \"{home}\"\n\
             jetstream {{ store_dir: \"{home}/jetstream\" }}\n\
             tls {{\n  cert_file: \"{home}/server.pem\"\n  key_file: \"{home}/server.key\"\n  \
             ca_file: \"{home}/ca.pem\"\n  verify: true\n}}\n"
        );
        fs::write(directory.join("nats.conf"), config).unwrap();
        let process = Command::new(env("STACK_NATS_SERVER"))
            .arg("--config")
            .arg(directory.join("nats.conf"))
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let ports = format!("nats-server_{}.ports", process.id().unwrap());
        let ports = directory.join(ports);
        let mut address = None;
        eventually("the server listens", TIMEOUT, async || {
            let text = fs::read_to_string(&ports).unwrap_or_default();
            let ports: Option<serde_json::Value> = serde_json::from_str(&text).ok();
            address = ports.and_then(|ports| Some(ports["nats"][0].as_str()?.to_owned()));
            address.is_some()
        })
        .await;
        let address = address.unwrap();
        let address = address.rsplit('/').next().unwrap().to_owned();
        Self {
            directory,
            address,
            _process: process,
        }
    }

    fn settings(&self, ca: &str, certificate: Option<&str>) -> Nats {
        let file = |name: &str| self.directory.join(name).display().to_string();
        let mut args = vec![
            format!("--nats-url=tls://{}", self.address),
            format!("--nats-ca-file={}", file(ca)),
        ];
        if let Some(name) = certificate {
            args.push(format!("--nats-cert-file={}", file(&format!("{name}.pem"))));
            args.push(format!("--nats-key-file={}", file(&format!("{name}.key"))));
        }
        let args: Vec<_> = args.iter().map(String::as_str).collect();
        from_args(&args).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Makes an authority, and certificates of it for this machine.
fn authority(directory: &std::path::Path, name: &str, certificates: &[&str]) {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let own = params.self_signed(&key).unwrap();
    fs::write(directory.join(format!("{name}.pem")), own.pem()).unwrap();
    let issuer = Issuer::new(params, key);
    for name in certificates {
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &issuer).unwrap();
        fs::write(directory.join(format!("{name}.pem")), signed.pem()).unwrap();
        fs::write(directory.join(format!("{name}.key")), key.serialize_pem()).unwrap();
    }
}

#[tokio::test]
async fn nats_is_reached_with_certificates_both_ways() {
    let server = Server::start().await;
    let settings = server.settings("ca.pem", Some("client"));
    let ours = connect(&settings, "test").await.unwrap();
    eventually("JetStream responds", TIMEOUT, async || {
        ours.query_account().await.is_ok()
    })
    .await;
    for (ca, certificate, why) in [
        ("ca.pem", None, "no certificate"),
        (
            "ca.pem",
            Some("stranger"),
            "a certificate of another authority",
        ),
        (
            "other-ca.pem",
            Some("client"),
            "a server of another authority",
        ),
    ] {
        let mut refused = connect(&server.settings(ca, certificate), "test")
            .await
            .unwrap();
        refused.set_timeout(Duration::from_secs(1));
        assert!(refused.query_account().await.is_err(), "{why}");
    }
}
