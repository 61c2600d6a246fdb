//! Addresses: given by clients, or derived from an extended public key.

use futures::future::join_all;
use platform::error::Code;
use proto::{
    common::v1::{Filter, ListRequest},
    wallet::v1 as wire,
};
use sqlx::PgPool;

use crate::harness::{
    ANN, Rejection, TestApp, UNKNOWN, equals, invalid, keyed, list, rejection, result, stable,
};

/// The test vectors of BIP 84.
const KEYS: [&str; 2] = [
    "--hd-public-keys",
    "btc=zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs",
];
const FIRST: &str = "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu";
const SECOND: &str = "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g";

fn given(address: &str, asset: Option<&str>) -> wire::CreateAddressRequest {
    wire::CreateAddressRequest {
        address: Some(address.to_owned()),
        asset_code: asset.map(str::to_owned),
        ..wire::CreateAddressRequest::default()
    }
}

fn derived() -> wire::CreateAddressRequest {
    wire::CreateAddressRequest {
        provider: Some("hd".to_owned()),
        asset_code: Some("BTC".to_owned()),
        ..wire::CreateAddressRequest::default()
    }
}

fn get(address: &str) -> wire::GetAddressRequest {
    wire::GetAddressRequest {
        address: address.to_owned(),
    }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn derived_addresses_take_consecutive_indexes(pool: PgPool) {
    let app = TestApp::with_flags(pool, &KEYS).await;
    let mut addresses = app.admin.addresses();
    let request = keyed(derived(), "k1", "00");
    let first = result(addresses.create_address(request).await).unwrap();
    let first = first.address.unwrap();
    assert_eq!(first.address, FIRST);
    insta::assert_snapshot!(stable(&first, &[]), @r#"
    Address {
        address: "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
        asset_code: Some("btc"),
        wallet_id: None,
        custom_data: "{}",
        metadata: "{\"provider\":\"hd\",\"path\":\"0/0\"}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    let request = keyed(derived(), "k1", "00");
    let again = result(addresses.create_address(request).await).unwrap();
    assert_eq!(again.address.as_ref(), Some(&first));

    // An address that a client has given is skipped.
    let taken = given(SECOND, Some("btc"));
    result(addresses.create_address(taken).await).unwrap();
    let next = result(addresses.create_address(derived()).await).unwrap();
    assert_eq!(
        next.address.unwrap().metadata,
        r#"{"provider":"hd","path":"0/2"}"#
    );

    let calls = (0..20).map(|_| {
        let mut addresses = addresses.clone();
        async move { addresses.create_address(derived()).await.unwrap() }
    });
    join_all(calls).await;
    let paths = "select count(distinct metadata) from wallet.addresses where metadata like '%hd%'";
    assert_eq!(app.count(paths).await, 22);
    assert_eq!(
        app.count("select next_index from wallet.address_keys")
            .await,
        23
    );

    // Reads derive nothing.
    let list = wire::ListAddressesRequest {
        list: Some(ListRequest::default()),
    };
    let page = result(addresses.list_addresses(list).await).unwrap();
    assert_eq!(page.page.unwrap().total, 23);
    assert_eq!(
        app.count("select next_index from wallet.address_keys")
            .await,
        23
    );
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn derivation_skips_any_number_of_given_addresses(pool: PgPool) {
    let app = TestApp::with_flags(pool, &KEYS).await;
    let derive = async || {
        let response = app.admin.addresses().create_address(derived()).await;
        result(response).unwrap().address.unwrap()
    };
    for _ in 0..260 {
        derive().await;
    }
    // Without the key's index they count as given; the last ten are of another asset.
    app.execute("delete from wallet.address_keys").await;
    app.execute(
        r#"update wallet.addresses set asset_code = 'points' where metadata like '%"0/25_"%'"#,
    )
    .await;
    for path in ["0/250", "0/251"] {
        let metadata = format!(r#"{{"provider":"hd","path":"{path}"}}"#);
        assert_eq!(derive().await.metadata, metadata);
    }
    let next = "select next_index from wallet.address_keys";
    assert_eq!(app.count(next).await, 252);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn an_address_is_unique_for_its_asset(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let mut addresses = app.admin.addresses();
    let oldest = wire::CreateAddressRequest {
        wallet_id: Some(wallet.clone()),
        custom_data: Some(r#"{"n":1.10}"#.to_owned()),
        ..given("shared", Some("usd"))
    };
    let oldest = result(addresses.create_address(oldest).await).unwrap();
    let oldest = oldest.address.unwrap();
    insta::assert_snapshot!(stable(&oldest, &[(&wallet, "<wallet>")]), @r#"
    Address {
        address: "shared",
        asset_code: Some("usd"),
        wallet_id: Some("<wallet>"),
        custom_data: "{\"n\":1.10}",
        metadata: "{}",
        created_at: Some(<time>),
        updated_at: Some(<time>),
    }
    "#);
    for asset in [Some("eur"), None] {
        result(addresses.create_address(given("shared", asset)).await).unwrap();
    }
    for asset in [Some("USD"), None] {
        let rejected = result(addresses.create_address(given("shared", asset)).await);
        let taken = Rejection::new(Code::AddressTaken, &["address"]);
        assert_eq!(rejection(rejected), taken);
    }
    let found = result(addresses.get_address(get("shared")).await).unwrap();
    assert_eq!(found.address, Some(oldest));
    for unknown in ["other", "SHARED", "a b", ""] {
        let rejected = result(addresses.get_address(get(unknown)).await);
        assert_eq!(rejection(rejected).code, Code::AddressNotFound);
    }

    let mut ann = app.as_user(ANN).addresses();
    let rejected = result(ann.get_address(get("shared")).await);
    assert_eq!(rejection(rejected).code, Code::AddressNotFound);
    app.set_owner(&wallet, ANN).await;
    result(ann.get_address(get("shared")).await).unwrap();
    let list = wire::ListAddressesRequest { list: None };
    let page = result(ann.list_addresses(list).await).unwrap();
    assert_eq!(page.addresses.len(), 1);
    let rejected = result(ann.create_address(given("mine", None)).await);
    assert_eq!(rejection(rejected).code, Code::Forbidden);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn invalid_addresses_are_refused_by_field(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let mut addresses = app.admin.addresses();
    let nothing = wire::CreateAddressRequest::default();
    for (request, fields) in [
        (nothing.clone(), &["address"][..]),
        (given("a/b", None), &["address"]),
        (given("", None), &["address"]),
        (given("a", Some("nope")), &["assetCode"]),
        (
            wire::CreateAddressRequest {
                provider: Some("hd".to_owned()),
                ..given("a", Some("btc"))
            },
            &["provider"],
        ),
        (
            wire::CreateAddressRequest {
                provider: Some("coinbase".to_owned()),
                ..nothing.clone()
            },
            &["provider", "assetCode"],
        ),
        // No key is configured.
        (derived(), &["assetCode"]),
        (
            wire::CreateAddressRequest {
                wallet_id: Some(UNKNOWN.to_owned()),
                ..given("a", None)
            },
            &["walletId"],
        ),
        (
            wire::CreateAddressRequest {
                wallet_id: Some("w".to_owned()),
                custom_data: Some("[]".to_owned()),
                ..given("a", None)
            },
            &["walletId", "customData"],
        ),
    ] {
        let rejected = result(addresses.create_address(request.clone()).await);
        assert_eq!(rejection(rejected), invalid(fields), "{request:?}");
    }
    assert_eq!(app.count("select count(*) from wallet.addresses").await, 0);
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn addresses_are_filtered_by_field(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let wallet = app.new_wallet().await;
    let mut addresses = app.admin.addresses();
    let of_wallet = wire::CreateAddressRequest {
        wallet_id: Some(wallet.clone()),
        ..given("first-one", Some("usd"))
    };
    addresses.create_address(of_wallet).await.unwrap();
    let other = given("second-one", Some("eur"));
    addresses.create_address(other).await.unwrap();
    let mut texts = async |filters: Vec<Filter>| {
        let list = Some(list(filters));
        let page = addresses.list_addresses(wire::ListAddressesRequest { list });
        let page = result(page.await).unwrap();
        let rows = page.addresses.into_iter();
        rows.map(|row| row.address).collect::<Vec<_>>()
    };
    let all = ["second-one", "first-one"];
    assert_eq!(texts(vec![]).await, all);
    for (filter, expected) in [
        (equals("address", "-one"), &all[..]),
        (equals("address", "first"), &all[1..]),
        (equals("assetCode", "EUR"), &all[..1]),
        (equals("walletId", &wallet), &all[1..]),
        (equals("walletId", UNKNOWN), &[]),
    ] {
        assert_eq!(texts(vec![filter.clone()]).await, expected, "{filter:?}");
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn another_key_starts_at_the_first_index(pool: PgPool) {
    let mut app = TestApp::with_flags(pool, &KEYS).await;
    let created = app.admin.addresses().create_address(derived()).await;
    assert_eq!(result(created).unwrap().address.unwrap().address, FIRST);
    app.stop().await;
    // The key of another account, on a test network.
    let key = "points=tpubDC5FSnBiZDMmhiuCmWAYsLwgLYrrT9rAqvTySfuCCrgsWz8wxMXUS9Tb9iVMvcRbvFcAHGkMD5Kx8koh4GquNGNTfohfk7pgjhaPCdXpoba";
    let app = TestApp::with_flags(app.pool.clone(), &["--hd-public-keys", key]).await;
    let request = wire::CreateAddressRequest {
        asset_code: Some("points".to_owned()),
        ..derived()
    };
    let created = app.admin.addresses().create_address(request).await;
    let created = result(created).unwrap().address.unwrap();
    assert_eq!(created.metadata, r#"{"provider":"hd","path":"0/0"}"#);
    assert!(created.address.starts_with("tb1q"), "{}", created.address);
    let keys = "select count(*) from wallet.address_keys";
    assert_eq!(app.count(keys).await, 2);
    app.finish().await;
}
