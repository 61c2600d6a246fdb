//! Checks a buyer's answers against the questions of the product.

use std::{collections::HashSet, sync::Arc};

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use moka::sync::Cache;
use platform::{error::FieldCode, ids::Id};
use serde_json::{Map, Value};

use super::{Question, QuestionKind};

/// Questions whose schemas are kept, each of at most a few times 16 KiB.
const MAX_VALIDATORS: u64 = 500;

/// An answer that is invalid or missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerError {
    /// The question's id, and the position in the answer: `0192…`, `0192…[1]`.
    pub(crate) path: String,
    pub(crate) code: FieldCode,
    pub(crate) message: String,
}

/// The compiled schemas of questions. Cloning is cheap and shares them.
#[derive(Debug, Clone)]
pub(crate) struct Validators(Cache<Id<Question>, Arc<Compiled>>);

/// A compiled schema, and what it was made from.
#[derive(Debug)]
struct Compiled {
    kind: QuestionKind,
    required: bool,
    choices: Vec<String>,
    validator: Validator,
}

impl Validators {
    pub(crate) fn new() -> Self {
        Self(Cache::new(MAX_VALIDATORS))
    }

    /// Returns the compiled schema of a question as it is now. Two orders a moment apart may know the
    /// question before and after a change: what the schema is made from decides, not a time.
    fn of(&self, question: &Question) -> Arc<Compiled> {
        let last = self.0.get(&question.id);
        if let Some(last) = last.filter(|last| last.is_of(question)) {
            return last;
        }
        let compiled = Arc::new(Compiled::new(question));
        self.0.insert(question.id, compiled.clone());
        compiled
    }
}

impl Compiled {
    fn new(question: &Question) -> Self {
        let validator = jsonschema::draft202012::options()
            .should_validate_formats(true)
            .build(&question.schema())
            .expect("our own schemas are valid");
        Self {
            kind: question.kind,
            required: question.required,
            choices: question.configurations.choices.clone(),
            validator,
        }
    }

    fn is_of(&self, question: &Question) -> bool {
        self.kind == question.kind
            && self.required == question.required
            && self.choices == question.configurations.choices
    }
}

/// Checks a JSON object with answers by question id. `null` is no answer.
pub(crate) fn check(
    validators: &Validators,
    answers: Option<&str>,
    questions: &[&Question],
) -> Vec<AnswerError> {
    let Ok(answers) = serde_json::from_str::<Map<String, Value>>(answers.unwrap_or("{}")) else {
        return vec![error("", FieldCode::Type, "must be a JSON object")];
    };
    let mut errors = Vec::new();
    let mut answered = HashSet::new();
    for (key, answer) in &answers {
        let id = Id::parse(key).ok();
        let question = questions.iter().find(|question| Some(question.id) == id);
        let Some(question) = question else {
            let message = "question not found";
            errors.push(error(key, FieldCode::UnknownReference, message));
            continue;
        };
        if !answered.insert(question.id) {
            errors.push(error(key, FieldCode::Duplicate, "is answered twice"));
        }
        if answer.is_null() {
            answered.remove(&question.id);
        } else {
            let compiled = validators.of(question);
            let invalid = compiled.validator.iter_errors(answer);
            errors.extend(invalid.map(|error| schema_error(key, &error)));
        }
    }
    let missing = questions
        .iter()
        .filter(|question| question.required && !answered.contains(&question.id));
    let missing = missing.map(|question| {
        let id = question.id.to_string();
        error(&id, FieldCode::Required, "must be answered")
    });
    errors.extend(missing);
    errors
}

fn schema_error(key: &str, invalid: &ValidationError<'_>) -> AnswerError {
    let (code, message) = match invalid.kind() {
        ValidationErrorKind::Enum { .. } => (FieldCode::Enum, "must be one of the choices"),
        ValidationErrorKind::Type { .. } => (FieldCode::Type, "is of another type"),
        ValidationErrorKind::MinItems { .. } => (FieldCode::Length, "must hold a choice"),
        ValidationErrorKind::UniqueItems => (FieldCode::Duplicate, "holds a choice twice"),
        _ => (FieldCode::Format, "is not of the question's format"),
    };
    // `/0` is the first choice: `[0]`.
    let steps = invalid.instance_path().to_string();
    let steps = steps.split('/').skip(1);
    let path = steps.fold(key.to_owned(), |path, step| format!("{path}[{step}]"));
    error(&path, code, message)
}

fn error(path: &str, code: FieldCode, message: &str) -> AnswerError {
    AnswerError {
        path: path.into(),
        code,
        message: message.into(),
    }
}

#[cfg(test)]
mod tests {
    use platform::{clock::Clock, ids::Ids};

    use super::*;
    use crate::{
        product::ProductType,
        question::{Configurations, NewQuestion},
    };

    fn question(kind: QuestionKind, required: bool) -> Question {
        let json = if kind.has_choices() {
            r#"{"values":["red","blue"]}"#
        } else {
            "{}"
        };
        let new = NewQuestion {
            title: "?".into(),
            description: None,
            kind,
            product_kind: ProductType::Physical,
            required,
            configurations: Configurations::parse(kind, json.into()).unwrap(),
            custom_data: "{}".into(),
        };
        Question::create(Ids::seeded(1).next(), new, Clock::system().now())
    }

    fn errors(question: &Question, answer: &str) -> Vec<(String, &'static str)> {
        let id = question.id.to_string();
        let answers = format!("{{\"{id}\":{answer}}}");
        let errors = check(&Validators::new(), Some(&answers), &[question]).into_iter();
        errors
            .map(|error| (error.path.replace(&id, "q"), error.code.as_str()))
            .collect()
    }

    #[test]
    fn an_answer_must_match_the_schema_of_its_question() {
        use QuestionKind::{Date, Multiple, Single, Text, Time};
        for (kind, answer) in [
            (Text, r#""""#),
            (Date, r#""2026-02-28""#),
            (Time, r#""10:00:00Z""#),
            (Single, r#""red""#),
            (Multiple, r#"["blue","red"]"#),
        ] {
            assert_eq!(errors(&question(kind, true), answer), [], "{answer}");
        }
        for (kind, answer, path, code) in [
            (Text, "1", "q", "type"),
            (Date, r#""2026-02-30""#, "q", "format"),
            (Time, r#""25:00:00Z""#, "q", "format"),
            (Single, r#""green""#, "q", "enum"),
            (Multiple, "[]", "q", "length"),
            (Multiple, r#"["red","green"]"#, "q[1]", "enum"),
            (Multiple, r#"["red","red"]"#, "q", "duplicate"),
            (Multiple, r#"{"red":1}"#, "q", "type"),
            (Text, "null", "q", "required"),
        ] {
            let found = errors(&question(kind, true), answer);
            assert_eq!(found, [(path.to_owned(), code)], "{answer}");
        }
        assert_eq!(errors(&question(Multiple, false), "[]"), []);
        assert_eq!(errors(&question(Single, false), "null"), []);
    }

    #[test]
    fn a_missing_answer_and_one_without_a_question_are_errors() {
        let question = question(QuestionKind::Text, true);
        let id = question.id.to_string();
        let code = |answers: Option<&str>| {
            let errors = check(&Validators::new(), answers, &[&question]).into_iter();
            errors.map(|error| error.code.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(code(None), ["required"]);
        assert_eq!(code(Some("[]")), ["type"]);
        let unknown = "0192abcd-0000-7000-8000-00000000000f";
        let both = format!(r#"{{"{id}":"a","{unknown}":"b","x":1}}"#);
        assert_eq!(code(Some(&both)), ["unknown_reference"; 2]);
        let twice = format!(r#"{{"{id}":"a","{}":"b"}}"#, id.to_uppercase());
        assert_eq!(code(Some(&twice)), ["duplicate"]);
        assert_eq!(check(&Validators::new(), None, &[]), []);
    }

    #[test]
    fn a_schema_is_compiled_once_and_again_after_a_change() {
        let validators = Validators::new();
        let mut question = question(QuestionKind::Single, false);
        let first = validators.of(&question);
        assert!(Arc::ptr_eq(&first, &validators.of(&question)));
        let wider = r#"{"values":["red","green"]}"#;
        question.configurations = Configurations::parse(question.kind, wider.into()).unwrap();
        // Within the same millisecond: its time is the same.
        let changed = validators.of(&question);
        assert!(!Arc::ptr_eq(&first, &changed));
        assert!(changed.validator.is_valid(&Value::from("green")));
        assert!(Arc::ptr_eq(&changed, &validators.of(&question)));
        question.required = true;
        assert!(!Arc::ptr_eq(&changed, &validators.of(&question)));
    }
}
