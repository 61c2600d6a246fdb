//! Revoked tokens, and changes while revocations are not known.

use super::*;
use crate::auth::{Revocation, Revocations};

const CALLERS: [Kind; 3] = [Kind::User, Kind::Key, Kind::Service];

/// Starts a server that knows no revocations yet.
async fn start() -> (Running, Revocations) {
    let revocations = Revocations::own();
    let verifier = TokenVerifier::fixed(&issuer().jwks_json()).unwrap();
    let verifier = verifier.with_revocations(revocations.clone());
    (serve(verifier, Readiness::default()).await, revocations)
}

fn request<T>(message: T, kind: Kind) -> Request<T> {
    let caller = Caller {
        kind,
        subject: "one".to_owned(),
        roles: vec![],
    };
    let token = issuer().issue(Grant {
        caller: &caller,
        version: 0,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(1),
        id: "t",
    });
    let mut request = Request::new(message);
    let header = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", header);
    request
}

/// Calls an RPC that only reads, and one that may change something.
async fn codes(server: &Running, kind: Kind) -> [tonic::Code; 2] {
    let mut client = server.anonymous();
    let read = client.get_jwks(request(GetJwksRequest {}, kind)).await;
    let change = client.exchange_api_key(request(key("caller"), kind)).await;
    let code = |error: Option<Status>| error.map_or(tonic::Code::Ok, |status| status.code());
    [code(read.err()), code(change.err())]
}

#[tokio::test]
async fn changes_are_refused_to_clients_while_revocations_are_not_known() {
    use tonic::Code::{Ok, Unavailable};
    let (server, revocations) = start().await;
    assert_eq!(codes(&server, Kind::User).await, [Ok, Unavailable]);
    assert_eq!(codes(&server, Kind::Key).await, [Ok, Unavailable]);
    assert_eq!(codes(&server, Kind::Service).await, [Ok, Ok]);
    let mut client = server.anonymous();
    let change = client.exchange_api_key(request(key("caller"), Kind::User));
    let failure = Failure::from_status(&change.await.unwrap_err());
    assert_eq!(failure.retry_after, Some(Duration::from_secs(1)));

    revocations.record([]);
    for kind in CALLERS {
        assert_eq!(codes(&server, kind).await, [Ok, Ok], "{kind:?}");
    }
}

#[tokio::test]
async fn a_token_that_was_accepted_is_refused_once_it_is_revoked() {
    use tonic::Code::{Ok, Unauthenticated};
    let (server, revocations) = start().await;
    revocations.record([]);
    assert_eq!(codes(&server, Kind::User).await, [Ok, Ok]);
    revocations.record([Revocation {
        kind: Kind::User,
        subject: "one".to_owned(),
        min_version: 1,
    }]);
    let refused = [Unauthenticated; 2];
    assert_eq!(codes(&server, Kind::User).await, refused);
    assert_eq!(codes(&server, Kind::Key).await, [Ok, Ok]);
}
