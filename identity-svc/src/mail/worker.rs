//! Sends the mails that are due. Several processes may do so: each takes mails of its own.

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, stream};
use lettre::message::Mailbox;
use platform::{backoff::Backoff, clock::Clock, pg, telemetry};
use sqlx::PgPool;
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Transport,
    compose::Composer,
    content::Writer,
    queue::{self, Outcome, Queued},
    transport::Undelivered,
};
use crate::{
    account::tokens,
    error::{Error, Result},
    links::Links,
};

/// Mails that one process sends at once.
const CONCURRENCY: usize = 8;

/// After this many attempts, which take about six hours, a mail is given up.
const MAX_ATTEMPTS: i32 = 15;

/// The delays after failed attempts.
const RETRY: Backoff = Backoff::new(Duration::from_secs(10), Duration::from_hours(1));

/// How long an attempt may take: less than its lease.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(20);

const POLL_INTERVAL: Duration = Duration::from_secs(1);
const HOUSEKEEPING_INTERVAL: Duration = Duration::from_mins(1);

/// Sends mails.
#[derive(Debug, Clone)]
pub(crate) struct Worker {
    pool: PgPool,
    clock: Clock,
    writer: Writer,
    composer: Arc<Composer>,
    transport: Arc<Transport>,
}

impl Worker {
    pub(crate) fn new(
        pool: PgPool,
        clock: Clock,
        links: Links,
        from: Mailbox,
        transport: Transport,
    ) -> Result<Self> {
        transport.log();
        Ok(Self {
            writer: Writer {
                pool: pool.clone(),
                links,
            },
            pool,
            clock,
            composer: Arc::new(Composer::new(from)?),
            transport: Arc::new(transport),
        })
    }

    /// Sends mails until `stop`; what is begun by then is finished.
    pub(crate) async fn run(self, stop: CancellationToken) {
        tokio::join!(self.send_until(&stop), self.keep_house_until(&stop));
    }

    async fn send_until(&self, stop: &CancellationToken) {
        let mut polls = interval(POLL_INTERVAL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(polls.tick()).await.is_some() {
            self.drain(stop).await;
        }
    }

    /// Sends until no mail is due. More are taken as soon as there is room: a slow one holds up no
    /// other.
    async fn drain(&self, stop: &CancellationToken) {
        stream::unfold((), |()| async {
            let mails = self.take_due(stop).await;
            (!mails.is_empty()).then_some((mails, ()))
        })
        .flat_map(stream::iter)
        .for_each_concurrent(CONCURRENCY, |mail| self.attempt(mail))
        .await;
    }

    async fn take_due(&self, stop: &CancellationToken) -> Vec<Queued> {
        if stop.is_cancelled() {
            return Vec::new();
        }
        let taken = pg::bounded(queue::take_due(&self.pool, CONCURRENCY)).await;
        taken.unwrap_or_else(|error| {
            tracing::debug!(%error, "mail: taking mails failed, retrying");
            Vec::new()
        })
    }

    async fn attempt(&self, mail: Queued) {
        let sent = timeout(ATTEMPT_TIMEOUT, self.send(&mail)).await;
        let sent = sent.unwrap_or_else(|_| Err(Undelivered::Transient("timed out".to_owned())));
        let outcome = outcome(sent, mail.attempts);
        log(&mail, &outcome);
        if let Err(error) = pg::bounded(queue::record(&self.pool, &mail, &outcome)).await {
            let mail = mail.id;
            tracing::warn!(mail, %error, "mail: result not recorded, sending again when the lease ends");
        }
    }

    /// Sends a mail. Returns `false` if nobody is to get it.
    async fn send(&self, mail: &Queued) -> Result<bool, Undelivered> {
        let content = self
            .writer
            .write(mail)
            .await
            .map_err(|error| unwritten(&error))?;
        let Some(content) = content else {
            return Ok(false);
        };
        let now = self.clock.now().into();
        let message = self.composer.compose(mail.id, &content, now);
        let message = message.map_err(|error| unwritten(&error))?;
        let name = format!("{:06}-{}.eml", mail.id, mail.kind.as_str());
        self.transport.deliver(&name, message).await?;
        Ok(true)
    }

    async fn keep_house_until(&self, stop: &CancellationToken) {
        let mut ticks = interval(HOUSEKEEPING_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            if let Err(error) = self.keep_house().await {
                tracing::debug!(%error, "mail: housekeeping failed, retrying in a minute");
            }
        }
    }

    async fn keep_house(&self) -> Result<(), sqlx::Error> {
        while !pg::bounded(queue::purge(&self.pool)).await? {}
        while !pg::bounded(tokens::purge(&self.pool)).await? {}
        let (waiting, oldest) = pg::bounded(queue::backlog(&self.pool)).await?;
        metrics::gauge!("mails_waiting").set(waiting);
        metrics::gauge!("mails_oldest_waiting_seconds").set(oldest);
        Ok(())
    }
}

/// A mail that can't be written is tried again: the cause is the database, or a fault that a later
/// version mends.
fn unwritten(error: &Error) -> Undelivered {
    Undelivered::Transient(telemetry::chain(error))
}

fn outcome(sent: Result<bool, Undelivered>, attempts: i32) -> Outcome {
    match sent {
        Ok(true) => Outcome::Sent,
        Ok(false) => Outcome::Dropped,
        Err(Undelivered::Permanent(error)) => Outcome::Failed(error),
        Err(Undelivered::Transient(error)) if attempts >= MAX_ATTEMPTS => Outcome::Failed(error),
        Err(Undelivered::Transient(error)) => {
            Outcome::Retry(error, RETRY.after(attempts.max(1).unsigned_abs()))
        }
    }
}

fn log(mail: &Queued, outcome: &Outcome) {
    let (id, kind, attempts) = (mail.id, mail.kind.as_str(), mail.attempts);
    let result = match outcome {
        Outcome::Sent => "sent",
        Outcome::Dropped => "dropped",
        Outcome::Retry(..) => "retried",
        Outcome::Failed(_) => "failed",
    };
    metrics::counter!("mail_attempts_total", "kind" => kind, "outcome" => result).increment(1);
    match outcome {
        Outcome::Sent => tracing::info!(mail = id, kind, attempts, "mail: sent"),
        Outcome::Dropped => tracing::info!(mail = id, kind, "mail: not to be sent, dropped"),
        Outcome::Retry(error, delay) => {
            tracing::warn!(
                mail = id,
                kind,
                attempts,
                error,
                ?delay,
                "mail: not sent, retrying"
            );
        }
        Outcome::Failed(error) => {
            tracing::warn!(mail = id, kind, attempts, error, "mail: not sent, given up");
        }
    }
}
