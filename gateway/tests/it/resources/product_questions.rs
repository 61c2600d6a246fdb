//! `/products/:productId/questions`

use serde_json::json;

use crate::harness::{ID, TestApp};

#[tokio::test]
async fn questions_are_attached_detached_and_reordered() {
    let app = TestApp::start().await;
    let path = format!("/products/{ID}/questions");
    let attached = app.post(&path, &json!({"questionId": ID})).await;
    insta::assert_json_snapshot!(attached, @r#"
    {
      "calls": [
        {
          "rpc": "ProductQuestionService/CreateProductQuestion",
          "message": {
            "product_id": "01920000-0000-7000-8000-000000000001",
            "question_id": "01920000-0000-7000-8000-000000000001"
          }
        }
      ],
      "status": 201,
      "location": "/products/product_question.product_id?include=questions",
      "body": {
        "data": {
          "order": "product_question.order",
          "productId": "product_question.product_id",
          "questionId": "product_question.question_id"
        }
      }
    }
    "#);
    let link = format!("{path}/{ID}");
    let detached = app.delete(&link).await;
    assert_eq!(detached.status, 204);
    assert_eq!(
        detached.call().message,
        json!({"product_id": ID, "question_id": ID})
    );
    let moved = app
        .post(&format!("{link}/reorder"), &json!({"subsequentId": ID}))
        .await;
    assert_eq!(moved.status, 204);
    let message = json!({"product_id": ID, "question_id": ID, "subsequent_id": ID});
    assert_eq!(moved.call().message, message);
}
