//! Bodies, and where they end.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{Reply, Target, create};

const BODY: &str = r#"{"title":"x"}"#;

/// A second request, hidden in what a lenient reader takes for the body of the first.
const HIDDEN: &str = "0\r\n\r\nDELETE /categories/01920000-0000-7000-8000-000000000001 HTTP/1.1\r\n\
                      host: a\r\napikey: gk_admin\r\n\r\n";

#[tokio::test]
async fn lengths_that_contradict_each_other_are_refused() {
    let target = Target::start().await;
    for head in [
        "content-length: 13\r\ncontent-length: 14\r\n",
        "content-length: 13, 14\r\n",
        "content-length: -1\r\n",
        "content-length: +13\r\n",
        "content-length: 0x0d\r\n",
        "content-length: 13 13\r\n",
        "content-length: 99999999999999999999\r\n",
        "content-length:\r\n",
        "transfer-encoding: gzip\r\n",
        "transfer-encoding: chunked, gzip\r\n",
        "transfer-encoding: identity\r\n",
        "transfer-encoding: xchunked\r\n",
    ] {
        let reply = target.send(create(head, BODY)).await;
        assert_eq!(reply.statuses(), [400], "{head}: {}", reply.text());
        assert!(reply.closed, "{head}");
    }
    assert!(target.app.services.take_calls().is_empty());
    target.is_well().await;
}

#[tokio::test]
async fn nothing_is_smuggled_behind_a_body() {
    let target = Target::start().await;
    for head in [
        "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
        "transfer-encoding : chunked\r\ncontent-length: 5\r\n",
        "content-length: 5\r\nx: y\r\n transfer-encoding: chunked\r\n",
        "content-length: 5\r\ntransfer-encoding:\x0bchunked\r\n",
    ] {
        let reply = target.send(create(head, HIDDEN)).await;
        let calls = target.app.services.take_calls();
        assert!(calls.is_empty(), "{head}: {calls:?}");
        assert!(reply.closed, "{head}");
        let first = reply.statuses().first().copied();
        assert_eq!(first, Some(400), "{head}: {}", reply.text());
    }
    target.is_well().await;
}

#[tokio::test]
async fn a_length_beside_chunks_ends_the_connection() {
    let target = Target::start().await;
    for head in [
        "content-length: 50\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 50\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 1\r\ncontent-length: 2\r\n",
    ] {
        // The chunks count, and nothing after them: a proxy may have seen another end.
        let reply = target.send(create(head, HIDDEN)).await;
        assert_eq!(reply.statuses(), [400], "{head}: {}", reply.text());
        assert!(reply.closed, "{head}");
        let calls = target.app.services.take_calls();
        assert!(calls.is_empty(), "{head}: {calls:?}");
    }
    target.is_well().await;
}

#[tokio::test]
async fn malformed_chunks_are_refused() {
    let target = Target::start().await;
    let head = "transfer-encoding: chunked\r\n";
    for chunks in [
        "x\r\n",
        "-1\r\n",
        "fffffffffffffffff\r\n",
        "0x0d\r\n{}\r\n0\r\n\r\n",
        "d\r\n{\"title\":\"x\"}extra\r\n0\r\n\r\n",
        "d\n{\"title\":\"x\"}\n0\n\n",
    ] {
        let reply = target.send(create(head, chunks)).await;
        assert!(reply.closed, "{chunks:?}");
        assert_eq!(reply.statuses(), [400], "{chunks:?}: {}", reply.text());
    }
    assert!(target.app.services.take_calls().is_empty());
    target.is_well().await;
}

#[tokio::test]
async fn chunks_and_repeated_lengths_are_read() {
    let target = Target::start().await;
    let close = "connection: close\r\n";
    for (head, body) in [
        (
            "transfer-encoding: chunked\r\n",
            "d\r\n{\"title\":\"x\"}\r\n0\r\n\r\n",
        ),
        (
            "transfer-encoding: Chunked\r\n",
            "5;a=b\r\n{\"tit\r\n8\r\nle\":\"x\"}\r\n0\r\nx: y\r\n\r\n",
        ),
        ("content-length: 13\r\ncontent-length: 13\r\n", BODY),
        ("expect: 100-continue\r\ncontent-length: 13\r\n", BODY),
    ] {
        let reply = target.send(create(&format!("{head}{close}"), body)).await;
        let last = reply.statuses().last().copied();
        assert_eq!(last, Some(201), "{head}: {}", reply.text());
        assert_eq!(target.app.services.take_calls().len(), 1);
    }
    target.is_well().await;
}

#[tokio::test]
async fn a_client_that_waits_is_asked_for_its_body() {
    let target = Target::start().await;
    let mut socket = target.connect().await;
    let head = create(
        "expect: 100-continue\r\nconnection: close\r\ncontent-length: 13\r\n",
        "",
    );
    socket.write_all(head.as_bytes()).await.expect("is open");
    let mut asked = [0; 25];
    socket
        .read_exact(&mut asked)
        .await
        .expect("an interim response");
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    socket.write_all(BODY.as_bytes()).await.expect("is open");
    assert_eq!(Reply::read(&mut socket).await.statuses(), [201]);
    // Another expectation is none that HTTP knows.
    let odd = create(
        "expect: coffee\r\nconnection: close\r\ncontent-length: 13\r\n",
        BODY,
    );
    let reply = target.send(odd).await;
    assert_eq!(reply.statuses(), [201], "{}", reply.text());
    target.is_well().await;
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let target = Target::start().await;
    for (head, part) in [
        ("content-length: 13\r\n", ""),
        ("content-length: 13\r\n", "{\"ti"),
        ("transfer-encoding: chunked\r\n", "d\r\n{\"ti"),
        ("transfer-encoding: chunked\r\n", "d"),
    ] {
        let reply = target.send(create(head, part)).await;
        assert!(reply.closed, "{head} {part}");
        assert_eq!(reply.statuses(), [504], "{head} {part}: {}", reply.text());
    }
    assert!(target.app.services.take_calls().is_empty());
    target.is_well().await;
}

#[tokio::test]
async fn a_body_that_ends_early_changes_nothing() {
    let target = Target::start().await;
    for (head, part) in [
        ("content-length: 14\r\n", BODY),
        (
            "transfer-encoding: chunked\r\n",
            "d\r\n{\"title\":\"x\"}\r\n",
        ),
        ("transfer-encoding: chunked\r\n", "d\r\n{\"title\":\"x\"}"),
    ] {
        let mut socket = target.connect().await;
        let request = create(head, part);
        socket.write_all(request.as_bytes()).await.expect("is open");
        socket.shutdown().await.expect("is open");
        let reply = Reply::read(&mut socket).await;
        assert!(reply.closed, "{head}");
        let statuses = reply.statuses();
        assert!(
            statuses.is_empty() || statuses == [400],
            "{head}: {}",
            reply.text()
        );
        assert!(target.app.services.take_calls().is_empty(), "{head}");
    }
    target.is_well().await;
}

#[tokio::test]
async fn an_announced_gigabyte_is_refused_before_it_is_sent() {
    let target = Target::start().await;
    let reply = target
        .send(create("content-length: 1000000000\r\n", "{"))
        .await;
    assert_eq!(reply.statuses(), [413], "{}", reply.text());
    assert!(reply.closed);
    // A bomb is not inflated.
    let bomb = create(
        "content-encoding: gzip\r\nconnection: close\r\ncontent-length: 4\r\n",
        "\x1f\x0bab",
    );
    assert_eq!(target.send(bomb).await.statuses(), [415]);
    target.is_well().await;
}
