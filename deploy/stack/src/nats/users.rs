//! The users of NATS: one a service, and the operator. What each may do is in `deploy/k8s/components/nats/nats-users.conf`.

use std::fmt::Write as _;

use crate::{service::Service, wiring::Variable};

/// What each user may do, with variables for the passwords.
const AUTHORIZATION: &str = include_str!("../../../k8s/components/nats/nats-users.conf");

/// The user that may do everything.
pub(crate) const OPERATOR: &str = "operator";

/// The passwords of the users.
#[derive(Debug, Clone)]
pub(crate) struct Passwords(Vec<(&'static str, String)>);

/// Where NATS is, and who may connect.
#[derive(Debug, Clone)]
pub(crate) enum NatsAccess {
    /// Servers of our own.
    Own {
        addresses: Vec<String>,
        passwords: Passwords,
    },
    /// A server of somebody else: all use the URL that was given.
    Foreign(String),
}

impl Passwords {
    /// Reads the password of each user from its variable: `ORDERS_NATS_PASSWORD`.
    pub(crate) fn complete(value_of: impl Fn(&str) -> String) -> Self {
        let users = Service::ALL.into_iter().map(Service::program);
        let users = users.chain([OPERATOR]);
        Self(
            users
                .map(|user| (user, value_of(&variable(user))))
                .collect(),
        )
    }

    /// Returns the variables of the passwords.
    pub(crate) fn variables(&self) -> Vec<Variable> {
        let passwords = self.0.iter();
        passwords
            .map(|(user, password)| (variable(user), password.clone()))
            .collect()
    }

    /// Returns the part of the server's configuration about users.
    pub(super) fn authorization(&self) -> String {
        let mut text = String::from("\n");
        for (name, password) in self.variables() {
            writeln!(text, "{name}: \"{password}\"").expect("writing to a String cannot fail");
        }
        text + AUTHORIZATION
    }

    fn of(&self, user: &str) -> &str {
        let found = self.0.iter().find(|(name, _)| *name == user);
        found.map_or("", |(_, password)| password)
    }
}

impl NatsAccess {
    /// Returns the URL for a user, which is a service's program or [`OPERATOR`]: of a cluster, those of all
    /// servers.
    pub(crate) fn url_of(&self, user: &str) -> String {
        match self {
            Self::Own {
                addresses,
                passwords,
            } => {
                let password = passwords.of(user);
                let url = |address| format!("nats://{user}:{password}@{address}");
                addresses.iter().map(url).collect::<Vec<_>>().join(",")
            }
            Self::Foreign(url) => url.clone(),
        }
    }
}

fn variable(user: &str) -> String {
    let context = user.trim_end_matches("-svc").to_uppercase();
    format!("{context}_NATS_PASSWORD")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_has_a_password_for_each_user() {
        let passwords = Passwords::complete(|variable| format!("of-{variable}"));
        let text = passwords.authorization();
        for (name, password) in passwords.variables() {
            assert!(
                text.contains(&format!("{name}: \"{password}\"\n")),
                "{name}"
            );
            assert!(
                AUTHORIZATION.contains(&format!("password: ${name}\n")),
                "{name}"
            );
        }
        assert_eq!(text.matches("password: $").count(), passwords.0.len());
    }

    #[test]
    fn each_service_has_a_url_of_its_own() {
        let access = |addresses: &[&str]| NatsAccess::Own {
            addresses: addresses.iter().map(ToString::to_string).collect(),
            passwords: Passwords::complete(|variable| format!("of-{variable}")),
        };
        let url = "nats://orders-svc:of-ORDERS_NATS_PASSWORD@127.0.0.1";
        let server = access(&["127.0.0.1:4222"]);
        assert_eq!(server.url_of("orders-svc"), format!("{url}:4222"));
        let cluster = access(&["127.0.0.1:1", "127.0.0.1:2"]);
        assert_eq!(cluster.url_of("orders-svc"), format!("{url}:1,{url}:2"));
        let foreign = NatsAccess::Foreign("nats://elsewhere".to_owned());
        assert_eq!(foreign.url_of("orders-svc"), "nats://elsewhere");
    }
}
