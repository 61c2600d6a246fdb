//! One count: when it is used, waited for and gone on with.

use std::{sync::Arc, time::Duration};

use chrono::{DateTime, SubsecRound as _, Utc};
use sqlx::PgConnection;
use tokio::{
    sync::OwnedSemaphorePermit,
    task::JoinHandle,
    time::{Instant, timeout},
};

use super::State;
use crate::{
    grpc::deadline,
    list::sql::{
        counting::{CountKey, Counted, Counting},
        statement::Statement,
    },
};

/// What is left of a request's deadline for its page after the wait.
const FOR_PAGE: Duration = Duration::from_millis(250);

/// The count of a statement's rows.
pub(in crate::list::sql) struct Count<'s> {
    totals: &'s Arc<State>,
    statement: &'s Statement<'s>,
    key: CountKey,
}

impl<'s> Count<'s> {
    pub(super) fn new(totals: &'s Arc<State>, statement: &'s Statement<'s>) -> Self {
        Self {
            totals,
            statement,
            key: statement.count_key(),
        }
    }

    /// Returns what is known.
    pub(in crate::list::sql) fn known(&self) -> Option<Counted> {
        let State { counts, limits, .. } = &**self.totals;
        let known = counts.get(&self.key);
        known.filter(|known| known.began.elapsed() < limits.expiry)
    }

    /// Goes on with the count in the background after a page that knew this, if that is worth it.
    pub(in crate::list::sql) async fn go_on_after(
        &self,
        conn: &mut PgConnection,
        known: Option<Counted>,
        total: u64,
    ) {
        let State {
            limits, running, ..
        } = &**self.totals;
        let counted = known.map_or(0, |known| known.rows);
        let rest = i64::try_from(total).unwrap_or(i64::MAX) - counted;
        let is_worth_it = rest > limits.rows || self.is_outdated(known);
        if !is_worth_it || self.is_paused(known) {
            return;
        }
        let Ok(turn) = Arc::clone(running).try_acquire_owned() else {
            return;
        };
        if self.known() == known
            && let Some(before) = self.settled(conn).await
        {
            // Runs on by itself.
            drop(self.start(known, before, turn));
        }
    }

    /// Waits until more is known than this, which was not enough for a page to be read in time, and counts if
    /// nobody does. Returns whether more is known.
    pub(in crate::list::sql) async fn wait_for_newer(
        &self,
        conn: &mut PgConnection,
        known: Option<Counted>,
    ) -> bool {
        let State {
            limits, waiting, ..
        } = &**self.totals;
        if self.known() != known {
            return true;
        }
        let Ok(_place) = waiting.try_acquire() else {
            return false;
        };
        let left = deadline::remaining().map(|left| left.saturating_sub(FOR_PAGE));
        let limit = left.map_or(limits.wait, |left| left.min(limits.wait));
        let newer = timeout(limit, self.count_after(conn, known)).await;
        newer.unwrap_or(false)
    }

    async fn count_after(&self, conn: &mut PgConnection, known: Option<Counted>) -> bool {
        // Also ends the transaction of the page: this one may wait for its turn.
        let Some(before) = self.settled(conn).await else {
            return false;
        };
        let running = Arc::clone(&self.totals.running);
        let Ok(turn) = running.acquire_owned().await else {
            return false;
        };
        if self.known() != known {
            return true;
        }
        if self.is_paused(known) {
            return false;
        }
        match self.start(known, before, turn) {
            Some(count) => count.await.unwrap_or(false),
            None => false,
        }
    }

    /// Returns whether the count has just ended or failed.
    fn is_paused(&self, known: Option<Counted>) -> bool {
        let State { failed, limits, .. } = &**self.totals;
        known.is_some_and(|known| known.ended.elapsed() < limits.pause)
            || failed.contains_key(&self.key)
    }

    /// Returns whether it is time to begin again.
    fn is_outdated(&self, known: Option<Counted>) -> bool {
        known.is_some_and(|known| known.began.elapsed() >= self.totals.limits.restart)
    }

    /// Returns the time of before which rows are counted; `None` if the database does not say it.
    async fn settled(&self, conn: &mut PgConnection) -> Option<DateTime<Utc>> {
        match read_settled(conn).await {
            Ok(settled) => Some((settled - self.totals.limits.age).trunc_subsecs(3)),
            Err(error) => {
                let list = self.statement.list.from;
                tracing::warn!(%error, list, "totals: clock not read, a later page counts");
                None
            }
        }
    }

    /// Starts the count of the rows of before this time, in a task that says whether it succeeds; `None` if they
    /// are counted already.
    fn start(
        &self,
        known: Option<Counted>,
        before: DateTime<Utc>,
        turn: OwnedSemaphorePermit,
    ) -> Option<JoinHandle<bool>> {
        let known = known.filter(|known| !self.is_outdated(Some(*known)));
        if known.is_some_and(|known| before <= known.before) {
            return None;
        }
        let began = known.map_or_else(Instant::now, |known| known.began);
        let counting = Counting {
            known,
            before: Some(before),
        };
        let sql = self.statement.count(counting);
        let list = self.statement.list.from;
        let (totals, key) = (Arc::clone(self.totals), self.key.clone());
        Some(tokio::spawn(async move {
            let counted = totals.count(sql).await.map(|rows| Counted {
                rows,
                before,
                began,
                ended: Instant::now(),
            });
            let is_counted = counted.is_ok();
            match counted {
                Ok(counted) => totals.counts.insert(key, counted),
                Err(sqlx::Error::PoolClosed) => {}
                Err(error) => {
                    totals.failed.insert(key, ());
                    tracing::warn!(%error, list, "totals: rows not counted, trying again in a while");
                }
            }
            drop(turn);
            is_counted
        }))
    }
}

/// Returns the time from which on rows may still be added: when the oldest transaction began that writes, else
/// the present. One that waits for a standby may have its rows long before others see them.
async fn read_settled(conn: &mut PgConnection) -> Result<DateTime<Utc>, sqlx::Error> {
    let sql = "/* lists.settled */
        select least(now(), (
            select min(xact_start) from pg_stat_activity
            where datname = current_database() and backend_xid is not null))";
    sqlx::query_scalar(sql).fetch_one(conn).await
}
