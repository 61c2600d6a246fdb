//! The root README: its tour works, and its paths exist.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use e2e::{TestApp, page::commands};
use stack::{Auth, StackOptions};

const README: &str = include_str!("../../../../README.md");

#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_the_tour_succeeds() {
    let app = TestApp::start(StackOptions::for_test("readme").expect("options")).await;
    let printed = app.run(commands(README, "tour"), &[]).await;
    let printed: Vec<&str> = printed.lines().collect();
    assert_eq!(printed[..3], ["confirmed", "100.00000000", "30.00000000"]);
    assert_eq!(printed[4..7], ["paid", "fully_paid", "fulfilled"]);
    assert!(
        printed[8].contains(r#""code":"validation_failed""#),
        "{}",
        printed[8]
    );
    app.assert_settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_the_tour_as_an_end_user_succeeds() {
    let mut options = StackOptions::for_test("readme-user").expect("options");
    options.auth = Auth::Required;
    let app = TestApp::start(options).await;
    let settings = settings(commands(README, "user tour: start"));
    for process in ["identity-svc", "gateway"] {
        app.restart_with(process, &settings);
    }
    let printed = app.run(commands(README, "user tour"), &[]).await;
    let printed: Vec<&str> = printed.lines().collect();
    assert!(printed[0].ends_with('Z'), "the email is confirmed");
    assert_eq!(
        printed[1..],
        ["fully_paid", "37.50000000", "fully_paid", "1.25000000"]
    );
    app.assert_settled().await;
}

/// Returns the settings that a command sets for `cargo stack up --auth required`.
fn settings(command: &'static str) -> Vec<(&'static str, &'static str)> {
    let settings = command
        .trim()
        .strip_suffix("cargo stack up --auth required");
    let settings = settings.expect("the command of the test's stack");
    let settings = settings.split_whitespace();
    settings
        .map(|setting| setting.split_once('=').expect("a setting"))
        .collect()
}

#[test]
fn every_path_of_the_where_is_table_exists() {
    let section = README
        .split("## Where is …?")
        .nth(1)
        .expect("the README has the table");
    let section = section.split("\n## ").next().expect("the section ends");
    let cells = section.lines().filter_map(|row| row.split('|').nth(2));
    let paths: BTreeSet<&str> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|text| text.contains('/'))
        .collect();
    assert!(paths.len() > 25, "the table is parsed: {paths:?}");
    let missing: Vec<_> = paths.into_iter().filter(|path| !exists(path)).collect();
    assert_eq!(missing, [""; 0]);
}

/// Returns whether a path exists. `<name>` matches anything, `<context>` must exist for each context,
/// and a path without an ending is a module.
fn exists(pattern: &str) -> bool {
    let contexts = ["catalog", "orders", "wallet", "identity"];
    if pattern.contains("<context>") {
        return contexts
            .iter()
            .all(|context| exists(&pattern.replace("<context>", context)));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let parts = pattern.trim_end_matches('/').split('/');
    let found = parts.fold(vec![root], |dirs, part| {
        dirs.iter().flat_map(|dir| matches(dir, part)).collect()
    });
    let wants_directory = pattern.ends_with('/');
    found.iter().any(|path| !wants_directory || path.is_dir())
}

fn matches(dir: &Path, part: &str) -> Vec<PathBuf> {
    let Some((prefix, rest)) = part.split_once('<') else {
        let paths = [dir.join(part), dir.join(format!("{part}.rs"))];
        return paths.into_iter().filter(|path| path.exists()).collect();
    };
    let (_, suffix) = rest.split_once('>').expect("a placeholder ends");
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let fits = |name: &str| name.starts_with(prefix) && name.ends_with(suffix);
    entries
        .filter(|entry| fits(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect()
}
