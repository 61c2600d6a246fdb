//! The time is paused: it advances when every task waits.

use std::net::Ipv4Addr;

use axum::{Router, routing::get};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex},
    sync::Notify,
    time::advance,
};

use super::{activity::*, *};

/// What the pipe between client and server holds.
const PIPE: usize = 4096;
/// A body that does not fit into it.
const LARGE: usize = 1024 * 1024;
const LIMITS: Limits = Limits::of(1);
const SLOW: &str = "GET /slow HTTP/1.1\r\nhost: test\r\n\r\n";

struct Client {
    socket: DuplexStream,
    started: Instant,
    /// Requests of `/slow` that have begun.
    begun: Arc<Notify>,
    /// Lets such a request end.
    release: Arc<Notify>,
}

impl Client {
    fn connect(stop: CancellationToken) -> Self {
        Self::connect_until(Shutdown {
            stop,
            ..Shutdown::default()
        })
    }

    fn connect_until(shutdown: Shutdown) -> Self {
        let (socket, server) = duplex(PIPE);
        let (begun, release) = (Arc::<Notify>::default(), Arc::<Notify>::default());
        let slow = {
            let (begun, release) = (Arc::clone(&begun), Arc::clone(&release));
            async move || {
                begun.notify_one();
                release.notified().await;
                "ok"
            }
        };
        let router = Router::new()
            .route("/", get(|| async { "ok" }))
            .route("/large", get(|| async { vec![b'x'; LARGE] }))
            .route("/slow", get(slow));
        let peer = SocketAddr::from((Ipv4Addr::LOCALHOST, 9));
        tokio::spawn(serve_connection(server, peer, router, LIMITS, shutdown));
        Self {
            socket,
            started: Instant::now(),
            begun,
            release,
        }
    }

    async fn send(&mut self, text: &str) {
        self.socket.write_all(text.as_bytes()).await.unwrap();
    }

    async fn get(&mut self, path: &str) -> String {
        self.send(&format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"))
            .await;
        self.read().await
    }

    async fn read(&mut self) -> String {
        let mut buffer = [0; 1024];
        let read = self.socket.read(&mut buffer).await.unwrap();
        String::from_utf8_lossy(&buffer[..read]).into_owned()
    }

    /// Waits until the server closes the connection, and returns the seconds since `started`.
    async fn closed_after(&mut self) -> u64 {
        let mut rest = Vec::new();
        let _ = self.socket.read_to_end(&mut rest).await;
        self.started.elapsed().as_secs()
    }
}

/// Lets this time pass, with every check of the connections in it.
async fn pass(time: Duration) {
    for _ in 0..time.as_secs() {
        advance(TICK).await;
    }
}

/// Asserts that a connection was closed at the limit, or at the next check.
fn assert_at(limit: Duration, seconds: u64) {
    let limit = limit.as_secs();
    assert!((limit..=limit + 2).contains(&seconds), "{seconds} s");
}

#[tokio::test(start_paused = true)]
async fn half_a_head_ends_the_connection() {
    let mut client = Client::connect(CancellationToken::new());
    client.send("GET / HTTP/1.1\r\nho").await;
    assert_at(LIMITS.head, client.closed_after().await);
}

#[tokio::test(start_paused = true)]
async fn a_head_that_goes_on_slowly_ends_the_connection() {
    let mut client = Client::connect(CancellationToken::new());
    client.send("GET / HTTP/1.1\r\n").await;
    for _ in 0..5 {
        pass(TICK).await;
        client.send("a: b\r\n").await;
    }
    assert_at(LIMITS.head, client.closed_after().await);
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_requests_ends() {
    let mut client = Client::connect(CancellationToken::new());
    assert_at(LIMITS.idle, client.closed_after().await);

    let mut client = Client::connect(CancellationToken::new());
    for _ in 0..3 {
        pass(Duration::from_mins(1)).await;
        assert!(client.get("/").await.contains("200 OK"));
    }
    client.started = Instant::now();
    assert_at(LIMITS.idle, client.closed_after().await);
}

#[tokio::test(start_paused = true)]
async fn a_long_request_keeps_its_connection() {
    let mut client = Client::connect(CancellationToken::new());
    client.send(SLOW).await;
    client.begun.notified().await;
    pass(Duration::from_secs(200)).await;
    client.release.notify_one();
    assert!(client.read().await.contains("200 OK"));
    assert!(client.get("/").await.contains("200 OK"), "it goes on");
}

#[tokio::test(start_paused = true)]
async fn a_response_that_nobody_reads_ends_the_connection() {
    let mut client = Client::connect(CancellationToken::new());
    assert!(client.get("/large").await.contains("200 OK"));
    // The check after the limit may be a tick later, as in `assert_at`.
    pass(WRITE_TIMEOUT + 3 * TICK).await;
    let mut rest = Vec::new();
    let _ = client.socket.read_to_end(&mut rest).await;
    assert!(rest.len() <= PIPE, "{} bytes", rest.len());
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_idle_connections_and_waits_for_requests() {
    let stop = CancellationToken::new();
    let mut idle = Client::connect(stop.clone());
    assert!(idle.get("/").await.contains("200 OK"));
    let mut busy = Client::connect(stop.clone());
    busy.send(SLOW).await;
    busy.begun.notified().await;
    stop.cancel();
    assert!(idle.closed_after().await <= 2);
    busy.release.notify_one();
    let mut response = String::new();
    busy.socket.read_to_string(&mut response).await.unwrap();
    assert!(response.contains("200 OK"), "{response}");
}

#[tokio::test]
async fn a_connection_beyond_the_bound_waits_for_another_to_end() {
    let stop = CancellationToken::new();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/", get(|| async { "ok" }));
    let shutdown = Shutdown {
        stop: stop.clone(),
        ..Shutdown::default()
    };
    tokio::spawn(serve(listener, router, Limits::of(1), shutdown));

    let mut first = TcpStream::connect(address).await.unwrap();
    let request = b"GET / HTTP/1.1\r\nhost: test\r\n\r\n";
    let mut buffer = [0; 1024];
    first.write_all(request).await.unwrap();
    assert!(first.read(&mut buffer).await.unwrap() > 0);
    let mut second = TcpStream::connect(address).await.unwrap();
    second.write_all(request).await.unwrap();
    first.write_all(request).await.unwrap();
    assert!(first.read(&mut buffer).await.unwrap() > 0);
    let early = second.try_read(&mut buffer);
    assert_eq!(early.unwrap_err().kind(), io::ErrorKind::WouldBlock);
    drop(first);
    assert!(second.read(&mut buffer).await.unwrap() > 0);
    stop.cancel();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_drains_closes_a_connection_with_the_next_response() {
    let shutdown = Shutdown::default();
    let mut client = Client::connect_until(shutdown.clone());
    assert!(!client.get("/").await.contains("connection: close"));
    shutdown.draining.cancel();
    let response = client.get("/").await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(response.contains("connection: close"), "{response}");
    assert_eq!(client.closed_after().await, 0);

    let mut idle = Client::connect_until(shutdown.clone());
    pass(LIMITS.idle / 2).await;
    assert!(
        idle.get("/").await.starts_with("HTTP/1.1 200"),
        "until then"
    );
}
