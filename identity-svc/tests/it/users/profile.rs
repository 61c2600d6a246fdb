//! Changing the profile and the password of users.

use chrono::TimeDelta;
use platform::{
    error::{Code, FieldCode},
    grpc::precondition::{IF_VERSION, Versions},
    idempotency,
};
use prost_types::FieldMask;
use proto::identity::v1::{ChangePasswordRequest, UpdateUserRequest, User};
use sqlx::PgPool;
use tonic::IntoRequest as _;

use super::{UNKNOWN, get};
use crate::harness::{TestApp, code, error, keyed, published, user};

fn patch(id: &str, paths: &[&str]) -> UpdateUserRequest {
    UpdateUserRequest {
        id: id.to_owned(),
        name: Some("Ann".to_owned()),
        locale: Some("de".to_owned()),
        custom_data: Some(r#"{"n":1.10}"#.to_owned()),
        update_mask: Some(FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
    }
}

fn password(id: &str, password: &str) -> ChangePasswordRequest {
    ChangePasswordRequest {
        id: id.to_owned(),
        password: password.to_owned(),
    }
}

async fn update(app: &TestApp, request: UpdateUserRequest) -> User {
    let updated = app.users().update_user(request).await.unwrap();
    updated.into_inner().user.unwrap()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_and_an_admin_change_the_profile(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    app.clock.advance(TimeDelta::seconds(1));
    let all = patch(&ann.id, &["name", "locale", "custom_data"]);
    let mut as_ann = app.users_as(&user(&ann.id));
    let changed = as_ann.update_user(all).await.unwrap().into_inner().user;
    let expected = User {
        name: Some("Ann".to_owned()),
        locale: Some("de".to_owned()),
        custom_data: r#"{"n":1.10}"#.to_owned(),
        updated_at: changed.as_ref().unwrap().updated_at,
        version: ann.version + 1,
        ..ann.clone()
    };
    assert_eq!(changed.as_ref(), Some(&expected));
    assert_ne!(expected.updated_at, ann.updated_at);

    let unnamed = UpdateUserRequest {
        name: None,
        ..patch(&ann.id, &["name"])
    };
    assert_eq!(update(&app, unnamed).await.name, None);
    let read = app.users().get_user(get(&ann.id)).await.unwrap();
    assert_eq!(read.into_inner().user.unwrap().locale, expected.locale);
    let events = app.events(&ann.id).await;
    let names = ["1 UserCreated", "2 UserUpdated", "3 UserUpdated"];
    assert_eq!(published(&events), names);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_patch_without_a_change_keeps_the_time_and_publishes_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let changed = update(&app, patch(&ann.id, &["name"])).await;
    app.clock.advance(TimeDelta::seconds(1));
    for paths in [&[][..], &["name"]] {
        assert_eq!(update(&app, patch(&ann.id, paths)).await, changed);
    }
    assert_eq!(app.events(&ann.id).await.len(), 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn invalid_fields_of_a_patch_are_named(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let invalid = UpdateUserRequest {
        name: Some("x".repeat(256)),
        custom_data: None,
        ..patch(&ann.id, &["name", "custom_data", "roles"])
    };
    let refused = error(app.users().update_user(invalid).await);
    let fields = refused.fields.iter();
    let fields: Vec<_> = fields.map(|field| (&*field.field, field.code)).collect();
    assert_eq!(
        fields,
        [
            ("name", FieldCode::Length),
            ("customData", FieldCode::Required),
            ("roles", FieldCode::UnknownField),
        ]
    );
    let unchanged = app.users().get_user(get(&ann.id)).await.unwrap();
    assert_eq!(unchanged.into_inner().user, Some(ann));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_password_is_replaced(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let hash = "select password_hash from identity.credentials";
    let before: String = sqlx::query_scalar(hash).fetch_one(&app.pool).await.unwrap();
    // The change ends the token that it came with.
    let mut as_ann = app.users_as(&user(&ann.id));
    let by_ann = as_ann.change_password(password(&ann.id, "Hijklmn2")).await;
    assert!(by_ann.is_ok());
    let after: String = sqlx::query_scalar(hash).fetch_one(&app.pool).await.unwrap();
    assert_ne!(before, after);

    let request = || keyed(password(&ann.id, "Ijklmno3"), "k", "00");
    let mut admin = app.users();
    let changed = admin.change_password(request()).await.unwrap();
    assert!(!idempotency::is_replay(changed.metadata()));
    let replayed = admin.change_password(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    let revoked = "select min_version::bigint from identity.revocations";
    assert_eq!(app.count(revoked).await, 2);
    let events = app.events(&ann.id).await;
    let names = [
        "1 UserCreated",
        "2 UserPasswordChanged",
        "3 UserPasswordChanged",
    ];
    assert_eq!(published(&events), names);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_weak_password_is_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    for (text, expected) in [
        ("", FieldCode::Required),
        ("Abc1", FieldCode::Length),
        ("abcdefg1", FieldCode::Format),
    ] {
        let refused = app.users().change_password(password(&ann.id, text)).await;
        let refused = error(refused);
        assert_eq!(refused.fields[0].field, "password", "{text}");
        assert_eq!(refused.fields[0].code, expected, "{text}");
    }
    assert_eq!(app.events(&ann.id).await.len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn others_find_no_user_to_change(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    for (mut users, id) in [
        (app.users_as(&user(&bob.id)), &*ann.id),
        (app.users(), UNKNOWN),
        (app.users(), "1"),
    ] {
        let patched = users.update_user(patch(id, &["name"])).await;
        assert_eq!(code(patched), Code::UserNotFound, "{id}");
        let changed = users.change_password(password(id, "Hijklmn2")).await;
        assert_eq!(code(changed), Code::UserNotFound, "{id}");
    }
    assert_eq!(app.events(&ann.id).await.len(), 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_change_for_another_version_is_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let only = |version: i64| {
        let mut request = patch(&ann.id, &["name"]).into_request();
        let versions = Versions::new(vec![version]).unwrap();
        let metadata = request.metadata_mut();
        metadata.insert(IF_VERSION, versions.metadata());
        request
    };
    let mut users = app.users_as(&user(&ann.id));
    let changed = users.update_user(only(ann.version)).await.unwrap();
    let changed = changed.into_inner().user.unwrap();
    assert_eq!(changed.version, ann.version + 1);
    let stale = users.update_user(only(ann.version)).await;
    assert_eq!(code(stale), Code::PreconditionFailed);
    users.update_user(only(changed.version)).await.unwrap();
    app.finish().await;
}
