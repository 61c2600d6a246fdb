//! Exact amounts: integers of 10⁻⁸ with checked arithmetic, 256-bit intermediates and explicit
//! rounding. Assets, and which amounts they allow, are not known here.

mod amount;
mod conversion;
mod places;
mod postgres;
mod rate;
mod round;
mod text;

pub use amount::{Amount, OutOfRange};
pub use conversion::Conversion;
pub use places::DecimalPlaces;
pub use rate::{Percent, Rate};
pub use round::Rounding;

#[cfg(test)]
mod properties;
