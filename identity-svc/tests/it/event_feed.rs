//! The live feed of public events.

use identity_svc::public_event::EventRow;
use platform::{clock::Clock, error::Code, testing};
use proto::identity::v1::{PublicEvent, WatchEventsRequest, WatchEventsResponse};
use sqlx::PgPool;
use tokio::time::timeout;
use tonic::Streaming;
use uuid::Uuid;

use crate::harness::{TIMEOUT, TestApp, admin, code, user};

/// The events of tests: no test publishes any to the broker that all tests share.
const TYPES: &str = "store.order.*";

async fn start(pool: PgPool) -> TestApp {
    TestApp::start_with(pool, Clock::system(), &[]).await
}

fn event_id(number: u128) -> String {
    Uuid::from_u128(number).to_string()
}

/// Records public events, as a consumer does.
async fn publish(app: &TestApp, event_type: &str, numbers: std::ops::Range<u128>) {
    let events = numbers.map(|number| (Uuid::from_u128(number), event_type, "{}".to_owned()));
    app.record(events).await;
}

async fn watch(
    app: &TestApp,
    after: Option<String>,
    types: &[&str],
) -> Streaming<WatchEventsResponse> {
    let request = WatchEventsRequest {
        after_id: after,
        types: types.iter().map(|pattern| (*pattern).to_owned()).collect(),
    };
    let stream = app.events_as(&admin()).watch_events(request).await;
    stream.unwrap().into_inner()
}

async fn next(stream: &mut Streaming<WatchEventsResponse>) -> WatchEventsResponse {
    let message = timeout(TIMEOUT, stream.message()).await.unwrap();
    message.unwrap().unwrap()
}

/// Receives this many events.
async fn events(stream: &mut Streaming<WatchEventsResponse>, count: usize) -> Vec<PublicEvent> {
    let mut events = Vec::new();
    while events.len() < count {
        events.extend(next(stream).await.events);
    }
    events
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn events_come_in_order_and_none_is_missing(pool: PgPool) {
    let app = start(pool).await;
    let mut all = watch(&app, None, &[TYPES]).await;
    let mut some = watch(&app, None, &["store.order.paid"]).await;
    for stream in [&mut all, &mut some] {
        let first = next(stream).await;
        assert!(!first.reset && first.events.is_empty());
    }
    publish(&app, "store.order.created", 1..300).await;
    publish(&app, "store.order.paid", 300..302).await;
    let received = events(&mut all, 301).await;
    let ids: Vec<_> = received.iter().map(|event| event.id.clone()).collect();
    assert_eq!(ids, (1..302).map(event_id).collect::<Vec<_>>());
    assert!(
        received[0]
            .payload
            .starts_with(r#"{"type":"store.order.created","timestamp":"#)
    );
    let received = events(&mut some, 2).await;
    assert_eq!(received[0].id, event_id(300));

    // A reader that comes back gets the rest.
    let mut again = watch(&app, Some(event_id(150)), &[TYPES]).await;
    assert!(!next(&mut again).await.reset);
    let received = events(&mut again, 151).await;
    assert_eq!(received[0].id, event_id(151));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_reader_that_comes_back_between_the_events_of_a_row_gets_the_second(pool: PgPool) {
    let app = start(pool).await;
    let types = ["store.order.created", "store.order.paid"];
    let mut created = watch(&app, None, &types[..1]).await;
    let mut all = watch(&app, None, &types).await;
    let row = |number| EventRow {
        id: Uuid::from_u128(number),
        event_type: types[1].to_owned(),
        before_type: Some(types[0].to_owned()),
        data: "{}".to_owned(),
        occurred_at: app.clock.now(),
    };
    app.record_rows(&[row(10), row(20)]).await;
    let ids = |events: Vec<PublicEvent>| {
        let ids = events.into_iter().map(|event| (event.id, event.r#type));
        ids.collect::<Vec<_>>()
    };
    let expected =
        [(9, 0), (10, 1), (19, 0), (20, 1)].map(|(id, n)| (event_id(id), types[n].to_owned()));
    assert_eq!(ids(events(&mut all, 4).await), expected);
    let of_created = [expected[0].clone(), expected[2].clone()];
    assert_eq!(ids(events(&mut created, 2).await), of_created);
    for (after, rest) in [
        (9, &expected[1..]),
        (10, &expected[2..]),
        (19, &expected[3..]),
    ] {
        let mut again = watch(&app, Some(event_id(after)), &types).await;
        assert!(!next(&mut again).await.reset);
        assert_eq!(ids(events(&mut again, rest.len()).await), rest, "{after}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_unknown_event_starts_the_stream_now(pool: PgPool) {
    let app = start(pool).await;
    publish(&app, "store.order.paid", 1..3).await;
    let mut stream = watch(&app, Some(event_id(9)), &[TYPES]).await;
    assert!(next(&mut stream).await.reset);
    publish(&app, "store.order.paid", 3..4).await;
    assert_eq!(events(&mut stream, 1).await[0].id, event_id(3));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn streams_are_for_admins_and_few(pool: PgPool) {
    let app = start(pool).await;
    let request = |after: &str, pattern: &str| WatchEventsRequest {
        after_id: Some(after.to_owned()),
        types: vec![pattern.to_owned()],
    };
    let mut events = app.events_as(&admin());
    for bad in [request("x", "*"), request(&event_id(1), "order.paid")] {
        assert_eq!(code(events.watch_events(bad).await), Code::InvalidQuery);
    }
    let all = WatchEventsRequest::default;
    let refused = app.events_as(&user("u")).watch_events(all()).await;
    assert_eq!(code(refused), Code::Forbidden);
    let mut streams = Vec::new();
    for _ in 0..10 {
        streams.push(watch(&app, None, &[]).await);
    }
    assert_eq!(code(events.watch_events(all()).await), Code::RateLimited);
    streams.clear();
    testing::eventually("there is room again", TIMEOUT, async || {
        events.watch_events(all()).await.is_ok()
    })
    .await;
    app.finish().await;
}
