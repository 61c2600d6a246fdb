//! Deletion as a saga: a worker resumes the deletions that their requests did not complete.

use platform::saga::{Outcome, Saga, Table};
use uuid::Uuid;

use super::{Deletion, repo};
use crate::{SCHEMA, error::Error, user::UserId};

impl Saga for Deletion {
    const NAME: &'static str = "user-deletion";
    const TABLE: Table = Table {
        schema: SCHEMA,
        name: "user_deletions",
        key: "user_id",
    };

    async fn resume(&self, id: Uuid) -> Outcome {
        let id = UserId::new(id);
        match repo::exists(&self.pool, id).await {
            Ok(true) => {}
            Ok(false) => return Outcome::Completed,
            Err(error) => return Outcome::Failed(error.into()),
        }
        match self.drive(id).await {
            Ok(()) => Outcome::Completed,
            Err(error) if error.is_refusal() => Outcome::Compensated(error.into()),
            Err(Error::Failure(failure)) if failure.code.is_transient() => {
                Outcome::Unknown(failure.into())
            }
            Err(error) => Outcome::Failed(error.into()),
        }
    }
}
