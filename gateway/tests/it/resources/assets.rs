//! `/assets`

use serde_json::json;

use super::assert_list_of;
use crate::{harness::TestApp, samples};

#[tokio::test]
async fn an_asset_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/assets", &samples::body("NewAsset")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "AssetService/CreateAsset",
          "message": {
            "code": "code",
            "contract": "{\"contract\":1}",
            "custom_data": "{\"customData\":1}",
            "decimal_places": 3,
            "enabled": true,
            "logo": "logo",
            "name": "name",
            "symbol": "symbol",
            "type": "ASSET_TYPE_CRYPTO"
          }
        }
      ],
      "status": 201,
      "location": "/assets/asset.code",
      "body": {
        "data": {
          "code": "asset.code",
          "contract": {
            "asset.contract": 1
          },
          "createdAt": "2026-01-31T10:00:12.007Z",
          "customData": {
            "asset.custom_data": 1
          },
          "decimalPlaces": 5,
          "enabled": true,
          "logo": "asset.logo",
          "metadata": {
            "asset.metadata": 1
          },
          "name": "asset.name",
          "symbol": "asset.symbol",
          "system": true,
          "type": "crypto",
          "updatedAt": "2026-01-31T10:00:13.007Z"
        }
      }
    }
    "#);
    let read = app.get("/assets/Gold").await;
    assert_eq!(read.call().message, json!({"code": "Gold"}));
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/assets").await, &read.body["data"]);
}

#[tokio::test]
async fn defaults_of_a_new_asset_are_the_services() {
    let app = TestApp::start().await;
    let body = json!({"code": "g", "name": "Gold", "type": null, "enabled": false});
    let created = app.post("/assets", &body).await;
    let message = json!({"code": "g", "name": "Gold", "enabled": false});
    assert_eq!(created.call().message, message);
}

#[tokio::test]
async fn an_asset_is_updated() {
    let app = TestApp::start().await;
    let updated = app
        .patch("/assets/gold", &samples::body("AssetPatch"))
        .await;
    assert_eq!(updated.status, 200);
    insta::assert_json_snapshot!(updated.call(), @r#"
    {
      "rpc": "AssetService/UpdateAsset",
      "message": {
        "code": "gold",
        "contract": "{\"contract\":1}",
        "custom_data": "{\"customData\":1}",
        "decimal_places": 3,
        "enabled": true,
        "logo": "logo",
        "name": "name",
        "symbol": "symbol",
        "type": "ASSET_TYPE_CRYPTO",
        "update_mask": "name,symbol,type,decimalPlaces,enabled,logo,contract,customData"
      }
    }
    "#);
}
