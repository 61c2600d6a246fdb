//! Orders under races, crashes and random use: short forms of `load races`, `load kills` and `load walk`.

use e2e::TestApp;
use scenarios::{kills, races, walk};
use stack::StackOptions;

const ROUNDS: u32 = 10;
const STEPS: u32 = 100;
const SEED: u64 = 20_261_129;

#[tokio::test(flavor = "multi_thread")]
async fn races_end_in_allowed_states() {
    let mut options = StackOptions::for_test("orders").expect("options");
    options.replicas = races::replicas();
    let mut app = TestApp::start(options).await;
    let outcomes = races::run(&mut app.stack, ROUNDS).await.expect("races");
    races::ensure_correct(&outcomes).expect("allowed ends");
    app.assert_settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_is_as_its_model() {
    let mut options = StackOptions::for_test("walk").expect("options");
    options.settings = walk::settings();
    let app = TestApp::start(options).await;
    let walked = walk::run(&app.stack, STEPS, SEED).await;
    walked.expect("the model's answers");
    app.assert_settled().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_at_any_failpoint_of_a_saga_leaves_one_effect() {
    let options = StackOptions::for_test("kills").expect("options");
    let app = TestApp::start(options).await;
    kills::run(&app.stack, 1).await.expect("one effect each");
    app.assert_settled().await;
}
