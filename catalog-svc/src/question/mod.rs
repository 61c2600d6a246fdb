//! Questions: what buyers are asked when they order a product, and what an answer has to look like.

pub mod answers;
pub mod convert;
pub mod grpc;
mod kind;
mod model;
pub mod repo;
mod service;

pub use kind::QuestionKind;
pub use model::{Configurations, NewQuestion, Question, QuestionPatch, QuestionType};
pub use service::Questions;
