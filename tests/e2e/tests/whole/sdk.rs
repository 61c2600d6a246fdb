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
    let methods = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../deploy/payment-methods.example.toml"
    );
    options.settings = vec![("PAYMENT_METHODS_FILE".to_owned(), methods.to_owned())];
    let app = TestApp::start(options).await;
    app.restart_with("identity-svc", &[("REFERRAL_PURCHASE_PERCENT", "10")]);
    for script in ["flow.js", "account.js", "methods.js"] {
        let mut node = Command::new("node");
        node.arg(script)
            .current_dir(&client)
            .envs(app.shell_variables());
        let run = tokio::task::spawn_blocking(move || node.output());
        let output = run.await.expect("no panic").expect("node runs");
        let printed = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{script}: {printed}{errors}");
    }
    app.assert_settled().await;
}
