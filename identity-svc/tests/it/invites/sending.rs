//! Sending invites.

use platform::{error::Code, idempotency};
use proto::identity::v1::{ListInvitesRequest, SendInvitesRequest};
use sqlx::PgPool;

use super::list;
use crate::harness::{TestApp, error, keyed, user};

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
