//! Idempotency keys: one effect for each key, and the first response for each replay.

use std::fmt::Debug;

use futures::future::join_all;
use platform::{error::Code, idempotency::is_replay};
use prost::Message as _;
use proto::wallet::v1 as wire;
use sqlx::PgPool;
use tonic::{Request, Response, Status};

use crate::{
    assets::named,
    harness::{
        ANN, TestApp, balance, deposit, exchange, keyed, payment, rate, rejection, result,
        serve_users, transfer, usd, withdrawal,
    },
};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_replay_returns_the_first_response(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let request = || keyed(transfer(&wallet, &other, "10", false), "k", "00");
    let first = app
        .admin
        .transactions()
        .create_transfer(request())
        .await
        .unwrap();
    assert!(!is_replay(first.metadata()));
    let first = first.into_inner();
    app.confirm(&first.transaction.as_ref().unwrap().id)
        .await
        .unwrap();
    let again = app
        .admin
        .transactions()
        .create_transfer(request())
        .await
        .unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first);

    let other_body = keyed(transfer(&wallet, &other, "20", false), "k", "01");
    let rejected = app.admin.transactions().create_transfer(other_body).await;
    assert_eq!(rejection(result(rejected)).code, Code::IdempotencyKeyReused);
    assert_eq!(app.balances(&wallet).await, [usd("90")]);

    // Only success is recorded: a rejected request may succeed later.
    let request = || keyed(transfer(&wallet, &other, "100", true), "l", "00");
    let rejected = app.admin.transactions().create_transfer(request()).await;
    assert_eq!(rejection(result(rejected)).code, Code::InsufficientFunds);
    app.fund(&wallet, "10", "usd").await;
    app.admin
        .transactions()
        .create_transfer(request())
        .await
        .unwrap();
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn concurrent_requests_with_one_key_have_one_effect(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut replica = app.replica().await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let calls = (0..100).map(|n| {
        let mut client = if n % 2 == 0 {
            app.admin.transactions()
        } else {
            replica.admin.transactions()
        };
        let request = keyed(transfer(&wallet, &other, "1", true), "k", "00");
        async move { client.create_transfer(request).await.unwrap() }
    });
    let responses = join_all(calls).await;
    let fresh = responses
        .iter()
        .filter(|response| !is_replay(response.metadata()));
    assert_eq!(fresh.count(), 1);
    assert!(
        responses
            .iter()
            .all(|response| response.get_ref() == responses[0].get_ref())
    );
    assert_eq!(app.balances(&other).await, [usd("1")]);

    let bodies = (0..20).map(|n| {
        let amount = if n % 2 == 0 { "10" } else { "20" };
        let request = keyed(
            transfer(&wallet, &other, amount, true),
            "m",
            &format!("0{}", n % 2),
        );
        let mut client = app.admin.transactions();
        async move { client.create_transfer(request).await }
    });
    for response in join_all(bodies).await.into_iter().filter(Result::is_err) {
        assert_eq!(rejection(result(response)).code, Code::IdempotencyKeyReused);
    }
    assert_eq!(
        app.count("select count(*) from wallet.transactions").await,
        3
    );
    replica.stop().await;
    app.finish().await;
}

/// Calls twice with one key, and once with the key and another body.
async fn assert_replayed<M: Clone, R: Debug + PartialEq>(
    rpc: &str,
    message: M,
    call: impl AsyncFn(Request<M>) -> Result<Response<R>, Status>,
) {
    let first = call(keyed(message.clone(), rpc, "00")).await.unwrap();
    let again = call(keyed(message.clone(), rpc, "00")).await.unwrap();
    assert!(!is_replay(first.metadata()), "{rpc}");
    assert!(is_replay(again.metadata()), "{rpc}");
    assert_eq!(first.into_inner(), again.into_inner(), "{rpc}");
    let reused = result(call(keyed(message, rpc, "01")).await);
    assert_eq!(rejection(reused).code, Code::IdempotencyKeyReused, "{rpc}");
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn every_new_transaction_is_replayed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("100").await, app.new_wallet().await);
    app.set_rate("usd", "points", "2").await;
    let client = || app.admin.transactions();
    assert_replayed("deposit", deposit(&a, "1", "usd"), async |request| {
        client().create_deposit(request).await
    })
    .await;
    assert_replayed("transfer", transfer(&a, &b, "2", true), async |request| {
        client().create_transfer(request).await
    })
    .await;
    assert_replayed("withdrawal", withdrawal(&a, "3"), async |request| {
        client().create_withdrawal(request).await
    })
    .await;
    assert_replayed("payment", payment(&a, "4"), async |request| {
        client().create_payment(request).await
    })
    .await;
    let exchange = exchange(&a, "usd", "points", "5");
    assert_replayed("exchange", exchange, async |request| {
        client().create_exchange(request).await
    })
    .await;
    let expected = usd("89").available("86").held("3").incoming("1");
    assert_eq!(app.balances(&a).await, [balance("points", "10"), expected]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn every_change_of_a_status_is_replayed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.funded_wallet("100").await;
    let client = || app.admin.transactions();
    let id = app.withdraw(&wallet, "1").await.unwrap().id;
    let approve = wire::ApproveTransactionRequest { id: id.clone() };
    assert_replayed("approve", approve, async |request| {
        client().approve_transaction(request).await
    })
    .await;
    let confirm = wire::ConfirmTransactionRequest { id };
    assert_replayed("confirm", confirm, async |request| {
        client().confirm_transaction(request).await
    })
    .await;
    let fail = wire::FailTransactionRequest {
        id: app.withdraw(&wallet, "2").await.unwrap().id,
        reason: None,
    };
    assert_replayed("fail", fail, async |request| {
        client().fail_transaction(request).await
    })
    .await;
    let reject = wire::RejectTransactionRequest {
        id: app.withdraw(&wallet, "3").await.unwrap().id,
        reason: None,
    };
    assert_replayed("reject", reject, async |request| {
        client().reject_transaction(request).await
    })
    .await;
    assert_eq!(app.balances(&wallet).await, [usd("99")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn every_other_create_is_replayed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = wire::CreateWalletRequest::default();
    assert_replayed("wallet", wallet, async |request| {
        app.admin.wallets().create_wallet(request).await
    })
    .await;
    assert_replayed("asset", named("gold"), async |request| {
        app.admin.assets().create_asset(request).await
    })
    .await;
    assert_replayed("rate", rate("usd", "gold", "1"), async |request| {
        app.admin.rates().create_rate(request).await
    })
    .await;
    let address = wire::CreateAddressRequest {
        address: Some("bc1q".to_owned()),
        ..wire::CreateAddressRequest::default()
    };
    assert_replayed("address", address, async |request| {
        app.admin.addresses().create_address(request).await
    })
    .await;
    let kept = "select count(*) from wallet.idempotency_keys where response is not null";
    assert_eq!(app.count(kept).await, 4);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_record_holds_the_resource(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let request = keyed(wire::CreateWalletRequest::default(), "w", "00");
    let created = app.admin.wallets().create_wallet(request).await;
    let created = result(created).unwrap().wallet.unwrap();
    let recorded: Vec<u8> = sqlx::query_scalar("select response from wallet.idempotency_keys")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    assert_eq!(wire::Wallet::decode(&*recorded).unwrap(), created);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_used_key_is_refused_whatever_else_is_wrong(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (wallet, other) = (app.funded_wallet("100").await, app.new_wallet().await);
    let mut transactions = app.admin.transactions();
    let used = keyed(transfer(&wallet, &other, "10", false), "k", "00");
    transactions.create_transfer(used).await.unwrap();
    for amount in ["much", "0", "1000"] {
        let invalid = keyed(transfer(&wallet, &other, amount, false), "k", "01");
        let rejected = transactions.create_transfer(invalid).await;
        assert_eq!(rejection(result(rejected)).code, Code::IdempotencyKeyReused);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn users_and_admins_do_not_share_keys(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (a, b) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.set_owner(&a, ANN).await;
    let request = || keyed(transfer(&a, &b, "1", false), "k", "00");
    let by_admin = app.admin.transactions().create_transfer(request()).await;
    let mut ann = app.as_user(ANN).transactions();
    let by_ann = ann.create_transfer(request()).await.unwrap();
    assert!(!is_replay(by_ann.metadata()));
    assert_ne!(by_admin.unwrap().into_inner(), by_ann.into_inner());
    let held = usd("10").available("8").held("2");
    assert_eq!(app.balances(&a).await, [held]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_wallet_is_replayed_without_identity_svc(pool: PgPool) {
    let identity = serve_users(&[ANN]).await;
    let flags = ["--identity-grpc-url", &identity];
    let app = TestApp::with_flags(pool.clone(), &flags).await;
    let request = || {
        let request = wire::CreateWalletRequest {
            owner_id: Some(ANN.to_owned()),
            ..wire::CreateWalletRequest::default()
        };
        keyed(request, "k", "00")
    };
    let first = app.admin.wallets().create_wallet(request()).await.unwrap();
    // Nothing listens where it expects identity-svc.
    let mut alone = TestApp::new(pool).await;
    let again = alone
        .admin
        .wallets()
        .create_wallet(request())
        .await
        .unwrap();
    assert!(is_replay(again.metadata()));
    assert_eq!(again.into_inner(), first.into_inner());
    alone.stop().await;
    app.finish().await;
}
