//! What happened, when: histories, balances at past moments, activity.

use platform::error::Code;
use prost_types::Timestamp;
use proto::{
    common::v1::ListRequest,
    wallet::v1::{
        self as wire, TransactionStatus, transaction_service_client::TransactionServiceClient,
    },
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, refused, result, show, user};

fn history(id: &str) -> wire::ListTransactionChangesRequest {
    wire::ListTransactionChangesRequest { id: id.to_owned() }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_history_tells_who_did_what(_: PgPoolOptions, server: PgConnectOptions) {
    use TransactionStatus::{Failed, Pending, Processing};

    let bed = Bed::new(server).await;
    let wallet = bed.funded("5").await;
    let id = bed.withdraw(&wallet, "1").await.unwrap().id;
    bed.approve(&id).await.unwrap();
    bed.fail(&id).await.unwrap();
    let mut transactions = bed.transactions();
    let answer = transactions.list_transaction_changes(history(&id)).await;
    let changes = result(answer).unwrap().changes;
    let steps: Vec<_> = changes
        .iter()
        .map(|change| (change.from.map(|_| change.from()), change.to()))
        .collect();
    assert_eq!(
        steps,
        [
            (None, Pending),
            (Some(Pending), Processing),
            (Some(Processing), Failed)
        ]
    );
    assert!(
        changes
            .iter()
            .all(|change| change.actor == "service:gateway")
    );
    assert!(changes.is_sorted_by_key(|change| change.created_at.map(|at| (at.seconds, at.nanos))));

    for unknown in ["0192abcd-0000-7000-8000-00000000000f", "x"] {
        let answer = transactions
            .list_transaction_changes(history(unknown))
            .await;
        assert_eq!(refused(result(answer)).0, Code::TransactionNotFound);
    }
    let somebody = bed.client(&user("0192abcd-0000-7000-8000-00000000000f"));
    let answer = TransactionServiceClient::new(somebody)
        .list_transaction_changes(history(&id))
        .await;
    assert_eq!(refused(result(answer)).0, Code::Forbidden);
    bed.end().await;
}

async fn balance_at(bed: &Bed, wallet: &str, at: &Timestamp) -> Vec<String> {
    let request = wire::GetWalletBalanceRequest {
        id: wallet.to_owned(),
        list: None,
        at: Some(*at),
    };
    let answer = result(bed.wallets().get_wallet_balance(request).await).unwrap();
    answer.balances.iter().map(show).collect()
}

/// Moves all that has happened so far into the past, so that moments lie apart.
async fn an_hour_passes(bed: &Bed) {
    for sql in [
        "update wallet.movements set created_at = created_at - interval '1 hour'",
        "update wallet.transactions set created_at = created_at - interval '1 hour',
             updated_at = updated_at - interval '1 hour',
             processed_at = processed_at - interval '1 hour'",
    ] {
        bed.execute(sql).await;
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_balance_is_told_for_any_moment(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.wallet().await);
    for _ in 0..3 {
        bed.transfer(&a, &b, "1", true).await.unwrap();
    }
    bed.fund(&a, "0.5", "btc").await;
    an_hour_passes(&bed).await;
    let held = bed.withdraw(&a, "2").await.unwrap();
    let expected = bed.deposit(&a, "4", "usd").await.unwrap();
    an_hour_passes(&bed).await;
    bed.confirm(&held.id).await.unwrap();
    bed.fail(&expected.id).await.unwrap();
    let last = bed.transfer(&b, &a, "3", true).await.unwrap();

    let now = last.created_at.unwrap();
    let hours_ago = |hours: i64| Timestamp {
        seconds: now.seconds - hours * 3_600 + 600,
        ..now
    };
    let moments = [
        (hours_ago(3), vec![]),
        (hours_ago(2), vec!["btc 0.5 0.5 0 0", "usd 7 7 0 0"]),
        (hours_ago(1), vec!["btc 0.5 0.5 0 0", "usd 7 5 2 4"]),
        (now, vec!["btc 0.5 0.5 0 0", "usd 8 8 0 0"]),
        (hours_ago(-9), vec!["btc 0.5 0.5 0 0", "usd 8 8 0 0"]),
    ];
    for (at, expected) in moments {
        assert_eq!(balance_at(&bed, &a, &at).await, expected, "{at:?}");
    }
    // The moment itself counts, the one before it does not.
    let before = Timestamp {
        nanos: now.nanos - 1_000_000,
        ..now
    };
    assert_eq!(balance_at(&bed, &b, &now).await, ["usd 0 0 0 0"]);
    if now.nanos > 0 {
        assert_eq!(balance_at(&bed, &b, &before).await, ["usd 3 3 0 0"]);
    }
    let absurd = wire::GetWalletBalanceRequest {
        id: a,
        list: None,
        at: Some(Timestamp {
            seconds: i64::MAX,
            nanos: 0,
        }),
    };
    let refusal = result(bed.wallets().get_wallet_balance(absurd).await);
    assert_eq!(refused(refusal).1, ["at"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn activity_embeds_what_its_reader_may_see(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let (a, b) = (bed.funded("10").await, bed.wallet().await);
    let owner = "0192abcd-0000-7000-8000-00000000000f";
    bed.own(&a, owner).await;
    let sent = bed.transfer(&a, &b, "1", false).await.unwrap();
    let request = |wallet: Option<&str>, include: &[&str]| wire::ListActivityRequest {
        list: Some(ListRequest {
            include: include.iter().map(|one| (*one).to_owned()).collect(),
            ..ListRequest::default()
        }),
        wallet_id: wallet.map(str::to_owned),
    };
    let mut transactions = bed.transactions();
    let of_b = request(Some(&b), &["wallets"]);
    let page = result(transactions.list_activity(of_b).await).unwrap();
    assert_eq!(page.page.unwrap().total, 1);
    let [entry] = &page.activities[..] else {
        panic!("one entry")
    };
    assert_eq!(entry.transaction.as_ref(), Some(&sent));
    assert_eq!(
        entry.origin_wallet.as_ref().map(|wallet| &wallet.id),
        Some(&a)
    );
    assert_eq!(
        entry.destination_wallet.as_ref().map(|wallet| &wallet.id),
        Some(&b)
    );
    assert_eq!(entry.origin_wallet_user, None);

    let mut user = TransactionServiceClient::new(bed.client(&user(owner)));
    let own = result(user.list_activity(request(None, &["wallets"])).await).unwrap();
    assert_eq!(own.page.unwrap().total, 2);
    assert!(own.activities[0].origin_wallet.is_some());
    assert_eq!(own.activities[0].destination_wallet, None);
    let foreign = result(user.list_activity(request(Some(&b), &[])).await);
    assert_eq!(refused(foreign).0, Code::WalletNotFound);
    let unknown = result(user.list_activity(request(None, &["lines"])).await);
    assert_eq!(refused(unknown).0, Code::InvalidQuery);
    bed.end().await;
}
