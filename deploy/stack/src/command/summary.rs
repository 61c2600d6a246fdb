//! The summary that `cargo stack up` prints when everything is ready.

use std::path::Path;

use anyhow::Result;

use crate::{
    service::{Auth, Service},
    wiring::Wiring,
};

/// Formats the summary; `env` is the file of shell variables, `logs` the directory of log files.
pub(super) fn render(wiring: &Wiring, env: &Path, logs: &Path) -> Result<String> {
    let rest = wiring.rest_url();
    let mode = match wiring.auth {
        Auth::Open => "open mode: calls without it act as admin too",
        Auth::Required => "send it as header `apikey`",
    };
    let grpc = Service::ALL.map(|service| {
        let address = wiring.grpc_url(service).replace("http://", "");
        format!("{} {address}", service.context())
    });
    let mut rows = vec![
        ("REST", rest.clone()),
        ("API docs", format!("{rest}/docs")),
        ("API key", format!("{}  ({mode})", wiring.secrets.api_key)),
        ("gRPC", grpc.join("   ")),
        ("Postgres", wiring.admin_url()?),
        ("NATS", wiring.nats_url.clone()),
        ("Logs", logs.display().to_string()),
    ];
    rows.extend(wiring.otlp.iter().map(|otlp| ("Traces to", otlp.clone())));
    let rows = rows.iter();
    let lines: Vec<_> = rows
        .map(|(name, value)| format!("  {name:<10} {value}\n"))
        .collect();
    let table = lines.concat();
    Ok(format!(
        "\nGuerdon is up.\n\n{table}\n  \
         . {env}    sets GUERDON_URL, GUERDON_API_KEY and the rest in a shell\n  \
         curl -H \"apikey: $GUERDON_API_KEY\" $GUERDON_URL/readyz\n\n  \
         Ctrl-C stops everything; `cargo stack reset` throws the data away.\n\n",
        env = env.display(),
    ))
}
