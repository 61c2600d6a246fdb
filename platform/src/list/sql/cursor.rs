//! Cursors: the sort and the keys of the last row, as base64url of JSON. Clients can forge them, so
//! their values are parsed as strictly as those of filters.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use proto::lists::Class;

use super::keys::SortKey;
use crate::{
    error::{Failure, FieldCode},
    list::{
        fields::{self, Value},
        refuse,
    },
};

pub(super) fn encode(sort: &str, keys: &[Option<String>]) -> String {
    let json = serde_json::to_vec(&(sort, keys)).expect("strings are always JSON");
    URL_SAFE_NO_PAD.encode(json)
}

pub(super) fn decode(
    cursor: &str,
    sort: &str,
    keys: &[SortKey],
) -> Result<Vec<Option<Value>>, Failure> {
    let json = URL_SAFE_NO_PAD.decode(cursor).ok();
    let read =
        json.and_then(|json| serde_json::from_slice::<(String, Vec<Option<String>>)>(&json).ok());
    let (its_sort, texts) = read.ok_or_else(invalid)?;
    if its_sort != sort {
        let message = format!("continues a list with `sort={its_sort}`");
        return Err(refuse("page[after]", FieldCode::Format, &message));
    }
    if texts.len() != keys.len() {
        return Err(invalid());
    }
    let value = |(key, text): (&SortKey, Option<String>)| {
        text.map(|text| value(key.class, text).ok_or_else(invalid))
            .transpose()
    };
    keys.iter().zip(texts).map(value).collect()
}

/// Parses a key. The database holds more than filters may name: an enum's former value, a product
/// with more than 8 decimals, an empty code.
fn value(class: Class, text: String) -> Option<Value> {
    match class {
        Class::Enum(_)
        | Class::Code
        | Class::CaselessCode
        | Class::Like
        | Class::ILike
        | Class::Search => (!text.contains('\0')).then_some(Value::Text(text)),
        Class::Number | Class::Money => fields::number(&text).map(Value::Number),
        Class::Id | Class::Bool | Class::Time | Class::Flag => fields::value(class, &text).ok(),
    }
}

fn invalid() -> Failure {
    refuse(
        "page[after]",
        FieldCode::Format,
        "is not the `nextCursor` of an earlier page",
    )
}
