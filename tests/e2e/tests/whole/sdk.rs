//! The public Node SDK, unchanged, against a running stack.

use std::{path::Path, process::Command};

use e2e::Shop;
use stack::{Auth, StackOptions};

#[tokio::test(flavor = "multi_thread")]
async fn the_public_node_sdk_works_unchanged() {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/slyk-node");
    if !has_node() || !client.join("node_modules").is_dir() {
        println!("1 skipped: the Node SDK needs Node.js 18 or later and its packages");
        return;
    }
    let mut options = StackOptions::for_test("sdk").expect("options");
    options.auth = Auth::Required;
    let shop = Shop::open(options).await;
    let mut flow = Command::new("node");
    flow.arg("flow.js")
        .current_dir(client)
        .env("GUERDON_URL", shop.base())
        .env("GUERDON_API_KEY", &shop.stack.wiring().secrets.api_key);
    let run = tokio::task::spawn_blocking(move || flow.output());
    let output = run.await.expect("no panic").expect("node runs");
    let (out, err) = (&output.stdout, &output.stderr);
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    );
    shop.check_books().await;
}

fn has_node() -> bool {
    let version = Command::new("node").arg("--version").output();
    let Ok(version) = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    else {
        return false;
    };
    let major = version.trim_start_matches('v').split('.').next();
    major
        .and_then(|major| major.parse().ok())
        .is_some_and(|major: u32| major >= 18)
}
