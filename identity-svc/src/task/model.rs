//! What a task is, who can complete it, and where its pictures are. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Amount, rank::Rank};

use crate::{
    error::{Error, Result},
    user::UserId,
};

/// The id of a task.
pub type TaskId = Id<Task>;

/// The id of a completion.
pub type CompletionId = Id<Completion>;

/// The id of a transaction of wallet-svc.
pub type TransactionId = Id<Transaction>;

/// A transaction of wallet-svc; only its id is known here.
#[derive(Debug)]
pub struct Transaction;

/// How a task comes to be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum TaskType {
    /// Somebody says so.
    Manual,
    /// A survey was filled in.
    Survey,
    /// A back end noticed it.
    Automatic,
    /// Guerdon itself noticed it.
    System,
}

/// Something a user can do once for a reward.
#[derive(Debug, Clone, PartialEq, Eq, sqlx::FromRow)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What it is called.
    pub name: String,
    /// What is to be done.
    pub description: String,
    /// How it comes to be completed.
    pub kind: TaskType,
    /// The reward, in `asset_code`.
    pub amount: Amount,
    /// The asset that rewards were paid in when the task was created.
    pub asset_code: String,
    /// Text of the button that leads to it.
    pub button_label: Option<String>,
    /// Where the survey is.
    pub survey_url: Option<String>,
    /// A URL, or a path below the media base.
    pub image: Option<String>,
    /// A URL, or a path below the media base.
    pub thumbnail: Option<String>,
    /// Where it stands among the others; the public `order`.
    pub rank: Rank,
    /// Whether it can be completed, and is shown to users.
    pub enabled: bool,
    /// Whether it is shown first.
    pub featured: bool,
    /// JSON object as the client wrote it.
    pub custom_data: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

/// What the creator says about a task.
#[derive(Debug)]
pub struct NewTask {
    /// What it is called.
    pub name: String,
    /// What is to be done.
    pub description: String,
    /// How it comes to be completed.
    pub kind: TaskType,
    /// The reward.
    pub amount: Amount,
    /// Text of the button that leads to it.
    pub button_label: Option<String>,
    /// Where the survey is.
    pub survey_url: Option<String>,
    /// A URL, or a path below the media base.
    pub image: Option<String>,
    /// A URL, or a path below the media base.
    pub thumbnail: Option<String>,
    /// Where it stands; `None` for after all others.
    pub rank: Option<Rank>,
    /// Whether it can be completed.
    pub enabled: bool,
    /// Whether it is shown first.
    pub featured: bool,
    /// JSON object as the client wrote it.
    pub custom_data: String,
}

/// One user's completion of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Its id.
    pub id: CompletionId,
    /// What was done.
    pub task_id: TaskId,
    /// Who did it.
    pub user_id: UserId,
    /// The reward.
    pub amount: Amount,
    /// What it is paid in.
    pub asset_code: String,
    /// The transaction that credits it.
    pub transaction_id: TransactionId,
    /// When.
    pub created_at: DateTime<Utc>,
}

impl NewTask {
    /// The task as it begins.
    pub fn create(self, id: TaskId, asset_code: String, rank: Rank, now: DateTime<Utc>) -> Task {
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
    /// Refuses a completion that the task's or the user's state does not allow.
    pub fn check_completable(&self, user_is_blocked: bool) -> Result<()> {
        if !self.enabled {
            return Err(Error::InvalidState("the task is not enabled"));
        }
        if user_is_blocked {
            return Err(Error::InvalidState("the user is blocked"));
        }
        Ok(())
    }
}

/// Where a picture is: what was written if it is a URL, else a path below the media base.
pub fn media_url(base: &str, written: Option<&str>) -> Option<String> {
    let written = written?;
    let is_url = ["http://", "https://"].iter().any(|scheme| {
        written
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    });
    Some(if is_url {
        written.to_owned()
    } else {
        format!("{base}{written}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_urls_or_below_the_media_base() {
        let url = |written| media_url("http://m/", written);
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
