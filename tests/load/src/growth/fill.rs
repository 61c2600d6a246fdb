//! Writes the history of a ledger, in sets.

use sqlx::{AssertSqlSafe, PgConnection};
use tokio::time::Instant;

use super::{history::History, indexes::DroppedIndexes};
use crate::{environment::Environment, ledger::workload::Wallets};

/// The tables that grow.
pub const TABLES: [&str; 3] = [
    "wallet.transactions",
    "wallet.movements",
    "wallet.transaction_changes",
];

/// The session that writes: no statement takes as long as its limit, not even an index of all rows.
const SETTINGS: &str = "set statement_timeout = '15min';
    set maintenance_work_mem = '1GB';
    set max_parallel_maintenance_workers = 2";

/// A ledger whose history grows.
#[derive(Debug)]
pub struct Ledger<'a> {
    environment: &'a Environment,
    pub history: &'a History,
    pub wallets: Wallets,
    pub default_wallet: String,
    /// The time of the start, as an expression in SQL. Payments are measured after it, the history ends before it.
    started_at: String,
    size: u32,
}

impl<'a> Ledger<'a> {
    /// Creates the wallets, with their deposits.
    pub async fn create(
        environment: &'a Environment,
        history: &'a History,
        wallets: Wallets,
        default_wallet: String,
    ) -> anyhow::Result<Self> {
        let mut conn = environment.connect(None).await?;
        let now = "select format('timestamptz %L', now())";
        let ledger = Self {
            environment,
            history,
            wallets,
            default_wallet,
            started_at: sqlx::query_scalar(now).fetch_one(&mut conn).await?,
            size: 0,
        };
        wallets.seed(environment, &ledger.began_at()).await?;
        Ok(ledger)
    }

    /// Returns when its history begins, as an expression in SQL.
    pub fn began_at(&self) -> String {
        History::began_at(&self.started_at)
    }

    /// Removes the payments that were measured, and continues the history to this size.
    pub async fn grow_to(&mut self, size: u32) -> anyhow::Result<()> {
        eprintln!("growing to {size} movements …");
        let started = Instant::now();
        let mut conn = self.environment.connect(None).await?;
        execute(&mut conn, SETTINGS.to_owned()).await?;
        let remove = include_str!("../../sql/growth/remove.sql");
        let remove = remove.replace(":started_at", &self.started_at);
        execute(&mut conn, remove).await?;
        // Their room is for the history.
        execute(&mut conn, format!("vacuum {}", TABLES.join(", "))).await?;
        let indexes = DroppedIndexes::of(&mut conn, &TABLES).await?;
        for slice in self.history.slices(self.size, size) {
            let sql = include_str!("../../sql/growth/transfers.sql")
                .replace(":default_wallet", &format!("'{}'", self.default_wallet))
                .replace(":began_at", &self.began_at())
                .replace(":interval", &self.history.interval_millis().to_string())
                .replace(":prefix", &format!("'{}'", self.wallets.prefix))
                .replace(":count", &self.wallets.count.to_string())
                .replace(":first", &slice.start().to_string())
                .replace(":last", &slice.end().to_string());
            execute(&mut conn, sql).await?;
        }
        eprintln!(
            "creating the indexes, {} s later …",
            started.elapsed().as_secs()
        );
        indexes.create(&mut conn).await?;
        self.size = size;
        self.environment.settle().await?;
        eprintln!("grown in {} s", started.elapsed().as_secs());
        Ok(())
    }
}

async fn execute(conn: &mut PgConnection, sql: String) -> anyhow::Result<()> {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(conn).await?;
    Ok(())
}
