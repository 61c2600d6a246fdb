//! An address. Pure.

use chrono::{DateTime, Utc};
use platform::{
    error::{FieldCode, InvalidValue},
    ids::Id,
};

use crate::{asset::model::AssetCode, wallet::model::WalletId};

/// The id of an address; clients name the address itself.
pub type AddressId = Id<Address>;

const LONGEST: usize = 128;

/// A place outside that belongs to a wallet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Its id.
    pub id: AddressId,
    /// As it is written outside; unique per asset.
    pub address: String,
    /// The asset that it receives.
    pub asset: Option<AssetCode>,
    /// The wallet that it belongs to.
    pub wallet: Option<WalletId>,
    /// The client's JSON object, as written.
    pub custom_data: String,
    /// JSON object of the service.
    pub metadata: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
}

/// Where a new address comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The client gives it.
    Given(String),
    /// The next one of the asset's extended public key.
    Derived,
}

/// What a new address starts with.
#[derive(Debug, Clone)]
pub struct NewAddress {
    /// Where it comes from.
    pub source: Source,
    /// The asset that it receives; needed where it is derived.
    pub asset: Option<AssetCode>,
    /// The wallet that it belongs to.
    pub wallet: Option<WalletId>,
    /// The client's JSON object.
    pub custom_data: String,
}

/// Checks that it is 1 to 128 printable ASCII characters without space, `/`, `?` and `#`, so that it
/// can stand in a path.
pub fn check_address(address: &str) -> Result<(), InvalidValue> {
    if !(1..=LONGEST).contains(&address.len()) {
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
    fn an_address_can_stand_in_a_path() {
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
