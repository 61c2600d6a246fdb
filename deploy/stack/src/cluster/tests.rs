use std::{
    cell::OnceCell,
    net::{Ipv4Addr, TcpListener},
};

use super::*;
use crate::{EnvironmentOptions, Workspace, database::url_with, find, ports::Ports};

#[test]
fn a_cluster_whose_port_was_taken_starts_on_another() {
    let workspace = Workspace::scratch();
    let options = ClusterOptions {
        installation: find::postgres(&workspace.cache, None).unwrap(),
        data: workspace.servers.join("postgres"),
        account: workspace.account.clone(),
        password: "secret".to_owned(),
        durable: false,
        logs: workspace.logs(),
    };
    let taken = OnceCell::new();
    let start = |port| {
        // Assigned, and taken before the first start.
        taken.get_or_init(|| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap());
        Cluster::start(&options, port)
    };
    let cluster = Ports::default().serve("postgres", start).unwrap();
    let taken = taken.get().unwrap().local_addr().unwrap();
    assert_ne!(cluster.address(), taken.to_string());
    assert!(cluster.url().contains(&cluster.address()));
    database::ping(cluster.url()).unwrap();
    drop(cluster);
    workspace.remove().unwrap();
}

#[test]
fn nobody_logs_in_without_a_password() {
    let (environment, workspace) = EnvironmentOptions::start_scratch_postgres();
    let url = &environment.postgres_url;
    let rules = fs::read_to_string(workspace.servers.join("postgres/pg_hba.conf")).unwrap();
    assert!(!trusts(&rules), "{rules}");
    database::ping(url).unwrap();
    for password in ["", "postgres"] {
        let other = url_with(url, Some(("postgres", password)), "postgres").unwrap();
        assert!(database::ping(&other).is_err(), "{password:?} is accepted");
    }
    drop(environment);
    workspace.remove().unwrap();
}

#[test]
fn rules_without_password_are_found() {
    let line = |method| format!("# trust\nhost    all  all  127.0.0.1/32  {method}\n");
    assert!(trusts(&line("trust")));
    assert!(!trusts(&line("scram-sha-256")));
}
