//! The other side of SMTP (RFC 5321) with a password (RFC 4954).

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
};

use e2e::token_in;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

/// A server that keeps what it gets. It rejects the first login and the first recipient, so that mails are
/// also seen to fail.
#[derive(Debug, Clone, Default)]
pub(super) struct Mailbox(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    has_rejected_login: bool,
    has_rejected_recipient: bool,
    mails: Vec<String>,
}

impl Mailbox {
    pub(super) async fn start(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("bound");
        let mailbox = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(mailbox.clone().converse(stream));
            }
        });
        address
    }

    /// Returns the token of the link to a page in the mail to an address.
    pub(super) fn token_for(&self, email: &str, page: &str) -> Option<String> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut mails = state.mails.iter();
        mails.find_map(|mail| token_in(mail, email, page))
    }

    async fn converse(self, stream: TcpStream) -> Option<()> {
        let (read, mut write) = stream.into_split();
        let mut lines = BufReader::new(read).lines();
        write.write_all(b"220 mail.example ESMTP\r\n").await.ok()?;
        while let Some(line) = lines.next_line().await.ok()? {
            let response = match line.get(..4)?.to_ascii_uppercase().as_str() {
                "EHLO" => "250-mail.example\r\n250 AUTH PLAIN LOGIN".to_owned(),
                // As servers do that mean it well, with what they were sent.
                "AUTH" => self.log_in(&line),
                "RCPT" => self.accept_recipient(&line),
                "DATA" => {
                    write.write_all(b"354 go on\r\n").await.ok()?;
                    let mut mail = String::new();
                    while let Some(line) = lines.next_line().await.ok()?
                        && line != "."
                    {
                        mail += &line;
                        mail += "\r\n";
                    }
                    let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
                    state.mails.push(mail);
                    "250 accepted".to_owned()
                }
                "QUIT" => "221 bye".to_owned(),
                _ => "250 OK".to_owned(),
            };
            let response = format!("{response}\r\n");
            write.write_all(response.as_bytes()).await.ok()?;
        }
        Some(())
    }

    fn log_in(&self, line: &str) -> String {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut state.has_rejected_login, true) {
            return "235 welcome".to_owned();
        }
        format!("454 try again, {line}")
    }

    fn accept_recipient(&self, line: &str) -> String {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut state.has_rejected_recipient, true) {
            return "250 OK".to_owned();
        }
        format!("450 mailbox busy: {line}")
    }
}
