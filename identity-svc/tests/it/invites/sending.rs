//! Sending invites.

use platform::{error::Code, idempotency};
use proto::identity::v1::{ListInvitesRequest, SendInvitesRequest};
use sqlx::PgPool;
use tonic::Request;

use super::list;
use crate::harness::{TIMEOUT, TestApp, admin, error, keyed, user};

fn send(emails: &[&str]) -> SendInvitesRequest {
    SendInvitesRequest {
        emails: emails.iter().map(|email| (*email).to_owned()).collect(),
        inviter_user_id: None,
    }
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn each_address_gets_one_invite(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let mut as_ann = app.invites_as(&user(&ann.id));
    let request = || keyed(send(&["a@x.com", "A@X.com ", "b@x.com"]), "k", "00");
    as_ann.send_invites(request()).await.unwrap();
    let replayed = as_ann.send_invites(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));

    let invites = list(&app, ListInvitesRequest::default()).await;
    let mut emails: Vec<_> = invites
        .iter()
        .map(|invite| invite.invited_email().to_owned())
        .collect();
    emails.sort();
    assert_eq!(emails, ["a@x.com", "b@x.com"]);
    for invite in &invites {
        assert_eq!(invite.inviter_user_id.as_ref(), Some(&ann.id));
    }
    let mails = "select count(*) from identity.mails m join identity.invites i
                 on i.code = m.code and i.invited_email = m.recipient
                 where m.kind = 'invite' and m.user_id = i.inviter_user_id";
    assert_eq!(app.count(mails).await, 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn one_bad_address_sends_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let mut as_ann = app.invites_as(&user(&ann.id));
    for (emails, field) in [
        (&["a@x.com", "b@x.com", "Ann@X.com"][..], "email[2]"),
        (&["a@x.com", "b"], "email[1]"),
        (&["ann@x.com"], "email"),
        (&[], "email"),
        (&["a@x.com"; 101], "email"),
    ] {
        let refused = error(as_ann.send_invites(send(emails)).await);
        assert_eq!(refused.code, Code::ValidationFailed, "{field}");
        assert_eq!(refused.fields[0].field, field);
    }
    assert_eq!(list(&app, ListInvitesRequest::default()).await, []);
    assert_eq!(app.count("select count(*) from identity.mails").await, 0);
    app.finish().await;
}

/// Stores mails of invites in the name of Ann, which are as old as this.
async fn store_mails(app: &TestApp, count: i32, age: &str) {
    sqlx::query(
        "insert into identity.mails (kind, recipient, user_id, sent_at, created_at)
         select 'invite', number || '@x.com', id, now(), now() - $2::interval
         from identity.users, generate_series(1, $1) number
         where email = 'ann@x.com'",
    )
    .bind(count)
    .bind(age)
    .execute(&app.pool)
    .await
    .unwrap();
}

async fn invite_mails(app: &TestApp) -> i64 {
    let mails = "select count(*) from identity.mails where kind = 'invite'";
    app.count(mails).await
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_sends_a_hundred_invites_an_hour(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    store_mails(&app, 200, "61 minutes").await;
    store_mails(&app, 60, "50 minutes").await;
    store_mails(&app, 38, "1 minute").await;
    let mut as_ann = app.invites_as(&user(&ann.id));
    for (emails, minutes) in [
        (&["a@x.com", "b@x.com", "c@x.com"][..], 9..=10),
        (&["a@x.com", "b@x.com"], 0..=0),
        (&["d@x.com"], 9..=10),
    ] {
        let sent = as_ann.send_invites(send(emails)).await;
        if minutes == (0..=0) {
            sent.unwrap();
            continue;
        }
        let refused = error(sent);
        assert_eq!(refused.code, Code::RateLimited);
        assert!(refused.detail.contains("100 invites an hour"));
        let wait = refused.retry_after.unwrap().as_secs();
        assert!(minutes.contains(&(wait / 60)), "{wait}");
    }
    let mut as_bob = app.invites_as(&user(&bob.id));
    as_bob.send_invites(send(&["a@x.com"])).await.unwrap();
    assert_eq!(invite_mails(&app).await, 301);
    assert_eq!(list(&app, ListInvitesRequest::default()).await.len(), 3);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn admins_send_any_number_of_invites(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    store_mails(&app, 100, "1 minute").await;
    let in_her_name = SendInvitesRequest {
        inviter_user_id: Some(ann.id.clone()),
        ..send(&["a@x.com"])
    };
    let mut as_admin = app.invites_as(&admin());
    as_admin.send_invites(in_her_name.clone()).await.unwrap();
    let mut as_ann = app.invites_as(&user(&ann.id));
    let refused = error(as_ann.send_invites(in_her_name).await);
    assert_eq!(refused.code, Code::RateLimited);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn parallel_requests_of_a_user_share_its_hundred_invites(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    store_mails(&app, 93, "1 minute").await;
    let requests = (0..8).map(|_| {
        let mut as_ann = app.invites_as(&user(&ann.id));
        let mut request = Request::new(send(&["a@x.com", "b@x.com"]));
        // The answer matters, not its time.
        request.set_timeout(TIMEOUT);
        async move { as_ann.send_invites(request).await }
    });
    let results = futures::future::join_all(requests).await;
    let (sent, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    assert_eq!((sent.len(), refused.len()), (3, 5));
    for refused in refused {
        assert_eq!(error(refused).code, Code::RateLimited);
    }
    assert_eq!(invite_mails(&app).await, 99);
    app.finish().await;
}
