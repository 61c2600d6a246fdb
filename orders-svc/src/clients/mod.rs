//! Clients of the other services: they take and return model types. A malformed response is an
//! internal error, a refusal passes through, and a peer that is down is `unavailable` within three
//! seconds.

mod catalog;
mod identity;
mod rates;
mod wallet;

use platform::{
    auth::ServiceToken,
    config::Common,
    error::{Code, Failure, InvalidValue},
    grpc::client::{Client, connect_with},
    ids::Id,
    money::Amount,
};
use tonic::Status;

pub(crate) use catalog::Catalog;
pub(crate) use identity::Identity;
pub(crate) use rates::Rates;
pub(crate) use wallet::{PostError, Settings, Wallets};

use crate::error::Error;

#[derive(Debug, Clone)]
pub(crate) struct Clients {
    pub(crate) catalog: Catalog,
    pub(crate) wallets: Wallets,
    pub(crate) rates: Rates,
    pub(crate) identity: Identity,
}

impl Clients {
    /// Builds the clients, which connect on first use. Fails on a malformed address.
    pub(crate) fn connect(common: &Common, token: &ServiceToken) -> anyhow::Result<Self> {
        let (peers, tls) = (&common.peers, &common.tls);
        let client = |name, url: &str| -> anyhow::Result<Client> {
            connect_with(name, url, tls, Some(token.clone()))
        };
        let wallet = client("wallet", &peers.wallet_grpc_url)?;
        Ok(Self {
            catalog: Catalog::new(&client("catalog", &peers.catalog_grpc_url)?),
            wallets: Wallets::new(&wallet),
            rates: Rates::new(&wallet),
            identity: Identity::new(&client("identity", &peers.identity_grpc_url)?),
        })
    }
}

/// Converts a peer's error.
fn failed(status: &Status) -> Error {
    Error::Failure(Failure::from_status(status))
}

/// Maps the peer's `missing` code to `None`.
fn optional<T>(response: Result<T, Status>, missing: Code) -> Result<Option<T>, Error> {
    match response {
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
