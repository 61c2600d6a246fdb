//! Connections on which a response comes before the body of its request was read.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use crate::harness::{ADMIN_KEY, TestApp};

/// No response takes longer.
const DEADLINE: Duration = Duration::from_secs(10);
const MIB: usize = 1024 * 1024;

/// An HTTP/1.1 connection that sends a request in parts.
struct Connection(TcpStream);

#[derive(Debug)]
struct Response {
    status: u16,
    /// Whether it says that the connection ends.
    says_close: bool,
}

impl Connection {
    async fn open(app: &TestApp) -> Self {
        let address = app.base.strip_prefix("http://").expect("an address");
        Self(TcpStream::connect(address).await.expect("connects"))
    }

    /// Sends the head of a request.
    async fn head(&mut self, line: &str, headers: &str) {
        let head = format!("{line} HTTP/1.1\r\nhost: test\r\n{headers}\r\n");
        self.send(head.as_bytes()).await;
    }

    async fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.expect("is open");
    }

    async fn response(&mut self) -> Response {
        let response = timeout(DEADLINE, self.read_response()).await;
        response.expect("a response in time")
    }

    async fn read_response(&mut self) -> Response {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.expect("a response"));
        }
        let head = String::from_utf8(head).expect("text").to_lowercase();
        let header = |name: &str| {
            let mut lines = head.lines().filter_map(|line| line.split_once(": "));
            lines.find_map(|(known, value)| (known == name).then_some(value))
        };
        let length = header("content-length").map_or(0, |length| length.parse().expect("digits"));
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.expect("a whole body");
        let status = head.split(' ').nth(1).expect("a status");
        Response {
            status: status.parse().expect("digits"),
            says_close: header("connection") == Some("close"),
        }
    }

    /// Says that nothing follows, which spares the wait for it.
    async fn finish_sending(&mut self) {
        self.0.shutdown().await.expect("is open");
    }

    /// Waits until the gateway ends the connection.
    async fn ended(&mut self) {
        let mut rest = Vec::new();
        let ended = timeout(DEADLINE, self.0.read_to_end(&mut rest)).await;
        ended.expect("in time").expect("without a reset");
        assert!(rest.is_empty(), "nothing follows the response");
    }
}

/// Requests that are refused without their body: the line, headers, and the status.
const REFUSED: [(&str, &str, u16); 6] = [
    ("POST /nope", "", 404),
    (
        "POST /products/01920000-0000-7000-8000-000000000001",
        "",
        405,
    ),
    ("PUT /categories", "", 405),
    ("POST /categories", "", 401),
    ("POST /categories", "authorization: Bearer wrong\r\n", 401),
    (
        "POST /categories",
        "apikey: gk_admin\r\nidempotency-key: é\r\n",
        400,
    ),
];

#[tokio::test]
async fn a_connection_goes_on_after_a_body_that_follows_its_response() {
    let app = TestApp::start().await;
    for (line, headers, status) in REFUSED {
        for length in [1, 20, MIB] {
            let mut connection = Connection::open(&app).await;
            for _ in 0..3 {
                let headers = format!("{headers}content-length: {length}\r\n");
                connection.head(line, &headers).await;
                let response = connection.response().await;
                assert_eq!(response.status, status, "{line}");
                assert!(!response.says_close, "{line} of {length} bytes");
                connection.send(&vec![b'x'; length]).await;
            }
            let key = format!("apikey: {ADMIN_KEY}\r\n");
            connection.head("GET /products", &key).await;
            assert_eq!(connection.response().await.status, 200, "{line}");
        }
    }
}

#[tokio::test]
async fn a_connection_ends_as_announced_where_the_body_may_be_long() {
    let app = TestApp::start().await;
    let too_long = format!("content-length: {}\r\n", MIB + 1);
    for (line, headers, status) in REFUSED {
        for length in [&*too_long, "transfer-encoding: chunked\r\n"] {
            let mut connection = Connection::open(&app).await;
            connection.head(line, &format!("{headers}{length}")).await;
            let response = connection.response().await;
            assert_eq!(response.status, status, "{line}");
            assert!(response.says_close, "{line} with {length}");
            // Who is still sending can go on to do so.
            connection.send(b"5\r\nhello\r\n").await;
            connection.finish_sending().await;
            connection.ended().await;
        }
    }
}

#[tokio::test]
async fn a_body_over_the_limit_ends_its_connection_as_announced() {
    let app = TestApp::start().await;
    let headers = format!(
        "apikey: {ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        2 * MIB
    );
    let mut connection = Connection::open(&app).await;
    connection.head("POST /categories", &headers).await;
    let response = connection.response().await;
    assert_eq!((response.status, response.says_close), (413, true));
    connection.send(&vec![b'x'; MIB]).await;
    connection.ended().await;
}

#[tokio::test]
async fn a_client_that_waits_to_send_is_not_asked_for_a_body_that_is_not_read() {
    let app = TestApp::start().await;
    let mut connection = Connection::open(&app).await;
    let headers = "expect: 100-continue\r\ncontent-length: 20\r\n";
    connection.head("POST /nope", headers).await;
    let response = connection.response().await;
    assert_eq!((response.status, response.says_close), (404, true));
    connection.ended().await;
}

#[tokio::test]
async fn a_body_that_was_read_leaves_its_connection_open() {
    let app = TestApp::start().await;
    let mut connection = Connection::open(&app).await;
    for (body, status) in [("{\"title\":\"x\"}", 201), ("{\"title\":5}", 422)] {
        let headers = format!(
            "apikey: {ADMIN_KEY}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
        connection.head("POST /categories", &headers).await;
        connection.send(body.as_bytes()).await;
        let response = connection.response().await;
        assert_eq!((response.status, response.says_close), (status, false));
    }
}
