//! Lists, from the query string to the rows.
//!
//! [`query`] reads the raw query string into a `ListRequest` (gateway); [`check`] holds it against
//! the resource's `ListTable`; [`List`] compiles it into one SQL statement that answers the page,
//! the exact total and the cursor from one snapshot (service). [`fields`] says what each class of
//! field accepts. Every refusal is a 400 `invalid_query` that names what is allowed.
//!
//! A repo needs this much, where a field's column is its name in snake case unless said otherwise:
//!
//! ```no_run
//! # use platform::{error::Failure, list::{Key, List, Page}};
//! # use proto::{common::v1::ListRequest, lists::{Class, Field, ListTable}};
//! # use sqlx::PgConnection;
//! # const ORDERS: ListTable = ListTable::new("orders", &[
//! #     Field::new("hideDrafts", Class::Flag), Field::new("createdAt", Class::Time).sortable()]);
//! # #[derive(sqlx::FromRow)] struct OrderRow { id: uuid::Uuid }
//! /// Orders as the request wants them; only those of `owner` where given.
//! pub async fn list_orders(
//!     conn: &mut PgConnection,
//!     request: &ListRequest,
//!     owner: Option<uuid::Uuid>,
//! ) -> Result<Page<OrderRow>, Failure> {
//!     List::new(&ORDERS, "orders.orders o", Key::Id("o.id"))
//!         .select("o.*")
//!         .only("o.deleted_at is null")
//!         .only_with("o.user_id = ?", owner)
//!         .column("unpaidAmount", "o.amount - o.paid_amount")
//!         .flag("hideDrafts", "o.order_status <> 'draft'")
//!         .fetch(conn, request)
//!         .await
//! }
//! ```
//!
//! The answer then carries `page.info()` beside its rows, and `page.includes("lines")` says what to
//! load for all of them in one more query.

pub mod check;
pub mod fields;
pub mod query;
mod sql;

use crate::error::{Code, Failure, FieldCode};

pub use sql::{Key, List, Page, Words};

/// A refusal of one parameter.
fn refuse(parameter: &str, code: FieldCode, message: &str) -> Failure {
    Failure::new(Code::InvalidQuery, format!("{parameter}: {message}"))
        .field(parameter, code, message)
}
