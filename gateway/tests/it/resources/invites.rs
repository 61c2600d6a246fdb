//! `/invites`

use platform::error::{Code, Failure};
use proto::identity::v1::{InviteFault, ValidateInviteResponse};
use serde_json::json;

use super::assert_list_of;
use crate::{
    harness::{ID, TestApp},
    samples,
};

const CODE: &str = "I0123456789";

#[tokio::test]
async fn an_invite_is_created_read_listed_and_canceled() {
    let app = TestApp::start().await;
    let created = app.post("/invites", &samples::body("NewInvite")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "InviteService/CreateInvite",
          "message": {
            "email": "email",
            "inviter_user_id": "01920000-0000-7000-8000-0000739c8588"
          }
        }
      ],
      "status": 201,
      "location": "/invites/invite.code",
      "body": {
        "data": {
          "code": "invite.code",
          "createdAt": "2026-01-31T10:00:09.007Z",
          "expiredAt": "2026-01-31T10:00:07.007Z",
          "invitedEmail": "invite.invited_email",
          "invitedUserId": "invite.invited_user_id",
          "inviterUserId": "invite.inviter_user_id",
          "metadata": {
            "invite.metadata": 1
          },
          "status": "pending",
          "type": "invite",
          "updatedAt": "2026-01-31T10:00:10.007Z",
          "url": "invite.url"
        }
      }
    }
    "#);
    let read = app.get(&format!("/invites/{CODE}")).await;
    assert_eq!(read.body, created.body);
    assert_eq!(read.call().message, json!({"code": CODE}));
    assert_list_of(&app.get("/invites").await, &read.body["data"]);
    let path = format!("/invites/{CODE}/cancel");
    let canceled = app.post(&path, &json!({})).await;
    assert_eq!(canceled.body, read.body);
    assert_eq!(canceled.call().rpc, "InviteService/CancelInvite");
}

#[tokio::test]
async fn an_invite_needs_no_field() {
    let app = TestApp::start().await;
    let created = app.exchange(app.user("POST", "/invites")).await;
    assert_eq!(created.status, 201, "{}", created.body);
    assert_eq!(created.call().message, json!({}));
}

#[tokio::test]
async fn invites_are_sent_to_one_address_or_to_many() {
    let app = TestApp::start().await;
    for (email, emails) in [
        (json!("a@x.com"), json!(["a@x.com"])),
        (json!(["a@x.com", "b@x.com"]), json!(["a@x.com", "b@x.com"])),
    ] {
        let body = json!({"email": email, "inviterUserId": ID});
        let sent = app.post("/invites/send", &body).await;
        assert_eq!((sent.status, &sent.body), (204, &json!(null)));
        let message = json!({"emails": emails, "inviter_user_id": ID});
        assert_eq!(sent.call().message, message);
    }
}

#[tokio::test]
async fn addresses_are_strings() {
    let app = TestApp::start().await;
    for (email, field, code) in [
        (json!(5), "email", "type"),
        (json!({"a": 1}), "email", "type"),
        (json!(null), "email", "required"),
        (json!(["a@x.com", 5]), "email[1]", "type"),
    ] {
        let refused = app.post("/invites/send", &json!({"email": email})).await;
        let document = refused.problem(422, "validation_failed");
        assert_eq!(document["errors"][0]["field"], field, "{email}");
        assert_eq!(document["errors"][0]["code"], code, "{email}");
    }
}

#[tokio::test]
async fn a_code_that_can_be_used_has_no_reason() {
    let app = TestApp::start().await;
    let response = ValidateInviteResponse {
        code: CODE.to_owned(),
        referrer_name: Some("Ann".to_owned()),
        ..ValidateInviteResponse::default()
    };
    app.services
        .reply("InviteService/ValidateInvite", &response);
    let path = format!("/invites/{CODE}/validate");
    let valid = app.get(&path).await;
    let data = json!({
        "code": CODE, "valid": true, "reason": null, "referrerName": "Ann", "expiredAt": null,
    });
    assert_eq!(valid.body, json!({"data": data}));
}

#[tokio::test]
async fn a_code_that_cannot_be_used_has_a_reason() {
    let app = TestApp::start().await;
    let path = format!("/invites/{CODE}/validate");
    for (fault, reason) in [
        (InviteFault::Accepted, "accepted"),
        (InviteFault::Canceled, "canceled"),
        (InviteFault::Expired, "expired"),
        (InviteFault::ReferrerUnavailable, "referrer_unavailable"),
        (InviteFault::InUse, "in_use"),
    ] {
        let response = ValidateInviteResponse {
            code: CODE.to_owned(),
            fault: fault.into(),
            ..ValidateInviteResponse::default()
        };
        app.services
            .reply("InviteService/ValidateInvite", &response);
        let invalid = app.get(&path).await;
        assert_eq!(invalid.status, 200);
        assert_eq!(invalid.body["data"]["valid"], false);
        assert_eq!(invalid.body["data"]["reason"], reason);
    }
    let unknown = Failure::new(Code::InviteNotFound, "invite not found");
    app.services.fail("InviteService/ValidateInvite", unknown);
    app.get(&path).await.problem(404, "invite_not_found");
}
