//! A question and how it changes.

use std::collections::{BTreeMap, HashSet};

use chrono::{DateTime, Utc};
use platform::{
    clock,
    error::{FieldCode, InvalidValue},
    ids::Id,
    patch::Patch,
};
use serde_json::{Value, value::RawValue};

use super::QuestionKind;
use crate::{fields, product::ProductType};

const MAX_CHOICES: usize = 500;

/// A question that buyers of a product answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) id: Id<Question>,
    /// 1 to 255 characters.
    pub(crate) title: String,
    /// At most 10 000 characters.
    pub(crate) description: Option<String>,
    pub(crate) kind: QuestionKind,
    /// The type of products that it is meant for.
    pub(crate) product_kind: ProductType,
    /// Whether an order must answer it.
    pub(crate) required: bool,
    pub(crate) configurations: Configurations,
    /// A JSON object, as written.
    pub(crate) custom_data: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// A type of questions, as clients read it.
#[derive(Debug, Clone, sqlx::FromRow)]
pub(crate) struct QuestionType {
    pub(crate) code: String,
    pub(crate) name: String,
    /// JSON Schema of an answer, without the choices.
    pub(crate) json_schema_template: String,
    pub(crate) created_at: DateTime<Utc>,
}

/// A JSON object with the choices of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Configurations {
    /// As written.
    pub(crate) json: String,
    /// Its `values`; empty for a type without choices.
    pub(crate) choices: Vec<String>,
}

impl Configurations {
    /// Parses an object of at most 16 KiB. A type with choices needs `values` that are different texts;
    /// the others keep whatever is there, and ignore it.
    pub(crate) fn parse(kind: QuestionKind, json: String) -> Result<Self, InvalidValue> {
        let json = fields::custom_data(json)?;
        if !kind.has_choices() {
            let choices = Vec::new();
            return Ok(Self { json, choices });
        }
        let object: BTreeMap<String, &RawValue> = serde_json::from_str(&json).unwrap_or_default();
        let choices = match object.get("values") {
            Some(values) => choices(values)?,
            None => Vec::new(),
        };
        if choices.is_empty() {
            let message = "`values` must hold the choices";
            return Err(InvalidValue::new(FieldCode::Required, message));
        }
        Ok(Self { json, choices })
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
        choices.push(fields::title(choice)?);
    }
    if choices.iter().collect::<HashSet<_>>().len() < choices.len() {
        return refuse(FieldCode::Duplicate, "must be different");
    }
    Ok(choices)
}

/// The fields of a new question.
#[derive(Debug, Clone)]
pub(crate) struct NewQuestion {
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) kind: QuestionKind,
    pub(crate) product_kind: ProductType,
    pub(crate) required: bool,
    pub(crate) configurations: Configurations,
    pub(crate) custom_data: String,
}

/// An update of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct QuestionPatch {
    pub(crate) title: Option<String>,
    pub(crate) description: Patch<String>,
    pub(crate) kind: Option<QuestionKind>,
    pub(crate) product_kind: Option<ProductType>,
    pub(crate) required: Option<bool>,
    /// A JSON object, as written.
    pub(crate) configurations: Option<String>,
    pub(crate) custom_data: Option<String>,
}

impl Question {
    pub(crate) fn create(id: Id<Self>, new: NewQuestion, now: DateTime<Utc>) -> Self {
        Self {
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
        }
    }

    /// Applies an update that is not empty. Fails if the configurations do not suit the type.
    pub(crate) fn update(
        &mut self,
        patch: QuestionPatch,
        now: DateTime<Utc>,
    ) -> Result<(), InvalidValue> {
        if let Some(title) = patch.title {
            self.title = title;
        }
        self.description = patch.description.or(self.description.take());
        if patch.kind.is_some() || patch.configurations.is_some() {
            self.kind = patch.kind.unwrap_or(self.kind);
            let json = patch.configurations;
            let json = json.unwrap_or_else(|| self.configurations.json.clone());
            self.configurations = Configurations::parse(self.kind, json)?;
        }
        self.product_kind = patch.product_kind.unwrap_or(self.product_kind);
        self.required = patch.required.unwrap_or(self.required);
        if let Some(custom_data) = patch.custom_data {
            self.custom_data = custom_data;
        }
        self.updated_at = clock::after(self.updated_at, now);
        Ok(())
    }

    /// Returns about as many bytes as the question has once encoded: its choices show twice, in the
    /// configurations and in the schema.
    pub(crate) fn bytes(&self) -> usize {
        let description = self.description.as_ref().map_or(0, String::len);
        let texts = self.title.len() + description + self.custom_data.len();
        500 + texts + 2 * self.configurations.json.len()
    }

    /// Builds the JSON Schema of an answer.
    pub(crate) fn schema(&self) -> Value {
        self.kind
            .schema(&self.configurations.choices, self.required)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(json: &str) -> FieldCode {
        Configurations::parse(QuestionKind::Single, json.into())
            .unwrap_err()
            .code
    }

    #[test]
    fn configurations_are_kept_as_written() {
        let json = r#" {"values": ["a", "b"], "n": 1e400}"#;
        let read = Configurations::parse(QuestionKind::Multiple, json.into()).unwrap();
        assert_eq!((read.json.as_str(), read.choices.len()), (json, 2));
        for json in ["{}", r#"{"values":[]}"#, r#"{"other":1}"#] {
            assert_eq!(refused(json), FieldCode::Required, "{json}");
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
    }

    #[test]
    fn types_without_choices_keep_and_ignore_values() {
        for kind in [QuestionKind::Text, QuestionKind::Date, QuestionKind::Time] {
            for json in ["{}", r#"{"values":["a"]}"#, r#"{"values":7}"#] {
                let read = Configurations::parse(kind, json.into()).unwrap();
                assert_eq!((read.json.as_str(), read.choices.len()), (json, 0));
            }
            let no_object = Configurations::parse(kind, "[]".into()).unwrap_err();
            assert_eq!(no_object.code, FieldCode::Type);
        }
    }
}
