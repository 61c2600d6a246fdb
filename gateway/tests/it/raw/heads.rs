//! Request heads.

use tokio::io::AsyncWriteExt as _;

use super::{Reply, Target};
use crate::harness::ADMIN_KEY;

/// Heads after which the connection is closed, and the only status they may get.
const REFUSED: &[(&str, &[u8], u16)] = &[
    ("nothing of HTTP", b"hello\r\n\r\n", 400),
    ("no version", b"GET /\r\n\r\n", 400),
    ("HTTP/0.9", b"GET / HTTP/0.9\r\n\r\n", 400),
    ("HTTP/3.0", b"GET / HTTP/3.0\r\nhost: a\r\n\r\n", 400),
    (
        "a NUL in a header",
        b"GET / HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n",
        400,
    ),
    (
        "a NUL in a name",
        b"GET / HTTP/1.1\r\nhost: a\r\nx\0: a\r\n\r\n",
        400,
    ),
    (
        "a bare CR in a header",
        b"GET / HTTP/1.1\r\nhost: a\r\nx: a\rb\r\n\r\n",
        400,
    ),
    (
        "obs-fold",
        b"GET / HTTP/1.1\r\nhost: a\r\nx: a\r\n b\r\n\r\n",
        400,
    ),
    (
        "a blank before the colon",
        b"GET / HTTP/1.1\r\nhost: a\r\nx : a\r\n\r\n",
        400,
    ),
    (
        "no colon",
        b"GET / HTTP/1.1\r\nhost: a\r\nnothing\r\n\r\n",
        400,
    ),
    ("no name", b"GET / HTTP/1.1\r\nhost: a\r\n: a\r\n\r\n", 400),
    (
        "blanks in the target",
        b"GET / x HTTP/1.1\r\nhost: a\r\n\r\n",
        400,
    ),
    (
        "a NUL in the target",
        b"GET /\0 HTTP/1.1\r\nhost: a\r\n\r\n",
        400,
    ),
    ("no target", b"GET  HTTP/1.1\r\nhost: a\r\n\r\n", 400),
    (
        "a method of quotes",
        b"\"GET\" / HTTP/1.1\r\nhost: a\r\n\r\n",
        400,
    ),
    (
        "TLS",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\xaa\xbb\xcc\r\n\r\n",
        400,
    ),
    ("no host", b"GET / HTTP/1.1\r\n\r\n", 400),
    (
        "two hosts",
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
        400,
    ),
    (
        "the same host twice",
        b"GET / HTTP/1.1\r\nhost: a\r\nhost: a\r\n\r\n",
        400,
    ),
    (
        "a host with a path",
        b"GET / HTTP/1.1\r\nhost: a/b\r\n\r\n",
        400,
    ),
    (
        "a host with a user",
        b"GET / HTTP/1.1\r\nhost: u@a\r\n\r\n",
        400,
    ),
    (
        "a host of blanks",
        b"GET / HTTP/1.1\r\nhost: a b\r\n\r\n",
        400,
    ),
];

#[tokio::test]
async fn malformed_heads_are_refused_and_their_connections_closed() {
    let target = Target::start().await;
    for (name, head, status) in REFUSED {
        let reply = target.send(head).await;
        assert_eq!(reply.statuses(), [*status], "{name}: {}", reply.text());
        assert!(reply.closed, "{name}");
        target.is_well().await;
    }
}

#[tokio::test]
async fn unusual_heads_are_served() {
    let target = Target::start().await;
    for (name, head, status) in [
        (
            "bare line feeds",
            "GET / HTTP/1.1\nhost: a\nconnection: close\n\n",
            200,
        ),
        ("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", 200),
        (
            "an empty line first",
            "\r\nGET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            200,
        ),
        (
            "an empty host",
            "GET / HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n",
            200,
        ),
        (
            "a host of IPv6",
            "GET / HTTP/1.1\r\nhost: [::1]:80\r\nconnection: close\r\n\r\n",
            200,
        ),
        (
            "CONNECT",
            "CONNECT a:443 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            405,
        ),
        (
            "TRACE",
            "TRACE / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            405,
        ),
        (
            "an unknown method",
            "BREW / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            405,
        ),
        (
            "a lower-case method",
            "get / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            405,
        ),
        (
            "OPTIONS of the server",
            "OPTIONS * HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
            204,
        ),
        (
            "an upgrade",
            "GET / HTTP/1.1\r\nhost: a\r\nconnection: close, upgrade\r\nupgrade: h2c\r\n\r\n",
            200,
        ),
    ] {
        let reply = target.send(head).await;
        assert_eq!(reply.statuses(), [status], "{name}: {}", reply.text());
        assert!(reply.closed, "{name}");
        target.is_well().await;
    }
}

#[tokio::test]
async fn half_a_head_is_closed_after_its_time() {
    let target = Target::start().await;
    for part in [
        "G",
        "GET / HTTP/1.1\r\n",
        "GET / HTTP/1.1\r\nhost: a\r\nx: ",
    ] {
        let reply = target.send(part).await;
        assert!(reply.closed && reply.bytes.is_empty(), "{part}: {reply:?}");
    }
    // A connection without a word has longer, and no answer either.
    let reply = target.send("").await;
    assert!(reply.closed && reply.bytes.is_empty(), "{reply:?}");
    target.is_well().await;
}

#[tokio::test]
async fn a_client_that_has_sent_all_it_will_still_gets_its_response() {
    let target = Target::start().await;
    let mut socket = target.connect().await;
    socket
        .write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        .await
        .expect("is open");
    socket.shutdown().await.expect("is open");
    let reply = Reply::read(&mut socket).await;
    assert_eq!(reply.statuses(), [200], "{reply:?}");
    let mut socket = target.connect().await;
    socket
        .write_all(b"GET / HTTP/1.1\r\nho")
        .await
        .expect("is open");
    socket.shutdown().await.expect("is open");
    assert!(Reply::read(&mut socket).await.closed);
    target.is_well().await;
}

#[tokio::test]
async fn large_heads_are_refused_by_size() {
    let target = Target::start().await;
    let head = |bytes: usize, lines: usize| {
        let line = format!("x: {}\r\n", "y".repeat(bytes / lines));
        format!(
            "GET /products HTTP/1.1\r\nhost: a\r\nconnection: close\r\napikey: {ADMIN_KEY}\r\n{}\r\n",
            line.repeat(lines)
        )
    };
    let url = |bytes: usize| {
        let url = "y".repeat(bytes);
        format!("GET /products/{url} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    };
    for (name, request, statuses) in [
        ("30 KiB of headers", head(30_000, 1), &[200][..]),
        ("33 KiB of headers", head(33_800, 1), &[431]),
        ("33 KiB in 90 headers", head(33_800, 90), &[431]),
        ("more lines than are read", head(200, 200), &[431]),
        ("more than is read", head(200_000, 1), &[431]),
        ("a URL of 33 KiB", url(33_800), &[414]),
        ("a URL of more than is read", url(200_000), &[414, 431]),
    ] {
        let reply = target.send(request).await;
        let [status] = reply.statuses()[..] else {
            panic!("{name}: {}", reply.text());
        };
        assert!(statuses.contains(&status), "{name}: {}", reply.text());
        assert!(reply.closed, "{name}");
        target.is_well().await;
    }
}

#[tokio::test]
async fn requests_in_a_row_are_answered_in_their_order() {
    let target = Target::start().await;
    let request = |path: &str, end: &str| {
        format!("GET {path} HTTP/1.1\r\nhost: a\r\napikey: {ADMIN_KEY}\r\n{end}\r\n")
    };
    let all = [
        request("/", ""),
        request("/nope", ""),
        request("/products", ""),
        request("/products/x", "connection: close\r\n"),
        // Nothing is done after the request that ends the connection.
        request("/products", ""),
    ];
    let reply = target.send(all.concat()).await;
    assert_eq!(reply.statuses(), [200, 404, 200, 404], "{}", reply.text());
    let calls = target.app.services.take_calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    // A thousand in one packet are read one after the other.
    let many = request("/nope", "").repeat(1_000) + &request("/", "connection: close\r\n");
    let reply = target.send(many).await;
    let statuses = reply.statuses();
    assert_eq!((statuses.len(), statuses.last()), (1_001, Some(&200)));
    target.is_well().await;
}
