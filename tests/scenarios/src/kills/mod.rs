//! Crashes: a process is killed (SIGKILL) at each failpoint of each saga. The client repeats its request
//! with the same idempotency key until it is answered, and finds one effect. Debug builds only: others
//! have no failpoints.

mod points;
mod requests;

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use anyhow::{Context as _, ensure};
use stack::Stack;
use tokio::task::JoinHandle;

use self::{
    points::{POINTS, Point, Saga},
    requests::{Effects, Fixture, Repeatable},
};
use crate::{
    checks,
    client::{Client, until},
};

/// Within what time of the crash a saga has ended.
const SETTLEMENT_TIME: Duration = Duration::from_mins(1);
/// How long a process may take to die.
const EXIT_TIMEOUT: Duration = Duration::from_mins(1);
/// How long after an answer it is waited for.
const EXIT_DELAY: Duration = Duration::from_millis(500);

/// What the crashes at a failpoint led to.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Number of crashes.
    pub runs: u32,
    /// The longest time from a crash to the answer of the repeated request.
    pub slowest: Duration,
}

/// The outcomes by process, failpoint and saga.
#[derive(Debug, Default)]
pub struct Report(BTreeMap<String, Outcome>);

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (point, Outcome { runs, slowest }) in &self.0 {
            let slowest = slowest.as_secs_f64();
            writeln!(
                f,
                "{point:<62} {runs:>4} runs, settled within {slowest:>5.1} s"
            )?;
        }
        Ok(())
    }
}

/// A request whose process was killed, and that is being repeated.
struct Pending {
    point: &'static Point,
    settled: JoinHandle<anyhow::Result<Settled>>,
}

struct Settled {
    after: Duration,
    effects: Effects,
}

/// Kills a process at each failpoint, this many times. Fails if a request has not ended after a minute, if
/// it has no effect or several, or if a rule about orders is broken afterwards.
pub async fn run(stack: &Stack, runs: u32) -> anyhow::Result<Report> {
    let fixture = Fixture::prepare(Client::new(stack)).await?;
    let mut report = Report::default();
    for run in 0..runs {
        let round = Round {
            stack,
            fixture: &fixture,
            pending: Vec::new(),
        };
        round.run(run, &mut report).await?;
        checks::assert_settled(stack)
            .await
            .with_context(|| format!("after run {run}"))?;
    }
    Ok(report)
}

/// One crash at each failpoint.
struct Round<'s> {
    stack: &'s Stack,
    fixture: &'s Fixture,
    pending: Vec<Pending>,
}

impl Round<'_> {
    async fn run(mut self, run: u32, report: &mut Report) -> anyhow::Result<()> {
        let mut requests = Vec::new();
        for (index, point) in POINTS.iter().enumerate() {
            let name = format!("kill-{run}-{index}");
            requests.push(self.fixture.request(point.saga, &name).await?);
        }
        for (index, (point, request)) in POINTS.iter().zip(requests).enumerate() {
            self.wait_for_others(point, report).await?;
            self.crash(point, request).await?;
            let next = POINTS.get(index + 1);
            if !next.is_some_and(|next| self.dies_next(point.process, next)) {
                self.stack.start_again(point.process, &[])?;
            }
        }
        self.settle(|_| true, report).await
    }

    /// Waits for those whose recovery would come across the failpoint.
    async fn wait_for_others(&mut self, point: &Point, report: &mut Report) -> anyhow::Result<()> {
        if point.saga_of_its_own {
            return self.settle(|other| other.saga == point.saga, report).await;
        }
        self.settle(|_| true, report).await?;
        checks::assert_settled(self.stack).await
    }

    /// Returns whether the process is started next with this failpoint, so that it needs no start before. It
    /// does if requests have to end first.
    fn dies_next(&self, process: &str, next: &Point) -> bool {
        let mut pending = self.pending.iter();
        let waits = pending.any(|it| it.point.saga == next.saga && !it.settled.is_finished());
        next.process == process && next.saga_of_its_own && !waits
    }

    fn is_running(&self, process: &str) -> bool {
        self.stack.wait_for_exit(process, Duration::ZERO).is_err()
            && self.stack.process_ids().contains_key(process)
    }

    /// Starts the process with the failpoint, and sends the request that it dies of.
    async fn crash(&mut self, point: &'static Point, request: Repeatable) -> anyhow::Result<()> {
        let stack = self.stack;
        if self.is_running(point.process) {
            stack.stop(point.process)?;
        }
        let failpoints = format!("{}=kill", point.failpoint);
        stack.start_again(point.process, &[("FAILPOINTS".to_owned(), failpoints)])?;
        // A first request may end at a connection to the process before. The answer is an error, unless
        // the process dies in the background.
        until(Instant::now() + EXIT_TIMEOUT, async || {
            let answer = request.send(&self.fixture.client).await?;
            let runs = stack.wait_for_exit(point.process, EXIT_DELAY).is_err();
            Ok(runs.then(|| format!("{point} still runs: {}", answer.outcome())))
        })
        .await?;
        let (client, url) = (self.fixture.client.clone(), stack.wiring().admin_url()?);
        let settled = tokio::spawn(repeat(client, url, request));
        self.pending.push(Pending { point, settled });
        Ok(())
    }

    /// Waits until the chosen requests have ended, and checks their effects.
    async fn settle(
        &mut self,
        chosen: impl Fn(&Point) -> bool,
        report: &mut Report,
    ) -> anyhow::Result<()> {
        let (chosen, others) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|pending| chosen(pending.point));
        self.pending = others;
        for Pending { point, settled } in chosen {
            let Settled { after, effects } = settled.await?.with_context(|| point.to_string())?;
            let expected = point.saga.effects();
            ensure!(
                effects == expected,
                "{point}: {effects:?}, not {expected:?}"
            );
            let outcome = report.0.entry(point.to_string()).or_default();
            outcome.runs += 1;
            outcome.slowest = outcome.slowest.max(after);
        }
        Ok(())
    }
}

/// Repeats a request until it is answered with success, and counts its effects.
async fn repeat(client: Client, database: String, request: Repeatable) -> anyhow::Result<Settled> {
    let died = Instant::now();
    until(died + SETTLEMENT_TIME, async || {
        let answer = request.send(&client).await?;
        let ended = request.has_ended(&answer);
        Ok((!ended).then(|| format!("{request:?} is answered {}", answer.outcome())))
    })
    .await?;
    Ok(Settled {
        after: died.elapsed(),
        effects: request.effects(&database).await?,
    })
}

impl Saga {
    /// Returns the effects of one request.
    const fn effects(self) -> Effects {
        let (subjects, payments, refunds) = match self {
            Self::Create | Self::Pay => (1, 1, 0),
            Self::Cancel | Self::Refund => (1, 1, 1),
            Self::CreateUser => (1, 0, 0),
            Self::DeleteUser => (0, 0, 0),
        };
        Effects {
            subjects,
            payments,
            refunds,
        }
    }
}
