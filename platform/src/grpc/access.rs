//! Enforces who may call an RPC, by its row in [`proto::access`].

use proto::access::{Clients, Row};

use crate::{
    auth::{Caller, Kind},
    error::{Code, Failure},
};

/// The access to an RPC that has no row: nobody calls it.
const CLOSED: Row = Row {
    rpc: "",
    clients: Clients::Nobody,
    services: &[],
    action: None,
};

/// Returns the access to an RPC: `guerdon.orders.v1.OrderService/PayOrder`.
pub(super) fn of(rpc: &str) -> &'static Row {
    proto::access::find(rpc).unwrap_or(&CLOSED)
}

/// Returns `forbidden` unless this caller may call the RPC.
pub(super) fn admit(row: &Row, caller: &Caller) -> Result<(), Failure> {
    let admitted = match row.clients {
        Clients::Anyone => true,
        _ if caller.is_service() => row.services.contains(&&*caller.subject),
        Clients::All => true,
        // An API key without the role admin owns nothing.
        Clients::Owners(_) => caller.is_admin() || caller.kind == Kind::User,
        Clients::Admins => caller.is_admin(),
        Clients::Nobody => false,
    };
    if admitted {
        Ok(())
    } else {
        Err(Failure::new(
            Code::Forbidden,
            "not allowed with these credentials",
        ))
    }
}

#[cfg(test)]
mod tests {
    use proto::access::Clients::{Admins, All, Anyone, Nobody, Owners};

    use super::*;
    use crate::auth::Role;

    /// Calls as each principal; `y` where it is admitted.
    fn admitted(clients: Clients) -> String {
        let services = &["orders-svc"];
        let row = Row {
            clients,
            services,
            ..CLOSED
        };
        let caller = |kind, subject: &str, roles: &[Role]| Caller {
            kind,
            subject: subject.to_owned(),
            roles: roles.to_vec(),
        };
        let callers = [
            caller(Kind::Key, "orders-svc", &[]),
            caller(Kind::Key, "k", &[Role::User]),
            caller(Kind::User, "u", &[Role::User]),
            caller(Kind::User, "orders-svc", &[Role::Admin]),
            caller(Kind::Key, "k", &[Role::Admin]),
            caller(Kind::Anonymous, "anonymous", &[Role::Admin]),
            caller(Kind::Service, "orders-svc", &[]),
            caller(Kind::Service, "wallet-svc", &[Role::Admin]),
        ];
        let answers = callers.iter().map(|caller| admit(&row, caller));
        answers
            .map(|answer| if answer.is_ok() { 'y' } else { '-' })
            .collect()
    }

    #[test]
    fn a_row_admits_its_callers_only() {
        assert_eq!(admitted(Anyone), "yyyyyyyy");
        assert_eq!(admitted(All), "yyyyyyy-");
        assert_eq!(admitted(Owners("things")), "--yyyyy-");
        assert_eq!(admitted(Admins), "---yyyy-");
        assert_eq!(admitted(Nobody), "------y-");
    }

    #[test]
    fn an_rpc_without_a_row_is_closed() {
        let closed = of("guerdon.orders.v1.OrderService/Nonsense");
        let admin = Caller {
            kind: Kind::Key,
            subject: "k".to_owned(),
            roles: vec![Role::Admin],
        };
        assert_eq!(admit(closed, &admin).unwrap_err().code, Code::Forbidden);
    }
}
