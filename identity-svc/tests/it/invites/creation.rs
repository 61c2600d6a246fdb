//! Creating and canceling invites.

use chrono::TimeDelta;
use platform::{
    auth::{Kind, Role},
    error::{Code, FieldCode},
    idempotency,
};
use prost::Message as _;
use proto::{
    events::v1::InviteCreated,
    identity::v1::{CreateInviteRequest, InviteStatus},
};
use sqlx::PgPool;

use super::{UNKNOWN, cancel, create, invite_of, read, sign_up};
use crate::harness::{TestApp, caller, code, error, keyed, published, user};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_invites_as_itself(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let request = CreateInviteRequest {
        email: Some(" Bob@X.com".to_owned()),
        inviter_user_id: None,
    };
    let mut as_ann = app.invites_as(&user(&ann.id));
    let created = as_ann.create_invite(request).await.unwrap();
    let invite = created.into_inner().invite.unwrap();
    insta::assert_debug_snapshot!(invite, @r#"
    Invite {
        code: "ISDD3G83VM",
        url: "http://127.0.0.1:8080/sign-up?code=ISDD3G83VM",
        status: Pending,
        invited_email: Some(
            "Bob@x.com",
        ),
        invited_user_id: None,
        inviter_user_id: Some(
            "018bcfe5-6800-710a-adec-89025cc10000",
        ),
        expired_at: Some(
            Timestamp {
                seconds: 1772452800,
                nanos: 0,
            },
        ),
        metadata: "{}",
        created_at: Some(
            Timestamp {
                seconds: 1769860800,
                nanos: 0,
            },
        ),
        updated_at: Some(
            Timestamp {
                seconds: 1769860800,
                nanos: 0,
            },
        ),
    }
    "#);
    assert_eq!(read(&app, &invite.code.to_lowercase()).await, invite);
    let event = app.only_event("InviteCreated").await;
    insta::assert_debug_snapshot!(InviteCreated::decode(&*event.body).unwrap(), @r#"
    InviteCreated {
        invite_id: "018bcfe5-6805-734d-8bff-901502800000",
        version: 1,
        code: "ISDD3G83VM",
        inviter_user_id: "018bcfe5-6800-710a-adec-89025cc10000",
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_admin_invites_as_anybody_or_as_nobody(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let of_ann = create(&app, invite_of(&ann)).await;
    assert_eq!(of_ann.inviter_user_id.as_ref(), Some(&ann.id));
    let of_nobody = create(&app, CreateInviteRequest::default()).await;
    assert_eq!(of_nobody.inviter_user_id, None);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_inviter_is_a_user_that_the_caller_may_name(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    let naming = |id: &str| CreateInviteRequest {
        email: None,
        inviter_user_id: Some(id.to_owned()),
    };
    let unknown = "0192abcd-0000-7000-8000-00000000000f";
    for (caller, inviter, expected) in [
        (user(&ann.id), &*bob.id, FieldCode::UnknownReference),
        (user(&ann.id), unknown, FieldCode::UnknownReference),
        (
            crate::harness::admin(),
            unknown,
            FieldCode::UnknownReference,
        ),
        (crate::harness::admin(), "1", FieldCode::Format),
    ] {
        let refused = app.invites_as(&caller).create_invite(naming(inviter)).await;
        let refused = error(refused);
        assert_eq!(refused.fields[0].field, "inviterUserId", "{inviter}");
        assert_eq!(refused.fields[0].code, expected, "{inviter}");
    }
    let key = caller(Kind::Key, &ann.id, Role::User);
    let refused = app.invites_as(&key).create_invite(naming(&ann.id)).await;
    assert_eq!(code(refused), Code::Forbidden);
    assert_eq!(app.count("select count(*) from identity.invites").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_inviters_own_address_and_an_invalid_one_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    for email in ["ANN@x.com", "ann", ""] {
        let request = CreateInviteRequest {
            email: Some(email.to_owned()),
            ..invite_of(&ann)
        };
        let refused = error(app.invites().create_invite(request).await);
        assert_eq!(refused.code, Code::ValidationFailed, "{email}");
        assert_eq!(refused.fields[0].field, "email", "{email}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_and_a_cancellation_are_replayed_under_their_keys(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut invites = app.invites();
    let request = || keyed(CreateInviteRequest::default(), "k", "00");
    let created = invites.create_invite(request()).await.unwrap();
    let replayed = invites.create_invite(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    let invite = created.into_inner().invite.unwrap();
    assert_eq!(replayed.into_inner().invite.as_ref(), Some(&invite));

    let request = || keyed(cancel(&invite.code), "l", "00");
    let canceled = invites.cancel_invite(request()).await.unwrap();
    let replayed = invites.cancel_invite(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner(), canceled.into_inner());
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_a_pending_invite_is_canceled(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let canceled = create(&app, invite_of(&ann)).await;
    app.clock.advance(TimeDelta::seconds(1));
    let mut as_ann = app.invites_as(&user(&ann.id));
    let response = as_ann.cancel_invite(cancel(&canceled.code)).await.unwrap();
    let response = response.into_inner().invite.unwrap();
    assert_eq!(response.status(), InviteStatus::Canceled);
    assert_ne!(response.updated_at, canceled.updated_at);

    let accepted = create(&app, invite_of(&ann)).await;
    sign_up(&app, "bob@x.com", &accepted.code).await;
    let expired = create(&app, invite_of(&ann)).await;
    app.clock.advance(TimeDelta::days(30));
    for invite in [canceled, accepted, expired] {
        let before = read(&app, &invite.code).await;
        let refused = app.invites().cancel_invite(cancel(&invite.code)).await;
        assert_eq!(code(refused), Code::InvalidState);
        assert_eq!(read(&app, &invite.code).await, before);
    }
    let unknown = app.invites().cancel_invite(cancel(UNKNOWN)).await;
    assert_eq!(code(unknown), Code::InviteNotFound);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn every_change_of_an_invite_is_published(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let accepted = create(&app, invite_of(&ann)).await;
    let canceled = create(&app, invite_of(&ann)).await;
    sign_up(&app, "bob@x.com", &accepted.code).await;
    let request = cancel(&canceled.code);
    app.invites().cancel_invite(request).await.unwrap();
    for (code, second) in [
        (&accepted.code, "2 InviteAccepted"),
        (&canceled.code, "2 InviteCanceled"),
    ] {
        let id = app.id_of_invite(code).await;
        let events = app.events(&id).await;
        assert_eq!(published(&events), ["1 InviteCreated", second]);
    }
    app.finish().await;
}
