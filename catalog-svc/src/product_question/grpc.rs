//! `ProductQuestionService`: admins write; products are read with their questions.

use platform::{
    grpc::{Call, respond},
    ids::Id,
    pg,
};
use proto::catalog::v1::{
    CreateProductQuestionRequest, CreateProductQuestionResponse, DeleteProductQuestionRequest,
    DeleteProductQuestionResponse, ReorderProductQuestionRequest, ReorderProductQuestionResponse,
    product_question_service_server::ProductQuestionService,
};
use tonic::{Request, Response, Status};

use super::ProductQuestions;
use crate::{error::Error, fields, product::Product, question::Question};

#[derive(Debug, Clone)]
pub(crate) struct ProductQuestionGrpc(pub(crate) ProductQuestions);

#[tonic::async_trait]
impl ProductQuestionService for ProductQuestionGrpc {
    async fn create_product_question(
        &self,
        request: Request<CreateProductQuestionRequest>,
    ) -> Result<Response<CreateProductQuestionResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let product_id = path_product_id(&body.product_id)?;
        let question_id = Id::parse(&body.question_id);
        let question_id = question_id.map_err(|invalid| invalid.at("questionId"))?;
        let reply = self.0.create(key.as_ref(), product_id, question_id).await?;
        Ok(respond(reply, |link| CreateProductQuestionResponse {
            product_question: Some(link),
        }))
    }

    async fn delete_product_question(
        &self,
        request: Request<DeleteProductQuestionRequest>,
    ) -> Result<Response<DeleteProductQuestionResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let product_id = path_product_id(&body.product_id)?;
        let question_id = path_question_id(&body.question_id)?;
        self.0.delete(product_id, question_id).await?;
        Ok(Response::new(DeleteProductQuestionResponse {}))
    }

    async fn reorder_product_question(
        &self,
        request: Request<ReorderProductQuestionRequest>,
    ) -> Result<Response<ReorderProductQuestionResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let product_id = path_product_id(&body.product_id)?;
        let question_id = path_question_id(&body.question_id)?;
        let next = fields::subsequent(body.subsequent_id)?;
        let moved =
            pg::retry_serialization(|| self.0.reorder(key.as_ref(), product_id, question_id, next));
        Ok(respond(
            moved.await?,
            |()| ReorderProductQuestionResponse {},
        ))
    }
}

/// Parses the product's id in a path; a malformed one is not found.
fn path_product_id(text: &str) -> Result<Id<Product>, Error> {
    Id::parse(text).map_err(|_| Error::ProductNotFound)
}

fn path_question_id(text: &str) -> Result<Id<Question>, Error> {
    Id::parse(text).map_err(|_| Error::ProductQuestionNotFound)
}
