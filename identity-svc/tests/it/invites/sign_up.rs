//! Signing up with an invite.

use chrono::TimeDelta;
use platform::error::Code;
use proto::identity::v1::{BlockUserRequest, CreateInviteRequest, CreateUserRequest, InviteStatus};
use sqlx::PgPool;

use super::{UNKNOWN, cancel, create, invite_of, read, refusal, sign_up, validate, with_code};
use crate::{
    fake_wallet::Fault,
    harness::{TestApp, code},
};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invite_is_accepted_with_the_user_it_brings(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let invite = create(&app, invite_of(&ann)).await;
    let bob = sign_up(&app, "bob@x.com", &invite.code.to_lowercase()).await;
    assert_eq!(bob.referral_user_id.as_ref(), Some(&ann.id));
    let accepted = read(&app, &invite.code).await;
    assert_eq!(accepted.status(), InviteStatus::Accepted);
    assert_eq!(accepted.invited_user_id, Some(bob.id));
    let again = refusal(&app, "eve@x.com", &invite.code).await;
    assert_eq!(again, "the invite was used");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invite_of_nobody_brings_a_user_without_referrer(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invite = create(&app, CreateInviteRequest::default()).await;
    let bob = sign_up(&app, "bob@x.com", &invite.code).await;
    assert_eq!(bob.referral_user_id, None);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_unusable_code_is_refused_and_makes_no_user(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let canceled = create(&app, invite_of(&ann)).await;
    let request = cancel(&canceled.code);
    app.invites().cancel_invite(request).await.unwrap();
    let expired = create(&app, invite_of(&ann)).await;
    app.clock.advance(TimeDelta::days(30));
    for (invite, reason) in [
        (&*canceled.code, "the invite was canceled"),
        (&expired.code, "the invite has expired"),
        (UNKNOWN, "no invite and no user has this code"),
        ("", "no invite and no user has this code"),
        ("x", "no invite and no user has this code"),
    ] {
        assert_eq!(refusal(&app, "bob@x.com", invite).await, reason);
    }
    assert_eq!(app.count("select count(*) from identity.users").await, 1);
    app.create_user("bob@x.com").await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invite_for_an_email_is_for_no_other(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invite = CreateInviteRequest {
        email: Some("Bob@X.com".to_owned()),
        inviter_user_id: None,
    };
    let invite = create(&app, invite).await;
    let other = refusal(&app, "eve@x.com", &invite.code).await;
    assert_eq!(other, "the invite is for another email");
    assert_eq!(read(&app, &invite.code).await, invite);
    sign_up(&app, "BOB@x.com", &invite.code).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn codes_of_a_blocked_user_are_refused_until_the_block_ends(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let invite = create(&app, invite_of(&ann)).await;
    let id = || ann.id.clone();
    let block = BlockUserRequest { id: id() };
    app.users().block_user(block).await.unwrap();
    for shared in [&invite.code, &ann.referral_code] {
        let reason = refusal(&app, "bob@x.com", shared).await;
        assert_eq!(reason, "the user who shared the code is blocked or deleted");
    }
    let unblock = proto::identity::v1::UnblockUserRequest { id: id() };
    app.users().unblock_user(unblock).await.unwrap();
    sign_up(&app, "bob@x.com", &invite.code).await;
    sign_up(&app, "eve@x.com", &ann.referral_code).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_refused_creation_leaves_the_invite_as_it_was(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.create_user("taken@x.com").await;
    let wallet = "b0000000-0000-7000-8000-000000000001";
    app.wallet.add_wallet(wallet, Some(UNKNOWN));
    let invite = create(&app, CreateInviteRequest::default()).await;
    let request = |email: &str| with_code(email, &invite.code);
    let with_wallet = |wallet: &str| CreateUserRequest {
        primary_wallet_id: Some(wallet.to_owned()),
        ..request("bob@x.com")
    };
    let weak = CreateUserRequest {
        password: "weak".to_owned(),
        ..request("bob@x.com")
    };
    for (refused, expected) in [
        (weak, Code::ValidationFailed),
        (request("taken@x.com"), Code::EmailTaken),
        (with_wallet(wallet), Code::PrimaryWalletIdTaken),
        (
            with_wallet("b0000000-0000-7000-8000-000000000002"),
            Code::ValidationFailed,
        ),
    ] {
        for _ in 0..2 {
            let response = app.users().create_user(refused.clone()).await;
            assert_eq!(code(response), expected);
            assert_eq!(read(&app, &invite.code).await, invite);
            assert_eq!(validate(&app, &invite.code).await.fault, 0);
        }
    }
    sign_up(&app, "bob@x.com", &invite.code).await;
    assert_eq!(app.count("select count(*) from identity.users").await, 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invite_in_use_is_kept_for_the_sign_up_that_began_first(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invite = create(&app, CreateInviteRequest::default()).await;
    app.wallet.set_fault(Some(Fault::Unavailable));
    let unfinished = app
        .users()
        .create_user(with_code("bob@x.com", &invite.code))
        .await;
    assert_eq!(code(unfinished), Code::Unavailable);
    assert_eq!(read(&app, &invite.code).await, invite);
    let reason = refusal(&app, "eve@x.com", &invite.code).await;
    assert_eq!(reason, "the invite is in use by another sign-up");
    let canceled = app.invites().cancel_invite(cancel(&invite.code)).await;
    assert_eq!(code(canceled), Code::InvalidState);

    app.wallet.set_fault(None);
    platform::testing::eventually(
        "the invite is accepted",
        crate::harness::TIMEOUT,
        async || read(&app, &invite.code).await.status() == InviteStatus::Accepted,
    )
    .await;
    app.finish().await;
}
