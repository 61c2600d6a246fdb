//! Tasks: creation, visibility, and completions.

use futures::future::join_all;
use platform::grpc::client::Client;
use platform::{
    error::{Code, FieldCode},
    idempotency,
};
use prost::Message as _;
use proto::{
    common::v1::{ListRequest, Sort},
    events::v1::TaskCompleted,
    identity::v1::{
        BlockUserRequest, CompleteTaskRequest, CreateTaskRequest, GetTaskRequest, ListTasksRequest,
        ListTasksResponse, Task, TaskCompletion, TaskType, task_service_client::TaskServiceClient,
    },
};
use sqlx::PgPool;

use crate::harness::{TestApp, code, error, keyed, user};

type Tasks = TaskServiceClient<Client>;

fn new_task(name: &str) -> CreateTaskRequest {
    CreateTaskRequest {
        name: name.to_owned(),
        description: "Ten questions".to_owned(),
        r#type: TaskType::Survey.into(),
        amount: "1.50".to_owned(),
        ..CreateTaskRequest::default()
    }
}

fn disabled_task(name: &str) -> CreateTaskRequest {
    CreateTaskRequest {
        enabled: Some(false),
        ..new_task(name)
    }
}

async fn create(app: &TestApp, new: CreateTaskRequest) -> Task {
    let created = app.tasks().create_task(new).await.unwrap();
    created.into_inner().task.unwrap()
}

async fn get(tasks: &mut Tasks, task: &Task) -> Task {
    let id = task.id.clone();
    let response = tasks.get_task(GetTaskRequest { id }).await.unwrap();
    response.into_inner().task.unwrap()
}

async fn list(tasks: &mut Tasks, request: ListTasksRequest) -> ListTasksResponse {
    tasks.list_tasks(request).await.unwrap().into_inner()
}

fn completion_of(task: &Task, user_id: &str) -> CompleteTaskRequest {
    CompleteTaskRequest {
        id: task.id.clone(),
        user_id: user_id.to_owned(),
    }
}

async fn complete(app: &TestApp, task: &Task, user_id: &str) -> TaskCompletion {
    let request = completion_of(task, user_id);
    let response = app.tasks().complete_task(request).await.unwrap();
    response.into_inner().completion.unwrap()
}

async fn completions(app: &TestApp) -> i64 {
    app.count("select count(*) from identity.task_completions")
        .await
}

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
async fn a_completion_is_returned_and_published(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    let completion = complete(&app, &task, &ann.id).await;
    insta::assert_debug_snapshot!(completion, @r#"
    TaskCompletion {
        id: "018bcfe5-6805-734d-8bff-901502800000",
        task_id: "018bcfe5-6804-71bb-94d8-d101b5b90000",
        user_id: "018bcfe5-6800-710a-adec-89025cc10000",
        amount: "1.50000000",
        asset_code: "usd",
        transaction_id: "018bcfe5-6806-7099-ac6c-d7363ca50000",
        created_at: Some(
            Timestamp {
                seconds: 1769860800,
                nanos: 0,
            },
        ),
    }
    "#);
    let events = app.events(&completion.id).await;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].name, "TaskCompleted");
    assert_eq!(events[0].version, 1);
    insta::assert_debug_snapshot!(TaskCompleted::decode(&*events[0].body).unwrap(), @r#"
    TaskCompleted {
        completion_id: "018bcfe5-6805-734d-8bff-901502800000",
        version: 1,
        task_id: "018bcfe5-6804-71bb-94d8-d101b5b90000",
        user_id: "018bcfe5-6800-710a-adec-89025cc10000",
        wallet_id: "a0000000-0000-7000-8000-000000000000",
        amount: "1.50000000",
        asset_code: "usd",
        transaction_id: "018bcfe5-6806-7099-ac6c-d7363ca50000",
    }
    "#);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_completion_is_replayed_under_its_key_and_refused_without(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    let mut tasks = app.tasks();
    let request = || keyed(completion_of(&task, &ann.id), "k", "00");
    let completed = tasks.complete_task(request()).await.unwrap();
    assert!(!idempotency::is_replay(completed.metadata()));
    let replayed = tasks.complete_task(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner(), completed.into_inner());

    let again = tasks.complete_task(completion_of(&task, &ann.id)).await;
    assert_eq!(code(again), Code::TaskAlreadyCompleted);
    let bob = app.create_user("bob@x.com").await;
    complete(&app, &task, &bob.id).await;
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_concurrent_completions_exactly_one_succeeds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    let racing = (0..50).map(|_| {
        let (mut tasks, request) = (app.tasks(), completion_of(&task, &ann.id));
        async move { tasks.complete_task(request).await }
    });
    let (completed, refused): (Vec<_>, Vec<_>) =
        join_all(racing).await.into_iter().partition(Result::is_ok);
    assert_eq!(completed.len(), 1);
    assert_eq!(refused.len(), 49);
    for refused in refused {
        assert_eq!(code(refused), Code::TaskAlreadyCompleted);
    }
    assert_eq!(completions(&app).await, 1);
    let published = "select count(*) from identity.outbox where event_type like '%TaskCompleted'";
    assert_eq!(app.count(published).await, 1);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn disabled_and_unknown_tasks_cannot_be_completed(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let disabled = create(&app, disabled_task("Later")).await;
    let unknown = Task {
        id: ann.id.clone(),
        ..Task::default()
    };
    for (task, expected) in [
        (disabled, Code::InvalidState),
        (unknown, Code::TaskNotFound),
    ] {
        let request = completion_of(&task, &ann.id);
        let refused = app.tasks().complete_task(request).await;
        assert_eq!(code(refused), expected);
    }
    assert_eq!(completions(&app).await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn unknown_and_blocked_users_cannot_complete_a_task(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    let mut tasks = app.tasks();
    for (user_id, expected) in [
        ("", FieldCode::Required),
        ("1", FieldCode::Format),
        (&*task.id, FieldCode::UnknownReference),
    ] {
        let refused = error(tasks.complete_task(completion_of(&task, user_id)).await);
        assert_eq!(refused.code, Code::ValidationFailed);
        assert_eq!(refused.fields[0].field, "userId");
        assert_eq!(refused.fields[0].code, expected, "{user_id}");
    }
    let block = BlockUserRequest { id: ann.id.clone() };
    app.users().block_user(block).await.unwrap();
    let blocked = tasks.complete_task(completion_of(&task, &ann.id)).await;
    assert_eq!(code(blocked), Code::InvalidState);
    assert_eq!(completions(&app).await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn users_cannot_complete_tasks_themselves(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    let mut as_ann = app.tasks_as(&user(&ann.id));
    let refused = as_ann.complete_task(completion_of(&task, &ann.id)).await;
    assert_eq!(code(refused), Code::Forbidden);
    assert_eq!(completions(&app).await, 0);
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
async fn a_completed_task_is_unavailable_to_its_user_only(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    complete(&app, &task, &ann.id).await;
    for (mut tasks, available) in [(app.tasks_as(&user(&ann.id)), false), (app.tasks(), true)] {
        assert_eq!(get(&mut tasks, &task).await.available, available);
        let list = list(&mut tasks, ListTasksRequest::default()).await;
        assert_eq!(list.tasks[0].available, available);
    }
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
