//! The live feed: streams of events in the order of their positions, for which one read of each process
//! watches the table.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{Stream, stream};
use platform::{
    error::{Code, Failure},
    pg,
    service::Backbone,
};
use sqlx::PgPool;
use tokio::{
    sync::watch,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{EventRow, PublicEvent, repo};
use crate::error::Result;

const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Events of a message.
const BATCH: i64 = 100;

/// Streams of one caller, and of all callers of a process.
const MAX_OF_CALLER: usize = 10;
const MAX_STREAMS: usize = 100;

/// The streams of events. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    pool: PgPool,
    /// The last position that was read.
    head: watch::Sender<i64>,
    callers: Arc<Callers>,
}

/// The number of streams of each caller.
#[derive(Debug, Default)]
struct Callers(Mutex<HashMap<String, usize>>);

/// A stream of a caller, until it is dropped.
#[derive(Debug)]
struct Slot {
    callers: Arc<Callers>,
    caller: String,
}

/// A message of a stream.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// Whether events may be missing before.
    pub(super) reset: bool,
    pub(super) events: Vec<PublicEvent>,
}

/// What a stream goes on from.
struct Cursor {
    pool: PgPool,
    position: i64,
    types: Vec<String>,
    /// The event that the reader has, though the row may be read once more.
    after: Option<Uuid>,
    head: watch::Receiver<i64>,
    first: Option<Batch>,
    _slot: Slot,
}

impl Feed {
    /// Creates a feed, and adds the worker that reads for it.
    pub(crate) fn start(backbone: &mut Backbone) -> Self {
        let feed = Self {
            pool: backbone.pool(),
            head: watch::Sender::new(0),
            callers: Arc::default(),
        };
        let read = feed.clone();
        backbone.worker("event-feed", move |stop| read.clone().run(stop));
        feed
    }

    /// Reads the last position while anybody streams, until `stop`.
    async fn run(self, stop: CancellationToken) -> anyhow::Result<()> {
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(polls.tick()).await.is_some() {
            if self.head.receiver_count() == 0 {
                continue;
            }
            match pg::bounded(repo::last_position(&self.pool)).await {
                Ok(last) => {
                    self.head.send_if_modified(|head| {
                        let is_new = last > *head;
                        *head = last.max(*head);
                        is_new
                    });
                }
                Err(error) => tracing::debug!(%error, "event feed: not read, retrying"),
            }
        }
        Ok(())
    }

    /// Streams the events of these types that follow an event, or all that happen from now on. A reader
    /// gets a message when it asks for one: nothing is collected for a slow one.
    pub(super) async fn watch(
        &self,
        caller: &str,
        after: Option<Uuid>,
        types: Vec<String>,
    ) -> Result<impl Stream<Item = Result<Batch, Failure>> + Send + use<>> {
        let slot = Callers::admit(&self.callers, caller)?;
        let head = self.head.subscribe();
        let known = match after {
            Some(id) => repo::find_position(&self.pool, id).await?,
            None => None,
        };
        let position = match known {
            Some(position) => position,
            None => repo::last_position(&self.pool).await?,
        };
        let first = Batch {
            reset: after.is_some() && known.is_none(),
            ..Batch::default()
        };
        let cursor = Cursor {
            pool: self.pool.clone(),
            position,
            types,
            after,
            head,
            first: Some(first),
            _slot: slot,
        };
        Ok(stream::unfold(cursor, |mut cursor| async move {
            let batch = cursor.next().await?;
            Some((batch, cursor))
        }))
    }
}

impl Cursor {
    /// Waits for events; `None` when the feed is gone. The server ends the stream when the process stops.
    async fn next(&mut self) -> Option<Result<Batch, Failure>> {
        if let Some(first) = self.first.take() {
            return Some(Ok(first));
        }
        loop {
            let head = self.head.wait_for(|head| *head > self.position).await;
            let head = *head.ok()?;
            match self.read(head).await {
                Ok(batch) if batch.events.is_empty() => {}
                result => return Some(result),
            }
        }
    }

    /// Reads the next events up to `head`, all of which are visible.
    async fn read(&mut self, head: i64) -> Result<Batch, Failure> {
        let range = (self.position, head);
        let rows = repo::list_between(&self.pool, range, &self.types, BATCH).await?;
        let is_full = rows.len() == usize::try_from(BATCH).unwrap_or_default();
        self.position = match rows.last() {
            Some((last, _)) if is_full => *last,
            _ => head,
        };
        let events = rows.iter().flat_map(|(_, row)| self.events(row));
        Ok(Batch {
            reset: false,
            events: events.collect(),
        })
    }

    /// Returns the events of the row that the reader asked for and does not have.
    fn events(&self, row: &EventRow) -> impl Iterator<Item = PublicEvent> {
        let asked = |event_type: &str| self.types.iter().any(|it| it == event_type);
        let events = row.events();
        let events =
            events.filter(move |(id, event_type)| self.after != Some(*id) && asked(event_type));
        events.map(|(id, event_type)| PublicEvent {
            id,
            event_type: event_type.to_owned(),
            data: row.data.clone(),
            occurred_at: row.occurred_at,
        })
    }
}

impl Callers {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn admit(callers: &Arc<Self>, caller: &str) -> Result<Slot, Failure> {
        let mut streams = callers.lock();
        let of_caller = streams.get(caller).copied().unwrap_or_default();
        if of_caller >= MAX_OF_CALLER || streams.values().sum::<usize>() >= MAX_STREAMS {
            let detail =
                format!("at most {MAX_OF_CALLER} streams of a caller, {MAX_STREAMS} of all");
            return Err(Failure::new(Code::RateLimited, detail));
        }
        streams.insert(caller.to_owned(), of_caller + 1);
        metrics::gauge!("event_streams").increment(1);
        Ok(Slot {
            callers: Arc::clone(callers),
            caller: caller.to_owned(),
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut streams = self.callers.lock();
        let left = streams.get(&self.caller).map_or(0, |count| count - 1);
        if left == 0 {
            streams.remove(&self.caller);
        } else {
            streams.insert(self.caller.clone(), left);
        }
        metrics::gauge!("event_streams").decrement(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_counted_until_they_end() {
        let callers = Arc::new(Callers::default());
        let admit = |caller: &str| Callers::admit(&callers, caller);
        let mut slots: Vec<_> = (0..MAX_OF_CALLER).map(|_| admit("ann").unwrap()).collect();
        assert_eq!(admit("ann").unwrap_err().code, Code::RateLimited);
        slots.pop();
        slots.push(admit("ann").unwrap());
        for caller in 1..MAX_STREAMS / MAX_OF_CALLER {
            slots.extend((0..MAX_OF_CALLER).map(|_| admit(&caller.to_string()).unwrap()));
        }
        assert_eq!(admit("bob").unwrap_err().code, Code::RateLimited);
        slots.clear();
        assert!(callers.lock().is_empty());
    }
}
