//! Lists of request bodies, within a length.

use platform::error::FieldCode;
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::extract::json::coded;

/// `MIN` to `MAX` items.
#[derive(Debug)]
pub(crate) struct Many<T, const MIN: usize, const MAX: usize>(pub(crate) Vec<T>);

impl<'de, T: Deserialize<'de>, const MIN: usize, const MAX: usize> Deserialize<'de>
    for Many<T, MIN, MAX>
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = Vec::deserialize(deserializer)?;
        if (MIN..=MAX).contains(&items.len()) {
            return Ok(Self(items));
        }
        let message = format!("must have {MIN} to {MAX} items");
        Err(D::Error::custom(coded(FieldCode::Length, &message)))
    }
}
