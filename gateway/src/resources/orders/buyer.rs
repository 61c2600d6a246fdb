//! Embeds the buyer in orders: one call to identity-svc for a whole page.

use std::collections::HashMap;

use proto::{
    identity::v1::{self as wire, BatchGetUsersRequest},
    orders::v1::OrderUser,
};
use serde::Serialize;

use super::Order;
use crate::{
    extract::Call,
    resources::{dto::Raw, result::DataResult},
    respond::Data,
};

/// The user who placed the order.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Buyer {
    id: String,
    /// `null` if the user has been deleted.
    email: Option<String>,
    name: Option<String>,
    approved: bool,
    image_url: Option<String>,
    metadata: Raw,
}

/// Embeds the buyer in a single order.
pub(crate) async fn with_user(call: &Call, mut order: Data<Order>) -> DataResult<Order> {
    embed(call, std::slice::from_mut(order.resource_mut())).await;
    Ok(order)
}

/// Embeds the buyer in each order. While identity-svc is unavailable, orders have no `user`.
pub(crate) async fn embed(call: &Call, orders: &mut [Order]) {
    let mut ids: Vec<String> = orders.iter().map(|order| order.user_id.clone()).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() {
        return;
    }
    let request = call.request(BatchGetUsersRequest { ids });
    let found = match call.clients.users().batch_get_users(request).await {
        Ok(response) => response.into_inner(),
        Err(status) => {
            return tracing::warn!(%status, "orders: reading their users failed, responding without them");
        }
    };
    let users = found.users.into_iter().map(Buyer::from);
    let deleted = found.deleted_ids.into_iter().map(Buyer::deleted);
    let buyers: HashMap<String, Buyer> = users
        .chain(deleted)
        .map(|buyer| (buyer.id.clone(), buyer))
        .collect();
    for order in orders {
        order.user = buyers.get(&order.user_id).cloned();
    }
}

impl Buyer {
    /// Returns the name.
    pub(super) fn into_name(self) -> Option<String> {
        self.name
    }

    /// Returns what is left of a user who has been deleted.
    fn deleted(id: String) -> Self {
        Self {
            id,
            email: None,
            name: None,
            approved: false,
            image_url: None,
            metadata: Raw::of(String::new()),
        }
    }
}

impl From<OrderUser> for Buyer {
    fn from(user: OrderUser) -> Self {
        Self {
            id: user.id,
            email: Some(user.email).filter(|email| !email.is_empty()),
            name: user.name,
            approved: user.approved,
            image_url: None,
            metadata: Raw::of(user.metadata),
        }
    }
}

impl From<wire::User> for Buyer {
    fn from(user: wire::User) -> Self {
        Self {
            id: user.id,
            email: Some(user.email),
            name: user.name,
            approved: user.approved,
            image_url: None,
            metadata: Raw::of(user.metadata),
        }
    }
}
