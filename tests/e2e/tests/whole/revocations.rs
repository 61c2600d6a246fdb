//! Revoked tokens at the gateway and at a service, and both while identity-svc is away.

use std::time::Duration;

use e2e::{TestApp, text};
use platform::{
    auth::{Caller, Grant, Kind, Role},
    clock::Clock,
};
use proto::wallet::v1::{
    CreatePaymentRequest, GetWalletRequest, transaction_service_client::TransactionServiceClient,
    wallet_service_client::WalletServiceClient,
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use stack::{Auth, Service, StackOptions};
use tonic::{
    Code, Request,
    transport::{Channel, Endpoint},
};

const IDENTITY: &str = "identity-svc";

/// Starts a stack; its client sends the API key.
async fn start(name: &str) -> TestApp {
    let mut options = StackOptions::for_test(name).expect("options");
    options.auth = Auth::Required;
    let key = options.secrets.api_key.clone();
    TestApp::start(options).await.with_header("apikey", &key)
}

/// Signs the token of a user, as at a login.
async fn sign(app: &TestApp, user: &Value) -> String {
    let caller = Caller {
        kind: Kind::User,
        subject: text(&user["id"]).to_owned(),
        roles: vec![Role::User],
    };
    app.token_issuer().await.issue(Grant {
        caller: &caller,
        version: 0,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "e2e",
    })
}

/// A user who calls the gateway, and wallet-svc without it.
struct Client {
    url: String,
    token: String,
    wallet: String,
    service: Channel,
}

impl Client {
    async fn new(app: &TestApp, user: &Value) -> Self {
        let address = app.stack.wiring().grpc_url(Service::Wallet);
        let connected = Endpoint::from_shared(address)
            .expect("a url")
            .connect()
            .await;
        Self {
            url: format!("{}/wallets", app.base()),
            token: sign(app, user).await,
            wallet: text(&user["primaryWalletId"]).to_owned(),
            service: connected.expect("wallet-svc listens"),
        }
    }

    /// Reads at the gateway.
    async fn http(&self) -> StatusCode {
        let request = reqwest::Client::new().get(&self.url);
        let response = request.bearer_auth(&self.token).send().await;
        response.expect("a response").status()
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let header = format!("Bearer {}", self.token).parse();
        let metadata = request.metadata_mut();
        metadata.insert("authorization", header.expect("a header"));
        request
    }

    /// Reads at wallet-svc.
    async fn grpc(&self) -> Code {
        let id = self.wallet.clone();
        let request = self.request(GetWalletRequest { id });
        let mut client = WalletServiceClient::new(self.service.clone());
        let response = client.get_wallet(request).await;
        response.map_or_else(|status| status.code(), |_| Code::Ok)
    }

    /// Asks wallet-svc for a change.
    async fn grpc_change(&self) -> Code {
        let request = self.request(CreatePaymentRequest::default());
        let mut client = TransactionServiceClient::new(self.service.clone());
        let response = client.create_payment(request).await;
        response.map_or_else(|status| status.code(), |_| Code::Ok)
    }
}

/// Returns an error for [`TestApp::eventually`] unless the values are equal.
fn expect<T: Copy + PartialEq + std::fmt::Debug>(actual: T, expected: T) -> Result<(), String> {
    let error = || format!("{actual:?}, not {expected:?}");
    (actual == expected).then_some(()).ok_or_else(error)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_token_of_a_blocked_user_is_refused_everywhere() {
    let app = start("blocked").await;
    let (ann, bob) = (app.create_user("ann").await, app.create_user("bob").await);
    let (blocked, other) = (Client::new(&app, &ann).await, Client::new(&app, &bob).await);
    for client in [&blocked, &other] {
        assert_eq!(client.http().await, StatusCode::OK);
        assert_eq!(client.grpc().await, Code::Ok);
    }
    let path = format!("/users/{}/block", text(&ann["id"]));
    assert_eq!(app.post(&path, json!({})).await.status, 204);
    app.eventually(|| async { expect(blocked.http().await, StatusCode::UNAUTHORIZED) })
        .await;
    app.eventually(|| async { expect(blocked.grpc().await, Code::Unauthenticated) })
        .await;
    assert_eq!(other.http().await, StatusCode::OK);
    assert_eq!(other.grpc().await, Code::Ok);
    app.assert_settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_wait_for_identity_svc_and_reads_do_not() {
    let app = start("no-identity").await;
    let user = app.create_user("ann").await;
    let client = Client::new(&app, &user).await;
    let create = || app.post("/categories", json!({ "title": "Tea" }));
    assert_eq!(create().await.status, 201);
    // Both have the keys that verify tokens.
    assert_eq!(
        (client.http().await, client.grpc().await),
        (StatusCode::OK, Code::Ok)
    );

    app.stack.stop(IDENTITY).expect("identity-svc stops");
    app.eventually(|| async {
        let response = create().await;
        let delay = response.headers.contains_key("retry-after");
        expect((response.status.as_u16(), delay), (503, true))
    })
    .await;
    app.eventually(|| async { expect(client.grpc_change().await, Code::Unavailable) })
        .await;
    app.get_data("/categories").await;
    assert_eq!(
        (client.http().await, client.grpc().await),
        (StatusCode::OK, Code::Ok)
    );

    app.stack
        .start_again(IDENTITY, &[])
        .expect("it starts again");
    app.eventually(|| async { expect(create().await.status.as_u16(), 201) })
        .await;
    app.assert_settled().await;
}
