//! Products as clients write them.

use platform::{error::Failure, patch::Patch};
use proto::catalog::v1::{self as wire, CreateProductRequest, UpdateProductRequest};
use serde::Deserialize;

use crate::{extract::CustomData, resources::dto::Mask};

/// The kinds of products.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TypeCode {
    Digital,
    Physical,
    Service,
}

/// A product to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewProduct {
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

/// Changes of a product; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProductPatch {
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
    pub(super) fn into_request(self, id: String) -> Result<UpdateProductRequest, Failure> {
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
