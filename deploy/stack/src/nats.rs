//! A NATS server of our own, with JetStream.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::logs::Log;
use crate::process::{Process, Spec, poll};

const START_PATIENCE: Duration = Duration::from_secs(20);
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// A running server.
#[derive(Debug)]
pub struct Nats {
    process: Process,
}

impl Nats {
    /// Starts the program with its data in `home`, and waits until it listens.
    pub fn start(program: &Path, home: &Path, port: u16, log: &Arc<Log>) -> Result<Self> {
        fs::create_dir_all(home).with_context(|| format!("{} can't be made", home.display()))?;
        let config = home.join("nats.conf");
        fs::write(&config, configuration(home, port)?)?;
        let spec = Spec {
            name: "NATS".to_owned(),
            program: PathBuf::from(program),
            args: vec!["--config".to_owned(), config.display().to_string()],
            env: Vec::new(),
            isolated: false,
            account: None,
            stop: Signal::TERM,
        };
        let server = Self {
            process: Process::spawn(&spec, Arc::clone(log))?,
        };
        server.wait_until_ready(port)?;
        Ok(server)
    }

    /// The server process.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Ends it in good order.
    pub fn stop(&self) {
        self.process.stop(STOP_PATIENCE);
    }

    fn wait_until_ready(&self, port: u16) -> Result<()> {
        let ready = poll(START_PATIENCE, || match self.process.ended() {
            Some(status) => Some(Err(status)),
            None => greets(port).then_some(Ok(())),
        });
        match ready {
            Some(Ok(())) => Ok(()),
            Some(Err(status)) => {
                bail!(
                    "NATS ended at once ({status}):\n{}",
                    self.process.log().last_lines(15)
                )
            }
            None => bail!("NATS does not answer on port {port}"),
        }
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.stop();
    }
}

fn greets(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) else {
        return false;
    };
    let mut line = String::new();
    stream
        .set_read_timeout(Some(Duration::from_secs(1)))
        .is_ok()
        && BufReader::new(stream).read_line(&mut line).is_ok()
        && line.starts_with("INFO ")
}

/// `sync_interval: always`: by default the server acknowledges messages that are not on disk yet.
fn configuration(home: &Path, port: u16) -> Result<String> {
    let store = home.join("jetstream").display().to_string();
    // JSON strings are also strings of the server's configuration language.
    let store = serde_json::to_string(&store)?;
    Ok(format!(
        "listen: \"127.0.0.1:{port}\"\n\
         server_name: guerdon\n\
         jetstream {{\n  store_dir: {store}\n  sync_interval: always\n}}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_synced_before_they_are_acknowledged() {
        let text = configuration(Path::new("/data/my \"nats\""), 4333).unwrap();
        assert!(text.contains("sync_interval: always"));
        assert!(text.contains("listen: \"127.0.0.1:4333\""));
        assert!(text.contains(r#"store_dir: "/data/my \"nats\"/jetstream""#));
    }
}
