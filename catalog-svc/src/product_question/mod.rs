//! Links between products and the questions that their buyers answer, which admins put in order. A
//! link is part of its product, whose version and events count its changes.

pub(crate) mod grpc;
pub(crate) mod repo;
mod service;

use std::sync::Arc;

use platform::{ids::Id, rank::Rank};

use crate::{product::Product, question::Question};
pub(crate) use service::ProductQuestions;

/// A link between a product and a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProductQuestion {
    pub(crate) product_id: Id<Product>,
    pub(crate) question_id: Id<Question>,
    /// Its position among the questions of the product.
    pub(crate) rank: Rank,
}

/// A question of a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkedQuestion {
    /// Shared by the products that it is linked to.
    pub(crate) question: Arc<Question>,
    /// The position of the link.
    pub(crate) rank: Rank,
}
