//! `/orders/:id/receipt`

use proto::orders::v1::{
    GetOrderReceiptResponse, Order, OrderPayment, OrderPaymentType, OrderReceipt, OrderStatus,
    PaymentStatus, ReceiptLine, ReceiptTax,
};

use crate::harness::{ID, TestApp};

const RPC: &str = "OrderHistoryService/GetOrderReceipt";

fn receipt() -> GetOrderReceiptResponse {
    let order = Order {
        id: ID.to_owned(),
        user_id: ID.to_owned(),
        asset_code: "usd".to_owned(),
        amount: "12.10000000".to_owned(),
        taxes_amount: "2.10000000".to_owned(),
        shipping_amount: "0.00000000".to_owned(),
        paid_amount: "12.10000000".to_owned(),
        unpaid_amount: "0.00000000".to_owned(),
        bonus: "5.00000000".to_owned(),
        bonus_asset_code: "points".to_owned(),
        order_status: OrderStatus::Fulfilled.into(),
        payment_status: PaymentStatus::FullyPaid.into(),
        reference: "7KQ2M9XW".to_owned(),
        ..Order::default()
    };
    let line = ReceiptLine {
        name: r#"Größe "L" <script>alert(1)</script> 茶"#.to_owned(),
        quantity: 1,
        refunded_quantity: 0,
        unit_price: "10.00000000".to_owned(),
        unit_tax: "2.10000000".to_owned(),
        tax_rate: Some("21.00000000".to_owned()),
        amount: "12.10000000".to_owned(),
    };
    let tax = ReceiptTax {
        rate: Some("21.00000000".to_owned()),
        taxable_amount: "10.00000000".to_owned(),
        tax_amount: "2.10000000".to_owned(),
    };
    let refund = OrderPayment {
        r#type: OrderPaymentType::Refund.into(),
        amount: "3.50000000".to_owned(),
        asset_code: "usd".to_owned(),
        reason: Some(r#"["broken", "<b>late</b>"]"#.to_owned()),
        ..OrderPayment::default()
    };
    let receipt = OrderReceipt {
        order: Some(order),
        decimal_places: 2,
        seller_name: "Corner & Shop".to_owned(),
        lines: vec![line],
        taxes: vec![tax],
        payments: vec![refund],
        received_amount: "15.60000000".to_owned(),
        refunded_amount: "3.50000000".to_owned(),
        bonus_revoked: "0.00000000".to_owned(),
    };
    GetOrderReceiptResponse {
        receipt: Some(receipt),
    }
}

#[tokio::test]
async fn the_form_follows_accept_and_format() {
    let app = TestApp::start().await;
    for (query, accept, expected) in [
        ("", "*/*", "application/json"),
        (
            "",
            "text/html,application/xhtml+xml,*/*;q=0.8",
            "text/html; charset=utf-8",
        ),
        ("", "application/json", "application/json"),
        ("?format=html", "*/*", "text/html; charset=utf-8"),
        ("?format=json", "text/html,*/*;q=0.8", "application/json"),
        ("", "application/pdf", "application/pdf"),
        ("?format=pdf", "text/html,*/*;q=0.8", "application/pdf"),
    ] {
        let path = format!("/orders/{ID}/receipt{query}");
        let request = app.admin("GET", &path).header("accept", accept);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200, "{query} {accept}");
        let headers = response.headers();
        assert_eq!(headers["content-type"], expected, "{query} {accept}");
        assert_eq!(headers["vary"], "accept, accept-encoding");
        assert!(headers.contains_key("etag"));
    }
    let path = format!("/orders/{ID}/receipt");
    let unknown = app.get(&format!("{path}?format=docx")).await;
    unknown.problem(400, "invalid_query");
    assert_eq!(unknown.body["errors"][0]["field"], "format");
    assert_eq!(
        unknown.body["errors"][0]["message"],
        "must be json, html or pdf"
    );
    let word = app
        .admin("GET", &path)
        .header("accept", "application/msword");
    let refused = app.exchange(word).await;
    refused.problem(406, "not_acceptable");
    assert_eq!(
        refused.body["detail"],
        "this route responds with application/json or text/html or application/pdf"
    );
}

#[tokio::test]
async fn the_file_is_named_is_not_compressed_again_and_keeps_its_tag() {
    let app = TestApp::start().await;
    app.services.reply(RPC, &receipt());
    let path = format!("/orders/{ID}/receipt?format=pdf");
    let get = || app.admin("GET", &path).header("accept-encoding", "gzip");
    let response = get().send().await.unwrap();
    assert_eq!(response.status(), 200);
    let headers = response.headers().clone();
    assert_eq!(headers["content-type"], "application/pdf");
    assert_eq!(
        headers["content-disposition"],
        "inline; filename=\"receipt-7KQ2M9XW.pdf\""
    );
    assert_eq!(headers["vary"], "accept, accept-encoding");
    assert!(!headers.contains_key("content-encoding"));
    let file = response.bytes().await.unwrap();
    assert!(file.starts_with(b"%PDF-1.") && file.ends_with(b"%%EOF"));

    let again = get().header("if-none-match", &headers["etag"]);
    let again = again.send().await.unwrap();
    assert_eq!(again.status(), 304);
    assert!(again.bytes().await.unwrap().is_empty());
    let page = app.admin("GET", &path.replace("pdf", "html"));
    let page = page.header("if-none-match", &headers["etag"]);
    assert_eq!(page.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn the_page_escapes_everything_and_loads_nothing() {
    let app = TestApp::start().await;
    app.services.reply(RPC, &receipt());
    let path = format!("/orders/{ID}/receipt?format=html");
    let response = app.admin("GET", &path).send().await.unwrap();
    let policy = response.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(
        policy.starts_with("default-src 'none'; style-src 'sha256-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let page = response.text().await.unwrap();
    for shown in [
        "Größe &quot;L&quot; &lt;script&gt;alert(1)&lt;/script&gt; 茶",
        "Corner &amp; Shop",
        "broken, &lt;b&gt;late&lt;/b&gt;",
        "7KQ2M9XW",
        "<td class=\"prose\">21 %</td><td>10.00</td><td>2.10</td>",
        "12.10 usd",
        "\u{2212}3.50 usd",
        "Bonus: 5 points.",
        "fulfilled, fully paid",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    for absent in ["<script", "<b>", "<!--", "http:", "https:"] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[tokio::test]
async fn the_json_has_the_same_amounts() {
    let app = TestApp::start().await;
    app.services.reply(RPC, &receipt());
    let read = app.get(&format!("/orders/{ID}/receipt")).await;
    let data = &read.body["data"];
    assert_eq!(data["sellerName"], "Corner & Shop");
    assert_eq!(data["lines"][0]["amount"], "12.10000000");
    assert_eq!(data["taxes"][0]["taxableAmount"], "10.00000000");
    assert_eq!(data["payments"][0]["reason"][0], "broken");
    assert_eq!(data["receivedAmount"], "15.60000000");
    assert_eq!(data["orderStatus"], "fulfilled");
    assert_eq!(read.calls[0].message["order_id"], ID);
}
