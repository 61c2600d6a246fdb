//! `/payment-methods`

use proto::wallet::v1::{self as wire, GetPaymentMethodRequest, ListPaymentMethodsRequest};
use serde::Serialize;

use super::{
    dto::{Raw, Time},
    result::{self, DataResult, ListResult},
};
use crate::extract::{Call, ListParams, PathParams};

/// A payment method as configured.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaymentMethod {
    slug: String,
    name: String,
    /// A disabled payment method takes no new deposit.
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

/// List payment methods.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<PaymentMethod> {
    let request = call.request(ListPaymentMethodsRequest { list: Some(list) });
    let mut client = call.clients.payment_methods();
    result::whole_list(client.list_payment_methods(request), |response| {
        response.payment_methods
    })
    .await
}

/// Get a payment method.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<PaymentMethod> {
    let request = call.request(GetPaymentMethodRequest {
        slug: path.text("slug").to_owned(),
    });
    let mut client = call.clients.payment_methods();
    result::data(client.get_payment_method(request), |response| {
        response.payment_method
    })
    .await
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
