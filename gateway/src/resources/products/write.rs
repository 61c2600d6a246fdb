//! Products as clients write them.

use platform::patch::Patch;
use proto::catalog::v1::{self as wire, CreateProductRequest, UpdateProductRequest};
use serde::Deserialize;

use crate::{
    extract::{Amount, Change, CustomData, Description, Id, Name, Rank, Text},
    resources::dto::Mask,
};

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
    name: Option<Name>,
    description: Option<Description>,
    category_id: Id,
    tax_rate_id: Option<Id>,
    asset_code: Option<Text>,
    price: Amount,
    bonus: Option<Amount>,
    type_code: Option<TypeCode>,
    allow_choosing_quantity: Option<bool>,
    available: Option<bool>,
    featured: Option<bool>,
    visible: Option<bool>,
    requires_identity: Option<bool>,
    button_label: Option<Text>,
    list_label: Option<Text>,
    url: Option<Text>,
    image: Option<Text>,
    thumbnail: Option<Text>,
    order: Option<Rank>,
    custom_data: Option<CustomData>,
}

/// Changes of a product; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ProductPatch {
    #[serde(default)]
    #[schema(value_type = Name)]
    name: Change<Name>,
    #[serde(default)]
    #[schema(value_type = Option<Description>)]
    description: Patch<Description>,
    #[serde(default)]
    #[schema(value_type = Id)]
    category_id: Change<Id>,
    #[serde(default)]
    #[schema(value_type = Option<Id>)]
    tax_rate_id: Patch<Id>,
    #[serde(default)]
    #[schema(value_type = Text)]
    asset_code: Change<Text>,
    #[serde(default)]
    #[schema(value_type = Amount)]
    price: Change<Amount>,
    #[serde(default)]
    #[schema(value_type = Option<Amount>)]
    bonus: Patch<Amount>,
    #[serde(default)]
    #[schema(value_type = TypeCode)]
    type_code: Change<TypeCode>,
    #[serde(default)]
    #[schema(value_type = bool)]
    allow_choosing_quantity: Change<bool>,
    #[serde(default)]
    #[schema(value_type = bool)]
    available: Change<bool>,
    #[serde(default)]
    #[schema(value_type = bool)]
    featured: Change<bool>,
    #[serde(default)]
    #[schema(value_type = bool)]
    visible: Change<bool>,
    #[serde(default)]
    #[schema(value_type = bool)]
    requires_identity: Change<bool>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    button_label: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    list_label: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    url: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    image: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Option<Text>)]
    thumbnail: Patch<Text>,
    #[serde(default)]
    #[schema(value_type = Rank)]
    order: Change<Rank>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    custom_data: Change<CustomData>,
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

impl From<TypeCode> for String {
    fn from(code: TypeCode) -> Self {
        match code {
            TypeCode::Digital => "digital",
            TypeCode::Physical => "physical",
            TypeCode::Service => "service",
        }
        .to_owned()
    }
}

impl From<NewProduct> for CreateProductRequest {
    fn from(body: NewProduct) -> Self {
        Self {
            name: body.name.map(Into::into),
            description: body.description.map(Into::into),
            category_id: body.category_id.into(),
            tax_rate_id: body.tax_rate_id.map(Into::into),
            asset_code: body.asset_code.map(Into::into),
            price: body.price.into(),
            bonus: body.bonus.map(Into::into),
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
            button_label: body.button_label.map(Into::into),
            list_label: body.list_label.map(Into::into),
            url: body.url.map(Into::into),
            image: body.image.map(Into::into),
            thumbnail: body.thumbnail.map(Into::into),
            order: body.order.map(Into::into),
            custom_data: body.custom_data.map(Into::into),
        }
    }
}

impl ProductPatch {
    pub(super) fn into_request(self, id: String) -> UpdateProductRequest {
        let mut mask = Mask::default();
        let type_code: Option<TypeCode> = mask.required("type", self.type_code);
        UpdateProductRequest {
            id,
            name: mask.required("name", self.name),
            description: mask.nullable("description", self.description),
            category_id: mask.required("category_id", self.category_id),
            tax_rate_id: mask.nullable("tax_rate_id", self.tax_rate_id),
            asset_code: mask.required("asset_code", self.asset_code),
            price: mask.required("price", self.price),
            bonus: mask.nullable("bonus", self.bonus),
            r#type: type_code.map(|code| wire::ProductType::from(code).into()),
            allow_choosing_quantity: mask
                .required("allow_choosing_quantity", self.allow_choosing_quantity),
            available: mask.required("available", self.available),
            featured: mask.required("featured", self.featured),
            visible: mask.required("visible", self.visible),
            requires_identity: mask.required("requires_identity", self.requires_identity),
            button_label: mask.nullable("button_label", self.button_label),
            list_label: mask.nullable("list_label", self.list_label),
            url: mask.nullable("url", self.url),
            image: mask.nullable("image", self.image),
            thumbnail: mask.nullable("thumbnail", self.thumbnail),
            order: mask.required("order", self.order),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
