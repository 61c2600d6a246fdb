//! `/questions` and `/question-types`

use platform::{
    error::{Code, Failure},
    patch::Patch,
};
use proto::catalog::v1::{
    self as wire, CreateQuestionRequest, DeleteQuestionRequest, GetQuestionRequest,
    ListQuestionTypesRequest, ListQuestionsRequest, UpdateQuestionRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{Mask, Raw, Time},
    result::{self, DataResult, EmptyResult, ListResult, Located},
};
use crate::extract::{Call, CustomData, Json, ListParams, PathParams};

/// A question to the buyers of a product.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Question {
    id: String,
    title: String,
    description: Option<String>,
    /// `date`, `multiple`, `single`, `text` or `time`.
    type_code: String,
    /// `digital`, `physical` or `service`.
    product_type_code: String,
    /// Whether orders must answer it.
    required: bool,
    /// `values` are the choices of `single` and `multiple`.
    configurations: Raw,
    /// JSON Schema of an answer, derived from type, values and `required`.
    json_schema: Raw,
    custom_data: Raw,
    metadata: Raw,
    created_at: Option<Time>,
    updated_at: Option<Time>,
}

/// A type of questions.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QuestionType {
    code: String,
    name: String,
    /// JSON Schema of an answer, without the choices.
    json_schema_template: Raw,
    created_at: Option<Time>,
}

/// A question to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewQuestion {
    title: String,
    /// `date`, `multiple`, `single`, `text` or `time`.
    type_code: String,
    /// `digital`, `physical` or `service`.
    product_type_code: String,
    /// `single` and `multiple` need `values`: different texts.
    #[schema(value_type = Option<Object>)]
    configurations: Option<CustomData>,
    description: Option<String>,
    required: Option<bool>,
    #[schema(value_type = Option<Object>)]
    custom_data: Option<CustomData>,
}

/// Changes of a question; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct QuestionPatch {
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    title: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    type_code: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    product_type_code: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    configurations: Patch<CustomData>,
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    description: Patch<String>,
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    required: Patch<bool>,
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    custom_data: Patch<CustomData>,
}

/// Create a question.
pub(crate) async fn create(call: Call, Json(body): Json<NewQuestion>) -> DataResult<Question> {
    let request = call.request(body.into());
    result::created(
        call.clients.questions().create_question(request),
        |response| response.question,
    )
    .await
}

/// List questions.
pub(crate) async fn list(call: Call, ListParams(list): ListParams) -> ListResult<Question> {
    let request = call.request(ListQuestionsRequest { list: Some(list) });
    result::list(
        call.clients.questions().list_questions(request),
        |response| (response.questions, response.page),
    )
    .await
}

/// List question types.
pub(crate) async fn list_types(
    call: Call,
    ListParams(list): ListParams,
) -> ListResult<QuestionType> {
    let request = call.request(ListQuestionTypesRequest { list: Some(list) });
    let mut questions = call.clients.questions();
    result::list(questions.list_question_types(request), |response| {
        (response.question_types, response.page)
    })
    .await
}

/// Get a question.
pub(crate) async fn get(call: Call, path: PathParams) -> DataResult<Question> {
    let id = path.id("id", Code::QuestionNotFound)?;
    let request = call.request(GetQuestionRequest { id });
    result::data(call.clients.questions().get_question(request), |response| {
        response.question
    })
    .await
}

/// Update a question.
pub(crate) async fn update(
    call: Call,
    path: PathParams,
    Json(body): Json<QuestionPatch>,
) -> DataResult<Question> {
    let request = call.request(body.into_request(path.id("id", Code::QuestionNotFound)?)?);
    result::data(
        call.clients.questions().update_question(request),
        |response| response.question,
    )
    .await
}

/// Delete a question.
pub(crate) async fn delete(call: Call, path: PathParams) -> EmptyResult {
    let id = path.id("id", Code::QuestionNotFound)?;
    let request = call.request(DeleteQuestionRequest { id });
    result::empty(call.clients.questions().delete_question(request)).await
}

impl Located for Question {
    fn location(&self) -> String {
        format!("/questions/{}", self.id)
    }
}

impl From<wire::Question> for Question {
    fn from(question: wire::Question) -> Self {
        Self {
            id: question.id,
            title: question.title,
            description: question.description,
            type_code: question.type_code,
            product_type_code: question.product_type_code,
            required: question.required,
            configurations: Raw::of(question.configurations),
            json_schema: Raw::of(question.json_schema),
            custom_data: Raw::of(question.custom_data),
            metadata: Raw::of(question.metadata),
            created_at: Time::of(question.created_at),
            updated_at: Time::of(question.updated_at),
        }
    }
}

impl From<wire::QuestionType> for QuestionType {
    fn from(kind: wire::QuestionType) -> Self {
        Self {
            code: kind.code,
            name: kind.name,
            json_schema_template: Raw::of(kind.json_schema_template),
            created_at: Time::of(kind.created_at),
        }
    }
}

impl From<NewQuestion> for CreateQuestionRequest {
    fn from(body: NewQuestion) -> Self {
        Self {
            title: body.title,
            type_code: body.type_code,
            product_type_code: body.product_type_code,
            configurations: body.configurations.map(|json| json.0),
            description: body.description,
            required: body.required.unwrap_or_default(),
            custom_data: body.custom_data.map(|data| data.0),
        }
    }
}

impl QuestionPatch {
    fn into_request(self, id: String) -> Result<UpdateQuestionRequest, Failure> {
        let mut mask = Mask::default();
        let configurations = mask.required("configurations", "configurations", self.configurations);
        let kind = mask.required("type_code", "typeCode", self.type_code);
        let product = self.product_type_code;
        let product = mask.required("product_type_code", "productTypeCode", product);
        Ok(UpdateQuestionRequest {
            id,
            title: mask.required("title", "title", self.title),
            type_code: kind,
            product_type_code: product,
            configurations: configurations.map(|json| json.0),
            description: mask.nullable("description", self.description),
            required: mask.required("required", "required", self.required),
            custom_data: mask
                .required("custom_data", "customData", self.custom_data)
                .map(|data| data.0),
            update_mask: mask.finish()?,
        })
    }
}
