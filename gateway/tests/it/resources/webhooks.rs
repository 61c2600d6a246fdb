//! `/webhooks`

use proto::identity::v1::{RotateWebhookSecretResponse, Webhook};
use serde_json::json;

use crate::harness::{ID, TestApp};

#[tokio::test]
async fn the_secret_is_in_the_responses_that_make_it_only() {
    let app = TestApp::start().await;
    let body = json!({"url": "https://shop.example/hook", "events": ["*"], "enabled": false});
    let created = app.post("/webhooks", &body).await;
    assert_eq!(created.status, 201);
    assert_eq!(created.body["data"]["secret"], "secret");
    assert_eq!(created.call().message["url"], "https://shop.example/hook");
    let read = app.get(&format!("/webhooks/{ID}")).await;
    assert_eq!(read.status, 200);
    assert!(read.body["data"].get("secret").is_none(), "{}", read.body);
    assert_eq!(read.body["data"]["disabledReason"], "admin");
    let rotate = format!("/webhooks/{ID}/rotate-secret");
    let rotated = app.post(&rotate, &json!({})).await;
    assert_eq!(rotated.body["data"]["secret"], "secret");
    // A recorded response lacks it.
    let replayed = RotateWebhookSecretResponse {
        webhook: Some(Webhook::default()),
        secret: String::new(),
    };
    app.services
        .reply("WebhookService/RotateWebhookSecret", &replayed);
    let again = app.post(&rotate, &json!({})).await;
    assert!(again.body["data"].get("secret").is_none(), "{}", again.body);
}

#[tokio::test]
async fn a_patch_names_what_it_changes() {
    let app = TestApp::start().await;
    let path = format!("/webhooks/{ID}");
    let patched = app
        .patch(&path, &json!({"events": ["user.*"], "enabled": true}))
        .await;
    assert_eq!(patched.status, 200);
    let message = &patched.call().message;
    assert_eq!(message["events"], json!(["user.*"]));
    assert_eq!(message["update_mask"], "events,enabled");
    let cleared = app.patch(&path, &json!({"url": null})).await;
    cleared.problem(422, "validation_failed");
}

#[tokio::test]
async fn malformed_ids_are_not_found() {
    let app = TestApp::start().await;
    app.get("/webhooks/x")
        .await
        .problem(404, "webhook_not_found");
    let redeliver = format!("/webhooks/{ID}/deliveries/x/redeliver");
    let refused = app.post(&redeliver, &json!({})).await;
    refused.problem(404, "webhook_delivery_not_found");
}

#[tokio::test]
async fn a_delivery_tells_how_the_webhook_responded() {
    let app = TestApp::start().await;
    let listed = app.get(&format!("/webhooks/{ID}/deliveries")).await;
    let delivery = &listed.body["data"][0];
    assert_eq!(
        (&delivery["status"], &delivery["lastStatusCode"]),
        (&json!("pending"), &json!(9))
    );
    assert_eq!(delivery["nextAttemptAt"], "2026-01-31T10:00:07.007Z");
    let pinged = app.post(&format!("/webhooks/{ID}/ping"), &json!({})).await;
    assert_eq!(
        pinged.body["data"],
        json!({"eventId": "event_id", "delivered": true,
        "statusCode": 3, "error": "error", "durationMs": 5})
    );
}
