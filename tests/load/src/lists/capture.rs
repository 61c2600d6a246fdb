//! Captures the statement of a list from Postgres' log.

use std::{fs, time::Duration};

use anyhow::Context as _;
use platform::testing::eventually;
use sqlx::PgConnection;

use crate::environment::Environment;

/// Calls of each list: after five, Postgres may plan a prepared statement for any parameters.
const CALLS: usize = 10;

/// The limit for Postgres to write its log.
const LOG_TIMEOUT: Duration = Duration::from_secs(10);

const MARK: &str = "load: capture ";
const END_OF_COUNT: &str = ") as list_total, ";
const START_OF_COUNT: &str = ", (select count(*)";

/// A statement as sent.
#[derive(Debug)]
pub struct Captured {
    /// With its parameters filled in.
    sql: String,
    /// Durations of the calls in milliseconds.
    durations: Vec<f64>,
}

/// Makes Postgres log the statements of a role, from its next connection on.
pub async fn enable(conn: &mut PgConnection, role: &str) -> anyhow::Result<()> {
    set(conn, role, "set log_min_duration_statement = 0").await
}

/// Ends [`enable`].
pub async fn disable(conn: &mut PgConnection, role: &str) -> anyhow::Result<()> {
    set(conn, role, "reset log_min_duration_statement").await
}

async fn set(conn: &mut PgConnection, role: &str, what: &str) -> anyhow::Result<()> {
    let sql = format!("alter role {role} {what}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql))
        .execute(conn)
        .await?;
    Ok(())
}

/// Requests a list, and finds the statement in the log.
pub async fn record(
    environment: &Environment,
    name: &str,
    request: impl AsyncFn() -> anyhow::Result<()>,
) -> anyhow::Result<Captured> {
    let from = fs::metadata(environment.postgres_log())?.len();
    for _ in 0..CALLS {
        request().await?;
    }
    // Postgres writes its log in order: once our mark is there, everything before it is.
    let mark = format!("{MARK}{from}");
    let mut conn = environment.connect(None).await?;
    let raise = format!("do $$ begin raise log '{mark}'; end $$");
    sqlx::raw_sql(sqlx::AssertSqlSafe(raise))
        .execute(&mut conn)
        .await?;
    let start = usize::try_from(from)?;
    let mut log = String::new();
    eventually("Postgres' log has the mark", LOG_TIMEOUT, async || {
        let whole = fs::read(environment.postgres_log()).unwrap_or_default();
        log = String::from_utf8_lossy(whole.get(start..).unwrap_or_default()).into_owned();
        log.contains(&mark)
    })
    .await;
    parse(&log).with_context(|| format!("no statement for {name} in Postgres' log"))
}

/// Parses lines of executions: `… LOG:  duration: 1.2 ms  execute sqlx_s_1: select …`, each followed by
/// `… DETAIL:  parameters: $1 = '31'`.
fn parse(log: &str) -> Option<Captured> {
    let mut found: Option<Captured> = None;
    let mut lines = log.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((_, rest)) = line.split_once("LOG:  duration: ") else {
            continue;
        };
        let Some((duration, statement)) = rest.split_once(" ms  execute ") else {
            continue;
        };
        let Some((_, sql)) = statement.split_once(": ") else {
            continue;
        };
        let mut sql = sql.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with([' ', '\t'])) {
            sql.push('\n');
            sql.push_str(more.trim_start_matches('\t'));
        }
        if !sql.contains(END_OF_COUNT) {
            continue;
        }
        let detail = lines.next_if(|line| line.contains("DETAIL:  parameters: "));
        let parameters = detail.and_then(|line| line.split_once("parameters: "));
        let captured = found.get_or_insert_with(|| Captured {
            sql: fill(&sql, parameters.map_or("", |(_, list)| list)),
            durations: Vec::new(),
        });
        captured.durations.push(duration.parse().ok()?);
    }
    found
}

/// Fills in parameters, the last first, because `$1` begins `$10`.
fn fill(sql: &str, parameters: &str) -> String {
    let mut sql = sql.to_owned();
    let all: Vec<_> = parameters.split(", $").collect();
    for parameter in all.into_iter().rev() {
        if let Some((name, value)) = parameter.split_once(" = ") {
            sql = sql.replace(&format!("${}", name.trim_start_matches('$')), value);
        }
    }
    sql
}

impl Captured {
    /// Formats the durations of all calls.
    pub fn durations(&self) -> String {
        let durations: Vec<_> = self.durations.iter().map(|ms| format!("{ms:.1}")).collect();
        format!("{} ms", durations.join(" "))
    }

    /// Returns the duration of the quickest call: a bad plan is slow each time.
    pub fn quickest(&self) -> f64 {
        self.durations.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Returns the statement without its total.
    pub fn page(&self) -> anyhow::Result<String> {
        let (before, rest) = self.halves()?;
        let (_, after) = rest.split_once(END_OF_COUNT).context("a total")?;
        Ok(format!("{before}, {after}"))
    }

    /// Returns its total alone.
    pub fn total(&self) -> anyhow::Result<String> {
        let (_, rest) = self.halves()?;
        let (total, _) = rest.split_once(END_OF_COUNT).context("a total")?;
        Ok(format!("select count(*){total}"))
    }

    fn halves(&self) -> anyhow::Result<(&str, &str)> {
        let halves = self.sql.split_once(START_OF_COUNT);
        halves.context("a list asks for its total in one statement with the page")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
2026-11-28 05:00:00 UTC [7] LOG:  duration: 0.1 ms  bind sqlx_s_1: select 1
2026-11-28 05:00:00 UTC [7] LOG:  duration: 0.25 ms  execute sqlx_s_2: select t.*, (select count(*) from a t where (t.w = $1 or
\t    t.v = $1)) as list_total, array[t.id] as list_keys from a t where (t.w = $1 or
\t    t.v = $1) limit $10
2026-11-28 05:00:00 UTC [7] DETAIL:  parameters: $1 = 'b, c', $10 = '31'
2026-11-28 05:00:00 UTC [7] LOG:  duration: 3.5 ms  execute sqlx_s_2: select t.*, (select count(*) from a t) as list_total, 1
2026-11-28 05:00:00 UTC [7] DETAIL:  parameters: $1 = '31'
";

    #[test]
    fn a_statement_is_captured_with_its_parameters() {
        let captured = parse(LOG).unwrap();
        assert_eq!(captured.durations(), "0.2 3.5 ms");
        assert!((captured.quickest() - 0.25).abs() < 1e-9);
        let page = "select t.*, array[t.id] as list_keys from a t where (t.w = 'b, c' or\n    \
                    t.v = 'b, c') limit '31'";
        assert_eq!(captured.page().unwrap(), page);
        let total = "select count(*) from a t where (t.w = 'b, c' or\n    t.v = 'b, c')";
        assert_eq!(captured.total().unwrap(), total);
        assert!(parse("LOG:  duration: 1 ms  execute s: select 1").is_none());
    }
}
