//! HTTP/2 with prior knowledge, frame by frame (RFC 9113).

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{DEADLINE, Target};
use crate::harness::ADMIN_KEY;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ACK: u8 = 1;

struct Connection(TcpStream);

#[derive(Debug)]
struct Frame {
    kind: u8,
    stream: u32,
    payload: Vec<u8>,
}

impl Connection {
    async fn open(target: &Target) -> Self {
        let mut connection = Self(target.connect().await);
        connection.0.write_all(PREFACE).await.expect("is open");
        connection.send(SETTINGS, 0, 0, &[]).await;
        connection
    }

    /// Sends a frame, unless the gateway has closed the connection.
    async fn send(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let _ = self.0.write_all(&frame(kind, flags, stream, payload)).await;
    }

    async fn get(&mut self, stream: u32, path: &str) {
        let block = request(path, &[("apikey", ADMIN_KEY)]);
        self.send(HEADERS, END_STREAM | END_HEADERS, stream, &block)
            .await;
    }

    /// Reads a frame; `None` once the connection is closed.
    async fn read(&mut self) -> Option<Frame> {
        timeout(DEADLINE, self.read_now())
            .await
            .expect("a frame or the end")
    }

    async fn read_now(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; usize::try_from(length).expect("a small frame")];
        self.0.read_exact(&mut payload).await.ok()?;
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]) & 0x7fff_ffff;
        Some(Frame {
            kind: head[3],
            stream,
            payload,
        })
    }

    /// Reads up to a frame of this kind.
    async fn read_until(&mut self, kind: u8) -> Option<Frame> {
        while let Some(frame) = self.read().await {
            if frame.kind == kind {
                return Some(frame);
            }
        }
        None
    }

    /// Asserts that the gateway ends the connection, with `GOAWAY` if it says why.
    async fn ended(&mut self, name: &str) {
        let mut frames = 0;
        while let Some(frame) = self.read().await {
            frames += 1;
            assert!(frames < 20_000, "{name} goes on");
            if frame.kind == GOAWAY {
                return;
            }
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .expect("a small frame")
        .to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// Writes a header as a literal that is not indexed (RFC 7541, 6.2.2).
fn literal(block: &mut Vec<u8>, name: &str, value: &str) {
    block.push(0);
    for text in [name, value] {
        length(block, text.len());
        block.extend(text.as_bytes());
    }
}

/// Writes an integer with a prefix of seven bits (RFC 7541, 5.1).
fn length(block: &mut Vec<u8>, mut length: usize) {
    if length < 127 {
        block.push(u8::try_from(length).expect("seven bits"));
        return;
    }
    block.push(127);
    length -= 127;
    while length >= 128 {
        block.push(u8::try_from(length % 128 + 128).expect("a byte"));
        length /= 128;
    }
    block.push(u8::try_from(length).expect("seven bits"));
}

fn request(path: &str, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    let pseudo = [
        (":method", "GET"),
        (":scheme", "http"),
        (":authority", "a"),
        (":path", path),
    ];
    for (name, value) in pseudo.iter().chain(headers) {
        literal(&mut block, name, value);
    }
    block
}

#[tokio::test]
async fn a_request_gets_its_response() {
    let target = Target::start().await;
    let mut connection = Connection::open(&target).await;
    connection.get(1, "/products").await;
    let head = connection.read_until(HEADERS).await.expect("a response");
    // Index 8 of the static table: status 200.
    assert_eq!((head.stream, head.payload[0]), (1, 0x88));
    assert!(connection.read_until(DATA).await.is_some());
    target.is_well().await;
}

#[tokio::test]
async fn streams_that_are_reset_at_once_end_the_connection() {
    let target = Target::start().await;
    let mut connection = Connection::open(&target).await;
    for number in 0..5_000 {
        let stream = 2 * number + 1;
        connection.get(stream, "/products").await;
        connection
            .send(RST_STREAM, 0, stream, &8_u32.to_be_bytes())
            .await;
    }
    connection.ended("rapid reset").await;
    target.is_well().await;
}

#[tokio::test]
async fn a_connection_has_a_hundred_streams_at_once() {
    let target = Target::start().await;
    target.app.services.hang("OrderService/ListOrders");
    let mut connection = Connection::open(&target).await;
    let settings = connection.read_until(SETTINGS).await.expect("settings");
    let entries: Vec<_> = settings.payload.chunks(6).collect();
    // SETTINGS_MAX_CONCURRENT_STREAMS
    assert!(entries.contains(&&[0, 3, 0, 0, 0, 100][..]), "{entries:?}");
    for number in 0..101 {
        connection.get(2 * number + 1, "/orders").await;
    }
    let refusal = connection.read_until(RST_STREAM).await.expect("a refusal");
    // REFUSED_STREAM: it may be sent again.
    assert_eq!(
        (refusal.stream, &*refusal.payload),
        (201, &[0, 0, 0, 7][..])
    );
    target.is_well().await;
}

#[tokio::test]
async fn a_large_header_list_is_refused() {
    let target = Target::start().await;
    // What is read, and still too large.
    let mut connection = Connection::open(&target).await;
    let value = "y".repeat(8_000);
    let block = request("/products", &[("x", &*value); 5]);
    let (first, rest) = block.split_at(16_000);
    connection.send(HEADERS, END_STREAM, 1, first).await;
    for (number, part) in rest.chunks(16_000).enumerate() {
        let is_last = (number + 1) * 16_000 >= rest.len();
        let flags = if is_last { END_HEADERS } else { 0 };
        connection.send(CONTINUATION, flags, 1, part).await;
    }
    let head = connection.read_until(HEADERS).await.expect("a response");
    let status = String::from_utf8_lossy(&head.payload).into_owned();
    assert!(is_431(&head.payload), "{status:?}");
    // A block without an end.
    let mut connection = Connection::open(&target).await;
    connection
        .send(HEADERS, END_STREAM, 1, &block[..16_000])
        .await;
    for _ in 0..1_000 {
        let mut part = Vec::new();
        literal(&mut part, "x", &value);
        connection.send(CONTINUATION, 0, 1, &part).await;
    }
    connection.ended("a block without an end").await;
    target.is_well().await;
}

/// Tells whether a block begins with `:status: 431`, its value plain or in Huffman code.
fn is_431(block: &[u8]) -> bool {
    let plain = block.windows(3).any(|text| text == b"431");
    // `4`, `3` and `1` in the code of RFC 7541, appendix B: 011010 011001 00001, and padding.
    let huffman = [0b0110_1001, 0b1001_0000, 0b1111_1111];
    plain || block.windows(3).any(|bytes| bytes == huffman)
}

#[tokio::test]
async fn frames_that_ask_for_nothing_do_not_pile_up() {
    let target = Target::start().await;
    for (name, kind, payload) in [("ping", PING, &[0; 8][..]), ("settings", SETTINGS, &[])] {
        let mut connection = Connection::open(&target).await;
        let flood = frame(kind, 0, 0, payload).repeat(1_000);
        let mut sent = 0;
        // Nobody reads the answers. The gateway stops to read, instead of keeping them all.
        while sent < 20_000 {
            let written = timeout(Duration::from_millis(500), connection.0.write_all(&flood)).await;
            match written {
                Ok(Ok(())) => sent += 1,
                // Closed, or full.
                Ok(Err(_)) | Err(_) => break,
            }
        }
        assert!(sent < 20_000, "{name}: 20 million frames were taken");
        target.is_well().await;
    }
}

#[tokio::test]
async fn malformed_frames_end_the_connection() {
    let target = Target::start().await;
    let frames: [(&str, Vec<u8>); 8] = [
        ("data of no stream", frame(DATA, 0, 1, b"x")),
        (
            "headers of stream 0",
            frame(HEADERS, END_HEADERS, 0, &request("/", &[])),
        ),
        (
            "an even stream",
            frame(HEADERS, END_HEADERS, 2, &request("/", &[])),
        ),
        (
            "a continuation of nothing",
            frame(CONTINUATION, END_HEADERS, 1, b""),
        ),
        ("a ping of a stream", frame(PING, 0, 1, &[0; 8])),
        ("a short ping", frame(PING, 0, 0, &[0; 3])),
        (
            "no HPACK",
            frame(HEADERS, END_STREAM | END_HEADERS, 1, &[0xff; 40]),
        ),
        (
            "an acknowledgement with a payload",
            frame(SETTINGS, ACK, 0, &[0; 6]),
        ),
    ];
    for (name, bytes) in frames {
        let mut connection = Connection::open(&target).await;
        connection.0.write_all(&bytes).await.expect("is open");
        connection.ended(name).await;
        target.is_well().await;
    }
    // A preface that goes on as something else.
    let reply = target.send(b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n").await;
    assert!(reply.closed, "{reply:?}");
    target.is_well().await;
}
