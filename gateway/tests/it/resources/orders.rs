//! `/orders`

use platform::error::Failure;
use proto::{
    identity::v1::{BatchGetUsersResponse, User},
    orders::v1::{GetOrderResponse, ListOrdersResponse, Order, OrderLine},
};
use serde_json::{Value, json};

use crate::harness::{Exchange, ID, TestApp};

const BATCH_GET: &str = "UserService/BatchGetUsers";

/// Responds to the read of users with one user of this id.
fn reply_user(app: &TestApp, id: &str) {
    let user = User {
        id: id.to_owned(),
        email: "ada@example.com".to_owned(),
        name: Some("Ada".to_owned()),
        approved: true,
        metadata: r#"{"tier":"gold"}"#.to_owned(),
        ..User::default()
    };
    app.services.reply(
        BATCH_GET,
        &BatchGetUsersResponse {
            users: vec![user],
            deleted_ids: vec!["deleted".to_owned()],
        },
    );
}

#[tokio::test]
async fn the_user_of_an_order_is_shown_without_personal_data_once_deleted() {
    let app = TestApp::start().await;
    reply_user(&app, "another");
    let order = Order {
        user_id: "deleted".to_owned(),
        ..Order::default()
    };
    let response = GetOrderResponse { order: Some(order) };
    app.services.reply("OrderService/GetOrder", &response);
    let read = app.get(&format!("/orders/{ID}")).await;
    let expected = json!({
        "id": "deleted", "email": null, "name": null, "approved": false, "imageUrl": null,
        "metadata": {},
    });
    assert_eq!(user(&read), &expected);
}

/// The user of the only order of a response.
fn user(exchange: &Exchange) -> &Value {
    &exchange.body["data"]["user"]
}

#[tokio::test]
async fn get_responds_with_every_field_lines_and_user() {
    let app = TestApp::start().await;
    reply_user(&app, "order.user_id");
    let read = app.get(&format!("/orders/{ID}")).await;
    insta::assert_json_snapshot!(read, @r#"
    {
      "calls": [
        {
          "rpc": "OrderService/GetOrder",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001"
          }
        },
        {
          "rpc": "UserService/BatchGetUsers",
          "message": {
            "ids": [
              "order.user_id"
            ]
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "amount": "order.amount",
          "amountWithoutShipment": "order.amount_without_shipment",
          "amountWithoutTaxes": "order.amount_without_taxes",
          "assetCode": "order.asset_code",
          "bonus": "order.bonus",
          "bonusAssetCode": "order.bonus_asset_code",
          "canceledAt": "2026-01-31T10:00:20.007Z",
          "createdAt": "2026-01-31T10:00:24.007Z",
          "customData": {
            "order.custom_data": 1
          },
          "deliveryMethod": "shipping",
          "fulfilledAt": "2026-01-31T10:00:19.007Z",
          "id": "order.id",
          "lines": [
            {
              "assetCode": "order.lines.asset_code",
              "bonusAssetCode": "order.lines.bonus_asset_code",
              "createdAt": "2026-01-31T10:00:16.007Z",
              "fulfilledAt": "2026-01-31T10:00:14.007Z",
              "fulfilledQuantity": 6,
              "id": "order.lines.id",
              "metadata": {
                "order.lines.metadata": 1
              },
              "orderId": "order.lines.order_id",
              "product": {
                "id": "order.lines.product.id",
                "name": "order.lines.product.name"
              },
              "productId": "order.lines.product_id",
              "quantity": 5,
              "status": "unfulfilled",
              "taxRate": "order.lines.tax_rate",
              "unitBonus": "order.lines.unit_bonus",
              "unitPrice": "order.lines.unit_price",
              "unitTax": "order.lines.unit_tax",
              "updatedAt": "2026-01-31T10:00:17.007Z"
            }
          ],
          "metadata": {
            "order.metadata": 1
          },
          "orderStatus": "draft",
          "paidAmount": "order.paid_amount",
          "paidAt": "2026-01-31T10:00:18.007Z",
          "paymentStatus": "unpaid",
          "reference": "order.reference",
          "shippingAmount": "order.shipping_amount",
          "taxesAmount": "order.taxes_amount",
          "trackingId": "order.tracking_id",
          "unpaidAmount": "order.unpaid_amount",
          "updatedAt": "2026-01-31T10:00:25.007Z",
          "user": {
            "approved": true,
            "email": "ada@example.com",
            "id": "order.user_id",
            "imageUrl": null,
            "metadata": {
              "tier": "gold"
            },
            "name": "Ada"
          },
          "userId": "order.user_id"
        }
      }
    }
    "#);
}

#[tokio::test]
async fn lists_have_lines_only_if_included() {
    let app = TestApp::start().await;
    reply_user(&app, "orders.user_id");
    let list = app.get("/orders").await;
    assert_eq!(list.body["data"][0].get("lines"), None);
    assert_eq!(list.body["data"][0]["user"]["email"], "ada@example.com");
    let list = app.get("/orders?include=lines").await;
    assert_eq!(list.calls[0].message["list"]["include"], json!(["lines"]));
    assert_eq!(list.body["data"][0]["lines"][0]["id"], "orders.lines.id");
    assert_eq!(
        (&list.body["total"], &list.body["nextCursor"]),
        (&json!(1), &json!("page.next_cursor"))
    );
}

#[tokio::test]
async fn the_users_of_a_page_are_read_at_once() {
    let app = TestApp::start().await;
    reply_user(&app, "u-2");
    let order = |user_id: &str| Order {
        user_id: user_id.to_owned(),
        ..Order::default()
    };
    let page = ListOrdersResponse {
        orders: ["u-2", "u-1", "u-2"].map(order).to_vec(),
        page: None,
    };
    app.services.reply("OrderService/ListOrders", &page);
    let list = app.get("/orders").await;
    assert_eq!(list.calls[1].message, json!({"ids": ["u-1", "u-2"]}));
    let names = list.body["data"].as_array().unwrap().iter();
    let names: Vec<_> = names.map(|order| order["user"]["name"].as_str()).collect();
    assert_eq!(names, [Some("Ada"), None, Some("Ada")]);
    // An empty page needs no users.
    app.services
        .reply("OrderService/ListOrders", &ListOrdersResponse::default());
    assert_eq!(
        app.get("/orders").await.call().rpc,
        "OrderService/ListOrders"
    );
}

#[tokio::test]
async fn orders_have_no_user_while_identity_is_unavailable() {
    let app = TestApp::start().await;
    app.services
        .fail(BATCH_GET, Failure::unavailable("identity"));
    let exchange = app.get(&format!("/orders/{ID}")).await;
    assert_eq!(exchange.status, 200);
    assert_eq!(user(&exchange), &Value::Null);
    assert_eq!(exchange.body["data"]["id"], "order.id");
}

#[tokio::test]
async fn actions_send_their_fields_and_respond_with_the_whole_order() {
    let app = TestApp::start().await;
    for (path, body, rpc, message) in [
        (
            "/pay",
            json!({"amount": "1.00", "walletId": ID}),
            "PayOrder",
            json!({"amount": "1.00", "wallet_id": ID}),
        ),
        ("/pay", json!({}), "PayOrder", json!({})),
        (
            "/cancel",
            json!({"reason": "late", "refundAmount": "1"}),
            "CancelOrder",
            json!({"reason": "\"late\"", "refund_amount": "1"}),
        ),
        (
            "/cancel",
            json!({"reason": ["late", 1.50]}),
            "CancelOrder",
            json!({"reason": "[\"late\",1.5]"}),
        ),
        (
            "",
            json!({"refundAmount": "0"}),
            "CancelOrder",
            json!({"refund_amount": "0"}),
        ),
        (
            "/refund",
            json!({"amount": "1.00", "reason": "late"}),
            "RefundOrder",
            json!({"amount": "1.00", "reason": "\"late\""}),
        ),
        (
            "/refund",
            json!({"lines": [{"lineId": ID, "quantity": 2}]}),
            "RefundOrder",
            json!({"lines": [{"line_id": ID, "quantity": 2}]}),
        ),
        // orders-svc says what is missing.
        ("/refund", json!({}), "RefundOrder", json!({})),
        (
            "/fulfill",
            json!({"trackingId": ID}),
            "FulfillOrder",
            json!({"tracking_id": ID}),
        ),
        ("/unfulfill", json!({}), "UnfulfillOrder", json!({})),
    ] {
        let exchange = app.post(&format!("/orders/{ID}{path}"), &body).await;
        assert_eq!(exchange.status, 200, "{path}: {}", exchange.body);
        // The user too is that of orders-svc, which repeats it.
        assert_eq!(exchange.call().rpc, format!("OrderService/{rpc}"));
        let mut expected = message;
        expected["id"] = json!(ID);
        assert_eq!(exchange.calls[0].message, expected, "{path} {body}");
        assert_eq!(exchange.body["data"]["id"], "order.id");
        assert_eq!(exchange.body["data"]["lines"][0]["id"], "order.lines.id");
        assert_eq!(user(&exchange)["email"], "order.user.email");
    }
}

#[tokio::test]
async fn bad_refunds_are_refused_before_they_are_sent() {
    let app = TestApp::start().await;
    let line = |quantity: Value| json!({"lines": [{"lineId": ID, "quantity": quantity}]});
    let of_lines = |count: usize| {
        let line = json!({"lineId": ID, "quantity": 1});
        json!({"lines": vec![line; count]})
    };
    for (body, field) in [
        (json!({"amount": "0"}), "amount"),
        (json!({"amount": 1}), "amount"),
        (json!({"amount": "1e1"}), "amount"),
        (json!({"amount": "1", "refundAmount": "1"}), "refundAmount"),
        (line(json!(0)), "lines[0].quantity"),
        (line(json!(-1)), "lines[0].quantity"),
        (line(json!(1.5)), "lines[0].quantity"),
        (
            line(json!(9_223_372_036_854_775_808_u64)),
            "lines[0].quantity",
        ),
        (line(json!("1")), "lines[0].quantity"),
        (json!({"lines": [{"lineId": ID}]}), "lines[0].quantity"),
        (
            json!({"lines": [{"lineId": "x", "quantity": 1}]}),
            "lines[0].lineId",
        ),
        (of_lines(0), "lines"),
        (of_lines(201), "lines"),
        (json!({"amount": "1", "reason": {}}), "reason"),
    ] {
        let exchange = app.post(&format!("/orders/{ID}/refund"), &body).await;
        assert_eq!(exchange.status, 422, "{body}");
        assert_eq!(exchange.body["errors"][0]["field"], field, "{body}");
        assert!(exchange.calls.is_empty(), "{body}");
    }
}

#[tokio::test]
async fn updates_and_actions_on_lines_respond_with_the_whole_order() {
    let app = TestApp::start().await;
    let order = format!("/orders/{ID}");
    let line = format!("{order}/lines/{ID}");
    for exchange in [
        app.patch(&order, &json!({"trackingId": ID})).await,
        app.post(&format!("{line}/fulfill"), &json!({})).await,
        app.post(&format!("{line}/unfulfill"), &json!({})).await,
    ] {
        assert_eq!(exchange.status, 200, "{}", exchange.body);
        assert_eq!(exchange.body["data"]["lines"][0]["id"], "order.lines.id");
    }
}

#[tokio::test]
async fn statuses_and_delivery_methods_are_words() {
    use proto::orders::v1::{DeliveryMethod, OrderStatus, PaymentStatus};
    let app = TestApp::start().await;
    let cases = [
        (
            OrderStatus::Draft,
            PaymentStatus::Unpaid,
            DeliveryMethod::Unspecified,
        ),
        (
            OrderStatus::Unfulfilled,
            PaymentStatus::Paid,
            DeliveryMethod::Shipping,
        ),
        (
            OrderStatus::Fulfilled,
            PaymentStatus::FullyPaid,
            DeliveryMethod::Pickup,
        ),
        (
            OrderStatus::Canceled,
            PaymentStatus::PartiallyRefunded,
            DeliveryMethod::Pickup,
        ),
        (
            OrderStatus::Canceled,
            PaymentStatus::FullyRefunded,
            DeliveryMethod::Pickup,
        ),
    ];
    let mut words = Vec::new();
    for (order_status, payment_status, delivery_method) in cases {
        let order = Order {
            order_status: order_status.into(),
            payment_status: payment_status.into(),
            delivery_method: delivery_method.into(),
            lines: vec![OrderLine::default()],
            ..Order::default()
        };
        let response = GetOrderResponse { order: Some(order) };
        app.services.reply("OrderService/GetOrder", &response);
        let order = &app.get(&format!("/orders/{ID}")).await.body["data"];
        let word = |name: &str| order[name].as_str().unwrap_or("null").to_owned();
        words.push(
            ["orderStatus", "paymentStatus", "deliveryMethod"]
                .map(word)
                .join(" "),
        );
    }
    insta::assert_snapshot!(words.join("\n"), @r"
    draft unpaid null
    unfulfilled paid shipping
    fulfilled fully_paid pickup
    canceled partially_refunded pickup
    canceled fully_refunded pickup
    ");
}
