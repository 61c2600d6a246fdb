//! The roles of the services in Postgres: names, passwords, and how they are made.
//!
//! The migrations grant rights to `guerdon_<context>_app`. A stack logs in as these roles; that of a
//! test as members of them, which no other stack has. A role that exists on a server of somebody else
//! is never changed: roles belong to the whole server, and another deployment may log in with it.

#[cfg(test)]
mod tests;

use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use postgres::{Client, error::SqlState};
use sha2::Sha256;

use crate::{
    database::{ping, url_with, with_client, with_setup_lock},
    service::Service,
};

const PREFIX: &str = "guerdon_";
const OWNER_SETTINGS: &[(&str, &str)] = &[("lock_timeout", "10s")];
const APP_SETTINGS: &[(&str, &str)] = &[
    ("statement_timeout", "15s"),
    ("lock_timeout", "5s"),
    ("idle_in_transaction_session_timeout", "15s"),
];

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Server {
    /// We made the cluster, and know the passwords of all roles in it.
    Ours,
    /// Somebody else's: what exists stays as it is.
    Foreign,
}

/// The roles by which the processes of one stack log in.
#[derive(Debug, Clone)]
pub(crate) struct Roles {
    prefix: String,
    secret: String,
}

impl Roles {
    /// The roles that the migrations name, with passwords derived from `secret`.
    pub(crate) fn new(secret: &str) -> Self {
        Self {
            prefix: PREFIX.to_owned(),
            secret: secret.to_owned(),
        }
    }

    /// Members of the roles that the migrations name, for one stack: `guerdon_test_<suffix>_wallet_app`.
    pub(crate) fn for_test(suffix: &str, secret: &str) -> Self {
        Self {
            prefix: format!("{PREFIX}test_{suffix}_"),
            secret: secret.to_owned(),
        }
    }

    /// Returns a database's URL with name and password of the login for `role`.
    pub(crate) fn url(&self, server: &str, role: &str, database: &str) -> Result<String> {
        let login = self.login(role);
        url_with(server, Some((&login, &self.password(&login))), database)
    }

    /// Makes the roles. On a foreign server, those that exist are only tried out.
    pub(crate) fn ensure(&self, url: &str, server: Server) -> Result<()> {
        let kept = with_setup_lock(url, |client| {
            let mut kept = Vec::new();
            for (role, settings) in named() {
                if !self.ensure_login(client, &role, settings, server)? {
                    kept.push(role);
                }
            }
            Ok(kept)
        })?;
        kept.iter().try_for_each(|role| self.try_login(url, role))
    }

    /// Drops the logins of a test; the roles that the migrations name stay.
    pub(crate) fn drop_logins(&self, url: &str) -> Result<()> {
        if self.prefix == PREFIX {
            return Ok(());
        }
        with_client(url, |client| {
            for (role, _) in named() {
                client.batch_execute(&format!("drop role if exists {}", self.login(&role)))?;
            }
            Ok(())
        })
    }

    fn login(&self, role: &str) -> String {
        role.replacen(PREFIX, &self.prefix, 1)
    }

    /// Derives the password of a login: whoever knows one learns no other.
    fn password(&self, login: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes())
            .expect("HMAC takes keys of any length");
        mac.update(login.as_bytes());
        URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
    }

    /// Makes a login, or returns false if it exists and isn't ours to change.
    fn ensure_login(
        &self,
        client: &mut Client,
        role: &str,
        settings: &[(&str, &str)],
        server: Server,
    ) -> Result<bool> {
        let login = self.login(role);
        let exists = exists(client, &login)?;
        if exists && server == Server::Foreign {
            return Ok(false);
        }
        if login != role {
            ensure_named(client, role)?;
        }
        let verb = if exists { "alter" } else { "create" };
        let password = self.password(&login);
        let mut sql = vec![format!("{verb} role {login} login password '{password}'")];
        if login != role {
            // What the login makes belongs to the named role, and outlives the login.
            sql.push(format!("grant {role} to {login}"));
            sql.push(format!("alter role {login} set role = '{role}'"));
        }
        let settings = settings.iter();
        sql.extend(
            settings.map(|(name, value)| format!("alter role {login} set {name} = '{value}'")),
        );
        let made = client.batch_execute(&sql.join(";"));
        made.with_context(|| format!("cannot set up role {login}"))?;
        Ok(true)
    }

    fn try_login(&self, url: &str, role: &str) -> Result<()> {
        let Err(error) = ping(&self.url(url, role, "postgres")?) else {
            return Ok(());
        };
        let cause = error.downcast_ref::<postgres::Error>();
        ensure!(
            cause.and_then(postgres::Error::code) != Some(&SqlState::INVALID_PASSWORD),
            "role {} exists on this server with another password. It is left as it is, because \
             another deployment may use it: start from the clone that made it, or use another \
             server; if nothing needs the role, drop it",
            self.login(role)
        );
        // What else is in the way, such as a database that the role may not enter, shows later.
        Ok(())
    }
}

/// Makes the roles that the migrations name where they are missing, without login, for tests that
/// migrate databases of their own as superuser.
pub(crate) fn ensure_all_named(url: &str) -> Result<()> {
    with_setup_lock(url, |client| {
        named().try_for_each(|(role, _)| ensure_named(client, &role))
    })
}

fn ensure_named(client: &mut Client, role: &str) -> Result<()> {
    if !exists(client, role)? {
        client.batch_execute(&format!("create role {role} nologin"))?;
    }
    Ok(())
}

fn exists(client: &mut Client, role: &str) -> Result<bool> {
    let found = client.query_opt("select 1 from pg_roles where rolname = $1", &[&role])?;
    Ok(found.is_some())
}

/// Returns the roles that the migrations name, with their settings.
fn named() -> impl Iterator<Item = (String, &'static [(&'static str, &'static str)])> {
    Service::ALL.into_iter().flat_map(|service| {
        [
            (service.owner_role(), OWNER_SETTINGS),
            (service.app_role(), APP_SETTINGS),
        ]
    })
}
