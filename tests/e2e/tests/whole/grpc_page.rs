//! The page about gRPC: its commands work, with a plain stack and with certificates.

use std::process::Command;

use e2e::{
    TestApp,
    page::{commands, path_with_clients},
    report_skipped,
};
use stack::{Auth, StackOptions};

use crate::mtls::Certificates;

const PAGE: &str = include_str!("../../../../proto/README.md");

/// Returns whether grpcurl runs. Else the test is reported as skipped.
fn has_grpcurl(test: &str) -> bool {
    let mut grpcurl = Command::new("grpcurl");
    let version = grpcurl
        .arg("-version")
        .env("PATH", path_with_clients())
        .output();
    let runs = version.is_ok_and(|output| output.status.success());
    if !runs {
        report_skipped(
            test,
            "no grpcurl, and `cargo stack test` could not fetch it",
        );
    }
    runs
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_the_page_about_grpc_succeeds() {
    if !has_grpcurl("every_command_of_the_page_about_grpc_succeeds") {
        return;
    }
    let mut options = StackOptions::for_test("grpc-page").expect("options");
    options.auth = Auth::Required;
    let app = TestApp::start(options).await;
    let printed = app.run(commands(PAGE, "grpc"), &[]).await;
    let printed: Vec<&str> = printed.lines().collect();
    assert_eq!(
        printed[..8],
        [
            "Drinks",
            "Coffee",
            "TRANSACTION_STATUS_CONFIRMED",
            "TRANSACTION_STATUS_CONFIRMED",
            "guerdon-idempotency-replayed: true",
            "30.00000000",
            "25.00000000",
            "PAYMENT_STATUS_FULLY_PAID",
        ]
    );
    let error = printed[8..].join("\n");
    for part in [
        "Code: InvalidArgument",
        r#""reason":"VALIDATION_FAILED""#,
        r#""field":"amount""#,
        "status 67",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    app.assert_settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_with_a_certificate_is_served_as_the_page_says() {
    if !has_grpcurl("a_tool_with_a_certificate_is_served_as_the_page_says") {
        return;
    }
    let certificates = Certificates::issue();
    let mut options = StackOptions::for_test("grpc-page-mtls").expect("options");
    options.auth = Auth::Required;
    options.settings = certificates.settings();
    let app = TestApp::start(options).await;
    let commands = commands(PAGE, "grpc with certificates");
    let directory = certificates.directory.display().to_string();
    let printed = app.run(commands, &[("CERTIFICATES", &directory)]).await;
    assert!(printed.contains("\"page\": {"), "{printed}");
    assert!(printed.ends_with("refused\n"), "{printed}");
    app.assert_settled().await;
}
