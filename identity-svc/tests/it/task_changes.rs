//! Changes of tasks: updates, deletion and moves in their order.

use futures::future::join_all;
use platform::{
    error::{Code, FieldCode},
    idempotency,
};
use proto::identity::v1::{
    CreateTaskRequest, DeleteTaskRequest, GetTaskRequest, ListTasksRequest, ReorderTaskRequest,
    ReorderTaskResponse, Task, TaskType, UpdateTaskRequest,
};
use sqlx::PgPool;
use tonic::{Response, Status};

use crate::{
    harness::{TestApp, code, error, keyed, user},
    task_calls::{create, delete, get, list, new_task, update_of},
};

const UNKNOWN: &str = "0192abcd-0000-7000-8000-000000000101";

async fn update(app: &TestApp, request: UpdateTaskRequest) -> Task {
    let updated = app.tasks().update_task(request).await.unwrap();
    updated.into_inner().task.unwrap()
}

async fn move_task(
    app: &TestApp,
    id: &str,
    next: Option<&str>,
) -> Result<Response<ReorderTaskResponse>, Status> {
    let request = ReorderTaskRequest {
        id: id.to_owned(),
        subsequent_id: next.map(str::to_owned),
    };
    app.tasks().reorder_task(request).await
}

/// Creates a task for each letter, and returns their ids.
async fn tasks(app: &TestApp, names: &str, order: Option<&str>) -> Vec<String> {
    let mut ids = Vec::new();
    for name in names.chars() {
        let new = CreateTaskRequest {
            order: order.map(str::to_owned),
            ..new_task(&name.to_string())
        };
        ids.push(create(app, new).await.id);
    }
    ids
}

/// Returns the names of the tasks in their order.
async fn names(app: &TestApp) -> String {
    let list = list(&mut app.tasks(), ListTasksRequest::default()).await;
    list.tasks.into_iter().map(|task| task.name).collect()
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_update_changes_the_fields_that_it_names(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let new = CreateTaskRequest {
        button_label: Some("Start".to_owned()),
        image: Some("a.png".to_owned()),
        ..new_task("Survey")
    };
    let task = create(&app, new).await;
    let mask = [
        "name",
        "type",
        "amount",
        "button_label",
        "survey_url",
        "image",
        "order",
        "enabled",
        "custom_data",
    ];
    let request = UpdateTaskRequest {
        name: Some("Visit".to_owned()),
        description: Some("not in the mask".to_owned()),
        r#type: Some(TaskType::System.into()),
        amount: Some("2.25".to_owned()),
        survey_url: Some("https://x.test/s".to_owned()),
        image: Some(String::new()),
        order: Some("7.5".to_owned()),
        enabled: Some(false),
        custom_data: Some(r#"{"n":1.10}"#.to_owned()),
        ..update_of(&task, &mask)
    };
    let updated = update(&app, request).await;
    let expected = Task {
        name: "Visit".to_owned(),
        r#type: TaskType::System.into(),
        amount: "2.25000000".to_owned(),
        button_label: None,
        survey_url: Some("https://x.test/s".to_owned()),
        image_url: None,
        order: "7.5".to_owned(),
        enabled: false,
        available: false,
        custom_data: r#"{"n":1.10}"#.to_owned(),
        // A change has a time of its own, though the clock stands still.
        updated_at: updated.updated_at,
        ..task
    };
    assert_eq!(updated, expected);
    assert_ne!(updated.updated_at, updated.created_at);
    assert_eq!(get(&mut app.tasks(), &updated).await, updated);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_empty_update_changes_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let task = create(&app, new_task("Survey")).await;
    assert_eq!(update(&app, update_of(&task, &[])).await, task);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn an_invalid_update_names_its_fields_and_changes_nothing(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let task = create(&app, new_task("Survey")).await;
    let request = UpdateTaskRequest {
        name: Some(" ".to_owned()),
        r#type: Some(99),
        amount: Some("0".to_owned()),
        survey_url: Some("javascript:alert(1)".to_owned()),
        ..update_of(
            &task,
            &[
                "name",
                "description",
                "type",
                "amount",
                "survey_url",
                "order",
                "enabled",
            ],
        )
    };
    let refused = error(app.tasks().update_task(request).await);
    assert_eq!(refused.code, Code::ValidationFailed);
    let mut fields: Vec<_> = refused.fields.iter().map(|field| &*field.field).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "amount",
            "description",
            "enabled",
            "name",
            "order",
            "surveyUrl",
            "type"
        ]
    );
    let too_precise = UpdateTaskRequest {
        amount: Some("1.001".to_owned()),
        ..update_of(&task, &["amount"])
    };
    let refused = error(app.tasks().update_task(too_precise).await);
    assert_eq!(refused.code, Code::AmountPrecision);
    assert_eq!(refused.fields[0].code, FieldCode::Precision);
    assert_eq!(get(&mut app.tasks(), &task).await, task);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_new_amount_is_in_the_asset_that_the_task_has(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let task = create(&app, new_task("Survey")).await;
    app.wallet.set_bonus_asset("points");
    let request = UpdateTaskRequest {
        amount: Some("2.25".to_owned()),
        ..update_of(&task, &["amount"])
    };
    let updated = update(&app, request).await;
    assert_eq!(
        (&*updated.amount, &*updated.asset_code),
        ("2.25000000", "usd")
    );
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_deleted_task_is_gone(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let (task, other) = (
        create(&app, new_task("Survey")).await,
        create(&app, new_task("Other")).await,
    );
    delete(&app, &task).await;
    let id = || task.id.clone();
    let mut tasks = app.tasks();
    let gone = [
        code(tasks.get_task(GetTaskRequest { id: id() }).await),
        code(tasks.delete_task(DeleteTaskRequest { id: id() }).await),
        code(tasks.update_task(update_of(&task, &[])).await),
        code(tasks.update_task(update_of(&task, &["enabled"])).await),
        code(move_task(&app, &task.id, None).await),
    ];
    // A mask without a value is refused before the task is read.
    let expected = [
        Code::TaskNotFound,
        Code::TaskNotFound,
        Code::TaskNotFound,
        Code::ValidationFailed,
        Code::TaskNotFound,
    ];
    assert_eq!(gone, expected);
    let seen = list(&mut app.tasks(), ListTasksRequest::default()).await;
    assert_eq!(seen.tasks, [other]);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn only_admins_change_tasks(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let task = create(&app, new_task("Survey")).await;
    let mut as_user = app.tasks_as(&user(UNKNOWN));
    let id = || task.id.clone();
    let reorder = ReorderTaskRequest {
        id: id(),
        subsequent_id: None,
    };
    for refused in [
        code(as_user.update_task(update_of(&task, &[])).await),
        code(as_user.delete_task(DeleteTaskRequest { id: id() }).await),
        code(as_user.reorder_task(reorder).await),
    ] {
        assert_eq!(refused, Code::Forbidden);
    }
    assert_eq!(get(&mut app.tasks(), &task).await, task);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_move_among_equal_ranks_makes_them_different(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ids = tasks(&app, "ABCDE", Some("1")).await;
    move_task(&app, &ids[4], Some(&ids[0])).await.unwrap();
    assert_eq!(names(&app).await, "EABCD");
    let ranks = "select count(distinct rank) from identity.tasks";
    assert_eq!(app.count(ranks).await, 5);
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_task_moves_right_before_another_or_to_the_end(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ids = tasks(&app, "ABCD", None).await;
    for (next, expected) in [
        (Some(&ids[3]), "BCAD"),
        (None, "BCDA"),
        (Some(&ids[0]), "BCDA"),
        (Some(&ids[1]), "ABCD"),
    ] {
        let next = next.map(String::as_str);
        move_task(&app, &ids[0], next).await.unwrap();
        assert_eq!(names(&app).await, expected, "{next:?}");
    }
    tasks(&app, "E", None).await;
    assert_eq!(names(&app).await, "ABCDE");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_move_names_existing_tasks(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ids = tasks(&app, "ABC", None).await;
    for id in [UNKNOWN, "x"] {
        assert_eq!(code(move_task(&app, id, None).await), Code::TaskNotFound);
    }
    let request = DeleteTaskRequest { id: ids[2].clone() };
    app.tasks().delete_task(request).await.unwrap();
    for (next, expected) in [
        (UNKNOWN, FieldCode::UnknownReference),
        (&*ids[2], FieldCode::UnknownReference),
        ("x", FieldCode::Format),
    ] {
        let refused = error(move_task(&app, &ids[0], Some(next)).await);
        assert_eq!(refused.code, Code::ValidationFailed);
        assert_eq!(refused.fields[0].field, "subsequentId");
        assert_eq!(refused.fields[0].code, expected, "{next}");
    }
    assert_eq!(names(&app).await, "AB");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_move_is_replayed_under_its_key(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ids = tasks(&app, "AB", None).await;
    let request = || {
        let message = ReorderTaskRequest {
            id: ids[0].clone(),
            subsequent_id: None,
        };
        keyed(message, "k", "00")
    };
    app.tasks().reorder_task(request()).await.unwrap();
    move_task(&app, &ids[1], None).await.unwrap();
    let replayed = app.tasks().reorder_task(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(names(&app).await, "AB");
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn concurrent_moves_keep_every_task_once(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let ids = tasks(&app, "ABCDEFGHIJ", Some("1")).await;
    let moves = (0..50).map(|n| {
        let (item, next) = (&ids[n * 7 % 10], &ids[(n * 3 + 1) % 10]);
        move_task(&app, item, (n % 5 != 0).then_some(next))
    });
    for moved in join_all(moves).await {
        moved.unwrap();
    }
    let mut letters: Vec<_> = names(&app).await.chars().collect();
    letters.sort_unstable();
    assert_eq!(letters.into_iter().collect::<String>(), "ABCDEFGHIJ");
    let ranks = "select count(distinct rank) from identity.tasks";
    assert_eq!(app.count(ranks).await, 10);
    app.finish().await;
}
