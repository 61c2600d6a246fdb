//! `/categories`

use platform::{error::Code, patch::Patch};
use proto::catalog::v1::{
    self as wire, CreateCategoryRequest, DeleteCategoryRequest, GetCategoryRequest,
    ListCategoriesRequest, ReorderCategoryRequest, UpdateCategoryRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Raw, Reorder, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
};
use crate::extract::{
    Action, Call, Change, CustomData, Description, Json, ListParams, PathParams, Rank, Text, Title,
};

/// A group of products.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Category {
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

/// A category to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewCategory {
    title: Title,
    description: Option<Description>,
    /// An http(s) URL, or a path below the media base URL.
    image: Option<Text>,
    order: Option<Rank>,
    custom_data: Option<CustomData>,
}

/// Changes of a category; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CategoryPatch {
    #[serde(default)]
    #[schema(value_type = Title)]
    title: Change<Title>,
    #[serde(default)]
    #[schema(value_type = Option<Description>)]
    description: Patch<Description>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    image: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Rank)]
    order: Change<Rank>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    custom_data: Change<CustomData>,
}

/// Create a category.
pub(crate) async fn create(call: Call, Json(body): Json<NewCategory>) -> DataResult<Category> {
    let request = call.request(body.into());
    result::created(
        call.clients.categories().create_category(request),
        |response| response.category,
    )
    .await
}

/// List categories.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Category> {
    let request = call.request(ListCategoriesRequest { list: Some(list) });
    result::list(
        call.clients.categories().list_categories(request),
        |response| (response.categories, response.page),
    )
    .await
}

/// Get a category.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Category> {
    let id = path.id("id", Code::CategoryNotFound)?;
    let request = call.request(GetCategoryRequest { id });
    result::versioned(
        call.clients.categories().get_category(request),
        |response| response.category,
    )
    .await
}

/// Update a category.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<CategoryPatch>,
) -> DataResult<Category> {
    let request = call.request(body.into_request(path.id("id", Code::CategoryNotFound)?));
    result::versioned(
        call.clients.categories().update_category(request),
        |response| response.category,
    )
    .await
}

/// Delete a category.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let id = path.id("id", Code::CategoryNotFound)?;
    let request = call.request(DeleteCategoryRequest { id });
    result::empty(call.clients.categories().delete_category(request)).await
}

/// Move a category within the sort order.
pub(crate) async fn reorder(
    call: Call,
    path: PathParams,
    Action(body): Action<Reorder>,
) -> EmptyResult {
    let request = call.request(ReorderCategoryRequest {
        id: path.id("id", Code::CategoryNotFound)?,
        subsequent_id: body.subsequent_id.map(Into::into),
    });
    result::empty(call.clients.categories().reorder_category(request)).await
}

impl Located for Category {
    fn location(&self) -> String {
        format!("/categories/{}", self.id)
    }
}

impl Versioned for wire::Category {
    fn version(&self) -> i64 {
        self.version
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
            title: body.title.into(),
            description: body.description.map(Into::into),
            image: body.image.map(Into::into),
            order: body.order.map(Into::into),
            custom_data: body.custom_data.map(Into::into),
        }
    }
}

impl CategoryPatch {
    fn into_request(self, id: String) -> UpdateCategoryRequest {
        let mut mask = Mask::default();
        UpdateCategoryRequest {
            id,
            title: mask.required("title", self.title),
            description: mask.nullable("description", self.description),
            image: mask.nullable("image", self.image),
            order: mask.required("order", self.order),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
