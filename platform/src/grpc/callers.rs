//! Who may call which RPC: the one table of the RPCs that need no token, and of those that a service
//! calls with its own token. What users and API keys may see and change is checked by the service
//! that owns the data.

use crate::{
    auth::{Caller, Kind},
    error::{Code, Failure},
};

const GATEWAY: &str = "gateway";
const CATALOG: &str = "catalog-svc";
const ORDERS: &str = "orders-svc";
const WALLET: &str = "wallet-svc";
const IDENTITY: &str = "identity-svc";

/// The callers of an RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Callers {
    /// Everybody, without a token.
    Anyone,
    /// Users and API keys, on whose behalf the gateway calls.
    Clients,
    /// Users and API keys, and these services with their own tokens.
    ClientsAnd(&'static [&'static str]),
    /// These services only.
    Services(&'static [&'static str]),
}

/// The RPCs whose callers are not just [`Callers::Clients`].
const TABLE: &[(&str, Callers)] = {
    use Callers::{Anyone, ClientsAnd, Services};
    &[
        ("guerdon.identity.v1.AuthService/GetJwks", Anyone),
        ("guerdon.identity.v1.AuthService/IssueServiceToken", Anyone),
        (
            "guerdon.identity.v1.AuthService/IssueAnonymousToken",
            Services(&[GATEWAY]),
        ),
        (
            "guerdon.identity.v1.AuthService/ExchangeApiKey",
            Services(&[GATEWAY]),
        ),
        (
            "guerdon.identity.v1.UserService/GetUser",
            ClientsAnd(&[ORDERS]),
        ),
        (
            "guerdon.identity.v1.UserService/BatchGetUsers",
            ClientsAnd(&[WALLET]),
        ),
        (
            "guerdon.catalog.v1.CatalogQuoteService/Quote",
            Services(&[ORDERS]),
        ),
        ("guerdon.wallet.v1.LedgerService/Post", Services(&[ORDERS])),
        ("guerdon.wallet.v1.LedgerService/Hold", Services(&[ORDERS])),
        (
            "guerdon.wallet.v1.LedgerService/Capture",
            Services(&[ORDERS]),
        ),
        (
            "guerdon.wallet.v1.LedgerService/Release",
            Services(&[ORDERS]),
        ),
        (
            "guerdon.wallet.v1.LedgerService/Refund",
            Services(&[ORDERS]),
        ),
        (
            "guerdon.wallet.v1.LedgerService/GetOperation",
            Services(&[ORDERS]),
        ),
        (
            "guerdon.wallet.v1.WalletService/GetWallet",
            ClientsAnd(&[ORDERS, IDENTITY]),
        ),
        (
            "guerdon.wallet.v1.WalletService/GetWalletBalance",
            ClientsAnd(&[ORDERS]),
        ),
        // wallet-svc trusts a service that it vouches for the owner, who may not exist yet.
        (
            "guerdon.wallet.v1.WalletService/CreateWallet",
            ClientsAnd(&[IDENTITY]),
        ),
        (
            "guerdon.wallet.v1.WalletService/UpdateWallet",
            ClientsAnd(&[IDENTITY]),
        ),
        (
            "guerdon.wallet.v1.AssetService/GetAsset",
            ClientsAnd(&[CATALOG, ORDERS, IDENTITY]),
        ),
        (
            "guerdon.wallet.v1.RateService/FindConversion",
            ClientsAnd(&[ORDERS]),
        ),
        (
            "guerdon.wallet.v1.SettingsService/GetSettings",
            ClientsAnd(&[CATALOG, ORDERS, IDENTITY]),
        ),
    ]
};

impl Callers {
    /// Returns the callers of an RPC: `guerdon.orders.v1.OrderService/PayOrder`.
    pub(super) fn of(rpc: &str) -> Self {
        let row = TABLE.iter().find(|(name, _)| *name == rpc);
        row.map_or(Self::Clients, |(_, callers)| *callers)
    }

    /// Returns `forbidden` unless the caller is one of them.
    pub(super) fn admit(self, caller: &Caller) -> Result<(), Failure> {
        let services = match self {
            Self::ClientsAnd(services) | Self::Services(services) => services,
            Self::Anyone | Self::Clients => &[],
        };
        let admitted = match (self, caller.kind) {
            (Self::Anyone, _) => true,
            (_, Kind::Service) => services.contains(&caller.subject.as_str()),
            (Self::Services(_), _) => false,
            (Self::Clients | Self::ClientsAnd(_), _) => true,
        };
        if admitted {
            Ok(())
        } else {
            Err(Failure::new(
                Code::Forbidden,
                "this RPC is not for this caller",
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::grpc::method;

    const PROCESSES: [&str; 5] = [GATEWAY, CATALOG, ORDERS, WALLET, IDENTITY];

    fn caller(kind: Kind, subject: &str) -> Caller {
        Caller {
            kind,
            subject: subject.to_owned(),
            roles: vec![],
        }
    }

    /// Every call of a service with its own token.
    const EXPECTED: &str = "\
        catalog-svc guerdon.wallet.v1.AssetService/GetAsset
        catalog-svc guerdon.wallet.v1.SettingsService/GetSettings
        gateway guerdon.identity.v1.AuthService/ExchangeApiKey
        gateway guerdon.identity.v1.AuthService/IssueAnonymousToken
        identity-svc guerdon.wallet.v1.AssetService/GetAsset
        identity-svc guerdon.wallet.v1.SettingsService/GetSettings
        identity-svc guerdon.wallet.v1.WalletService/CreateWallet
        identity-svc guerdon.wallet.v1.WalletService/GetWallet
        identity-svc guerdon.wallet.v1.WalletService/UpdateWallet
        orders-svc guerdon.catalog.v1.CatalogQuoteService/Quote
        orders-svc guerdon.identity.v1.UserService/GetUser
        orders-svc guerdon.wallet.v1.AssetService/GetAsset
        orders-svc guerdon.wallet.v1.LedgerService/Capture
        orders-svc guerdon.wallet.v1.LedgerService/GetOperation
        orders-svc guerdon.wallet.v1.LedgerService/Hold
        orders-svc guerdon.wallet.v1.LedgerService/Post
        orders-svc guerdon.wallet.v1.LedgerService/Refund
        orders-svc guerdon.wallet.v1.LedgerService/Release
        orders-svc guerdon.wallet.v1.RateService/FindConversion
        orders-svc guerdon.wallet.v1.SettingsService/GetSettings
        orders-svc guerdon.wallet.v1.WalletService/GetWallet
        orders-svc guerdon.wallet.v1.WalletService/GetWalletBalance
        wallet-svc guerdon.identity.v1.UserService/BatchGetUsers";

    #[test]
    fn services_may_call_what_they_need_and_nothing_else() {
        let mut admitted = BTreeSet::new();
        for rpc in method::all().filter(|rpc| Callers::of(rpc) != Callers::Anyone) {
            for process in PROCESSES.into_iter().chain(["load", ""]) {
                let caller = caller(Kind::Service, process);
                if Callers::of(&rpc).admit(&caller).is_ok() {
                    admitted.insert(format!("{process} {rpc}"));
                }
            }
        }
        let expected: BTreeSet<_> = EXPECTED
            .lines()
            .map(|line| line.trim().to_owned())
            .collect();
        assert_eq!(admitted, expected);
    }

    #[test]
    fn clients_may_call_all_but_what_only_services_need() {
        let refused: BTreeSet<_> = method::all()
            .filter(|rpc| {
                let kinds = [Kind::User, Kind::Key, Kind::Anonymous];
                let results = kinds.map(|kind| Callers::of(rpc).admit(&caller(kind, ORDERS)));
                results.iter().any(Result::is_err)
            })
            .map(|rpc| rpc.rsplit('.').next().unwrap_or_default().to_owned())
            .collect();
        let expected = [
            "AuthService/ExchangeApiKey",
            "AuthService/IssueAnonymousToken",
            "CatalogQuoteService/Quote",
            "LedgerService/Capture",
            "LedgerService/GetOperation",
            "LedgerService/Hold",
            "LedgerService/Post",
            "LedgerService/Refund",
            "LedgerService/Release",
        ];
        assert_eq!(refused, expected.map(str::to_owned).into());
    }

    #[test]
    fn every_row_is_about_an_rpc_of_the_descriptors() {
        let rpcs: BTreeSet<_> = method::all().collect();
        for (rpc, _) in TABLE {
            assert!(rpcs.contains(*rpc), "{rpc}");
        }
    }
}
