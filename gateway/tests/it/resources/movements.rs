//! `/movements`

use serde_json::json;

use super::assert_list_of;
use crate::harness::{ID, TestApp};

#[tokio::test]
async fn a_movement_is_read_with_its_transaction() {
    let app = TestApp::start().await;
    let read = app
        .get(&format!("/movements/{ID}?include=transaction"))
        .await;
    insta::assert_json_snapshot!(read, @r#"
    {
      "calls": [
        {
          "rpc": "MovementService/GetMovement",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001",
            "include": [
              "transaction"
            ]
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "amount": "movement.amount",
          "assetCode": "movement.asset_code",
          "code": "movement.code",
          "createdAt": "2026-01-31T10:00:08.007Z",
          "id": "movement.id",
          "transaction": {
            "amount": "movement.transaction.amount",
            "assetCode": "movement.transaction.asset_code",
            "code": "movement.transaction.code",
            "createdAt": "2026-01-31T10:00:18.007Z",
            "customData": {
              "movement.transaction.custom_data": 1
            },
            "description": "movement.transaction.description",
            "destinationAddress": "movement.transaction.destination_address",
            "destinationWalletId": "movement.transaction.destination_wallet_id",
            "externalId": "movement.transaction.external_id",
            "externalReference": "movement.transaction.external_reference",
            "id": "movement.transaction.id",
            "metadata": {
              "movement.transaction.metadata": 1
            },
            "originAddress": "movement.transaction.origin_address",
            "originWalletId": "movement.transaction.origin_wallet_id",
            "processedAt": "2026-01-31T10:00:17.007Z",
            "reference": "movement.transaction.reference",
            "status": "pending",
            "type": "deposit",
            "updatedAt": "2026-01-31T10:00:19.007Z"
          },
          "transactionId": "movement.transaction_id",
          "updatedAt": "2026-01-31T10:00:09.007Z",
          "walletId": "movement.wallet_id"
        }
      }
    }
    "#);
    assert_list_of(&app.get("/movements").await, &read.body["data"]);
}

#[tokio::test]
async fn the_movements_of_a_wallet_are_listed() {
    let app = TestApp::start().await;
    let list = app
        .get(&format!("/wallets/{ID}/movements?page[number]=2"))
        .await;
    let message = json!({"wallet_id": ID, "list": {"page_number": "2"}});
    assert_eq!(list.call().message, message);
    let all = app.get("/movements").await;
    assert_eq!(all.call().message, json!({"list": {}}));
    assert_eq!(list.body, all.body);
}
