//! Reading and listing invites.

use chrono::TimeDelta;
use platform::error::Code;
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    identity::v1::{CreateInviteRequest, InviteStatus, ListInvitesRequest},
};
use sqlx::PgPool;

use super::{UNKNOWN, cancel, create, get, invite_of, list, read, sign_up};
use crate::harness::{TestApp, code, user};

fn filter(field: &str, operator: Operator, values: &[&str]) -> ListInvitesRequest {
    let filter = Filter {
        field: field.to_owned(),
        operator: operator.into(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    ListInvitesRequest {
        list: Some(ListRequest {
            filters: vec![filter],
            ..ListRequest::default()
        }),
    }
}

async fn codes(app: &TestApp, field: &str, operator: Operator, values: &[&str]) -> Vec<String> {
    let invites = list(app, filter(field, operator, values)).await;
    invites.into_iter().map(|invite| invite.code).collect()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_sees_only_its_own_invites(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    let of_ann = create(&app, invite_of(&ann)).await;
    let of_bob = create(&app, invite_of(&bob)).await;
    let of_nobody = create(&app, CreateInviteRequest::default()).await;
    let mut as_ann = app.invites_as(&user(&ann.id));
    let own = as_ann.get_invite(get(&of_ann.code)).await.unwrap();
    assert_eq!(own.into_inner().invite.as_ref(), Some(&of_ann));
    for other in [&of_bob.code, &of_nobody.code, UNKNOWN, ""] {
        let hidden = as_ann.get_invite(get(other)).await;
        assert_eq!(code(hidden), Code::InviteNotFound, "{other}");
        let hidden = as_ann.cancel_invite(cancel(other)).await;
        assert_eq!(code(hidden), Code::InviteNotFound, "{other}");
    }
    let listed = as_ann.list_invites(ListInvitesRequest::default()).await;
    assert_eq!(listed.unwrap().into_inner().invites, [of_ann]);
    assert_eq!(list(&app, ListInvitesRequest::default()).await.len(), 3);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn the_status_follows_the_clock_in_reads_and_filters(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invite = create(&app, CreateInviteRequest::default()).await;
    for (advance, status, name) in [
        (TimeDelta::zero(), InviteStatus::Pending, "pending"),
        (TimeDelta::days(30), InviteStatus::Expired, "expired"),
    ] {
        app.clock.advance(advance);
        assert_eq!(read(&app, &invite.code).await.status(), status);
        for other in ["pending", "expired", "accepted", "canceled"] {
            let found = codes(&app, "status", Operator::Eq, &[other]).await;
            assert_eq!(found.len(), usize::from(other == name), "{other}");
            let found = codes(&app, "status", Operator::Nin, &[other]).await;
            assert_eq!(found.len(), usize::from(other != name), "not {other}");
        }
        let found = codes(&app, "status", Operator::In, &["accepted", name]).await;
        assert_eq!(found.len(), 1);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn invites_are_filtered_by_the_contracts_fields(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let for_bob = CreateInviteRequest {
        email: Some("Bob@x.com".to_owned()),
        ..invite_of(&ann)
    };
    let invite = create(&app, for_bob).await;
    app.clock.advance(TimeDelta::seconds(1));
    create(&app, CreateInviteRequest::default()).await;
    let bob = sign_up(&app, "bob@x.com", &invite.code).await;
    for (field, operator, value) in [
        ("code", Operator::Eq, &*invite.code),
        ("invitedEmail", Operator::Eq, "BOB@x.com"),
        ("invitedUserId", Operator::Eq, &bob.id),
        ("inviterUserId", Operator::In, &ann.id),
        ("status", Operator::Eq, "accepted"),
        ("expiredAt", Operator::Lte, "2026-03-02T12:00:00Z"),
    ] {
        let found = codes(&app, field, operator, &[value]).await;
        assert_eq!(found, [&*invite.code], "{field}");
    }
    let all = codes(&app, "type", Operator::Eq, &["invite"]).await;
    assert_eq!(all.len(), 2);
    assert_eq!(all[1], invite.code, "newest first");
    let mut invites = app.invites();
    let unknown = invites.list_invites(filter("url", Operator::Eq, &["x"]));
    assert_eq!(code(unknown.await), Code::InvalidQuery);
    app.finish().await;
}
