//! Receipts: what was bought, paid and refunded, as JSON, as a page and as a file.

use e2e::{TestApp, text, usd};
use serde_json::{Value, json};
use stack::StackOptions;

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_has_the_payment_the_refund_and_the_taxes() {
    let options = StackOptions::for_test("receipt").expect("options");
    let app = TestApp::start(options).await;
    let buyer = app.create_user("ada").await;
    let wallet = &buyer["primaryWalletId"];
    app.deposit(wallet, "100.00").await;
    let tea = app.create_product("Tea", "8", "0").await;
    let order = json!({
        "userId": buyer["id"], "walletId": wallet,
        "lines": [{ "productId": tea["id"], "quantity": 3 }],
    });
    let order = app.create("/orders", order).await;
    let path = format!("/orders/{}", text(&order["id"]));
    let lines = app.get_data(&format!("{path}/lines")).await;
    let refund = json!({
        "lines": [{ "lineId": lines[0]["id"], "quantity": 1 }], "reason": "a broken pot",
    });
    app.create(&format!("{path}/refund"), refund).await;

    let path = format!("{path}/receipt");
    let receipt = app.get_data(&path).await;
    let of = |pointer: &str| receipt.pointer(pointer).cloned().unwrap_or(Value::Null);
    assert_eq!(of("/receivedAmount"), usd("28.80"), "{receipt}");
    assert_eq!(of("/refundedAmount"), usd("9.60"));
    assert_eq!(of("/lines/0/quantity"), 3);
    assert_eq!(of("/lines/0/refundedQuantity"), 1);
    assert_eq!(of("/taxes/0/taxAmount"), usd("4.80"));
    assert_eq!(of("/payments/1/type"), "refund");
    assert_eq!(of("/payments/0/amount"), usd("28.80"));

    let page = file(&app, &path, "html").await;
    let page = String::from_utf8(page).expect("UTF-8");
    for shown in [
        text(&order["reference"]),
        "Tea",
        "28.80",
        "9.60",
        "a broken pot",
    ] {
        assert!(page.contains(shown), "{shown} in {page}");
    }
    let pdf = file(&app, &path, "pdf").await;
    assert!(pdf.starts_with(b"%PDF-"), "{} bytes", pdf.len());
    app.assert_settled().await;
}

async fn file(app: &TestApp, path: &str, format: &str) -> Vec<u8> {
    let url = format!("{}{path}?format={format}", app.base());
    let response = reqwest::get(url).await.expect("a response");
    let response = response.error_for_status().expect("a success");
    response.bytes().await.expect("a body").to_vec()
}
