//! Conversion between tasks and their messages.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, Violations},
    money::Amount,
    patch::Patch,
    rank::Rank,
};
use proto::identity::v1::{self as wire, CreateTaskRequest, UpdateTaskRequest};

use super::model::{Completion, NewTask, Task, TaskId, TaskPatch, TaskType, media_url};
use crate::{
    fields::{self, MAX_DESCRIPTION, MAX_NAME, MAX_TEXT},
    user::UserId,
};

/// Decodes a creation. The error names every invalid field.
pub(crate) fn new_task(request: CreateTaskRequest) -> Result<NewTask, Failure> {
    let mut violations = Violations::default();
    let v = &mut violations;
    let kind = kind(v, request.r#type());
    let amount = amount(v, &request.amount);
    check_name(v, &request.name);
    fields::check_text(v, "description", &request.description, MAX_DESCRIPTION);
    let button_label = fields::optional_text(v, "buttonLabel", request.button_label, MAX_TEXT);
    let survey_url = fields::optional_url(v, "surveyUrl", request.survey_url);
    let image = fields::optional_text(v, "image", request.image, MAX_TEXT);
    let thumbnail = fields::optional_text(v, "thumbnail", request.thumbnail, MAX_TEXT);
    let rank = request
        .order
        .as_deref()
        .and_then(|text| v.value("order", Rank::parse(text)));
    let custom_data = fields::custom_data(v, request.custom_data);
    match (kind, amount) {
        (Some(kind), Some(amount)) if violations.is_empty() => Ok(NewTask {
            name: request.name,
            description: request.description,
            kind,
            amount,
            button_label,
            survey_url,
            image,
            thumbnail,
            rank,
            enabled: request.enabled.unwrap_or(true),
            featured: request.featured,
            custom_data,
        }),
        _ => Err(violations.into_failure()),
    }
}

/// Decodes an update. The error names every invalid field.
pub(crate) fn patch(request: UpdateTaskRequest) -> Result<TaskPatch, Failure> {
    let mask = request.update_mask.clone().unwrap_or_default().paths;
    let mut violations = Violations::default();
    let v = &mut violations;
    let kind = request.r#type.map(|_| request.r#type());
    let kind = fields::changed(v, "type", Patch::from_wire("type", kind, &mask));
    let amount = Patch::from_wire("amount", request.amount, &mask);
    let rank = Patch::from_wire("order", request.order, &mask);
    let text = |name: &str, value| Patch::from_wire(name, value, &mask);
    let patch = TaskPatch {
        name: fields::changed(v, "name", text("name", request.name))
            .inspect(|name| check_name(v, name)),
        description: fields::changed(v, "description", text("description", request.description))
            .inspect(|text| fields::check_text(v, "description", text, MAX_DESCRIPTION)),
        kind: kind.and_then(|wire| self::kind(v, wire)),
        amount: fields::changed(v, "amount", amount).and_then(|text| self::amount(v, &text)),
        button_label: fields::patched(text("button_label", request.button_label), |text| {
            fields::optional_text(v, "buttonLabel", text, MAX_TEXT)
        }),
        survey_url: fields::patched(text("survey_url", request.survey_url), |text| {
            fields::optional_url(v, "surveyUrl", text)
        }),
        image: fields::patched(text("image", request.image), |text| {
            fields::optional_text(v, "image", text, MAX_TEXT)
        }),
        thumbnail: fields::patched(text("thumbnail", request.thumbnail), |text| {
            fields::optional_text(v, "thumbnail", text, MAX_TEXT)
        }),
        rank: fields::changed(v, "order", rank)
            .and_then(|text| v.value("order", Rank::parse(&text))),
        enabled: fields::changed(
            v,
            "enabled",
            Patch::from_wire("enabled", request.enabled, &mask),
        ),
        featured: fields::changed(
            v,
            "featured",
            Patch::from_wire("featured", request.featured, &mask),
        ),
        custom_data: fields::changed(v, "customData", text("custom_data", request.custom_data))
            .map(|json| fields::custom_data(v, Some(json))),
    };
    violations.finish()?;
    Ok(patch)
}

/// Parses the task that another is moved right before.
pub(crate) fn subsequent_id(text: Option<String>) -> Result<Option<TaskId>, Failure> {
    let next = text.map(|text| TaskId::parse(&text)).transpose();
    next.map_err(|invalid| invalid.at("subsequentId"))
}

/// Parses the user of a completion.
pub(crate) fn user_id(text: &str) -> Result<UserId, Failure> {
    if text.is_empty() {
        return Err(Failure::invalid(
            "userId",
            FieldCode::Required,
            "is required",
        ));
    }
    UserId::parse(text).map_err(|invalid| invalid.at("userId"))
}

fn check_name(violations: &mut Violations, name: &str) {
    let is_given = !name.trim().is_empty();
    violations.check("name", is_given, FieldCode::Required, "is required");
    fields::check_text(violations, "name", name, MAX_NAME);
}

fn kind(violations: &mut Violations, wire: wire::TaskType) -> Option<TaskType> {
    let kind = match wire {
        wire::TaskType::Manual => Some(TaskType::Manual),
        wire::TaskType::Survey => Some(TaskType::Survey),
        wire::TaskType::Automatic => Some(TaskType::Automatic),
        wire::TaskType::System => Some(TaskType::System),
        wire::TaskType::Unspecified => None,
    };
    let message = "must be one of: automatic, manual, survey, system";
    violations.check("type", kind.is_some(), FieldCode::Enum, message);
    kind
}

fn amount(violations: &mut Violations, text: &str) -> Option<Amount> {
    let amount = violations.value("amount", Amount::parse(text))?;
    let is_positive = amount > Amount::ZERO;
    violations.check(
        "amount",
        is_positive,
        FieldCode::Range,
        "must be greater than 0",
    );
    is_positive.then_some(amount)
}

impl From<TaskType> for wire::TaskType {
    fn from(kind: TaskType) -> Self {
        match kind {
            TaskType::Manual => Self::Manual,
            TaskType::Survey => Self::Survey,
            TaskType::Automatic => Self::Automatic,
            TaskType::System => Self::System,
        }
    }
}

/// Encodes a task; `completed` is whether the caller has completed it.
pub(crate) fn task(task: Task, media_base: &str, completed: bool) -> wire::Task {
    wire::Task {
        image_url: media_url(media_base, task.image.as_deref()),
        thumbnail_url: media_url(media_base, task.thumbnail.as_deref()),
        id: task.id.to_string(),
        name: task.name,
        description: task.description,
        r#type: wire::TaskType::from(task.kind).into(),
        amount: task.amount.to_string(),
        asset_code: task.asset_code,
        button_label: task.button_label,
        survey_url: task.survey_url,
        order: task.rank.to_string(),
        enabled: task.enabled,
        featured: task.featured,
        available: task.enabled && !completed,
        custom_data: task.custom_data,
        metadata: "{}".to_owned(),
        created_at: Some(to_proto(task.created_at)),
        updated_at: Some(to_proto(task.updated_at)),
    }
}

impl From<Completion> for wire::TaskCompletion {
    fn from(completion: Completion) -> Self {
        Self {
            id: completion.id.to_string(),
            task_id: completion.task_id.to_string(),
            user_id: completion.user_id.to_string(),
            amount: completion.amount.to_string(),
            asset_code: completion.asset_code,
            transaction_id: completion.transaction_id.to_string(),
            created_at: Some(to_proto(completion.created_at)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> CreateTaskRequest {
        CreateTaskRequest {
            name: "Survey".to_owned(),
            r#type: wire::TaskType::Survey.into(),
            amount: "1.50".to_owned(),
            ..CreateTaskRequest::default()
        }
    }

    #[test]
    fn absent_fields_have_defaults() {
        let task = new_task(CreateTaskRequest {
            image: Some(String::new()),
            ..request()
        })
        .unwrap();
        assert!(task.enabled);
        assert!(!task.featured);
        assert_eq!(task.rank, None);
        assert_eq!(task.image, None);
    }

    #[test]
    fn every_invalid_field_is_named() {
        let failure = new_task(CreateTaskRequest {
            name: " ".to_owned(),
            r#type: 99,
            amount: "0".to_owned(),
            order: Some("1e3".to_owned()),
            survey_url: Some("javascript:alert(1)".to_owned()),
            ..CreateTaskRequest::default()
        })
        .unwrap_err();
        let violations: Vec<_> = failure
            .fields
            .iter()
            .map(|violation| (violation.field.as_str(), violation.code))
            .collect();
        assert_eq!(
            violations,
            [
                ("type", FieldCode::Enum),
                ("amount", FieldCode::Range),
                ("name", FieldCode::Required),
                ("surveyUrl", FieldCode::Format),
                ("order", FieldCode::Format),
            ]
        );
    }

    #[test]
    fn an_amount_is_a_positive_decimal() {
        for amount in ["", "0", "1e3", "-1", "1.123456789"] {
            let invalid = CreateTaskRequest {
                amount: amount.to_owned(),
                ..request()
            };
            assert!(new_task(invalid).is_err(), "{amount}");
        }
    }
}
