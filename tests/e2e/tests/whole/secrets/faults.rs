//! Faults of a system, whose reports tend to quote settings: malformed ones, and servers that go away.

use e2e::TestApp;
use reqwest::Method;
use serde_json::json;
use stack::Variable;

use super::{canary::Canaries, client::Client};

/// Settings with which a process does not start.
fn impossible(app: &TestApp, canaries: &Canaries) -> Vec<(&'static str, Variable)> {
    let secret = canaries.secret("setting");
    let set = |process, name: &str, value: String| (process, (name.to_owned(), value));
    let database = app.stack.wiring().admin_url().expect("a url");
    let (_, server) = database.rsplit_once('@').expect("a url with a password");
    vec![
        set(
            "catalog-svc",
            "CATALOG_DATABASE_URL",
            format!("postgres://guerdon_catalog_app:{secret}@{server}"),
        ),
        set(
            "catalog-svc",
            "CATALOG_DATABASE_URL",
            format!("postgres//{secret}"),
        ),
        set("catalog-svc", "NATS_URL", format!("nats//{secret}:x:y")),
        set("catalog-svc", "SERVICE_SECRET", canaries.tag.clone()),
        set(
            "identity-svc",
            "IDENTITY_KEY_ENCRYPTION_KEY",
            secret.clone(),
        ),
        set("identity-svc", "BOOTSTRAP_API_KEY", secret.clone()),
        set(
            "identity-svc",
            "SMTP_URL",
            format!("smtp//shop:{secret}@mail"),
        ),
        set(
            "identity-svc",
            "SMTP_URL",
            format!("smtp://shop:{secret}@192.0.2.1"),
        ),
        set(
            "identity-svc",
            "ORDERS_SERVICE_SECRET",
            canaries.tag.clone(),
        ),
        set("wallet-svc", "HD_PUBLIC_KEYS", format!("btc=xprv{secret}")),
    ]
}

/// Starts processes with settings that are wrong, and then with the right ones again.
pub(super) fn wrong_settings(app: &TestApp, canaries: &Canaries) {
    for (process, setting) in impossible(app, canaries) {
        app.stack.stop(process).expect("it runs");
        let name = setting.0.clone();
        let started = app.stack.start_again(process, &[setting]);
        assert!(started.is_err(), "{process} starts with a wrong {name}");
        app.stack
            .start_again(process, &[])
            .expect("it starts again");
    }
}

/// Takes the broker away for a while, the connections to the database, and the ledger while somebody
/// signs up.
pub(super) async fn outages(app: &TestApp, client: &mut Client, canaries: &Canaries) {
    app.stack.stop_nats().expect("it runs");
    let mut database = app.connect().await;
    sqlx::query(
        "select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()",
    )
    .execute(&mut database)
    .await
    .expect("connections end");
    app.stack.stop("wallet-svc").expect("it runs");
    let new = json!({"email": canaries.email("late"), "password": canaries.password("late")});
    client
        .expect(client.post("/users").json(&new), &[503, 504])
        .await;
    let log = client.admin(Method::GET, "/audit-log");
    client.expect(log, &[503, 504]).await;
    app.stack.start_nats().expect("it starts again");
    app.stack
        .start_again("wallet-svc", &[])
        .expect("it starts again");
    let late = format!("/users?filter[email]={}", canaries.email("late"));
    app.eventually(|| async {
        let request = client.admin(Method::GET, &late);
        let body = client.receive(request, 200).await;
        let is_there = body.as_array().is_some_and(|users| users.len() == 1);
        is_there
            .then_some(())
            .ok_or("the user is not created".to_owned())
    })
    .await;
}
