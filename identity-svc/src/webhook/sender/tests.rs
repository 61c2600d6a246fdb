use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;

const STRICT: Rules = Rules {
    allow_http: true,
    allow_private: false,
};
const LENIENT: Rules = Rules {
    allow_http: true,
    allow_private: true,
};

/// Creates a sender for which every name has these addresses.
fn sender(rules: Rules, addresses: &[SocketAddr]) -> Sender {
    let addresses = addresses.to_vec();
    Sender {
        resolve: Arc::new(move |_, _| Box::pin(std::future::ready(Ok(addresses.clone())))),
        ..Sender::new(rules).unwrap()
    }
}

async fn send(sender: &Sender, url: &str) -> Attempt {
    let message = Message {
        url,
        secrets: &[],
        event_id: "e".to_owned(),
        timestamp: 1,
        payload: "{}".to_owned(),
    };
    sender.send(&message).await
}

/// Starts a server that reads a request and writes a response. Returns its address.
async fn server(response: Vec<u8>, then_waits: bool) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let response = response.clone();
            tokio::spawn(async move {
                let mut request = [0; 1_024];
                _ = stream.read(&mut request).await;
                _ = stream.write_all(&response).await;
                if then_waits {
                    std::future::pending::<()>().await;
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn a_name_is_refused_if_one_of_its_addresses_is_private() {
    let local = server(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), false).await;
    let public = "1.1.1.1:80".parse().unwrap();
    for addresses in [&[local][..], &[public, local]] {
        let attempt = send(&sender(STRICT, addresses), "http://shop.example/").await;
        let error = attempt.error.unwrap();
        assert_eq!(error, "the host has a private or local address");
    }
    let attempt = send(&sender(LENIENT, &[local]), "http://shop.example/").await;
    assert_eq!((attempt.status, attempt.error), (Some(200), None));
}

#[tokio::test]
async fn the_rules_hold_for_stored_urls_too() {
    for url in [
        "http://127.0.0.1:8080/",
        "http://0x7f.1:8080/",
        "ftp://shop.example/",
    ] {
        let attempt = send(&sender(STRICT, &[]), url).await;
        assert_eq!(attempt.status, None);
        assert!(attempt.error.unwrap().starts_with("must "), "{url}");
    }
}

#[tokio::test]
async fn a_name_without_an_address_fails() {
    let attempt = send(&sender(LENIENT, &[]), "http://shop.example/").await;
    assert_eq!(
        attempt.error.unwrap(),
        "the name of the host has no address"
    );
}

#[tokio::test]
async fn a_response_has_a_limit_in_time() {
    for response in [&b""[..], b"HTTP/1.1 200 OK\r\na: "] {
        let address = server(response.to_vec(), true).await;
        let mut sender = sender(LENIENT, &[address]);
        sender.timeout = Duration::from_millis(200);
        let attempt = send(&sender, "http://shop.example/").await;
        assert_eq!(attempt.error.unwrap(), "no response within 200ms");
        assert!(attempt.duration >= Duration::from_millis(200));
    }
}

#[tokio::test]
async fn the_body_of_a_response_is_not_waited_for() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\nabc";
    let address = server(head.to_vec(), true).await;
    let attempt = send(&sender(LENIENT, &[address]), "http://shop.example/").await;
    assert_eq!((attempt.status, attempt.error), (Some(200), None));
}

#[tokio::test]
async fn the_head_of_a_response_has_a_limit() {
    let mut head = b"HTTP/1.1 200 OK\r\n".to_vec();
    for _ in 0..2_000 {
        head.extend(b"x-long: 0123456789012345678901234567890123456789\r\n");
    }
    let address = server(head, true).await;
    let attempt = send(&sender(LENIENT, &[address]), "http://shop.example/").await;
    assert!(attempt.error.unwrap().starts_with("no response: "));
}

#[tokio::test]
async fn https_needs_a_certificate_that_is_trusted() {
    let address = server(b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), false).await;
    let attempt = send(&sender(LENIENT, &[address]), "https://shop.example/").await;
    let error = attempt.error.unwrap();
    assert!(error.starts_with("TLS: "), "{error}");
}
