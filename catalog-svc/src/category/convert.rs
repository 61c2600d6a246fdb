//! Categories between the wire and the model.

use platform::{clock::to_proto as time, error::Failure, rank::Rank};
use proto::catalog::v1 as wire;

use super::{Category, CategoryPatch, NewCategory};
use crate::{
    fields::{self, CHECKED, Fields},
    media::{self, Media},
};

/// Converts a category to its message.
pub(crate) fn to_proto(category: Category, media: &Media) -> wire::Category {
    wire::Category {
        id: category.id.into(),
        title: category.title,
        description: category.description,
        image_url: media.url(category.image.as_deref()),
        order: category.rank.to_string(),
        custom_data: category.custom_data,
        created_at: Some(time(category.created_at)),
        updated_at: Some(time(category.updated_at)),
        version: category.version,
    }
}

/// Parses the fields of a create.
pub(crate) fn new_category(request: wire::CreateCategoryRequest) -> Result<NewCategory, Failure> {
    let mut fields = Fields::of_create();
    let title = fields.required("title", request.title, fields::title);
    let description = fields.optional("description", request.description, fields::description);
    let image = fields.optional("image", request.image, media::image);
    let rank = fields.optional("order", request.order, |order| Rank::parse(&order));
    let custom_data = fields.optional("custom_data", request.custom_data, fields::custom_data);
    fields.finish()?;
    Ok(NewCategory {
        title: title.expect(CHECKED),
        description,
        image: image.flatten(),
        rank,
        custom_data: custom_data.unwrap_or_else(fields::empty_object),
    })
}

/// Parses the fields of an update.
pub(crate) fn patch(request: wire::UpdateCategoryRequest) -> Result<CategoryPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let patch = CategoryPatch {
        title: fields.changed("title", request.title, fields::title),
        description: fields.patched("description", request.description, fields::description),
        image: media::patch(fields.patched("image", request.image, media::image)),
        rank: fields.changed("order", request.order, |order| Rank::parse(&order)),
        custom_data: fields.changed("custom_data", request.custom_data, fields::custom_data),
    };
    fields.finish()?;
    Ok(patch)
}
