//! Quotes between the wire and the model.

use std::sync::Arc;

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode},
    ids::Id,
};
use proto::catalog::v1 as wire;

use crate::{
    category::Category,
    fields,
    media::Media,
    product::{Details, Product, related::Embedded},
    question::answers::{self, AnswerError, Validators},
};

const MAX_LINES: usize = 200;

/// Parses the ids of the products; `None` for a malformed one, which no product has.
pub(crate) fn product_ids(
    request: &wire::QuoteRequest,
) -> Result<Vec<Option<Id<Product>>>, Failure> {
    if !(1..=MAX_LINES).contains(&request.lines.len()) {
        let message = format!("must have 1 to {MAX_LINES} lines");
        return Err(Failure::invalid("lines", FieldCode::Length, message));
    }
    let lines = request.lines.iter();
    Ok(lines.map(|line| Id::parse(&line.product_id).ok()).collect())
}

/// Converts a line to its message, which is empty without a product.
pub(crate) fn line_to_proto(
    line: &wire::QuoteRequestLine,
    product: Option<Embedded>,
    media: &Media,
    validators: &Validators,
) -> wire::QuoteLine {
    let Some(Embedded {
        product,
        category,
        questions,
        ..
    }) = product
    else {
        return wire::QuoteLine::default();
    };
    let questions = questions.unwrap_or_default();
    let questions: Vec<_> = questions.iter().map(|linked| &*linked.question).collect();
    let errors = answers::check(validators, line.answers.as_deref(), &questions);
    let (details, pricing) = (product.details, product.pricing);
    wire::QuoteLine {
        asset_code: pricing.asset.code.clone(),
        asset_decimal_places: pricing.asset.decimal_places.get().into(),
        unit_price: pricing.price.into(),
        tax_rate: pricing.tax_rate.map(|rate| rate.to_string()),
        unit_tax: pricing.tax().into(),
        unit_bonus: pricing.bonus.into(),
        available: details.available,
        allow_choosing_quantity: details.allow_choosing_quantity,
        requires_identity: details.requires_identity,
        visible: Some(details.visible),
        answer_errors: errors.into_iter().map(answer_error).collect(),
        product: Some(snapshot(product.id, details, category, media)),
    }
}

fn answer_error(error: AnswerError) -> wire::AnswerError {
    wire::AnswerError {
        path: error.path,
        code: error.code.as_str().into(),
        message: error.message,
    }
}

fn snapshot(
    id: Id<Product>,
    details: Details,
    category: Option<Arc<Category>>,
    media: &Media,
) -> wire::ProductSnapshot {
    wire::ProductSnapshot {
        id: id.into(),
        name: details.name,
        description: details.description,
        type_code: details.kind.as_str().into(),
        image_url: media.url(details.image.as_deref()),
        thumbnail_url: media.url(details.thumbnail.as_deref()),
        custom_data: details.custom_data,
        metadata: fields::empty_object(),
        category: category.map(|category| wire::CategorySnapshot {
            id: category.id.into(),
            title: category.title.clone(),
            description: category.description.clone(),
            image_url: media.url(category.image.as_deref()),
            custom_data: category.custom_data.clone(),
            created_at: Some(to_proto(category.created_at)),
            updated_at: Some(to_proto(category.updated_at)),
        }),
    }
}
