//! An address, and which addresses are valid. Pure.

use chrono::{DateTime, Utc};
use platform::{
    error::{FieldCode, InvalidValue},
    ids::Id,
};

use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// The internal id; clients name the address itself.
pub(crate) type AddressId = Id<Address>;

const MAX_LENGTH: usize = 128;

/// An external address that belongs to a wallet, on a chain or with a bank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) id: AddressId,
    /// The address itself; unique per asset.
    pub(crate) text: String,
    pub(crate) asset: Option<AssetCode>,
    pub(crate) wallet: Option<WalletId>,
    /// JSON object of the client, as written.
    pub(crate) custom_data: String,
    /// JSON object of the service.
    pub(crate) metadata: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// The source of a new address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    Given(String),
    /// The next address of the asset's extended public key.
    Derived,
}

/// A new address.
#[derive(Debug, Clone)]
pub(crate) struct NewAddress {
    pub(crate) source: Source,
    /// Required for a derived address.
    pub(crate) asset: Option<AssetCode>,
    pub(crate) wallet: Option<WalletId>,
    pub(crate) custom_data: String,
}

/// Refuses an address that cannot be part of a path: it has 1 to 128 printable ASCII characters
/// without space, `/`, `?` and `#`.
pub(crate) fn check_address(address: &str) -> Result<(), InvalidValue> {
    if !(1..=MAX_LENGTH).contains(&address.len()) {
        let message = "must have 1 to 128 characters";
        return Err(InvalidValue::new(FieldCode::Length, message));
    }
    let allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'/' | b'?' | b'#');
    if !address.bytes().all(allowed) {
        let message = "must be printable ASCII without space, `/`, `?` and `#`";
        return Err(InvalidValue::new(FieldCode::Format, message));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_can_be_part_of_a_path() {
        for good in [
            "1",
            "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
            "DE:89_~!",
        ] {
            assert!(check_address(good).is_ok(), "{good}");
        }
        assert!(check_address(&"x".repeat(128)).is_ok());
        let long = "x".repeat(129);
        for bad in ["", "a b", "a/b", "a?b", "a#b", "ä", "a\n", "a\0", &long] {
            assert!(check_address(bad).is_err(), "{bad}");
        }
    }
}
