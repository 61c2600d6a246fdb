//! The formats of a log event: `Pretty`, a line of text, and `Json`, an object. Both have the trace
//! id.

use std::fmt;

use chrono::{DateTime, Local, SecondsFormat, Utc};
use opentelemetry::trace::TraceContextExt as _;
use serde::Serialize;
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    field::RecordFields,
    fmt::{FmtContext, FormatEvent, FormatFields, format::Writer},
    registry::LookupSpan,
};

use super::chain;

/// `12:30:01.123  INFO orders::relay  published  count=3 trace=0af7…`
#[derive(Debug)]
pub(super) struct Pretty;

/// `{"time":…,"level":"info","target":…,"message":…,"fields":{…},"traceId":…}`
#[derive(Debug)]
pub(super) struct Json;

/// Formats no fields of spans, which appear in no log line.
#[derive(Debug)]
pub(super) struct NoFields;

impl<'w> FormatFields<'w> for NoFields {
    fn format_fields<R: RecordFields>(&self, _writer: Writer<'w>, _fields: R) -> fmt::Result {
        Ok(())
    }
}

impl<S, N> FormatEvent<S, N> for Pretty
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let line = Line::of(event);
        let paint = Paint(writer.has_ansi_escapes());
        let metadata = event.metadata();
        let time = DateTime::<Local>::from(now()).format("%H:%M:%S%.3f");
        paint.write(&mut writer, DIM, format_args!("{time}"))?;
        writer.write_char(' ')?;
        let level = metadata.level();
        paint.write(
            &mut writer,
            color(*level),
            format_args!("{:>5}", level.as_str()),
        )?;
        writer.write_char(' ')?;
        paint.write(
            &mut writer,
            DIM,
            format_args!("{}", short_target(metadata.target())),
        )?;
        write!(writer, "  {}", OneLine(&line.message))?;
        for (index, (name, value)) in line.fields.iter().enumerate() {
            writer.write_str(if index == 0 { "  " } else { " " })?;
            paint.write(&mut writer, DIM, format_args!("{name}="))?;
            match value {
                Value::String(text) => write!(writer, "{}", OneLine(text))?,
                other => write!(writer, "{other}")?,
            }
        }
        if let Some((trace, _)) = trace() {
            paint.write(&mut writer, DIM, format_args!("  trace={trace}"))?;
        }
        writeln!(writer)
    }
}

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        _context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let line = Line::of(event);
        let metadata = event.metadata();
        let (trace_id, span_id) = trace().unzip();
        let object = JsonLine {
            time: now().to_rfc3339_opts(SecondsFormat::Millis, true),
            level: metadata.level().as_str().to_ascii_lowercase(),
            target: metadata.target(),
            message: &line.message,
            trace_id,
            span_id,
            fields: line.fields.into_iter().collect(),
        };
        writeln!(
            writer,
            "{}",
            serde_json::to_string(&object).map_err(|_| fmt::Error)?
        )
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonLine<'a> {
    time: String,
    level: String,
    target: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    span_id: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    fields: Map<String, Value>,
}

/// The message and the fields of an event.
#[derive(Default)]
struct Line {
    message: String,
    fields: Vec<(String, Value)>,
}

impl Line {
    fn of(event: &Event<'_>) -> Self {
        let mut line = Self::default();
        event.record(&mut line);
        line
    }

    fn set(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            ("message", other) => self.message = other.to_string(),
            (name, value) => self.fields.push((name.to_owned(), value)),
        }
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.set(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.set(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.set(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.set(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.set(field, value.into());
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.set(field, value.into());
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.set(field, chain(value).into());
    }
}

/// A text with its control characters escaped: a line break in a cause would forge a line of the log,
/// and an escape sequence would drive the terminal that shows it.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_special = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
        for part in self.0.split_inclusive(is_special) {
            let plain = part.trim_end_matches(is_special);
            f.write_str(plain)?;
            write!(f, "{}", part[plain.len()..].escape_default())?;
        }
        Ok(())
    }
}

/// Returns trace and span id. They are read from the attached context and not from the registry, so
/// that they are present if the log filter hides the span.
fn trace() -> Option<(String, String)> {
    let context = opentelemetry::Context::current();
    let span = context.span().span_context().clone();
    span.is_valid()
        .then(|| (span.trace_id().to_string(), span.span_id().to_string()))
}

/// Shortens a target to its crate and last module: `orders_svc::order::service` to
/// `orders_svc::service`.
fn short_target(target: &str) -> String {
    match (target.split_once("::"), target.rsplit_once("::")) {
        (Some((first, _)), Some((_, last))) => format!("{first}::{last}"),
        _ => target.to_owned(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the time of a log line is never mocked"
)]
fn now() -> DateTime<Utc> {
    Utc::now()
}

const DIM: &str = "2";

fn color(level: Level) -> &'static str {
    match level {
        Level::ERROR => "31",
        Level::WARN => "33",
        Level::INFO => "32",
        Level::DEBUG => "34",
        Level::TRACE => "35",
    }
}

/// Writes ANSI colors if the output is a terminal.
#[derive(Clone, Copy)]
struct Paint(bool);

impl Paint {
    fn write(self, writer: &mut Writer<'_>, code: &str, text: fmt::Arguments<'_>) -> fmt::Result {
        if self.0 {
            write!(writer, "\x1b[{code}m{text}\x1b[0m")
        } else {
            writer.write_fmt(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc};

    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    /// Keeps what is written.
    #[derive(Clone, Default)]
    struct Output(Arc<std::sync::Mutex<Vec<u8>>>);

    impl io::Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Output {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn an_event_is_one_line_without_control_characters() {
        let output = Output::default();
        let subscriber = tracing_subscriber::fmt()
            .with_writer(output.clone())
            .with_ansi(false)
            .event_format(Pretty)
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let cause = "a\nb\x1b[2J\r\u{2028}é \u{9b}";
            tracing::warn!(cause, "refused: x\n12:00:00 ERROR forged");
        });
        let written = String::from_utf8(output.0.lock().unwrap().clone()).unwrap();
        let line = written.strip_suffix('\n').unwrap();
        let expected = r"refused: x\n12:00:00 ERROR forged  cause=a\nb\u{1b}[2J\r\u{2028}é \u{9b}";
        assert!(line.ends_with(expected), "{line}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}
