//! The programs of the product, and what is named after them.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};

/// A service; each has a context and a schema of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    /// Products, categories, tax rates.
    Catalog,
    /// Orders and their payments.
    Orders,
    /// Wallets and the ledger.
    Wallet,
    /// Users, keys and tasks.
    Identity,
}

impl Service {
    /// All services, in the order of their default ports.
    pub const ALL: [Self; 4] = [Self::Catalog, Self::Orders, Self::Wallet, Self::Identity];

    /// Returns the program's name: `wallet-svc`.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Catalog => "catalog-svc",
            Self::Orders => "orders-svc",
            Self::Wallet => "wallet-svc",
            Self::Identity => "identity-svc",
        }
    }

    /// Returns the context's name: `wallet`.
    pub fn context(self) -> &'static str {
        self.program().trim_end_matches("-svc")
    }

    /// Returns the default gRPC port. It lies below 32768, where the kernel's range for outgoing
    /// connections begins: any connection of the machine could take a port of that range.
    pub(crate) const fn default_port(self) -> u16 {
        15_051 + self as u16
    }

    /// Returns the role that migrates the schema.
    pub(crate) fn owner_role(self) -> String {
        format!("guerdon_{}_owner", self.context())
    }

    /// Returns the role of the running service.
    pub(crate) fn app_role(self) -> String {
        format!("guerdon_{}_app", self.context())
    }

    /// Returns the name of one of its variables: `WALLET_LISTEN`.
    pub(crate) fn variable(self, name: &str) -> String {
        format!("{}_{name}", self.context().to_uppercase())
    }

    /// Parses `wallet` or `wallet-svc`.
    fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|service| name == service.context() || name == service.program())
            .with_context(|| format!("no service {name}: catalog, orders, wallet or identity"))
    }
}

/// The program of the REST API.
pub(crate) const GATEWAY: &str = "gateway";

/// Returns the names of all five programs.
pub(crate) fn programs() -> impl Iterator<Item = &'static str> {
    Service::ALL
        .into_iter()
        .map(Service::program)
        .chain([GATEWAY])
}

/// Who may call the stack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Auth {
    /// Everybody who reaches it; callers without credentials act as admin.
    #[default]
    Open,
    /// Holders of a key or token.
    Required,
}

impl Auth {
    /// Returns the value of the programs' AUTH variable.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Required => "required",
        }
    }
}

/// Replicas by service; services that are not named have one.
pub type Replicas = BTreeMap<Service, usize>;

/// Parses an entry of `wallet=2,orders=3`.
pub(crate) fn parse_replicas(text: &str) -> Result<(Service, usize)> {
    let (name, count) = text.split_once('=').context("write it like wallet=2")?;
    let count: usize = count
        .parse()
        .with_context(|| format!("{count} is not a number of replicas"))?;
    ensure!((1..=8).contains(&count), "1 to 8 replicas");
    Ok((Service::named(name)?, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_parsed() {
        assert_eq!(parse_replicas("wallet=2").unwrap(), (Service::Wallet, 2));
        assert_eq!(
            parse_replicas("orders-svc=1").unwrap(),
            (Service::Orders, 1)
        );
        for wrong in ["wallet", "wallet=0", "wallet=x", "gateway=2"] {
            assert!(parse_replicas(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn roles_and_variables_are_named_after_the_context() {
        assert_eq!(Service::Wallet.owner_role(), "guerdon_wallet_owner");
        assert_eq!(Service::Identity.variable("LISTEN"), "IDENTITY_LISTEN");
        assert_eq!(Service::Identity.default_port(), 15_054);
    }
}
