//! `ProductQuestionService`: admins write; products are read with their questions.

use platform::{auth::Caller, error::Failure, idempotency::Key, ids::Id, pg};
use proto::catalog::v1 as wire;
use tonic::{Request, Response, Status};

use super::{ProductQuestion, ProductQuestions};
use crate::{error::Error, fields, product::Product, question::Question};

/// Serves the links.
#[derive(Debug, Clone)]
pub struct ProductQuestionGrpc {
    /// The use cases.
    pub links: ProductQuestions,
}

#[tonic::async_trait]
impl wire::product_question_service_server::ProductQuestionService for ProductQuestionGrpc {
    async fn create_product_question(
        &self,
        request: Request<wire::CreateProductQuestionRequest>,
    ) -> Result<Response<wire::CreateProductQuestionResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        let product_id = product_id(&request.product_id)?;
        let question_id =
            Id::parse(&request.question_id).map_err(|invalid| invalid.at("questionId"))?;
        let answer = |link: ProductQuestion| wire::CreateProductQuestionResponse {
            product_question: Some(wire::ProductQuestion {
                product_id: link.product_id.into(),
                question_id: link.question_id.into(),
                order: link.rank.to_string(),
            }),
        };
        let created = self
            .links
            .create(key.as_ref(), product_id, question_id, answer);
        Ok(created.await?.into_response())
    }

    async fn delete_product_question(
        &self,
        request: Request<wire::DeleteProductQuestionRequest>,
    ) -> Result<Response<wire::DeleteProductQuestionResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let request = request.into_inner();
        let ids = (
            product_id(&request.product_id)?,
            question_id(&request.question_id)?,
        );
        self.links.delete(ids.0, ids.1).await?;
        Ok(Response::new(wire::DeleteProductQuestionResponse {}))
    }

    async fn reorder_product_question(
        &self,
        request: Request<wire::ReorderProductQuestionRequest>,
    ) -> Result<Response<wire::ReorderProductQuestionResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        let ids = (
            product_id(&request.product_id)?,
            question_id(&request.question_id)?,
        );
        let next = fields::subsequent(request.subsequent_id)?;
        let answer = wire::ReorderProductQuestionResponse {};
        let moved = pg::retry_serialization(|| self.links.reorder(key.as_ref(), ids, next, answer));
        Ok(moved.await?.into_response())
    }
}

/// What is no id is nobody's.
fn product_id(text: &str) -> Result<Id<Product>, Failure> {
    Id::parse(text).map_err(|_| Error::ProductNotFound.into())
}

fn question_id(text: &str) -> Result<Id<Question>, Failure> {
    Id::parse(text).map_err(|_| Error::ProductQuestionNotFound.into())
}
