use std::collections::BTreeSet;

use super::*;
use crate::EnvironmentOptions;

/// Returns the stored passwords of all roles, by name.
fn stored_passwords(url: &str) -> Vec<(String, Option<String>)> {
    with_client(url, |client| {
        let rows = client.query(
            "select rolname::text, rolpassword from pg_authid where rolname like 'guerdon%' order by 1",
            &[],
        )?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    })
    .unwrap()
}

#[test]
fn roles_of_a_foreign_server_keep_their_passwords() {
    let (environment, workspace) = EnvironmentOptions::start_scratch_postgres();
    let url = &environment.postgres_url;
    let theirs = Roles::new("their secret");
    theirs.ensure(url, Server::Foreign).unwrap();
    let before = stored_passwords(url);
    assert_eq!(before.len(), 8);

    let refused = Roles::new("our secret").ensure(url, Server::Foreign);

    let message = refused.unwrap_err().to_string();
    assert!(message.starts_with("role guerdon_catalog_owner exists on this server with another"));
    assert_eq!(stored_passwords(url), before);

    theirs.ensure(url, Server::Foreign).unwrap();
    ensure_all_named(url).unwrap();
    assert_eq!(stored_passwords(url), before);

    Roles::new("our secret").ensure(url, Server::Ours).unwrap();
    assert_ne!(stored_passwords(url), before);
    drop(environment);
    workspace.remove().unwrap();
}

#[test]
fn a_test_logs_in_with_roles_of_its_own() {
    let (environment, workspace) = EnvironmentOptions::start_scratch_postgres();
    let url = &environment.postgres_url;
    Roles::new("their secret")
        .ensure(url, Server::Foreign)
        .unwrap();
    let before = stored_passwords(url);
    let test = Roles::for_test("01234567", "secret");
    test.ensure(url, Server::Foreign).unwrap();

    let owner = Service::Wallet.owner_role();
    crate::database::ensure_database(url, "shop").unwrap();
    let made_by_a_test = test.url(url, &owner, "shop").unwrap();
    with_client(&made_by_a_test, |client| {
        Ok(client.batch_execute("create schema wallet; create table wallet.wallets ()")?)
    })
    .unwrap();
    let owner_of_table = with_client(&url_with(url, None, "shop").unwrap(), |client| {
        let owner = "select tableowner::text from pg_tables where tablename = 'wallets'";
        Ok(client.query_one(owner, &[])?.get::<_, String>(0))
    });
    assert_eq!(owner_of_table.unwrap(), owner);

    test.drop_logins(url).unwrap();
    assert_eq!(stored_passwords(url), before);

    // As if a second test were killed.
    test.ensure(url, Server::Foreign).unwrap();
    crate::database::ensure_database(url, "guerdon_01234567").unwrap();
    environment.drop_leftovers().unwrap();
    assert_eq!(stored_passwords(url), before);
    drop(environment);
    workspace.remove().unwrap();
}

#[test]
fn each_role_has_a_password_of_its_own() {
    let secret = "the superuser's";
    let mut passwords = BTreeSet::from([secret.to_owned()]);
    for roles in [Roles::new(secret), Roles::for_test("01234567", secret)] {
        for (role, _) in named() {
            let password = roles.password(&roles.login(&role));
            assert!(passwords.insert(password), "{role}");
        }
    }
    let again = Roles::new(secret).password("guerdon_wallet_app");
    assert!(passwords.contains(&again));
}
