//! Lists, totals and the journal.

use proto::{
    common::v1::{Filter, ListRequest, Operator, Sort},
    wallet::v1::{
        self as wire, movement_service_client::MovementServiceClient,
        transaction_service_client::TransactionServiceClient,
    },
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::{
    bed::{Bed, result, user},
    exchanges::{exchange, rate},
};

fn filter(field: &str, value: &str) -> Filter {
    Filter {
        field: field.to_owned(),
        operator: Operator::Eq.into(),
        values: vec![value.to_owned()],
    }
}

fn list(filters: Vec<Filter>) -> ListRequest {
    ListRequest {
        filters,
        ..ListRequest::default()
    }
}

async fn transactions(bed: &Bed, filters: Vec<Filter>) -> Vec<wire::Transaction> {
    let request = wire::ListTransactionsRequest {
        list: Some(list(filters)),
        wallet_id: None,
    };
    let page = result(bed.transactions().list_transactions(request).await).unwrap();
    assert_eq!(page.page.unwrap().total, page.transactions.len() as u64);
    page.transactions
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn transactions_are_found_by_their_fields(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("100").await, bed.wallet().await);
    let sent = bed.transfer(&a, &b, "1", true).await.unwrap();
    let held = bed.withdraw(&b, "0.50").await.unwrap();
    for (filters, expected) in [
        (vec![], 3),
        (vec![filter("walletId", &a)], 2),
        (vec![filter("walletId", &b)], 2),
        (vec![filter("destinationWalletId", &b)], 1),
        (vec![filter("status", "pending")], 1),
        (vec![filter("type", "transfer")], 1),
        (vec![filter("code", "bank:wire")], 1),
        (vec![filter("assetCode", "USD")], 3),
        (vec![filter("reference", &sent.reference)], 1),
        (vec![filter("description", "nothing")], 0),
    ] {
        let found = transactions(&bed, filters.clone()).await;
        assert_eq!(found.len(), expected, "{filters:?}");
    }
    assert_eq!(transactions(&bed, vec![]).await[0], held);
    let unknown = wire::ListTransactionsRequest {
        list: None,
        wallet_id: Some("0192abcd-0000-7000-8000-00000000000f".to_owned()),
    };
    assert!(bed.transactions().list_transactions(unknown).await.is_err());
    let of_a = wire::ListTransactionsRequest {
        list: None,
        wallet_id: Some(a),
    };
    let of_a = result(bed.transactions().list_transactions(of_a).await).unwrap();
    assert_eq!(of_a.transactions.len(), 2);
    bed.end().await;
}

/// What the user sees with this filter, the newest first.
async fn seen(bed: &Bed, user_id: &str, filters: Vec<Filter>) -> Vec<String> {
    let mut client = TransactionServiceClient::new(bed.client(&user(user_id)));
    let request = wire::ListTransactionsRequest {
        list: Some(list(filters)),
        wallet_id: None,
    };
    let page = result(client.list_transactions(request).await).unwrap();
    assert_eq!(page.page.unwrap().total, page.transactions.len() as u64);
    page.transactions.into_iter().map(|tx| tx.id).collect()
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_is_own_on_both_sides_shows_once(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let owner = "0192abcd-0000-7000-8000-00000000000f";
    let (a, b) = (bed.wallet().await, bed.wallet().await);
    let (other, another) = (bed.funded("9").await, bed.wallet().await);
    bed.own(&a, owner).await;
    bed.own(&b, owner).await;
    let came = bed.transfer(&other, &a, "5", true).await.unwrap().id;
    bed.transfer(&other, &another, "1", true).await.unwrap();
    let within = bed.transfer(&a, &b, "1", true).await.unwrap().id;
    rate(&bed, "usd", "points", "1").await;
    let request = exchange(&a, "usd", "points", "1");
    let changed = result(bed.transactions().create_exchange(request).await).unwrap();
    let changed = changed.transaction.unwrap().id;

    let of_both = Filter {
        operator: Operator::In.into(),
        values: vec![b.clone(), a.clone(), a.clone()],
        ..filter("walletId", "")
    };
    let all = [&*changed, &*within, &*came];
    for (filters, expected) in [
        (vec![], &all[..]),
        (vec![of_both], &all),
        (vec![filter("walletId", &a)], &all),
        (vec![filter("walletId", &b)], &[&*within]),
        (vec![filter("walletId", &other)], &[&*came]),
        (vec![filter("walletId", &another)], &[]),
        (vec![filter("originWalletId", &a)], &all[..2]),
        (vec![filter("type", "exchange")], &all[..1]),
    ] {
        assert_eq!(
            seen(&bed, owner, filters.clone()).await,
            expected,
            "{filters:?}"
        );
    }
    let nobody = "0192abcd-0000-7000-8000-0000000000ff";
    assert!(seen(&bed, nobody, vec![]).await.is_empty());
    let mut client = MovementServiceClient::new(bed.client(&user(owner)));
    let moved = client.list_movements(wire::ListMovementsRequest::default());
    assert_eq!(result(moved.await).unwrap().page.unwrap().total, 5);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn movements_show_the_journal(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("100").await, bed.wallet().await);
    bed.transfer(&a, &b, "40", true).await.unwrap();
    let request = |filters, include: &[&str]| wire::ListMovementsRequest {
        list: Some(ListRequest {
            filters,
            sort: vec![Sort {
                field: "amount".to_owned(),
                descending: false,
            }],
            include: include.iter().map(|name| (*name).to_owned()).collect(),
            ..ListRequest::default()
        }),
        wallet_id: None,
    };
    let all = result(
        bed.movements()
            .list_movements(request(vec![], &["transaction"]))
            .await,
    );
    let all = all.unwrap().movements;
    let amounts: Vec<_> = all.iter().map(|movement| &*movement.amount).collect();
    assert_eq!(amounts, ["-40.00000000", "40.00000000", "100.00000000"]);
    assert_eq!(
        all[0].transaction.as_ref().unwrap().id,
        all[0].transaction_id
    );
    assert_eq!((&*all[0].code, &*all[2].code), ("transfer", "deposit"));

    let external = filter("walletId", "00000000-0000-7000-8000-000000000001");
    let system = result(
        bed.movements()
            .list_movements(request(vec![external], &[]))
            .await,
    );
    let system = system.unwrap().movements;
    assert_eq!((system.len(), &*system[0].amount), (1, "-100.00000000"));
    let get = wire::GetMovementRequest {
        id: all[1].id.clone(),
        include: vec![],
    };
    let one = result(bed.movements().get_movement(get).await).unwrap();
    assert_eq!(one.movement.unwrap().wallet_id, b);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn totals_leave_the_system_out(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let a = bed.funded("100").await;
    bed.fund(&a, "0.5", "btc").await;
    bed.withdraw(&a, "10").await.unwrap();
    let total = bed
        .wallets()
        .get_total_balance(wire::GetTotalBalanceRequest::default())
        .await;
    let total = result(total).unwrap().balances;
    let shown: Vec<_> = total
        .iter()
        .map(|entry| (&*entry.asset_code, &*entry.amount, &*entry.available_amount))
        .collect();
    assert_eq!(
        shown,
        [
            ("btc", "0.50000000", "0.50000000"),
            ("usd", "100.00000000", "90.00000000")
        ]
    );
    let filtered = wire::GetTotalBalanceRequest {
        list: Some(list(vec![filter("assetCode", "BTC")])),
    };
    let filtered = result(bed.wallets().get_total_balance(filtered).await).unwrap();
    assert_eq!(filtered.balances.len(), 1);
    let wallets = bed
        .wallets()
        .list_wallets(wire::ListWalletsRequest::default())
        .await;
    assert_eq!(result(wallets).unwrap().page.unwrap().total, 2);
    bed.end().await;
}
