//! Answers of a buyer, held against the questions of the product.

use std::collections::HashSet;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use platform::{error::FieldCode, ids::Id};
use serde_json::{Map, Value};

use super::Question;

/// Why an answer is refused, or that it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerFault {
    /// The question's id, and where in the answer: `0192…`, `0192…[1]`.
    pub path: String,
    /// What is wrong, for programs.
    pub code: FieldCode,
    /// What is wrong, for people.
    pub message: String,
}

/// Checks a JSON object of question ids and answers. `null` is no answer.
pub fn check(answers: Option<&str>, questions: &[&Question]) -> Vec<AnswerFault> {
    let Ok(answers) = serde_json::from_str::<Map<String, Value>>(answers.unwrap_or("{}")) else {
        return vec![fault("", FieldCode::Type, "must be a JSON object")];
    };
    let mut faults = Vec::new();
    let mut answered = HashSet::new();
    for (key, answer) in &answers {
        let id = Id::parse(key).ok();
        let question = questions.iter().find(|question| Some(question.id) == id);
        let Some(question) = question else {
            let message = "the product has no such question";
            faults.push(fault(key, FieldCode::UnknownReference, message));
            continue;
        };
        if !answered.insert(question.id) {
            faults.push(fault(key, FieldCode::Duplicate, "is answered twice"));
        }
        if answer.is_null() {
            answered.remove(&question.id);
        } else {
            faults.extend(refusals(key, question, answer));
        }
    }
    let missing = questions
        .iter()
        .filter(|question| question.required && !answered.contains(&question.id));
    let missing = missing.map(|question| {
        let id = question.id.to_string();
        fault(&id, FieldCode::Required, "must be answered")
    });
    faults.extend(missing);
    faults
}

/// What the question's schema says against the answer.
fn refusals(key: &str, question: &Question, answer: &Value) -> Vec<AnswerFault> {
    let schema = question.schema();
    let validator = jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(&schema)
        .expect("our own schemas are valid");
    let found = validator.iter_errors(answer);
    found.map(|error| refusal(key, &error)).collect()
}

fn refusal(key: &str, error: &ValidationError<'_>) -> AnswerFault {
    let (code, message) = match error.kind() {
        ValidationErrorKind::Enum { .. } => (FieldCode::Enum, "must be one of the choices"),
        ValidationErrorKind::Type { .. } => (FieldCode::Type, "is of another type"),
        ValidationErrorKind::MinItems { .. } => (FieldCode::Length, "must hold a choice"),
        ValidationErrorKind::UniqueItems => (FieldCode::Duplicate, "holds a choice twice"),
        _ => (FieldCode::Format, "is not of the question's format"),
    };
    // `/0` is the first choice: `[0]`.
    let steps = error.instance_path().to_string();
    let steps = steps.split('/').skip(1);
    let path = steps.fold(key.to_owned(), |path, step| format!("{path}[{step}]"));
    fault(&path, code, message)
}

fn fault(path: &str, code: FieldCode, message: &str) -> AnswerFault {
    AnswerFault {
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
        question::{Configurations, NewQuestion, QuestionKind},
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
            configurations: Configurations::parse(json.into()).unwrap(),
            custom_data: "{}".into(),
        };
        Question::create(Ids::seeded(1).next(), new, Clock::system().now()).unwrap()
    }

    fn faults(question: &Question, answer: &str) -> Vec<(String, &'static str)> {
        let id = question.id.to_string();
        let faults = check(Some(&format!("{{\"{id}\":{answer}}}")), &[question]);
        let faults = faults.into_iter();
        faults
            .map(|fault| (fault.path.replace(&id, "q"), fault.code.as_str()))
            .collect()
    }

    #[test]
    fn answers_meet_the_schema_of_their_question() {
        use QuestionKind::{Date, Multiple, Single, Text, Time};
        for (kind, answer) in [
            (Text, r#""""#),
            (Date, r#""2026-02-28""#),
            (Time, r#""10:00:00Z""#),
            (Single, r#""red""#),
            (Multiple, r#"["blue","red"]"#),
        ] {
            assert_eq!(faults(&question(kind, true), answer), [], "{answer}");
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
            let found = faults(&question(kind, true), answer);
            assert_eq!(found, [(path.to_owned(), code)], "{answer}");
        }
        assert_eq!(faults(&question(Multiple, false), "[]"), []);
        assert_eq!(faults(&question(Single, false), "null"), []);
    }

    #[test]
    fn what_is_missing_or_not_asked_is_refused() {
        let question = question(QuestionKind::Text, true);
        let id = question.id.to_string();
        let code = |answers: Option<&str>| {
            let faults = check(answers, &[&question]).into_iter();
            faults.map(|fault| fault.code.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(code(None), ["required"]);
        assert_eq!(code(Some("[]")), ["type"]);
        let unknown = "0192abcd-0000-7000-8000-00000000000f";
        let both = format!(r#"{{"{id}":"a","{unknown}":"b","x":1}}"#);
        assert_eq!(code(Some(&both)), ["unknown_reference"; 2]);
        let twice = format!(r#"{{"{id}":"a","{}":"b"}}"#, id.to_uppercase());
        assert_eq!(code(Some(&twice)), ["duplicate"]);
        assert_eq!(check(None, &[]), []);
    }
}
