//! A TCP proxy that a test can disconnect from its server, or silence.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

use crate::harness::env;

/// Forwards connections while it is connected.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    mode: Arc<watch::Sender<Mode>>,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Connected,
    /// Open connections are closed.
    Disconnected,
    /// Connections that are open by now stay open, and nothing is forwarded.
    Silenced,
}

impl Proxy {
    pub(crate) async fn to(server: String, connected: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = if connected {
            Mode::Connected
        } else {
            Mode::Disconnected
        };
        let mode = Arc::new(watch::Sender::new(mode));
        let state = Arc::clone(&mode);
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (mut state, server) = (state.subscribe(), server.clone());
                tokio::spawn(async move {
                    if *state.borrow_and_update() == Mode::Disconnected {
                        return;
                    }
                    let mut upstream = TcpStream::connect(server).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut upstream) => {}
                        _ = state.changed() => {}
                    }
                    let _ended = state.wait_for(|mode| *mode != Mode::Silenced).await;
                });
            }
        });
        Self { address, mode }
    }

    /// Creates a proxy to the NATS server of the tests, not connected yet, and returns its URL.
    pub(crate) async fn to_nats() -> (Self, String) {
        let url = env("NATS_URL").replace("nats://", "");
        let (user, nats) = match url.rsplit_once('@') {
            Some((user, nats)) => (format!("{user}@"), nats.to_owned()),
            None => (String::new(), url),
        };
        let proxy = Self::to(nats, false).await;
        let url = format!("nats://{user}{}", proxy.address);
        (proxy, url)
    }

    pub(crate) fn disconnect(&self) {
        self.mode.send_replace(Mode::Disconnected);
    }

    pub(crate) fn silence(&self) {
        self.mode.send_replace(Mode::Silenced);
    }

    pub(crate) fn connect(&self) {
        self.mode.send_replace(Mode::Connected);
    }
}
