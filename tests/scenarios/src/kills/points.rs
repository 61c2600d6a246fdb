//! The failpoints of all sagas, and of what they lead to.

use std::fmt;

/// A use case that a crash may interrupt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Saga {
    Create,
    Pay,
    Cancel,
    Refund,
    CreateUser,
    DeleteUser,
}

/// A place in a process.
#[derive(Debug)]
pub(super) struct Point {
    pub(super) process: &'static str,
    pub(super) failpoint: &'static str,
    /// The request that leads there.
    pub(super) saga: Saga,
    /// Whether nothing but this saga leads there.
    pub(super) saga_of_its_own: bool,
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            process,
            failpoint,
            saga,
            ..
        } = self;
        write!(f, "{process} at {failpoint} ({saga:?})")
    }
}

const fn own(process: &'static str, failpoint: &'static str, saga: Saga) -> Point {
    Point {
        process,
        failpoint,
        saga,
        saga_of_its_own: true,
    }
}

const fn shared(process: &'static str, failpoint: &'static str, saga: Saga) -> Point {
    Point {
        process,
        failpoint,
        saga,
        saga_of_its_own: false,
    }
}

const ORDERS: &str = "orders-svc";
const WALLET: &str = "wallet-svc";
const IDENTITY: &str = "identity-svc";

/// A saga's recovery begins ten seconds after the crash: the two points of each are apart, so that the
/// others are visited meanwhile.
pub(super) const POINTS: &[Point] = &[
    own(ORDERS, "orders.create.claimed", Saga::Create),
    own(ORDERS, "orders.pay.claimed", Saga::Pay),
    own(ORDERS, "orders.cancel.claimed", Saga::Cancel),
    own(ORDERS, "orders.refund.claimed", Saga::Refund),
    own(IDENTITY, "identity.user.reserved", Saga::CreateUser),
    own(IDENTITY, "identity.user.deletion_claimed", Saga::DeleteUser),
    own(ORDERS, "orders.create.posted", Saga::Create),
    own(ORDERS, "orders.pay.posted", Saga::Pay),
    own(ORDERS, "orders.cancel.posted", Saga::Cancel),
    own(ORDERS, "orders.refund.posted", Saga::Refund),
    own(IDENTITY, "identity.user.wallet_made", Saga::CreateUser),
    own(IDENTITY, "identity.user.wallets_closed", Saga::DeleteUser),
    shared(WALLET, "wallet.post.committed", Saga::Create),
    shared(WALLET, "wallet.post.committed", Saga::Pay),
    shared(WALLET, "wallet.post.committed", Saga::Cancel),
    shared(WALLET, "wallet.post.committed", Saga::Refund),
    shared(ORDERS, "outbox.published", Saga::Pay),
    shared(WALLET, "inbox.applied", Saga::Pay),
];
