//! Lists of orders and lines.

use platform::error::Failure;
use proto::{
    common::v1::{Filter, ListRequest, Operator, Sort},
    orders::v1::{GetOrderLineRequest, ListOrderLinesRequest, ListOrdersRequest, Order},
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

use crate::bed::{Bed, new_id};

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

impl Bed {
    async fn list(&self, list: ListRequest) -> Result<(Vec<Order>, u64), Failure> {
        let request = self.admin(ListOrdersRequest { list: Some(list) });
        let answer = self.orders().list_orders(request).await;
        let answer = answer
            .map_err(|status| Failure::from_status(&status))?
            .into_inner();
        Ok((answer.orders, answer.page.unwrap().total))
    }

    async fn found(&self, list: ListRequest) -> Vec<String> {
        let (orders, total) = self.list(list).await.unwrap();
        assert_eq!(orders.len() as u64, total);
        orders.into_iter().map(|order| order.amount).collect()
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn orders_are_filtered_sorted_and_come_with_their_lines(
    _: PgPoolOptions,
    options: PgConnectOptions,
) {
    let bed = Bed::new(options).await;
    let mut placed = Vec::new();
    for price in ["10.00", "30.00", "20.00"] {
        placed.push(bed.place(price).await);
    }
    bed.pay(&placed[1].id, None).await.unwrap();
    let (ten, twenty, thirty) = ("10.00000000", "20.00000000", "30.00000000");

    assert_eq!(
        bed.found(ListRequest::default()).await,
        [twenty, thirty, ten]
    );
    let paid = filter("paymentStatus", Operator::Eq, &["fully_paid"]);
    assert_eq!(bed.found(paid).await, [thirty]);
    let unpaid = filter("paymentStatus", Operator::Nin, &["fully_paid", "paid"]);
    assert_eq!(bed.found(unpaid).await, [twenty, ten]);
    let large = filter("amount", Operator::Gte, &["20"]);
    assert_eq!(bed.found(large).await, [twenty, thirty]);
    let by_reference = filter("reference", Operator::Eq, &[&placed[2].reference]);
    assert_eq!(bed.found(by_reference).await, [twenty]);
    let by_user = filter("userId", Operator::In, &[&bed.user.id]);
    assert_eq!(bed.found(by_user).await.len(), 3);
    let of_nobody = filter("userId", Operator::Eq, &[&new_id()]);
    assert!(bed.found(of_nobody).await.is_empty());
    let sorted = ListRequest {
        sort: vec![Sort {
            field: "amount".into(),
            descending: false,
        }],
        page_size: Some(2),
        include: vec!["lines".into()],
        ..ListRequest::default()
    };
    let (orders, total) = bed.list(sorted).await.unwrap();
    assert_eq!((orders.len(), total), (2, 3));
    assert_eq!(orders[0], bed.get(&placed[0].id).await);
    assert!(
        bed.list(ListRequest::default()).await.unwrap().0[0]
            .lines
            .is_empty()
    );
    for bad in [
        filter("nonsense", Operator::Eq, &["1"]),
        filter("orderStatus", Operator::Eq, &["gone"]),
        filter("userId", Operator::Like, &["x"]),
    ] {
        assert_eq!(
            bed.list(bad).await.unwrap_err().code.as_str(),
            "invalid_query"
        );
    }
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn drafts_can_be_hidden(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    bed.place("10.00").await;
    let draft = bed.place("20.00").await.id;
    sqlx::query("update orders.orders set order_status = 'draft' where id = $1::uuid")
        .bind(draft)
        .execute(&bed.pool)
        .await
        .unwrap();
    assert_eq!(bed.found(ListRequest::default()).await.len(), 2);
    let shown = filter("hideDrafts", Operator::Eq, &["true"]);
    assert_eq!(bed.found(shown).await, ["10.00000000"]);
}

#[sqlx::test(migrator = "orders_svc::MIGRATOR")]
async fn lines_are_read_one_by_one_and_as_a_list(_: PgPoolOptions, options: PgConnectOptions) {
    let bed = Bed::new(options).await;
    let (a, b) = (
        bed.add_product("1.00", "0", "0"),
        bed.add_product("2.00", "0", "0"),
    );
    let placed = bed.create(bed.cart(&[(&a, 2), (&b, 3)])).await.unwrap();
    let list = |list: ListRequest| ListOrderLinesRequest {
        order_id: placed.id.clone(),
        list: Some(list),
    };
    let request = bed.admin(list(filter("quantity", Operator::Gte, &["3"])));
    let answer = bed
        .lines()
        .list_order_lines(request)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(
        (&answer.lines[0], answer.page.unwrap().total),
        (&placed.lines[1], 1)
    );
    let include = ListRequest {
        include: vec!["product".into()],
        ..ListRequest::default()
    };
    let request = bed.admin(list(include));
    let answer = bed
        .lines()
        .list_order_lines(request)
        .await
        .unwrap()
        .into_inner();
    assert_eq!(answer.lines.len(), 2);

    let get = |id: &str| GetOrderLineRequest {
        order_id: placed.id.clone(),
        id: id.to_owned(),
    };
    let request = bed.admin(get(&placed.lines[0].id));
    let line = bed
        .lines()
        .get_order_line(request)
        .await
        .unwrap()
        .into_inner()
        .line;
    assert_eq!(line.as_ref(), Some(&placed.lines[0]));
    let request = bed.admin(get(&new_id()));
    let missing = bed.lines().get_order_line(request).await.unwrap_err();
    assert_eq!(
        Failure::from_status(&missing).code.as_str(),
        "order_line_not_found"
    );
}
