//! What people and programs do with secrets, rightly and wrongly.

use e2e::{TestApp, text};
use proto::{
    identity::v1::{IssueServiceTokenRequest, auth_service_client::AuthServiceClient},
    wallet::v1::{ListWalletsRequest, wallet_service_client::WalletServiceClient},
};
use reqwest::Method;
use serde_json::{Value, json};
use stack::Service;
use tonic::{Code, Request, transport::Endpoint};

use super::{canary::Canaries, client::Client, mailbox::Mailbox};

const REFUSED: &[u16] = &[400, 401, 403, 404, 409, 413, 415, 422, 429];

/// Users sign up, log in, and make every mistake with a password.
pub(super) async fn passwords(client: &mut Client, canaries: &Canaries) -> Value {
    let (email, password) = (canaries.email("ann"), canaries.password("right"));
    let new = json!({"email": email, "password": password, "approved": true, "name": "Ann"});
    let ann = client.admin(Method::POST, "/users").json(&new);
    let ann = client.receive(ann, 201).await;
    let open = json!({"email": canaries.email("bob"), "password": canaries.password("bob")});
    client.receive(client.post("/users").json(&open), 201).await;

    let wrong = canaries.password("wrong");
    for body in [
        json!({"email": email, "password": wrong}),
        // The password where the email belongs.
        json!({"email": wrong, "password": email}),
        json!({"email": email, "password": wrong, "passwort": wrong}),
        json!({"email": email, "password": [wrong]}),
        json!({"email": email, "password": {"is": wrong}}),
        json!({"email": email, "password": wrong.repeat(20)}),
        json!({"email": email, "password": format!("{wrong}\0")}),
        json!([email, wrong]),
        json!(wrong),
    ] {
        for path in ["/auth/token", "/users"] {
            client.expect(client.post(path).json(&body), REFUSED).await;
        }
        let id = text(&ann["id"]);
        let change = client.admin(Method::POST, &format!("/users/{id}/change-password"));
        client.expect(change.json(&body), REFUSED).await;
    }
    let unknown = json!({"email": canaries.email("nobody"), "password": wrong});
    client
        .expect(client.post("/auth/token").json(&unknown), &[401])
        .await;
    for name in [&*wrong, &*email] {
        // The response names the field, the log must not.
        let named = json!({"email": email, "password": wrong, name: {name: 1}});
        client
            .refuse(client.post("/auth/token").json(&named), 422)
            .await;
    }
    malformed(client, &email, &wrong).await;
    weak(client, canaries, &ann).await;
    ann
}

/// Bodies that are no JSON, and contents that are none.
async fn malformed(client: &mut Client, email: &str, wrong: &str) {
    for body in [
        format!(r#"{{"email":"{email}","password":"{wrong}""#),
        format!(r#"{{"email":"{email}","password":"{wrong}",}}"#),
        format!(r#"{{"email":"{email}","password":{wrong}}}"#),
        format!(r#"{{"email":"{email}","password":"{wrong}","password":"{wrong}"}}"#),
        format!("email={email}&password={wrong}"),
        format!("{}{wrong}", "[".repeat(50)),
        wrong.repeat(60_000),
    ] {
        for media in ["application/json", "text/plain"] {
            let request = client.post("/auth/token").header("content-type", media);
            client.expect(request.body(body.clone()), REFUSED).await;
        }
    }
    let query = format!("/auth/token?email={email}&password={wrong}&filter[password]={wrong}");
    client.expect(client.post(&query), REFUSED).await;
    let query = format!("/users?apikey={wrong}&access_token={wrong}");
    client
        .expect(client.request(Method::GET, &query), REFUSED)
        .await;
}

/// New passwords that break a rule.
async fn weak(client: &mut Client, canaries: &Canaries, user: &Value) {
    let secret = canaries.secret("weak");
    let path = format!("/users/{}/change-password", text(&user["id"]));
    for password in [
        secret.clone(),
        format!("{secret}{}", "A1".repeat(200)),
        canaries.email("ann"),
    ] {
        let change = client
            .admin(Method::POST, &path)
            .json(&json!({"password": password}));
        client.expect(change, &[422]).await;
        let new = json!({"email": canaries.email("eve"), "password": password});
        // Eve's password is not made of her email.
        client
            .expect(client.post("/users").json(&new), &[422])
            .await;
    }
    let taken = json!({"email": canaries.email("ann"), "password": canaries.password("taken")});
    client
        .expect(client.post("/users").json(&taken), &[409])
        .await;
}

/// Sessions: tokens are issued, refreshed, copied, revoked and mistreated.
pub(super) async fn sessions(client: &mut Client, canaries: &mut Canaries, user: &Value) {
    let login = json!({"email": canaries.email("ann"), "password": canaries.password("right")});
    let first = client
        .receive(client.post("/auth/token").json(&login), 200)
        .await;
    let refresh = json!({"refreshToken": first["refreshToken"]});
    let second = client
        .receive(client.post("/auth/token/refresh").json(&refresh), 200)
        .await;
    for tokens in [&first, &second] {
        let (_, signature) = text(&tokens["token"]).rsplit_once('.').expect("a JWT");
        canaries.add("a token", signature);
        canaries.add("a refresh token", text(&tokens["refreshToken"]));
    }
    let token = text(&second["token"]).to_owned();
    let own = client.request(Method::GET, &format!("/users/{}", text(&user["id"])));
    client.receive(own.bearer_auth(&token), 200).await;
    let valid = client
        .post("/auth/token/validate")
        .json(&json!({"token": token}));
    client.receive(valid, 200).await;
    client
        .expect(
            client.post("/orders").bearer_auth(&token).body("{"),
            REFUSED,
        )
        .await;

    let last = second["refreshToken"].clone();
    for path in [
        "/auth/token/refresh",
        "/auth/token/revoke",
        "/auth/token/validate",
    ] {
        for body in [
            json!({"refreshToken": [last], "token": [token]}),
            json!({"refreshToken": last, "more": token}),
            json!({"token": token, "more": last}),
            json!({"token": canaries.secret("token")}),
        ] {
            client.expect(client.post(path).json(&body), REFUSED).await;
        }
        let cut = format!("{{\"refreshToken\":{last},\"token\":\"{token}");
        let cut = client
            .post(path)
            .header("content-type", "application/json")
            .body(cut);
        client.expect(cut, REFUSED).await;
    }
    let tampered = format!("{}x", &token[..token.len() - 1]);
    client
        .expect(
            client.request(Method::GET, "/users").bearer_auth(tampered),
            REFUSED,
        )
        .await;
    // Used before: the family ends, which is logged.
    let reused = client.post("/auth/token/refresh").json(&refresh);
    client.expect(reused, &[401]).await;
    let revoked = client
        .post("/auth/token/revoke")
        .json(&json!({"refreshToken": last}));
    client.expect(revoked, &[204]).await;
}

/// The secrets of a webhook, which sign what it is sent.
pub(super) async fn webhooks(client: &mut Client, canaries: &mut Canaries) {
    let new = json!({"url": "https://shop.example/hook", "events": ["*"]});
    let create = |client: &Client| {
        let create = client.admin(Method::POST, "/webhooks");
        create.header("idempotency-key", "webhook").json(&new)
    };
    let created = client.receive(create(client), 201).await;
    let path = format!("/webhooks/{}", text(&created["id"]));
    let rotate = client.admin(Method::POST, &format!("{path}/rotate-secret"));
    let rotated = client.receive(rotate.json(&json!({})), 200).await;
    for webhook in [&created, &rotated] {
        canaries.add("the secret of a webhook", text(&webhook["secret"]));
    }
    client.expect(create(client), &[201]).await;
    client
        .expect(client.admin(Method::GET, &path), &[200])
        .await;
    let ping = client.admin(Method::POST, &format!("{path}/ping"));
    client.expect(ping.json(&json!({})), &[200]).await;
    let secret = json!({"secret": created["secret"]});
    let refused = client.admin(Method::PATCH, &path).json(&secret);
    client.expect(refused, REFUSED).await;
}

/// API keys and other credentials in headers.
pub(super) async fn credentials(client: &mut Client, canaries: &mut Canaries) {
    let create = client
        .admin(Method::POST, "/api-keys")
        .header("idempotency-key", "api-key");
    let new = json!({"name": "Back end", "roles": ["admin"]});
    let created = client.receive(create.json(&new), 201).await;
    let key = text(&created["key"]).to_owned();
    canaries.add("an API key", &key);
    let again = client
        .admin(Method::POST, "/api-keys")
        .header("idempotency-key", "api-key");
    client.expect(again.json(&new), &[201]).await;
    let with_secret = json!({"name": "Back end", "roles": ["admin"], "key": key});
    let refused = client.admin(Method::POST, "/api-keys").json(&with_secret);
    client.expect(refused, REFUSED).await;

    let secret = canaries.secret("header");
    let users = |client: &Client| client.request(Method::GET, "/products");
    client
        .expect(users(client).header("apikey", &key), &[200])
        .await;
    client.expect(users(client).bearer_auth(&key), &[200]).await;
    for (name, value) in [
        ("apikey", secret.clone()),
        ("apikey", format!("gk_{secret}")),
        ("authorization", secret.clone()),
        ("authorization", format!("Bearer {secret}")),
        ("authorization", format!("Bearer gk_{secret}")),
        (
            "authorization",
            format!("Bearer eyJhbGciOiJub25lIn0.{secret}.{secret}"),
        ),
        ("authorization", format!("Digest {secret}")),
    ] {
        client
            .expect(users(client).header(name, value), REFUSED)
            .await;
    }
    client
        .expect(users(client).basic_auth(&secret, Some(&secret)), REFUSED)
        .await;
    let twice = users(client)
        .header("apikey", &key)
        .header("apikey", &secret);
    client.expect(twice, REFUSED).await;
    for name in [
        "cookie",
        "proxy-authorization",
        "x-api-key",
        "x-auth-token",
        "traceparent",
        "baggage",
        "tracestate",
        "user-agent",
        "referer",
    ] {
        client
            .expect(
                users(client).header("apikey", &key).header(name, &secret),
                &[200],
            )
            .await;
    }
    let path = format!("/api-keys/{}", text(&created["id"]));
    client
        .expect(client.admin(Method::DELETE, &path), &[204])
        .await;
}

/// Idempotency keys, payment data, and settings that hold secrets.
pub(super) async fn others(client: &mut Client, canaries: &Canaries, user: &Value) {
    let key = canaries.secret("idempotency");
    for key in [key.clone(), key.repeat(20)] {
        let wallet = client
            .admin(Method::POST, "/wallets")
            .header("idempotency-key", &key);
        client
            .expect(wallet.json(&json!({"name": "Shop"})), &[201, 400])
            .await;
    }
    let wallet = client
        .admin(Method::POST, "/wallets")
        .header("idempotency-key", &key);
    client
        .expect(wallet.json(&json!({"name": "Other"})), &[422])
        .await;
    let methods = client.admin(Method::GET, "/payment-methods");
    let methods = client.expect(methods, &[200]).await;
    assert_eq!(methods["total"], 1, "the method with a secret");
    let invite = client.admin(Method::POST, "/invites/send").json(&json!({
        "email": canaries.email("friend"), "inviterUserId": user["id"]}));
    client.expect(invite, &[204]).await;
    let task = json!({"name": "Survey", "description": "Two questions", "type": "manual",
        "amount": "1"});
    let task = client
        .receive(client.admin(Method::POST, "/tasks").json(&task), 201)
        .await;
    let complete = format!("/tasks/{}/complete", text(&task["id"]));
    let complete = client
        .admin(Method::POST, &complete)
        .json(&json!({"userId": user["id"]}));
    client.receive(complete, 200).await;
    let block = format!("/users/{}/block", text(&user["id"]));
    client
        .expect(client.admin(Method::POST, &block), &[204])
        .await;
    let log = client.admin(Method::GET, "/audit-log?page[size]=1000");
    client.expect(log, &[200]).await;
}

/// Tokens in mails: asked for, mistreated, used, used again.
pub(super) async fn mails(
    app: &TestApp,
    client: &mut Client,
    canaries: &mut Canaries,
    mailbox: &Mailbox,
) {
    let next = canaries.password("next");
    for (ask, use_up) in [
        ("/users/forgot-password", "/users/reset-password"),
        ("/users/resend-confirmation", "/users/confirm-email"),
    ] {
        let email = canaries.email("ann");
        let asked = client.post(ask).json(&json!({"email": email}));
        client.expect(asked, &[204]).await;
        for body in [
            json!({"email": [email]}),
            json!({"email": email, "more": next}),
            json!({"email": next}),
            json!({"email": canaries.email("nobody")}),
        ] {
            let asked = client.post(ask).json(&body);
            client.expect(asked, &[204, 422]).await;
        }
        let page = use_up.trim_start_matches("/users/");
        let token = mail_token(app, mailbox, &email, page).await;
        canaries.add("a token of a mail", &token);
        let mut body = json!({"token": token});
        if page == "reset-password" {
            body["password"] = json!(next);
        }
        for wrong in [
            json!({"token": [token], "password": next}),
            json!({"token": token, "password": canaries.secret("weak")}),
            json!({"token": token, "password": next, "more": next}),
            json!({"token": canaries.secret("mail"), "password": next}),
        ] {
            client
                .expect(client.post(use_up).json(&wrong), &[422])
                .await;
        }
        client.expect(client.post(use_up).json(&body), &[204]).await;
        client.expect(client.post(use_up).json(&body), &[422]).await;
    }
}

async fn mail_token(app: &TestApp, mailbox: &Mailbox, email: &str, page: &str) -> String {
    app.eventually(|| async {
        let token = mailbox.token_for(email, page);
        token
            .map(|_| ())
            .ok_or_else(|| format!("no mail leads to {page}"))
    })
    .await;
    mailbox.token_for(email, page).expect("a mail")
}

/// gRPC callers with wrong secrets and tokens.
pub(super) async fn services(app: &TestApp, canaries: &Canaries) -> String {
    let channel = |service| {
        let url = app.stack.wiring().grpc_url(service);
        Endpoint::from_shared(url).expect("a url").connect_lazy()
    };
    let mut auth = AuthServiceClient::new(channel(Service::Identity));
    let secret = canaries.secret("of-a-service");
    let request = IssueServiceTokenRequest {
        service: "orders-svc".to_owned(),
        secret: secret.clone(),
    };
    let refused = auth
        .issue_service_token(request)
        .await
        .expect_err("a wrong secret");
    assert_eq!(refused.code(), Code::Unauthenticated);
    let mut wallets = WalletServiceClient::new(channel(Service::Wallet));
    let mut request = Request::new(ListWalletsRequest::default());
    let token = format!("Bearer {secret}").parse().expect("ASCII");
    request.metadata_mut().insert("authorization", token);
    let rejected = wallets
        .list_wallets(request)
        .await
        .expect_err("a wrong token");
    assert_eq!(rejected.code(), Code::Unauthenticated);
    format!("{refused:?} {rejected:?}")
}
