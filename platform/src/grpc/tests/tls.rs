//! TLS between a client and a server, both ways, with certificates made for the test.

use std::{fs, path::PathBuf};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use super::*;
use crate::config::{Grpc, Tls};

/// An authority and the directory of the files that it makes.
struct Authority {
    directory: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(name: &str) -> Self {
        let directory = std::env::temp_dir().join(format!("tls-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let mut params = CertificateParams::new(vec![]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        fs::write(directory.join("ca.pem"), certificate.pem()).unwrap();
        let issuer = Issuer::new(params, key);
        Self { directory, issuer }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Issues a certificate for this machine.
    fn certify(&self, name: &str) {
        let hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let params = CertificateParams::new(hosts).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        fs::write(self.file(&format!("{name}.pem")), certificate.pem()).unwrap();
        fs::write(self.file(&format!("{name}.key")), key.serialize_pem()).unwrap();
    }

    /// Returns the settings of a process that trusts this authority, with a certificate of `issuer`.
    fn settings(&self, certificate: Option<(&Self, &str)>) -> Tls {
        let file = |extension: &str| {
            certificate.map(|(issuer, name)| issuer.file(&format!("{name}.{extension}")))
        };
        Tls {
            peer_ca_file: Some(self.file("ca.pem")),
            tls_cert_file: file("pem"),
            tls_key_file: file("key"),
            insecure_peers: false,
        }
    }
}

impl Drop for Authority {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Starts a server with a certificate of the authority, and returns its port.
async fn serve_tls(
    authority: &Authority,
    client_ca: Option<&Authority>,
) -> (u16, tokio_util::sync::DropGuard) {
    authority.certify("server");
    let settings = Grpc {
        tls_client_ca_file: client_ca.map(|authority| authority.file("ca.pem")),
        ..Grpc::default()
    };
    let tls = authority.settings(Some((authority, "server")));
    let verifier = TokenVerifier::fixed(&issuer().jwks_json()).unwrap();
    let listen = "127.0.0.1:0".parse().unwrap();
    let server = Server::bind(listen, &settings, &tls, verifier, Readiness::default())
        .await
        .unwrap()
        .add_service(AuthServiceServer::new(Identity {
            issuer: issuer(),
            probe: Probe::default(),
        }));
    let port = server.local_addr().port();
    let stop = CancellationToken::new();
    tokio::spawn(server.serve(stop.clone()));
    (port, stop.drop_guard())
}

async fn code(url: &str, tls: &Tls) -> Option<Code> {
    let client = client::connect_with("identity", url, tls, None).unwrap();
    let mut client: AuthServiceClient<client::Client> = client.service();
    let response = client.get_jwks(GetJwksRequest {}).await;
    response
        .err()
        .map(|status| Failure::from_status(&status).code)
}

#[tokio::test]
async fn a_server_is_known_by_its_authority() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let (port, _stop) = serve_tls(&ours, None).await;
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("https://{host}:{port}");
        assert_eq!(code(&url, &ours.settings(None)).await, None, "{host}");
        let wrong = code(&url, &others.settings(None)).await;
        assert_eq!(wrong, Some(Code::Unavailable), "{host}: another authority");
    }
    let other_name = format!("https://127.0.0.2:{port}");
    let wrong = code(&other_name, &ours.settings(None)).await;
    assert_eq!(wrong, Some(Code::Unavailable), "another name");
    let plain = format!("http://127.0.0.1:{port}");
    let wrong = code(&plain, &ours.settings(None)).await;
    assert_eq!(wrong, Some(Code::Unavailable), "without TLS");
}

#[tokio::test]
async fn a_server_with_client_authorities_refuses_clients_without_their_certificate() {
    let (ours, others) = (Authority::new("mutual"), Authority::new("strangers"));
    let (port, _stop) = serve_tls(&ours, Some(&ours)).await;
    let url = format!("https://localhost:{port}");
    ours.certify("client");
    others.certify("client");
    let with = ours.settings(Some((&ours, "client")));
    assert_eq!(code(&url, &with).await, None);
    let without = code(&url, &ours.settings(None)).await;
    assert_eq!(without, Some(Code::Unavailable), "no certificate");
    let stranger = ours.settings(Some((&others, "client")));
    assert_eq!(code(&url, &stranger).await, Some(Code::Unavailable));
}
