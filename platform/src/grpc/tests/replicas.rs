//! Calls to a dependency with several replicas.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{Mutex, PoisonError},
};

use super::*;
use crate::testing::eventually;

const LIMIT: Duration = Duration::from_secs(20);

/// The addresses of a name, which a test changes.
#[derive(Clone, Default)]
struct Addresses(Arc<Mutex<Vec<SocketAddr>>>);

impl Addresses {
    fn set(&self, servers: &[&Running]) {
        let addresses = servers.iter().map(|server| server.address()).collect();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = addresses;
    }

    fn client(&self) -> AuthServiceClient<client::Client> {
        let addresses = self.clone();
        let resolve = move || {
            let addresses = addresses.0.lock().unwrap_or_else(PoisonError::into_inner);
            let addresses = addresses.clone();
            async move { Ok(addresses) }.boxed()
        };
        let fetch = || async { Ok(token(&issuer(), "gateway")) }.boxed();
        client::connect_to_replicas("identity", Box::new(resolve), ServiceToken::new(fetch))
            .service()
    }
}

impl Running {
    fn address(&self) -> SocketAddr {
        self.url.trim_start_matches("http://").parse().unwrap()
    }
}

/// Makes a call and returns the server that it reached.
async fn reached(
    client: &mut AuthServiceClient<client::Client>,
    servers: &[&Running],
) -> Result<usize, Code> {
    for server in servers {
        server.probe.release.notify_one();
    }
    call(client, "wait").await?;
    let mut entered = servers
        .iter()
        .map(|it| it.probe.entered.notified().now_or_never());
    Ok(entered
        .position(|it| it.is_some())
        .expect("the call reached a server"))
}

/// Waits until calls, as many as there could be replicas twice over, reach these servers and no others.
async fn reaches(
    client: &mut AuthServiceClient<client::Client>,
    servers: &[&Running],
    expected: &[usize],
) {
    let expected: BTreeSet<_> = expected.iter().copied().collect();
    eventually("the calls reach the ready replicas", LIMIT, async || {
        let mut reached_now = BTreeSet::new();
        for _ in 0..2 * servers.len() {
            match reached(client, servers).await {
                Ok(server) => reached_now.insert(server),
                Err(_) => return false,
            };
        }
        reached_now == expected
    })
    .await;
}

#[tokio::test]
async fn calls_take_turns_among_the_replicas_that_are_ready() {
    let (first, second, third) = (start().await, start().await, start().await);
    let servers = [&first, &second, &third];
    let addresses = Addresses::default();
    let mut client = addresses.client();
    assert_eq!(
        reached(&mut client, &servers).await,
        Err(Code::Unavailable),
        "no address"
    );

    addresses.set(&[&first, &second]);
    reaches(&mut client, &servers, &[0, 1]).await;

    first.stop.cancel();
    first.ended.await.unwrap().unwrap();
    let servers = [&second, &third];
    reaches(&mut client, &servers, &[0]).await;
    for _ in 0..20 {
        assert_eq!(
            reached(&mut client, &servers).await,
            Ok(0),
            "never the one that stopped"
        );
    }

    addresses.set(&[&third]);
    reaches(&mut client, &servers, &[1]).await;

    addresses.set(&[]);
    for _ in 0..20 {
        assert_eq!(
            reached(&mut client, &servers).await,
            Ok(1),
            "what is known is used"
        );
    }
}

#[tokio::test]
async fn several_urls_are_those_of_replicas() {
    let (first, second) = (start().await, start().await);
    let servers = [&first, &second];
    let urls = format!("{}, {}", first.url, second.url);
    let fetch = || async { Ok(token(&issuer(), "gateway")) }.boxed();
    let client = client::connect("identity", &urls, Some(ServiceToken::new(fetch)));
    let mut client = client.unwrap().service();
    reaches(&mut client, &servers, &[0, 1]).await;

    first.stop.cancel();
    first.ended.await.unwrap().unwrap();
    reaches(&mut client, &[&second], &[0]).await;
}

#[tokio::test]
async fn a_replica_that_a_call_finds_gone_gets_no_more() {
    let (first, second) = (start().await, start().await);
    let addresses = Addresses::default();
    addresses.set(&[&first, &second]);
    let mut client = addresses.client();
    reaches(&mut client, &[&first, &second], &[0, 1]).await;

    first.stop.cancel();
    first.ended.await.unwrap().unwrap();
    let mut failures = 0;
    for _ in 0..20 {
        failures += u32::from(reached(&mut client, &[&second]).await.is_err());
    }
    // One finds it gone, and another one may if the health of before arrives after that.
    assert!(failures <= 2, "{failures} calls failed");
}
