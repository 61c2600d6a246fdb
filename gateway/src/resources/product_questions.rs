//! `/products/:productId/questions`

use platform::error::Code;
use proto::catalog::v1::{
    self as wire, CreateProductQuestionRequest, DeleteProductQuestionRequest,
    ReorderProductQuestionRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::Reorder,
    questions::Question,
    reply::{self, Located, Nothing, One},
};
use crate::extract::{Action, Call, Json, PathParams};

/// A link between a product and a question that it asks.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductQuestion {
    product_id: String,
    question_id: String,
    /// Ranking key among the questions of the product.
    order: String,
}

/// A question for a product to ask.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProductQuestion {
    question_id: String,
}

/// A question as a product asks it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct LinkedQuestion {
    #[serde(flatten)]
    question: Question,
    /// Ranking key among the questions of the product.
    order: String,
}

/// POST /products/:id/questions
pub async fn create(
    call: Call,
    path: PathParams,
    Json(body): Json<NewProductQuestion>,
) -> One<ProductQuestion> {
    let request = call.request(CreateProductQuestionRequest {
        product_id: path.id("id", Code::ProductNotFound)?,
        question_id: body.question_id,
    });
    let mut links = call.app.clients.product_questions();
    reply::created(links.create_product_question(request), |a| {
        a.product_question
    })
    .await
}

/// DELETE /products/:productId/questions/:id
pub async fn delete(call: Call, path: PathParams) -> Nothing {
    let request = call.request(DeleteProductQuestionRequest {
        product_id: path.id("productId", Code::ProductNotFound)?,
        question_id: path.id("id", Code::ProductQuestionNotFound)?,
    });
    let mut links = call.app.clients.product_questions();
    reply::nothing(links.delete_product_question(request)).await
}

/// POST /products/:productId/questions/:id/reorder
pub async fn reorder(call: Call, path: PathParams, Action(body): Action<Reorder>) -> Nothing {
    let request = call.request(ReorderProductQuestionRequest {
        product_id: path.id("productId", Code::ProductNotFound)?,
        question_id: path.id("id", Code::ProductQuestionNotFound)?,
        subsequent_id: body.subsequent_id,
    });
    let mut links = call.app.clients.product_questions();
    reply::nothing(links.reorder_product_question(request)).await
}

impl Located for ProductQuestion {
    fn location(&self) -> String {
        format!(
            "/products/{}/questions/{}",
            self.product_id, self.question_id
        )
    }
}

impl From<wire::ProductQuestion> for ProductQuestion {
    fn from(link: wire::ProductQuestion) -> Self {
        Self {
            product_id: link.product_id,
            question_id: link.question_id,
            order: link.order,
        }
    }
}

impl LinkedQuestion {
    /// The questions of a product, in their order.
    pub(super) fn all(linked: wire::LinkedQuestions) -> Vec<Self> {
        let linked = linked.questions.into_iter();
        linked
            .filter_map(|linked| {
                Some(Self {
                    question: linked.question?.into(),
                    order: linked.order,
                })
            })
            .collect()
    }
}
