//! Who may call each RPC, and what it does: one table a context, one row an RPC. The gRPC server of a
//! service enforces its rows before the handler runs; an RPC without a row is closed. What a user owns
//! is data, so the service that has it checks the owner.

use self::Clients::{Admins, All, Anyone, Nobody, Owners};

pub mod audit;
pub mod catalog;
pub mod identity;
pub mod orders;
pub mod wallet;

/// The name of the gateway in its tokens.
pub const GATEWAY: &str = "gateway";
/// The name of catalog-svc in its tokens.
pub const CATALOG: &str = "catalog-svc";
/// The name of orders-svc in its tokens.
pub const ORDERS: &str = "orders-svc";
/// The name of wallet-svc in its tokens.
pub const WALLET: &str = "wallet-svc";
/// The name of identity-svc in its tokens.
pub const IDENTITY: &str = "identity-svc";

/// The clients that may call an RPC: users and API keys, on whose behalf the gateway calls, and tools
/// that call a service themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// Everybody, without a token.
    Anyone,
    /// Every client with a token. The handler shows users less than admins where the row's comment
    /// says so.
    All,
    /// Admins, and users for what they own, which the text names.
    Owners(&'static str),
    /// Clients with the role `admin`.
    Admins,
    /// No client: only services.
    Nobody,
}

/// The access to one RPC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// `OrderService/PayOrder`.
    pub rpc: &'static str,
    /// The clients that may call it.
    pub clients: Clients,
    /// The services that may call it with their own tokens; they count as admins there.
    pub services: &'static [&'static str],
    /// The action of its entry in the audit log, `user.blocked`; `None` if it changes nothing.
    pub action: Option<&'static str>,
}

/// The rows of a context.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// `guerdon.orders.v1`.
    pub package: &'static str,
    /// One row an RPC.
    pub rows: &'static [Row],
}

/// The tables of all contexts.
pub const TABLES: [Table; 5] = [
    audit::TABLE,
    catalog::TABLE,
    orders::TABLE,
    wallet::TABLE,
    identity::TABLE,
];

/// Finds the row of an RPC: `guerdon.orders.v1.OrderService/PayOrder`.
pub fn find(rpc: &str) -> Option<&'static Row> {
    TABLES.iter().find_map(|table| {
        let name = rpc.strip_prefix(table.package)?.strip_prefix('.')?;
        table.rows.iter().find(|row| row.rpc == name)
    })
}

const fn anyone(rpc: &'static str) -> Row {
    row(rpc, Anyone)
}

const fn all(rpc: &'static str) -> Row {
    row(rpc, All)
}

const fn owners(rpc: &'static str, of: &'static str) -> Row {
    row(rpc, Owners(of))
}

const fn admins(rpc: &'static str) -> Row {
    row(rpc, Admins)
}

const fn only(services: &'static [&'static str], rpc: &'static str) -> Row {
    row(rpc, Nobody).and(services)
}

const fn row(rpc: &'static str, clients: Clients) -> Row {
    Row {
        rpc,
        clients,
        services: &[],
        action: None,
    }
}

impl Row {
    /// Lets these services call it, too.
    const fn and(self, services: &'static [&'static str]) -> Self {
        Self { services, ..self }
    }

    /// Names the change that it makes.
    const fn does(self, action: &'static str) -> Self {
        let action = Some(action);
        Self { action, ..self }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use prost::Message as _;
    use prost_types::{FileDescriptorSet, MethodOptions, method_options::IdempotencyLevel};

    use super::*;

    fn rows() -> impl Iterator<Item = (String, &'static Row)> {
        TABLES.iter().flat_map(|table| {
            let name = |row: &Row| format!("{}.{}", table.package, row.rpc);
            table.rows.iter().map(move |row| (name(row), row))
        })
    }

    /// Returns each RPC of the descriptors, and whether it changes nothing.
    fn described() -> BTreeMap<String, bool> {
        let set = FileDescriptorSet::decode(crate::DESCRIPTORS).unwrap();
        let mut rpcs = BTreeMap::new();
        for file in &set.file {
            for service in &file.service {
                let name = format!("{}.{}", file.package(), service.name());
                rpcs.extend(service.method.iter().map(|method| {
                    let options = method.options.as_ref();
                    let level = options.map(MethodOptions::idempotency_level);
                    let reads = level == Some(IdempotencyLevel::NoSideEffects);
                    (format!("{name}/{}", method.name()), reads)
                }));
            }
        }
        rpcs
    }

    #[test]
    fn every_rpc_has_one_row_and_every_row_an_rpc() {
        let names: Vec<_> = rows().map(|(name, _)| name).collect();
        let unique: BTreeSet<_> = names.iter().cloned().collect();
        assert_eq!(unique, described().into_keys().collect());
        assert_eq!(unique.len(), names.len(), "a row twice");
    }

    #[test]
    fn a_row_is_found_by_the_name_of_its_rpc() {
        for (name, row) in rows() {
            assert_eq!(find(&name), Some(row));
        }
        for unknown in [
            "",
            "guerdon.orders.v1",
            "guerdon.orders.v1.OrderService/X",
            "OrderService/PayOrder",
        ] {
            assert_eq!(find(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn rows_name_processes_and_leave_no_rpc_without_a_caller() {
        for (name, row) in rows() {
            for service in row.services {
                let processes = [GATEWAY, CATALOG, ORDERS, WALLET, IDENTITY];
                assert!(processes.contains(service), "{name}: {service}");
            }
            let closed = row.clients == Nobody && row.services.is_empty();
            assert!(!closed, "{name} has no caller");
            // A service asks its own code.
            let own = name.split('.').nth(1).unwrap_or_default();
            let own = format!("{own}-svc");
            assert!(!row.services.contains(&&*own), "{name} calls itself");
        }
    }

    /// The RPCs that change nothing that an auditor asks about: they mail, issue and end tokens.
    const UNAUDITED: &[&str] = &[
        "guerdon.identity.v1.AccountService/ForgotPassword",
        "guerdon.identity.v1.AccountService/ResendConfirmation",
        "guerdon.identity.v1.AuthService/ExchangeApiKey",
        "guerdon.identity.v1.AuthService/IssueAnonymousToken",
        "guerdon.identity.v1.AuthService/IssueServiceToken",
        "guerdon.identity.v1.AuthService/LogIn",
        "guerdon.identity.v1.AuthService/RefreshToken",
        "guerdon.identity.v1.AuthService/RevokeRefreshToken",
    ];

    #[test]
    fn every_rpc_that_changes_something_names_its_action() {
        let described = described();
        for (name, row) in rows() {
            let audited = !described[&name] && !UNAUDITED.contains(&&*name);
            assert_eq!(row.action.is_some(), audited, "{name}: {:?}", row.action);
        }
    }

    #[test]
    fn an_action_is_a_resource_and_what_was_done() {
        for (name, row) in rows() {
            let Some(action) = row.action else { continue };
            let parts: Vec<_> = action.split('.').collect();
            let snake = |part: &&str| part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
            assert!(
                parts.len() == 2 && parts.iter().all(snake),
                "{name}: {action}"
            );
        }
    }

    /// What everybody may call without a token is few, and none of it changes data.
    #[test]
    fn few_rpcs_need_no_token() {
        let open: Vec<_> = rows().filter(|(_, row)| row.clients == Anyone).collect();
        let open: Vec<_> = open.iter().map(|(name, _)| &**name).collect();
        assert_eq!(
            open,
            [
                "guerdon.identity.v1.AuthService/GetJwks",
                "guerdon.identity.v1.AuthService/IssueServiceToken",
                "guerdon.identity.v1.AuthService/ExchangeApiKey",
            ]
        );
    }
}
