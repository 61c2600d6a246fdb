//! The programs of the product, and the settings that make one system of them.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow};

/// A context with a schema of its own.
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
    /// All of them, in the order of their usual ports.
    pub const ALL: [Self; 4] = [Self::Catalog, Self::Orders, Self::Wallet, Self::Identity];

    /// The context's name: `wallet`.
    pub fn context(self) -> &'static str {
        match self {
            Self::Catalog => "catalog",
            Self::Orders => "orders",
            Self::Wallet => "wallet",
            Self::Identity => "identity",
        }
    }

    /// The program's name: `wallet-svc`.
    pub fn program(self) -> &'static str {
        match self {
            Self::Catalog => "catalog-svc",
            Self::Orders => "orders-svc",
            Self::Wallet => "wallet-svc",
            Self::Identity => "identity-svc",
        }
    }

    /// The gRPC port where nothing else has it.
    pub fn usual_port(self) -> u16 {
        match self {
            Self::Catalog => 50_051,
            Self::Orders => 50_052,
            Self::Wallet => 50_053,
            Self::Identity => 50_054,
        }
    }

    /// The role that migrates the schema.
    pub fn owner_role(self) -> String {
        format!("guerdon_{}_owner", self.context())
    }

    /// The role that the service works with.
    pub fn app_role(self) -> String {
        format!("guerdon_{}_app", self.context())
    }

    /// The name of one of its variables: `WALLET_LISTEN`.
    pub fn variable(self, name: &str) -> String {
        format!("{}_{name}", self.context().to_uppercase())
    }

    /// The service called `name`, be it `wallet` or `wallet-svc`.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|service| name == service.context() || name == service.program())
            .ok_or_else(|| {
                anyhow!("there is no service {name}: catalog, orders, wallet or identity")
            })
    }
}

/// The REST edge's program.
pub const GATEWAY: &str = "gateway";

/// All five programs.
pub fn programs() -> impl Iterator<Item = &'static str> {
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
    /// As the programs' AUTH variable has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Required => "required",
        }
    }
}

/// `wallet=2,orders=3` as the command line has it.
pub fn parse_replicas(text: &str) -> Result<(Service, usize)> {
    let (name, count) = text
        .split_once('=')
        .ok_or_else(|| anyhow!("write it like wallet=2"))?;
    let count: usize = count
        .parse()
        .map_err(|_| anyhow!("{count} is not a number of replicas"))?;
    anyhow::ensure!((1..=8).contains(&count), "1 to 8 replicas");
    Ok((Service::named(name)?, count))
}

/// Replicas by service; one where nothing is said.
pub type Replicas = BTreeMap<Service, usize>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replicas_are_read() {
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
    fn names_follow_the_context() {
        assert_eq!(Service::Wallet.owner_role(), "guerdon_wallet_owner");
        assert_eq!(Service::Identity.variable("LISTEN"), "IDENTITY_LISTEN");
    }
}
