//! The README's tour works as it stands.

use std::process::Command;

use e2e::Shop;
use stack::StackOptions;

const README: &str = include_str!("../../../../README.md");

#[tokio::test(flavor = "multi_thread")]
async fn every_line_of_the_tour_works() {
    let shop = Shop::open(StackOptions::for_test("readme").expect("options")).await;
    let tour = README
        .split("<!-- tour -->\n```sh\n")
        .nth(1)
        .expect("the README has a tour");
    let tour = tour.split("```").next().expect("it ends");
    let lines = tour
        .strip_prefix(". .stack/env\n")
        .expect("it begins with the stack's variables");
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", lines])
        .env("GUERDON_URL", shop.base())
        .env("GUERDON_API_KEY", &shop.stack.wiring().secrets.api_key);
    let run = tokio::task::spawn_blocking(move || bash.output());
    let output = run.await.expect("no panic").expect("bash runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    let printed: Vec<&str> = printed.lines().collect();
    assert_eq!(printed[..3], ["confirmed", "100.00000000", "30.00000000"]);
    assert_eq!(printed[4..7], ["paid", "fully_paid", "fulfilled"]);
    assert!(
        printed[8].contains(r#""code":"validation_failed""#),
        "{}",
        printed[8]
    );
    shop.check_books().await;
}
