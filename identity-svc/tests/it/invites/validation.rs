//! Validating codes.

use chrono::TimeDelta;
use platform::error::Code;
use proto::identity::v1::{
    BlockUserRequest, CreateInviteRequest, CreateUserRequest, InviteFault, ValidateInviteRequest,
};
use sqlx::PgPool;

use super::{UNKNOWN, cancel, create, invite_of, sign_up, validate};
use crate::harness::{TestApp, admin, code, gateway, new_user, user};

/// A user with a name.
async fn create_ann(app: &TestApp) -> proto::identity::v1::User {
    let ann = CreateUserRequest {
        name: Some("Ann".to_owned()),
        ..new_user("ann@x.com")
    };
    let created = app.users().create_user(ann).await.unwrap();
    created.into_inner().user.unwrap()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn invites_and_referral_codes_are_valid_for_anybody(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = create_ann(&app).await;
    let for_bob = CreateInviteRequest {
        email: Some("bob@x.com".to_owned()),
        ..invite_of(&ann)
    };
    let invite = create(&app, for_bob).await;
    for (shared, expired_at) in [
        (&invite.code, invite.expired_at),
        (&ann.referral_code, None),
    ] {
        for caller in [gateway(), admin(), user(&ann.id)] {
            let code = format!(" {}", shared.to_lowercase());
            let request = ValidateInviteRequest { code };
            let validation = app.invites_as(&caller).validate_invite(request).await;
            let validation = validation.unwrap().into_inner();
            assert_eq!(&validation.code, shared);
            assert_eq!(validation.fault(), InviteFault::Unspecified);
            assert_eq!(validation.referrer_name(), "Ann");
            assert_eq!(validation.expired_at, expired_at);
        }
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_unusable_code_has_a_reason_and_shows_no_name(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = create_ann(&app).await;
    let canceled = create(&app, invite_of(&ann)).await;
    let request = cancel(&canceled.code);
    app.invites().cancel_invite(request).await.unwrap();
    let accepted = create(&app, invite_of(&ann)).await;
    sign_up(&app, "bob@x.com", &accepted.code).await;
    let expired = create(&app, invite_of(&ann)).await;
    app.clock.advance(TimeDelta::days(30));
    let shared = create(&app, invite_of(&ann)).await;
    let id = ann.id.clone();
    app.users()
        .block_user(BlockUserRequest { id })
        .await
        .unwrap();
    for (code, fault) in [
        (&canceled.code, InviteFault::Canceled),
        (&accepted.code, InviteFault::Accepted),
        (&expired.code, InviteFault::Expired),
        (&shared.code, InviteFault::ReferrerUnavailable),
        (&ann.referral_code, InviteFault::ReferrerUnavailable),
    ] {
        let validation = validate(&app, code).await;
        assert_eq!(validation.fault(), fault);
        assert_eq!(validation.referrer_name, None);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_unknown_code_is_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    for text in ["", "x", "R000000000", UNKNOWN, "I\u{0}"] {
        let code_text = text.to_owned();
        let request = ValidateInviteRequest { code: code_text };
        let unknown = app.invites_as(&gateway()).validate_invite(request).await;
        assert_eq!(code(unknown), Code::InviteNotFound, "{text:?}");
    }
    app.finish().await;
}
