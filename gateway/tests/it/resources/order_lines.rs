//! `/orders/:orderId/lines`

use proto::orders::v1::{ListOrderLinesResponse, OrderLine, OrderedProduct};
use serde_json::json;

use crate::harness::{ID, TestApp};

/// Another well-formed id.
const LINE_ID: &str = "01920000-0000-7000-8000-000000000002";

#[tokio::test]
async fn a_line_has_its_whole_product_and_its_order() {
    let app = TestApp::start().await;
    let mut read = app.get(&format!("/orders/{ID}/lines/{LINE_ID}")).await;
    // The two services' calls run at the same time.
    read.calls.sort_by(|a, b| a.rpc.cmp(&b.rpc));
    assert_eq!(read.status, 200);
    let messages: Vec<_> = read.calls.iter().map(|call| &call.message).collect();
    let expected = [&json!({"id": LINE_ID, "order_id": ID}), &json!({"id": ID})];
    assert_eq!(messages, expected);
    insta::assert_json_snapshot!(read.body, @r#"
    {
      "data": {
        "assetCode": "line.asset_code",
        "bonusAssetCode": "line.bonus_asset_code",
        "createdAt": "2026-01-31T10:00:16.007Z",
        "fulfilledAt": "2026-01-31T10:00:14.007Z",
        "fulfilledQuantity": 6,
        "id": "line.id",
        "metadata": {
          "line.metadata": 1
        },
        "order": {
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
          "userId": "order.user_id"
        },
        "orderId": "line.order_id",
        "product": {
          "category": {
            "createdAt": "2026-01-31T10:00:06.007Z",
            "customData": {
              "line.product.category.custom_data": 1
            },
            "description": "line.product.category.description",
            "id": "line.product.category.id",
            "imageUrl": "line.product.category.image_url",
            "metadata": {},
            "thumbnailUrl": null,
            "title": "line.product.category.title",
            "updatedAt": "2026-01-31T10:00:07.007Z"
          },
          "customData": {
            "line.product.custom_data": 1
          },
          "description": "line.product.description",
          "id": "line.product.id",
          "image": "line.product.image",
          "metadata": {
            "line.product.metadata": 1
          },
          "name": "line.product.name",
          "thumbnail": "line.product.thumbnail",
          "typeCode": "line.product.type_code"
        },
        "productId": "line.product_id",
        "quantity": 5,
        "status": "unfulfilled",
        "taxRate": "line.tax_rate",
        "unitBonus": "line.unit_bonus",
        "unitPrice": "line.unit_price",
        "unitTax": "line.unit_tax",
        "updatedAt": "2026-01-31T10:00:17.007Z"
      }
    }
    "#);
}

#[tokio::test]
async fn lists_have_id_and_name_of_products() {
    let app = TestApp::start().await;
    let list = app.get(&format!("/orders/{ID}/lines?page[size]=2")).await;
    insta::assert_json_snapshot!(list, @r#"
    {
      "calls": [
        {
          "rpc": "OrderLineService/ListOrderLines",
          "message": {
            "list": {
              "page_size": 2
            },
            "order_id": "01920000-0000-7000-8000-000000000001"
          }
        }
      ],
      "status": 200,
      "body": {
        "data": [
          {
            "assetCode": "lines.asset_code",
            "bonusAssetCode": "lines.bonus_asset_code",
            "createdAt": "2026-01-31T10:00:16.007Z",
            "fulfilledAt": "2026-01-31T10:00:14.007Z",
            "fulfilledQuantity": 6,
            "id": "lines.id",
            "metadata": {
              "lines.metadata": 1
            },
            "orderId": "lines.order_id",
            "product": {
              "id": "lines.product.id",
              "name": "lines.product.name"
            },
            "productId": "lines.product_id",
            "quantity": 5,
            "status": "unfulfilled",
            "taxRate": "lines.tax_rate",
            "unitBonus": "lines.unit_bonus",
            "unitPrice": "lines.unit_price",
            "unitTax": "lines.unit_tax",
            "updatedAt": "2026-01-31T10:00:17.007Z"
          }
        ],
        "nextCursor": "page.next_cursor",
        "total": 1
      }
    }
    "#);
}

#[tokio::test]
async fn units_are_fulfilled_and_unfulfilled() {
    let app = TestApp::start().await;
    let ids = json!({"order_id": ID, "id": LINE_ID});
    let with_quantity = json!({"order_id": ID, "id": LINE_ID, "quantity": 2});
    for (action, rpc) in [
        ("fulfill", "FulfillOrderLine"),
        ("unfulfill", "UnfulfillOrderLine"),
    ] {
        for (body, message) in [(json!({"quantity": 2}), &with_quantity), (json!({}), &ids)] {
            let path = format!("/orders/{ID}/lines/{LINE_ID}/{action}");
            let exchange = app.post(&path, &body).await;
            assert_eq!(exchange.status, 200);
            assert_eq!(
                exchange.calls[0].rpc,
                format!("OrderLineFulfilmentService/{rpc}")
            );
            assert_eq!(&exchange.calls[0].message, message);
            assert_eq!(exchange.calls.len(), 1);
            assert_eq!(exchange.body["data"]["user"]["email"], "order.user.email");
            assert_eq!(exchange.body["data"]["id"], "order.id");
        }
    }
}

#[tokio::test]
async fn a_list_with_products_has_all_of_them() {
    let app = TestApp::start().await;
    let path = format!("/orders/{ID}/lines");
    let plain = app.get(&path).await;
    let product = &plain.body["data"][0]["product"];
    assert_eq!(
        *product,
        json!({"id": "lines.product.id", "name": "lines.product.name"})
    );
    let whole = app.get(&format!("{path}?include=product")).await;
    let product = &whole.body["data"][0]["product"];
    assert_eq!(product["id"], "lines.product.id");
    assert_eq!(product["typeCode"], "lines.product.type_code");
    assert_eq!(product["category"]["title"], "lines.product.category.title");
}

#[tokio::test]
async fn a_product_without_a_name_shows_null() {
    let app = TestApp::start().await;
    let line = OrderLine {
        product: Some(OrderedProduct::default()),
        ..OrderLine::default()
    };
    let lines = ListOrderLinesResponse {
        lines: vec![line],
        ..ListOrderLinesResponse::default()
    };
    app.services
        .reply("OrderLineService/ListOrderLines", &lines);
    for query in ["", "?include=product"] {
        let list = app.get(&format!("/orders/{ID}/lines{query}")).await;
        let product = &list.body["data"][0]["product"];
        assert_eq!(product["name"], json!(null), "{query}");
        assert!(product.get("name").is_some(), "{query}");
    }
}
