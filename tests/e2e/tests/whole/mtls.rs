//! TLS between the processes, both ways: everything works, and nobody without a certificate is served.

use std::{fs, path::PathBuf};

use e2e::{TestApp, usd};
use proto::identity::v1::{GetJwksRequest, auth_service_client::AuthServiceClient};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use stack::{Service, StackOptions};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

#[tokio::test(flavor = "multi_thread")]
async fn processes_with_certificates_work_and_a_client_without_one_is_refused() {
    let certificates = Certificates::issue();
    let mut options = StackOptions::for_test("mtls").expect("options");
    options.settings = certificates.settings();
    let app = TestApp::start(options).await;

    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0.8").await;
    app.order(&buyer, &tea).await;
    app.wait_for_balance(wallet, &usd("91.20")).await;

    let url = app.stack.wiring().grpc_url(Service::Identity);
    let anonymous = certificates.client();
    let known = anonymous.clone().identity(certificates.identity());
    assert!(is_served(&url, Some(known)).await);
    assert!(!is_served(&url, Some(anonymous)).await);
    let plain = url.replacen("https", "http", 1);
    assert!(!is_served(&plain, None).await);
    app.assert_settled().await;
}

/// Fetches the public keys, which needs no token. Returns whether the server answers: without a certificate it
/// ends the connection, in the handshake or after it, as TLS 1.3 has it.
async fn is_served(url: &str, tls: Option<ClientTlsConfig>) -> bool {
    let mut endpoint = Endpoint::from_shared(url.to_owned()).expect("a url");
    if let Some(tls) = tls {
        endpoint = endpoint.tls_config(tls).expect("a configuration");
    }
    let mut client = AuthServiceClient::new(endpoint.connect_lazy());
    client.get_jwks(GetJwksRequest {}).await.is_ok()
}

/// An authority, and one certificate of it, for servers and clients.
pub(crate) struct Certificates {
    pub(crate) directory: PathBuf,
    authority: String,
    certificate: String,
    key: String,
}

impl Certificates {
    pub(crate) fn issue() -> Self {
        let mut params = CertificateParams::new(vec![]).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let authority = params.self_signed(&key).expect("a certificate").pem();
        let issuer = Issuer::new(params, key);
        let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("an address");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &issuer).expect("a certificate");
        let made = Self {
            directory: std::env::temp_dir().join(format!("mtls-{:08x}", rand::random::<u32>())),
            authority,
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        };
        made.write();
        made
    }

    /// Writes the files. The account that runs the processes may be another one than that of the test.
    fn write(&self) {
        fs::create_dir(&self.directory).expect("a directory");
        for (name, pem) in [
            ("ca.pem", &self.authority),
            ("process.pem", &self.certificate),
            ("process.key", &self.key),
            ("tool.pem", &self.certificate),
            ("tool.key", &self.key),
        ] {
            fs::write(self.directory.join(name), pem).expect("a file");
        }
    }

    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        [
            ("PEER_CA_FILE", "ca.pem"),
            ("TLS_CERT_FILE", "process.pem"),
            ("TLS_KEY_FILE", "process.key"),
            ("TLS_CLIENT_CA_FILE", "ca.pem"),
        ]
        .map(|(setting, name)| {
            let file = self.directory.join(name);
            (setting.to_owned(), file.display().to_string())
        })
        .to_vec()
    }

    /// The settings of a client that trusts the authority, and has no certificate.
    fn client(&self) -> ClientTlsConfig {
        ClientTlsConfig::new().ca_certificate(Certificate::from_pem(&self.authority))
    }

    fn identity(&self) -> Identity {
        Identity::from_pem(&self.certificate, &self.key)
    }
}

impl Drop for Certificates {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}
