//! Money that is sent to a wallet, or to the user with an email.

use futures::future::join_all;
use platform::error::{Code, Failure, FieldCode};
use proto::wallet::v1::{self as wire, SendMoneyRequest, TransactionStatus, TransactionType};
use sqlx::PgPool;

use crate::harness::{
    ANN, BEN, Clients, Rejection, TestApp, UNKNOWN, invalid, keyed, rejection, result, serve_users,
    usd,
};

fn to_wallet(from: &str, to: &str, amount: &str) -> SendMoneyRequest {
    SendMoneyRequest {
        amount: amount.to_owned(),
        asset_code: "usd".to_owned(),
        origin_wallet_id: from.to_owned(),
        destination_wallet_id: Some(to.to_owned()),
        ..SendMoneyRequest::default()
    }
}

fn to_email(from: &str, email: &str, amount: &str) -> SendMoneyRequest {
    SendMoneyRequest {
        destination_wallet_id: None,
        destination_email: Some(email.to_owned()),
        ..to_wallet(from, "", amount)
    }
}

/// Starts a service for which `<id>@wallet.example` is the email of a user with this primary wallet.
async fn start(pool: PgPool) -> TestApp {
    let identity = serve_users(&[ANN]).await;
    TestApp::with_flags(pool, &["--identity-grpc-url", &identity]).await
}

async fn send(clients: &Clients, request: SendMoneyRequest) -> Result<wire::Transaction, Failure> {
    let sent = result(clients.transactions().send_money(request).await)?;
    Ok(sent.transaction.unwrap())
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn money_is_sent_to_a_wallet_or_to_the_user_with_an_email(pool: PgPool) {
    let app = start(pool).await;
    let (from, to) = (app.funded_wallet("10").await, app.funded_wallet("1").await);
    let email = format!("{to}@wallet.example");
    for request in [to_wallet(&from, &to, "4"), to_email(&from, &email, "4")] {
        let sent = send(&app.admin, request).await.unwrap();
        assert_eq!(sent.status(), TransactionStatus::Confirmed);
        assert_eq!(
            (&*sent.code, sent.r#type()),
            ("send", TransactionType::Transfer)
        );
        assert_eq!(sent.destination_wallet_id.as_ref(), Some(&to));
        let events = app.event_types(&sent.id).await;
        assert_eq!(events, ["TransactionConfirmed"]);
    }
    let refused = send(&app.admin, to_email(&from, &email, "4")).await;
    let expected = Rejection::new(Code::InsufficientFunds, &["amount"]);
    assert_eq!(rejection(refused), expected);
    assert_eq!(app.balances(&to).await, [usd("9")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn unknown_and_locked_recipients_are_refused_alike_after_everything_else(pool: PgPool) {
    let app = start(pool).await;
    let (from, to) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.set_owner(&from, ANN).await;
    app.lock(&to, true).await;
    let ann = app.as_user(ANN);
    let locked = format!("{to}@wallet.example");
    for email in ["nobody@example.com", &locked] {
        let refused = send(&ann, to_email(&from, email, "10")).await.unwrap_err();
        insta::allow_duplicates! {
            insta::assert_snapshot!(refused.fields[0].message,
                @"nobody who can receive money has this email");
        }
        assert_eq!(refused.fields[0].field, "destinationEmail");
        assert_eq!(refused.fields[0].code, FieldCode::UnknownReference);
        // Whoever can't send the money does not learn that.
        for (request, field) in [
            (to_email(&from, email, "11"), "amount"),
            (to_email(&from, email, "0.001"), "amount"),
            (to_email(UNKNOWN, email, "1"), "originWalletId"),
        ] {
            let refused = send(&ann, request).await.unwrap_err();
            assert_eq!(refused.fields[0].field, field, "{refused:?}");
        }
    }
    // To a wallet that is named, the lock is no secret.
    let refused = send(&ann, to_wallet(&from, &to, "1")).await;
    assert_eq!(rejection(refused).code, Code::WalletLocked);
    assert_eq!(app.balances(&from).await, [usd("10")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn what_is_wrong_is_named(pool: PgPool) {
    let app = start(pool).await;
    let (from, other) = (app.funded_wallet("10").await, app.new_wallet().await);
    let own = format!("{from}@wallet.example");
    let both = SendMoneyRequest {
        destination_email: Some("a@wallet.example".to_owned()),
        ..to_wallet(&from, &other, "4")
    };
    let asset = SendMoneyRequest {
        asset_code: "gold".to_owned(),
        ..to_wallet(&from, &other, "4")
    };
    for (request, field) in [
        (to_wallet(&from, "", "4"), "destinationWalletId"),
        (to_wallet(&from, "x", "4"), "destinationWalletId"),
        (to_wallet(&from, UNKNOWN, "4"), "destinationWalletId"),
        (to_wallet(&from, &from, "4"), "destinationWalletId"),
        (to_email(&from, &own, "4"), "destinationEmail"),
        (both, "destinationEmail"),
        (asset, "assetCode"),
        (to_wallet(&from, &other, "0"), "amount"),
        (to_wallet(&from, &other, "-1"), "amount"),
        (to_wallet("", &other, "4"), "originWalletId"),
    ] {
        let refused = send(&app.admin, request).await;
        assert_eq!(rejection(refused), invalid(&[field]));
    }
    app.lock(&from, true).await;
    for request in [to_wallet(&from, &other, "1"), to_email(&from, "a@b.c", "1")] {
        let refused = send(&app.admin, request).await;
        assert_eq!(rejection(refused).code, Code::WalletLocked);
    }
    app.lock(&from, false).await;
    app.enable("usd", false).await;
    let refused = send(&app.admin, to_wallet(&from, &other, "1")).await;
    assert_eq!(rejection(refused).code, Code::AssetDisabled);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_user_sends_only_from_its_own_wallets(pool: PgPool) {
    let app = start(pool).await;
    let (from, to) = (app.funded_wallet("10").await, app.new_wallet().await);
    app.set_owner(&from, ANN).await;
    let email = format!("{to}@wallet.example");
    for request in [to_wallet(&from, &to, "1"), to_email(&from, &email, "1")] {
        let refused = send(&app.as_user(BEN), request.clone()).await;
        assert_eq!(rejection(refused), invalid(&["originWalletId"]));
        send(&app.as_user(ANN), request).await.unwrap();
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_balance_is_sent_once(pool: PgPool) {
    let app = start(pool).await;
    let (from, to) = (app.funded_wallet("10").await, app.new_wallet().await);
    let email = format!("{to}@wallet.example");
    let sendings = (0..8).map(|n| {
        let request = if n % 2 == 0 {
            to_wallet(&from, &to, "10")
        } else {
            to_email(&from, &email, "10")
        };
        send(&app.admin, request)
    });
    let (sent, refused): (Vec<_>, Vec<_>) = join_all(sendings)
        .await
        .into_iter()
        .partition(Result::is_ok);
    assert_eq!((sent.len(), refused.len()), (1, 7));
    for refusal in refused {
        assert_eq!(rejection(refusal).code, Code::InsufficientFunds);
    }
    assert_eq!(app.balances(&to).await, [usd("10")]);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_repeat_sends_nothing_more(pool: PgPool) {
    let app = start(pool).await;
    let (from, to) = (app.funded_wallet("10").await, app.new_wallet().await);
    let request = to_email(&from, &format!("{to}@wallet.example"), "10");
    let mut transactions = app.admin.transactions();
    let first = transactions
        .send_money(keyed(request.clone(), "k", "00"))
        .await;
    let first = result(first).unwrap().transaction;
    let second = transactions
        .send_money(keyed(request.clone(), "k", "00"))
        .await;
    assert_eq!(result(second).unwrap().transaction, first);
    // Nor does one whose recipient can receive nothing any more.
    app.lock(&to, true).await;
    let third = transactions
        .send_money(keyed(request.clone(), "k", "00"))
        .await;
    assert_eq!(result(third).unwrap().transaction, first);
    let other = transactions.send_money(keyed(request, "k", "01")).await;
    assert_eq!(rejection(result(other)).code, Code::IdempotencyKeyReused);
    app.finish().await;
}
