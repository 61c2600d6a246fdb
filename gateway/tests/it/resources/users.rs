//! `/users`

use serde_json::json;

use super::assert_list_of;
use crate::{
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn a_user_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/users", &samples::body("NewUser")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "UserService/CreateUser",
          "message": {
            "approved": true,
            "blocked": true,
            "code": "code",
            "custom_data": "{\"customData\":1}",
            "email": "email",
            "locale": "locale",
            "name": "name",
            "password": "password",
            "primary_wallet_id": "primaryWalletId",
            "roles": [
              "roles"
            ],
            "verified": true
          }
        }
      ],
      "status": 201,
      "location": "/users/user.id",
      "body": {
        "data": {
          "approved": true,
          "blocked": true,
          "createdAt": "2026-01-31T10:00:15.007Z",
          "customData": {
            "user.custom_data": 1
          },
          "email": "user.email",
          "id": "user.id",
          "locale": "user.locale",
          "metadata": {
            "user.metadata": 1
          },
          "name": "user.name",
          "phone": "user.phone",
          "primaryWalletId": "user.primary_wallet_id",
          "referralCode": "user.referral_code",
          "referralUserId": "user.referral_user_id",
          "roles": [
            "user.roles"
          ],
          "updatedAt": "2026-01-31T10:00:16.007Z",
          "verified": true
        }
      }
    }
    "#);
    let read = app.get(&format!("/users/{ID}")).await;
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/users").await, &read.body["data"]);
}

#[tokio::test]
async fn flags_of_a_new_user_are_off_by_default() {
    let app = TestApp::start().await;
    let body = json!({"email": "e", "password": "p", "name": null, "roles": null});
    let created = app.post("/users", &body).await;
    assert_eq!(
        created.call().message,
        json!({"email": "e", "password": "p"})
    );
}

#[tokio::test]
async fn passwords_are_not_in_responses() {
    let app = TestApp::start().await;
    let body = json!({"email": "e", "password": "Correct1Horse"});
    let created = app.post("/users", &body).await;
    assert!(!created.body.to_string().contains("assword"));
}

#[tokio::test]
async fn actions_respond_204() {
    let app = TestApp::start().await;
    for (action, rpc) in [
        ("approve", "ApproveUser"),
        ("block", "BlockUser"),
        ("unblock", "UnblockUser"),
        ("unlock", "UnblockUser"),
    ] {
        let exchange = app.post(&format!("/users/{ID}/{action}"), &json!({})).await;
        assert_eq!(
            (exchange.status, &exchange.body),
            (204, &json!(null)),
            "{action}"
        );
        assert_eq!(exchange.call().rpc, format!("UserService/{rpc}"));
        assert_eq!(exchange.call().message, json!({"id": ID}));
    }
}
