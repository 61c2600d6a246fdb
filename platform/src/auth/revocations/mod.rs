//! Which tokens are refused before they expire. identity-svc streams this to every process; one that
//! has not heard from it for [`STALE_AFTER`] refuses changes, as a caller may be blocked by now.

mod set;
mod stream;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, RwLock, RwLockReadGuard},
    time::Duration,
};

use futures::FutureExt as _;
use proto::identity::v1 as wire;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::{set::Set, stream::Stream};
use super::{Caller, Kind, verifier};
use crate::{
    error::{Code, Failure},
    grpc::client::Client,
    lifecycle::{Readiness, Supervisor},
};

/// The silence after which a process refuses changes.
pub const STALE_AFTER: Duration = Duration::from_secs(5);

/// How long a revocation matters: until every token of a lower version has expired, by the clock of any
/// process. Clocks may differ by ten minutes.
pub const RETENTION: Duration = verifier::MAX_LIFETIME.saturating_add(Duration::from_mins(15));

/// The lowest token version of a user or an API key that is accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revocation {
    /// [`Kind::User`] or [`Kind::Key`].
    pub kind: Kind,
    /// The id of the user or the API key.
    pub subject: String,
    /// Tokens of lower versions are refused.
    pub min_version: i32,
}

/// The revocations that a process knows. Cloning is cheap and shares them.
#[derive(Clone)]
pub struct Revocations(Arc<Inner>);

struct Inner {
    source: Source,
    known: RwLock<Known>,
}

enum Source {
    /// Nothing is revoked: for verifiers of fixed keys.
    Nothing,
    /// The process records them itself: identity-svc.
    Own,
    Remote(Stream),
}

#[derive(Default)]
struct Known {
    set: Set,
    /// The last message or read; `None` before the first.
    heard_at: Option<Instant>,
}

impl Revocations {
    /// Creates a set in which nothing is ever revoked, and which is never stale.
    pub fn none() -> Self {
        Self::of(Source::Nothing)
    }

    /// Creates a set that its owner fills with [`Revocations::record`].
    pub fn own() -> Self {
        Self::of(Source::Own)
    }

    /// Creates a set that [`Revocations::run`] fills from identity-svc.
    pub fn remote(identity: &Client) -> Self {
        Self::of(Source::Remote(Stream::new(identity)))
    }

    fn of(source: Source) -> Self {
        let known = RwLock::default();
        Self(Arc::new(Inner { source, known }))
    }

    /// Adds what was read or received, also if that is nothing: the set is up to date now.
    pub fn record(&self, revocations: impl IntoIterator<Item = Revocation>) {
        let now = Instant::now();
        let mut known = self.0.known.write().expect("no holder panics");
        known.set.add(revocations, now);
        known.heard_at = Some(now);
    }

    /// Returns all revocations that still matter.
    pub fn all(&self) -> Vec<Revocation> {
        self.known().set.all()
    }

    /// Adds the readiness check `revocations`: the set was filled once. Later silence does not fail it, as
    /// the process goes on answering reads.
    pub fn require(&self, readiness: &Readiness) {
        let revocations = self.clone();
        readiness.require("revocations", move || {
            let known = revocations.is_known();
            async move {
                anyhow::ensure!(known, "not received yet");
                Ok(())
            }
        });
    }

    /// Tells whether the set has a revocation, or a later one of its subject.
    pub fn includes(&self, revocation: &Revocation) -> bool {
        self.min_version(revocation.kind, &revocation.subject) >= revocation.min_version
    }

    /// Returns `unavailable` if changes may be missing.
    pub fn require_current(&self) -> Result<(), Failure> {
        let is_recent = |at: Instant| at.elapsed() < STALE_AFTER;
        if self.is_fixed() || self.known().heard_at.is_some_and(is_recent) {
            return Ok(());
        }
        let detail = "no news of revoked tokens; changes are refused until there are";
        Err(Failure::new(Code::Unavailable, detail))
    }

    /// Returns `unauthenticated` if a token of this version is revoked.
    pub(super) fn check(&self, caller: &Caller, version: i32) -> Result<(), Failure> {
        if version >= self.min_version(caller.kind, &caller.subject) {
            return Ok(());
        }
        Err(verifier::invalid("it was revoked"))
    }

    /// Starts the task that fills the set from identity-svc.
    pub fn start(&self, tasks: &Supervisor) {
        if !matches!(self.0.source, Source::Remote(_)) {
            return;
        }
        let revocations = self.clone();
        tasks.spawn("revocations", move |stop| {
            revocations.clone().run(stop).map(Ok)
        });
    }

    async fn run(self, stop: CancellationToken) {
        if let Source::Remote(stream) = &self.0.source {
            stop.run_until_cancelled(stream.follow(&self)).await;
        }
    }

    fn is_known(&self) -> bool {
        self.is_fixed() || self.known().heard_at.is_some()
    }

    fn is_fixed(&self) -> bool {
        matches!(self.0.source, Source::Nothing)
    }

    fn min_version(&self, kind: Kind, subject: &str) -> i32 {
        self.known().set.min_version(kind, subject)
    }

    fn known(&self) -> RwLockReadGuard<'_, Known> {
        self.0.known.read().expect("no holder panics")
    }
}

impl std::fmt::Debug for Revocations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Revocations").finish_non_exhaustive()
    }
}

impl Revocation {
    /// Decodes a message; `None` for a kind of subject that this version does not know.
    fn decode(message: wire::Revocation) -> Option<Self> {
        use wire::revocation::Subject;
        let (kind, subject) = match message.subject? {
            Subject::UserId(id) => (Kind::User, id),
            Subject::ApiKeyId(id) => (Kind::Key, id),
        };
        Some(Self {
            kind,
            subject,
            min_version: message.min_version,
        })
    }

    /// Encodes it. Services and anonymous callers have no revocations.
    pub fn encode(self) -> wire::Revocation {
        use wire::revocation::Subject;
        let subject = match self.kind {
            Kind::User => Some(Subject::UserId(self.subject)),
            Kind::Key => Some(Subject::ApiKeyId(self.subject)),
            Kind::Service | Kind::Anonymous => None,
        };
        wire::Revocation {
            subject,
            min_version: self.min_version,
        }
    }
}
