//! `/products`

mod bulk;
mod write;

use platform::error::Code;
use proto::catalog::v1::{
    self as wire, DeleteProductRequest, GetProductRequest, ListProductsRequest,
    ReorderProductRequest,
};
use serde::Serialize;

pub(crate) use self::bulk::{Import, export, import};
pub(crate) use self::write::{NewProduct, ProductPatch, TypeCode};
use super::{
    categories::Category,
    dto::{self, Raw, Reorder, Time},
    product_questions::LinkedQuestion,
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
    tax_rates::TaxRate,
};
use crate::extract::{Action, Call, Includes, Json, ListParams, PathParams};

/// A product of the shop.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the contract has them")]
pub(crate) struct Product {
    id: String,
    name: Option<String>,
    description: Option<String>,
    category_id: String,
    tax_rate_id: Option<String>,
    asset_code: String,
    /// Net.
    price: String,
    price_with_tax: String,
    /// The price's tax, rounded half away from zero at the asset's decimal places.
    tax_amount: String,
    bonus: String,
    /// `digital`, `physical` or `service`.
    type_code: String,
    allow_choosing_quantity: bool,
    available: bool,
    featured: bool,
    visible: bool,
    requires_identity: bool,
    button_label: Option<String>,
    list_label: Option<String>,
    url: Option<String>,
    image_url: Option<String>,
    thumbnail_url: Option<String>,
    /// Ranking key; `sort=order` puts products in the shop's order.
    order: String,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
    /// With `include=category`.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<Category>,
    /// With `include=taxRate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tax_rate: Option<TaxRate>,
    /// With `include=questions`, in the order of their links.
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<Vec<LinkedQuestion>>,
}

/// Create a product.
pub(crate) async fn create(call: Call, Json(body): Json<NewProduct>) -> DataResult<Product> {
    let request = call.request(body.into());
    result::created(
        call.clients.products().create_product(request),
        |response| response.product,
    )
    .await
}

/// List products.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Product> {
    let request = call.request(ListProductsRequest { list: Some(list) });
    result::list(call.clients.products().list_products(request), |response| {
        (response.products, response.page)
    })
    .await
}

/// Get a product.
pub(crate) async fn get(
    call: Call,
    path: PathParams,
    Includes(include): Includes,
) -> DataResult<Product> {
    let id = path.id("id", Code::ProductNotFound)?;
    let request = call.request(GetProductRequest { id, include });
    result::versioned(call.clients.products().get_product(request), |response| {
        response.product
    })
    .await
}

/// Update a product.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<ProductPatch>,
) -> DataResult<Product> {
    let request = call.request(body.into_request(path.id("id", Code::ProductNotFound)?));
    result::versioned(
        call.clients.products().update_product(request),
        |response| response.product,
    )
    .await
}

/// Delete a product.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let request = call.request(DeleteProductRequest {
        id: path.id("id", Code::ProductNotFound)?,
    });
    result::empty(call.clients.products().delete_product(request)).await
}

/// Move a product within the sort order.
pub(crate) async fn reorder(
    call: Call,
    path: PathParams,
    Action(body): Action<Reorder>,
) -> EmptyResult {
    let request = call.request(ReorderProductRequest {
        id: path.id("id", Code::ProductNotFound)?,
        subsequent_id: body.subsequent_id.map(Into::into),
    });
    result::empty(call.clients.products().reorder_product(request)).await
}

impl Located for Product {
    fn location(&self) -> String {
        format!("/products/{}", self.id)
    }
}

impl Versioned for wire::Product {
    fn version(&self) -> i64 {
        self.version
    }
}

impl From<wire::Product> for Product {
    fn from(product: wire::Product) -> Self {
        Self {
            type_code: dto::text(product.r#type().as_str_name(), "PRODUCT_TYPE_"),
            id: product.id,
            name: dto::not_empty(product.name),
            description: product.description,
            category_id: product.category_id,
            tax_rate_id: product.tax_rate_id,
            asset_code: product.asset_code,
            price: product.price,
            price_with_tax: product.price_with_tax,
            tax_amount: product.tax_amount,
            bonus: product.bonus,
            allow_choosing_quantity: product.allow_choosing_quantity,
            available: product.available,
            featured: product.featured,
            visible: product.visible,
            requires_identity: product.requires_identity,
            button_label: product.button_label,
            list_label: product.list_label,
            url: product.url,
            image_url: product.image_url,
            thumbnail_url: product.thumbnail_url,
            order: product.order,
            custom_data: Raw::of(product.custom_data),
            metadata: Raw::of(product.metadata),
            created_at: Time::of(product.created_at),
            updated_at: Time::of(product.updated_at),
            category: product.category.map(Into::into),
            tax_rate: product.tax_rate.map(Into::into),
            questions: product.questions.map(LinkedQuestion::all),
        }
    }
}
