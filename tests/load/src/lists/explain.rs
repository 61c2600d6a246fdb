//! The plan and execution time of a statement.

use sqlx::PgConnection;

/// How often a statement is run: the quickest run counts, with a warm cache.
const RUNS: usize = 5;

/// A plan as it was executed.
#[derive(Debug)]
pub struct Plan {
    /// The output of `explain (analyze, buffers)`.
    pub text: String,
    /// The execution time. Steps are not timed: that would take longer than the steps.
    pub millis: f64,
}

impl Plan {
    /// Runs and explains the statement.
    pub async fn of(conn: &mut PgConnection, sql: &str) -> anyhow::Result<Self> {
        let explain = format!("explain (analyze, buffers, timing off) {sql}");
        let mut best: Option<Self> = None;
        for _ in 0..RUNS {
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

    /// Returns whether it scans a whole table.
    pub fn has_sequential_scan(&self) -> bool {
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
