//! A TCP proxy that a test can disconnect from its server, or silence.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

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
