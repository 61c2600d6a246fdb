//! Tasks, completions, and the rule of completing. Pure.

use chrono::{DateTime, Utc};
use platform::{
    clock,
    ids::Id,
    money::Amount,
    patch::Patch,
    rank::{Rank, Ranked},
};

use crate::{
    error::{Error, Result},
    fields,
    user::UserId,
};

pub(crate) type TaskId = Id<Task>;

pub(crate) type CompletionId = Id<Completion>;

pub(crate) type TransactionId = Id<Transaction>;

/// A transaction of wallet-svc, of which only the id is used.
#[derive(Debug)]
pub(crate) struct Transaction;

/// How a task is completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub(crate) enum TaskType {
    /// By decision of an admin.
    Manual,
    /// By filling in a survey.
    Survey,
    /// By an event in a back end of the shop.
    Automatic,
    /// By an event in Guerdon.
    System,
}

#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Task {
    pub(crate) id: TaskId,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: TaskType,
    /// The reward, in `asset_code`.
    pub(crate) amount: Amount,
    /// The asset of rewards when the task was created.
    pub(crate) asset_code: String,
    pub(crate) button_label: Option<String>,
    pub(crate) survey_url: Option<String>,
    /// A URL, or a path relative to the media base.
    pub(crate) image: Option<String>,
    /// A URL, or a path relative to the media base.
    pub(crate) thumbnail: Option<String>,
    /// The public `order`.
    pub(crate) rank: Rank,
    /// Whether it can be completed, and users see it.
    pub(crate) enabled: bool,
    pub(crate) featured: bool,
    /// JSON object as the client wrote it.
    pub(crate) custom_data: String,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// A creation.
#[derive(Debug)]
pub(crate) struct NewTask {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) kind: TaskType,
    pub(crate) amount: Amount,
    pub(crate) button_label: Option<String>,
    pub(crate) survey_url: Option<String>,
    pub(crate) image: Option<String>,
    pub(crate) thumbnail: Option<String>,
    /// `None`: after all others.
    pub(crate) rank: Option<Rank>,
    pub(crate) enabled: bool,
    pub(crate) featured: bool,
    pub(crate) custom_data: String,
}

/// An update.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TaskPatch {
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) kind: Option<TaskType>,
    /// In the asset that the task was created with.
    pub(crate) amount: Option<Amount>,
    pub(crate) button_label: Patch<String>,
    pub(crate) survey_url: Patch<String>,
    pub(crate) image: Patch<String>,
    pub(crate) thumbnail: Patch<String>,
    pub(crate) rank: Option<Rank>,
    pub(crate) enabled: Option<bool>,
    pub(crate) featured: Option<bool>,
    pub(crate) custom_data: Option<String>,
}

/// One user's completion of one task.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub(crate) struct Completion {
    pub(crate) id: CompletionId,
    pub(crate) task_id: TaskId,
    pub(crate) user_id: UserId,
    /// The reward, in `asset_code`.
    pub(crate) amount: Amount,
    pub(crate) asset_code: String,
    /// The transaction that credits the reward.
    pub(crate) transaction_id: TransactionId,
    pub(crate) created_at: DateTime<Utc>,
}

impl NewTask {
    pub(crate) fn create(
        self,
        id: TaskId,
        asset_code: String,
        rank: Rank,
        now: DateTime<Utc>,
    ) -> Task {
        Task {
            id,
            name: self.name,
            description: self.description,
            kind: self.kind,
            amount: self.amount,
            asset_code,
            button_label: self.button_label,
            survey_url: self.survey_url,
            image: self.image,
            thumbnail: self.thumbnail,
            rank,
            enabled: self.enabled,
            featured: self.featured,
            custom_data: self.custom_data,
            created_at: now,
            updated_at: now,
        }
    }
}

impl Task {
    /// Applies an update that is not empty.
    pub(crate) fn update(&mut self, patch: TaskPatch, now: DateTime<Utc>) {
        set(&mut self.name, patch.name);
        set(&mut self.description, patch.description);
        set(&mut self.kind, patch.kind);
        set(&mut self.amount, patch.amount);
        self.button_label = patch.button_label.or(self.button_label.take());
        self.survey_url = patch.survey_url.or(self.survey_url.take());
        self.image = patch.image.or(self.image.take());
        self.thumbnail = patch.thumbnail.or(self.thumbnail.take());
        set(&mut self.rank, patch.rank);
        set(&mut self.enabled, patch.enabled);
        set(&mut self.featured, patch.featured);
        set(&mut self.custom_data, patch.custom_data);
        self.updated_at = clock::after(self.updated_at, now);
    }

    /// Moves it to another position.
    pub(crate) fn place(&mut self, rank: Rank, now: DateTime<Utc>) {
        self.rank = rank;
        self.updated_at = clock::after(self.updated_at, now);
    }

    /// Returns its position among the tasks.
    pub(crate) fn ranked(&self) -> Ranked {
        Ranked {
            rank: self.rank,
            id: self.id.uuid(),
        }
    }

    /// Checks that the states of the task and of the user allow a completion.
    pub(crate) fn check_completable(&self, user_is_blocked: bool) -> Result<()> {
        if !self.enabled {
            return Err(Error::InvalidState("the task is not enabled"));
        }
        if user_is_blocked {
            return Err(Error::InvalidState("the user is blocked"));
        }
        Ok(())
    }
}

/// Writes a new value, if there is one.
fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}

/// Returns the URL of an image: the text itself if it is one, otherwise its path at the media base.
pub(crate) fn media_url(base: &str, text: Option<&str>) -> Option<String> {
    let text = text?;
    Some(if fields::is_http(text) {
        text.to_owned()
    } else {
        format!("{base}{text}")
    })
}

#[cfg(test)]
mod tests {
    use platform::ids::Ids;

    use super::*;

    fn task() -> Task {
        let new = NewTask {
            name: "Survey".to_owned(),
            description: "Ten questions".to_owned(),
            kind: TaskType::Survey,
            amount: Amount::parse("1.50").unwrap(),
            button_label: Some("Start".to_owned()),
            survey_url: Some("https://x.test".to_owned()),
            image: None,
            thumbnail: None,
            rank: None,
            enabled: true,
            featured: false,
            custom_data: "{}".to_owned(),
        };
        let id = Ids::seeded(1).next();
        new.create(id, "usd".to_owned(), Rank::first(), DateTime::UNIX_EPOCH)
    }

    #[test]
    fn an_update_changes_what_it_names() {
        let now = DateTime::from_timestamp_millis(5).unwrap();
        let mut updated = task();
        updated.update(
            TaskPatch {
                amount: Some(Amount::parse("2").unwrap()),
                button_label: Patch::Null,
                image: Patch::Set("a.png".to_owned()),
                enabled: Some(false),
                ..TaskPatch::default()
            },
            now,
        );
        let expected = Task {
            amount: Amount::parse("2").unwrap(),
            button_label: None,
            image: Some("a.png".to_owned()),
            enabled: false,
            updated_at: now,
            ..task()
        };
        assert_eq!(updated, expected);
    }

    #[test]
    fn only_enabled_tasks_are_completed_and_not_by_blocked_users() {
        let disabled = Task {
            enabled: false,
            ..task()
        };
        assert!(task().check_completable(false).is_ok());
        assert!(task().check_completable(true).is_err());
        assert!(disabled.check_completable(false).is_err());
    }

    #[test]
    fn image_paths_are_relative_to_the_media_base() {
        let url = |text| media_url("http://m/", text);
        assert_eq!(
            url(Some("tasks/a.png")).as_deref(),
            Some("http://m/tasks/a.png")
        );
        assert_eq!(
            url(Some("HTTPS://x/a.png")).as_deref(),
            Some("HTTPS://x/a.png")
        );
        assert_eq!(url(Some("é")).as_deref(), Some("http://m/é"));
        assert_eq!(url(None), None);
    }
}
