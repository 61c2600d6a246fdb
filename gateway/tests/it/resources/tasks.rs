//! `/tasks`

use serde_json::json;

use super::{assert_deleted_and_moved, assert_list_of};
use crate::{
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn a_task_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/tasks", &samples::body("NewTask")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "TaskService/CreateTask",
          "message": {
            "amount": "9.5",
            "button_label": "buttonLabel",
            "custom_data": "{\"customData\":1}",
            "description": "description",
            "enabled": true,
            "featured": true,
            "image": "image",
            "name": "name",
            "order": "62.5",
            "survey_url": "surveyUrl",
            "thumbnail": "thumbnail",
            "type": "TASK_TYPE_MANUAL"
          }
        }
      ],
      "status": 201,
      "location": "/tasks/task.id",
      "body": {
        "data": {
          "amount": "task.amount",
          "assetCode": "task.asset_code",
          "available": true,
          "buttonLabel": "task.button_label",
          "createdAt": "2026-01-31T10:00:17.007Z",
          "customData": {
            "task.custom_data": 1
          },
          "description": "task.description",
          "enabled": true,
          "featured": true,
          "id": "task.id",
          "imageUrl": "task.image_url",
          "metadata": {
            "task.metadata": 1
          },
          "name": "task.name",
          "order": "task.order",
          "surveyUrl": "task.survey_url",
          "thumbnailUrl": "task.thumbnail_url",
          "type": "manual",
          "updatedAt": "2026-01-31T10:00:18.007Z"
        }
      }
    }
    "#);
    let read = app.get(&format!("/tasks/{ID}")).await;
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/tasks").await, &read.body["data"]);
}

#[tokio::test]
async fn each_type_has_a_word() {
    let app = TestApp::start().await;
    for word in ["manual", "survey", "automatic", "system"] {
        let body = json!({"name": "n", "description": "d", "type": word, "amount": "1"});
        let created = app.post("/tasks", &body).await;
        let sent = created.call().message["type"].as_str();
        assert_eq!(sent, Some(&*format!("TASK_TYPE_{}", word.to_uppercase())));
    }
    let body = json!({"name": "n", "description": "d", "type": "other", "amount": "1"});
    let document = app.post("/tasks", &body).await;
    let document = document.problem(422, "validation_failed");
    assert_eq!(document["errors"][0]["code"], "enum");
}

#[tokio::test]
async fn a_completion_names_the_user() {
    let app = TestApp::start().await;
    let completed = app
        .post(&format!("/tasks/{ID}/complete"), &json!({"userId": ID}))
        .await;
    insta::assert_json_snapshot!(completed, @r#"
    {
      "calls": [
        {
          "rpc": "TaskService/CompleteTask",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001",
            "user_id": "01920000-0000-7000-8000-000000000001"
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "amount": "completion.amount",
          "assetCode": "completion.asset_code",
          "createdAt": "2026-01-31T10:00:07.007Z",
          "id": "completion.id",
          "taskId": "completion.task_id",
          "transactionId": "completion.transaction_id",
          "userId": "completion.user_id"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_task_is_updated_deleted_and_moved() {
    let app = TestApp::start().await;
    let path = format!("/tasks/{ID}");
    let updated = app.patch(&path, &samples::body("TaskPatch")).await;
    assert_eq!(updated.status, 200);
    insta::assert_json_snapshot!(updated.call(), @r#"
    {
      "rpc": "TaskService/UpdateTask",
      "message": {
        "amount": "9.5",
        "button_label": "buttonLabel",
        "custom_data": "{\"customData\":1}",
        "description": "description",
        "enabled": true,
        "featured": true,
        "id": "01920000-0000-7000-8000-000000000001",
        "image": "image",
        "name": "name",
        "order": "62.5",
        "survey_url": "surveyUrl",
        "thumbnail": "thumbnail",
        "type": "TASK_TYPE_MANUAL",
        "update_mask": "type,name,description,amount,buttonLabel,surveyUrl,image,thumbnail,order,enabled,featured,customData"
      }
    }
    "#);
    assert_deleted_and_moved(&app, &path).await;
}

#[tokio::test]
async fn completions_are_listed_by_task_and_by_user() {
    let app = TestApp::start().await;
    let of_task = app
        .get(&format!("/tasks/{ID}/completions?filter[amount]=gte:1"))
        .await;
    assert_eq!(of_task.call().message["task_id"], ID);
    assert_eq!(
        of_task.call().message["list"]["filters"][0]["field"],
        "amount"
    );
    let of_user = app.get(&format!("/users/{ID}/completions")).await;
    assert_eq!(of_user.call().message["user_id"], ID);
    assert_eq!(of_user.body, of_task.body);
    assert_eq!(of_user.body["data"][0]["taskId"], "completions.task_id");
}
