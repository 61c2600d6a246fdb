//! Lists, from the query string to the rows.
//!
//! 1. [`query`] parses the raw query string into a `ListRequest` (gateway).
//! 2. [`check`] checks the request against the resource's `ListTable`; [`fields`] has the operators
//!    and values of each class of field.
//! 3. [`List`] compiles it into one SQL statement that reads the page, the exact total and the cursor
//!    from one snapshot (service).
//!
//! Every refusal is a 400 `invalid_query` that names what is allowed.
//!
//! This is a whole list in a repo. A field's column is its name in snake case unless mapped:
//!
//! ```no_run
//! # use platform::{error::Failure, list::{Key, List, Page}};
//! # use proto::{common::v1::ListRequest, lists::{Class, Field, ListTable}};
//! # use sqlx::PgConnection;
//! # const ORDERS: ListTable = ListTable::new("orders", &[
//! #     Field::new("hideDrafts", Class::Flag), Field::new("createdAt", Class::Time).sortable()]);
//! # #[derive(sqlx::FromRow)] struct OrderRow { id: uuid::Uuid }
//! /// Lists the orders that the request asks for, only those of `owner` if given.
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
//! A list of millions of rows that are only ever added gets [`Totals`]: its old rows are counted once, so that
//! the exact total of a page takes the new ones only.
//!
//! `page.includes("lines")` says what to load for all rows in one more query, and `page.encode(convert)`
//! gives the rows and the `PageInfo` of the response, which ends early where its rows are large.

pub mod check;
pub mod fields;
pub mod query;
mod sql;

use crate::error::{Code, Failure, FieldCode};

pub use sql::{Key, List, MAX_PAGE_BYTES, Page, Search, SearchPage, Sql, TierPage, Totals};

/// Returns the refusal of one parameter.
pub fn refuse(parameter: &str, code: FieldCode, message: &str) -> Failure {
    Failure::new(Code::InvalidQuery, format!("{parameter}: {message}"))
        .field(parameter, code, message)
}
