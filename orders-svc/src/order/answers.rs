//! Answers to the questions of products: catalog-svc judges them, an order is refused for them.

use platform::error::{FieldCode, Violations};

use super::quote::Quote;
use crate::error::Error;

/// Why an answer is refused, or that it is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerFault {
    /// The question's id, and where in the answer; empty where there are no answers to speak of.
    pub path: String,
    /// What is wrong, for programs.
    pub code: FieldCode,
    /// What is wrong, for people.
    pub message: String,
}

/// Refuses every fault of every line at once, so that a form can show them all.
pub(super) fn check(quotes: &[&Quote]) -> Result<(), Error> {
    let mut violations = Violations::default();
    for (position, quote) in quotes.iter().enumerate() {
        for fault in &quote.answer_faults {
            let answers = format!("lines[{position}].productQuestionsResult");
            let field = match fault.path.as_str() {
                "" => answers,
                path => format!("{answers}.{path}"),
            };
            violations.add(field, fault.code, fault.message.as_str());
        }
    }
    Ok(violations.finish()?)
}
