//! Changes of only the version that a client has seen.

use futures::future::join_all;
use platform::{
    error::Code,
    grpc::precondition::{IF_VERSION, Versions},
};
use proto::wallet::v1 as wire;
use sqlx::PgPool;
use tonic::Request;

use crate::harness::{TestApp, mask, rejection, result};

/// Makes a request for this version only.
fn only<T>(message: T, version: i64) -> Request<T> {
    let mut request = Request::new(message);
    let versions = Versions::new(vec![version]).unwrap();
    request
        .metadata_mut()
        .insert(IF_VERSION, versions.metadata());
    request
}

/// Returns the version of a wallet: the milliseconds of its last change.
fn version(wallet: &wire::Wallet) -> i64 {
    let time = wallet.updated_at.unwrap();
    time.seconds * 1_000 + i64::from(time.nanos) / 1_000_000
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn of_many_changes_of_a_wallet_for_one_version_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let created = wire::CreateWalletRequest::default();
    let created = app.admin.wallets().create_wallet(created).await;
    let wallet = result(created).unwrap().wallet.unwrap();
    let read = version(&wallet);
    let changes = (0..8).map(|number| {
        let update = wire::UpdateWalletRequest {
            id: wallet.id.clone(),
            name: Some(format!("wallet {number}")),
            update_mask: Some(mask(&["name"])),
            ..Default::default()
        };
        let mut wallets = app.admin.wallets();
        async move { result(wallets.update_wallet(only(update, read)).await) }
    });
    let (changed, refused): (Vec<_>, Vec<_>) =
        join_all(changes).await.into_iter().partition(Result::is_ok);
    assert_eq!(changed.len(), 1);
    for refusal in refused {
        assert_eq!(rejection(refusal).code, Code::PreconditionFailed);
    }
    // A movement is no change of the wallet.
    app.fund(&wallet.id, "1", "usd").await;
    let changed = changed.into_iter().next().unwrap().unwrap().wallet.unwrap();
    let nothing = wire::UpdateWalletRequest {
        id: wallet.id.clone(),
        ..Default::default()
    };
    let mut wallets = app.admin.wallets();
    let same = wallets
        .update_wallet(only(nothing, version(&changed)))
        .await;
    assert_eq!(result(same).unwrap().wallet, Some(changed));
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn rates_are_compared_too(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.set_rate("usd", "points", "100").await;
    let update = |rate: &str| wire::UpdateRateRequest {
        base_asset_code: "usd".to_owned(),
        quote_asset_code: "points".to_owned(),
        rate: Some(rate.to_owned()),
        update_mask: Some(mask(&["rate"])),
        ..Default::default()
    };
    let delete = || wire::DeleteRateRequest {
        base_asset_code: "usd".to_owned(),
        quote_asset_code: "points".to_owned(),
    };
    let mut rates = app.admin.rates();
    let changed = rates.update_rate(only(update("90"), 1)).await;
    assert_eq!(result(changed).unwrap().rate.unwrap().version, 2);
    let refused = result(rates.update_rate(only(update("80"), 1)).await);
    assert_eq!(rejection(refused).code, Code::PreconditionFailed);
    let refused = result(rates.delete_rate(only(delete(), 1)).await);
    assert_eq!(rejection(refused).code, Code::PreconditionFailed);
    rates.delete_rate(only(delete(), 2)).await.unwrap();
    app.finish().await;
}
