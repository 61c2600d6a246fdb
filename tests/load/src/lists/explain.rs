//! What Postgres does for a statement, and how long it takes.

use sqlx::PgConnection;

/// How often a statement is run: the quickest counts, because the cache is warm then.
const TIMES: usize = 5;

/// A plan as it was executed.
#[derive(Debug)]
pub struct Plan {
    /// As `explain (analyze, buffers)` prints it.
    pub text: String,
    /// The time of the execution. Steps are not timed: that would take longer than the steps.
    pub millis: f64,
}

impl Plan {
    /// Runs the statement.
    pub async fn of(conn: &mut PgConnection, sql: &str) -> anyhow::Result<Self> {
        let explain = format!("explain (analyze, buffers, timing off) {sql}");
        let mut best: Option<Self> = None;
        for _ in 0..TIMES {
            let lines = sqlx::query_scalar(sqlx::AssertSqlSafe(explain.clone()));
            let lines: Vec<String> = lines.fetch_all(&mut *conn).await?;
            let plan = Self {
                millis: execution_time(&lines)?,
                text: lines.join("\n"),
            };
            if best.as_ref().is_none_or(|best| plan.millis < best.millis) {
                best = Some(plan);
            }
        }
        best.ok_or_else(|| anyhow::anyhow!("it is run at least once"))
    }

    /// Whether it reads a table from end to end.
    pub fn scans_a_table(&self) -> bool {
        self.text.contains("Seq Scan")
    }
}

fn execution_time(lines: &[String]) -> anyhow::Result<f64> {
    let time = lines
        .iter()
        .find_map(|line| line.strip_prefix("Execution Time: "))
        .and_then(|time| time.strip_suffix(" ms"));
    let time = time.ok_or_else(|| anyhow::anyhow!("a plan has its time"))?;
    Ok(time.parse()?)
}
