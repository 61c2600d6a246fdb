//! `/products`

use platform::{
    error::{Code, Failure},
    patch::Patch,
};
use proto::catalog::v1::{
    self as wire, CreateProductRequest, DeleteProductRequest, GetProductRequest,
    ListProductsRequest, UpdateProductRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    categories::Category,
    dto::{self, Mask, Raw, Time},
    reply::{self, Located, Many, Nothing, One},
    tax_rates::TaxRate,
};
use crate::extract::{Call, CustomData, Includes, Json, ListParams, PathParams};

/// Something a shop sells.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the contract has them")]
pub struct Product {
    id: String,
    name: String,
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
}

/// The kinds of products.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TypeCode {
    Digital,
    Physical,
    Service,
}

/// A product to make.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProduct {
    name: Option<String>,
    description: Option<String>,
    category_id: String,
    tax_rate_id: Option<String>,
    asset_code: Option<String>,
    price: String,
    bonus: Option<String>,
    type_code: Option<TypeCode>,
    allow_choosing_quantity: Option<bool>,
    available: Option<bool>,
    featured: Option<bool>,
    visible: Option<bool>,
    requires_identity: Option<bool>,
    button_label: Option<String>,
    list_label: Option<String>,
    url: Option<String>,
    image: Option<String>,
    thumbnail: Option<String>,
    order: Option<String>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// What to change of a product; what is left out stays.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProductPatch {
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    name: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    description: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    category_id: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    tax_rate_id: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    asset_code: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    price: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    bonus: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<TypeCode>)]
    type_code: Patch<TypeCode>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    allow_choosing_quantity: Patch<bool>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    available: Patch<bool>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    featured: Patch<bool>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    visible: Patch<bool>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    requires_identity: Patch<bool>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    button_label: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    list_label: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    url: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    image: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    thumbnail: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    order: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    custom_data: Patch<CustomData>,
}

/// POST /products
pub async fn create(call: Call, Json(body): Json<NewProduct>) -> One<Product> {
    let request = call.request(body.into());
    reply::created(call.app.clients.products().create_product(request), |a| {
        a.product
    })
    .await
}

/// GET /products
pub async fn list(call: Call, ListParams(list): ListParams) -> Many<Product> {
    let request = call.request(ListProductsRequest { list: Some(list) });
    let split = |a: wire::ListProductsResponse| (a.products, a.page);
    reply::many(call.app.clients.products().list_products(request), split).await
}

/// GET /products/:id
pub async fn get(call: Call, path: PathParams, Includes(include): Includes) -> One<Product> {
    let id = path.id("id", Code::ProductNotFound)?;
    let request = call.request(GetProductRequest { id, include });
    reply::one(call.app.clients.products().get_product(request), |a| {
        a.product
    })
    .await
}

/// PATCH /products/:id
pub async fn update(call: Call, path: PathParams, Json(body): Json<ProductPatch>) -> One<Product> {
    let request = call.request(body.into_request(path.id("id", Code::ProductNotFound)?)?);
    reply::one(call.app.clients.products().update_product(request), |a| {
        a.product
    })
    .await
}

/// DELETE /products/:id
pub async fn delete(call: Call, path: PathParams) -> Nothing {
    let request = call.request(DeleteProductRequest {
        id: path.id("id", Code::ProductNotFound)?,
    });
    reply::nothing(call.app.clients.products().delete_product(request)).await
}

impl Located for Product {
    fn location(&self) -> String {
        format!("/products/{}", self.id)
    }
}

impl From<wire::Product> for Product {
    fn from(product: wire::Product) -> Self {
        Self {
            type_code: dto::text(product.r#type().as_str_name(), "PRODUCT_TYPE_"),
            id: product.id,
            name: product.name,
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
        }
    }
}

impl From<TypeCode> for wire::ProductType {
    fn from(code: TypeCode) -> Self {
        match code {
            TypeCode::Digital => Self::Digital,
            TypeCode::Physical => Self::Physical,
            TypeCode::Service => Self::Service,
        }
    }
}

impl From<NewProduct> for CreateProductRequest {
    fn from(body: NewProduct) -> Self {
        Self {
            name: body.name,
            description: body.description,
            category_id: body.category_id,
            tax_rate_id: body.tax_rate_id,
            asset_code: body.asset_code,
            price: body.price,
            bonus: body.bonus,
            r#type: body
                .type_code
                .map(wire::ProductType::from)
                .unwrap_or_default()
                .into(),
            allow_choosing_quantity: body.allow_choosing_quantity.unwrap_or_default(),
            available: body.available,
            featured: body.featured.unwrap_or_default(),
            visible: body.visible,
            requires_identity: body.requires_identity.unwrap_or_default(),
            button_label: body.button_label,
            list_label: body.list_label,
            url: body.url,
            image: body.image,
            thumbnail: body.thumbnail,
            order: body.order,
            custom_data: body.custom_data.map(|data| data.0),
        }
    }
}

impl ProductPatch {
    fn into_request(self, id: String) -> Result<UpdateProductRequest, Failure> {
        let mut mask = Mask::default();
        let type_code = mask.required("type", "typeCode", self.type_code);
        Ok(UpdateProductRequest {
            id,
            name: mask.required("name", "name", self.name),
            description: mask.nullable("description", self.description),
            category_id: mask.required("category_id", "categoryId", self.category_id),
            tax_rate_id: mask.nullable("tax_rate_id", self.tax_rate_id),
            asset_code: mask.required("asset_code", "assetCode", self.asset_code),
            price: mask.required("price", "price", self.price),
            bonus: mask.nullable("bonus", self.bonus),
            r#type: type_code.map(|code| wire::ProductType::from(code).into()),
            allow_choosing_quantity: mask.required(
                "allow_choosing_quantity",
                "allowChoosingQuantity",
                self.allow_choosing_quantity,
            ),
            available: mask.required("available", "available", self.available),
            featured: mask.required("featured", "featured", self.featured),
            visible: mask.required("visible", "visible", self.visible),
            requires_identity: mask.required(
                "requires_identity",
                "requiresIdentity",
                self.requires_identity,
            ),
            button_label: mask.nullable("button_label", self.button_label),
            list_label: mask.nullable("list_label", self.list_label),
            url: mask.nullable("url", self.url),
            image: mask.nullable("image", self.image),
            thumbnail: mask.nullable("thumbnail", self.thumbnail),
            order: mask.required("order", "order", self.order),
            custom_data: mask
                .required("custom_data", "customData", self.custom_data)
                .map(|data| data.0),
            update_mask: mask.finish()?,
        })
    }
}
