//! Tasks: creation, who sees which, and completing one exactly once.

use futures::future::join_all;
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
        Task, TaskType,
    },
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, code, keyed, refusal, user};

fn new_task(name: &str) -> CreateTaskRequest {
    CreateTaskRequest {
        name: name.to_owned(),
        description: "Answer ten questions".to_owned(),
        r#type: TaskType::Survey.into(),
        amount: "1.50".to_owned(),
        ..CreateTaskRequest::default()
    }
}

async fn create(bed: &Bed, new: CreateTaskRequest) -> Task {
    bed.tasks()
        .create_task(new)
        .await
        .unwrap()
        .into_inner()
        .task
        .unwrap()
}

fn complete(task: &Task, user_id: &str) -> CompleteTaskRequest {
    CompleteTaskRequest {
        id: task.id.clone(),
        user_id: user_id.to_owned(),
    }
}

fn get(task: &Task) -> GetTaskRequest {
    GetTaskRequest {
        id: task.id.clone(),
    }
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_task_is_rewarded_in_the_default_asset(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let created = create(
        &bed,
        CreateTaskRequest {
            button_label: Some("Start".to_owned()),
            survey_url: Some("https://example.com/s".to_owned()),
            image: Some("tasks/a.png".to_owned()),
            thumbnail: Some("https://example.com/a.png".to_owned()),
            featured: true,
            custom_data: Some(r#"{"n":1.10}"#.to_owned()),
            ..new_task("Survey")
        },
    )
    .await;
    insta::assert_debug_snapshot!(created, @r#"
    Task {
        id: "018bcfe5-6801-7eeb-8da1-658eec670000",
        name: "Survey",
        description: "Answer ten questions",
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
    let read = bed
        .tasks()
        .get_task(get(&created))
        .await
        .unwrap()
        .into_inner();
    assert_eq!(read.task, Some(created));
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_task_is_rewarded_in_the_bonus_asset_where_one_is_set(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    bed.wallet.pays_in("points");
    let refused = refusal(bed.tasks().create_task(new_task("Survey")).await);
    assert_eq!(refused.code, Code::AmountPrecision);
    assert_eq!(
        (&*refused.fields[0].field, refused.fields[0].code),
        ("amount", FieldCode::Precision)
    );
    let whole = CreateTaskRequest {
        amount: "3.00".to_owned(),
        ..new_task("Survey")
    };
    let task = create(&bed, whole).await;
    assert_eq!((&*task.amount, &*task.asset_code), ("3.00000000", "points"));
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn refused_tasks_are_not_made(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let mut tasks = bed.tasks();
    for amount in ["", "0", "-1", "1e3", "01", "1.123456789"] {
        let bad = CreateTaskRequest {
            amount: amount.to_owned(),
            ..new_task("Survey")
        };
        assert_eq!(
            code(tasks.create_task(bad).await),
            Code::ValidationFailed,
            "{amount}"
        );
    }
    let fine = CreateTaskRequest {
        amount: "1.001".to_owned(),
        ..new_task("Survey")
    };
    assert_eq!(code(tasks.create_task(fine).await), Code::AmountPrecision);
    assert_eq!(
        code(tasks.create_task(new_task("")).await),
        Code::ValidationFailed
    );
    let typeless = CreateTaskRequest {
        r#type: 0,
        ..new_task("Survey")
    };
    assert_eq!(
        code(tasks.create_task(typeless).await),
        Code::ValidationFailed
    );
    let forbidden = bed
        .tasks_as(&user("u"))
        .create_task(new_task("Survey"))
        .await;
    assert_eq!(code(forbidden), Code::Forbidden);
    assert_eq!(bed.count("select count(*) from identity.tasks").await, 0);
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_new_task_comes_last_unless_told_where(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let placed = |name: &str, order: &str| CreateTaskRequest {
        order: Some(order.to_owned()),
        ..new_task(name)
    };
    create(&bed, new_task("first")).await;
    create(&bed, placed("ten", "10.50")).await;
    assert_eq!(create(&bed, new_task("last")).await.order, "11");
    create(&bed, placed("between", "1.5")).await;
    let names = async |sort: Vec<Sort>| {
        let list = Some(ListRequest {
            sort,
            ..ListRequest::default()
        });
        let page = bed
            .tasks()
            .list_tasks(ListTasksRequest { list })
            .await
            .unwrap()
            .into_inner();
        page.tasks
            .into_iter()
            .map(|task| task.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(names(vec![]).await, ["first", "between", "ten", "last"]);
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
        assert_eq!(names(vec![sort]).await.len(), 4, "{field}");
    }
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn a_completion_is_answered_and_told(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (ann, task) = (
        bed.user("ann@x.com").await,
        create(&bed, new_task("Survey")).await,
    );
    let mut tasks = bed.tasks();
    let request = || keyed(complete(&task, &ann.id), "k", "00");
    let done = tasks
        .complete_task(request())
        .await
        .unwrap()
        .into_inner()
        .completion
        .unwrap();
    insta::assert_debug_snapshot!(done, @r#"
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
    let [(event, 1, body)] = &bed.events(&done.id).await[..] else {
        panic!()
    };
    assert_eq!(event, "TaskCompleted");
    insta::assert_debug_snapshot!(TaskCompleted::decode(&**body).unwrap(), @r#"
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

    let replayed = tasks.complete_task(request()).await.unwrap();
    assert!(idempotency::is_replay(replayed.metadata()));
    assert_eq!(replayed.into_inner().completion, Some(done));
    let again = tasks.complete_task(complete(&task, &ann.id)).await;
    assert_eq!(code(again), Code::TaskAlreadyCompleted);
    let bob = bed.user("bob@x.com").await;
    assert!(tasks.complete_task(complete(&task, &bob.id)).await.is_ok());
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn fifty_completions_at_once_are_one(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (ann, task) = (
        bed.user("ann@x.com").await,
        create(&bed, new_task("Survey")).await,
    );
    let racing = (0..50).map(|_| {
        let (mut tasks, request) = (bed.tasks(), complete(&task, &ann.id));
        async move { tasks.complete_task(request).await }
    });
    let (won, lost): (Vec<_>, Vec<_>) = join_all(racing).await.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 49));
    for refused in lost {
        assert_eq!(code(refused), Code::TaskAlreadyCompleted);
    }
    assert_eq!(
        bed.count("select count(*) from identity.task_completions")
            .await,
        1
    );
    let told = "select count(*) from identity.outbox where event_type like '%TaskCompleted'";
    assert_eq!(bed.count(told).await, 1);
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn what_cannot_be_completed_is_refused(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (ann, task) = (
        bed.user("ann@x.com").await,
        create(&bed, new_task("Survey")).await,
    );
    let off = CreateTaskRequest {
        enabled: Some(false),
        ..new_task("Later")
    };
    let off = create(&bed, off).await;
    let mut tasks = bed.tasks();
    assert_eq!(
        code(tasks.complete_task(complete(&off, &ann.id)).await),
        Code::InvalidState
    );
    let unknown = Task {
        id: ann.id.clone(),
        ..Task::default()
    };
    assert_eq!(
        code(tasks.complete_task(complete(&unknown, &ann.id)).await),
        Code::TaskNotFound
    );
    for (user_id, fault) in [
        ("", FieldCode::Required),
        ("1", FieldCode::Format),
        (&*task.id, FieldCode::UnknownReference),
    ] {
        let refused = refusal(tasks.complete_task(complete(&task, user_id)).await);
        assert_eq!(refused.code, Code::ValidationFailed);
        assert_eq!(
            (&*refused.fields[0].field, refused.fields[0].code),
            ("userId", fault)
        );
    }
    let mut as_ann = bed.tasks_as(&user(&ann.id));
    assert_eq!(
        code(as_ann.complete_task(complete(&task, &ann.id)).await),
        Code::Forbidden
    );
    let block = BlockUserRequest { id: ann.id.clone() };
    bed.users().block_user(block).await.unwrap();
    assert_eq!(
        code(tasks.complete_task(complete(&task, &ann.id)).await),
        Code::InvalidState
    );
    assert_eq!(
        bed.count("select count(*) from identity.task_completions")
            .await,
        0
    );
    bed.end().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn users_see_enabled_tasks_and_whether_they_are_done(
    _: PgPoolOptions,
    server: PgConnectOptions,
) {
    let bed = Bed::new(server).await;
    let (ann, task) = (
        bed.user("ann@x.com").await,
        create(&bed, new_task("Survey")).await,
    );
    let off = CreateTaskRequest {
        enabled: Some(false),
        ..new_task("Later")
    };
    let off = create(&bed, off).await;
    assert!(!off.available);
    let mut as_ann = bed.tasks_as(&user(&ann.id));
    assert_eq!(code(as_ann.get_task(get(&off)).await), Code::TaskNotFound);
    let list = as_ann
        .list_tasks(ListTasksRequest::default())
        .await
        .unwrap()
        .into_inner();
    assert_eq!(list.tasks, std::slice::from_ref(&task));
    assert_eq!(list.page.unwrap().total, 1);

    bed.tasks()
        .complete_task(complete(&task, &ann.id))
        .await
        .unwrap();
    let list = as_ann
        .list_tasks(ListTasksRequest::default())
        .await
        .unwrap()
        .into_inner();
    let read = as_ann
        .get_task(get(&task))
        .await
        .unwrap()
        .into_inner()
        .task
        .unwrap();
    assert!(!read.available && !list.tasks[0].available);
    let admins = bed
        .tasks()
        .list_tasks(ListTasksRequest::default())
        .await
        .unwrap()
        .into_inner();
    assert_eq!((admins.tasks.len(), admins.tasks[0].available), (2, true));
    bed.end().await;
}
