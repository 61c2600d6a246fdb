//! Links: which questions a product asks, in an order of their own. A link is part of its product,
//! whose version and events count its changes.

pub mod grpc;
pub mod repo;
mod service;

use platform::{ids::Id, rank::Rank};

use crate::{product::Product, question::Question};
pub use service::ProductQuestions;

/// A link between a product and a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductQuestion {
    /// Asks it.
    pub product_id: Id<Product>,
    /// What is asked.
    pub question_id: Id<Question>,
    /// Its place among the questions of the product.
    pub rank: Rank,
}

/// A question as a product asks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedQuestion {
    /// The question.
    pub question: Question,
    /// The link's place.
    pub rank: Rank,
}
