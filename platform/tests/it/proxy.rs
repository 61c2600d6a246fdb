//! A TCP proxy that a test can disconnect from its server.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// Forwards connections while it is connected; [`Proxy::disconnect`] closes the open ones.
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    connected: Arc<watch::Sender<bool>>,
}

impl Proxy {
    pub(crate) async fn to(server: String, connected: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connected = Arc::new(watch::Sender::new(connected));
        let state = Arc::clone(&connected);
        tokio::spawn(async move {
            loop {
                let (mut client, _) = listener.accept().await.unwrap();
                let (mut state, server) = (state.subscribe(), server.clone());
                tokio::spawn(async move {
                    if !*state.borrow_and_update() {
                        return;
                    }
                    let mut upstream = TcpStream::connect(server).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut upstream) => {}
                        _ = state.changed() => {}
                    }
                });
            }
        });
        Self { address, connected }
    }

    pub(crate) fn disconnect(&self) {
        self.connected.send_replace(false);
    }

    pub(crate) fn connect(&self) {
        self.connected.send_replace(true);
    }
}
