//! The HTTP client of readiness checks and of the demo shop. It calls this machine only, so it
//! ignores proxy settings.

use std::time::Duration;

use anyhow::{Result, ensure};
use ureq::{Agent, Body, http::Response};

/// Returns a client whose requests take at most `timeout` each.
pub(crate) fn client(timeout: Duration) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .proxy(None)
        .timeout_global(Some(timeout))
        .build();
    config.into()
}

/// Reads status and body of a response, whatever the status.
pub(crate) fn read(response: Result<Response<Body>, ureq::Error>) -> Result<(u16, String)> {
    let mut response = response?;
    let body = response.body_mut().read_to_string()?;
    Ok((response.status().as_u16(), body))
}

/// Succeeds when `GET http://127.0.0.1:<port><path>` returns 200.
pub(crate) fn check(client: &Agent, port: u16, path: &str) -> Result<()> {
    let (status, body) = read(client.get(format!("http://127.0.0.1:{port}{path}")).call())?;
    ensure!(status == 200, "{path} returns {status} {}", body.trim());
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read as _, Write as _},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// Answers one request with these bytes.
    fn serve(response: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap();
            stream.write_all(response.as_bytes()).unwrap();
        });
        port
    }

    #[test]
    fn a_check_reports_the_status_and_body_of_a_failure() {
        let client = client(Duration::from_secs(5));
        let port = serve("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
        assert!(check(&client, port, "/readyz").is_ok());
        let port = serve("HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\n\r\nno");
        let error = check(&client, port, "/readyz").unwrap_err();
        assert_eq!(error.to_string(), "/readyz returns 503 no");
        assert!(check(&client, serve("INFO {}\r\n"), "/readyz").is_err());
    }
}
