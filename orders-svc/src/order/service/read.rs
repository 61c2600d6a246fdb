//! Reads. A user sees its own orders.

use std::collections::HashMap;

use platform::{auth::Caller, list::Page};
use proto::common::v1::{ListRequest, PageInfo};

use super::Orders;
use crate::{
    error::Error,
    order::{
        model::{Line, LineId, OrderId, OrderWithLines, UserId},
        repo,
    },
};

impl Orders {
    /// The order with its lines.
    pub async fn get(&self, caller: &Caller, id: OrderId) -> Result<OrderWithLines, Error> {
        let order = self.visible(caller, id).await?;
        let mut conn = self.pool.acquire().await?;
        let lines = repo::lines::of_orders(&mut conn, &[id]).await?;
        Ok(OrderWithLines { order, lines })
    }

    /// A page of orders, with their lines where asked for.
    pub async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<(Vec<OrderWithLines>, PageInfo), Error> {
        let owner = owner(caller)?;
        let mut conn = self.pool.acquire().await?;
        let page = repo::orders::list(&mut conn, request, owner).await?;
        let info = page.info();
        let mut lines: HashMap<OrderId, Vec<Line>> = HashMap::new();
        if page.includes("lines") {
            let ids: Vec<_> = page.rows.iter().map(|order| order.id).collect();
            for line in repo::lines::of_orders(&mut conn, &ids).await? {
                lines.entry(line.order_id).or_default().push(line);
            }
        }
        let with_lines = page.rows.into_iter().map(|order| OrderWithLines {
            lines: lines.remove(&order.id).unwrap_or_default(),
            order,
        });
        Ok((with_lines.collect(), info))
    }

    /// A line of an order.
    pub async fn get_line(
        &self,
        caller: &Caller,
        order_id: OrderId,
        id: LineId,
    ) -> Result<Line, Error> {
        self.visible(caller, order_id).await?;
        let mut conn = self.pool.acquire().await?;
        let line = repo::lines::find(&mut conn, order_id, id).await?;
        line.ok_or(Error::OrderLineNotFound)
    }

    /// A page of an order's lines.
    pub async fn list_lines(
        &self,
        caller: &Caller,
        order_id: OrderId,
        request: &ListRequest,
    ) -> Result<Page<Line>, Error> {
        self.visible(caller, order_id).await?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::lines::list(&mut conn, request, order_id).await?)
    }
}

/// Whose orders the caller sees; `None` for all.
fn owner(caller: &Caller) -> Result<Option<UserId>, Error> {
    if caller.is_admin() {
        return Ok(None);
    }
    let own = caller.user_id().map(UserId::parse);
    match own {
        Some(Ok(own)) => Ok(Some(own)),
        _ => caller.require_admin().map(|()| None).map_err(Error::from),
    }
}
