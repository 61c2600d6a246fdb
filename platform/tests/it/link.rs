//! A TCP link to a server that a test can cut and mend.

use std::{net::SocketAddr, sync::Arc};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
};

/// Forwards connections while it is up; cutting it ends those that are open.
pub(crate) struct Link {
    pub(crate) address: SocketAddr,
    up: Arc<watch::Sender<bool>>,
}

impl Link {
    pub(crate) async fn to(server: String, up: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let up = Arc::new(watch::Sender::new(up));
        let state = Arc::clone(&up);
        tokio::spawn(async move {
            loop {
                let (mut near, _) = listener.accept().await.unwrap();
                let (mut state, server) = (state.subscribe(), server.clone());
                tokio::spawn(async move {
                    if !*state.borrow_and_update() {
                        return;
                    }
                    let mut far = TcpStream::connect(server).await.unwrap();
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = state.changed() => {}
                    }
                });
            }
        });
        Self { address, up }
    }

    pub(crate) fn cut(&self) {
        self.up.send_replace(false);
    }

    pub(crate) fn mend(&self) {
        self.up.send_replace(true);
    }
}
