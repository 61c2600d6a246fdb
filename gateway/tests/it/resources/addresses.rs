//! `/addresses`

use serde_json::json;

use super::assert_list_of;
use crate::{harness::TestApp, samples};

#[tokio::test]
async fn an_address_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/addresses", &samples::body("NewAddress")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "AddressService/CreateAddress",
          "message": {
            "address": "address",
            "asset_code": "assetCode",
            "custom_data": "{\"customData\":1}",
            "provider": "provider",
            "wallet_id": "01920000-0000-7000-8000-000021344bfb"
          }
        }
      ],
      "status": 201,
      "location": "/addresses/address.address",
      "body": {
        "data": {
          "address": "address.address",
          "assetCode": "address.asset_code",
          "createdAt": "2026-01-31T10:00:06.007Z",
          "customData": {
            "address.custom_data": 1
          },
          "metadata": {
            "address.metadata": 1
          },
          "updatedAt": "2026-01-31T10:00:07.007Z",
          "walletId": "address.wallet_id"
        }
      }
    }
    "#);
    let read = app.get("/addresses/bc1q").await;
    assert_eq!(read.call().message, json!({"address": "bc1q"}));
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/addresses").await, &read.body["data"]);
}

#[tokio::test]
async fn an_address_is_derived_without_being_named() {
    let app = TestApp::start().await;
    let body = json!({"provider": "hd", "assetCode": "btc"});
    let created = app.post("/addresses", &body).await;
    let message = json!({"provider": "hd", "asset_code": "btc"});
    assert_eq!((created.status, &created.call().message), (201, &message));
}
