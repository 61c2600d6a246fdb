//! The access matrix: what each kind of caller gets from each route. It follows from the access of the
//! route, and for routes of users from what they reach with it, a row of [`USERS`].
//!
//! The page `gateway/ACCESS.md` is generated from it, and a test of the whole system calls every route
//! as everybody on that page.

use std::fmt::{self, Display};

use self::{
    Cell::{Allowed, Own, Refused},
    Users::{All, Debits, Lists, Owns},
};
use super::{Route, routes};
use crate::access::Access;

/// What users reach with a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Users {
    /// What every client reaches, such as the catalogue.
    All,
    /// Lists of their own things.
    Lists,
    /// Single things that they own; those of others do not exist for them.
    Owns,
    /// What the body names as theirs; things of others are unknown references.
    Debits,
}

/// The routes with [`Access::User`].
const USERS: &[(&str, Users)] = &[
    ("DELETE /users/{id}", Owns),
    ("GET /addresses", Lists),
    ("GET /addresses/{address}", Owns),
    ("GET /assets", All),
    ("GET /assets/{code}", All),
    ("GET /categories", All),
    ("GET /categories/{id}", All),
    ("GET /invites", Lists),
    ("GET /invites/{code}", Owns),
    ("GET /movements", Lists),
    ("GET /movements/{id}", Owns),
    ("GET /orders", Lists),
    ("GET /orders/{id}", Owns),
    ("GET /orders/{id}/history", Owns),
    ("GET /orders/{id}/payments", Owns),
    ("GET /orders/{id}/receipt", Owns),
    ("GET /orders/{orderId}/lines", Owns),
    ("GET /orders/{orderId}/lines/{id}", Owns),
    ("GET /payment-methods", All),
    ("GET /payment-methods/{slug}", All),
    ("GET /products", All),
    ("GET /products/{id}", All),
    ("GET /question-types", All),
    ("GET /questions", All),
    ("GET /questions/{id}", All),
    ("GET /rates", All),
    ("GET /rates/{baseAssetCode}/{quoteAssetCode}", All),
    ("GET /tasks", All),
    ("GET /tasks/{id}", All),
    ("GET /tax-rates", All),
    ("GET /tax-rates/{id}", All),
    ("GET /transactions", Lists),
    ("GET /transactions/{id}", Owns),
    ("GET /users", Lists),
    ("GET /users/{id}", Owns),
    ("GET /users/{id}/completions", Owns),
    ("GET /users/{id}/referrals", Owns),
    ("GET /wallets", Lists),
    ("GET /wallets/activity", Lists),
    ("GET /wallets/balance", Lists),
    ("GET /wallets/{id}", Owns),
    ("GET /wallets/{id}/activity", Owns),
    ("GET /wallets/{id}/balance", Owns),
    ("GET /wallets/{id}/movements", Owns),
    ("GET /wallets/{id}/transactions", Owns),
    ("PATCH /users/{id}", Owns),
    ("POST /invites", Debits),
    ("POST /invites/send", Debits),
    ("POST /invites/{code}/cancel", Owns),
    ("POST /orders", Debits),
    ("POST /orders/{id}/pay", Owns),
    ("POST /transactions/exchange", Debits),
    ("POST /transactions/pay", Debits),
    ("POST /transactions/send", Debits),
    ("POST /transactions/transfer", Debits),
    ("POST /transactions/withdrawal", Debits),
    ("POST /users/{id}/change-email", Owns),
    ("POST /users/{id}/change-password", Owns),
];

/// The callers, in the order of the columns.
const CALLERS: [&str; 6] = [
    "anonymous",
    "key without roles",
    "another user",
    "owner",
    "admin",
    "service",
];

/// What a caller gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// What it asks for.
    Allowed,
    /// Its own things only.
    Own,
    /// This status.
    Refused(u16),
}

impl Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed => f.write_str("yes"),
            Own => f.write_str("own"),
            Refused(status) => write!(f, "{status}"),
        }
    }
}

/// Returns what each of [`CALLERS`] gets from a route.
fn cells(route: &Route) -> [Cell; 6] {
    let (nobody, forbidden) = (Refused(401), Refused(403));
    match route.access {
        Access::Anonymous => [Allowed; 6],
        // A service's token is no credential of the public API.
        Access::Public => [Allowed, Allowed, Allowed, Allowed, Allowed, nobody],
        // Sign-up is closed by default.
        Access::Admin | Access::SignUp => {
            [nobody, forbidden, forbidden, forbidden, Allowed, nobody]
        }
        Access::User => match users(route).unwrap_or(Owns) {
            All => [nobody, Allowed, Allowed, Allowed, Allowed, nobody],
            Lists => [nobody, forbidden, Own, Own, Allowed, nobody],
            Owns => [nobody, forbidden, Refused(404), Allowed, Allowed, nobody],
            Debits => [nobody, forbidden, Refused(422), Allowed, Allowed, nobody],
        },
    }
}

fn users(route: &Route) -> Option<Users> {
    let name = name(route);
    let row = USERS.iter().find(|(route, _)| *route == name);
    row.map(|(_, users)| *users)
}

fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// Renders `gateway/ACCESS.md`.
pub fn access_page() -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let head = ["route"].into_iter().chain(CALLERS).map(str::to_owned);
    let rule = vec!["---".to_owned(); CALLERS.len() + 1];
    let routes = routes();
    let rows = routes.iter().map(|route| {
        let cells = cells(route).map(|cell| cell.to_string());
        std::iter::once(format!("`{}`", name(route)))
            .chain(cells)
            .collect()
    });
    let table = [head.collect(), rule].into_iter().chain(rows).map(line);
    include_str!("matrix.md").to_owned() + &table.collect::<String>()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_route_of_users_has_one_row_and_every_row_a_route() {
        let routes = routes();
        let of_users = routes.iter().filter(|route| route.access == Access::User);
        let of_users: BTreeSet<_> = of_users.map(name).collect();
        let rows: BTreeSet<_> = USERS.iter().map(|(route, _)| (*route).to_owned()).collect();
        assert_eq!(rows, of_users);
        assert_eq!(rows.len(), USERS.len(), "a row twice");
    }

    #[test]
    fn the_committed_page_is_current() {
        assert!(
            access_page() == include_str!("../../ACCESS.md"),
            "run: cargo run --example access > gateway/ACCESS.md"
        );
    }
}
