//! `QuestionService`: everybody reads, admins write.

use platform::{auth::Caller, error::Failure, idempotency::Key, ids::Id};
use proto::catalog::v1 as wire;
use tonic::{Request, Response, Status};

use super::{Question, Questions, convert};
use crate::error::Error;

/// Serves the questions.
#[derive(Debug, Clone)]
pub struct QuestionGrpc {
    /// The use cases.
    pub questions: Questions,
}

#[tonic::async_trait]
impl wire::question_service_server::QuestionService for QuestionGrpc {
    async fn create_question(
        &self,
        request: Request<wire::CreateQuestionRequest>,
    ) -> Result<Response<wire::CreateQuestionResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let new = convert::new_question(request.into_inner())?;
        let answer = |question| wire::CreateQuestionResponse {
            question: Some(convert::to_proto(question)),
        };
        let created = self.questions.create(key.as_ref(), new, answer).await?;
        Ok(created.into_response())
    }

    async fn get_question(
        &self,
        request: Request<wire::GetQuestionRequest>,
    ) -> Result<Response<wire::GetQuestionResponse>, Status> {
        Caller::of(&request)?;
        let question = self.questions.get(id(&request.get_ref().id)?).await?;
        Ok(Response::new(wire::GetQuestionResponse {
            question: Some(convert::to_proto(question)),
        }))
    }

    async fn list_questions(
        &self,
        request: Request<wire::ListQuestionsRequest>,
    ) -> Result<Response<wire::ListQuestionsResponse>, Status> {
        Caller::of(&request)?;
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.questions.list(&list).await?;
        Ok(Response::new(wire::ListQuestionsResponse {
            page: Some(page.info()),
            questions: page.rows.into_iter().map(convert::to_proto).collect(),
        }))
    }

    async fn update_question(
        &self,
        request: Request<wire::UpdateQuestionRequest>,
    ) -> Result<Response<wire::UpdateQuestionResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let id = id(&request.get_ref().id)?;
        let patch = convert::patch(request.into_inner())?;
        let question = self.questions.update(id, patch).await?;
        Ok(Response::new(wire::UpdateQuestionResponse {
            question: Some(convert::to_proto(question)),
        }))
    }

    async fn delete_question(
        &self,
        request: Request<wire::DeleteQuestionRequest>,
    ) -> Result<Response<wire::DeleteQuestionResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        self.questions.delete(id(&request.get_ref().id)?).await?;
        Ok(Response::new(wire::DeleteQuestionResponse {}))
    }

    async fn list_question_types(
        &self,
        request: Request<wire::ListQuestionTypesRequest>,
    ) -> Result<Response<wire::ListQuestionTypesResponse>, Status> {
        Caller::of(&request)?;
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.questions.list_types(&list).await?;
        Ok(Response::new(wire::ListQuestionTypesResponse {
            page: Some(page.info()),
            question_types: page.rows.into_iter().map(convert::type_to_proto).collect(),
        }))
    }
}

/// What is no id is nobody's.
fn id(text: &str) -> Result<Id<Question>, Failure> {
    Id::parse(text).map_err(|_| Error::QuestionNotFound.into())
}
