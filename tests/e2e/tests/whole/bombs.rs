//! Bodies that are small and inflate to a lot: refused, whoever sends them, and never inflated.

use std::{fs, io::Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use e2e::TestApp;
use flate2::{Compression, write::GzEncoder};
use reqwest::{
    Client,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};

use crate::access;

const ID: &str = "01920000-0000-7000-8000-000000000001";
const MIB: usize = 1024 * 1024;
/// The growth of the gateway's memory that is allowed, in kilobytes: less than any of the bombs inflates to.
const MAX_GROWTH: u64 = 6 * 1024;

/// 256 MiB of zeros, by Brotli with the largest window.
const BROTLI: &str = "z///f/gnAOKxQCD3/p/////wTwDEYQGA7v0/////4Z8AiMMiAN37f/7//8M/ARCHBQC69//8//+HfwIgDgsAdO//\
    +f//D/8EQBwWAOje//P//x/+CYA4LADQvf/n//8//BMAcVgAoHv/z///f/gnAOKwAED3/p/////wTwDEYQGA7v0/////4Z8AiMMC\
    AN37f/7//8M/ARCHBQC69//8//+HfwIgDgsAdO//+f//D/8EQBwWAOje//P//x/+CYA4LADQvf/P//9//BMAcVgAoHv/Dw==";

/// Returns bombs of at most 10 KB, by the name of the coding.
fn bombs() -> [(&'static str, Vec<u8>); 3] {
    let brotli = BASE64_STANDARD.decode(BROTLI).expect("base64");
    let bombs = [("gzip", gzip()), ("br", brotli), ("zstd", zstd())];
    assert!(bombs.iter().all(|(_, bomb)| bomb.len() <= 10_000));
    bombs
}

/// 9 MiB of zeros.
fn gzip() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![0; 9 * MIB]).expect("memory");
    encoder.finish().expect("memory")
}

/// 256 MiB of zeros (RFC 8878): a frame with a window of 128 KiB, whose blocks repeat one byte 131 072 times.
fn zstd() -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    for block in 1..=2_048 {
        let is_last = u32::from(block == 2_048);
        let head = (131_072 << 3) | (1 << 1) | is_last;
        frame.extend(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

/// Returns a value in kilobytes from the status of a process.
fn memory(pid: u32, name: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let value = line.and_then(|line| line.split_whitespace().next());
    value.and_then(|it| it.parse().ok()).expect("kilobytes")
}

/// Sends bombs to every route that changes something, with an admin's key and without credentials, and
/// compares the largest memory of the gateway with that before.
pub(crate) async fn check(app: &TestApp) {
    // There are more requests than a burst may have.
    let unlimited = [("RATE_LIMIT".to_owned(), "0".to_owned())];
    app.stack.stop("gateway").expect("it runs");
    app.stack
        .start_again("gateway", &unlimited)
        .expect("a start");
    let pid = app.stack.process_ids()["gateway"];
    let client = Client::new();
    // What any request needs is there before it is measured.
    send_to_all(app, &client, "gzip", &[0; 10_000]).await;
    let (before, peak) = (memory(pid, "VmRSS:"), memory(pid, "VmHWM:"));
    for (coding, bomb) in bombs() {
        send_to_all(app, &client, coding, &bomb).await;
    }
    let after = memory(pid, "VmHWM:");
    let allowed = peak.max(before + MAX_GROWTH);
    assert!(
        after <= allowed,
        "from {before} kB to {after} kB, not {allowed} kB"
    );
}

/// Sends a body to every route that changes something.
async fn send_to_all(app: &TestApp, client: &Client, coding: &str, body: &[u8]) {
    let key = &app.stack.wiring().secrets.api_key;
    let rows = access::rows().into_iter();
    for row in rows.filter(|row| !row.method.is_safe()) {
        let segments = row.path.split('/');
        let segments = segments.map(|it| if it.starts_with('{') { ID } else { it });
        let url = format!("{}{}", app.base(), segments.collect::<Vec<_>>().join("/"));
        for is_admin in [true, false] {
            let request = client.request(row.method.clone(), &url);
            let request = request.header(CONTENT_TYPE, "application/json");
            let mut request = request.header(CONTENT_ENCODING, coding).body(body.to_vec());
            if is_admin {
                request = request.header("apikey", key);
            }
            let response = request.send().await.expect("the gateway responds");
            let status = response.status().as_u16();
            // A route that takes no body looks for the resource, which there is not.
            let expected: &[u16] = if is_admin { &[404, 415] } else { &[401, 415] };
            assert!(expected.contains(&status), "{} {url}: {status}", row.method);
        }
    }
}
