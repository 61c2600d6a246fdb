//! `/payment-methods`

use serde_json::json;

use crate::harness::TestApp;

#[tokio::test]
async fn payment_methods_are_listed_whole() {
    let app = TestApp::start().await;
    let list = app.get("/payment-methods?filter[enabled]=true").await;
    insta::assert_json_snapshot!(list, @r#"
    {
      "calls": [
        {
          "rpc": "PaymentMethodService/ListPaymentMethods",
          "message": {
            "list": {
              "filters": [
                {
                  "field": "enabled",
                  "operator": "OPERATOR_EQ",
                  "values": [
                    "true"
                  ]
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
            "assets": [
              "payment_methods.assets"
            ],
            "capabilities": [
              "payment_methods.capabilities"
            ],
            "createdAt": "2026-01-31T10:00:08.007Z",
            "enabled": true,
            "features": [
              "payment_methods.features"
            ],
            "metadata": {
              "payment_methods.metadata": 1
            },
            "name": "payment_methods.name",
            "slug": "payment_methods.slug"
          }
        ],
        "total": 1
      }
    }
    "#);
}

#[tokio::test]
async fn a_payment_method_is_read_by_users() {
    let app = TestApp::start().await;
    let read = app
        .exchange(app.user("GET", "/payment-methods/stripe"))
        .await;
    assert_eq!(read.call().message, json!({"slug": "stripe"}));
    assert_eq!(
        (read.status, &read.body["data"]["slug"]),
        (200, &json!("payment_method.slug"))
    );
}
