//! The posting engine: everything that moves money goes through one queue, is decided by
//! [`crate::ledger`] in arrival order, and is written in batches.
//!
//! # Phases
//!
//! 1. Collect: the worker takes what is queued, at most 256 postings and about 512 legs, without
//!    waiting for more. Probable repeats get a batch of their own.
//! 2. Read what the batch is decided on (its basis).
//! 3. Decide each posting in memory, in order; a rejected one leaves no trace.
//! 4. Write everything with one statement (`write.sql`), and commit.
//! 5. Reply to the callers.
//!
//! # Bases
//!
//! | Basis | Statements | Round trips | Taken by | Falls through |
//! |---|---|---|---|---|
//! | cached | `write` | 1 | batches of new transactions only | to locked: something is not cached, a posting would be rejected, an operation or key is repeated, or a version conflict |
//! | locked | `begin`, `lock_balances`, `read_wallets`, `write`, `commit`; where needed `lock_transactions`, `read_refunded`, `lock_assets`, `lock_bonuses`, `read_operations`, keys, `update_transactions`, `upsert_bonuses` | 5 to 13 | batches that go on from earlier transactions, the first on a connection, and all that the cache cannot decide | retried, see below |
//!
//! The first takes no locks. Its write is its transaction, and fails as a whole (a conflict) if the
//! version of a balance or asset is not the cached one, or if an operation or key exists. A version is
//! random, one for each batch, and triggers change it with any other change of the balance and of its
//! wallet, so the wallets themselves need no check. The cache only accepts postings: what rejects one
//! may have changed, and a repeat cannot be told from a new posting. [`policy`] has the rules, and has
//! the 64 batches after a conflict take locks.
//!
//! A basis between the two, an optimistic read without locks, brought 0 to 6 % more transfers per
//! second (random pairs of 100 000 wallets; two replicas), and was removed for that.
//!
//! # Failures
//!
//! * An attempt has 2.5 seconds; a connection that is silent for longer is lost.
//! * An error other than a conflict or duplicate ends the session, connection and cache together. The
//!   batch is tried again under locks, for up to 2 seconds while errors are transient; then its
//!   callers get `unavailable`.
//! * A commit without a reply is pending. Each attempt writes its id into `posted_batches`; the next
//!   attempt inserts the same id first: either it is there, and the batch is done, or the lost
//!   transaction can never be committed. An outcome that stays unknown is reported as `timeout`.
//! * A lock or a statement that takes too long fails the batch at once, on either basis. It is divided into
//!   the postings that need a locked balance, which are tried once more, and the others, which are posted
//!   first. So a locked row delays those that do not need it by one lock timeout, and what is queued by two.
//! * A batch that fails otherwise, or panics, is divided into eight parts and so on, so that a bad
//!   posting fails alone.
//! * A posting whose caller waits no longer is dropped before it is decided.
//! * A full queue rejects with `unavailable`, and all that is queued is rejected so once a batch was
//!   given up because the database is unavailable.
//! * The process stops if the worker ends, and is not ready while the worker does not get on.
//!
//! # Expiry
//!
//! An operation may have a time after which it is not accepted. The database's clock is compared with
//! it while the balances of the operation are locked, and they stay locked until the commit: under
//! locks the clock is read with them, else in `write` itself, by `ensure_current`, when it has updated
//! the balances. So the calls of an operation are in order: the one that is rejected as expired, always
//! under locks, either waited for the end of an earlier one and found its transactions, or reads the
//! clock before a later one, which is then rejected too. No pause of a process and no slow commit comes
//! in between, and no timeout is relied on; only the clock must not go back by more than the ledger's
//! tolerance.
//!
//! # Order
//!
//! Postings take effect in arrival order within a process, except repeats and those of a divided batch.
//! A repeat of an idempotency key in a batch gets the response to the first. Locks are taken in one
//! order: transactions, balances by wallet and asset (each with a shared lock on its asset), other
//! assets, bonuses. The time of a batch is never before the last movement of any of its accounts.
//!
//! # Layers
//!
//! `worker` → `batch` → `plan`, `cache`, `read`, `existing`, `write` → [`crate::ledger`]. Statements of this
//! folder carry their name in a comment, `/* posting.write */`.

mod balance_row;
mod batch;
mod cache;
mod committed;
mod existing;
mod heartbeat;
mod parameters;
mod pending;
mod plan;
mod policy;
mod queue;
mod read;
mod read_set;
mod recent;
mod record;
mod retries;
mod session;
mod worker;
mod write;

pub(crate) use committed::read_committed;
pub(crate) use pending::purge_until_stopped;
pub(crate) use queue::{Posting, PostingError, PostingOutcome, PostingQueue, PostingResult};
pub(crate) use record::TransactionList;
pub(crate) use session::connect;
pub(crate) use worker::PostingWorker;
