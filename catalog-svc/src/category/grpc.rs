//! `CategoryService`: everybody reads, admins write.

use platform::{auth::Caller, error::Failure, idempotency::Key, ids::Id, pg};
use proto::catalog::v1 as wire;
use tonic::{Request, Response, Status};

use super::{Categories, Category, convert};
use crate::{error::Error, fields, media::Media};

/// Serves the categories.
#[derive(Debug, Clone)]
pub struct CategoryGrpc {
    /// The use cases.
    pub categories: Categories,
    /// Where images are.
    pub media: Media,
}

#[tonic::async_trait]
impl wire::category_service_server::CategoryService for CategoryGrpc {
    async fn create_category(
        &self,
        request: Request<wire::CreateCategoryRequest>,
    ) -> Result<Response<wire::CreateCategoryResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let new = convert::new_category(request.into_inner())?;
        let answer = |category| wire::CreateCategoryResponse {
            category: Some(convert::to_proto(category, &self.media)),
        };
        let created = self.categories.create(key.as_ref(), new, answer).await?;
        Ok(created.into_response())
    }

    async fn get_category(
        &self,
        request: Request<wire::GetCategoryRequest>,
    ) -> Result<Response<wire::GetCategoryResponse>, Status> {
        Caller::of(&request)?;
        let category = self.categories.get(id(&request.get_ref().id)?).await?;
        Ok(Response::new(wire::GetCategoryResponse {
            category: Some(convert::to_proto(category, &self.media)),
        }))
    }

    async fn list_categories(
        &self,
        request: Request<wire::ListCategoriesRequest>,
    ) -> Result<Response<wire::ListCategoriesResponse>, Status> {
        Caller::of(&request)?;
        let list = request.into_inner().list.unwrap_or_default();
        let page = self.categories.list(&list).await?;
        Ok(Response::new(wire::ListCategoriesResponse {
            page: Some(page.info()),
            categories: page
                .rows
                .into_iter()
                .map(|category| convert::to_proto(category, &self.media))
                .collect(),
        }))
    }

    async fn update_category(
        &self,
        request: Request<wire::UpdateCategoryRequest>,
    ) -> Result<Response<wire::UpdateCategoryResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let id = id(&request.get_ref().id)?;
        let patch = convert::patch(request.into_inner())?;
        let category = self.categories.update(id, patch).await?;
        Ok(Response::new(wire::UpdateCategoryResponse {
            category: Some(convert::to_proto(category, &self.media)),
        }))
    }

    async fn delete_category(
        &self,
        request: Request<wire::DeleteCategoryRequest>,
    ) -> Result<Response<wire::DeleteCategoryResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        self.categories.delete(id(&request.get_ref().id)?).await?;
        Ok(Response::new(wire::DeleteCategoryResponse {}))
    }

    async fn reorder_category(
        &self,
        request: Request<wire::ReorderCategoryRequest>,
    ) -> Result<Response<wire::ReorderCategoryResponse>, Status> {
        Caller::of(&request)?.require_admin()?;
        let key = Key::from_request(&request)?;
        let request = request.into_inner();
        let (id, next) = (id(&request.id)?, fields::subsequent(request.subsequent_id)?);
        let answer = wire::ReorderCategoryResponse {};
        let moved =
            pg::retry_serialization(|| self.categories.reorder(key.as_ref(), id, next, answer));
        Ok(moved.await?.into_response())
    }
}

/// What is no id is nobody's.
fn id(text: &str) -> Result<Id<Category>, Failure> {
    Id::parse(text).map_err(|_| Error::CategoryNotFound.into())
}
