//! Changes of only the version that a client has seen: the milliseconds of its last change.

use futures::future::join_all;
use platform::{
    error::Code,
    grpc::precondition::{IF_VERSION, Versions},
};
use prost_types::{FieldMask, Timestamp};
use proto::identity::v1::{
    CreateWebhookRequest, DeleteTaskRequest, DeleteWebhookRequest, RotateWebhookSecretRequest,
    UpdateTaskRequest, UpdateWebhookRequest,
};
use sqlx::PgPool;
use tonic::Request;

use crate::{
    harness::{TestApp, code},
    task_calls::{create, new_task},
};

fn version(updated_at: Option<Timestamp>) -> i64 {
    let time = updated_at.unwrap();
    time.seconds * 1_000 + i64::from(time.nanos) / 1_000_000
}

/// Makes a request for this version only.
fn only<T>(message: T, version: i64) -> Request<T> {
    let mut request = Request::new(message);
    let versions = Versions::new(vec![version]).unwrap();
    request
        .metadata_mut()
        .insert(IF_VERSION, versions.metadata());
    request
}

fn mask(path: &str) -> FieldMask {
    FieldMask {
        paths: vec![path.to_owned()],
    }
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn of_many_changes_of_a_task_for_one_version_one_succeeds(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let task = create(&app, new_task("A")).await;
    let read = version(task.updated_at);
    let changes = (0..8).map(|number| {
        let update = UpdateTaskRequest {
            id: task.id.clone(),
            name: Some(format!("task {number}")),
            update_mask: Some(mask("name")),
            ..Default::default()
        };
        let mut tasks = app.tasks();
        async move { tasks.update_task(only(update, read)).await }
    });
    let (changed, refused): (Vec<_>, Vec<_>) =
        join_all(changes).await.into_iter().partition(Result::is_ok);
    assert_eq!((changed.len(), refused.len()), (1, 7));
    for refusal in refused {
        assert_eq!(code(refusal), Code::PreconditionFailed);
    }
    let delete = || DeleteTaskRequest {
        id: task.id.clone(),
    };
    let refused = app.tasks().delete_task(only(delete(), read)).await;
    assert_eq!(code(refused), Code::PreconditionFailed);
    let changed = changed.into_iter().next().unwrap().unwrap().into_inner();
    let current = version(changed.task.unwrap().updated_at);
    let nothing = UpdateTaskRequest {
        id: task.id.clone(),
        ..Default::default()
    };
    let refused = app.tasks().update_task(only(nothing.clone(), read)).await;
    assert_eq!(code(refused), Code::PreconditionFailed);
    app.tasks()
        .update_task(only(nothing, current))
        .await
        .unwrap();
    app.tasks()
        .delete_task(only(delete(), current))
        .await
        .unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "identity_svc::MIGRATOR")]
async fn every_change_of_a_webhook_has_a_version_of_its_own(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let new = CreateWebhookRequest {
        url: "https://shop.example/hook".to_owned(),
        events: vec!["*".to_owned()],
        ..Default::default()
    };
    let created = app.webhooks().create_webhook(new).await.unwrap();
    let webhook = created.into_inner().webhook.unwrap();
    let first = version(webhook.updated_at);
    let rotate = RotateWebhookSecretRequest {
        id: webhook.id.clone(),
    };
    let rotated = app.webhooks().rotate_webhook_secret(rotate).await.unwrap();
    let second = version(rotated.into_inner().webhook.unwrap().updated_at);
    let update = || UpdateWebhookRequest {
        id: webhook.id.clone(),
        enabled: Some(false),
        update_mask: Some(mask("enabled")),
        ..Default::default()
    };
    let refused = app.webhooks().update_webhook(only(update(), first)).await;
    assert_eq!(code(refused), Code::PreconditionFailed);
    let changed = app.webhooks().update_webhook(only(update(), second)).await;
    let third = version(changed.unwrap().into_inner().webhook.unwrap().updated_at);
    assert!(first < second && second < third);
    let delete = || DeleteWebhookRequest {
        id: webhook.id.clone(),
    };
    let refused = app.webhooks().delete_webhook(only(delete(), second)).await;
    assert_eq!(code(refused), Code::PreconditionFailed);
    app.webhooks()
        .delete_webhook(only(delete(), third))
        .await
        .unwrap();
    let gone = app.webhooks().delete_webhook(only(delete(), third)).await;
    assert_eq!(code(gone), Code::WebhookNotFound);
    app.finish().await;
}
