//! The setup inside Postgres: a database that only the roles of the services may enter, each with a
//! schema of its own. The services' own migrations make the schemas.

use std::{thread, time::Duration};

use anyhow::{Context as _, Result, anyhow, ensure};
use postgres::{Client, Config, NoTls};

use crate::service::Service;

/// Serialises the setup of several stacks on one server.
const SETUP_LOCK: i64 = 0x0067_7565_7264_6f6e;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns a Postgres URL with another user or database.
pub(crate) fn url_with(url: &str, user: Option<(&str, &str)>, database: &str) -> Result<String> {
    let (scheme, rest) = url
        .split_once("://")
        .context("a Postgres URL starts with postgres://")?;
    let (rest, parameters) = match rest.split_once('?') {
        Some((rest, parameters)) => (rest, format!("?{parameters}")),
        None => (rest, String::new()),
    };
    let authority = rest.split('/').next().unwrap_or(rest);
    let (own_user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (format!("{user}@"), host),
        None => (String::new(), authority),
    };
    let user = user.map_or(own_user, |(name, password)| format!("{name}:{password}@"));
    Ok(format!("{scheme}://{user}{host}/{database}{parameters}"))
}

/// Succeeds when the server accepts connections.
pub(crate) fn ping(url: &str) -> Result<()> {
    with_client(url, |_| Ok(()))
}

/// Fails when the server's locale can't lower letters outside of ASCII: search ignores case in every
/// script.
pub(crate) fn check_case_mapping(url: &str) -> Result<()> {
    with_client(url, |client| {
        let lower: String = client.query_one("select lower('É')", &[])?.get(0);
        ensure!(
            lower == "é",
            "the locale of this Postgres can't lower 'É' (it returns '{lower}')"
        );
        Ok(())
    })
}

/// Makes the database where it is missing. Only the owner roles may make schemas in it.
pub(crate) fn ensure_database(url: &str, name: &str) -> Result<()> {
    with_setup_lock(url, |client| {
        let exists = client
            .query_opt("select 1 from pg_database where datname = $1", &[&name])?
            .is_some();
        if !exists {
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

/// Drops the database, whoever is connected to it.
pub(crate) fn drop_database(url: &str, name: &str) -> Result<()> {
    with_client(url, |client| {
        Ok(client.batch_execute(&format!("drop database if exists \"{name}\" with (force)"))?)
    })
}

/// Drops the databases and roles of tests that were killed before they could.
pub(crate) fn drop_leftovers(url: &str) -> Result<()> {
    with_client(url, |client| {
        for (names, what) in [
            (
                "select datname::text from pg_database where datname ~ '^guerdon_[0-9a-f]{8}$'",
                "database",
            ),
            (
                "select rolname::text from pg_roles where rolname ~ '^guerdon_test_[0-9a-f]{8}_'",
                "role",
            ),
        ] {
            for row in client.query(names, &[])? {
                let name: String = row.get(0);
                client.batch_execute(&format!("drop {what} \"{name}\""))?;
            }
        }
        Ok(())
    })
}

/// Connects, and waits until no other stack sets up the server.
pub(crate) fn with_setup_lock<T: Send>(
    url: &str,
    work: impl FnOnce(&mut Client) -> Result<T> + Send,
) -> Result<T> {
    with_client(url, |client| {
        client.execute("select pg_advisory_lock($1)", &[&SETUP_LOCK])?;
        work(client)
    })
}

/// Connects on a thread of its own, because the client refuses to run in an async runtime.
pub(crate) fn with_client<T: Send>(
    url: &str,
    work: impl FnOnce(&mut Client) -> Result<T> + Send,
) -> Result<T> {
    let mut config: Config = url.parse().context("not a Postgres URL")?;
    config.connect_timeout(CONNECT_TIMEOUT);
    let session = || {
        let mut client = config
            .connect(NoTls)
            .context("cannot connect to Postgres")?;
        work(&mut client)
    };
    thread::scope(|scope| {
        let result = scope.spawn(session).join();
        result.unwrap_or_else(|_| Err(anyhow!("the Postgres client panicked")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_keep_the_parts_that_are_not_replaced() {
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
