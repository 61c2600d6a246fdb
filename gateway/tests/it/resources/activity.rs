//! `/wallets/activity` and `/wallets/:id/activity`

use proto::wallet::v1::{Activity, ListActivityResponse, Transaction};
use serde_json::json;

use crate::harness::{ID, TestApp};

#[tokio::test]
async fn a_transaction_is_listed_with_its_wallets_and_their_owners() {
    let app = TestApp::start().await;
    let list = app.get("/wallets/activity?include=wallets,users").await;
    insta::assert_json_snapshot!(list, @r#"
    {
      "calls": [
        {
          "rpc": "TransactionService/ListActivity",
          "message": {
            "list": {
              "include": [
                "wallets",
                "users"
              ]
            }
          }
        }
      ],
      "status": 200,
      "body": {
        "data": [
          {
            "amount": "activities.transaction.amount",
            "assetCode": "activities.transaction.asset_code",
            "code": "activities.transaction.code",
            "createdAt": "2026-01-31T10:00:18.007Z",
            "customData": {
              "activities.transaction.custom_data": 1
            },
            "description": "activities.transaction.description",
            "destinationAddress": "activities.transaction.destination_address",
            "destinationWallet": {
              "id": "activities.destination_wallet.id",
              "name": "activities.destination_wallet.name",
              "ownerId": "activities.destination_wallet.owner_id",
              "reference": "activities.destination_wallet.reference"
            },
            "destinationWalletId": "activities.transaction.destination_wallet_id",
            "destinationWalletUser": {
              "email": "activities.destination_wallet_user.email",
              "id": "activities.destination_wallet_user.id",
              "name": "activities.destination_wallet_user.name"
            },
            "externalId": "activities.transaction.external_id",
            "externalReference": "activities.transaction.external_reference",
            "id": "activities.transaction.id",
            "metadata": {
              "activities.transaction.metadata": 1
            },
            "originAddress": "activities.transaction.origin_address",
            "originWallet": {
              "id": "activities.origin_wallet.id",
              "name": "activities.origin_wallet.name",
              "ownerId": "activities.origin_wallet.owner_id",
              "reference": "activities.origin_wallet.reference"
            },
            "originWalletId": "activities.transaction.origin_wallet_id",
            "originWalletUser": {
              "email": "activities.origin_wallet_user.email",
              "id": "activities.origin_wallet_user.id",
              "name": "activities.origin_wallet_user.name"
            },
            "processedAt": "2026-01-31T10:00:17.007Z",
            "reference": "activities.transaction.reference",
            "status": "pending",
            "type": "deposit",
            "updatedAt": "2026-01-31T10:00:19.007Z"
          }
        ],
        "nextCursor": "page.next_cursor",
        "total": 1
      }
    }
    "#);
}

#[tokio::test]
async fn the_activity_of_a_wallet_is_limited_to_it() {
    let app = TestApp::start().await;
    let list = app.get(&format!("/wallets/{ID}/activity")).await;
    assert_eq!(list.call().message, json!({"list": {}, "wallet_id": ID}));
    assert_eq!(list.body["data"][0]["id"], "activities.transaction.id");
}

#[tokio::test]
async fn sides_that_are_not_included_are_left_out() {
    let app = TestApp::start().await;
    let activity = Activity {
        transaction: Some(Transaction::default()),
        ..Activity::default()
    };
    let response = ListActivityResponse {
        activities: vec![activity],
        page: None,
    };
    app.services
        .reply("TransactionService/ListActivity", &response);
    let list = app.get("/wallets/activity").await;
    let entry = list.body["data"][0].as_object().expect("an entry");
    for name in [
        "originWallet",
        "destinationWallet",
        "originWalletUser",
        "destinationWalletUser",
    ] {
        assert!(!entry.contains_key(name), "{name}");
    }
    assert!(entry.contains_key("originWalletId"));
}
