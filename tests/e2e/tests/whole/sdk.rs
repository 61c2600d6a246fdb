//! The public Node SDK, unchanged, against a running stack.

use std::{path::Path, process::Command};

use e2e::{TestApp, report_skipped};
use stack::{Auth, StackOptions};

#[tokio::test(flavor = "multi_thread")]
async fn the_public_node_sdk_works_unchanged() {
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../clients/slyk-node");
    if !client.join("node_modules").is_dir() {
        let reason =
            "`cargo stack test` found no Node.js 18 with npm, or no network for its packages";
        report_skipped("the_public_node_sdk_works_unchanged", reason);
        return;
    }
    let mut options = StackOptions::for_test("sdk").expect("options");
    options.auth = Auth::Required;
    let app = TestApp::start(options).await;
    let mut flow = Command::new("node");
    flow.arg("flow.js")
        .current_dir(client)
        .env("GUERDON_URL", app.base())
        .env("GUERDON_API_KEY", &app.stack.wiring().secrets.api_key);
    let run = tokio::task::spawn_blocking(move || flow.output());
    let output = run.await.expect("no panic").expect("node runs");
    let (out, err) = (&output.stdout, &output.stderr);
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    );
    app.assert_settled().await;
}
