//! Where mails go: to an SMTP server, into a directory, or nowhere.

use std::{
    fs::DirBuilder,
    io,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use lettre::{
    AsyncSmtpTransport, AsyncTransport as _, Message, Tokio1Executor,
    transport::smtp::{self, PoolConfig},
};
use platform::{config::is_loopback, telemetry};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::{fs, io::AsyncWriteExt as _, time::timeout};
use url::Url;

use crate::config::MailSettings;

/// How long the delivery of one mail may take.
const SEND_TIMEOUT: Duration = Duration::from_secs(15);

/// Connections to the SMTP server.
const MAX_CONNECTIONS: u32 = 8;

/// Delivers mails.
#[derive(Debug)]
pub(crate) enum Transport {
    Smtp(Smtp),
    /// Writes files that end in `.eml`, for tests and for trying the product out.
    Directory(PathBuf),
    /// Nothing is configured: mails stay in the table.
    None,
}

/// An SMTP server.
#[derive(Debug)]
pub(crate) struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    timeout: Duration,
}

/// Why a mail was not delivered. The texts hold no address.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Undelivered {
    /// A later attempt may succeed.
    Transient(String),
    /// The server refuses the mail for good, or there is none.
    Permanent(String),
}

impl Transport {
    /// Creates the configured transport, without connecting. Refuses to send mails and a password over
    /// a plain connection beyond this machine, unless that is allowed.
    pub(crate) fn new(settings: &MailSettings, insecure_peers: bool) -> anyhow::Result<Self> {
        match (&settings.smtp_url, &settings.mail_dir) {
            (Some(url), _) => {
                check_encryption(url, insecure_peers)?;
                Ok(Self::Smtp(Smtp::new(url, SEND_TIMEOUT)?))
            }
            (None, Some(directory)) => {
                create_directory(directory)
                    .with_context(|| format!("MAIL_DIR: cannot create {}", directory.display()))?;
                Ok(Self::Directory(directory.clone()))
            }
            (None, None) => Ok(Self::None),
        }
    }

    /// Says once where mails go.
    pub(super) fn log(&self) {
        match self {
            Self::Smtp(_) => tracing::info!("mail: sending to SMTP_URL"),
            Self::Directory(directory) => {
                let directory = directory.display();
                tracing::info!(%directory, "mail: writing to MAIL_DIR, nothing is sent");
            }
            Self::None => tracing::warn!(
                "mail: neither SMTP_URL nor MAIL_DIR is set, mails stay in identity.mails"
            ),
        }
    }

    /// Delivers a message. `name` is that of its file in a directory.
    pub(super) async fn deliver(&self, name: &str, message: Message) -> Result<(), Undelivered> {
        match self {
            Self::Smtp(smtp) => smtp.send(message).await,
            Self::Directory(directory) => write_file(directory, name, &message.formatted())
                .await
                .map_err(|error| Undelivered::Transient(format!("MAIL_DIR: {error}"))),
            Self::None => Err(Undelivered::Permanent(
                "neither SMTP_URL nor MAIL_DIR is set".to_owned(),
            )),
        }
    }
}

impl Smtp {
    fn new(url: &SecretString, timeout: Duration) -> anyhow::Result<Self> {
        // Not its error's text, which may repeat the password.
        let builder = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.expose_secret());
        let builder = builder.ok().context(
            "SMTP_URL is not the URL of a server: smtps://user:password@host, or smtp://…?tls=required",
        )?;
        let transport = builder
            .timeout(Some(timeout))
            .pool_config(PoolConfig::new().max_size(MAX_CONNECTIONS))
            .build();
        Ok(Self { transport, timeout })
    }

    async fn send(&self, message: Message) -> Result<(), Undelivered> {
        // The transport's own limit is for each command.
        match timeout(self.timeout, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(undelivered(&error)),
            Err(_) => Err(Undelivered::Transient("SMTP: timed out".to_owned())),
        }
    }
}

/// Keeps of a response only its code: its text may repeat the address.
fn undelivered(error: &smtp::Error) -> Undelivered {
    match error.status() {
        Some(code) if error.is_permanent() => Undelivered::Permanent(format!("SMTP: {code}")),
        Some(code) => Undelivered::Transient(format!("SMTP: {code}")),
        None if error.is_response() => {
            Undelivered::Transient("SMTP: an unreadable response".to_owned())
        }
        None => Undelivered::Transient(format!("SMTP: {}", telemetry::chain(error))),
    }
}

fn check_encryption(url: &SecretString, insecure_peers: bool) -> anyhow::Result<()> {
    let url = Url::parse(url.expose_secret())
        .ok()
        .context("SMTP_URL is not a URL: smtps://user:password@host")?;
    let encrypted = url.scheme() == "smtps"
        || url
            .query_pairs()
            .any(|(name, value)| name == "tls" && value == "required");
    let host = url.host_str().unwrap_or_default();
    anyhow::ensure!(
        encrypted || insecure_peers || is_loopback(host),
        "SMTP_URL reaches {host} without TLS: write it with smtps:// or ?tls=required, or allow it \
         with INSECURE_PEERS=true"
    );
    Ok(())
}

/// Creates a directory that only its owner can read, as mails hold tokens.
fn create_directory(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Writes a file that appears whole.
async fn write_file(directory: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let part = directory.join(format!(".{name}.part"));
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(&part).await?;
    file.write_all(content).await?;
    file.flush().await?;
    fs::rename(part, directory.join(name)).await
}

#[cfg(test)]
mod tests {
    use platform::config::from_args;
    use tokio::net::TcpListener;

    use super::*;

    fn new(args: &[&str], insecure_peers: bool) -> Result<Transport, String> {
        let settings: MailSettings = from_args(args).unwrap();
        Transport::new(&settings, insecure_peers).map_err(|error| format!("{error:#}"))
    }

    #[tokio::test]
    async fn plain_connections_stay_on_this_machine() {
        for (url, is_accepted) in [
            ("smtp://127.0.0.1:25", true),
            ("smtp://u:pa55@localhost", true),
            ("smtps://u:pa55@mail.example", true),
            ("smtp://u:pa55@mail.example:587?tls=required", true),
            ("smtp://u:pa55@mail.example:587?tls=opportunistic", false),
            ("smtp://u:pa55@mail.example", false),
            ("http://u:pa55@127.0.0.1", false),
            ("pa55", false),
            ("", false),
        ] {
            let transport = new(&["--smtp-url", url], false);
            assert_eq!(transport.is_ok(), is_accepted, "{url}");
            let error = transport.err().unwrap_or_default();
            assert!(is_accepted || error.contains("SMTP_URL"), "{error}");
            assert!(!error.contains("pa55"), "{error}");
        }
        assert!(new(&["--smtp-url", "smtp://mail.example"], true).is_ok());
        let denied = new(&["--mail-dir", "/proc/mails"], false).unwrap_err();
        assert!(
            denied.starts_with("MAIL_DIR: cannot create /proc/mails"),
            "{denied}"
        );
    }

    #[tokio::test]
    async fn a_silent_server_times_out() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("smtp://{}", listener.local_addr().unwrap()).into();
        let smtp = Smtp::new(&url, Duration::from_millis(200)).unwrap();
        let message = Message::builder()
            .from("a@x.com".parse().unwrap())
            .to("b@x.com".parse().unwrap())
            .body(String::new())
            .unwrap();
        let Err(Undelivered::Transient(error)) = smtp.send(message).await else {
            panic!("sent or given up");
        };
        assert!(error.contains("timed out"), "{error}");
    }
}
