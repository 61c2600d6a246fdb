//! The summary that `cargo stack up` prints when everything is ready.

use std::path::Path;

use anyhow::Result;

use crate::{
    service::{Auth, Service},
    wiring::Wiring,
};

/// What a summary is of.
#[derive(Debug)]
pub(super) struct Summary<'a> {
    pub(super) wiring: &'a Wiring,
    /// The file of shell variables.
    pub(super) env: &'a Path,
    /// The directory of log files.
    pub(super) logs: &'a Path,
    /// Whether the API key and passwords are shown: the output may end in somebody's log.
    pub(super) secrets: bool,
}

/// Formats the summary.
pub(super) fn render(summary: &Summary) -> Result<String> {
    let &Summary {
        wiring,
        env,
        logs,
        secrets,
    } = summary;
    let rest = wiring.rest_url();
    let mode = match wiring.auth {
        Auth::Open => "open mode: calls without it act as admin too",
        Auth::Required => "send it as header `apikey`",
    };
    let shown = |url: String| if secrets { url } else { without_password(&url) };
    let key = if secrets {
        &wiring.secrets.api_key
    } else {
        "$GUERDON_API_KEY"
    };
    let grpc = Service::ALL.map(|service| {
        let address = wiring.grpc_url(service).replace("http://", "");
        format!("{} {address}", service.context())
    });
    let mut rows = vec![
        ("REST", rest.clone()),
        ("API docs", format!("{rest}/docs")),
        ("API key", format!("{key}  ({mode})")),
        ("gRPC", grpc.join("   ")),
        ("Postgres", shown(wiring.admin_url()?)),
        ("NATS", shown(wiring.operator_nats_url())),
        ("Logs", logs.display().to_string()),
        (
            "Mails",
            format!("{}  (files; nothing is sent)", wiring.mails.display()),
        ),
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
         curl -H \"apikey: $GUERDON_API_KEY\" $GUERDON_URL/products\n\n  \
         Ctrl-C stops everything; `cargo stack reset` throws the data away.\n\n",
        env = env.display(),
    ))
}

/// Returns a URL with `***` for its password.
fn without_password(url: &str) -> String {
    let authority = url.split_once("://");
    let user = authority.and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)));
    let Some((scheme, (user, rest))) = user else {
        return url.to_owned();
    };
    let name = user.split(':').next().unwrap_or_default();
    format!("{scheme}://{name}:***@{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{nats::users::NatsAccess, roles::Roles, secrets::Secrets};

    fn wiring() -> Wiring {
        let secrets = Secrets::generate();
        Wiring {
            instances: Vec::new(),
            auth: Auth::Required,
            otlp: None,
            nats: NatsAccess::Foreign("nats://orders:hush@127.0.0.1:1".to_owned()),
            postgres_url: format!("postgres://postgres:{}@h:2/p", secrets.database_password),
            database: "guerdon".to_owned(),
            roles: Roles::new("secret"),
            mails: ".stack/mail".into(),
            tls: false,
            secrets,
        }
    }

    fn render_with(wiring: &Wiring, secrets: bool) -> String {
        let (env, logs) = (Path::new(".stack/env"), Path::new(".stack/logs"));
        let summary = Summary {
            wiring,
            env,
            logs,
            secrets,
        };
        render(&summary).unwrap()
    }

    #[test]
    fn secrets_are_shown_on_request_only() {
        let wiring = wiring();
        let secrets = [
            wiring.secrets.api_key.as_str(),
            &wiring.secrets.database_password,
            "hush",
        ];
        let (short, long) = (render_with(&wiring, false), render_with(&wiring, true));
        for secret in secrets {
            assert!(!short.contains(secret), "{short}");
            assert!(long.contains(secret), "{long}");
        }
        assert!(short.contains("postgres://postgres:***@h:2/guerdon"));
    }

    #[test]
    fn urls_without_a_password_are_shown_as_they_are() {
        for url in ["nats://127.0.0.1:4222", "127.0.0.1:4222"] {
            assert_eq!(without_password(url), url);
        }
    }
}
