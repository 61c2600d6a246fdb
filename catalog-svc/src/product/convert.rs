//! Products between the wire and the model.

use std::sync::Arc;

use platform::{
    clock::to_proto as time,
    error::{Failure, FieldCode, InvalidValue},
    ids::Id,
    money::Amount,
    rank::Rank,
};
use proto::catalog::v1 as wire;

use super::{
    Details, DetailsPatch, NewProduct, ProductPatch, ProductType,
    import::{Imported, Line},
    related::Embedded,
};
use crate::{
    category,
    fields::{self, CHECKED, Fields},
    media::{self, Media},
    product_question::LinkedQuestion,
    question, tax_rate,
};

/// Converts a product to its message.
pub(crate) fn to_proto(embedded: Embedded, media: &Media) -> wire::Product {
    let (product, details) = (&embedded.product, embedded.product.details.clone());
    let pricing = &product.pricing;
    wire::Product {
        id: product.id.into(),
        name: details.name,
        description: details.description,
        category_id: product.category_id.into(),
        tax_rate_id: product.tax_rate_id.map(String::from),
        asset_code: pricing.asset.code.clone(),
        price: pricing.price.into(),
        price_with_tax: pricing.price_with_tax().into(),
        tax_amount: pricing.tax().into(),
        bonus: pricing.bonus.into(),
        r#type: type_to_proto(details.kind).into(),
        allow_choosing_quantity: details.allow_choosing_quantity,
        available: details.available,
        featured: details.featured,
        visible: details.visible,
        requires_identity: details.requires_identity,
        button_label: details.button_label,
        list_label: details.list_label,
        url: details.url,
        image_url: media.url(details.image.as_deref()),
        thumbnail_url: media.url(details.thumbnail.as_deref()),
        order: product.rank.to_string(),
        custom_data: details.custom_data,
        metadata: fields::empty_object(),
        created_at: Some(time(product.created_at)),
        updated_at: Some(time(product.updated_at)),
        category: embedded
            .category
            .map(|category| category::convert::to_proto(Arc::unwrap_or_clone(category), media)),
        tax_rate: embedded.tax_rate.map(tax_rate::convert::to_proto),
        questions: embedded.questions.map(questions_to_proto),
        version: product.version,
    }
}

fn questions_to_proto(questions: Vec<LinkedQuestion>) -> wire::LinkedQuestions {
    let linked = |linked: LinkedQuestion| wire::LinkedQuestion {
        question: Some(question::convert::to_proto(Arc::unwrap_or_clone(
            linked.question,
        ))),
        order: linked.rank.to_string(),
    };
    wire::LinkedQuestions {
        questions: questions.into_iter().map(linked).collect(),
    }
}

/// Parses the lines of an import. A line that is invalid is rejected later, together with those that
/// refer to nothing.
pub(crate) fn import_lines(request: Vec<wire::ImportLine>) -> Vec<Line> {
    let line = |line: wire::ImportLine| Line {
        number: line.line,
        new: new_product(line.product.unwrap_or_default()),
    };
    request.into_iter().map(line).collect()
}

/// Converts the result of an import to its message.
pub(crate) fn imported_to_proto(imported: Imported) -> wire::ImportProductsResponse {
    let products = imported.products.into_iter();
    let rejected = imported.rejected.iter();
    wire::ImportProductsResponse {
        products: products
            .map(|(line, product)| wire::ImportedProduct {
                line,
                id: product.id.into(),
            })
            .collect(),
        errors: rejected
            .flat_map(|(line, failure)| import_errors(*line, failure))
            .collect(),
    }
}

fn import_errors(line: u32, failure: &Failure) -> impl Iterator<Item = wire::ImportError> {
    failure.fields.iter().map(move |field| wire::ImportError {
        line,
        field: field.field.clone(),
        code: field.code.as_str().into(),
        message: field.message.clone(),
    })
}

/// The public name of a product's type.
const TYPE: &str = "typeCode";

/// Parses the fields of a create.
pub(crate) fn new_product(request: wire::CreateProductRequest) -> Result<NewProduct, Failure> {
    let mut fields = Fields::of_create().rename("type", TYPE);
    let category_id = fields.required("category_id", request.category_id.clone(), |id| {
        Id::parse(&id)
    });
    let tax_rate_id = fields.optional("tax_rate_id", request.tax_rate_id.clone(), |id| {
        Id::parse(&id)
    });
    let asset_code = fields.optional("asset_code", request.asset_code.clone(), asset_code);
    let price = fields.required("price", request.price.clone(), |text| Amount::parse(&text));
    let bonus = fields.optional("bonus", request.bonus.clone(), |text| Amount::parse(&text));
    let rank = fields.optional("order", request.order.clone(), |text| Rank::parse(&text));
    let details = details(&mut fields, request);
    fields.finish()?;
    Ok(NewProduct {
        details,
        category_id: category_id.expect(CHECKED),
        tax_rate_id,
        asset_code,
        price: price.expect(CHECKED),
        bonus: bonus.unwrap_or_default(),
        rank,
    })
}

fn details(fields: &mut Fields, request: wire::CreateProductRequest) -> Details {
    let unspecified = wire::ProductType::Unspecified as i32;
    let kind = Some(request.r#type).filter(|kind| *kind != unspecified);
    let name = fields.optional("name", request.name, fields::name);
    let image = fields.optional("image", request.image, media::image);
    let thumbnail = fields.optional("thumbnail", request.thumbnail, media::image);
    let custom_data = fields.optional("custom_data", request.custom_data, fields::custom_data);
    Details {
        name: name.unwrap_or_default(),
        description: fields.optional("description", request.description, fields::description),
        kind: fields
            .optional("type", kind, type_from_proto)
            .unwrap_or(ProductType::Digital),
        allow_choosing_quantity: request.allow_choosing_quantity,
        available: request.available.unwrap_or(true),
        featured: request.featured,
        visible: request.visible.unwrap_or(true),
        requires_identity: request.requires_identity,
        button_label: fields.optional("button_label", request.button_label, fields::plain),
        list_label: fields.optional("list_label", request.list_label, fields::plain),
        url: fields.optional("url", request.url, fields::plain),
        image: image.flatten(),
        thumbnail: thumbnail.flatten(),
        custom_data: custom_data.unwrap_or_else(fields::empty_object),
    }
}

/// Parses the fields of an update.
pub(crate) fn patch(mut request: wire::UpdateProductRequest) -> Result<ProductPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask.take()).rename("type", TYPE);
    let patch = ProductPatch {
        category_id: fields.changed("category_id", request.category_id.take(), |id| {
            Id::parse(&id)
        }),
        tax_rate_id: fields.patched("tax_rate_id", request.tax_rate_id.take(), |id| {
            Id::parse(&id)
        }),
        asset_code: fields.changed("asset_code", request.asset_code.take(), asset_code),
        price: fields.changed("price", request.price.take(), |text| Amount::parse(&text)),
        bonus: fields.patched("bonus", request.bonus.take(), |text| Amount::parse(&text)),
        rank: fields.changed("order", request.order.take(), |text| Rank::parse(&text)),
        details: details_patch(&mut fields, request),
    };
    fields.finish()?;
    Ok(patch)
}

fn details_patch(fields: &mut Fields, request: wire::UpdateProductRequest) -> DetailsPatch {
    let allow = request.allow_choosing_quantity;
    let image = fields.patched("image", request.image, media::image);
    let thumbnail = fields.patched("thumbnail", request.thumbnail, media::image);
    DetailsPatch {
        name: fields.changed("name", request.name, fields::name),
        description: fields.patched("description", request.description, fields::description),
        kind: fields.changed("type", request.r#type, type_from_proto),
        allow_choosing_quantity: fields.changed("allow_choosing_quantity", allow, Ok),
        available: fields.changed("available", request.available, Ok),
        featured: fields.changed("featured", request.featured, Ok),
        visible: fields.changed("visible", request.visible, Ok),
        requires_identity: fields.changed("requires_identity", request.requires_identity, Ok),
        button_label: fields.patched("button_label", request.button_label, fields::plain),
        list_label: fields.patched("list_label", request.list_label, fields::plain),
        url: fields.patched("url", request.url, fields::plain),
        image: media::patch(image),
        thumbnail: media::patch(thumbnail),
        custom_data: fields.changed("custom_data", request.custom_data, fields::custom_data),
    }
}

/// Checks the form of an asset's code. Whether the asset exists is up to wallet-svc.
fn asset_code(text: String) -> Result<String, InvalidValue> {
    let letters = text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if letters && (1..=16).contains(&text.len()) {
        return Ok(text);
    }
    Err(InvalidValue::new(
        FieldCode::Format,
        "must have 1 to 16 letters and digits",
    ))
}

fn type_to_proto(kind: ProductType) -> wire::ProductType {
    match kind {
        ProductType::Digital => wire::ProductType::Digital,
        ProductType::Physical => wire::ProductType::Physical,
        ProductType::Service => wire::ProductType::Service,
    }
}

fn type_from_proto(kind: i32) -> Result<ProductType, InvalidValue> {
    match wire::ProductType::try_from(kind) {
        Ok(wire::ProductType::Digital) => Ok(ProductType::Digital),
        Ok(wire::ProductType::Physical) => Ok(ProductType::Physical),
        Ok(wire::ProductType::Service) => Ok(ProductType::Service),
        Ok(wire::ProductType::Unspecified) | Err(_) => {
            let message = "must be `digital`, `physical` or `service`";
            Err(InvalidValue::new(FieldCode::Enum, message))
        }
    }
}
