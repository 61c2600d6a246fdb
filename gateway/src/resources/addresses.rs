//! `/addresses`

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use proto::wallet::v1::{
    self as wire, CreateAddressRequest, GetAddressRequest, ListAddressesRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Raw, Time},
    result::{self, DataResult, ListResult, Located},
};
use crate::extract::{Action, Call, CustomData, Id, ListParams, PathParams, Text};

/// Characters of addresses that are encoded in a path segment.
const NOT_IN_SEGMENT: &AsciiSet = &CONTROLS
    .add(b'%')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// An external address of a wallet.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the contract names it so")]
pub(crate) struct Address {
    address: String,
    asset_code: Option<String>,
    wallet_id: Option<String>,
    custom_data: Raw,
    /// Of a derived address: `provider` and the `path` below the account's key.
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// An address to record or to derive.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewAddress {
    /// Needed without a provider.
    address: Option<String>,
    /// `hd`: the next address of the asset's extended public key.
    provider: Option<String>,
    /// Needed with a provider.
    asset_code: Option<Text>,
    wallet_id: Option<Id>,
    custom_data: Option<CustomData>,
}

/// Record or derive an address.
pub(crate) async fn create(call: Call, Action(body): Action<NewAddress>) -> DataResult<Address> {
    let request = call.request(CreateAddressRequest {
        address: body.address,
        provider: body.provider,
        asset_code: body.asset_code.map(Into::into),
        wallet_id: body.wallet_id.map(Into::into),
        custom_data: body.custom_data.map(Into::into),
    });
    let mut addresses = call.clients.addresses();
    result::created(addresses.create_address(request), |response| {
        response.address
    })
    .await
}

/// List addresses.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Address> {
    let request = call.request(ListAddressesRequest { list: Some(list) });
    result::list(
        call.clients.addresses().list_addresses(request),
        |response| (response.addresses, response.page),
    )
    .await
}

/// Get an address.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Address> {
    let request = call.request(GetAddressRequest {
        address: path.text("address").to_owned(),
    });
    result::data(call.clients.addresses().get_address(request), |response| {
        response.address
    })
    .await
}

impl Located for Address {
    fn location(&self) -> String {
        let segment = utf8_percent_encode(&self.address, NOT_IN_SEGMENT);
        format!("/addresses/{segment}")
    }
}

impl From<wire::Address> for Address {
    fn from(address: wire::Address) -> Self {
        Self {
            address: address.address,
            asset_code: address.asset_code,
            wallet_id: address.wallet_id,
            custom_data: Raw::of(address.custom_data),
            metadata: Raw::of(address.metadata),
            created_at: Time::of(address.created_at),
            updated_at: Time::of(address.updated_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_location_leads_back_to_it() {
        for (address, location) in [
            ("bc1qcr8te4kr", "/addresses/bc1qcr8te4kr"),
            ("bitcoin:1x;y=2&z", "/addresses/bitcoin:1x;y=2&z"),
            ("a%2Fb", "/addresses/a%252Fb"),
            (r#"{"^|`\"}"#, "/addresses/%7B%22%5E%7C%60%5C%22%7D"),
        ] {
            let wire = wire::Address {
                address: address.to_owned(),
                ..wire::Address::default()
            };
            assert_eq!(Address::from(wire).location(), location);
        }
    }
}
