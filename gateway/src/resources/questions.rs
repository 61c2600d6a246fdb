//! `/questions` and `/question-types`

use platform::{error::Code, patch::Patch};
use proto::catalog::v1::{
    self as wire, CreateQuestionRequest, DeleteQuestionRequest, GetQuestionRequest,
    ListQuestionTypesRequest, ListQuestionsRequest, UpdateQuestionRequest,
};
use serde::{Deserialize, Serialize};

use super::{
    dto::{self, Mask, Raw, Time},
    products::TypeCode,
    result::{self, DataResult, EmptyResult, ListResult, Located, Versioned},
};
use crate::extract::{Call, Change, CustomData, Description, Json, ListParams, PathParams, Title};

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

/// How a question is answered.
#[derive(Debug, Clone, Copy, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum QuestionKind {
    Date,
    Multiple,
    Single,
    Text,
    Time,
}

/// A question to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewQuestion {
    title: Title,
    /// `date`, `multiple`, `single`, `text` or `time`.
    type_code: QuestionKind,
    /// `digital`, `physical` or `service`.
    product_type_code: TypeCode,
    /// `single` and `multiple` need `values`: different texts.
    configurations: Option<CustomData>,
    description: Option<Description>,
    required: Option<bool>,
    custom_data: Option<CustomData>,
}

/// Changes of a question; fields left out stay.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct QuestionPatch {
    #[serde(default)]
    #[schema(value_type = Title)]
    title: Change<Title>,
    #[serde(default)]
    #[schema(value_type = QuestionKind)]
    type_code: Change<QuestionKind>,
    #[serde(default)]
    #[schema(value_type = TypeCode)]
    product_type_code: Change<TypeCode>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    configurations: Change<CustomData>,
    #[serde(default)]
    #[schema(value_type = Option<Description>)]
    description: Patch<Description>,
    #[serde(default)]
    #[schema(value_type = bool)]
    required: Change<bool>,
    #[serde(default)]
    #[schema(value_type = CustomData)]
    custom_data: Change<CustomData>,
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
    result::versioned(call.clients.questions().get_question(request), |response| {
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
    let request = call.request(body.into_request(path.id("id", Code::QuestionNotFound)?));
    result::versioned(
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

impl Versioned for wire::Question {
    fn version(&self) -> i64 {
        dto::millis(self.updated_at)
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
            title: body.title.into(),
            type_code: body.type_code.into(),
            product_type_code: body.product_type_code.into(),
            configurations: body.configurations.map(Into::into),
            description: body.description.map(Into::into),
            required: body.required.unwrap_or_default(),
            custom_data: body.custom_data.map(Into::into),
        }
    }
}

impl From<QuestionKind> for String {
    fn from(kind: QuestionKind) -> Self {
        match kind {
            QuestionKind::Date => "date",
            QuestionKind::Multiple => "multiple",
            QuestionKind::Single => "single",
            QuestionKind::Text => "text",
            QuestionKind::Time => "time",
        }
        .to_owned()
    }
}

impl QuestionPatch {
    fn into_request(self, id: String) -> UpdateQuestionRequest {
        let mut mask = Mask::default();
        UpdateQuestionRequest {
            id,
            title: mask.required("title", self.title),
            type_code: mask.required("type_code", self.type_code),
            product_type_code: mask.required("product_type_code", self.product_type_code),
            configurations: mask.required("configurations", self.configurations),
            description: mask.nullable("description", self.description),
            required: mask.required("required", self.required),
            custom_data: mask.required("custom_data", self.custom_data),
            update_mask: Some(mask.finish()),
        }
    }
}
