//! `/transactions`

use proto::wallet::v1::{ListTransactionChangesResponse, TransactionChange, TransactionStatus};
use serde_json::json;

use super::assert_list_of;
use crate::{
    fake_services::ReceivedCall,
    harness::{ID, TestApp},
    samples,
};

#[tokio::test]
async fn a_transaction_is_read_and_listed() {
    let app = TestApp::start().await;
    let read = app.get(&format!("/transactions/{ID}")).await;
    insta::assert_json_snapshot!(read, @r#"
    {
      "calls": [
        {
          "rpc": "TransactionService/GetTransaction",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001"
          }
        }
      ],
      "status": 200,
      "body": {
        "data": {
          "amount": "transaction.amount",
          "assetCode": "transaction.asset_code",
          "code": "transaction.code",
          "createdAt": "2026-01-31T10:00:18.007Z",
          "customData": {
            "transaction.custom_data": 1
          },
          "description": "transaction.description",
          "destinationAddress": "transaction.destination_address",
          "destinationWalletId": "transaction.destination_wallet_id",
          "externalId": "transaction.external_id",
          "externalReference": "transaction.external_reference",
          "id": "transaction.id",
          "metadata": {
            "transaction.metadata": 1
          },
          "originAddress": "transaction.origin_address",
          "originWalletId": "transaction.origin_wallet_id",
          "processedAt": "2026-01-31T10:00:17.007Z",
          "reference": "transaction.reference",
          "status": "pending",
          "type": "deposit",
          "updatedAt": "2026-01-31T10:00:19.007Z"
        }
      }
    }
    "#);
    assert_list_of(&app.get("/transactions").await, &read.body["data"]);
    let of_wallet = app.get(&format!("/wallets/{ID}/transactions")).await;
    assert_eq!(
        of_wallet.call().message,
        json!({"list": {}, "wallet_id": ID})
    );
    assert_list_of(&of_wallet, &read.body["data"]);
}

/// Makes creations with every field, and returns the calls that they led to.
async fn creations(app: &TestApp, creations: &[(&str, &str)]) -> Vec<ReceivedCall> {
    let mut calls = Vec::new();
    for (path, schema) in creations {
        let path = format!("/transactions/{path}");
        let mut created = app.post(&path, &samples::body(schema)).await;
        let location = created.location.as_deref();
        assert_eq!(
            (created.status, location),
            (201, Some("/transactions/transaction.id")),
            "{path}"
        );
        calls.append(&mut created.calls);
    }
    calls
}

#[tokio::test]
async fn payments_send_every_field() {
    let app = TestApp::start().await;
    let calls = creations(
        &app,
        &[
            ("deposit", "NewDeposit"),
            ("pay", "NewPayment"),
            ("send", "NewSending"),
        ],
    )
    .await;
    insta::assert_json_snapshot!(calls, @r#"
    [
      {
        "rpc": "TransactionService/CreateDeposit",
        "message": {
          "amount": "9.5",
          "asset_code": "assetCode",
          "code": "code",
          "commit": true,
          "custom_data": "{\"customData\":1}",
          "data": "{\"data\":1}",
          "description": "description",
          "destination_address": "destinationAddress",
          "destination_wallet_id": "01920000-0000-7000-8000-00003a9cd9bb",
          "external_reference": "externalReference"
        }
      },
      {
        "rpc": "TransactionService/CreatePayment",
        "message": {
          "amount": "9.5",
          "asset_code": "assetCode",
          "custom_data": "{\"customData\":1}",
          "description": "description",
          "origin_wallet_id": "01920000-0000-7000-8000-0000a91ab801"
        }
      },
      {
        "rpc": "TransactionService/SendMoney",
        "message": {
          "amount": "9.5",
          "asset_code": "assetCode",
          "custom_data": "{\"customData\":1}",
          "description": "description",
          "destination_email": "destinationEmail",
          "destination_wallet_id": "01920000-0000-7000-8000-00003a9cd9bb",
          "origin_wallet_id": "01920000-0000-7000-8000-0000a91ab801"
        }
      }
    ]
    "#);
}

#[tokio::test]
async fn transfers_send_every_field() {
    let app = TestApp::start().await;
    let calls = creations(
        &app,
        &[
            ("transfer", "NewTransfer"),
            ("withdrawal", "NewWithdrawal"),
            ("exchange", "NewExchange"),
        ],
    )
    .await;
    insta::assert_json_snapshot!(calls, @r#"
    [
      {
        "rpc": "TransactionService/CreateTransfer",
        "message": {
          "amount": "9.5",
          "asset_code": "assetCode",
          "code": "code",
          "commit": true,
          "custom_data": "{\"customData\":1}",
          "description": "description",
          "destination_address": "destinationAddress",
          "destination_wallet_id": "01920000-0000-7000-8000-00003a9cd9bb",
          "external_reference": "externalReference",
          "origin_address": "originAddress",
          "origin_wallet_id": "01920000-0000-7000-8000-0000a91ab801"
        }
      },
      {
        "rpc": "TransactionService/CreateWithdrawal",
        "message": {
          "amount": "9.5",
          "asset_code": "assetCode",
          "code": "code",
          "commit": true,
          "custom_data": "{\"customData\":1}",
          "description": "description",
          "external_reference": "externalReference",
          "origin_address": "originAddress",
          "origin_wallet_id": "01920000-0000-7000-8000-0000a91ab801"
        }
      },
      {
        "rpc": "TransactionService/CreateExchange",
        "message": {
          "base_amount": "62.5",
          "base_asset_code": "baseAssetCode",
          "custom_data": "{\"customData\":1}",
          "description": "description",
          "quote_asset_code": "quoteAssetCode",
          "wallet_id": "01920000-0000-7000-8000-000021344bfb"
        }
      }
    ]
    "#);
}

#[tokio::test]
async fn the_data_of_a_deposit_is_sent_as_written() {
    let app = TestApp::start().await;
    let body = r#"{"amount":"1","assetCode":"usd","code":"c","destinationWalletId":"01920000-0000-7000-8000-000000000001",
        "data": { "card" : 4242424242424242.0, "x":1e400 } }"#;
    let created = app.post_raw("/transactions/deposit", body).await;
    let sent = r#"{ "card" : 4242424242424242.0, "x":1e400 }"#;
    assert_eq!(created.call().message["data"], sent);
    let number = r#"{"amount":"1","assetCode":"usd","code":"c","destinationWalletId":"01920000-0000-7000-8000-000000000001","data":"x"}"#;
    let refused = app.post_raw("/transactions/deposit", number).await;
    assert_eq!(
        refused.problem(422, "validation_failed")["errors"][0]["field"],
        "data"
    );
}

#[tokio::test]
async fn actions_respond_with_the_transaction() {
    let app = TestApp::start().await;
    for (action, body, rpc, message) in [
        (
            "approve",
            json!({}),
            "ApproveTransaction",
            json!({"id": ID}),
        ),
        (
            "confirm",
            json!({}),
            "ConfirmTransaction",
            json!({"id": ID}),
        ),
        ("fail", json!({}), "FailTransaction", json!({"id": ID})),
        (
            "fail",
            json!({"reason": "late"}),
            "FailTransaction",
            json!({"id": ID, "reason": "\"late\""}),
        ),
        (
            "reject",
            json!({"reason": {"code": 7}}),
            "RejectTransaction",
            json!({"id": ID, "reason": "{\"code\":7}"}),
        ),
        (
            "reject",
            json!({"reason": null}),
            "RejectTransaction",
            json!({"id": ID}),
        ),
    ] {
        let exchange = app
            .post(&format!("/transactions/{ID}/{action}"), &body)
            .await;
        assert_eq!(exchange.status, 200, "{action}: {}", exchange.body);
        assert_eq!(exchange.call().rpc, format!("TransactionService/{rpc}"));
        assert_eq!(exchange.call().message, message, "{action} {body}");
        assert_eq!(exchange.body["data"]["id"], "transaction.id");
    }
}

#[tokio::test]
async fn status_changes_are_listed_whole() {
    let app = TestApp::start().await;
    let change = |from: Option<TransactionStatus>, to: TransactionStatus| TransactionChange {
        from: from.map(Into::into),
        to: to.into(),
        actor: "key:1".to_owned(),
        ..TransactionChange::default()
    };
    let response = ListTransactionChangesResponse {
        changes: vec![
            change(None, TransactionStatus::Pending),
            change(
                Some(TransactionStatus::Pending),
                TransactionStatus::Confirmed,
            ),
        ],
    };
    app.services
        .reply("TransactionService/ListTransactionChanges", &response);
    let list = app.get(&format!("/transactions/{ID}/history")).await;
    insta::assert_json_snapshot!(list, @r#"
    {
      "calls": [
        {
          "rpc": "TransactionService/ListTransactionChanges",
          "message": {
            "id": "01920000-0000-7000-8000-000000000001"
          }
        }
      ],
      "status": 200,
      "body": {
        "data": [
          {
            "actor": "key:1",
            "createdAt": null,
            "from": null,
            "to": "pending"
          },
          {
            "actor": "key:1",
            "createdAt": null,
            "from": "pending",
            "to": "confirmed"
          }
        ],
        "total": 2
      }
    }
    "#);
}
