//! Converts payment methods to messages.

use platform::clock::to_proto;
use proto::wallet::v1 as wire;

use super::model::{Capability, Feature, PaymentMethod};

pub(crate) fn payment_method(method: &PaymentMethod) -> wire::PaymentMethod {
    let capabilities = method.capabilities.iter().copied().map(Capability::as_str);
    let features = method.features.iter().copied().map(Feature::as_str);
    wire::PaymentMethod {
        slug: method.slug.clone(),
        name: method.name.clone(),
        enabled: method.enabled,
        assets: method.assets.clone(),
        capabilities: capabilities.map(str::to_owned).collect(),
        features: features.map(str::to_owned).collect(),
        metadata: method.metadata.clone(),
        created_at: Some(to_proto(method.created_at)),
    }
}
