//! Clients that are generated from the OpenAPI document, against a running stack.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use e2e::{TestApp, report_skipped};
use stack::{Auth, StackOptions};

fn client(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../clients")
        .join(folder)
}

/// Runs a client that takes the address of the gateway and an API key from its environment.
async fn run(name: &str, mut command: Command) {
    let mut options = StackOptions::for_test(name).expect("options");
    options.auth = Auth::Required;
    let app = TestApp::start(options).await;
    command
        .env("GUERDON_URL", app.base())
        .env("GUERDON_API_KEY", &app.stack.wiring().secrets.api_key);
    let run = tokio::task::spawn_blocking(move || command.output());
    let output = run.await.expect("no panic").expect("the program runs");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    app.assert_settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_typescript_client_is_generated_and_works() {
    let client = client("typescript");
    if !client.join("node_modules").is_dir() {
        let reason = "`cargo stack test` found no Node.js 18 with npm, or no network";
        report_skipped("a_typescript_client_is_generated_and_works", reason);
        return;
    }
    let mut npm = Command::new("npm");
    npm.arg("start").current_dir(client);
    run("typescript", npm).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_python_client_is_generated_and_works() {
    let client = client("python");
    if !client.join(".venv/installed").is_file() {
        let reason = "`cargo stack test` found no Python 3 with venv and pip, or no network";
        report_skipped("a_python_client_is_generated_and_works", reason);
        return;
    }
    let mut python = Command::new(client.join(".venv/bin/python"));
    python.arg("flow.py").current_dir(client);
    run("python", python).await;
}
