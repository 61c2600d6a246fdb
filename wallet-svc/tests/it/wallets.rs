//! Wallets themselves.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, refused, result};

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_operation_id_makes_one_wallet(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let request = wire::CreateWalletRequest {
        name: Some("Ann wallet".to_owned()),
        owner_id: Some("0192ABCD-0000-7000-8000-0000000000aa".to_owned()),
        custom_data: Some(r#"{ "n": 1.10 }"#.to_owned()),
        operation_id: Some("user:1:wallet".to_owned()),
        ..wire::CreateWalletRequest::default()
    };
    let made = result(bed.wallets().create_wallet(request.clone()).await).unwrap();
    let again = result(bed.wallets().create_wallet(request).await).unwrap();
    assert_eq!(made, again);
    let wallet = made.wallet.unwrap();
    assert_eq!(
        wallet.owner_id.as_deref(),
        Some("0192abcd-0000-7000-8000-0000000000aa")
    );
    assert_eq!(
        (wallet.reference.len(), &*wallet.custom_data),
        (10, r#"{ "n": 1.10 }"#)
    );
    assert_eq!(bed.events(&wallet.id).await, ["WalletCreated"]);
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_patch_changes_what_its_mask_names(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::new(server).await;
    let before = wire::GetWalletRequest {
        id: bed.wallet().await,
    };
    let before = result(bed.wallets().get_wallet(before).await)
        .unwrap()
        .wallet
        .unwrap();
    let update = |paths: &[&str]| wire::UpdateWalletRequest {
        id: before.id.clone(),
        name: Some("new".to_owned()),
        custom_data: Some("{}".to_owned()),
        update_mask: Some(prost_types::FieldMask {
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }),
        ..wire::UpdateWalletRequest::default()
    };
    let same = result(bed.wallets().update_wallet(update(&[])).await).unwrap();
    assert_eq!(same.wallet.as_ref(), Some(&before));
    let same = result(
        bed.wallets()
            .update_wallet(update(&["custom_data", "owner_id"]))
            .await,
    );
    assert_eq!(same.unwrap().wallet.as_ref(), Some(&before));
    let named = result(bed.wallets().update_wallet(update(&["name"])).await).unwrap();
    assert_eq!(named.wallet.unwrap().name.as_deref(), Some("new"));
    let refusal = result(bed.wallets().update_wallet(update(&["locked"])).await);
    assert_eq!(
        refused(refusal),
        (Code::ValidationFailed, vec!["locked".to_owned()])
    );
    let external = "00000000-0000-7000-8000-000000000001";
    for id in [external, "x", ""] {
        let get = wire::GetWalletRequest { id: id.to_owned() };
        let refusal = result(bed.wallets().get_wallet(get).await);
        assert_eq!(refused(refusal).0, Code::WalletNotFound);
    }
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_second_start_finds_the_first(_: PgPoolOptions, server: PgConnectOptions) {
    let mut bed = Bed::new(server).await;
    let default = bed.settings().await.default_wallet_id;
    bed.stop().await;
    bed.start(4).await;
    let replica = bed.replica().await;
    assert_eq!(bed.settings().await.default_wallet_id, default);
    assert_eq!(replica.settings().await.default_wallet_id, default);
    assert_eq!(bed.count("select count(*) from wallet.wallets").await, 4);
    assert_eq!(bed.count("select count(*) from wallet.assets").await, 4);
    replica.end().await;
    bed.end().await;
}
