//! Many sign-ups at once. All of them find the invite and the email unused before the first hash is done;
//! those whose hash would come too late are turned away.

use futures::future::join_all;
use platform::error::Code;
use proto::identity::v1::{CreateInviteRequest, CreateUserRequest, InviteStatus, User};
use sqlx::PgPool;

use super::{create, read, with_code};
use crate::harness::{TestApp, code};

const AT_ONCE: usize = 50;

/// Runs the creations at once, of which one succeeds and the others are refused with this code, and
/// returns the user.
async fn race(app: &TestApp, creations: Vec<CreateUserRequest>, refusal: Code) -> User {
    assert_eq!(creations.len(), AT_ONCE);
    let racing = creations.into_iter().map(|creation| {
        let mut users = app.users();
        async move { users.create_user(creation).await }
    });
    let (mut created, refused): (Vec<_>, Vec<_>) =
        join_all(racing).await.into_iter().partition(Result::is_ok);
    let codes: Vec<_> = refused.into_iter().map(code).collect();
    let known = [refusal, Code::Unavailable, Code::Timeout];
    assert!(codes.iter().all(|code| known.contains(code)), "{codes:?}");
    assert!(codes.contains(&refusal), "{codes:?}");
    assert_eq!(created.len(), 1);
    assert_eq!(app.count("select count(*) from identity.users").await, 1);
    created.remove(0).unwrap().into_inner().user.unwrap()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_many_uses_of_one_invite_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invite = create(&app, CreateInviteRequest::default()).await;
    let creations = (0..AT_ONCE).map(|number| with_code(&format!("u{number}@x.com"), &invite.code));
    let user = race(&app, creations.collect(), Code::InviteInvalid).await;
    let accepted = read(&app, &invite.code).await;
    assert_eq!(accepted.status(), InviteStatus::Accepted);
    assert_eq!(accepted.invited_user_id, Some(user.id));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_many_creations_with_one_email_exactly_one_uses_its_invite(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invites = (0..AT_ONCE).map(|_| create(&app, CreateInviteRequest::default()));
    let invites = join_all(invites).await;
    let creations = invites
        .iter()
        .map(|invite| with_code("a@x.com", &invite.code));
    race(&app, creations.collect(), Code::EmailTaken).await;
    let pending = "select count(*) from identity.invites where state = 'pending'";
    assert_eq!(app.count(pending).await, 49);
    app.finish().await;
}
