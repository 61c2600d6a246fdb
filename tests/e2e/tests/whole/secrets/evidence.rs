//! Everything that a running system leaves behind, by place.

use std::{fmt::Write as _, fs, path::Path};

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use e2e::{TestApp, TraceCollector};
use futures::{StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use sqlx::{AssertSqlSafe, Row as _};

use super::canary::{Canaries, Canary};

/// Characters before and after a hit that a report shows.
const AROUND: usize = 60;
/// Hits that a report shows of one secret at one place.
const MAX_HITS: usize = 3;

/// The tables that hold mail addresses: those of users, and what is sent to them. A recorded response of
/// identity-svc is the user.
const TABLES_OF_MAIL: [&str; 6] = [
    "table identity.users",
    "table identity.invites",
    "table identity.mails",
    "table identity.account_tokens",
    "table identity.user_provisionings",
    "table identity.idempotency_keys",
];

/// Texts by the place where they were found.
pub(super) struct Evidence(Vec<(String, String)>);

impl Evidence {
    /// Begins with the responses, which the client has kept.
    pub(super) fn of_responses(kept: String) -> Self {
        Self(vec![("responses".to_owned(), kept)])
    }

    /// Reads what stays after everything is done.
    pub(super) async fn read(&mut self, app: &TestApp, traces: &TraceCollector) {
        self.logs(&app.stack.environment().directory().join("logs"));
        self.traces(traces);
        self.events(app).await;
        self.tables(app).await;
    }

    pub(super) fn add(&mut self, place: impl Into<String>, text: String) {
        self.0.push((place.into(), text));
    }

    fn logs(&mut self, directory: &Path) {
        for entry in fs::read_dir(directory).expect("logs") {
            let path = entry.expect("a log").path();
            let text = fs::read(&path).expect("a log");
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            self.add(
                format!("log {name}"),
                String::from_utf8_lossy(&text).into_owned(),
            );
        }
    }

    fn traces(&mut self, traces: &TraceCollector) {
        let mut all = String::new();
        for export in traces.exported() {
            all += &String::from_utf8_lossy(&export.encode_to_vec());
        }
        self.add("traces", all);
    }

    /// Reads the metrics that the processes have now.
    pub(super) async fn metrics(&mut self, app: &TestApp) {
        for instance in &app.stack.wiring().instances {
            let url = format!("http://127.0.0.1:{}/metrics", instance.metrics_port);
            let page = reqwest::get(url).await.expect("a page").text().await;
            self.add(format!("metrics {}", instance.name), page.expect("a text"));
        }
    }

    /// Reads the messages of all streams with their headers.
    async fn events(&mut self, app: &TestApp) {
        let nats = platform::config::Nats::at(&app.stack.wiring().operator_nats_url());
        let jetstream = platform::messaging::jetstream::connect(&nats, "secrets").await;
        let jetstream = jetstream.expect("NATS responds");
        let streams: Vec<_> = jetstream.streams().try_collect().await.expect("streams");
        for info in streams {
            let name = info.config.name;
            let stream = jetstream.get_stream(&name).await.expect("a stream");
            let all = pull::OrderedConfig {
                deliver_policy: DeliverPolicy::All,
                ..pull::OrderedConfig::default()
            };
            let consumer = stream.create_consumer(all).await.expect("a consumer");
            let messages = consumer.messages().await.expect("messages");
            let count = usize::try_from(info.state.messages).expect("few");
            let mut messages = messages.take(count);
            let mut text = String::new();
            while let Some(message) = messages.next().await {
                let message = message.expect("a message");
                let payload = String::from_utf8_lossy(&message.payload);
                let (subject, headers) = (&message.subject, &message.headers);
                let _ = write!(text, "{subject} {headers:?} {payload}");
            }
            self.add(format!("stream {name}"), text);
        }
    }

    /// Reads every row of every table, bytes in hexadecimal.
    async fn tables(&mut self, app: &TestApp) {
        let mut database = app.connect().await;
        let tables = "select table_schema || '.' || table_name from information_schema.tables
             where table_type = 'BASE TABLE'
                 and table_schema not in ('pg_catalog', 'information_schema')";
        let tables: Vec<String> = sqlx::query_scalar(tables)
            .fetch_all(&mut database)
            .await
            .expect("tables");
        for table in tables {
            let rows = AssertSqlSafe(format!("select row_to_json(t)::text from {table} t"));
            let rows = sqlx::query(rows)
                .fetch_all(&mut database)
                .await
                .expect("rows");
            let rows = rows.iter().map(|row| row.get::<String, _>(0));
            self.add(
                format!("table {table}"),
                rows.collect::<Vec<_>>().join("\n"),
            );
        }
    }

    /// Tells whether a place whose name begins so holds a text.
    pub(super) fn has(&self, place: &str, text: &str) -> bool {
        let mut places = self.0.iter().filter(|(name, _)| name.starts_with(place));
        places.any(|(_, found)| found.contains(text))
    }

    /// Returns a line for each secret at a place where it does not belong.
    pub(super) fn leaks(&self, canaries: &Canaries) -> Vec<String> {
        let mut leaks = Vec::new();
        for (place, text) in &self.0 {
            for canary in canaries.iter() {
                if !(canary.is_mail && TABLES_OF_MAIL.contains(&place.as_str())) {
                    leaks.extend(hits(place, text, canary));
                }
            }
        }
        leaks
    }
}

fn hits(place: &str, text: &str, canary: &Canary) -> Vec<String> {
    let hits = canary
        .forms
        .iter()
        .flat_map(|form| text.match_indices(form.as_str()));
    let shown = hits.take(MAX_HITS).map(|(at, _)| {
        let start = text.floor_char_boundary(at.saturating_sub(AROUND));
        let end = text.ceil_char_boundary((at + AROUND * 2).min(text.len()));
        format!("{place}: {}: …{}…", canary.name, &text[start..end])
    });
    shown.collect()
}
