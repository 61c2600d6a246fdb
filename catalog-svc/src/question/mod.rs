//! Questions that buyers answer when they order a product, and the schemas of their answers.

pub(crate) mod answers;
pub(crate) mod convert;
pub(crate) mod grpc;
mod kind;
mod model;
pub(crate) mod repo;
mod service;

pub(crate) use kind::QuestionKind;
pub(crate) use model::{Configurations, NewQuestion, Question, QuestionPatch, QuestionType};
pub(crate) use service::Questions;
