//! Rules of the code base: which crate may depend on which.

use std::{collections::HashMap, process::Command};

use serde_json::Value;

const PROCESSES: [&str; 5] = [
    "gateway",
    "catalog-svc",
    "orders-svc",
    "wallet-svc",
    "identity-svc",
];

#[test]
fn crates_depend_only_on_lower_tiers() {
    let tiers = HashMap::from([
        ("proto", 0),
        ("platform", 1),
        ("gateway", 2),
        ("catalog-svc", 2),
        ("orders-svc", 2),
        ("wallet-svc", 2),
        ("identity-svc", 2),
        ("stack", 3),
        ("e2e", 4),
        ("load", 4),
        ("scenarios", 4),
    ]);
    let dependencies = dependencies();
    assert_eq!(dependencies.len(), tiers.len(), "each member has a tier");
    for (name, needs) in &dependencies {
        for needed in needs
            .iter()
            .filter(|needed| tiers.contains_key(needed.as_str()))
        {
            let lower = tiers[needed.as_str()] < tiers[name.as_str()];
            let both = tiers[name.as_str()] == 4 && tiers[needed.as_str()] == 4;
            assert!(lower || both, "{name} must not depend on {needed}");
        }
    }
    let gateway = &dependencies["gateway"];
    assert!(
        !gateway.iter().any(|needed| needed == "sqlx"),
        "the gateway holds no data"
    );
    for name in ["stack", "scenarios", "e2e", "load"] {
        let uses_a_process = dependencies[name]
            .iter()
            .any(|needed| PROCESSES.contains(&needed.as_str()));
        assert!(!uses_a_process, "{name} uses the processes from outside");
    }
}

/// Returns the dependencies of each member.
fn dependencies() -> HashMap<String, Vec<String>> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("JSON");
    let name = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    list(&metadata["packages"])
        .iter()
        .map(|package| {
            (
                name(package),
                list(&package["dependencies"]).iter().map(name).collect(),
            )
        })
        .collect()
}
