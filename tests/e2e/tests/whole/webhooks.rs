//! Webhooks: an order is placed and paid, and a back end is told.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use e2e::{TestApp, text, usd};
use hmac::{Hmac, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;
use stack::StackOptions;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// A request that arrived.
#[derive(Debug, Clone)]
struct Received {
    headers: HashMap<String, String>,
    body: Vec<u8>,
}

impl Received {
    fn payload(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    fn is_signed_by(&self, secret: &str) -> bool {
        let key = secret.strip_prefix("whsec_").expect("the prefix");
        let key = BASE64.decode(key).expect("base64");
        let (id, time) = (
            &self.headers["webhook-id"],
            &self.headers["webhook-timestamp"],
        );
        let mut mac = Hmac::<Sha256>::new_from_slice(&key).expect("any length");
        mac.update(format!("{id}.{time}.").as_bytes());
        mac.update(&self.body);
        let expected = format!("v1,{}", BASE64.encode(mac.finalize().into_bytes()));
        self.headers["webhook-signature"] == expected
    }
}

/// A back end that records what it is sent.
#[derive(Debug, Clone, Default)]
struct BackEnd(Arc<Mutex<Vec<Received>>>);

impl BackEnd {
    async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("bound");
        let back_end = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let back_end = back_end.clone();
                tokio::spawn(async move { back_end.receive(stream).await });
            }
        });
        address
    }

    async fn receive(&self, stream: TcpStream) -> Option<()> {
        let mut stream = BufReader::new(stream);
        let mut headers = HashMap::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok()?;
            match line.trim_end().split_once(": ") {
                Some((name, value)) => {
                    headers.insert(name.to_lowercase(), value.to_owned());
                }
                None if line.starts_with("POST ") => {}
                None => break,
            }
        }
        let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
        stream.read_exact(&mut body).await.ok()?;
        self.note(Received { headers, body });
        let response = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n";
        stream.write_all(response).await.ok()
    }

    fn note(&self, received: Received) {
        self.0.lock().expect("no holder panics").push(received);
    }

    fn received(&self) -> Vec<Received> {
        self.0.lock().expect("no holder panics").clone()
    }

    /// Waits for an event of this type and returns its request.
    async fn event(&self, app: &TestApp, event_type: &str) -> Received {
        let find = || {
            let mut received = self.received().into_iter();
            received.find(|it| it.payload()["type"] == event_type)
        };
        app.eventually(|| async { find().map(drop).ok_or_else(|| format!("no {event_type}")) })
            .await;
        find().expect("it has arrived")
    }
}

/// Starts identity-svc again so that it sends to this machine.
fn allow_local_targets(app: &TestApp) {
    let allowed = ["WEBHOOK_ALLOW_HTTP", "WEBHOOK_ALLOW_PRIVATE"];
    let allowed = allowed.map(|name| (name.to_owned(), "true".to_owned()));
    app.stack.stop("identity-svc").expect("it runs");
    app.stack
        .start_again("identity-svc", &allowed)
        .expect("it starts again");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_back_end_is_told_of_orders_transactions_users_and_tasks() {
    let app = TestApp::start(StackOptions::for_test("webhooks").expect("options")).await;
    allow_local_targets(&app);
    let back_end = BackEnd::default();
    let url = format!("http://{}/hook", back_end.start().await);
    let webhook = json!({"url": url, "events": ["*"]});
    let webhook = app.create("/webhooks", webhook).await;

    let user = app.create_user("ada").await;
    app.deposit(&user["primaryWalletId"], "100.00").await;
    let product = app.create_product("Tea", "8", "0").await;
    let order = json!({"userId": user["id"], "walletId": user["primaryWalletId"],
        "lines": [{"productId": product["id"]}]});
    let order = app.create("/orders", order).await;
    assert_eq!(order["paymentStatus"], "fully_paid");

    for (event_type, name, expected) in [
        ("user.user.created", "userId", &user["id"]),
        (
            "transaction.deposit.confirmed",
            "destinationWalletId",
            &user["primaryWalletId"],
        ),
        ("store.order.created", "orderId", &order["id"]),
        ("store.order.paid", "orderId", &order["id"]),
    ] {
        let event = back_end.event(&app, event_type).await;
        assert!(event.is_signed_by(text(&webhook["secret"])), "{event:?}");
        let payload = event.payload();
        assert_eq!(&payload["data"][name], expected, "{payload}");
        let sent = String::from_utf8_lossy(&event.body).into_owned();
        assert!(!sent.contains("example.com"), "no email: {sent}");
    }
    let paid = back_end.event(&app, "store.order.paid").await.payload();
    assert_eq!(paid["data"]["amount"], usd("9.60"));

    // What arrives again from the broker is no other event.
    app.publish_again("guerdon.orders.v1.OrderPaid").await;
    app.assert_settled().await;
    let received = back_end.received().into_iter();
    let paid = received.filter(|it| it.payload()["type"] == "store.order.paid");
    assert_eq!(paid.count(), 1);
}
