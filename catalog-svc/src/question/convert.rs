//! Questions between the wire and the model.

use platform::{clock::to_proto as time, error::Failure};
use proto::catalog::v1 as wire;

use super::{Configurations, NewQuestion, Question, QuestionKind, QuestionPatch, QuestionType};
use crate::{
    fields::{self, CHECKED, Fields},
    product::ProductType,
};

/// Converts a question to its message.
pub(crate) fn to_proto(question: Question) -> wire::Question {
    wire::Question {
        json_schema: question.schema().to_string(),
        id: question.id.into(),
        title: question.title,
        description: question.description,
        type_code: question.kind.as_str().into(),
        product_type_code: question.product_kind.as_str().into(),
        required: question.required,
        configurations: question.configurations.json,
        custom_data: question.custom_data,
        metadata: fields::empty_object(),
        created_at: Some(time(question.created_at)),
        updated_at: Some(time(question.updated_at)),
    }
}

/// Converts a type of questions to its message.
pub(crate) fn type_to_proto(kind: QuestionType) -> wire::QuestionType {
    wire::QuestionType {
        code: kind.code,
        name: kind.name,
        json_schema_template: kind.json_schema_template,
        created_at: Some(time(kind.created_at)),
    }
}

/// Parses the fields of a create.
pub(crate) fn new_question(request: wire::CreateQuestionRequest) -> Result<NewQuestion, Failure> {
    let mut fields = Fields::of_create();
    let title = fields.required("title", request.title, fields::title);
    let kind = fields.required("type_code", request.type_code, |code| {
        QuestionKind::parse(&code)
    });
    let product_kind = fields.required("product_type_code", request.product_type_code, |code| {
        ProductType::parse(&code)
    });
    let configurations = request.configurations.unwrap_or_else(fields::empty_object);
    let configurations = fields.optional("configurations", Some(configurations), |json| {
        // The type decides about `values`; one that is invalid is refused in any case.
        Configurations::parse(kind.unwrap_or(QuestionKind::Text), json)
    });
    let description = fields.optional("description", request.description, fields::description);
    let custom_data = fields.optional("custom_data", request.custom_data, fields::custom_data);
    fields.finish()?;
    Ok(NewQuestion {
        title: title.expect(CHECKED),
        description,
        kind: kind.expect(CHECKED),
        product_kind: product_kind.expect(CHECKED),
        required: request.required,
        configurations: configurations.expect(CHECKED),
        custom_data: custom_data.unwrap_or_else(fields::empty_object),
    })
}

/// Parses the fields of an update.
pub(crate) fn patch(request: wire::UpdateQuestionRequest) -> Result<QuestionPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask);
    let configurations = request.configurations;
    let patch = QuestionPatch {
        title: fields.changed("title", request.title, fields::title),
        description: fields.patched("description", request.description, fields::description),
        kind: fields.changed("type_code", request.type_code, |code| {
            QuestionKind::parse(&code)
        }),
        product_kind: fields.changed("product_type_code", request.product_type_code, |code| {
            ProductType::parse(&code)
        }),
        required: fields.changed("required", request.required, Ok),
        configurations: fields.changed("configurations", configurations, fields::custom_data),
        custom_data: fields.changed("custom_data", request.custom_data, fields::custom_data),
    };
    fields.finish()?;
    Ok(patch)
}
