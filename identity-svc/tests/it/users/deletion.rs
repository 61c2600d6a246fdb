//! Deleting users.

use futures::future::join_all;
use platform::{error::Code, testing};
use proto::identity::v1::{
    BatchGetUsersRequest, CreateInviteRequest, DeleteUserRequest, GetInviteRequest, InviteStatus,
    ListUsersRequest, User,
};
use sqlx::PgPool;

use super::{UNKNOWN, create, emails, get, with_code};
use crate::{
    fake_wallet::Fault,
    harness::{TIMEOUT, TestApp, code, published, user},
};

fn delete(id: &str) -> DeleteUserRequest {
    DeleteUserRequest { id: id.to_owned() }
}

async fn assert_gone(app: &TestApp, user: &User) {
    let read = app.users().get_user(get(&user.id)).await;
    assert_eq!(code(read), Code::UserNotFound);
    assert!(app.wallet.wallet(&user.primary_wallet_id).locked);
    let batch = BatchGetUsersRequest {
        ids: vec![user.id.clone(), UNKNOWN.to_owned()],
    };
    let batch = app.users().batch_get_users(batch).await.unwrap();
    let batch = batch.into_inner();
    assert_eq!(batch.users, []);
    assert_eq!(batch.deleted_ids, std::slice::from_ref(&user.id));
    let events = published(&app.events(&user.id).await);
    assert_eq!(events.last().unwrap(), "2 UserDeleted");
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_deleted_user_is_erased_and_the_email_is_free_again(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = create(&app, with_code("bob@x.com", &ann.referral_code)).await;
    app.users().delete_user(delete(&ann.id)).await.unwrap();
    assert_gone(&app, &ann).await;
    let personal = "select count(*) from identity.users u
        left join identity.credentials c on c.user_id = u.id
        where u.state = 'deleted' and c.user_id is null and u.custom_data = '{}'
            and num_nonnulls(u.email, u.canonical_email, u.name, u.phone, u.locale) = 0";
    assert_eq!(app.count(personal).await, 1);
    let revoked = "select count(*) from identity.revocations where subject_kind = 'user'";
    assert_eq!(app.count(revoked).await, 1);
    let entry = "select count(*) from identity.audit_log
        where action = 'user.deleted' and actor = 'key:admin'";
    assert_eq!(app.count(entry).await, 1);

    for _ in 0..2 {
        let again = app.create_user("Ann@x.com").await;
        assert_ne!(again.id, ann.id);
        app.users().delete_user(delete(&again.id)).await.unwrap();
    }
    let left = emails(&app, ListUsersRequest::default()).await;
    assert_eq!(left, ["bob@x.com"]);
    let referred = app.users().get_user(get(&bob.id)).await.unwrap();
    assert_eq!(referred.into_inner().user, Some(bob));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_deletes_itself_and_nobody_else(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    let mut as_ann = app.users_as(&user(&ann.id));
    let other = as_ann.delete_user(delete(&bob.id)).await;
    assert_eq!(code(other), Code::UserNotFound);
    as_ann.delete_user(delete(&ann.id)).await.unwrap();
    assert_gone(&app, &ann).await;
    for id in [&*ann.id, UNKNOWN, "1"] {
        let missing = app.users().delete_user(delete(id)).await;
        assert_eq!(code(missing), Code::UserNotFound, "{id}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_whose_wallets_hold_money_stays(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    app.wallet.set_fault(Some(Fault::Refused));
    let refused = app.users().delete_user(delete(&ann.id)).await;
    assert_eq!(code(refused), Code::InvalidState);
    let read = app.users().get_user(get(&ann.id)).await.unwrap();
    assert_eq!(read.into_inner().user.as_ref(), Some(&ann));
    assert_eq!(app.events(&ann.id).await.len(), 1);
    app.wallet.set_fault(None);
    app.users().delete_user(delete(&ann.id)).await.unwrap();
    assert_gone(&app, &ann).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_deletion_that_reached_no_wallet_is_finished_by_the_next_process(pool: PgPool) {
    assert_finished_by_the_next_process(TestApp::start(pool).await, Fault::Unavailable).await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_deletion_whose_wallets_were_closed_is_finished_by_the_next_process(pool: PgPool) {
    assert_finished_by_the_next_process(TestApp::start(pool).await, Fault::ResponseLost).await;
}

async fn assert_finished_by_the_next_process(mut app: TestApp, fault: Fault) {
    let ann = app.create_user("ann@x.com").await;
    app.wallet.set_fault(Some(fault));
    let unfinished = app.users().delete_user(delete(&ann.id)).await;
    assert_eq!(code(unfinished), Code::Unavailable);
    app.stop().await;
    app.wallet.set_fault(None);
    app.execute("update identity.user_deletions set due_at = now()")
        .await;
    app.start_process(&[]).await;
    testing::eventually("the user is deleted", TIMEOUT, async || {
        app.users().get_user(get(&ann.id)).await.is_err()
    })
    .await;
    assert_gone(&app, &ann).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn concurrent_deletions_are_one(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let deletions = (0..10).map(|_| {
        let (mut users, id) = (app.users(), ann.id.clone());
        async move { users.delete_user(delete(&id)).await }
    });
    let (deleted, refused): (Vec<_>, Vec<_>) = join_all(deletions)
        .await
        .into_iter()
        .partition(Result::is_ok);
    assert!(!deleted.is_empty());
    for refused in refused {
        assert_eq!(code(refused), Code::UserNotFound);
    }
    assert_gone(&app, &ann).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn codes_of_a_deleted_user_are_of_no_use(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let mut as_ann = app.invites_as(&user(&ann.id));
    let invite = as_ann.create_invite(CreateInviteRequest::default()).await;
    let invite = invite.unwrap().into_inner().invite.unwrap();
    app.users().delete_user(delete(&ann.id)).await.unwrap();

    let code_of_invite = invite.code.clone();
    let read = GetInviteRequest {
        code: code_of_invite,
    };
    let read = app.invites().get_invite(read).await.unwrap().into_inner();
    assert_eq!(read.invite.unwrap().status(), InviteStatus::Canceled);
    let id = app.id_of_invite(&invite.code).await;
    let events = published(&app.events(&id).await);
    assert_eq!(events, ["1 InviteCreated", "2 InviteCanceled"]);
    for shared in [&invite.code, &ann.referral_code] {
        let refused = app
            .users()
            .create_user(with_code("bob@x.com", shared))
            .await;
        assert_eq!(code(refused), Code::InviteInvalid);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_deleted_users_email_leaves_the_invite_that_brought_the_user(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invite = CreateInviteRequest {
        email: Some("ann@x.com".to_owned()),
        inviter_user_id: None,
    };
    let invite = app.invites().create_invite(invite).await.unwrap();
    let invite = invite.into_inner().invite.unwrap();
    let ann = create(&app, with_code("ann@x.com", &invite.code)).await;
    app.users().delete_user(delete(&ann.id)).await.unwrap();
    let code = invite.code;
    let read = app.invites().get_invite(GetInviteRequest { code }).await;
    let read = read.unwrap().into_inner().invite.unwrap();
    assert_eq!(read.invited_email, None);
    assert_eq!(read.invited_user_id, Some(ann.id));
    app.finish().await;
}
