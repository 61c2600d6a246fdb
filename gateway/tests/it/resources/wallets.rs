//! `/wallets`

use serde_json::json;

use super::assert_list_of;
use crate::{
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn a_wallet_is_created_read_and_listed() {
    let app = TestApp::start().await;
    let created = app.post("/wallets", &samples::body("NewWallet")).await;
    insta::assert_json_snapshot!(created, @r#"
    {
      "calls": [
        {
          "rpc": "WalletService/CreateWallet",
          "message": {
            "custom_data": "{\"customData\":1}",
            "locked": true,
            "name": "name",
            "owner_id": "01920000-0000-7000-8000-0000984a5547"
          }
        }
      ],
      "status": 201,
      "location": "/wallets/wallet.id",
      "body": {
        "data": {
          "createdAt": "2026-01-31T10:00:09.007Z",
          "customData": {
            "wallet.custom_data": 1
          },
          "description": "wallet.description",
          "id": "wallet.id",
          "locked": true,
          "metadata": {
            "wallet.metadata": 1
          },
          "name": "wallet.name",
          "ownerId": "wallet.owner_id",
          "reference": "wallet.reference",
          "updatedAt": "2026-01-31T10:00:10.007Z"
        }
      }
    }
    "#);
    let read = app.get(&format!("/wallets/{ID}")).await;
    assert_eq!(read.body, created.body);
    assert_list_of(&app.get("/wallets").await, &read.body["data"]);
}

#[tokio::test]
async fn no_field_of_a_new_wallet_is_required() {
    let app = TestApp::start().await;
    let created = app.post("/wallets", &json!({})).await;
    assert_eq!((created.status, &created.call().message), (201, &json!({})));
    let empty = app.exchange(app.admin("POST", "/wallets")).await;
    assert_eq!((empty.status, &empty.call().message), (201, &json!({})));
}

#[tokio::test]
async fn a_wallet_is_updated() {
    let app = TestApp::start().await;
    let path = format!("/wallets/{ID}");
    let updated = app.patch(&path, &samples::body("WalletPatch")).await;
    assert_eq!(updated.status, 200);
    insta::assert_json_snapshot!(updated.call(), @r#"
    {
      "rpc": "WalletService/UpdateWallet",
      "message": {
        "custom_data": "{\"customData\":1}",
        "id": "01920000-0000-7000-8000-000000000001",
        "locked": true,
        "name": "name",
        "owner_id": "01920000-0000-7000-8000-0000984a5547",
        "update_mask": "name,ownerId,locked,customData"
      }
    }
    "#);
}

#[tokio::test]
async fn balances_are_listed_whole() {
    let app = TestApp::start().await;
    let balance = app
        .get(&format!("/wallets/{ID}/balance?filter[assetCode]=usd"))
        .await;
    insta::assert_json_snapshot!(balance, @r#"
    {
      "calls": [
        {
          "rpc": "WalletService/GetWalletBalance",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001",
            "list": {
              "filters": [
                {
                  "field": "assetCode",
                  "operator": "OPERATOR_EQ",
                  "values": [
                    "usd"
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
            "amount": "balances.amount",
            "assetCode": "balances.asset_code",
            "availableAmount": "balances.available_amount",
            "heldAmount": "balances.held_amount",
            "incomingAmount": "balances.incoming_amount"
          }
        ],
        "total": 1
      }
    }
    "#);
    let total = app.get("/wallets/balance").await;
    assert_eq!(total.call().message, json!({"list": {}}));
    assert_eq!(total.body, balance.body);
}
