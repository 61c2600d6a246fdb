//! The connection to JetStream, and the definition of the streams.
//!
//! Streams are no record of events: what JetStream loses is published again from the outbox.

use std::time::Duration;

use anyhow::Context as _;
use async_nats::{
    ConnectOptions, Event, ServerAddr,
    connection::State,
    jetstream::{
        Context,
        stream::{self, DiscardPolicy, StorageType},
    },
};
use percent_encoding::percent_decode_str;

use super::outbox::event_type;
use crate::{backoff::Backoff, config, pg::Schema};

/// Equal to the time that the outbox keeps events, so that both can replay the same ones.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);
/// Drops the retry of a publish whose ack was lost; later duplicates are skipped by the inbox.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(30);
/// Limit of a request to the JetStream API.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);
const RECONNECT: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_millis(1_600));

/// Starts connecting and returns immediately; reconnects without a limit, to any of the servers. Fails only
/// on a malformed URL, on several users, and on a URL without a user that is not on loopback: whoever
/// reaches such a server can publish any event.
pub async fn connect(settings: &config::Nats, client_name: &str) -> anyhow::Result<Context> {
    let servers = settings.servers()?;
    let client = with_certificates(authenticated(&servers)?, settings)
        .name(client_name)
        .retry_on_initial_connect()
        // A server names others before its certificate is checked, and without a user's rights.
        .ignore_discovered_servers()
        .max_reconnects(None)
        .connection_timeout(Duration::from_secs(2))
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| {
            let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
            RECONNECT.after(attempts.saturating_add(1))
        })
        .event_callback(|event| async move { report(&event) })
        .connect(without_user(servers)?)
        .await?;
    let mut context = async_nats::jetstream::new(client);
    context.set_timeout(REQUEST_TIMEOUT);
    Ok(context)
}

/// Returns options with the user of the URLs, which the client library ignores. It is the same for all
/// servers, also for those whose URL has none. Responses arrive in the user's own inboxes: another user
/// may not subscribe to them.
fn authenticated(servers: &[ServerAddr]) -> anyhow::Result<ConnectOptions> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let mut users = servers.iter().filter_map(|server| {
        let password = server.password().map(decoded).unwrap_or_default();
        Some((decoded(server.username()?), password))
    });
    let Some((user, password)) = users.next() else {
        servers.iter().try_for_each(ensure_loopback)?;
        return Ok(ConnectOptions::new());
    };
    anyhow::ensure!(
        users.all(|other| other == (user.clone(), password.clone())),
        "NATS_URL has several users or passwords: all servers of a cluster have the same"
    );
    let inbox = format!("_INBOX.{user}");
    Ok(ConnectOptions::with_user_and_password(user, password).custom_inbox_prefix(inbox))
}

/// Refuses a server without users that others can reach.
fn ensure_loopback(server: &ServerAddr) -> anyhow::Result<()> {
    let (host, port) = (server.host(), server.port());
    anyhow::ensure!(
        config::is_loopback(host),
        "NATS_URL has no user, and {host} is not loopback: \
         write it like nats://user:password@{host}:{port}"
    );
    Ok(())
}

/// Adds the files of certificates: with `tls://`, the server's is checked against the authorities.
fn with_certificates(mut options: ConnectOptions, settings: &config::Nats) -> ConnectOptions {
    if let Some(authorities) = &settings.nats_ca_file {
        options = options.add_root_certificates(authorities.clone());
    }
    if let (Some(certificate), Some(key)) = (&settings.nats_cert_file, &settings.nats_key_file) {
        options = options.add_client_certificate(certificate.clone(), key.clone());
    }
    options
}

/// Removes the user from the URLs, which appear in the client library's logs.
fn without_user(servers: Vec<ServerAddr>) -> anyhow::Result<Vec<ServerAddr>> {
    let remove = |server: ServerAddr| {
        let mut url = server.into_inner();
        let removed = url.set_password(None).and_then(|()| url.set_username(""));
        removed.ok().context("NATS_URL has no host")?;
        Ok(ServerAddr::from_url(url)?)
    };
    servers.into_iter().map(remove).collect()
}

fn report(event: &Event) {
    match event {
        Event::Connected => {
            metrics::gauge!("nats_connected").set(1.0);
            tracing::info!("nats: connected");
        }
        Event::Disconnected => {
            metrics::gauge!("nats_connected").set(0.0);
            tracing::warn!("nats: connection lost, reconnecting");
        }
        // We closed it, at the end of the process.
        Event::Closed => {
            metrics::gauge!("nats_connected").set(0.0);
            tracing::debug!("nats: connection closed");
        }
        other => tracing::debug!(event = %other, "nats: client event"),
    }
}

/// Returns whether the client is connected.
pub fn is_connected(js: &Context) -> bool {
    js.client().connection_state() == State::Connected
}

/// Returns the name of a context's stream: `GUERDON_ORDERS`.
pub fn stream_name(context: Schema) -> String {
    format!("GUERDON_{}", context.name().to_ascii_uppercase())
}

/// Creates the context's stream unless it exists, on as many nodes of a cluster as there are replicas;
/// called by its publisher. Changes by an operator (replicas, limits) stay.
pub async fn ensure_stream(
    js: &Context,
    context: Schema,
    replicas: u8,
) -> Result<(), async_nats::jetstream::context::CreateStreamError> {
    let config = stream::Config {
        name: stream_name(context),
        subjects: vec![format!("guerdon.{}.>", context.name())],
        storage: StorageType::File,
        num_replicas: replicas.into(),
        discard: DiscardPolicy::Old,
        max_age: MAX_AGE,
        duplicate_window: DUPLICATE_WINDOW,
        allow_atomic_publish: true,
        description: Some(format!(
            "Events of {}, e.g. {}",
            context.name(),
            event_type(context, "<Event>")
        )),
        ..Default::default()
    };
    js.get_or_create_stream(config).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn connected(url: &str) -> Result<Context, String> {
        let connected = connect(&config::Nats::at(url), "test").await;
        connected.map_err(|error| format!("{error:#}"))
    }

    #[tokio::test]
    async fn a_server_without_a_user_is_accepted_on_loopback_only() {
        for url in [
            "nats://127.0.0.1:1",
            "nats://localhost:1",
            "nats://[::1]:1",
            "nats://orders-svc:pass@192.0.2.1:1",
            "nats://127.0.0.1:1,nats://[::1]:1",
            "nats://orders-svc:pass@192.0.2.1:1,nats://192.0.2.2:1",
        ] {
            assert!(connected(url).await.is_ok(), "{url}");
        }
        for url in [
            "nats://192.0.2.1:4222",
            "tls://nats.example:4222",
            "nats://127.0.0.1:1,nats://192.0.2.1:4222",
        ] {
            let error = connected(url).await.unwrap_err();
            assert!(error.starts_with("NATS_URL has no user"), "{error}");
        }
        let error = connected("http://user:pa55word@127.0.0.1")
            .await
            .unwrap_err();
        assert!(
            error.starts_with("NATS_URL") && !error.contains("pa55word"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn the_servers_of_a_cluster_have_one_user() {
        let url =
            |other: &str| format!("nats://orders-svc:pa55@192.0.2.1:1,nats://{other}@[::1]:1");
        assert!(connected(&url("orders-svc:pa55")).await.is_ok());
        for other in ["orders-svc:other", "wallet-svc:pa55", "orders-svc"] {
            let error = connected(&url(other)).await.unwrap_err();
            assert!(error.starts_with("NATS_URL has several users"), "{error}");
            assert!(!error.contains("pa55"), "{error}");
        }
    }
}
