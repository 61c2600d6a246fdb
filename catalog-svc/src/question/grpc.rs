//! `QuestionService`: all callers read, admins write.

use platform::{
    grpc::{Call, precondition::Versions, respond},
    ids::Id,
};
use proto::catalog::v1::{
    CreateQuestionRequest, CreateQuestionResponse, DeleteQuestionRequest, DeleteQuestionResponse,
    GetQuestionRequest, GetQuestionResponse, ListQuestionTypesRequest, ListQuestionTypesResponse,
    ListQuestionsRequest, ListQuestionsResponse, UpdateQuestionRequest, UpdateQuestionResponse,
    question_service_server::QuestionService,
};
use tonic::{Request, Response, Status};

use super::{Question, Questions, convert};
use crate::error::Error;

#[derive(Debug, Clone)]
pub(crate) struct QuestionGrpc(pub(crate) Questions);

#[tonic::async_trait]
impl QuestionService for QuestionGrpc {
    async fn create_question(
        &self,
        request: Request<CreateQuestionRequest>,
    ) -> Result<Response<CreateQuestionResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_question(body)?;
        let reply = self.0.create(key.as_ref(), new).await?;
        Ok(respond(reply, |question| CreateQuestionResponse {
            question: Some(question),
        }))
    }

    async fn get_question(
        &self,
        request: Request<GetQuestionRequest>,
    ) -> Result<Response<GetQuestionResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let question = self.0.get(path_id(&body.id)?).await?;
        Ok(Response::new(GetQuestionResponse {
            question: Some(question),
        }))
    }

    async fn list_questions(
        &self,
        request: Request<ListQuestionsRequest>,
    ) -> Result<Response<ListQuestionsResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let (questions, page) = self.0.list(&body.list.unwrap_or_default()).await?;
        let page = Some(page);
        Ok(Response::new(ListQuestionsResponse { questions, page }))
    }

    async fn update_question(
        &self,
        request: Request<UpdateQuestionRequest>,
    ) -> Result<Response<UpdateQuestionResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let patch = convert::patch(body)?;
        let question = self.0.update(id, patch, if_version.as_ref()).await?;
        Ok(Response::new(UpdateQuestionResponse {
            question: Some(question),
        }))
    }

    async fn delete_question(
        &self,
        request: Request<DeleteQuestionRequest>,
    ) -> Result<Response<DeleteQuestionResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        self.0.delete(id, if_version.as_ref()).await?;
        Ok(Response::new(DeleteQuestionResponse {}))
    }

    async fn list_question_types(
        &self,
        request: Request<ListQuestionTypesRequest>,
    ) -> Result<Response<ListQuestionTypesResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let list = body.list.unwrap_or_default();
        let (question_types, page) = self.0.list_types(&list).await?;
        let page = Some(page);
        Ok(Response::new(ListQuestionTypesResponse {
            question_types,
            page,
        }))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<Id<Question>, Error> {
    Id::parse(text).map_err(|_| Error::QuestionNotFound)
}
