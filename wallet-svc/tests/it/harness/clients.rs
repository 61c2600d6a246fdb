//! gRPC clients that call as an admin or as a user.

use std::{fmt::Debug, time::Duration};

use platform::{
    auth::{Caller, Grant, Kind, Role, ServiceToken, TokenIssuer},
    clock::Clock,
    error::Failure,
    grpc::client::{self, Client},
    idempotency,
};
use proto::{
    audit::v1::audit_service_client::AuditServiceClient,
    wallet::v1::{
        address_service_client::AddressServiceClient, asset_service_client::AssetServiceClient,
        ledger_service_client::LedgerServiceClient, movement_service_client::MovementServiceClient,
        payment_method_service_client::PaymentMethodServiceClient,
        rate_service_client::RateServiceClient, settings_service_client::SettingsServiceClient,
        transaction_service_client::TransactionServiceClient,
        wallet_service_client::WalletServiceClient,
    },
};
use tonic::{Request, Response, Status};

use super::SEED;

/// A client for each gRPC service, all with one caller. Those of an admin post to the ledger as
/// orders-svc, which alone may.
#[derive(Clone)]
pub(crate) struct Clients {
    client: Client,
    ledger: Client,
}

impl Clients {
    pub(super) fn of_admin(url: &str) -> Self {
        Self {
            client: connect(url, &admin()),
            ledger: connect(url, &service("orders-svc")),
        }
    }

    pub(super) fn of_user(url: &str, id: &str) -> Self {
        Self::of(url, &caller(Kind::User, id, Role::User))
    }

    pub(super) fn of_service(url: &str, name: &str) -> Self {
        Self::of(url, &service(name))
    }

    /// Returns clients without a token.
    pub(super) fn anonymous(url: &str) -> Self {
        Self::over(client::connect("wallet", url, None).unwrap())
    }

    fn of(url: &str, caller: &Caller) -> Self {
        Self::over(connect(url, caller))
    }

    fn over(client: Client) -> Self {
        Self {
            ledger: client.clone(),
            client,
        }
    }

    pub(crate) fn addresses(&self) -> AddressServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn audit_log(&self) -> AuditServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn assets(&self) -> AssetServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn ledger(&self) -> LedgerServiceClient<Client> {
        self.ledger.service()
    }

    pub(crate) fn movements(&self) -> MovementServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn payment_methods(&self) -> PaymentMethodServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn rates(&self) -> RateServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn settings(&self) -> SettingsServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn transactions(&self) -> TransactionServiceClient<Client> {
        self.client.service()
    }

    pub(crate) fn wallets(&self) -> WalletServiceClient<Client> {
        self.client.service()
    }
}

fn connect(url: &str, caller: &Caller) -> Client {
    let token = token(caller);
    let token = ServiceToken::new(move || {
        let token = token.clone();
        Box::pin(async move { Ok(token) })
    });
    client::connect("wallet", url, Some(token)).unwrap()
}

fn admin() -> Caller {
    caller(Kind::Key, "admin", Role::Admin)
}

pub(super) fn service(name: &str) -> Caller {
    caller(Kind::Service, name, Role::Admin)
}

fn caller(kind: Kind, subject: &str, role: Role) -> Caller {
    Caller {
        kind,
        subject: subject.to_owned(),
        roles: vec![role],
    }
}

pub(super) fn token(caller: &Caller) -> String {
    TokenIssuer::new(&SEED).issue(Grant {
        caller,
        version: 0,
        now: Clock::system().now(),
        lifetime: Duration::from_mins(10),
        id: "test",
    })
}

/// Returns the request with an idempotency key, as the gateway sends it.
pub(crate) fn keyed<T>(message: T, key: &str, body_hash: &str) -> Request<T> {
    let mut request = Request::new(message);
    for (name, value) in [
        (idempotency::KEY, key),
        (idempotency::PATH, "POST /tests"),
        (idempotency::HASH, body_hash),
    ] {
        request.metadata_mut().insert(name, value.parse().unwrap());
    }
    request
}

/// Returns the response's message, or the failure that its status carries.
pub(crate) fn result<T: Debug>(response: Result<Response<T>, Status>) -> Result<T, Failure> {
    response
        .map(Response::into_inner)
        .map_err(|status| Failure::from_status(&status))
}
