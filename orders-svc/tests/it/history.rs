//! What happened to an order: its history, payments and notes.

use platform::error::Code;
use proto::{
    common::v1::ListRequest,
    orders::v1::{OrderHistoryEntry, OrderPaymentType, RefundOrderRequest},
};
use sqlx::PgPool;

use crate::{assertions::assert_refused, client::Client, harness::TestApp};

/// Action, states and amount of each entry.
async fn history(client: &Client<'_>, id: &str) -> Vec<String> {
    let entries = client.list_history(id, ListRequest::default()).await;
    let entries = entries.unwrap().entries;
    entries.iter().map(summary).collect()
}

fn summary(entry: &OrderHistoryEntry) -> String {
    let from = entry.from_payment_status().as_str_name();
    let to = entry.payment_status().as_str_name();
    let short = |name: &str| name.trim_start_matches("PAYMENT_STATUS_").to_lowercase();
    let amount = entry.amount.as_deref().unwrap_or("-");
    format!("{} {} > {} {amount}", entry.action, short(from), short(to))
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn every_change_has_an_entry(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("10.00").await;
    let (id, line) = (&order.id, &order.lines[0].id);
    let admin = app.admin();
    admin.pay(id, Some("4")).await.unwrap();
    admin.pay(id, None).await.unwrap();
    admin.fulfil(id, Some(&app.new_id())).await.unwrap();
    admin.unfulfil_line(id, line, None).await.unwrap();
    admin.refund(id, "1").await.unwrap();
    admin.track(id, None).await.unwrap();
    admin.create_note(id, "Called back").await.unwrap();
    admin.cancel(id, None).await.unwrap();
    let expected = [
        "created unspecified > unpaid -",
        "payment_received unpaid > paid 4.00000000",
        "payment_received paid > fully_paid 6.00000000",
        "paid paid > fully_paid -",
        "fulfilled fully_paid > fully_paid -",
        "updated fully_paid > fully_paid -",
        "unfulfilled fully_paid > fully_paid -",
        "refunded fully_paid > partially_refunded 1.00000000",
        "updated partially_refunded > partially_refunded -",
        "note partially_refunded > partially_refunded -",
        "canceled partially_refunded > fully_refunded -",
        "refunded partially_refunded > fully_refunded 9.00000000",
    ];
    assert_eq!(history(&admin, id).await, expected);
    let entries = admin.list_history(id, ListRequest::default()).await;
    let entries = entries.unwrap().entries;
    let moved = format!(r#"{{"lines": [{{"lineId": "{line}", "quantity": 1}}]}}"#);
    assert_eq!(entries[4].details, moved);
    assert_eq!(entries[5].details, r#"{"fields": ["trackingId"]}"#);
    assert_eq!(entries[9].note.as_deref(), Some("Called back"));
    assert!(entries.iter().all(|entry| entry.actor == "key:admin"));
    app.assert_settled().await;
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn an_immediate_payment_begins_the_history(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("10.00", "0", "0");
    let mut cart = app.cart(&[(&product, 1)]);
    cart.wallet_id = Some(app.user.primary_wallet_id.clone());
    let id = app.admin().create(cart).await.unwrap().id;
    let expected = [
        "created unspecified > fully_paid -",
        "payment_received unspecified > fully_paid 10.00000000",
        "paid unspecified > fully_paid -",
    ];
    assert_eq!(history(&app.admin(), &id).await, expected);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn what_changes_nothing_has_no_entry(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let admin = app.admin();
    admin.unfulfil(&id).await.unwrap();
    admin.track(&id, None).await.unwrap();
    admin.refund(&id, "1").await.unwrap_err();
    assert_eq!(
        history(&admin, &id).await,
        ["created unspecified > unpaid -"]
    );
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_user_sees_neither_notes_nor_who_of_the_staff_acted(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let owner = app.client_of(&app.user);
    owner.pay(&id, None).await.unwrap();
    app.admin().create_note(&id, "Called back").await.unwrap();
    let seen = owner
        .list_history(&id, ListRequest::default())
        .await
        .unwrap();
    assert_eq!(seen.page.unwrap().total, 3);
    let own = format!("user:{}", app.user.id);
    let actors: Vec<_> = seen
        .entries
        .iter()
        .map(|entry| entry.actor.as_str())
        .collect();
    assert_eq!(actors, ["staff", &own, &own]);
    assert!(seen.entries.iter().all(|entry| entry.note.is_none()));
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn history_and_payments_of_others_are_not_found(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.paid_order("10.00").await.id;
    let other = app.client_of(&app.add_user());
    let list = ListRequest::default();
    let history = other.list_history(&id, list.clone()).await;
    assert_refused(history, Code::OrderNotFound, &[]);
    let payments = other.list_payments(&id, list.clone()).await;
    assert_refused(payments, Code::OrderNotFound, &[]);
    let owner = app.client_of(&app.user);
    let noted = owner.create_note(&id, "x").await;
    assert_refused(noted, Code::Forbidden, &[]);
    for unknown in [app.new_id().as_str(), "x"] {
        let history = app.admin().list_history(unknown, list.clone()).await;
        assert_refused(history, Code::OrderNotFound, &[]);
        let payments = app.admin().list_payments(unknown, list.clone()).await;
        assert_refused(payments, Code::OrderNotFound, &[]);
        let noted = app.admin().create_note(unknown, "x").await;
        assert_refused(noted, Code::OrderNotFound, &[]);
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_note_has_1_to_10_000_characters(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let longest = "é".repeat(10_000);
    app.admin().create_note(&id, &longest).await.unwrap();
    for bad in [String::new(), longest + "é", "\0".to_owned()] {
        let refused = app.admin().create_note(&id, &bad).await;
        assert_refused(refused, Code::ValidationFailed, &["text"]);
    }
    assert_eq!(app.count("order_history where action = 'note'").await, 1);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_note_is_created_once_for_its_key(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let client = app.admin().with_key("note");
    let first = client.create_note(&id, "Called back").await.unwrap();
    let again = client.create_note(&id, "Called back").await.unwrap();
    assert!(client.was_replayed());
    assert_eq!(first, again);
    assert_eq!(first.order_id, id);
    assert_eq!(app.count("order_history where action = 'note'").await, 1);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn payments_and_refunds_are_listed(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let id = app.unpaid_order("10.00").await.id;
    let second_wallet = app.add_wallet(&app.user.id);
    app.peers.set_balance(&second_wallet, "usd", "9.00");
    app.admin().pay(&id, Some("1.00")).await.unwrap();
    app.advance_clock();
    app.admin().pay_from(&id, &second_wallet).await.unwrap();
    app.advance_clock();
    let request = RefundOrderRequest {
        id: id.clone(),
        amount: Some("9.50".into()),
        reason: Some(r#""broken""#.into()),
        lines: Vec::new(),
    };
    app.admin().refund_order(request).await.unwrap();
    let owner = app.client_of(&app.user);
    let listed = owner.list_payments(&id, ListRequest::default()).await;
    let mut listed = listed.unwrap().payments;
    listed.sort_by_key(|it| (it.amount.clone(), it.refund_id.is_some()));
    let [refund_of_first, first, second, refund_of_second] = &listed[..] else {
        panic!("{listed:?}");
    };
    for (payment, refund, wallet, refunded) in [
        (
            first,
            refund_of_first,
            &app.user.primary_wallet_id,
            "0.50000000",
        ),
        (second, refund_of_second, &second_wallet, "9.00000000"),
    ] {
        assert_eq!(payment.r#type(), OrderPaymentType::Payment);
        assert_eq!(payment.refunded_amount.as_deref(), Some(refunded));
        assert_eq!(refund.r#type(), OrderPaymentType::Refund);
        assert_eq!(refund.amount, refunded);
        assert_eq!(refund.payment_id.as_ref(), Some(&payment.transaction_id));
        assert_eq!(refund.reason.as_deref(), Some(r#""broken""#));
        assert_eq!((&payment.wallet_id, &refund.wallet_id), (wallet, wallet));
    }
    assert_eq!(refund_of_first.refund_id, refund_of_second.refund_id);
}
