//! `/rates`

use serde_json::json;

use super::assert_list_of;
use crate::{harness::TestApp, samples};

#[tokio::test]
async fn a_rate_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/rates", &samples::body("NewRate")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "RateService/CreateRate",
          "message": {
            "base_asset_code": "baseAssetCode",
            "custom_data": "{\"customData\":1}",
            "quote_asset_code": "quoteAssetCode",
            "rate": "19.5"
          }
        }
      ],
      "status": 201,
      "location": "/rates/rate.base_asset_code/rate.quote_asset_code",
      "body": {
        "data": {
          "baseAssetCode": "rate.base_asset_code",
          "createdAt": "2026-01-31T10:00:06.007Z",
          "customData": {
            "rate.custom_data": 1
          },
          "metadata": {
            "rate.metadata": 1
          },
          "quoteAssetCode": "rate.quote_asset_code",
          "rate": "rate.rate",
          "updatedAt": "2026-01-31T10:00:07.007Z"
        }
      }
    }
    "#);
    let read = app.get("/rates/points/usd").await;
    let pair = json!({"base_asset_code": "points", "quote_asset_code": "usd"});
    assert_eq!(read.call().message, pair);
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/rates").await, &read.body["data"]);
}

#[tokio::test]
async fn a_rate_is_updated_and_deleted() {
    let app = TestApp::start().await;
    let updated = app
        .patch("/rates/points/usd", &samples::body("RatePatch"))
        .await;
    assert_eq!(updated.status, 200);
    insta::assert_json_snapshot!(updated.call(), @r#"
    {
      "rpc": "RateService/UpdateRate",
      "message": {
        "base_asset_code": "points",
        "custom_data": "{\"customData\":1}",
        "quote_asset_code": "usd",
        "rate": "19.5",
        "update_mask": "rate,customData"
      }
    }
    "#);
    let deleted = app.delete("/rates/points/usd").await;
    let pair = json!({"base_asset_code": "points", "quote_asset_code": "usd"});
    assert_eq!((deleted.status, &deleted.call().message), (204, &pair));
}
