//! A question and how it changes.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use platform::{
    error::{FieldCode, InvalidValue},
    ids::Id,
    patch::Patch,
};
use serde_json::{Value, value::RawValue};

use super::QuestionKind;
use crate::{product::ProductType, text};

/// Choices of a question.
const MAX_CHOICES: usize = 500;

/// What a buyer is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Identifies it.
    pub id: Id<Question>,
    /// 1 to 255 characters.
    pub title: String,
    /// At most 10 000 characters.
    pub description: Option<String>,
    /// How it is answered.
    pub kind: QuestionKind,
    /// For which products it is meant.
    pub product_kind: ProductType,
    /// Whether an order has to answer it.
    pub required: bool,
    /// What the type needs.
    pub configurations: Configurations,
    /// A JSON object, as written.
    pub custom_data: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was last changed.
    pub updated_at: DateTime<Utc>,
}

/// A type of questions, as clients read it.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct QuestionType {
    /// Identifies it.
    pub code: String,
    /// For people.
    pub name: String,
    /// JSON Schema of an answer, without the choices.
    pub json_schema_template: String,
    /// When there came to be such questions.
    pub created_at: DateTime<Utc>,
}

/// A JSON object, as written, and the choices in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Configurations {
    /// As written.
    pub json: String,
    /// Its `values`.
    pub choices: Vec<String>,
}

impl Configurations {
    /// Reads what a client wrote: an object of at most 16 KiB, whose `values` are different texts.
    pub fn parse(json: String) -> Result<Self, InvalidValue> {
        let json = text::custom_data(json)?;
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(&json).unwrap_or_default();
        let choices = match fields.get("values") {
            Some(values) => choices(values)?,
            None => Vec::new(),
        };
        Ok(Self { json, choices })
    }

    /// None at all.
    pub fn none() -> Self {
        Self {
            json: "{}".into(),
            choices: Vec::new(),
        }
    }

    /// Refuses what does not fit the type.
    pub fn check(&self, kind: QuestionKind) -> Result<(), InvalidValue> {
        let refuse = |code, message| Err(InvalidValue::new(code, message));
        match (kind.has_choices(), self.choices.is_empty()) {
            (true, true) => refuse(FieldCode::Required, "`values` must hold the choices"),
            (false, false) => refuse(FieldCode::Enum, "`values` are for `single` and `multiple`"),
            _ => Ok(()),
        }
    }
}

fn choices(values: &RawValue) -> Result<Vec<String>, InvalidValue> {
    let refuse = |code, message: &str| Err(InvalidValue::new(code, format!("`values` {message}")));
    let Ok(Value::Array(values)) = serde_json::from_str(values.get()) else {
        return refuse(FieldCode::Type, "must be an array of texts");
    };
    if values.len() > MAX_CHOICES {
        return refuse(FieldCode::Length, "must have at most 500 texts");
    }
    let mut choices = Vec::new();
    for value in values {
        let Value::String(choice) = value else {
            return refuse(FieldCode::Type, "must be an array of texts");
        };
        choices.push(text::title(choice)?);
    }
    if choices.iter().collect::<HashSet<_>>().len() < choices.len() {
        return refuse(FieldCode::Duplicate, "must be different");
    }
    Ok(choices)
}

/// What a new question is made of.
#[derive(Debug, Clone)]
pub struct NewQuestion {
    pub title: String,
    pub description: Option<String>,
    pub kind: QuestionKind,
    pub product_kind: ProductType,
    pub required: bool,
    pub configurations: Configurations,
    pub custom_data: String,
}

/// What an update changes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionPatch {
    pub title: Option<String>,
    pub description: Patch<String>,
    pub kind: Option<QuestionKind>,
    pub product_kind: Option<ProductType>,
    pub required: Option<bool>,
    pub configurations: Option<Configurations>,
    pub custom_data: Option<String>,
}

impl Question {
    /// A new question.
    pub fn create(
        id: Id<Self>,
        new: NewQuestion,
        now: DateTime<Utc>,
    ) -> Result<Self, InvalidValue> {
        new.configurations.check(new.kind)?;
        Ok(Self {
            id,
            title: new.title,
            description: new.description,
            kind: new.kind,
            product_kind: new.product_kind,
            required: new.required,
            configurations: new.configurations,
            custom_data: new.custom_data,
            created_at: now,
            updated_at: now,
        })
    }

    /// Applies an update that is not empty.
    pub fn update(&mut self, patch: QuestionPatch, now: DateTime<Utc>) -> Result<(), InvalidValue> {
        self.title = patch
            .title
            .unwrap_or_else(|| std::mem::take(&mut self.title));
        self.description = patch.description.or(self.description.take());
        self.kind = patch.kind.unwrap_or(self.kind);
        self.product_kind = patch.product_kind.unwrap_or(self.product_kind);
        self.required = patch.required.unwrap_or(self.required);
        if let Some(configurations) = patch.configurations {
            self.configurations = configurations;
        }
        if let Some(custom_data) = patch.custom_data {
            self.custom_data = custom_data;
        }
        self.updated_at = now;
        self.configurations.check(self.kind)
    }

    /// The JSON Schema that an answer has to meet.
    pub fn schema(&self) -> Value {
        self.kind
            .schema(&self.configurations.choices, self.required)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> FieldCode {
        Configurations::parse(json.into()).unwrap_err().code
    }

    #[test]
    fn configurations_are_kept_as_written() {
        let json = r#" {"values": ["a", "b"], "n": 1e400}"#;
        let read = Configurations::parse(json.into()).unwrap();
        assert_eq!((read.json.as_str(), read.choices.len()), (json, 2));
        for json in ["{}", r#"{"values":[]}"#, r#"{"other":1}"#] {
            let read = Configurations::parse(json.into()).unwrap();
            assert!(read.check(QuestionKind::Text).is_ok(), "{json}");
            let refused = read.check(QuestionKind::Single).unwrap_err();
            assert_eq!(refused.code, FieldCode::Required);
        }
    }

    #[test]
    fn values_are_different_texts() {
        assert_eq!(refused("[]"), FieldCode::Type);
        for json in [
            r#"{"values":"a"}"#,
            r#"{"values":["a",1]}"#,
            r#"{"values":null}"#,
        ] {
            assert_eq!(refused(json), FieldCode::Type, "{json}");
        }
        assert_eq!(refused(r#"{"values":["a","a"]}"#), FieldCode::Duplicate);
        assert_eq!(refused(r#"{"values":[""]}"#), FieldCode::Length);
        let many: Vec<_> = (0..=MAX_CHOICES).map(|n| n.to_string()).collect();
        let many = serde_json::json!({"values": many}).to_string();
        assert_eq!(refused(&many), FieldCode::Length);
        let choices = Configurations::parse(r#"{"values":["a"]}"#.into()).unwrap();
        for kind in [QuestionKind::Text, QuestionKind::Date, QuestionKind::Time] {
            assert_eq!(choices.check(kind).unwrap_err().code, FieldCode::Enum);
        }
    }
}
