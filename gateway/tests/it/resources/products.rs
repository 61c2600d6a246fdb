//! `/products`

use proto::catalog::v1::{GetProductResponse, Product, ProductType};
use serde_json::json;

use super::assert_list_of;
use crate::{
    harness::{ID, TestApp},
    samples,
};

const INCLUDES: [&str; 3] = ["category", "taxRate", "questions"];

#[tokio::test]
async fn create_sends_every_field() {
    let app = TestApp::start().await;
    let created = app.post("/products", &samples::body("NewProduct")).await;
    assert_eq!(
        (created.status, created.location.as_deref()),
        (201, Some("/products/product.id"))
    );
    insta::assert_json_snapshot!(created.call(), @r#"
    {
      "rpc": "ProductService/CreateProduct",
      "message": {
        "allow_choosing_quantity": true,
        "asset_code": "assetCode",
        "available": true,
        "bonus": "52.5",
        "button_label": "buttonLabel",
        "category_id": "01920000-0000-7000-8000-00005f886200",
        "custom_data": "{\"customData\":1}",
        "description": "description",
        "featured": true,
        "image": "image",
        "list_label": "listLabel",
        "name": "name",
        "order": "62.5",
        "price": "89.5",
        "requires_identity": true,
        "tax_rate_id": "01920000-0000-7000-8000-000096bcb57f",
        "thumbnail": "thumbnail",
        "type": "PRODUCT_TYPE_DIGITAL",
        "url": "url",
        "visible": true
      }
    }
    "#);
}

#[tokio::test]
async fn create_needs_two_fields() {
    let app = TestApp::start().await;
    let created = app
        .post("/products", &json!({"categoryId": ID, "price": "1"}))
        .await;
    let message = json!({"category_id": ID, "price": "1"});
    assert_eq!(created.call().message, message);
}

#[tokio::test]
async fn get_responds_with_every_field() {
    let app = TestApp::start().await;
    let mut read = app.get(&format!("/products/{ID}")).await;
    assert_list_of(&app.get("/products").await, &read.body["data"]);
    let product = read.body["data"].as_object_mut().expect("a product");
    product.retain(|name, _| !INCLUDES.contains(&&**name));
    insta::assert_json_snapshot!(read, @r#"
    {
      "calls": [
        {
          "rpc": "ProductService/GetProduct",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001"
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "allowChoosingQuantity": true,
          "assetCode": "product.asset_code",
          "available": true,
          "bonus": "product.bonus",
          "buttonLabel": "product.button_label",
          "categoryId": "product.category_id",
          "createdAt": "2026-01-31T10:00:25.007Z",
          "customData": {
            "product.custom_data": 1
          },
          "description": "product.description",
          "featured": true,
          "id": "product.id",
          "imageUrl": "product.image_url",
          "listLabel": "product.list_label",
          "metadata": {
            "product.metadata": 1
          },
          "name": "product.name",
          "order": "product.order",
          "price": "product.price",
          "priceWithTax": "product.price_with_tax",
          "requiresIdentity": true,
          "taxAmount": "product.tax_amount",
          "taxRateId": "product.tax_rate_id",
          "thumbnailUrl": "product.thumbnail_url",
          "typeCode": "digital",
          "updatedAt": "2026-01-31T10:00:26.007Z",
          "url": "product.url",
          "visible": true
        }
      }
    }
    "#);
}

#[tokio::test]
async fn includes_are_embedded() {
    let app = TestApp::start().await;
    let path = format!("/products/{ID}?include={}", INCLUDES.join(","));
    let mut read = app.get(&path).await;
    let product = read.body["data"].as_object_mut().expect("a product");
    product.retain(|name, _| INCLUDES.contains(&&**name));
    insta::assert_json_snapshot!(read, @r#"
    {
      "calls": [
        {
          "rpc": "ProductService/GetProduct",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001",
            "include": [
              "category",
              "taxRate",
              "questions"
            ]
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "category": {
            "createdAt": "2026-01-31T10:00:07.007Z",
            "customData": {
              "product.category.custom_data": 1
            },
            "description": "product.category.description",
            "id": "product.category.id",
            "imageUrl": "product.category.image_url",
            "order": "product.category.order",
            "title": "product.category.title",
            "updatedAt": "2026-01-31T10:00:08.007Z"
          },
          "questions": [
            {
              "configurations": {
                "product.questions.questions.question.configurations": 1
              },
              "createdAt": "2026-01-31T10:00:11.007Z",
              "customData": {
                "product.questions.questions.question.custom_data": 1
              },
              "description": "product.questions.questions.question.description",
              "id": "product.questions.questions.question.id",
              "jsonSchema": {
                "product.questions.questions.question.json_schema": 1
              },
              "metadata": {
                "product.questions.questions.question.metadata": 1
              },
              "order": "product.questions.questions.order",
              "productTypeCode": "product.questions.questions.question.product_type_code",
              "required": true,
              "title": "product.questions.questions.question.title",
              "typeCode": "product.questions.questions.question.type_code",
              "updatedAt": "2026-01-31T10:00:12.007Z"
            }
          ],
          "taxRate": {
            "createdAt": "2026-01-31T10:00:04.007Z",
            "id": "product.tax_rate.id",
            "name": "product.tax_rate.name",
            "rate": "product.tax_rate.rate",
            "updatedAt": "2026-01-31T10:00:05.007Z"
          }
        }
      }
    }
    "#);
}

#[tokio::test]
async fn a_product_without_optional_fields() {
    let app = TestApp::start().await;
    let product = Product {
        id: ID.to_owned(),
        r#type: ProductType::Service.into(),
        ..Product::default()
    };
    let response = GetProductResponse {
        product: Some(product),
    };
    app.services.reply("ProductService/GetProduct", &response);
    let read = app.get(&format!("/products/{ID}")).await;
    insta::assert_json_snapshot!(read.body, @r#"
    {
      "data": {
        "allowChoosingQuantity": false,
        "assetCode": "",
        "available": false,
        "bonus": "",
        "buttonLabel": null,
        "categoryId": "",
        "createdAt": null,
        "customData": {},
        "description": null,
        "featured": false,
        "id": "01920000-0000-7000-8000-000000000001",
        "imageUrl": null,
        "listLabel": null,
        "metadata": {},
        "name": null,
        "order": "",
        "price": "",
        "priceWithTax": "",
        "requiresIdentity": false,
        "taxAmount": "",
        "taxRateId": null,
        "thumbnailUrl": null,
        "typeCode": "service",
        "updatedAt": null,
        "url": null,
        "visible": false
      }
    }
    "#);
}

#[tokio::test]
async fn update_sends_every_field() {
    let app = TestApp::start().await;
    let path = format!("/products/{ID}");
    let updated = app.patch(&path, &samples::body("ProductPatch")).await;
    assert_eq!(
        (updated.status, &updated.body["data"]["id"]),
        (200, &json!("product.id"))
    );
    insta::assert_json_snapshot!(updated.call(), @r#"
    {
      "rpc": "ProductService/UpdateProduct",
      "message": {
        "allow_choosing_quantity": true,
        "asset_code": "assetCode",
        "available": true,
        "bonus": "52.5",
        "button_label": "buttonLabel",
        "category_id": "01920000-0000-7000-8000-00005f886200",
        "custom_data": "{\"customData\":1}",
        "description": "description",
        "featured": true,
        "id": "01920000-0000-7000-8000-000000000001",
        "image": "image",
        "list_label": "listLabel",
        "name": "name",
        "order": "62.5",
        "price": "89.5",
        "requires_identity": true,
        "tax_rate_id": "01920000-0000-7000-8000-000096bcb57f",
        "thumbnail": "thumbnail",
        "type": "PRODUCT_TYPE_DIGITAL",
        "update_mask": "type,name,description,categoryId,taxRateId,assetCode,price,bonus,allowChoosingQuantity,available,featured,visible,requiresIdentity,buttonLabel,listLabel,url,image,thumbnail,order,customData",
        "url": "url",
        "visible": true
      }
    }
    "#);
}

#[tokio::test]
async fn delete_and_reorder_respond_204() {
    let app = TestApp::start().await;
    let deleted = app.delete(&format!("/products/{ID}")).await;
    assert_eq!((deleted.status, &deleted.body), (204, &json!(null)));
    assert_eq!(deleted.call().message, json!({"id": ID}));
    let path = format!("/products/{ID}/reorder");
    let moved = app.post(&path, &json!({"subsequentId": ID})).await;
    assert_eq!(moved.status, 204);
    assert_eq!(moved.call().message, json!({"id": ID, "subsequent_id": ID}));
    for body in [json!({}), json!({"subsequentId": null})] {
        let moved = app.post(&path, &body).await;
        assert_eq!(moved.call().message, json!({"id": ID}), "to the end");
    }
}
