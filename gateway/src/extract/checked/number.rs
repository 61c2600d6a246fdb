//! Whole numbers of request bodies, within a range.

use std::{borrow::Cow, fmt};

use platform::error::FieldCode;
use serde::{
    Deserialize, Deserializer,
    de::{Error, Visitor},
};
use serde_json::json;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr, Schema,
        schema::{SchemaType, Type},
    },
};

use crate::extract::json::coded;

/// A number of `MIN` to `MAX`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Whole<const MIN: u32, const MAX: u32>(u32);

/// The quantity of a new order line.
pub(crate) type Quantity = Whole<1, 1_000_000>;
/// Units of an order line.
pub(crate) type UnitCount = Whole<1, 2_147_483_647>;
/// The number of decimals of an asset.
pub(crate) type DecimalPlaces = Whole<0, 8>;

impl<'de, const MIN: u32, const MAX: u32> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_i64(WholeVisitor)
    }
}

/// Reads any whole number, so that one out of the range is not one of another type.
struct WholeVisitor<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Visitor<'_> for WholeVisitor<MIN, MAX> {
    type Value = Whole<MIN, MAX>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        let fits = u32::try_from(number).ok();
        let fits = fits.filter(|number| (MIN..=MAX).contains(number));
        let message = || coded(FieldCode::Range, &format!("must be {MIN} to {MAX}"));
        fits.map(Whole).ok_or_else(|| E::custom(message()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.visit_i64(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<const MIN: u32, const MAX: u32> From<Whole<MIN, MAX>> for u32 {
    fn from(number: Whole<MIN, MAX>) -> Self {
        number.0
    }
}

impl<const MIN: u32, const MAX: u32> PartialSchema for Whole<MIN, MAX> {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::Integer))
            .minimum(Some(MIN))
            .maximum(Some(MAX))
            .description(Some(format!("A whole number, {MIN} to {MAX}.")))
            .examples([json!(2)])
            .build()
            .into()
    }
}

impl<const MIN: u32, const MAX: u32> ToSchema for Whole<MIN, MAX> {
    fn name() -> Cow<'static, str> {
        match (MIN, MAX) {
            (0, 8) => "DecimalPlaces".into(),
            (1, 1_000_000) => "Quantity".into(),
            (1, 2_147_483_647) => "UnitCount".into(),
            _ => panic!("a range without a name"),
        }
    }
}
