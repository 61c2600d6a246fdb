//! Referrals: a referrer earns a share of tasks and of orders, and gives it back with refunds.

use e2e::{TestApp, text, usd};
use serde_json::{Value, json};
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn a_referrer_earns_and_gives_back_its_share() {
    let app = TestApp::start(StackOptions::for_test("referrals").expect("options")).await;
    set_percentages(&app);
    let referrer = app.create_user("rita").await;
    let earned = &referrer["primaryWalletId"];
    let buyer = create_referred_user(&app, &referrer).await;
    app.deposit(&buyer["primaryWalletId"], "100.00").await;

    complete_task(&app, &buyer, "5.00").await;
    app.wait_for_balance(earned, &usd("0.50")).await;
    let tea = app.create_product("Tea", "8", "0").await;
    let order = app.order(&buyer, &tea).await;
    // 5 % of 9.60.
    app.wait_for_balance(earned, &usd("0.98")).await;
    for subject in [
        "guerdon.orders.v1.OrderPaid",
        "guerdon.identity.v1.ReferralEarned",
        "guerdon.identity.v1.TaskCompleted",
    ] {
        app.publish_again(subject).await;
    }
    assert_eq!(app.balance(earned).await, usd("0.98"));

    let refund = format!("/orders/{}/refund", text(&order["id"]));
    app.create(&refund, json!({ "amount": "2.40" })).await;
    app.wait_for_balance(earned, &usd("0.86")).await;
    let cancel = format!("/orders/{}/cancel", text(&order["id"]));
    app.create(&cancel, json!({ "refundAmount": "2.40" })).await;
    app.wait_for_balance(earned, &usd("0.74")).await;
    app.publish_again("guerdon.orders.v1.OrderCanceled").await;
    app.publish_again("guerdon.orders.v1.OrderRefunded").await;
    app.publish_again("guerdon.identity.v1.ReferralEarned")
        .await;
    assert_eq!(app.balance(earned).await, usd("0.74"));
    assert_reasons(&app, earned).await;

    earn_nothing_while_blocked(&app, &referrer, &buyer).await;
    app.assert_settled().await;
}

/// Starts identity-svc again with 10 % of tasks and 5 % of purchases.
fn set_percentages(app: &TestApp) {
    let percentages = [
        ("REFERRAL_TASK_PERCENT", "10"),
        ("REFERRAL_PURCHASE_PERCENT", "5"),
    ];
    app.restart_with("identity-svc", &percentages);
}

async fn create_referred_user(app: &TestApp, referrer: &Value) -> Value {
    let body = json!({
        "email": "ada@example.com", "name": "ada", "password": "Correct1Horse", "approved": true,
        "code": referrer["referralCode"],
    });
    let user = app.create("/users", body).await;
    assert_eq!(user["referralUserId"], referrer["id"]);
    user
}

async fn complete_task(app: &TestApp, user: &Value, amount: &str) {
    let body = json!({
        "name": "Survey", "description": "Two questions", "type": "survey", "amount": amount,
    });
    let task = app.create("/tasks", body).await;
    let path = format!("/tasks/{}/complete", text(&task["id"]));
    app.create(&path, json!({ "userId": user["id"] })).await;
}

/// The transactions say why: two rewards, and the parts of one that were taken back.
async fn assert_reasons(app: &TestApp, wallet: &Value) {
    let path = format!("/wallets/{}/transactions?sort=createdAt", text(wallet));
    let transactions = app.get_data(&path).await;
    let transactions = transactions.as_array().expect("a list");
    let reasons: Vec<_> = transactions
        .iter()
        .map(|transaction| text(&transaction["metadata"]["reason"]))
        .collect();
    let (reward, reversal) = ("referral", "referral_reversal");
    assert_eq!(reasons, [reward, reward, reversal, reversal]);
    assert!(transactions[0]["metadata"]["taskId"].is_string());
    assert!(transactions[1]["metadata"]["orderId"].is_string());
}

/// Nothing is paid later either: the next reward, after the block, is the only one.
async fn earn_nothing_while_blocked(app: &TestApp, referrer: &Value, buyer: &Value) {
    let path = format!("/users/{}", text(&referrer["id"]));
    app.create(&format!("{path}/block"), json!({})).await;
    complete_task(app, buyer, "7.00").await;
    app.create(&format!("{path}/unblock"), json!({})).await;
    complete_task(app, buyer, "1.00").await;
    app.wait_for_balance(&referrer["primaryWalletId"], &usd("0.84"))
        .await;
}
