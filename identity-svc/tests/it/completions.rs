//! Completions of tasks: once for each user, rewarded, and listed.

use platform::{
    error::{Code, FieldCode},
    idempotency,
};
use prost::Message as _;
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    events::v1::TaskCompleted,
    identity::v1::{
        BlockUserRequest, ListTaskCompletionsRequest, ListTasksRequest, ListUserCompletionsRequest,
        Task, TaskCompletion,
    },
};
use sqlx::PgPool;
use tonic::Status;

use crate::{
    harness::{TestApp, code, error, keyed, user},
    races::{ROUNDS, one_of_many},
    task_calls::{
        Tasks, complete, completion_of, create, delete, disabled_task, get, list, new_task,
    },
};

async fn completions(app: &TestApp) -> i64 {
    app.count("select count(*) from identity.task_completions")
        .await
}

/// Lists a user's completions.
async fn of_user(
    mut tasks: Tasks,
    user_id: &str,
    list: ListRequest,
) -> Result<(Vec<TaskCompletion>, u64), Status> {
    let request = ListUserCompletionsRequest {
        user_id: user_id.to_owned(),
        list: Some(list),
    };
    let response = tasks.list_user_completions(request).await?.into_inner();
    Ok((response.completions, response.page.unwrap().total))
}

/// Lists a task's completions.
async fn of_task(
    mut tasks: Tasks,
    task: &Task,
    list: ListRequest,
) -> Result<(Vec<TaskCompletion>, u64), Status> {
    let request = ListTaskCompletionsRequest {
        task_id: task.id.clone(),
        list: Some(list),
    };
    let response = tasks.list_task_completions(request).await?.into_inner();
    Ok((response.completions, response.page.unwrap().total))
}

fn filter(field: &str, operator: Operator, value: &str) -> ListRequest {
    let filter = Filter {
        field: field.to_owned(),
        operator: operator.into(),
        values: vec![value.to_owned()],
    };
    ListRequest {
        filters: vec![filter],
        ..ListRequest::default()
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, Status>) -> Code {
    platform::error::Failure::from_status(&result.unwrap_err()).code
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
    for _ in 0..ROUNDS {
        let task = create(&app, new_task("Survey")).await;
        let complete = |_| {
            let (mut tasks, request) = (app.tasks(), completion_of(&task, &ann.id));
            async move { tasks.complete_task(request).await }
        };
        one_of_many(complete, Code::TaskAlreadyCompleted).await;
    }
    assert_eq!(completions(&app).await, 20);
    let published = "select count(*) from identity.outbox where event_type like '%TaskCompleted'";
    assert_eq!(app.count(published).await, 20);
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
async fn a_deleted_task_cannot_be_completed(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ann = app.create_user("ann@x.com").await;
    let task = create(&app, new_task("Survey")).await;
    delete(&app, &task).await;
    let refused = app
        .tasks()
        .complete_task(completion_of(&task, &ann.id))
        .await;
    assert_eq!(code(refused), Code::TaskNotFound);
    assert_eq!(completions(&app).await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn completions_are_listed_by_task_and_by_user(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let (ann, bob) = (
        app.create_user("ann@x.com").await,
        app.create_user("bob@x.com").await,
    );
    let (survey, visit) = (
        create(&app, new_task("Survey")).await,
        create(&app, new_task("Visit")).await,
    );
    let first = complete(&app, &survey, &ann.id).await;
    let second = complete(&app, &survey, &bob.id).await;
    let third = complete(&app, &visit, &ann.id).await;
    delete(&app, &visit).await;

    let all = ListRequest::default;
    let survey_list = of_task(app.tasks(), &survey, all()).await.unwrap();
    assert_eq!(survey_list, (vec![second.clone(), first.clone()], 2));
    let ann_list = of_user(app.tasks(), &ann.id, all()).await.unwrap();
    assert_eq!(ann_list, (vec![third.clone(), first.clone()], 2));
    assert_eq!(
        refusal(of_task(app.tasks(), &visit, all()).await),
        Code::TaskNotFound
    );

    let page = ListRequest {
        page_size: Some(1),
        page_number: Some(2),
        ..all()
    };
    let page = of_user(app.tasks(), &ann.id, page).await.unwrap();
    assert_eq!(page, (vec![first.clone()], 2));
    for (field, operator, value, expected) in [
        ("taskId", Operator::In, &*survey.id, 1),
        ("userId", Operator::Eq, &*bob.id, 0),
        ("amount", Operator::Gte, "1.5", 2),
        ("amount", Operator::Gt, "1.5", 0),
        ("createdAt", Operator::Lt, "2026-01-31T12:00:00Z", 0),
        ("transactionId", Operator::Eq, &*third.transaction_id, 1),
        ("assetCode", Operator::Eq, "USD", 2),
    ] {
        let list = filter(field, operator, value);
        let (found, total) = of_user(app.tasks(), &ann.id, list).await.unwrap();
        assert_eq!((found.len(), total), (expected, expected as u64), "{field}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_user_lists_only_its_own_completions(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let (ann, bob) = (
        app.create_user("ann@x.com").await,
        app.create_user("bob@x.com").await,
    );
    let task = create(&app, new_task("Survey")).await;
    let completion = complete(&app, &task, &ann.id).await;
    let all = ListRequest::default;
    let as_ann = || app.tasks_as(&user(&ann.id));
    let own = of_user(as_ann(), &ann.id, all()).await.unwrap();
    assert_eq!(own, (vec![completion], 1));
    assert_eq!(
        refusal(of_user(as_ann(), &bob.id, all()).await),
        Code::UserNotFound
    );
    assert_eq!(
        refusal(of_user(app.tasks(), &task.id, all()).await),
        Code::UserNotFound
    );
    assert_eq!(
        refusal(of_user(app.tasks(), "x", all()).await),
        Code::UserNotFound
    );
    assert_eq!(
        refusal(of_task(as_ann(), &task, all()).await),
        Code::Forbidden
    );
    app.finish().await;
}
