//! `CategoryService`: all callers read, admins write.

use platform::{
    grpc::{Call, precondition::Versions, respond},
    ids::Id,
    pg,
};
use proto::catalog::v1::{
    CreateCategoryRequest, CreateCategoryResponse, DeleteCategoryRequest, DeleteCategoryResponse,
    GetCategoryRequest, GetCategoryResponse, ListCategoriesRequest, ListCategoriesResponse,
    ReorderCategoryRequest, ReorderCategoryResponse, UpdateCategoryRequest, UpdateCategoryResponse,
    category_service_server::CategoryService,
};
use tonic::{Request, Response, Status};

use super::{Categories, Category, convert};
use crate::{error::Error, fields};

#[derive(Debug, Clone)]
pub(crate) struct CategoryGrpc(pub(crate) Categories);

#[tonic::async_trait]
impl CategoryService for CategoryGrpc {
    async fn create_category(
        &self,
        request: Request<CreateCategoryRequest>,
    ) -> Result<Response<CreateCategoryResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let new = convert::new_category(body)?;
        let reply = self.0.create(key.as_ref(), new).await?;
        Ok(respond(reply, |category| CreateCategoryResponse {
            category: Some(category),
        }))
    }

    async fn get_category(
        &self,
        request: Request<GetCategoryRequest>,
    ) -> Result<Response<GetCategoryResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let category = self.0.get(path_id(&body.id)?).await?;
        Ok(Response::new(GetCategoryResponse {
            category: Some(category),
        }))
    }

    async fn list_categories(
        &self,
        request: Request<ListCategoriesRequest>,
    ) -> Result<Response<ListCategoriesResponse>, Status> {
        let Call { body, .. } = Call::of(request)?;
        let (categories, page) = self.0.list(&body.list.unwrap_or_default()).await?;
        let page = Some(page);
        Ok(Response::new(ListCategoriesResponse { categories, page }))
    }

    async fn update_category(
        &self,
        request: Request<UpdateCategoryRequest>,
    ) -> Result<Response<UpdateCategoryResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let category = self
            .0
            .update(id, convert::patch(body)?, if_version.as_ref())
            .await?;
        Ok(Response::new(UpdateCategoryResponse {
            category: Some(category),
        }))
    }

    async fn delete_category(
        &self,
        request: Request<DeleteCategoryRequest>,
    ) -> Result<Response<DeleteCategoryResponse>, Status> {
        let if_version = Versions::of(&request)?;
        let Call { body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        self.0.delete(id, if_version.as_ref()).await?;
        Ok(Response::new(DeleteCategoryResponse {}))
    }

    async fn reorder_category(
        &self,
        request: Request<ReorderCategoryRequest>,
    ) -> Result<Response<ReorderCategoryResponse>, Status> {
        let Call { key, body, .. } = Call::of(request)?;
        let id = path_id(&body.id)?;
        let next = fields::subsequent(body.subsequent_id)?;
        let moved = pg::retry_serialization(|| self.0.reorder(key.as_ref(), id, next));
        Ok(respond(moved.await?, |()| ReorderCategoryResponse {}))
    }
}

/// Parses the id in a path; a malformed one is not found.
fn path_id(text: &str) -> Result<Id<Category>, Error> {
    Id::parse(text).map_err(|_| Error::CategoryNotFound)
}
