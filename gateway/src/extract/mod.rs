//! The extractors of handlers. Every rejection is a problem document.

pub(crate) mod body;
mod call;
mod fields;
mod items;
mod json;
mod list;
mod path;

pub(crate) use call::parse_key;
pub(crate) use call::{Call, Idempotency, ServiceResponse};
pub(crate) use fields::{CustomData, CustomDataOrText, JsonObject, JsonText};
pub(crate) use items::{Items, NDJSON};
pub(crate) use json::{Action, Json, NoFields};
pub(crate) use list::{At, Includes, ListParams, check_includes};
pub(crate) use path::PathParams;
