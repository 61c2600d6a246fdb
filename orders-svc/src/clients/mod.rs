//! Typed wrappers over the other contexts' gRPC clients: model in, model out. What a peer answers
//! that cannot be is our fault, what it refuses passes through, and when it is down it is
//! `unavailable` within three seconds.

mod catalog;
mod identity;
mod rates;
mod wallet;

use platform::{
    auth::ServiceToken,
    config::Peers,
    error::{Code, Failure, InvalidValue},
    grpc::client::{Client, connect},
    ids::Id,
    money::Amount,
};
use tonic::Status;

pub use catalog::Catalog;
pub use identity::Identity;
pub use rates::Rates;
pub use wallet::{PostError, Settings, Wallet, Wallets};

use crate::error::Error;

/// The contexts that orders needs.
#[derive(Debug, Clone)]
pub struct Clients {
    /// Prices carts.
    pub catalog: Catalog,
    /// Moves money.
    pub wallets: Wallets,
    /// Knows what bonuses are worth.
    pub rates: Rates,
    /// Knows the buyers.
    pub identity: Identity,
}

impl Clients {
    /// Connects when first needed; fails on a malformed address.
    pub fn connect(peers: &Peers, token: &ServiceToken) -> anyhow::Result<Self> {
        let client =
            |name, url: &str| -> anyhow::Result<Client> { connect(name, url, Some(token.clone())) };
        let wallet = client("wallet", &peers.wallet_grpc_url)?;
        Ok(Self {
            catalog: Catalog::new(&client("catalog", &peers.catalog_grpc_url)?),
            wallets: Wallets::new(&wallet),
            rates: Rates::new(&wallet),
            identity: Identity::new(&client("identity", &peers.identity_grpc_url)?),
        })
    }
}

/// A peer's refusal or fault.
fn refused(status: &Status) -> Error {
    Error::Failure(Failure::from_status(status))
}

/// The answer, or `None` where the peer says that there is no such thing.
fn found<T>(answer: Result<T, Status>, missing: Code) -> Result<Option<T>, Error> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(status) => {
            let failure = Failure::from_status(&status);
            if failure.code == missing {
                return Ok(None);
            }
            Err(Error::Failure(failure))
        }
    }
}

fn malformed(invalid: InvalidValue) -> Error {
    Error::Failure(Failure::internal(invalid))
}

fn id<T>(text: &str) -> Result<Id<T>, Error> {
    Id::parse(text).map_err(malformed)
}

fn amount(text: &str) -> Result<Amount, Error> {
    text.parse().map_err(malformed)
}
