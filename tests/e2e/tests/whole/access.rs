//! The access matrix of `gateway/ACCESS.md`, cell by cell, against a running stack.

pub(crate) mod samples;

use std::time::Duration;

use e2e::TestApp;
use platform::{
    auth::{Caller, Grant, Kind, Role, TokenIssuer},
    clock::Clock,
};
use reqwest::{Client, Method, Response, header::CONTENT_TYPE};
use serde_json::Value;
use stack::{Auth, StackOptions};

use self::samples::Samples;

const PAGE: &str = include_str!("../../../../gateway/ACCESS.md");

/// A row of the page.
pub(crate) struct Row {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// What each caller gets, by the head of the table.
    cells: Vec<(&'static str, &'static str)>,
}

/// Reads the second table of the page.
pub(crate) fn rows() -> Vec<Row> {
    let lines = PAGE
        .lines()
        .skip_while(|line| !line.starts_with("| route |"));
    let mut rows = lines.map(|line| {
        let cells = line.trim_matches('|').split(" | ").map(str::trim);
        cells.collect::<Vec<_>>()
    });
    let head = rows.next().expect("the table of routes");
    rows.skip(1)
        .map(|row| {
            let (method, path) = row[0].trim_matches('`').split_once(' ').expect("a route");
            Row {
                method: method.parse().expect("a method"),
                path,
                cells: head[1..]
                    .iter()
                    .copied()
                    .zip(row[1..].iter().copied())
                    .collect(),
            }
        })
        .collect()
}

/// Issues tokens as identity-svc does, with its key.
struct Tokens(TokenIssuer);

impl Tokens {
    fn of(&self, kind: Kind, subject: &str, roles: &[Role]) -> String {
        self.0.issue(Grant {
            caller: &Caller {
                kind,
                subject: subject.to_owned(),
                roles: roles.to_vec(),
            },
            version: 0,
            now: Clock::system().now(),
            lifetime: Duration::from_mins(10),
            id: "test",
        })
    }

    /// Returns the token of a caller of the page; `None` for one without credentials.
    fn caller(&self, name: &str, samples: &Samples) -> Option<String> {
        let user = |user: &Value| {
            let id = user["id"].as_str().expect("an id");
            Some(self.of(Kind::User, id, &[Role::User]))
        };
        match name {
            "anonymous" => None,
            "key without roles" => Some(self.of(Kind::Key, "no-roles", &[])),
            "another user" => user(&samples.other),
            "owner" => user(&samples.owner),
            "admin" => Some(self.of(Kind::Key, "admin", &[Role::Admin])),
            "service" => Some(self.of(Kind::Service, "orders-svc", &[Role::Admin])),
            other => panic!("the page has a caller {other}: say here who that is"),
        }
    }
}

/// Tells whether a status is what the cell says. What is allowed may still be refused for its content.
fn fits(status: u16, cell: &str) -> bool {
    match cell {
        "yes" | "own" => !matches!(status, 401 | 403 | 404 | 405) && status < 500,
        expected => status.to_string() == expected,
    }
}

/// Returns the body of a response, but not of one that never ends.
async fn text(response: Response) -> String {
    let content_type = response.headers().get(CONTENT_TYPE);
    if content_type.is_some_and(|it| it == "text/event-stream") {
        return String::new();
    }
    response.text().await.expect("a body")
}

/// Starts wallet-svc again with the payment methods of the example.
fn configure_payment_methods(app: &TestApp) {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../deploy/payment-methods.example.toml"
    );
    app.stack.stop("wallet-svc").expect("it runs");
    let setting = [("PAYMENT_METHODS_FILE".to_owned(), file.to_owned())];
    app.stack
        .start_again("wallet-svc", &setting)
        .expect("wallet-svc starts again");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_route_gives_every_caller_what_the_page_says() {
    let mut options = StackOptions::for_test("access").expect("options");
    options.auth = Auth::Required;
    let app = TestApp::start(options).await;
    let tokens = Tokens(app.token_issuer().await);
    configure_payment_methods(&app);
    let admin = tokens.of(Kind::Key, "admin", &[Role::Admin]);
    let app = app.with_header("authorization", &format!("Bearer {admin}"));
    let samples = Samples::create(&app).await;

    let (client, mut wrong) = (Client::new(), Vec::new());
    for row in rows() {
        // An admin's call may end what it names, so every row has its own, and the admin comes last.
        let is_owners = row.cells.contains(&("owner", "yes"));
        let request = samples.request(&app, &row.method, row.path, is_owners);
        let (path, body) = request.await;
        let mut cells = row.cells.clone();
        cells.sort_by_key(|(caller, _)| *caller == "admin");
        for (caller, cell) in cells {
            let url = format!("{}{path}", app.base());
            let mut request = client.request(row.method.clone(), url);
            if let Some(token) = tokens.caller(caller, &samples) {
                request = request.bearer_auth(token);
            }
            if let Some(body) = &body {
                request = request.json(body);
            }
            let response = request.send().await.expect("the gateway responds");
            let status = response.status().as_u16();
            let text = text(response).await;
            if !fits(status, cell) {
                let (method, path) = (&row.method, row.path);
                wrong.push(format!(
                    "{caller}: {method} {path}: {status}, not {cell}: {text}"
                ));
            }
            if cell == "own" && caller == "another user" && samples.is_named_in(&text) {
                wrong.push(format!("{caller}: {} shows the owner's: {text}", row.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
