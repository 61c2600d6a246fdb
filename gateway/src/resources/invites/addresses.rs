//! One address or a list of them.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Visitor},
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ArrayBuilder, OneOfBuilder, RefOr, Schema},
};

/// A string, or an array of strings.
#[derive(Debug)]
pub(super) struct Addresses(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for Addresses {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AddressesVisitor)
    }
}

struct AddressesVisitor;

impl<'de> Visitor<'de> for AddressesVisitor {
    type Value = Addresses;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or an array of strings")
    }

    fn visit_str<E: Error>(self, address: &str) -> Result<Addresses, E> {
        Ok(Addresses(vec![address.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Addresses, A::Error> {
        let mut addresses = Vec::new();
        while let Some(address) = items.next_element()? {
            addresses.push(address);
        }
        Ok(Addresses(addresses))
    }
}

impl PartialSchema for Addresses {
    fn schema() -> RefOr<Schema> {
        let list = ArrayBuilder::new().items(String::schema());
        OneOfBuilder::new().item(String::schema()).item(list).into()
    }
}

impl ToSchema for Addresses {}
