//! `POST /orders`

use proto::orders::v1::{CreateOrderResponse, Order, OrderLine};
use serde_json::json;

use crate::{
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn create_sends_every_field() {
    let app = TestApp::start().await;
    let mut body = samples::body("NewOrder");
    body["dryRun"] = json!(false);
    let created = app.post("/orders", &body).await;
    assert_eq!(
        (created.status, created.location.as_deref()),
        (201, Some("/orders/order.id"))
    );
    insta::assert_json_snapshot!(created.calls, @r#"
    [
      {
        "rpc": "OrderService/CreateOrder",
        "message": {
          "chosen_payment_method": "chosenPaymentMethod",
          "custom_data": "{\"customData\":1}",
          "delivery_method": "DELIVERY_METHOD_SHIPPING",
          "lines": [
            {
              "product_id": "01920000-0000-7000-8000-00006f506e43",
              "product_questions_result": "{\"productQuestionsResult\":1}",
              "quantity": 3
            }
          ],
          "shipping_address_id": "shippingAddressId",
          "use_bonus": true,
          "user_id": "01920000-0000-7000-8000-00004076cd0d",
          "user_notes": "userNotes",
          "wallet_id": "01920000-0000-7000-8000-000021344bfb"
        }
      }
    ]
    "#);
}

#[tokio::test]
async fn a_dry_run_has_no_ids_and_no_reference() {
    let app = TestApp::start().await;
    let order = Order {
        lines: vec![OrderLine::default()],
        ..Order::default()
    };
    let response = CreateOrderResponse { order: Some(order) };
    app.services.reply("OrderService/CreateOrder", &response);
    let body = json!({"userId": ID, "lines": [{"productId": ID}], "dryRun": true});
    let dry_run = app.post("/orders", &body).await;
    assert_eq!((dry_run.status, dry_run.location), (200, None));
    assert_eq!(
        dry_run.calls[0].message,
        json!({"user_id": ID, "lines": [{"product_id": ID}], "dry_run": true})
    );
    for pointer in ["/id", "/reference", "/lines/0/id", "/lines/0/orderId"] {
        let value = dry_run.body["data"].pointer(pointer);
        assert_eq!(value, Some(&json!(null)), "{pointer}");
    }
}

#[tokio::test]
async fn an_order_is_created_unless_it_is_a_dry_run() {
    let app = TestApp::start().await;
    for (dry_run, status, location) in [
        (json!(null), 201, Some("/orders/order.id")),
        (json!(false), 201, Some("/orders/order.id")),
        (json!(true), 200, None),
    ] {
        let body = json!({"userId": ID, "lines": [{"productId": ID}], "dryRun": dry_run});
        let created = app.post("/orders", &body).await;
        assert_eq!(
            (created.status, created.location.as_deref()),
            (status, location),
            "{body}"
        );
        assert_eq!(created.body["data"]["lines"][0]["id"], "order.lines.id");
    }
}

#[tokio::test]
async fn answers_to_questions_are_sent_as_written() {
    let app = TestApp::start().await;
    let body = r#"{"userId":"ID","lines":[{"productId":"ID","productQuestionsResult":{ "q" : [1.50, "x"] }}],"deliveryMethod":"pickup"}"#;
    let created = app
        .post_raw("/orders", body.replace("ID\"", &format!("{ID}\"")))
        .await;
    let message = &created.calls[0].message;
    assert_eq!(
        message["lines"][0]["product_questions_result"],
        r#"{ "q" : [1.50, "x"] }"#
    );
    assert_eq!(message["delivery_method"], "DELIVERY_METHOD_PICKUP");
}
