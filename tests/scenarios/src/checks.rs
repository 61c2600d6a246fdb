//! The rules about orders that no service can check alone: what the ledger moved is what orders show,
//! each bonus is paid for, each event is published, and nothing is unfinished.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use sqlx::{Connection as _, PgConnection};
use stack::Stack;

use crate::client::until;

/// Every rule, as a query of its violations.
const RULES: &str = include_str!("checks.sql");
/// How long background work may go on after a scenario.
const SETTLEMENT_TIME: Duration = Duration::from_mins(1);
/// How many violations are shown.
const SHOWN: usize = 20;

/// Waits until no rule is broken, and fails with the violations if some are after a minute, or if the
/// ledger is inconsistent.
pub async fn assert_settled(stack: &Stack) -> anyhow::Result<()> {
    wait_until_settled(stack).await?;
    stack.verify_ledger()
}

/// Waits until no rule is broken, and fails with the violations if some are after a minute.
pub(crate) async fn wait_until_settled(stack: &Stack) -> anyhow::Result<()> {
    let deadline = Instant::now() + SETTLEMENT_TIME;
    until(deadline, async || {
        let found = violations(stack).await?;
        Ok((!found.is_empty()).then(|| found.join("\n")))
    })
    .await
}

/// Returns the first violations of the rules. While the stack works, some are only passing.
pub async fn violations(stack: &Stack) -> anyhow::Result<Vec<String>> {
    let mut conn = connect(stack).await?;
    let found: Vec<(String, String)> = sqlx::query_as(RULES).fetch_all(&mut conn).await?;
    let found = found.into_iter().take(SHOWN);
    Ok(found
        .map(|(rule, place)| format!("{rule}: {place}"))
        .collect())
}

/// Opens a superuser's connection to the stack's database.
pub(crate) async fn connect(stack: &Stack) -> anyhow::Result<PgConnection> {
    let url = stack.wiring().admin_url()?;
    PgConnection::connect(&url)
        .await
        .context("Postgres responds")
}
