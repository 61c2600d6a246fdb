//! What a stranger may send to the socket: each gets the right status or a closed connection, nothing
//! panics, and others are served as before.

mod bodies;
mod heads;
mod http2;
mod targets;

use std::{
    panic,
    sync::{
        Once,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::harness::{ADMIN_KEY, ID, TestApp};

/// Nothing takes longer.
const DEADLINE: Duration = Duration::from_secs(20);

/// Panics of the product, as tests panic elsewhere in this process.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// A gateway with short times, that is asked after every attack whether it still serves.
struct Target {
    app: TestApp,
}

/// What a connection got before it was closed, or before the deadline.
#[derive(Debug)]
struct Reply {
    bytes: Vec<u8>,
    /// Whether the gateway closed the connection.
    closed: bool,
}

impl Target {
    async fn start() -> Self {
        static COUNT: Once = Once::new();
        COUNT.call_once(|| {
            let previous = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                let place = panic.location().map_or("", |place| place.file());
                if !place.contains("tests/") {
                    PANICS.fetch_add(1, Ordering::SeqCst);
                }
                previous(panic);
            }));
        });
        let flags = [
            "--head-timeout=1",
            "--idle-timeout=2",
            "--request-timeout=1",
        ];
        let app = TestApp::start_with(&flags).await;
        Self { app }
    }

    async fn connect(&self) -> TcpStream {
        let address = self.app.base.strip_prefix("http://").expect("an address");
        TcpStream::connect(address).await.expect("connects")
    }

    /// Sends bytes and reads until the gateway closes the connection.
    async fn send(&self, bytes: impl AsRef<[u8]>) -> Reply {
        let mut socket = self.connect().await;
        // The gateway may close before it has read everything.
        let _ = socket.write_all(bytes.as_ref()).await;
        Reply::read(&mut socket).await
    }

    /// Asserts that the gateway serves others and has not panicked.
    async fn is_well(&self) {
        let line = format!("GET /products/{ID} HTTP/1.1");
        let request =
            format!("{line}\r\nhost: a\r\napikey: {ADMIN_KEY}\r\nconnection: close\r\n\r\n");
        let reply = self.send(request).await;
        assert_eq!(reply.statuses(), [200], "{reply:?}");
        assert_eq!(PANICS.load(Ordering::SeqCst), 0, "panics");
    }
}

impl Reply {
    async fn read(socket: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        let read = timeout(DEADLINE, socket.read_to_end(&mut bytes)).await;
        // A reset closes a connection as well.
        let closed = read.is_ok();
        Self { bytes, closed }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Returns the statuses of the responses, in their order.
    fn statuses(&self) -> Vec<u16> {
        let text = self.text();
        let responses = text.split("HTTP/1.").skip(1);
        let status = |response: &str| response.split(' ').nth(1)?.parse().ok();
        responses.filter_map(status).collect()
    }
}

/// Returns a request that creates a category, with these lines of its head and this body.
fn create(head: &str, body: &str) -> String {
    format!(
        "POST /categories HTTP/1.1\r\nhost: a\r\napikey: {ADMIN_KEY}\r\n\
         content-type: application/json\r\n{head}\r\n{body}"
    )
}
