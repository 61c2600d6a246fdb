//! Reading and listing users.

use platform::{
    auth::{Kind, Role},
    error::Code,
};
use proto::{
    common::v1::Operator,
    identity::v1::{
        BatchGetUsersRequest, CreateUserRequest, FindRecipientRequest, ListUsersRequest,
    },
};
use sqlx::PgPool;

use super::{UNKNOWN, block, create, emails, filter, get};
use crate::harness::{TestApp, caller, code, new_user, user};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_sees_only_itself(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    let mut as_ann = app.users_as(&user(&ann.id));
    let itself = as_ann.get_user(get(&ann.id)).await.unwrap();
    assert_eq!(itself.into_inner().user.as_ref(), Some(&ann));
    let other = as_ann.get_user(get(&bob.id)).await;
    assert_eq!(code(other), Code::UserNotFound);

    let both = BatchGetUsersRequest {
        ids: vec![ann.id.clone(), bob.id.clone()],
    };
    let batch = as_ann.batch_get_users(both.clone()).await.unwrap();
    assert_eq!(batch.into_inner().users, std::slice::from_ref(&ann));
    let list = as_ann.list_users(ListUsersRequest::default()).await;
    let list = list.unwrap().into_inner();
    assert_eq!(list.users, [ann]);
    assert_eq!(list.page.unwrap().total, 1);

    let batch = app.users().batch_get_users(both).await.unwrap();
    assert_eq!(batch.into_inner().users.len(), 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn money_is_for_the_wallet_of_a_user_who_is_not_blocked(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("Ann@x.com").await;
    let bob = app.create_user("bob@x.com").await;
    block(&app, &bob.id).await;
    let mut users = app.users_as(&caller(Kind::Service, "wallet-svc", Role::Admin));
    for (email, wallet) in [
        ("ann@x.com", Some(&ann.primary_wallet_id)),
        (" ANN@X.com ", Some(&ann.primary_wallet_id)),
        ("bob@x.com", None),
        ("eve@x.com", None),
        ("%@x.com", None),
        ("", None),
    ] {
        let request = FindRecipientRequest {
            email: email.to_owned(),
        };
        let found = users.find_recipient(request).await.unwrap().into_inner();
        assert_eq!(found.wallet_id.as_ref(), wallet, "{email}");
    }
    let request = FindRecipientRequest {
        email: "bob@x.com".to_owned(),
    };
    let refused = app.users().find_recipient(request).await;
    assert_eq!(code(refused), Code::Forbidden);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_api_key_without_the_admin_role_sees_no_users(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let mut as_key = app.users_as(&caller(Kind::Key, &ann.id, Role::User));
    let refused = as_key.get_user(get(&ann.id)).await;
    assert_eq!(code(refused), Code::Forbidden);
    let refused = as_key.list_users(ListUsersRequest::default()).await;
    assert_eq!(code(refused), Code::Forbidden);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_batch_has_valid_ids_and_at_most_1000(pool: PgPool) {
    let app = TestApp::start(pool).await;
    for (ids, expected) in [
        (vec!["1".to_owned()], Err(Code::ValidationFailed)),
        (vec![UNKNOWN.to_owned(); 1001], Err(Code::ValidationFailed)),
        (vec![UNKNOWN.to_owned(); 1000], Ok(vec![])),
    ] {
        let mut users = app.users();
        let batch = users.batch_get_users(BatchGetUsersRequest { ids }).await;
        let users = match batch {
            Ok(batch) => Ok(batch.into_inner().users),
            refused => Err(code(refused)),
        };
        assert_eq!(users, expected);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn users_are_listed_newest_first_and_filtered_by_the_contracts_fields(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let named = |email: &str, name: &str, role: &str| CreateUserRequest {
        name: Some(name.to_owned()),
        roles: vec![role.to_owned()],
        verified: role == "admin",
        ..new_user(email)
    };
    create(&app, named("Ann@X.com", "Ann Émile", "admin")).await;
    create(&app, named("bob@x.com", "Bob", "user")).await;
    for (field, operator, value) in [
        ("email", Operator::Eq, "ann@x.COM"),
        ("role", Operator::Eq, "admin"),
        ("verified", Operator::Eq, "true"),
        ("name", Operator::Eq, "Émi"),
        ("name", Operator::Ilike, "%émile"),
    ] {
        let found = emails(&app, filter(field, operator, value)).await;
        assert_eq!(found, ["Ann@x.com"], "{field}");
    }
    let all = emails(&app, ListUsersRequest::default()).await;
    assert_eq!(all, ["bob@x.com", "Ann@x.com"]);

    let mut users = app.users();
    let unknown = users.list_users(filter("password", Operator::Eq, "x"));
    assert_eq!(code(unknown.await), Code::InvalidQuery);
    app.finish().await;
}
