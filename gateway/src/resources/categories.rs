//! `/categories`

use platform::{
    error::{Code, Failure},
    patch::Patch,
};
use proto::catalog::v1::{
    self as wire, CreateCategoryRequest, DeleteCategoryRequest, GetCategoryRequest,
    ListCategoriesRequest, ReorderCategoryRequest, UpdateCategoryRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Raw, Reorder, Time},
    reply::{self, Located, Many, Nothing, One},
};
use crate::extract::{Action, Call, CustomData, Json, ListParams, PathParams};

/// A group of products.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Category {
    id: String,
    title: String,
    description: Option<String>,
    image_url: Option<String>,
    /// Ranking key; `sort=order` puts categories in the shop's order.
    order: String,
    custom_data: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// A category to make.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCategory {
    title: String,
    description: Option<String>,
    /// An http(s) URL, or a path below the media base URL.
    image: Option<String>,
    order: Option<String>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// What to change of a category; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CategoryPatch {
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    title: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    description: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    image: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    order: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    custom_data: Patch<CustomData>,
}

/// POST /categories
pub async fn create(call: Call, Json(body): Json<NewCategory>) -> One<Category> {
    let request = call.request(body.into());
    reply::created(
        call.app.clients.categories().create_category(request),
        |a| a.category,
    )
    .await
}

/// GET /categories
pub async fn list(call: Call, ListParams(list): ListParams) -> Many<Category> {
    let request = call.request(ListCategoriesRequest { list: Some(list) });
    let split = |a: wire::ListCategoriesResponse| (a.categories, a.page);
    reply::many(
        call.app.clients.categories().list_categories(request),
        split,
    )
    .await
}

/// GET /categories/:id
pub async fn get(call: Call, path: PathParams) -> One<Category> {
    let id = path.id("id", Code::CategoryNotFound)?;
    let request = call.request(GetCategoryRequest { id });
    reply::one(call.app.clients.categories().get_category(request), |a| {
        a.category
    })
    .await
}

/// PATCH /categories/:id
pub async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<CategoryPatch>,
) -> One<Category> {
    let request = call.request(body.into_request(path.id("id", Code::CategoryNotFound)?)?);
    reply::one(
        call.app.clients.categories().update_category(request),
        |a| a.category,
    )
    .await
}

/// DELETE /categories/:id
pub async fn delete(call: Call, path: PathParams) -> Nothing {
    let id = path.id("id", Code::CategoryNotFound)?;
    let request = call.request(DeleteCategoryRequest { id });
    reply::nothing(call.app.clients.categories().delete_category(request)).await
}

/// POST /categories/:id/reorder
pub async fn reorder(call: Call, path: PathParams, Action(body): Action<Reorder>) -> Nothing {
    let request = call.request(ReorderCategoryRequest {
        id: path.id("id", Code::CategoryNotFound)?,
        subsequent_id: body.subsequent_id,
    });
    reply::nothing(call.app.clients.categories().reorder_category(request)).await
}

impl Located for Category {
    fn location(&self) -> String {
        format!("/categories/{}", self.id)
    }
}

impl From<wire::Category> for Category {
    fn from(category: wire::Category) -> Self {
        Self {
            id: category.id,
            title: category.title,
            description: category.description,
            image_url: category.image_url,
            order: category.order,
            custom_data: Raw::of(category.custom_data),
            created_at: Time::of(category.created_at),
            updated_at: Time::of(category.updated_at),
        }
    }
}

impl From<NewCategory> for CreateCategoryRequest {
    fn from(body: NewCategory) -> Self {
        Self {
            title: body.title,
            description: body.description,
            image: body.image,
            order: body.order,
            custom_data: body.custom_data.map(|data| data.0),
        }
    }
}

impl CategoryPatch {
    fn into_request(self, id: String) -> Result<UpdateCategoryRequest, Failure> {
        let mut mask = Mask::default();
        Ok(UpdateCategoryRequest {
            id,
            title: mask.required("title", "title", self.title),
            description: mask.nullable("description", self.description),
            image: mask.nullable("image", self.image),
            order: mask.required("order", "order", self.order),
            custom_data: mask
                .required("custom_data", "customData", self.custom_data)
                .map(|data| data.0),
            update_mask: mask.finish()?,
        })
    }
}
