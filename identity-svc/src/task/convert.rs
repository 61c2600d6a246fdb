//! Conversion between tasks and their messages.

use platform::{
    clock::to_proto,
    error::{Failure, FieldCode, InvalidValue},
    fields::{CHECKED, Fields, required},
    money::Amount,
    rank::Rank,
    text,
};
use proto::identity::v1::{self as wire, CreateTaskRequest, UpdateTaskRequest};

use super::model::{Completion, NewTask, Task, TaskId, TaskPatch, TaskType, media_url};
use crate::{
    fields::{self, MAX_DESCRIPTION, MAX_NAME, cleared},
    user::UserId,
};

/// Decodes a creation. The error names every invalid field.
pub(crate) fn new_task(request: CreateTaskRequest) -> Result<NewTask, Failure> {
    let mut fields = Fields::of_create();
    let kind = fields.optional("type", Some(request.r#type()), self::kind);
    let amount = fields.required("amount", request.amount, |text| {
        Amount::parse_positive(&text)
    });
    let name = fields.required("name", request.name, name);
    let description = fields.optional("description", Some(request.description), description);
    let button_label = fields.optional("button_label", request.button_label, fields::text);
    let survey_url = fields.optional("survey_url", request.survey_url, fields::url);
    let image = fields.optional("image", request.image, fields::text);
    let thumbnail = fields.optional("thumbnail", request.thumbnail, fields::text);
    let rank = fields.optional("order", request.order, |text| Rank::parse(&text));
    let custom_data = fields.optional("custom_data", request.custom_data, text::object);
    fields.finish()?;
    Ok(NewTask {
        name: name.expect(CHECKED),
        description: description.expect(CHECKED),
        kind: kind.expect(CHECKED),
        amount: amount.expect(CHECKED),
        button_label: button_label.flatten(),
        survey_url: survey_url.flatten(),
        image: image.flatten(),
        thumbnail: thumbnail.flatten(),
        rank,
        enabled: request.enabled.unwrap_or(true),
        featured: request.featured,
        custom_data: custom_data.unwrap_or_else(|| text::EMPTY_OBJECT.to_owned()),
    })
}

/// Decodes an update. The error names every invalid field.
pub(crate) fn patch(request: UpdateTaskRequest) -> Result<TaskPatch, Failure> {
    let mut fields = Fields::of_update(request.update_mask.clone());
    let kind = request.r#type.map(|_| request.r#type());
    let patch = TaskPatch {
        name: fields.changed("name", request.name, name),
        description: fields.changed("description", request.description, description),
        kind: fields.changed("type", kind, self::kind),
        amount: fields.changed("amount", request.amount, |text| {
            Amount::parse_positive(&text)
        }),
        button_label: cleared(fields.patched("button_label", request.button_label, fields::text)),
        survey_url: cleared(fields.patched("survey_url", request.survey_url, fields::url)),
        image: cleared(fields.patched("image", request.image, fields::text)),
        thumbnail: cleared(fields.patched("thumbnail", request.thumbnail, fields::text)),
        rank: fields.changed("order", request.order, |text| Rank::parse(&text)),
        enabled: fields.changed("enabled", request.enabled, Ok),
        featured: fields.changed("featured", request.featured, Ok),
        custom_data: fields.changed("custom_data", request.custom_data, text::object),
    };
    fields.finish()?;
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

fn name(name: String) -> Result<String, InvalidValue> {
    if name.trim().is_empty() {
        return required();
    }
    text::bounded(name, 0..=MAX_NAME)
}

fn description(text: String) -> Result<String, InvalidValue> {
    text::bounded(text, 0..=MAX_DESCRIPTION)
}

fn kind(wire: wire::TaskType) -> Result<TaskType, InvalidValue> {
    match wire {
        wire::TaskType::Manual => Ok(TaskType::Manual),
        wire::TaskType::Survey => Ok(TaskType::Survey),
        wire::TaskType::Automatic => Ok(TaskType::Automatic),
        wire::TaskType::System => Ok(TaskType::System),
        wire::TaskType::Unspecified => Err(InvalidValue::new(
            FieldCode::Enum,
            "must be one of: automatic, manual, survey, system",
        )),
    }
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
    use platform::patch::Patch;

    use super::*;

    fn request() -> CreateTaskRequest {
        CreateTaskRequest {
            name: "Survey".to_owned(),
            r#type: wire::TaskType::Survey.into(),
            amount: "1.50".to_owned(),
            ..CreateTaskRequest::default()
        }
    }

    fn violations(failure: &Failure) -> Vec<(&str, FieldCode)> {
        let fields = failure.fields.iter();
        fields
            .map(|violation| (violation.field.as_str(), violation.code))
            .collect()
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
        assert_eq!(
            violations(&failure),
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

    #[test]
    fn an_update_refuses_null_and_paths_that_name_no_field() {
        let paths = ["name", "survey_url", "image", "completions"];
        let failure = patch(UpdateTaskRequest {
            survey_url: Some("javascript:alert(1)".to_owned()),
            image: Some(String::new()),
            update_mask: Some(prost_types::FieldMask {
                paths: paths.map(str::to_owned).to_vec(),
            }),
            ..UpdateTaskRequest::default()
        })
        .unwrap_err();
        assert_eq!(
            violations(&failure),
            [
                ("name", FieldCode::Required),
                ("surveyUrl", FieldCode::Format),
                ("completions", FieldCode::UnknownField),
            ]
        );
    }

    #[test]
    fn an_update_clears_texts_that_it_sets_to_empty_ones() {
        let change = patch(UpdateTaskRequest {
            image: Some(String::new()),
            update_mask: Some(prost_types::FieldMask {
                paths: vec!["image".to_owned(), "thumbnail".to_owned()],
            }),
            ..UpdateTaskRequest::default()
        });
        let change = change.unwrap();
        assert_eq!((change.image, change.thumbnail), (Patch::Null, Patch::Null));
        assert_eq!((change.name, change.survey_url), (None, Patch::Absent));
    }
}
