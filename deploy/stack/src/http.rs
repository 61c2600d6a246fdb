//! As much of an HTTP client as asking "are you ready?" takes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};

/// Status and body of `GET <path>` at a loopback port.
pub fn get(port: u16, path: &str) -> Result<(u16, String)> {
    const PATIENCE: Duration = Duration::from_secs(2);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    parse(&answer).with_context(|| format!("127.0.0.1:{port} does not speak HTTP"))
}

fn parse(answer: &str) -> Option<(u16, String)> {
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head
        .strip_prefix("HTTP/1.")?
        .split(' ')
        .nth(1)?
        .parse()
        .ok()?;
    Some((status, body.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_and_body_are_read() {
        let answer = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\nno";
        assert_eq!(parse(answer), Some((503, "no".to_owned())));
        assert_eq!(parse("INFO {}\r\n"), None);
    }
}
