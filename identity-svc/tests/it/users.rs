//! Users: creation and its refusals, reads, actions.

use platform::{
    auth::{Kind, Role},
    error::{Code, FieldCode},
    idempotency,
};
use prost::Message as _;
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    events::v1::{UserBlocked, UserCreated},
    identity::v1::{
        ApproveUserRequest, BatchGetUsersRequest, BlockUserRequest, CreateUserRequest,
        GetUserRequest, ListUsersRequest, UnblockUserRequest,
    },
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, caller, code, keyed, new_user, refusal, user};

fn get(id: &str) -> GetUserRequest {
    GetUserRequest { id: id.to_owned() }
}

fn filter(field: &str, operator: Operator, value: &str) -> ListUsersRequest {
    let filter = Filter {
        field: field.to_owned(),
        operator: operator.into(),
        values: vec![value.to_owned()],
    };
    let list = Some(ListRequest {
        filters: vec![filter],
        ..ListRequest::default()
    });
    ListUsersRequest { list }
}

/// The emails in this list.
async fn emails(bed: &Bed, request: ListUsersRequest) -> Vec<String> {
    let page = bed.users().list_users(request).await.unwrap().into_inner();
    assert_eq!(page.page.unwrap().total, page.users.len() as u64);
    page.users.into_iter().map(|user| user.email).collect()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_has_its_wallet_when_the_answer_comes(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let new = CreateUserRequest {
        email: " Ann.B+x@Bücher.example ".to_owned(),
        name: Some("Ann".to_owned()),
        locale: Some("de".to_owned()),
        approved: true,
        custom_data: Some(r#"{"n":1.10}"#.to_owned()),
        ..new_user("")
    };
    let created = bed.users().create_user(new).await.unwrap();
    let created = created.into_inner().user.unwrap();
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

    let read = bed.users().get_user(get(&created.id.to_uppercase())).await;
    assert_eq!(read.unwrap().into_inner().user.as_ref(), Some(&created));
    let wallet = bed.wallet.wallet(&created.primary_wallet_id);
    assert_eq!(wallet.name.as_deref(), Some("Ann wallet"));
    assert_eq!(wallet.owner_id, Some(created.id.clone()));
    let [(event, version, body)] = &bed.events(&created.id).await[..] else {
        panic!()
    };
    assert_eq!((&**event, *version), ("UserCreated", 1));
    insta::assert_debug_snapshot!(UserCreated::decode(&**body).unwrap(), @r#"
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
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn every_field_at_fault_is_named_and_nothing_is_made(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let refused = refusal(
        bed.users()
            .create_user(CreateUserRequest {
                email: "a@x.com\u{200b}".to_owned(),
                password: "abcdefg1".to_owned(),
                roles: vec!["emperor".to_owned()],
                primary_wallet_id: Some("w".to_owned()),
                ..CreateUserRequest::default()
            })
            .await,
    );
    let faults: Vec<_> = refused
        .fields
        .iter()
        .map(|at| (&*at.field, at.code))
        .collect();
    assert_eq!(refused.code, Code::ValidationFailed);
    assert_eq!(
        faults,
        [
            ("email", FieldCode::Format),
            ("password", FieldCode::Format),
            ("primaryWalletId", FieldCode::Format),
            ("roles", FieldCode::Enum),
        ]
    );
    assert_eq!(bed.count("select count(*) from identity.users").await, 0);
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_email_in_another_case_is_taken_and_found(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    bed.user("A@Example.com").await;
    for same in ["a@example.com", " A@EXAMPLE.COM\n"] {
        assert_eq!(
            code(bed.users().create_user(new_user(same)).await),
            Code::EmailTaken
        );
    }
    bed.user("bob+1@example.com").await;
    bed.user("bob+2@example.com").await;
    let found = emails(&bed, filter("email", Operator::Eq, "a@EXAMPLE.COM")).await;
    assert_eq!(found, ["A@example.com"]);
    let racing = (0..20).map(|_| {
        let mut users = bed.users();
        async move { users.create_user(new_user("race@x.com")).await.is_ok() }
    });
    let won = futures::future::join_all(racing).await;
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_referral_code_leads_to_its_user(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let ann = bed.user("ann@x.com").await;
    let with = |email: &str, code: &str| CreateUserRequest {
        code: Some(code.to_owned()),
        ..new_user(email)
    };
    let lower = ann.referral_code.to_lowercase();
    let bob = bed
        .users()
        .create_user(with("bob@x.com", &lower))
        .await
        .unwrap();
    assert_eq!(
        bob.into_inner().user.unwrap().referral_user_id,
        Some(ann.id.clone())
    );
    let found = emails(&bed, filter("referralUserId", Operator::Eq, &ann.id)).await;
    assert_eq!(found, ["bob@x.com"]);

    let refused = bed
        .users()
        .create_user(with("eve@x.com", "R000000000"))
        .await;
    assert_eq!(code(refused), Code::InviteInvalid);
    bed.user("eve@x.com").await;
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_key_replays_what_it_made(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut users = bed.users();
    let first = users
        .create_user(keyed(new_user("a@x.com"), "k", "00"))
        .await
        .unwrap();
    assert!(!idempotency::is_replay(first.metadata()));
    let again = users
        .create_user(keyed(new_user("a@x.com"), "k", "00"))
        .await
        .unwrap();
    assert!(idempotency::is_replay(again.metadata()));
    assert_eq!(first.into_inner(), again.into_inner());
    let other = users
        .create_user(keyed(new_user("b@x.com"), "k", "01"))
        .await;
    assert_eq!(code(other), Code::IdempotencyKeyReused);
    let taken = users
        .create_user(keyed(new_user("a@x.com"), "l", "00"))
        .await;
    assert_eq!(code(taken), Code::EmailTaken);
    // A refusal left no record: the key is judged afresh.
    assert!(
        users
            .create_user(keyed(new_user("b@x.com"), "l", "01"))
            .await
            .is_ok()
    );
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn actions_are_idempotent_and_each_change_is_one_event(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let id = bed.user("a@x.com").await.id;
    bed.clock.advance(chrono::TimeDelta::seconds(1));
    let mut users = bed.users();
    let approve = || ApproveUserRequest { id: id.clone() };
    let approved = users
        .approve_user(keyed(approve(), "k", "00"))
        .await
        .unwrap();
    let approved = approved.into_inner().user.unwrap();
    assert!(approved.approved && approved.updated_at != approved.created_at);
    assert_eq!(
        users
            .approve_user(approve())
            .await
            .unwrap()
            .into_inner()
            .user,
        Some(approved.clone())
    );
    for _ in 0..2 {
        let blocked = users
            .block_user(BlockUserRequest { id: id.clone() })
            .await
            .unwrap();
        assert!(blocked.into_inner().user.unwrap().blocked);
    }
    for _ in 0..2 {
        let free = users
            .unblock_user(UnblockUserRequest { id: id.clone() })
            .await
            .unwrap();
        assert!(!free.into_inner().user.unwrap().blocked);
    }
    // The first answer, although the user has changed since.
    let replayed = users
        .approve_user(keyed(approve(), "k", "00"))
        .await
        .unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner().user, Some(approved));

    let events = bed.events(&id).await;
    let names: Vec<_> = events
        .iter()
        .map(|(name, version, _)| (&**name, *version))
        .collect();
    assert_eq!(
        names,
        [
            ("UserCreated", 1),
            ("UserApproved", 2),
            ("UserBlocked", 3),
            ("UserUnblocked", 4),
        ]
    );
    let blocked = UserBlocked::decode(&*events[2].2).unwrap();
    assert_eq!((blocked.user_id, blocked.version), (id, 3));
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_sees_itself_only(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (ann, bob) = (bed.user("ann@x.com").await, bed.user("bob@x.com").await);
    let mut as_ann = bed.users_as(&user(&ann.id));
    assert!(as_ann.get_user(get(&ann.id)).await.is_ok());
    assert_eq!(
        code(as_ann.get_user(get(&bob.id)).await),
        Code::UserNotFound
    );
    let ids = vec![ann.id.clone(), bob.id.clone()];
    let batch = as_ann
        .batch_get_users(BatchGetUsersRequest { ids: ids.clone() })
        .await
        .unwrap();
    assert_eq!(batch.into_inner().users, std::slice::from_ref(&ann));
    let list = as_ann
        .list_users(ListUsersRequest::default())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (list.users, list.page.unwrap().total),
        (vec![ann.clone()], 1)
    );

    assert_eq!(
        code(as_ann.create_user(new_user("c@x.com")).await),
        Code::Forbidden
    );
    let approve = ApproveUserRequest { id: ann.id.clone() };
    assert_eq!(code(as_ann.approve_user(approve).await), Code::Forbidden);
    let block = BlockUserRequest { id: bob.id.clone() };
    assert_eq!(code(as_ann.block_user(block).await), Code::Forbidden);
    let unblock = UnblockUserRequest { id: ann.id.clone() };
    assert_eq!(code(as_ann.unblock_user(unblock).await), Code::Forbidden);
    let mut key = bed.users_as(&caller(Kind::Key, &ann.id, Role::User));
    assert_eq!(code(key.get_user(get(&ann.id)).await), Code::UserNotFound);
    assert_eq!(
        code(key.list_users(ListUsersRequest::default()).await),
        Code::Forbidden
    );

    let batch = bed
        .users()
        .batch_get_users(BatchGetUsersRequest { ids })
        .await
        .unwrap();
    assert_eq!(batch.into_inner().users.len(), 2);
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn unknown_users_are_not_found(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut users = bed.users();
    for id in ["", "1", "0192abcd-0000-7000-8000-00000000000f"] {
        assert_eq!(code(users.get_user(get(id)).await), Code::UserNotFound);
        let approve = ApproveUserRequest { id: id.to_owned() };
        assert_eq!(code(users.approve_user(approve).await), Code::UserNotFound);
    }
    let bad = BatchGetUsersRequest {
        ids: vec!["1".to_owned()],
    };
    assert_eq!(
        code(users.batch_get_users(bad).await),
        Code::ValidationFailed
    );
    let many = BatchGetUsersRequest {
        ids: vec!["0192abcd-0000-7000-8000-00000000000f".to_owned(); 1001],
    };
    assert_eq!(
        code(users.batch_get_users(many).await),
        Code::ValidationFailed
    );
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn lists_filter_by_what_the_contract_names(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let named = |email: &str, name: &str, role: &str| CreateUserRequest {
        name: Some(name.to_owned()),
        roles: vec![role.to_owned()],
        verified: role == "admin",
        ..new_user(email)
    };
    let mut users = bed.users();
    users
        .create_user(named("ann@x.com", "Ann Émile", "admin"))
        .await
        .unwrap();
    users
        .create_user(named("bob@x.com", "Bob", "user"))
        .await
        .unwrap();
    let bob = emails(&bed, filter("role", Operator::Eq, "user")).await;
    assert_eq!(bob, ["bob@x.com"]);
    for (field, operator, value) in [
        ("role", Operator::Eq, "admin"),
        ("verified", Operator::Eq, "true"),
        ("name", Operator::Eq, "Émi"),
        ("name", Operator::Ilike, "%émile"),
    ] {
        let found = emails(&bed, filter(field, operator, value)).await;
        assert_eq!(found, ["ann@x.com"], "{field}");
    }
    let all = emails(&bed, ListUsersRequest::default()).await;
    assert_eq!(all, ["bob@x.com", "ann@x.com"], "newest first");
    let unknown = users
        .list_users(filter("password", Operator::Eq, "x"))
        .await;
    assert_eq!(code(unknown), Code::InvalidQuery);
    bed.end().await;
}
