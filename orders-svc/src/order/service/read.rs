//! Reads orders and lines. A user sees only its own orders.

use std::collections::HashMap;

use platform::{auth::Caller, list::Page, pg};
use proto::common::v1::{ListRequest, PageInfo};
use sqlx::{Postgres, Transaction};

use super::{Orders, get_visible};
use crate::{
    error::Error,
    order::{
        model::{Line, LineId, OrderId, OrderWithLines, UserId},
        repo,
    },
};

/// A page of orders; without lines, unless they are included.
pub(crate) struct OrderPage {
    pub(crate) orders: Vec<OrderWithLines>,
    pub(crate) info: PageInfo,
}

impl Orders {
    pub(crate) async fn get(&self, caller: &Caller, id: OrderId) -> Result<OrderWithLines, Error> {
        let mut tx = self.snapshot().await?;
        let order = get_visible(&mut tx, caller, id).await?;
        let lines = repo::lines::of_orders(&mut tx, &[id]).await?;
        Ok(OrderWithLines { order, lines })
    }

    /// Begins a transaction whose reads all see the same state. It writes nothing, so that dropping
    /// it ends it.
    async fn snapshot(&self) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
        let mut tx = pg::tx(&self.pool).await?;
        sqlx::raw_sql("set transaction isolation level repeatable read, read only")
            .execute(&mut *tx)
            .await?;
        Ok(tx)
    }

    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<OrderPage, Error> {
        let user_id = visible_user(caller)?;
        let mut tx = self.snapshot().await?;
        let page = repo::orders::list(&mut tx, request, user_id).await?;
        let info = page.info();
        let mut lines: HashMap<OrderId, Vec<Line>> = HashMap::new();
        if page.includes("lines") {
            let ids: Vec<_> = page.rows.iter().map(|order| order.id).collect();
            for line in repo::lines::of_orders(&mut tx, &ids).await? {
                lines.entry(line.order_id).or_default().push(line);
            }
        }
        let orders = page
            .rows
            .into_iter()
            .map(|order| OrderWithLines {
                lines: lines.remove(&order.id).unwrap_or_default(),
                order,
            })
            .collect();
        Ok(OrderPage { orders, info })
    }

    pub(crate) async fn get_line(
        &self,
        caller: &Caller,
        order_id: OrderId,
        id: LineId,
    ) -> Result<Line, Error> {
        let mut conn = self.pool.acquire().await?;
        get_visible(&mut conn, caller, order_id).await?;
        let line = repo::lines::find(&mut conn, order_id, id).await?;
        line.ok_or(Error::OrderLineNotFound)
    }

    pub(crate) async fn list_lines(
        &self,
        caller: &Caller,
        order_id: OrderId,
        request: &ListRequest,
    ) -> Result<Page<Line>, Error> {
        let mut conn = self.pool.acquire().await?;
        get_visible(&mut conn, caller, order_id).await?;
        Ok(repo::lines::list(&mut conn, request, order_id).await?)
    }
}

/// Returns the user whose orders the caller sees; `None`: all users.
fn visible_user(caller: &Caller) -> Result<Option<UserId>, Error> {
    if caller.is_admin() {
        return Ok(None);
    }
    match caller.user_id().map(UserId::parse) {
        Some(Ok(user_id)) => Ok(Some(user_id)),
        // A key or a service without the admin role.
        _ => caller.require_admin().map(|()| None).map_err(Error::from),
    }
}
