//! Payment methods: read from the configuration, and what deposits need of them.

use platform::error::Code;
use proto::wallet::v1 as wire;
use sqlx::PgPool;

use crate::harness::{
    ANN, Rejection, TestApp, deposit, equals, invalid, list, rejection, result, stable,
};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../deploy/payment-methods.example.toml"
);

fn enabled(text: &str) -> wire::ListPaymentMethodsRequest {
    let list = Some(list(vec![equals("enabled", text)]));
    wire::ListPaymentMethodsRequest { list }
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn any_caller_reads_methods_with_masked_secrets(pool: PgPool) {
    let app = TestApp::with_flags(pool, &["--payment-methods-file", FILE]).await;
    let mut methods = app.as_user(ANN).payment_methods();
    let request = wire::GetPaymentMethodRequest {
        slug: "stripe".to_owned(),
    };
    let stripe = result(methods.get_payment_method(request).await).unwrap();
    let stripe = stripe.payment_method.unwrap();
    insta::assert_snapshot!(stable(&stripe, &[]), @r#"
    PaymentMethod {
        slug: "stripe",
        name: "Card",
        enabled: true,
        assets: [
            "usd",
            "eur",
        ],
        capabilities: [
            "deposit",
        ],
        features: [
            "card",
        ],
        metadata: "{\"publishableKey\":\"pk_live_replace_me\",\"secretKey\":\"sk_li*****\"}",
        created_at: Some(<time>),
    }
    "#);

    let all = methods.list_payment_methods(wire::ListPaymentMethodsRequest::default());
    let all = result(all.await).unwrap().payment_methods;
    let slugs: Vec<_> = all.iter().map(|method| &*method.slug).collect();
    assert_eq!(slugs, ["bitcoin", "mbway", "stripe"]);
    let off = result(methods.list_payment_methods(enabled("false")).await).unwrap();
    assert_eq!(off.payment_methods, all[..1]);
    let wrong = result(methods.list_payment_methods(enabled("no")).await);
    assert_eq!(
        rejection(wrong),
        Rejection::new(Code::InvalidQuery, &["filter[enabled]"])
    );
    for slug in ["", "Stripe", "x\0"] {
        let request = wire::GetPaymentMethodRequest {
            slug: slug.to_owned(),
        };
        let missing = result(methods.get_payment_method(request).await);
        assert_eq!(rejection(missing).code, Code::PaymentMethodNotFound);
    }
    app.finish().await;
}

#[sqlx::test(migrator = "wallet_svc::MIGRATOR")]
async fn a_deposit_needs_a_method_that_accepts_it(pool: PgPool) {
    let app = TestApp::with_flags(pool, &["--payment-methods-file", FILE]).await;
    let wallet = app.new_wallet().await;
    let create = async |code: &str, asset: &str| {
        let request = wire::CreateDepositRequest {
            code: code.to_owned(),
            ..deposit(&wallet, "1", asset)
        };
        result(app.admin.transactions().create_deposit(request).await)
    };
    for (code, asset) in [
        ("card:stripe", "USD"),
        ("apm:mbway", "eur"),
        ("crypto:lightning", "btc"),
    ] {
        let created = create(code, asset).await.unwrap().transaction.unwrap();
        assert_eq!(created.code, code);
    }
    for (code, asset) in [
        ("card:stripe", "points"),
        ("card:mbway", "eur"),
        ("apm:paypal", "eur"),
        ("crypto:bitcoin", "eur"),
    ] {
        let rejected = create(code, asset).await;
        assert_eq!(rejection(rejected), invalid(&["code"]), "{code}");
    }
    app.finish().await;
}
