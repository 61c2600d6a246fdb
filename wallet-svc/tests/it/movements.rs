//! Movements: the journal, read by id and listed.

use platform::{error::Code, grpc::client::Client};
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    wallet::v1::{self as wire, movement_service_client::MovementServiceClient},
};
use sqlx::PgPool;

use crate::harness::{
    ANN, TestApp, UNKNOWN, equals, including, list, rejection, result, sort, stable,
};

const EXTERNAL: &str = "00000000-0000-7000-8000-000000000001";

async fn listed(
    mut client: MovementServiceClient<Client>,
    list: ListRequest,
) -> Vec<wire::Movement> {
    let request = wire::ListMovementsRequest {
        list: Some(list),
        wallet_id: None,
    };
    let page = result(client.list_movements(request).await).unwrap();
    assert_eq!(page.page.unwrap().total, page.movements.len() as u64);
    page.movements
}

fn get(id: &str, include: &[&str]) -> wire::GetMovementRequest {
    wire::GetMovementRequest {
        id: id.to_owned(),
        include: include.iter().map(|name| (*name).to_owned()).collect(),
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_movement_is_returned_with_its_transaction_if_included(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("100").await;
    let [movement] = &listed(app.admin.movements(), ListRequest::default()).await[..] else {
        panic!("one movement")
    };
    let mut movements = app.admin.movements();
    let plain = result(movements.get_movement(get(&movement.id, &[])).await).unwrap();
    assert_eq!(plain.movement.as_ref(), Some(movement));
    let request = get(&movement.id.to_uppercase(), &["transaction"]);
    let full = result(movements.get_movement(request).await).unwrap();
    let names = [
        (&*wallet, "<wallet>"),
        (&*movement.transaction_id, "<deposit>"),
    ];
    insta::assert_snapshot!(stable(&full.movement.unwrap(), &names), @r#"
    Movement {
        id: "<id>",
        wallet_id: "<wallet>",
        transaction_id: "<deposit>",
        transaction: Some(
            Transaction {
                id: "<deposit>",
                r#type: Deposit,
                code: "internal",
                status: Confirmed,
                asset_code: "usd",
                amount: "100.00000000",
                description: None,
                origin_wallet_id: None,
                destination_wallet_id: Some("<wallet>"),
                origin_address: None,
                destination_address: None,
                external_id: None,
                external_reference: None,
                reference: <reference>,
                custom_data: "{}",
                metadata: "{\"data\":{}}",
                processed_at: Some(<time>),
                created_at: Some(<time>),
                updated_at: Some(<time>),
            },
        ),
        asset_code: "usd",
        amount: "100.00000000",
        code: "deposit",
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);

    let unknown = result(movements.get_movement(get(&movement.id, &["wallet"])).await);
    assert_eq!(rejection(unknown).code, Code::InvalidQuery);
    for id in [UNKNOWN, "x", ""] {
        let missing = result(movements.get_movement(get(id, &[])).await);
        assert_eq!(rejection(missing).code, Code::MovementNotFound);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn movements_are_listed_with_their_transactions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("100").await, app.new_wallet().await);
    app.transfer(&a, &b, "40", true).await.unwrap();
    let by_amount = ListRequest {
        sort: vec![sort("amount", false)],
        ..including(&["transaction"])
    };
    let movements = listed(app.admin.movements(), by_amount).await;
    let amounts: Vec<_> = movements.iter().map(|one| &*one.amount).collect();
    assert_eq!(amounts, ["-40.00000000", "40.00000000", "100.00000000"]);
    for movement in &movements {
        let transaction = movement.transaction.as_ref().unwrap();
        assert_eq!(transaction.id, movement.transaction_id);
    }
    let codes: Vec<_> = movements.iter().map(|one| &*one.code).collect();
    assert_eq!(codes, ["transfer", "transfer", "deposit"]);
    let wallets: Vec<_> = movements.iter().map(|one| &one.wallet_id).collect();
    assert_eq!(wallets, [&a, &b, &a]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn movements_are_filtered_by_field(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("100").await, app.new_wallet().await);
    app.fund(&a, "0.5", "btc").await;
    let sent = app.transfer(&a, &b, "40", true).await.unwrap();
    let all = listed(app.admin.movements(), ListRequest::default()).await;
    let count = async |filter: Filter| {
        let movements = listed(app.admin.movements(), list(vec![filter])).await;
        movements.len()
    };
    assert_eq!(all.len(), 4);
    assert_eq!(count(equals("walletId", &a)).await, 3);
    assert_eq!(count(equals("walletId", &b)).await, 1);
    assert_eq!(count(equals("assetCode", "BTC")).await, 1);
    assert_eq!(count(equals("transactionId", &sent.id)).await, 2);
    let pending = app.withdraw(&b, "1").await.unwrap();
    let of_several = Filter {
        operator: Operator::In.into(),
        values: vec![sent.id.clone(), pending.id.clone(), UNKNOWN.to_owned()],
        ..equals("transactionId", "")
    };
    assert_eq!(count(of_several).await, 2);
    app.confirm(&pending.id).await.unwrap();
    assert_eq!(count(equals("transactionId", &pending.id)).await, 1);
    let all_others = Filter {
        operator: Operator::Nin.into(),
        ..equals("transactionId", &sent.id)
    };
    assert_eq!(count(all_others).await, 3);
    assert_eq!(count(equals("id", &all[0].id)).await, 1);
    assert_eq!(count(equals("id", UNKNOWN)).await, 0);
    let unknown = wire::ListMovementsRequest {
        list: Some(list(vec![equals("balanceAfter", "1")])),
        wallet_id: None,
    };
    let unknown = result(app.admin.movements().list_movements(unknown).await);
    assert_eq!(rejection(unknown).code, Code::InvalidQuery);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn movements_of_system_wallets_are_listed_only_by_wallet(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("100").await;
    let all = listed(app.admin.movements(), ListRequest::default()).await;
    assert!(all.iter().map(|one| &one.wallet_id).eq([&wallet]));
    let external = list(vec![equals("walletId", EXTERNAL)]);
    let [movement] = &listed(app.admin.movements(), external).await[..] else {
        panic!("one movement")
    };
    assert_eq!(movement.amount, "-100.00000000");
    // A filter that leaves a wallet out asks for none.
    let others = list(vec![Filter {
        operator: Operator::Nin.into(),
        ..equals("walletId", &wallet)
    }]);
    assert!(listed(app.admin.movements(), others).await.is_empty());
    let of_external = wire::ListMovementsRequest {
        list: None,
        wallet_id: Some(EXTERNAL.to_owned()),
    };
    let hidden = result(app.admin.movements().list_movements(of_external).await);
    assert_eq!(rejection(hidden).code, Code::WalletNotFound);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn movements_of_one_wallet_are_listed_for_its_owner(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (
        app.funded_wallet("100").await,
        app.funded_wallet("50").await,
    );
    app.set_owner(&a, ANN).await;
    app.transfer(&b, &a, "5", true).await.unwrap();
    let of_a = wire::ListMovementsRequest {
        list: None,
        wallet_id: Some(a.clone()),
    };
    let page = app.as_user(ANN).movements().list_movements(of_a).await;
    let movements = result(page).unwrap().movements;
    assert!(movements.iter().all(|movement| movement.wallet_id == a));
    let own = listed(app.as_user(ANN).movements(), ListRequest::default()).await;
    assert_eq!(own, movements);
    assert_eq!(own.len(), 2);
    let filtered = list(vec![equals("walletId", &b)]);
    assert!(
        listed(app.as_user(ANN).movements(), filtered)
            .await
            .is_empty()
    );
    app.finish().await;
}
