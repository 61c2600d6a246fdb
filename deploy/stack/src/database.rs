//! What the stack sets up inside Postgres: a database, and two roles a context that see nothing
//! of each other. Schemas are made by the services' own migrations.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use postgres::{Client, Config, NoTls};

use crate::service::Service;

/// Several stacks may set up roles of one server at the same time; they take turns.
const SETUP_LOCK: i64 = 0x0067_7565_7264_6f6e;

/// A Postgres URL with another user or database.
pub fn url_with(url: &str, user: Option<(&str, &str)>, database: &str) -> Result<String> {
    let (scheme, rest) = url
        .split_once("://")
        .context("a Postgres URL starts with postgres://")?;
    let (rest, parameters) = rest
        .split_once('?')
        .map_or((rest, None), |(rest, found)| (rest, Some(found)));
    let authority = rest.split('/').next().unwrap_or(rest);
    let (own_user, host) = authority
        .rsplit_once('@')
        .map_or((None, authority), |(user, host)| {
            (Some(user.to_owned()), host)
        });
    let user = user
        .map(|(name, password)| format!("{name}:{password}"))
        .or(own_user);
    let user = user.map(|user| format!("{user}@")).unwrap_or_default();
    let parameters = parameters
        .map(|found| format!("?{found}"))
        .unwrap_or_default();
    Ok(format!("{scheme}://{user}{host}/{database}{parameters}"))
}

/// The server answers.
pub fn ping(url: &str) -> Result<()> {
    with_client(url, |_| Ok(()))
}

/// Searching ignores case in every script, which the server's locale must know how to do.
pub fn check_case_mapping(url: &str) -> Result<()> {
    with_client(url, |client| {
        let lower: String = client.query_one("select lower('É')", &[])?.get(0);
        ensure!(
            lower == "é",
            "this Postgres has a locale that can't lower 'É' (it says '{lower}')"
        );
        Ok(())
    })
}

/// Makes the roles of every context, with `password` for all of them, or their own name.
pub fn ensure_roles(url: &str, password: Option<&str>) -> Result<()> {
    with_client(url, |client| {
        client.execute("select pg_advisory_lock($1)", &[&SETUP_LOCK])?;
        for service in Service::ALL {
            for role in [service.owner_role(), service.app_role()] {
                ensure_role(client, &role, password.unwrap_or(&role))?;
            }
            let app = service.app_role();
            client.batch_execute(&format!(
                "alter role {app} set statement_timeout = '15s';
                 alter role {app} set lock_timeout = '5s';
                 alter role {app} set idle_in_transaction_session_timeout = '15s';
                 alter role {owner} set lock_timeout = '10s';",
                owner = service.owner_role(),
            ))?;
        }
        Ok(())
    })
}

fn ensure_role(client: &mut Client, role: &str, password: &str) -> Result<()> {
    let known = client
        .query_opt("select 1 from pg_roles where rolname = $1", &[&role])?
        .is_some();
    let verb = if known { "alter" } else { "create" };
    let quoted = password.replace('\'', "''");
    client
        .batch_execute(&format!("{verb} role {role} login password '{quoted}'"))
        .with_context(|| format!("role {role} can't be set up"))
}

/// Makes the database where it is missing, and lets the owners, and nobody else, make schemas.
pub fn ensure_database(url: &str, name: &str) -> Result<()> {
    with_client(url, |client| {
        client.execute("select pg_advisory_lock($1)", &[&SETUP_LOCK])?;
        let known = client
            .query_opt("select 1 from pg_database where datname = $1", &[&name])?
            .is_some();
        if !known {
            client.batch_execute(&format!(
                "create database \"{name}\" template template0 encoding 'UTF8'"
            ))?;
        }
        client.batch_execute(&format!("revoke all on database \"{name}\" from public"))?;
        for service in Service::ALL {
            client.batch_execute(&format!(
                "grant connect, create on database \"{name}\" to {};
                 grant connect on database \"{name}\" to {};",
                service.owner_role(),
                service.app_role(),
            ))?;
        }
        Ok(())
    })?;
    with_client(&url_with(url, None, name)?, |client| {
        Ok(client.batch_execute("revoke all on schema public from public")?)
    })
}

/// Drops a database and whoever is still connected to it.
pub fn drop_database(url: &str, name: &str) -> Result<()> {
    with_client(url, |client| {
        Ok(client.batch_execute(&format!("drop database if exists \"{name}\" with (force)"))?)
    })
}

/// On a thread of its own, because the client refuses to run inside a test's async runtime.
fn with_client<T: Send>(
    url: &str,
    work: impl FnOnce(&mut Client) -> Result<T> + Send,
) -> Result<T> {
    let mut config: Config = url.parse().context("not a Postgres URL")?;
    config.connect_timeout(Duration::from_secs(5));
    thread::scope(|scope| {
        let session = scope.spawn(move || {
            let mut client = config.connect(NoTls).context("Postgres can't be reached")?;
            work(&mut client)
        });
        session
            .join()
            .unwrap_or_else(|_| Err(anyhow::anyhow!("the Postgres client panicked")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_keep_what_is_not_replaced() {
        let url = "postgres://boss:pw@db:5433/postgres?sslmode=disable";
        assert_eq!(
            url_with(url, None, "x").unwrap(),
            "postgres://boss:pw@db:5433/x?sslmode=disable"
        );
        let app = url_with(url, Some(("app", "secret")), "x").unwrap();
        assert_eq!(app, "postgres://app:secret@db:5433/x?sslmode=disable");
        assert_eq!(
            url_with("postgres://db", None, "x").unwrap(),
            "postgres://db/x"
        );
        assert!(url_with("db/x", None, "x").is_err());
    }
}
