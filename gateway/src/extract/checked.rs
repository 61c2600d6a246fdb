//! Texts of request bodies that are of a form. What a service would refuse about a value by itself is
//! refused here, together with the other faults of the body.

mod form;
mod many;
mod number;

use std::{borrow::Cow, marker::PhantomData};

use platform::error::InvalidValue;
use serde::{Deserialize, Deserializer, de::Error as _};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr, Schema,
        schema::{SchemaType, Type},
    },
};

pub(crate) use many::Many;
pub(crate) use number::{DecimalPlaces, Quantity, UnitCount};

use super::json::coded;

/// A text of the form `F`.
#[derive(Debug, Clone)]
pub(crate) struct Checked<F>(String, PhantomData<fn() -> F>);

/// A form of texts, and its description in the API reference.
pub(crate) trait Form {
    /// Name of the schema.
    const NAME: &'static str;

    /// Checks a text as the services do.
    fn check(text: &str) -> Result<(), InvalidValue>;

    /// Completes the schema of a text.
    fn describe(schema: ObjectBuilder) -> ObjectBuilder;
}

/// The id of a resource.
pub(crate) type Id = Checked<form::Id>;
/// An amount of an asset, 0 or more.
pub(crate) type Amount = Checked<form::Amount>;
/// An amount of an asset, more than 0.
pub(crate) type PositiveAmount = Checked<form::PositiveAmount>;
/// The code of a new asset.
pub(crate) type AssetCode = Checked<form::AssetCode>;
/// An exchange rate.
pub(crate) type ExchangeRate = Checked<form::Rate>;
/// A percentage.
pub(crate) type Percent = Checked<form::Percent>;
/// A position in the order of a list.
pub(crate) type Rank = Checked<form::Rank>;
/// A name that cannot be empty.
pub(crate) type Title = Checked<form::Length<1, 255>>;
/// A name that may be empty.
pub(crate) type Name = Checked<form::Length<0, 255>>;
/// A long text.
pub(crate) type Description = Checked<form::Length<0, 10_000>>;
/// Any other text.
pub(crate) type Text = Checked<form::Length<0, 2_048>>;
/// The description of a transaction.
pub(crate) type Note = Checked<form::Length<0, 1_000>>;
/// A note on an order.
pub(crate) type OrderNoteText = Checked<form::Length<1, 10_000>>;
/// The sign of an asset.
pub(crate) type Symbol = Checked<form::Length<0, 16>>;

impl<'de, F: Form> Deserialize<'de> for Checked<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match F::check(&text) {
            Ok(()) => Ok(Self(text, PhantomData)),
            Err(invalid) => Err(D::Error::custom(coded(invalid.code, &invalid.message))),
        }
    }
}

impl<F> From<Checked<F>> for String {
    fn from(checked: Checked<F>) -> Self {
        checked.0
    }
}

impl<F: Form> PartialSchema for Checked<F> {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        F::describe(text).build().into()
    }
}

impl<F: Form> ToSchema for Checked<F> {
    fn name() -> Cow<'static, str> {
        F::NAME.into()
    }
}
