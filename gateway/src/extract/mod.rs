//! The extractors of handlers. Every rejection is a problem document.

pub(crate) mod body;
mod call;
mod change;
mod checked;
mod fields;
mod items;
mod json;
mod list;
mod path;

pub(crate) use call::parse_key;
pub(crate) use call::{Call, Idempotency, ServiceResponse};
pub(crate) use change::Change;
pub(crate) use checked::{
    Amount, AssetCode, DecimalPlaces, Description, ExchangeRate, Id, Many, Name, Note,
    OrderNoteText, Percent, PositiveAmount, Quantity, Rank, Symbol, Text, Title, UnitCount,
};
pub(crate) use fields::{CustomData, CustomDataOrText, JsonObject, JsonText, TextOrList};
pub(crate) use items::{Items, NDJSON};
pub(crate) use json::{Action, Json, NoFields};
pub(crate) use list::{At, Includes, ListParams, check_includes};
pub(crate) use path::PathParams;
