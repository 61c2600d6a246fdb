//! `/payment-methods`

use proto::wallet::v1::{self as wire, GetPaymentMethodRequest, ListPaymentMethodsRequest};
use serde::Serialize;

use super::{
    dto::{Raw, Time},
    reply::{self, Many, One},
};
use crate::{
    extract::{Call, ListParams, PathParams},
    respond::List,
};

/// A way to bring money in, as it is configured.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentMethod {
    slug: String,
    name: String,
    /// One that is not takes no new deposit.
    enabled: bool,
    /// Codes of the assets it takes; none means all.
    assets: Vec<String>,
    /// `deposit`, `withdrawal`.
    capabilities: Vec<String>,
    /// Features of the transaction codes that lead to it: `apm`, `card`, `crypto`.
    features: Vec<String>,
    /// Configuration of the provider. A secret shows as its first five characters and `*****`, a
    /// short one as `*****`.
    metadata: Raw,
    created_at: Option<Time>,
}

/// GET /payment-methods
pub async fn list(call: Call, ListParams(list): ListParams) -> Many<PaymentMethod> {
    let request = call.request(ListPaymentMethodsRequest { list: Some(list) });
    let mut client = call.app.clients.payment_methods();
    let answer = client.list_payment_methods(request).await?;
    Ok(List::whole(answer.into_inner().payment_methods))
}

/// GET /payment-methods/:slug
pub async fn get(call: Call, path: PathParams) -> One<PaymentMethod> {
    let request = call.request(GetPaymentMethodRequest {
        slug: path.text("slug").to_owned(),
    });
    let mut client = call.app.clients.payment_methods();
    reply::one(client.get_payment_method(request), |a| a.payment_method).await
}

impl From<wire::PaymentMethod> for PaymentMethod {
    fn from(method: wire::PaymentMethod) -> Self {
        Self {
            slug: method.slug,
            name: method.name,
            enabled: method.enabled,
            assets: method.assets,
            capabilities: method.capabilities,
            features: method.features,
            metadata: Raw::of(method.metadata),
            created_at: Time::of(method.created_at),
        }
    }
}
