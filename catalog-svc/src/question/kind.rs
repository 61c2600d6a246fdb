//! The types of questions and the JSON Schemas of their answers.

use platform::error::{FieldCode, InvalidValue};
use serde_json::{Value, json};
use sqlx::{
    Decode, Postgres,
    error::BoxDynError,
    postgres::{PgTypeInfo, PgValueRef},
};

/// The form of the answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionKind {
    Date,
    /// Some of the choices.
    Multiple,
    /// One of the choices.
    Single,
    Text,
    /// A time of day.
    Time,
}

impl QuestionKind {
    const ALL: [Self; 5] = [
        Self::Date,
        Self::Multiple,
        Self::Single,
        Self::Text,
        Self::Time,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Multiple => "multiple",
            Self::Single => "single",
            Self::Text => "text",
            Self::Time => "time",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, InvalidValue> {
        Self::find(text).ok_or_else(|| {
            let message = "must be `date`, `multiple`, `single`, `text` or `time`";
            InvalidValue::new(FieldCode::Enum, message)
        })
    }

    fn find(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Returns whether answers are among choices.
    pub(crate) const fn has_choices(self) -> bool {
        matches!(self, Self::Multiple | Self::Single)
    }

    /// Builds the JSON Schema of an answer.
    pub(crate) fn schema(self, choices: &[String], required: bool) -> Value {
        match self {
            Self::Date => json!({"type": "string", "format": "date"}),
            Self::Time => json!({"type": "string", "format": "time"}),
            Self::Text => json!({"type": "string"}),
            Self::Single => json!({"type": "string", "enum": choices}),
            Self::Multiple => {
                let items = json!({"type": "string", "enum": choices});
                let mut schema = json!({"type": "array", "items": items, "uniqueItems": true});
                if required {
                    schema["minItems"] = json!(1);
                }
                schema
            }
        }
    }
}

impl sqlx::Type<Postgres> for QuestionKind {
    fn type_info() -> PgTypeInfo {
        <String as sqlx::Type<Postgres>>::type_info()
    }
}

impl Decode<'_, Postgres> for QuestionKind {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        let text = <&str as Decode<Postgres>>::decode(value)?;
        Self::find(text).ok_or_else(|| format!("{text} is not a type of question").into())
    }
}
