//! A delivery, and what follows from an attempt.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use platform::{backoff::Backoff, ids::Id};
use uuid::Uuid;

use crate::{
    public_event::PublicEvent,
    webhook::{WebhookId, sender::Attempt},
};

pub(crate) type DeliveryId = Id<Delivery>;

/// The delays after failed attempts, but for jitter: about twenty attempts in three days.
const RETRY: Backoff = Backoff::new(Duration::from_secs(10), Duration::from_hours(8));

/// An event for a webhook.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Delivery {
    pub(crate) id: DeliveryId,
    pub(crate) webhook_id: WebhookId,
    pub(crate) event_id: Uuid,
    pub(crate) event_type: String,
    pub(crate) status: Status,
    pub(crate) attempts: i32,
    pub(crate) due_at: DateTime<Utc>,
    pub(crate) last_attempted_at: Option<DateTime<Utc>>,
    pub(crate) last_status_code: Option<i32>,
    pub(crate) last_error: Option<String>,
    pub(crate) last_duration_ms: Option<i32>,
    pub(crate) delivered_at: Option<DateTime<Utc>>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// Whether the webhook has received the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub(crate) enum Status {
    Pending,
    Delivered,
    Failed,
}

impl Status {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

/// A delivery that this process has taken, with all that an attempt needs.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) id: DeliveryId,
    pub(super) webhook_id: WebhookId,
    /// This attempt included: tells it from that of another process.
    pub(super) attempts: i32,
    pub(super) failures: i32,
    pub(super) retry_until: DateTime<Utc>,
    pub(super) url: String,
    pub(super) sealed_secret: Vec<u8>,
    /// The secret before, while it signs too.
    pub(super) old_sealed_secret: Option<Vec<u8>>,
    pub(super) event: PublicEvent,
}

/// The end of an attempt.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) id: DeliveryId,
    pub(super) webhook_id: WebhookId,
    pub(super) attempts: i32,
    pub(super) failures: i32,
    pub(super) status: Status,
    /// The next attempt of a pending one.
    pub(super) due_at: DateTime<Utc>,
    pub(super) attempt: Attempt,
}

impl Claimed {
    /// Decides what follows from an attempt. `jitter` from 0 to 1 spreads the retries of many.
    pub(super) fn conclude(self, attempt: Attempt, now: DateTime<Utc>, jitter: f64) -> Outcome {
        let is_failure = attempt.error.is_some();
        let failures = self.failures + i32::from(is_failure);
        let status = match is_failure {
            false => Status::Delivered,
            true if attempt.is_gone() || now >= self.retry_until => Status::Failed,
            true => Status::Pending,
        };
        let due_at = (now + delay(failures, jitter)).min(self.retry_until);
        Outcome {
            id: self.id,
            webhook_id: self.webhook_id,
            attempts: self.attempts,
            failures,
            status,
            due_at,
            attempt,
        }
    }
}

/// Returns the delay after this many failures: a fifth less to a fifth more than that of [`RETRY`].
fn delay(failures: i32, jitter: f64) -> TimeDelta {
    let delay = RETRY.after(failures.unsigned_abs());
    let delay = delay.mul_f64(0.8 + 0.4 * jitter.clamp(0.0, 1.0));
    TimeDelta::from_std(delay).unwrap_or(TimeDelta::MAX)
}

#[cfg(test)]
mod tests {
    use platform::ids::Ids;

    use super::*;

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 0).unwrap()
    }

    fn claimed(failures: i32) -> Claimed {
        let ids = Ids::seeded(1);
        Claimed {
            id: ids.next(),
            webhook_id: ids.next(),
            attempts: failures + 1,
            failures,
            retry_until: at(259_200),
            url: String::new(),
            sealed_secret: Vec::new(),
            old_sealed_secret: None,
            event: PublicEvent {
                id: Uuid::nil(),
                event_type: String::new(),
                data: String::new(),
                occurred_at: at(0),
            },
        }
    }

    fn attempt(status: u16) -> Attempt {
        Attempt {
            status: Some(status),
            error: (status != 200).then(|| "refused".to_owned()),
            duration: Duration::ZERO,
        }
    }

    #[test]
    fn retries_are_farther_apart_each_time_until_the_last() {
        let (mut now, mut failures, mut attempts) = (at(0), 0, 0);
        let mut delays = Vec::new();
        loop {
            let outcome = claimed(failures).conclude(attempt(500), now, 0.5);
            attempts += 1;
            failures = outcome.failures;
            if outcome.status == Status::Failed {
                break;
            }
            assert_eq!(outcome.status, Status::Pending);
            delays.push((outcome.due_at - now).num_seconds());
            now = outcome.due_at;
        }
        assert_eq!(now, at(259_200), "the last attempt is after three days");
        assert_eq!(delays[..4], [10, 20, 40, 80]);
        assert_eq!(attempts, 21);
    }

    #[test]
    fn jitter_spreads_retries() {
        let due = |jitter| claimed(0).conclude(attempt(500), at(0), jitter).due_at;
        assert_eq!((due(0.0), due(1.0)), (at(8), at(12)));
    }

    #[test]
    fn success_and_410_are_final() {
        let status = |code| claimed(3).conclude(attempt(code), at(0), 0.5).status;
        assert_eq!(status(200), Status::Delivered);
        assert_eq!(status(410), Status::Failed);
        assert_eq!(status(404), Status::Pending);
    }
}
