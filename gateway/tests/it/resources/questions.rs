//! `/questions` and `/question-types`

use serde_json::json;

use super::assert_list_of;
use crate::{
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn a_question_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/questions", &samples::body("NewQuestion")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "QuestionService/CreateQuestion",
          "message": {
            "configurations": "{\"configurations\":1}",
            "custom_data": "{\"customData\":1}",
            "description": "description",
            "product_type_code": "digital",
            "required": true,
            "title": "title",
            "type_code": "date"
          }
        }
      ],
      "status": 201,
      "location": "/questions/question.id",
      "body": {
        "data": {
          "configurations": {
            "question.configurations": 1
          },
          "createdAt": "2026-01-31T10:00:11.007Z",
          "customData": {
            "question.custom_data": 1
          },
          "description": "question.description",
          "id": "question.id",
          "jsonSchema": {
            "question.json_schema": 1
          },
          "metadata": {
            "question.metadata": 1
          },
          "productTypeCode": "question.product_type_code",
          "required": true,
          "title": "question.title",
          "typeCode": "question.type_code",
          "updatedAt": "2026-01-31T10:00:12.007Z"
        }
      }
    }
    "#);
    let read = app.get(&format!("/questions/{ID}")).await;
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/questions").await, &read.body["data"]);
}

#[tokio::test]
async fn a_question_is_updated_and_deleted() {
    let app = TestApp::start().await;
    let path = format!("/questions/{ID}");
    let updated = app.patch(&path, &samples::body("QuestionPatch")).await;
    assert_eq!(updated.status, 200);
    insta::assert_json_snapshot!(updated.call(), @r#"
    {
      "rpc": "QuestionService/UpdateQuestion",
      "message": {
        "configurations": "{\"configurations\":1}",
        "custom_data": "{\"customData\":1}",
        "description": "description",
        "id": "01920000-0000-7000-8000-000000000001",
        "product_type_code": "digital",
        "required": true,
        "title": "title",
        "type_code": "date",
        "update_mask": "title,typeCode,productTypeCode,configurations,description,required,customData"
      }
    }
    "#);
    let deleted = app.delete(&path).await;
    assert_eq!(
        (deleted.status, &deleted.call().message),
        (204, &json!({"id": ID}))
    );
}

#[tokio::test]
async fn question_types_are_listed() {
    let app = TestApp::start().await;
    let list = app.get("/question-types?sort=code").await;
    insta::assert_json_snapshot!(list, @r#"
    {
      "calls": [
        {
          "rpc": "QuestionService/ListQuestionTypes",
          "message": {
            "list": {
              "sort": [
                {
                  "field": "code"
                }
              ]
            }
          }
        }
      ],
      "status": 200,
      "body": {
        "data": [
          {
            "code": "question_types.code",
            "createdAt": "2026-01-31T10:00:04.007Z",
            "jsonSchemaTemplate": {
              "question_types.json_schema_template": 1
            },
            "name": "question_types.name"
          }
        ],
        "nextCursor": "page.next_cursor",
        "total": 1
      }
    }
    "#);
}
