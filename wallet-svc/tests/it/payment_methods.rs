//! Payment methods: read from the configuration, and what deposits need of them.

use platform::error::Code;
use proto::{
    common::v1::{Filter, ListRequest, Operator},
    wallet::v1::{self as wire, payment_method_service_client::PaymentMethodServiceClient},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, refused, result, user};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../deploy/payment-methods.example.toml"
);
const USER: &str = "0192abcd-0000-7000-8000-0000000000aa";

fn enabled(text: &str) -> wire::ListPaymentMethodsRequest {
    let filter = Filter {
        field: "enabled".to_owned(),
        operator: Operator::Eq.into(),
        values: vec![text.to_owned()],
    };
    let list = ListRequest {
        filters: vec![filter],
        ..ListRequest::default()
    };
    wire::ListPaymentMethodsRequest { list: Some(list) }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn everybody_reads_them_without_their_secrets(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::with(server, &["--payment-methods-file", FILE]).await;
    let mut methods = PaymentMethodServiceClient::new(bed.client(&user(USER)));
    let request = wire::GetPaymentMethodRequest {
        slug: "stripe".to_owned(),
    };
    let stripe = result(methods.get_payment_method(request).await).unwrap();
    let stripe = stripe.payment_method.unwrap();
    assert_eq!(
        stripe.metadata,
        r#"{"publishableKey":"pk_live_replace_me","secretKey":"sk_li*****"}"#
    );
    assert_eq!(
        (stripe.assets, stripe.features),
        (
            vec!["usd".to_owned(), "eur".to_owned()],
            vec!["card".to_owned()]
        )
    );

    let all = methods.list_payment_methods(wire::ListPaymentMethodsRequest::default());
    let all = result(all.await).unwrap().payment_methods;
    let slugs: Vec<_> = all.iter().map(|method| &*method.slug).collect();
    assert_eq!(slugs, ["bitcoin", "mbway", "stripe"]);
    let off = result(methods.list_payment_methods(enabled("false")).await).unwrap();
    assert_eq!(off.payment_methods, all[..1]);
    let wrong = result(methods.list_payment_methods(enabled("no")).await);
    assert_eq!(
        refused(wrong),
        (Code::InvalidQuery, vec!["filter[enabled]".to_owned()])
    );
    for slug in ["", "Stripe", "x\0"] {
        let request = wire::GetPaymentMethodRequest {
            slug: slug.to_owned(),
        };
        let missing = result(methods.get_payment_method(request).await);
        assert_eq!(refused(missing).0, Code::PaymentMethodNotFound);
    }
    bed.end().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn deposits_need_one_that_takes_them(_: PgPoolOptions, server: PgConnectOptions) {
    let bed = Bed::with(server, &["--payment-methods-file", FILE]).await;
    let wallet = bed.wallet().await;
    let deposit = async |code: &str, asset: &str| {
        let request = wire::CreateDepositRequest {
            amount: "1".to_owned(),
            asset_code: asset.to_owned(),
            code: code.to_owned(),
            data: "{}".to_owned(),
            destination_wallet_id: wallet.clone(),
            ..wire::CreateDepositRequest::default()
        };
        result(bed.transactions().create_deposit(request).await)
    };
    for (code, asset) in [
        ("card:stripe", "USD"),
        ("apm:mbway", "eur"),
        ("crypto:lightning", "btc"),
    ] {
        let made = deposit(code, asset).await.unwrap().transaction.unwrap();
        assert_eq!(made.code, code);
    }
    for (code, asset) in [
        ("card:stripe", "points"),
        ("card:mbway", "eur"),
        ("apm:paypal", "eur"),
        ("crypto:bitcoin", "eur"),
    ] {
        let refusal = refused(deposit(code, asset).await);
        assert_eq!(
            refusal,
            (Code::ValidationFailed, vec!["code".to_owned()]),
            "{code}"
        );
    }
    bed.end().await;
}
