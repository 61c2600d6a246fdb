//! Tasks: creation, lists and visibility.

use platform::{
    error::{Code, FieldCode},
    idempotency,
};
use proto::{
    common::v1::{ListRequest, Sort},
    identity::v1::{CreateTaskRequest, GetTaskRequest, ListTasksRequest, TaskType},
};
use sqlx::PgPool;

use crate::{
    harness::{TestApp, code, error, keyed, user},
    task_calls::{create, disabled_task, get, list, new_task},
};

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_created_task_is_returned_and_read(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let new = CreateTaskRequest {
        button_label: Some("Start".to_owned()),
        survey_url: Some("https://example.com/s".to_owned()),
        image: Some("tasks/a.png".to_owned()),
        thumbnail: Some("https://example.com/a.png".to_owned()),
        featured: true,
        custom_data: Some(r#"{"n":1.10}"#.to_owned()),
        ..new_task("Survey")
    };
    let created = create(&app, new).await;
    insta::assert_debug_snapshot!(created, @r#"
    Task {
        id: "018bcfe5-6801-7eeb-8da1-658eec670000",
        name: "Survey",
        description: "Ten questions",
        r#type: Survey,
        amount: "1.50000000",
        asset_code: "usd",
        button_label: Some(
            "Start",
        ),
        survey_url: Some(
            "https://example.com/s",
        ),
        image_url: Some(
            "http://127.0.0.1:8080/media/tasks/a.png",
        ),
        thumbnail_url: Some(
            "https://example.com/a.png",
        ),
        order: "1",
        enabled: true,
        featured: true,
        available: true,
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
    assert_eq!(get(&mut app.tasks(), &created).await, created);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_reward_is_in_the_bonus_asset_if_one_is_set(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.wallet.set_bonus_asset("points");
    let fraction = error(app.tasks().create_task(new_task("Survey")).await);
    assert_eq!(fraction.code, Code::AmountPrecision);
    assert_eq!(fraction.fields[0].field, "amount");
    assert_eq!(fraction.fields[0].code, FieldCode::Precision);

    let whole = CreateTaskRequest {
        amount: "3.00".to_owned(),
        ..new_task("Survey")
    };
    let task = create(&app, whole).await;
    assert_eq!(task.amount, "3.00000000");
    assert_eq!(task.asset_code, "points");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invalid_task_is_not_created(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let mut tasks = app.tasks();
    let with_amount = |amount: &str| CreateTaskRequest {
        amount: amount.to_owned(),
        ..new_task("Survey")
    };
    for amount in ["", "0", "-1", "1e3", "01", "1.123456789"] {
        let refused = tasks.create_task(with_amount(amount)).await;
        assert_eq!(code(refused), Code::ValidationFailed, "{amount}");
    }
    let too_precise = tasks.create_task(with_amount("1.001")).await;
    assert_eq!(code(too_precise), Code::AmountPrecision);

    let nameless = tasks.create_task(new_task("")).await;
    assert_eq!(code(nameless), Code::ValidationFailed);
    let typeless = CreateTaskRequest {
        r#type: TaskType::Unspecified.into(),
        ..new_task("Survey")
    };
    let refused = tasks.create_task(typeless).await;
    assert_eq!(code(refused), Code::ValidationFailed);

    let mut user = app.tasks_as(&user("u"));
    let forbidden = user.create_task(new_task("Survey")).await;
    assert_eq!(code(forbidden), Code::Forbidden);
    assert_eq!(app.count("select count(*) from identity.tasks").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_task_without_order_is_created_last(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let at = |order: &str, name: &str| CreateTaskRequest {
        order: Some(order.to_owned()),
        ..new_task(name)
    };
    create(&app, new_task("first")).await;
    create(&app, at("10.50", "ten")).await;
    assert_eq!(create(&app, new_task("last")).await.order, "11");
    create(&app, at("1.5", "between")).await;
    let list = list(&mut app.tasks(), ListTasksRequest::default()).await;
    let names: Vec<_> = list.tasks.iter().map(|task| &*task.name).collect();
    assert_eq!(names, ["first", "between", "ten", "last"]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn tasks_are_sorted_by_every_field_of_the_contract(pool: PgPool) {
    let app = TestApp::start(pool).await;
    create(&app, new_task("a")).await;
    create(&app, new_task("b")).await;
    for field in [
        "amount",
        "createdAt",
        "enabled",
        "featured",
        "name",
        "order",
        "type",
    ] {
        let sort = Sort {
            field: field.to_owned(),
            descending: true,
        };
        let request = ListTasksRequest {
            list: Some(ListRequest {
                sort: vec![sort],
                ..ListRequest::default()
            }),
        };
        let list = list(&mut app.tasks(), request).await;
        assert_eq!(list.tasks.len(), 2, "{field}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn users_see_only_enabled_tasks(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    let disabled = create(&app, disabled_task("Later")).await;
    assert!(!disabled.available);
    let mut as_ann = app.tasks_as(&user(&ann.id));
    let id = disabled.id;
    let hidden = as_ann.get_task(GetTaskRequest { id }).await;
    assert_eq!(code(hidden), Code::TaskNotFound);
    let seen = list(&mut as_ann, ListTasksRequest::default()).await;
    assert_eq!(seen.tasks, [task]);
    assert_eq!(seen.page.unwrap().total, 1);
    let all = list(&mut app.tasks(), ListTasksRequest::default()).await;
    assert_eq!(all.tasks.len(), 2);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_creation_is_replayed_without_the_asset_of_rewards(pool: PgPool) {
    let mut app = TestApp::start(pool).await;
    let request = || keyed(new_task("Survey"), "k", "00");
    let created = app.tasks().create_task(request()).await.unwrap();
    app.stop().await;
    app.wallet.set_bonus_asset("unknown");
    app.start_process(&[]).await;
    assert!(app.tasks().create_task(new_task("Survey")).await.is_err());
    let replayed = app.tasks().create_task(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner(), created.into_inner());
    app.finish().await;
}
