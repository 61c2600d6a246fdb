//! The other side of SMTP (RFC 5321): accepts mails, or answers a recipient as it is told to.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use mail_parser::{Message, MessageParser};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// A running server.
#[derive(Debug, Clone, Default)]
pub(crate) struct FakeSmtp {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    refusals: VecDeque<&'static str>,
    mails: Vec<Received>,
}

/// A mail that the server has accepted.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    /// The recipient of the envelope.
    pub(crate) to: String,
    pub(crate) source: String,
}

impl Received {
    pub(crate) fn parse(&self) -> Message<'_> {
        MessageParser::default().parse(&self.source).unwrap()
    }
}

impl FakeSmtp {
    /// Starts a server and returns its address.
    pub(crate) async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(server.clone().converse(stream));
            }
        });
        address
    }

    /// Refuses the next recipients with these responses.
    pub(crate) fn refuse(&self, responses: &[&'static str]) {
        self.state.lock().unwrap().refusals.extend(responses);
    }

    pub(crate) fn mails(&self) -> Vec<Received> {
        self.state.lock().unwrap().mails.clone()
    }

    async fn converse(self, stream: TcpStream) -> Option<()> {
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        write.write_all(b"220 fake.example ESMTP\r\n").await.ok()?;
        let mut to = String::new();
        while let Some(line) = lines.next_line().await.ok()? {
            let response = match line.get(..4)?.to_ascii_uppercase().as_str() {
                "RCPT" => {
                    let (_, address) = line.split_once('<')?;
                    address.trim_end_matches('>').clone_into(&mut to);
                    let refusal = self.state.lock().unwrap().refusals.pop_front();
                    refusal.unwrap_or("250 OK")
                }
                "DATA" => {
                    write.write_all(b"354 go on\r\n").await.ok()?;
                    let mut source = String::new();
                    while let Some(line) = lines.next_line().await.ok()? {
                        if line == "." {
                            break;
                        }
                        source += line.strip_prefix('.').unwrap_or(&line);
                        source += "\r\n";
                    }
                    let to = std::mem::take(&mut to);
                    self.state
                        .lock()
                        .unwrap()
                        .mails
                        .push(Received { to, source });
                    "250 accepted"
                }
                "QUIT" => "221 bye",
                _ => "250 OK",
            };
            let response = format!("{response}\r\n");
            write.write_all(response.as_bytes()).await.ok()?;
        }
        Some(())
    }
}
