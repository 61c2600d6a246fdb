//! Reads orders and lines. A user sees only its own orders.

use std::collections::HashMap;

use platform::{auth::Caller, list::Page, pg};
use proto::common::v1::ListRequest;
use sqlx::{Postgres, Transaction};

use super::{Orders, get_visible};
use crate::{
    error::Error,
    order::{
        model::{Line, LineId, OrderId, OrderWithLines, UserId},
        repo,
    },
};

impl Orders {
    pub(crate) async fn get(&self, caller: &Caller, id: OrderId) -> Result<OrderWithLines, Error> {
        let mut tx = self.snapshot().await?;
        let order = get_visible(&mut tx, caller, id).await?;
        let lines = repo::lines::of_orders(&mut tx, &[id]).await?;
        Ok(OrderWithLines { order, lines })
    }

    /// Begins a transaction whose reads all see the same state. It writes nothing, so that dropping
    /// it ends it.
    pub(super) async fn snapshot(&self) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
        let mut tx = pg::tx(&self.pool).await?;
        sqlx::raw_sql("set transaction isolation level repeatable read, read only")
            .execute(&mut *tx)
            .await?;
        Ok(tx)
    }

    /// Lists orders; without lines, unless they are included.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<Page<OrderWithLines>, Error> {
        let user_id = visible_user(caller)?;
        let mut tx = self.snapshot().await?;
        let mut page = repo::orders::list(&mut tx, request, user_id).await?;
        let mut lines = HashMap::new();
        if page.includes("lines") {
            let ids: Vec<_> = page.rows.iter().map(|order| order.id).collect();
            let read = repo::lines::of_page(&mut tx, &ids).await?;
            lines = read.by_order;
            if let Some(end) = ids.iter().position(|id| Some(*id) == read.ends_before) {
                page.truncate(end);
            }
        }
        Ok(page.map(|order| OrderWithLines {
            lines: lines.remove(&order.id).unwrap_or_default(),
            order,
        }))
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
