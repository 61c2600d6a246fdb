//! Users: creation, reads, lists, and state changes.

use futures::future::join_all;
use platform::{
    auth::{Kind, Role},
    error::Code,
    idempotency,
};
use prost::Message as _;
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    events::v1::{UserBlocked, UserCreated},
    identity::v1::{
        ApproveUserRequest, BatchGetUsersRequest, BlockUserRequest, CreateUserRequest,
        GetUserRequest, ListUsersRequest, UnblockUserRequest, User,
    },
};
use sqlx::PgPool;
use tokio::task::JoinSet;
use tonic::IntoRequest;

use crate::harness::{Event, TestApp, caller, code, error, keyed, new_user, user};

const UNKNOWN: &str = "0192abcd-0000-7000-8000-00000000000f";

fn get(id: &str) -> GetUserRequest {
    GetUserRequest { id: id.to_owned() }
}

fn filter(field: &str, operator: Operator, value: &str) -> ListUsersRequest {
    let filter = Filter {
        field: field.to_owned(),
        operator: operator.into(),
        values: vec![value.to_owned()],
    };
    ListUsersRequest {
        list: Some(ListRequest {
            filters: vec![filter],
            ..ListRequest::default()
        }),
    }
}

async fn create(app: &TestApp, new: CreateUserRequest) -> User {
    let created = app.users().create_user(new).await.unwrap();
    created.into_inner().user.unwrap()
}

async fn approve(app: &TestApp, request: impl IntoRequest<ApproveUserRequest>) -> User {
    let approved = app.users().approve_user(request).await.unwrap();
    approved.into_inner().user.unwrap()
}

async fn block(app: &TestApp, id: &str) -> User {
    let request = BlockUserRequest { id: id.to_owned() };
    let blocked = app.users().block_user(request).await.unwrap();
    blocked.into_inner().user.unwrap()
}

async fn unblock(app: &TestApp, id: &str) -> User {
    let request = UnblockUserRequest { id: id.to_owned() };
    let unblocked = app.users().unblock_user(request).await.unwrap();
    unblocked.into_inner().user.unwrap()
}

/// The emails in a list.
async fn emails(app: &TestApp, request: ListUsersRequest) -> Vec<String> {
    let list = app.users().list_users(request).await.unwrap().into_inner();
    assert_eq!(list.page.unwrap().total, list.users.len() as u64);
    list.users.into_iter().map(|user| user.email).collect()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_created_user_has_a_wallet(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let new = CreateUserRequest {
        email: " Ann.B+x@Bücher.example ".to_owned(),
        name: Some("Ann".to_owned()),
        locale: Some("de".to_owned()),
        approved: true,
        custom_data: Some(r#"{"n":1.10}"#.to_owned()),
        ..new_user("")
    };
    let created = create(&app, new).await;
    insta::assert_debug_snapshot!(created, @r#"
    User {
        id: "018bcfe5-6800-710a-adec-89025cc10000",
        email: "Ann.B+x@xn--bcher-kva.example",
        name: Some(
            "Ann",
        ),
        phone: None,
        locale: Some(
            "de",
        ),
        roles: [
            "user",
        ],
        approved: true,
        blocked: false,
        verified: false,
        primary_wallet_id: "a0000000-0000-7000-8000-000000000000",
        referral_code: "R73VXRJ5MD",
        referral_user_id: None,
        custom_data: "{\"n\":1.10}",
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
    let wallet = app.wallet.wallet(&created.primary_wallet_id);
    assert_eq!(wallet.name.as_deref(), Some("Ann wallet"));
    assert_eq!(wallet.owner_id.as_ref(), Some(&created.id));

    let read = app.users().get_user(get(&created.id.to_uppercase())).await;
    assert_eq!(read.unwrap().into_inner().user, Some(created));
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_is_published_with_its_flags(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let new = CreateUserRequest {
        approved: true,
        ..new_user("ann@x.com")
    };
    let created = create(&app, new).await;
    let events = app.events(&created.id).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].name, "UserCreated");
    assert_eq!(events[0].version, 1);
    insta::assert_debug_snapshot!(UserCreated::decode(&*events[0].body).unwrap(), @r#"
    UserCreated {
        user_id: "018bcfe5-6800-710a-adec-89025cc10000",
        version: 1,
        primary_wallet_id: "a0000000-0000-7000-8000-000000000000",
        referral_user_id: "",
        approved: true,
        blocked: false,
        verified: false,
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invalid_user_is_not_created_and_every_invalid_field_is_named(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let invalid = CreateUserRequest {
        email: "a@x.com\u{200b}".to_owned(),
        password: "abcdefg1".to_owned(),
        roles: vec!["emperor".to_owned()],
        primary_wallet_id: Some("w".to_owned()),
        ..CreateUserRequest::default()
    };
    let refused = error(app.users().create_user(invalid).await);
    assert_eq!(refused.code, Code::ValidationFailed);
    insta::assert_debug_snapshot!(refused.fields, @r#"
    [
        FieldError {
            field: "email",
            code: Format,
            message: "must be an email address",
        },
        FieldError {
            field: "password",
            code: Format,
            message: "must contain a capital letter (A-Z), a lower-case letter (a-z) and a digit (0-9)",
        },
        FieldError {
            field: "primaryWalletId",
            code: Format,
            message: "must be a UUID of 36 characters",
        },
        FieldError {
            field: "roles",
            code: Enum,
            message: "must be of: admin, user",
        },
    ]
    "#);
    assert_eq!(app.count("select count(*) from identity.users").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn emails_are_unique_in_any_case(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.create_user("A@Example.com").await;
    for same in ["a@example.com", " A@EXAMPLE.COM\n"] {
        let refused = app.users().create_user(new_user(same)).await;
        assert_eq!(code(refused), Code::EmailTaken, "{same}");
    }
    app.create_user("bob+1@example.com").await;
    app.create_user("bob+2@example.com").await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_concurrent_creations_with_one_email_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let racing = (0..20).map(|_| {
        let mut users = app.users();
        async move { users.create_user(new_user("race@x.com")).await }
    });
    let (created, refused): (Vec<_>, Vec<_>) =
        join_all(racing).await.into_iter().partition(Result::is_ok);
    assert_eq!(created.len(), 1);
    for refused in refused {
        assert_eq!(code(refused), Code::EmailTaken);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_referral_code_in_any_case_sets_the_referrer(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let with_code = |email: &str, code: &str| CreateUserRequest {
        code: Some(code.to_owned()),
        ..new_user(email)
    };
    let code_of_ann = ann.referral_code.to_lowercase();
    let bob = create(&app, with_code("bob@x.com", &code_of_ann)).await;
    assert_eq!(bob.referral_user_id.as_ref(), Some(&ann.id));
    let referred = emails(&app, filter("referralUserId", Operator::Eq, &ann.id)).await;
    assert_eq!(referred, ["bob@x.com"]);

    let unknown = with_code("eve@x.com", "R000000000");
    let refused = app.users().create_user(unknown).await;
    assert_eq!(code(refused), Code::InviteInvalid);
    app.create_user("eve@x.com").await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_is_replayed_under_its_key(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut users = app.users();
    let request = || keyed(new_user("a@x.com"), "k", "00");
    let created = users.create_user(request()).await.unwrap();
    assert!(!idempotency::is_replay(created.metadata()));
    let replayed = users.create_user(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner(), created.into_inner());
    let other_body = keyed(new_user("b@x.com"), "k", "01");
    let refused = users.create_user(other_body).await;
    assert_eq!(code(refused), Code::IdempotencyKeyReused);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_refusal_is_not_recorded_under_its_key(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.create_user("a@x.com").await;
    let mut users = app.users();
    let taken = keyed(new_user("a@x.com"), "k", "00");
    assert_eq!(code(users.create_user(taken).await), Code::EmailTaken);
    let free = keyed(new_user("b@x.com"), "k", "01");
    assert!(users.create_user(free).await.is_ok());
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn each_change_of_state_is_one_event_and_a_repeat_is_none(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.create_user("a@x.com").await.id;
    app.clock.advance(chrono::TimeDelta::seconds(1));
    let request = || ApproveUserRequest { id: id.clone() };
    let approved = approve(&app, request()).await;
    assert!(approved.approved);
    assert_ne!(approved.updated_at, approved.created_at);
    assert_eq!(approve(&app, request()).await, approved);
    for _ in 0..2 {
        assert!(block(&app, &id).await.blocked);
    }
    for _ in 0..2 {
        assert!(!unblock(&app, &id).await.blocked);
    }

    let events = app.events(&id).await;
    let published: Vec<_> = events
        .iter()
        .map(|Event { name, version, .. }| format!("{version} {name}"))
        .collect();
    assert_eq!(
        published,
        [
            "1 UserCreated",
            "2 UserApproved",
            "3 UserBlocked",
            "4 UserUnblocked",
        ]
    );
    let body = UserBlocked::decode(&*events[2].body).unwrap();
    assert_eq!(
        body,
        UserBlocked {
            user_id: id,
            version: 3,
        }
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_replay_returns_the_user_as_it_was(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.create_user("a@x.com").await.id;
    let request = || keyed(ApproveUserRequest { id: id.clone() }, "k", "00");
    let approved = approve(&app, request()).await;
    block(&app, &id).await;
    let replayed = app.users().approve_user(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner().user, Some(approved));
    app.finish().await;
}

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
async fn only_admins_create_and_change_users(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let mut as_ann = app.users_as(&user(&ann.id));
    let id = || ann.id.clone();
    let refusals = [
        code(as_ann.create_user(new_user("c@x.com")).await),
        code(as_ann.approve_user(ApproveUserRequest { id: id() }).await),
        code(as_ann.block_user(BlockUserRequest { id: id() }).await),
        code(as_ann.unblock_user(UnblockUserRequest { id: id() }).await),
    ];
    assert_eq!(refusals, [Code::Forbidden; 4]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_api_key_without_the_admin_role_sees_no_users(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let mut as_key = app.users_as(&caller(Kind::Key, &ann.id, Role::User));
    let hidden = as_key.get_user(get(&ann.id)).await;
    assert_eq!(code(hidden), Code::UserNotFound);
    let refused = as_key.list_users(ListUsersRequest::default()).await;
    assert_eq!(code(refused), Code::Forbidden);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn unknown_and_malformed_ids_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut users = app.users();
    for id in ["", "1", UNKNOWN] {
        let read = error(users.get_user(get(id)).await);
        assert_eq!(read.to_string(), "user_not_found: user not found", "{id}");
        let request = ApproveUserRequest { id: id.to_owned() };
        let approved = users.approve_user(request).await;
        assert_eq!(code(approved), Code::UserNotFound, "{id}");
    }
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

/// More sign-ups than may wait for their hash.
const RUSH: usize = 120;

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_rush_is_refused_early_and_replays_and_taken_emails_cost_no_hash(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let request = || keyed(new_user("a@x.com"), "k", "00");
    let created = app.users().create_user(request()).await.unwrap();
    let mut rush: JoinSet<_> = (0..RUSH)
        .map(|number| {
            let mut users = app.users();
            async move {
                users
                    .create_user(new_user(&format!("u{number}@x.com")))
                    .await
            }
        })
        .collect();
    // The first response is a refusal: no hash is as fast.
    let first = rush.join_next().await.unwrap().unwrap();
    assert_eq!(code(first), Code::Unavailable);
    let replayed = app.users().create_user(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner(), created.into_inner());
    let taken = app.users().create_user(new_user("A@x.com")).await;
    assert_eq!(code(taken), Code::EmailTaken);
    let (mut made, mut unknown) = (1, 0);
    while let Some(response) = rush.join_next().await {
        match response.unwrap() {
            Ok(_) => made += 1,
            refused => match code(refused) {
                Code::Unavailable => {}
                code => {
                    assert_eq!(code, Code::Timeout);
                    unknown += 1;
                }
            },
        }
    }
    // Nobody who was refused is a user.
    let users = app.count("select count(*) from identity.users").await;
    assert!(
        (made..=made + unknown).contains(&users),
        "{users} users, {made} made"
    );
    app.finish().await;
}
