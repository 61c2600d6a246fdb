//! Reads and changes the database behind the service.

use std::any::type_name;

use platform::{pg, testing::eventually};
use prost::Message;
use sqlx::{Postgres, Transaction};

use super::{DEADLINE, TestApp};

/// Locks the largest balance of a wallet that is not the system's.
pub(crate) const LARGEST_BALANCE: &str = "select from wallet.balances
     where not system order by amount desc limit 1 for update";

impl TestApp {
    /// Locks a row, for which others have to wait.
    pub(crate) async fn lock_row(&self, row: &'static str) -> Transaction<'static, Postgres> {
        let mut tx = pg::tx(&self.pool).await.unwrap();
        sqlx::query(row).execute(&mut *tx).await.unwrap();
        tx
    }

    /// Waits until this many sessions wait for a lock, of which `writes` are decided batches.
    pub(crate) async fn until_waiting(&self, sessions: i64, writes: i64) {
        const WRITES: &str = "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'
                 and query like '/* posting.write */%'";
        eventually("sessions wait for a lock", DEADLINE, async || {
            self.lock_waiters().await == sessions && self.count(WRITES).await == writes
        })
        .await;
    }

    pub(crate) async fn execute(&self, sql: &'static str) {
        sqlx::query(sql).execute(&self.pool).await.unwrap();
    }

    /// Executes several statements.
    pub(crate) async fn execute_all(&self, sql: &'static str) {
        sqlx::raw_sql(sql).execute(&self.pool).await.unwrap();
    }

    pub(crate) async fn count(&self, sql: &'static str) -> i64 {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    /// Counts the sessions that wait for a lock.
    pub(crate) async fn lock_waiters(&self) -> i64 {
        self.count(
            "select count(*) from pg_stat_activity
             where datname = current_database() and wait_event_type = 'Lock'",
        )
        .await
    }

    /// Returns the types of the events about this aggregate, in order.
    pub(crate) async fn event_types(&self, aggregate: &str) -> Vec<String> {
        sqlx::query_scalar(
            "select replace(event_type, 'guerdon.wallet.v1.', '') from wallet.outbox
             where aggregate_id::text = $1 order by position",
        )
        .bind(aggregate)
        .fetch_all(&self.pool)
        .await
        .unwrap()
    }

    /// Returns the body of the last event of this type about this aggregate.
    pub(crate) async fn event<T: Message + Default>(&self, aggregate: &str) -> T {
        let event_type = type_name::<T>().rsplit("::").next();
        let body: Vec<u8> = sqlx::query_scalar(
            "select body from wallet.outbox
             where aggregate_id::text = $1 and event_type = 'guerdon.wallet.v1.' || $2
             order by position desc limit 1",
        )
        .bind(aggregate)
        .bind(event_type)
        .fetch_one(&self.pool)
        .await
        .unwrap();
        T::decode(&*body).unwrap()
    }

    /// Gives the wallet an owner, of whom identity-svc need not know.
    pub(crate) async fn set_owner(&self, wallet: &str, user: &str) {
        sqlx::query("update wallet.wallets set owner_id = $2::uuid where id = $1::uuid")
            .bind(wallet)
            .bind(user)
            .execute(&self.pool)
            .await
            .unwrap();
    }
}
