//! `/categories` and `/tax-rates`

use serde_json::json;

use super::{assert_deleted_and_moved, assert_list_of};
use crate::{
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn a_category_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/categories", &samples::body("NewCategory")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "CategoryService/CreateCategory",
          "message": {
            "custom_data": "{\"customData\":1}",
            "description": "description",
            "image": "image",
            "order": "62.5",
            "title": "title"
          }
        }
      ],
      "status": 201,
      "location": "/categories/category.id",
      "body": {
        "data": {
          "createdAt": "2026-01-31T10:00:07.007Z",
          "customData": {
            "category.custom_data": 1
          },
          "description": "category.description",
          "id": "category.id",
          "imageUrl": "category.image_url",
          "order": "category.order",
          "title": "category.title",
          "updatedAt": "2026-01-31T10:00:08.007Z"
        }
      }
    }
    "#);
    let read = app.get(&format!("/categories/{ID}")).await;
    assert_eq!(read.call().message, json!({"id": ID}));
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/categories").await, &read.body["data"]);
}

#[tokio::test]
async fn a_category_is_updated_deleted_and_moved() {
    let app = TestApp::start().await;
    let path = format!("/categories/{ID}");
    let updated = app.patch(&path, &samples::body("CategoryPatch")).await;
    assert_eq!(updated.status, 200);
    insta::assert_json_snapshot!(updated.call(), @r#"
    {
      "rpc": "CategoryService/UpdateCategory",
      "message": {
        "custom_data": "{\"customData\":1}",
        "description": "description",
        "id": "01920000-0000-7000-8000-000000000001",
        "image": "image",
        "order": "62.5",
        "title": "title",
        "update_mask": "title,description,image,order,customData"
      }
    }
    "#);
    assert_deleted_and_moved(&app, &path).await;
}

#[tokio::test]
async fn a_tax_rate_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/tax-rates", &samples::body("NewTaxRate")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "TaxRateService/CreateTaxRate",
          "message": {
            "name": "name",
            "rate": "19.5"
          }
        }
      ],
      "status": 201,
      "location": "/tax-rates/tax_rate.id",
      "body": {
        "data": {
          "createdAt": "2026-01-31T10:00:04.007Z",
          "id": "tax_rate.id",
          "name": "tax_rate.name",
          "rate": "tax_rate.rate",
          "updatedAt": "2026-01-31T10:00:05.007Z"
        }
      }
    }
    "#);
    let read = app.get(&format!("/tax-rates/{ID}")).await;
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/tax-rates").await, &read.body["data"]);
}

#[tokio::test]
async fn a_tax_rate_is_updated_and_deleted() {
    let app = TestApp::start().await;
    let path = format!("/tax-rates/{ID}");
    let updated = app.patch(&path, &samples::body("TaxRatePatch")).await;
    let message = json!({"id": ID, "name": "name", "rate": "19.5", "update_mask": "name,rate"});
    assert_eq!((updated.status, &updated.call().message), (200, &message));
    let deleted = app.delete(&path).await;
    assert_eq!(
        (deleted.status, &deleted.call().message),
        (204, &json!({"id": ID}))
    );
}
