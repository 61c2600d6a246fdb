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
    result::{self, DataResult, EmptyResult, Located},
};
use crate::extract::{Action, Call, Id, Json, PathParams};

/// The link between a product and a question.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProductQuestion {
    product_id: String,
    question_id: String,
    /// Ranking key among the questions of the product.
    order: String,
}

/// A question to attach to a product.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewProductQuestion {
    question_id: Id,
}

/// A question of a product.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct LinkedQuestion {
    #[serde(flatten)]
    question: Question,
    /// Ranking key among the questions of the product.
    order: String,
}

/// Attach a question to a product.
pub(crate) async fn create(
    call: Call,
    path: PathParams,
    Json(body): Json<NewProductQuestion>,
) -> DataResult<ProductQuestion> {
    let request = call.request(CreateProductQuestionRequest {
        product_id: path.id("id", Code::ProductNotFound)?,
        question_id: body.question_id.into(),
    });
    let mut links = call.clients.product_questions();
    result::created(links.create_product_question(request), |response| {
        response.product_question
    })
    .await
}

/// Detach a question from a product.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let request = call.request(DeleteProductQuestionRequest {
        product_id: path.id("productId", Code::ProductNotFound)?,
        question_id: path.id("id", Code::ProductQuestionNotFound)?,
    });
    let mut links = call.clients.product_questions();
    result::empty(links.delete_product_question(request)).await
}

/// Move a question within the sort order of its product.
pub(crate) async fn reorder(
    call: Call,
    path: PathParams,
    Action(body): Action<Reorder>,
) -> EmptyResult {
    let request = call.request(ReorderProductQuestionRequest {
        product_id: path.id("productId", Code::ProductNotFound)?,
        question_id: path.id("id", Code::ProductQuestionNotFound)?,
        subsequent_id: body.subsequent_id.map(Into::into),
    });
    let mut links = call.clients.product_questions();
    result::empty(links.reorder_product_question(request)).await
}

impl Located for ProductQuestion {
    fn location(&self) -> String {
        // The link has no path that can be read; this shows it among the others of its product.
        format!("/products/{}?include=questions", self.product_id)
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
