//! What handlers take from a request; every refusal is a problem document.

pub mod body;
mod call;
mod fields;
mod items;
mod json;
mod list;
mod path;
mod scan;

pub(crate) use call::parse_key;
pub use call::{Answer, Call, Idempotency};
pub use fields::{CustomData, JsonObject, JsonText};
pub use items::{Items, NDJSON};
pub use json::{Action, Json, NoFields};
pub use list::{At, Includes, ListParams};
pub use path::PathParams;
