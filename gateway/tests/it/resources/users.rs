//! `/users`

use proto::{
    common::v1::PageInfo,
    identity::v1::{ListReferralsResponse, Referral},
};
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
            "primary_wallet_id": "01920000-0000-7000-8000-00008904a42f",
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
async fn anybody_signs_up_where_sign_up_is_open() {
    let app = TestApp::start_with(&["--sign-up=open"]).await;
    let body = json!({
        "email": "e", "password": "p", "name": "n", "locale": "l", "code": "c",
        "customData": {"a": 1}, "approved": null,
    });
    for request in [app.anonymous("POST", "/users"), app.user("POST", "/users")] {
        let created = app.exchange(request.json(&body)).await;
        assert_eq!(created.status, 201, "{}", created.body);
        assert_eq!(created.call().rpc, "UserService/SignUp");
        assert_eq!(
            created.call().message,
            json!({
                "email": "e", "password": "p", "name": "n", "locale": "l", "code": "c",
                "custom_data": "{\"a\":1}",
            })
        );
    }
    let by_admin = app.post("/users", &body).await;
    assert_eq!(by_admin.call().rpc, "UserService/CreateUser");
}

#[tokio::test]
async fn only_an_admin_sets_flags_roles_and_wallet_of_a_new_user() {
    let app = TestApp::start_with(&["--sign-up=open"]).await;
    for (field, value) in [
        ("approved", json!(false)),
        ("blocked", json!(true)),
        ("verified", json!(true)),
        ("roles", json!(["user"])),
        ("primaryWalletId", json!(ID)),
    ] {
        let body = json!({"email": "e", "password": "p", field: value});
        let request = app.anonymous("POST", "/users").json(&body);
        let refused = app.exchange(request).await;
        let document = refused.problem(403, "forbidden");
        assert_eq!(document["errors"][0]["field"], field);
        assert!(refused.calls.is_empty());
    }
}

#[tokio::test]
async fn a_closed_sign_up_is_refused_before_the_body_is_read() {
    let app = TestApp::start().await;
    for (request, status, code) in [
        (app.anonymous("POST", "/users"), 401, "unauthenticated"),
        (app.user("POST", "/users"), 403, "forbidden"),
    ] {
        let refused = app.exchange(request.body("{")).await;
        refused.problem(status, code);
        assert!(refused.calls.is_empty());
    }
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

#[tokio::test]
async fn a_profile_is_patched_with_custom_data_as_an_object_or_as_text() {
    let app = TestApp::start().await;
    for custom_data in [json!({"a": {"b": 1}}), json!("{\"a\":{\"b\":1}}")] {
        let body = json!({"name": "Ann", "locale": null, "customData": custom_data});
        let patched = app.patch(&format!("/users/{ID}"), &body).await;
        assert_eq!(patched.status, 200, "{}", patched.body);
        assert_eq!(patched.call().rpc, "UserService/UpdateUser");
        assert_eq!(
            patched.call().message,
            json!({
                "id": ID,
                "name": "Ann",
                "custom_data": "{\"a\":{\"b\":1}}",
                "update_mask": "name,locale,customData",
            })
        );
    }
}

#[tokio::test]
async fn custom_data_as_text_is_checked_as_an_object_is() {
    let app = TestApp::start().await;
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(32), "]".repeat(32));
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(16 * 1024));
    for (text, code) in [
        ("", "type"),
        ("x", "type"),
        ("[]", "type"),
        ("\"{}\"", "type"),
        ("{\"a\":1,\"a\":2}", "duplicate"),
        ("{\"a\":\"\\u0000\"}", "format"),
        ("{\"a\":\"\\ud83d\"}", "format"),
        (&deep, "range"),
        (&long, "length"),
    ] {
        let body = json!({"customData": text});
        let refused = app.patch(&format!("/users/{ID}"), &body).await;
        let document = refused.problem(422, "validation_failed");
        assert_eq!(document["errors"][0]["field"], "customData", "{text:.40}");
        assert_eq!(document["errors"][0]["code"], code, "{text:.40}");
    }
    for (custom_data, code) in [(json!(5), "type"), (json!([]), "type")] {
        let body = json!({"customData": custom_data});
        let refused = app.patch(&format!("/users/{ID}"), &body).await;
        let document = refused.problem(422, "validation_failed");
        assert_eq!(document["errors"][0]["code"], code);
    }
}

#[tokio::test]
async fn a_password_is_changed_without_the_old_one() {
    let app = TestApp::start().await;
    let path = format!("/users/{ID}/change-password");
    let changed = app.post(&path, &json!({"password": "Correct1Horse"})).await;
    assert_eq!((changed.status, &changed.body), (204, &json!(null)));
    assert_eq!(changed.call().rpc, "UserService/ChangePassword");
    assert_eq!(
        changed.call().message,
        json!({"id": ID, "password": "Correct1Horse"})
    );
    let empty = app.post(&path, &json!({})).await;
    let document = empty.problem(422, "validation_failed");
    assert_eq!(document["errors"][0]["field"], "password");
}

#[tokio::test]
async fn a_user_is_deleted() {
    let app = TestApp::start().await;
    let deleted = app.delete(&format!("/users/{ID}")).await;
    assert_eq!((deleted.status, &deleted.body), (204, &json!(null)));
    assert_eq!(deleted.call().rpc, "UserService/DeleteUser");
    assert_eq!(deleted.call().message, json!({"id": ID}));
}

#[tokio::test]
async fn referrals_are_whole_users_or_what_their_referrer_may_know() {
    let app = TestApp::start().await;
    let path = format!("/users/{ID}/referrals");
    let whole = app.get(&path).await;
    assert_eq!(whole.call().message["user_id"], ID);
    let data = &whole.body["data"][0];
    assert_eq!(data["email"], "referrals.user.email");

    let response = ListReferralsResponse {
        referrals: vec![Referral {
            id: ID.to_owned(),
            name: Some("Ann".to_owned()),
            ..Referral::default()
        }],
        page: Some(PageInfo {
            total: 1,
            ..PageInfo::default()
        }),
    };
    app.services.reply("UserService/ListReferrals", &response);
    let reduced = app.get(&path).await;
    let expected = json!({"id": ID, "name": "Ann", "createdAt": null, "updatedAt": null});
    assert_eq!(reduced.body, json!({"data": [expected], "total": 1}));
}
