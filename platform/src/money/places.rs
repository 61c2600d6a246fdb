//! [`DecimalPlaces`], the number of decimals of an asset.

use sqlx::{
    Decode, Encode, Postgres, Type,
    encode::IsNull,
    error::BoxDynError,
    postgres::{PgArgumentBuffer, PgHasArrayType, PgTypeInfo, PgValueRef},
};

use crate::error::{FieldCode, InvalidValue};

/// A number of decimals, 0 to 8. A `smallint` in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecimalPlaces(u8);

impl DecimalPlaces {
    /// The maximum, 8.
    pub const MAX: Self = Self(8);

    /// Creates a number of decimals; fails unless it is 0 to 8.
    pub fn new(places: i64) -> Result<Self, InvalidValue> {
        match u8::try_from(places) {
            Ok(places @ 0..=8) => Ok(Self(places)),
            _ => Err(InvalidValue::new(FieldCode::Range, "must be 0 to 8")),
        }
    }

    /// Returns the number.
    pub const fn get(self) -> u8 {
        self.0
    }

    /// Returns the smallest amount with these decimals, in units of 10⁻⁸.
    pub(super) const fn unit(self) -> i128 {
        10_i128.pow(8 - self.0 as u32)
    }
}

impl Type<Postgres> for DecimalPlaces {
    fn type_info() -> PgTypeInfo {
        <i16 as Type<Postgres>>::type_info()
    }
}

impl PgHasArrayType for DecimalPlaces {
    fn array_type_info() -> PgTypeInfo {
        i16::array_type_info()
    }
}

impl Encode<'_, Postgres> for DecimalPlaces {
    fn encode_by_ref(&self, buffer: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        <i16 as Encode<Postgres>>::encode(i16::from(self.0), buffer)
    }
}

impl Decode<'_, Postgres> for DecimalPlaces {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        Ok(Self::new(<i16 as Decode<Postgres>>::decode(value)?.into())?)
    }
}
