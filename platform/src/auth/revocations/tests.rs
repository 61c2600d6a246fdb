//! Versions, staleness, and the stream of a fake identity-svc.

use std::{collections::VecDeque, sync::Mutex};

use futures::{StreamExt as _, stream, stream::BoxStream};
use proto::identity::v1::{
    WatchRequest, WatchResponse,
    revocation_service_server::{RevocationService, RevocationServiceServer},
};
use tokio::time::advance;
use tonic::{Request, Response, Status, transport::Server, transport::server::TcpIncoming};

use super::*;
use crate::{auth::Role, grpc::client, testing::eventually};

const TIMEOUT: Duration = Duration::from_secs(20);

fn revocation(kind: Kind, subject: &str, min_version: i32) -> Revocation {
    Revocation {
        kind,
        subject: subject.to_owned(),
        min_version,
    }
}

fn accepts(revocations: &Revocations, kind: Kind, subject: &str, version: i32) -> bool {
    let caller = Caller {
        kind,
        subject: subject.to_owned(),
        roles: vec![Role::Admin],
    };
    match revocations.check(&caller, version) {
        Ok(()) => true,
        Err(refusal) => {
            assert_eq!(refusal.code, Code::Unauthenticated);
            false
        }
    }
}

#[test]
fn lower_versions_of_the_same_subject_are_refused() {
    let revocations = Revocations::own();
    revocations.record([revocation(Kind::User, "a", 2)]);
    let accepts = |kind, subject, version| accepts(&revocations, kind, subject, version);
    assert!(!accepts(Kind::User, "a", 0));
    assert!(!accepts(Kind::User, "a", 1));
    assert!(accepts(Kind::User, "a", 2));
    assert!(accepts(Kind::User, "b", 0));
    assert!(accepts(Kind::Key, "a", 0));
    assert!(accepts(Kind::Service, "a", 0));
}

#[test]
fn a_minimum_is_never_lowered() {
    let revocations = Revocations::own();
    for min_version in [3, 1, 2] {
        revocations.record([revocation(Kind::Key, "k", min_version)]);
    }
    assert!(!accepts(&revocations, Kind::Key, "k", 2));
    assert_eq!(revocations.all(), [revocation(Kind::Key, "k", 3)]);
}

#[tokio::test(start_paused = true)]
async fn a_revocation_is_forgotten_once_every_token_has_expired() {
    let revocations = Revocations::own();
    revocations.record([revocation(Kind::User, "a", 1)]);
    advance(RETENTION.checked_sub(Duration::from_secs(1)).unwrap()).await;
    // Repeated by a later stream: the time counts from the first.
    revocations.record([
        revocation(Kind::User, "a", 1),
        revocation(Kind::User, "b", 1),
    ]);
    assert!(!accepts(&revocations, Kind::User, "a", 0));
    advance(Duration::from_mins(2)).await;
    revocations.record([]);
    assert_eq!(revocations.all(), [revocation(Kind::User, "b", 1)]);
}

#[tokio::test(start_paused = true)]
async fn silence_of_five_seconds_is_stale_until_the_next_message() {
    let revocations = Revocations::own();
    let code = || {
        revocations.require_current().err().map(|failure| {
            assert!(failure.retry_after.is_some());
            failure.code
        })
    };
    assert_eq!(code(), Some(Code::Unavailable), "nothing was received yet");
    for _ in 0..2 {
        revocations.record([]);
        advance(Duration::from_millis(4_999)).await;
        assert_eq!(code(), None);
        advance(Duration::from_millis(1)).await;
        assert_eq!(code(), Some(Code::Unavailable));
    }
    assert!(Revocations::none().require_current().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_process_is_ready_from_the_first_message_on() {
    let (revocations, readiness) = (Revocations::own(), Readiness::default());
    revocations.require(&readiness);
    let mut ready = readiness.subscribe();
    let stop = CancellationToken::new();
    tokio::spawn(readiness.clone().watch(stop.clone()));
    let early = tokio::time::timeout(TIMEOUT, ready.wait_for(|ready| *ready));
    assert!(early.await.is_err());
    revocations.record([]);
    ready.wait_for(|ready| *ready).await.unwrap();
    let later = tokio::time::timeout(TIMEOUT, ready.wait_for(|ready| !ready));
    assert!(later.await.is_err(), "silence is no reason to take it out");
    stop.cancel();
}

/// The messages of the streams that it opens, one after another, and whether each ends after them.
struct FakeIdentity(Mutex<VecDeque<(WatchResponse, bool)>>);

#[tonic::async_trait]
impl RevocationService for FakeIdentity {
    type WatchStream = BoxStream<'static, Result<WatchResponse, Status>>;

    async fn watch(&self, _: Request<WatchRequest>) -> Result<Response<Self::WatchStream>, Status> {
        let next = self.0.lock().unwrap().pop_front();
        let (message, ends) = next.ok_or_else(|| Status::unavailable("no more"))?;
        let messages = stream::iter([Ok(message)]);
        Ok(Response::new(if ends {
            messages.boxed()
        } else {
            messages.chain(stream::pending()).boxed()
        }))
    }
}

/// Starts an identity-svc with one message a stream, and a process that follows it.
fn follow(streams: &[(Revocation, bool)]) -> (Revocations, tokio_util::sync::DropGuard) {
    let streams = streams.iter().cloned().map(|(revocation, ends)| {
        let revocations = vec![
            revocation.encode(),
            proto::identity::v1::Revocation::default(),
        ];
        (WatchResponse { revocations }, ends)
    });
    let fake = FakeIdentity(Mutex::new(streams.collect()));
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", incoming.local_addr().unwrap());
    let server = Server::builder().add_service(RevocationServiceServer::new(fake));
    tokio::spawn(server.serve_with_incoming(incoming));
    let identity = client::connect("identity", &url, None).unwrap();
    let revocations = Revocations::remote(&identity);
    let stop = CancellationToken::new();
    revocations.start(&Supervisor::new(stop.clone()));
    (revocations, stop.drop_guard())
}

#[tokio::test]
async fn a_stream_that_ends_is_opened_again() {
    let (user, key) = (
        revocation(Kind::User, "u", 1),
        revocation(Kind::Key, "k", 1),
    );
    let (revocations, _stop) = follow(&[(user, true), (key, false)]);
    eventually("both are known", TIMEOUT, async || {
        revocations.all().len() == 2
    })
    .await;
    assert!(!accepts(&revocations, Kind::User, "u", 0));
    assert!(!accepts(&revocations, Kind::Key, "k", 0));
    assert!(revocations.require_current().is_ok());
}

#[tokio::test]
async fn a_stream_that_falls_silent_is_opened_again_before_the_set_is_stale() {
    let (user, key) = (
        revocation(Kind::User, "u", 1),
        revocation(Kind::Key, "k", 1),
    );
    let (revocations, _stop) = follow(&[(user, false), (key, false)]);
    eventually("the first", TIMEOUT, async || revocations.all().len() == 1).await;
    eventually("the second", TIMEOUT, async || {
        assert!(revocations.require_current().is_ok());
        revocations.all().len() == 2
    })
    .await;
}
