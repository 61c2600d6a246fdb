//! Lists of orders and lines.

use platform::error::Code;
use prost::Message as _;
use proto::{
    common::v1::{Filter, ListRequest, Operator, Sort},
    orders::v1::OrderedProduct,
};
use sqlx::PgPool;

use crate::{
    assertions::assert_refused,
    harness::{TestApp, quote},
};

fn filter(field: &str, operator: Operator, values: &[&str]) -> ListRequest {
    let filter = Filter {
        field: field.to_owned(),
        operator: operator.into(),
        values: values.iter().map(ToString::to_string).collect(),
    };
    ListRequest {
        filters: vec![filter],
        ..ListRequest::default()
    }
}

impl TestApp {
    /// Amounts of the listed orders. Asserts that they fit on one page.
    async fn listed_amounts(&self, list: ListRequest) -> Vec<String> {
        let page = self.admin().list(list).await.unwrap();
        assert_eq!(page.page.unwrap().total, page.orders.len() as u64);
        page.orders.into_iter().map(|order| order.amount).collect()
    }
}

const TEN: &str = "10.00000000";
const TWENTY: &str = "20.00000000";
const THIRTY: &str = "30.00000000";

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn orders_are_listed_newest_first_and_filtered(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.unpaid_order("10.00").await;
    app.paid_order("30.00").await;
    let newest = app.unpaid_order("20.00").await;
    let stranger = app.new_id();
    for (list, amounts) in [
        (ListRequest::default(), vec![TWENTY, THIRTY, TEN]),
        (
            filter("paymentStatus", Operator::Eq, &["fully_paid"]),
            vec![THIRTY],
        ),
        (
            filter("paymentStatus", Operator::Nin, &["fully_paid", "paid"]),
            vec![TWENTY, TEN],
        ),
        (
            filter("amount", Operator::Gte, &["20"]),
            vec![TWENTY, THIRTY],
        ),
        (
            filter("reference", Operator::Eq, &[&newest.reference]),
            vec![TWENTY],
        ),
        (
            filter("userId", Operator::In, &[&app.user.id]),
            vec![TWENTY, THIRTY, TEN],
        ),
        (filter("userId", Operator::Eq, &[&stranger]), vec![]),
    ] {
        assert_eq!(app.listed_amounts(list).await, amounts);
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_page_is_sorted_and_includes_lines_on_request(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let cheapest = app.unpaid_order("10.00").await;
    app.unpaid_order("30.00").await;
    app.unpaid_order("20.00").await;
    let sorted = ListRequest {
        sort: vec![Sort {
            field: "amount".into(),
            descending: false,
        }],
        page_size: Some(2),
        include: vec!["lines".into()],
        ..ListRequest::default()
    };
    let page = app.admin().list(sorted).await.unwrap();
    assert_eq!(page.orders.len(), 2);
    assert_eq!(page.page.unwrap().total, 3);
    assert_eq!(page.orders[0], cheapest);
    assert_eq!(page.orders[1].lines.len(), 1);

    let page = app.admin().list(ListRequest::default()).await.unwrap();
    assert!(page.orders.iter().all(|order| order.lines.is_empty()));
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn invalid_filters_are_refused(pool: PgPool) {
    let app = TestApp::start(pool).await;
    for list in [
        filter("nonsense", Operator::Eq, &["1"]),
        filter("orderStatus", Operator::Eq, &["gone"]),
        filter("userId", Operator::Like, &["x"]),
    ] {
        let failure = app.admin().list(list).await.unwrap_err();
        assert_eq!(failure.code, Code::InvalidQuery);
    }
    let order = app.unpaid_order("10.00").await;
    let lines = filter("nonsense", Operator::Eq, &["1"]);
    let failure = app.admin().list_lines(&order.id, lines).await.unwrap_err();
    assert_eq!(failure.code, Code::InvalidQuery);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn drafts_are_listed_unless_hidden(pool: PgPool) {
    let app = TestApp::start(pool).await;
    app.unpaid_order("10.00").await;
    let draft = app.unpaid_order("20.00").await.id;
    sqlx::query("update orders.orders set order_status = 'draft' where id = $1::uuid")
        .bind(draft)
        .execute(&app.pool)
        .await
        .unwrap();
    let all = app.listed_amounts(ListRequest::default()).await;
    assert_eq!(all, [TWENTY, TEN]);
    let without_drafts = filter("hideDrafts", Operator::Eq, &["true"]);
    assert_eq!(app.listed_amounts(without_drafts).await, [TEN]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn the_lines_of_an_order_are_listed_and_filtered(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let (one, two) = (
        app.add_product("1.00", "0", "0"),
        app.add_product("2.00", "0", "0"),
    );
    let cart = app.cart(&[(&one, 2), (&two, 3)]);
    let order = app.admin().create(cart).await.unwrap();
    app.unpaid_order("3.00").await;

    let many = filter("quantity", Operator::Gte, &["3"]);
    let page = app.admin().list_lines(&order.id, many).await.unwrap();
    assert_eq!(page.lines, [order.lines[1].clone()]);
    assert_eq!(page.page.unwrap().total, 1);
    let with_product = ListRequest {
        include: vec!["product".into()],
        ..ListRequest::default()
    };
    let page = app.admin().list_lines(&order.id, with_product).await;
    assert_eq!(page.unwrap().lines.len(), 2);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn lines_are_listed_in_the_order_of_the_cart(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let product = app.add_product("1.00", "0", "0");
    let cart = app.cart(&[(&product, 3), (&product, 1), (&product, 2)]);
    let order = app.admin().create(cart).await.unwrap();
    let mut list = ListRequest {
        page_size: Some(2),
        ..ListRequest::default()
    };
    let mut listed = Vec::new();
    for _ in 0..2 {
        let page = app.admin().list_lines(&order.id, list.clone()).await;
        let page = page.unwrap();
        listed.extend(page.lines);
        list.page_after = Some(page.page.unwrap().next_cursor);
    }
    assert_eq!(listed, order.lines);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_line_is_read_by_its_id(pool: PgPool) {
    let app = TestApp::start(pool).await;
    let order = app.unpaid_order("1.00").await;
    let line = &order.lines[0];
    let mut read = app.admin().get_line(&order.id, &line.id).await.unwrap();
    // Here, and in a list that includes it, it has all of its product.
    let product = read.product.as_mut().unwrap();
    assert_eq!(product.type_code, "physical");
    assert_eq!(product.custom_data, r#"{"n":1.10}"#);
    let included = ListRequest {
        include: vec!["product".into()],
        ..ListRequest::default()
    };
    let listed = app.admin().list_lines(&order.id, included).await.unwrap();
    assert_eq!(listed.lines[0].product.as_ref(), Some(&*product));
    *product = OrderedProduct {
        id: product.id.clone(),
        name: product.name.clone(),
        ..OrderedProduct::default()
    };
    assert_eq!(read, *line);
    let missing = app.admin().get_line(&order.id, &app.new_id()).await;
    assert_refused(missing, Code::OrderLineNotFound, &[]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn a_page_with_many_long_lines_ends_early(pool: PgPool) {
    const MIB: usize = 1024 * 1024;
    let app = TestApp::start(pool).await;
    let mut long = quote("1.00", "0", "0");
    let product = long.product.as_mut().unwrap();
    product.name = "語".repeat(255);
    product.description = Some("語".repeat(10_000));
    let product = app.add_quote(long);
    let mut cart = app.cart(&[(product.as_str(), 1); 200]);
    for line in &mut cart.lines {
        line.product_questions_result = Some(format!(r#"{{"q":"{}"}}"#, "x".repeat(4_000)));
    }
    for _ in 0..10 {
        app.admin().create(cart.clone()).await.unwrap();
    }

    // 200 lines of 5 KB: eight orders have less than 8 MiB, nine more.
    let mut list = ListRequest {
        include: vec!["lines".into()],
        page_size: Some(100),
        ..ListRequest::default()
    };
    let mut seen = Vec::new();
    for expected in [8, 2] {
        let page = app.admin().list(list.clone()).await.unwrap();
        assert!(page.encoded_len() < 8 * MIB + 64 * 1024);
        assert_eq!(page.orders.len(), expected);
        let lines = || page.orders.iter().flat_map(|order| &order.lines);
        assert_eq!(lines().count(), expected * 200);
        // The whole product is shown with a single line only.
        assert!(lines().all(|line| {
            let product = line.product.as_ref().unwrap();
            product.name.chars().count() == 255 && product.description.is_none()
        }));
        let info = page.page.unwrap();
        assert_eq!(info.total, 10);
        assert_eq!(info.row_cursors.len(), expected);
        seen.extend(page.orders.into_iter().map(|order| order.id));
        list.page_after = Some(info.next_cursor).filter(|cursor| !cursor.is_empty());
    }
    assert_eq!(list.page_after, None);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 10);
}
