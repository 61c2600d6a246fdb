//! `/events`

use std::{collections::BTreeSet, sync::LazyLock, time::Duration};

use platform::auth::{Kind, Revocation, Revocations};
use proto::identity::v1::{PublicEvent, WatchEventsResponse};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::harness::{ID, TestApp, problem};

const WATCH: &str = "EventService/WatchEvents";
const TIMEOUT: Duration = Duration::from_secs(30);

fn paid(reset: bool) -> WatchEventsResponse {
    WatchEventsResponse {
        reset,
        events: vec![PublicEvent {
            id: ID.to_owned(),
            r#type: "store.order.paid".to_owned(),
            payload: r#"{"data":{}}"#.to_owned(),
            ..PublicEvent::default()
        }],
    }
}

/// Returns the fields of a message in the OpenAPI document, all of which it requires.
fn documented_fields() -> BTreeSet<&'static str> {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(include_str!("../../../openapi.json")).expect("JSON")
    });
    let required = &DOCUMENT["components"]["schemas"]["EventMessage"]["required"];
    let required = required.as_array().expect("a list").iter();
    required.filter_map(Value::as_str).collect()
}

async fn next(response: &mut Response) -> Option<String> {
    let chunk = timeout(TIMEOUT, response.chunk()).await.expect("in time");
    let chunk = chunk.expect("a whole chunk")?;
    Some(String::from_utf8_lossy(&chunk).into_owned())
}

#[tokio::test]
async fn events_are_sent_as_they_come() {
    let app = TestApp::start().await;
    app.services.reply_stream(
        WATCH,
        &[paid(true), WatchEventsResponse::default(), paid(false)],
    );
    let path = format!("/events?types=store.order.paid,user.*&lastEventId={ID}");
    let response = app.exchange(app.admin("GET", &path)).await;
    let message = format!("id: {ID}\nevent: store.order.paid\ndata: {{\"data\":{{}}}}\n\n");
    let expected = format!("id\nevent: reset\ndata: {{}}\n\n{message}:\n\n{message}");
    assert_eq!(response.body, expected);
    for message in expected
        .split("\n\n")
        .filter(|message| message.starts_with("id"))
    {
        let fields = message.lines().filter_map(|line| line.split(':').next());
        assert_eq!(fields.collect::<BTreeSet<_>>(), documented_fields());
    }
    let asked = json!({"after_id": ID, "types": ["store.order.paid", "user.*"]});
    assert_eq!(response.call().message, asked);
}

#[tokio::test]
async fn the_header_says_where_to_continue() {
    let app = TestApp::start().await;
    let request = app.admin("GET", "/events").header("last-event-id", ID);
    let response = request.send().await.expect("a response");
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["cache-control"], "no-store");
    let calls = app.services.take_calls();
    assert_eq!(calls[0].message, json!({ "after_id": ID }));
    let twice = app.admin("GET", "/events?types=*&types=*");
    problem(twice, 400, "invalid_query").await;
    problem(app.user("GET", "/events"), 403, "forbidden").await;
}

#[tokio::test]
async fn a_stream_ends_with_its_credentials() {
    let revocations = Revocations::own();
    let app = TestApp::start_knowing(revocations.clone(), &[]).await;
    app.services.reply_open(WATCH, &paid(false));
    let request = app.admin("GET", "/events");
    let mut response = request.send().await.expect("a response");
    assert!(next(&mut response).await.is_some());
    revocations.record([Revocation {
        kind: Kind::Key,
        subject: ID.to_owned(),
        min_version: 1,
    }]);
    assert_eq!(next(&mut response).await, None);
}

#[tokio::test]
async fn a_stream_ends_when_the_process_stops() {
    let mut app = TestApp::start().await;
    app.services.reply_open(WATCH, &paid(false));
    let request = app.admin("GET", "/events");
    let mut response = request.send().await.expect("a response");
    assert!(next(&mut response).await.is_some());
    app.stop_gateway();
    assert_eq!(next(&mut response).await, None);
}
