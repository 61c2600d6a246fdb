//! Provisioning as a saga: a worker resumes the creations that their requests did not complete.

use platform::saga::{Outcome, Saga, Table};
use uuid::Uuid;

use super::{Provisioning, repo};
use crate::{SCHEMA, error::Error, user::UserId};

impl Saga for Provisioning {
    const NAME: &'static str = "user-provisioning";
    const TABLE: Table = Table {
        schema: SCHEMA,
        name: "user_provisionings",
        key: "user_id",
    };

    async fn resume(&self, id: Uuid) -> Outcome {
        let claim = match repo::find(&self.pool, UserId::new(id)).await {
            Ok(Some(claim)) => claim,
            Ok(None) => return Outcome::Completed,
            Err(error) => return Outcome::Failed(error.into()),
        };
        match self.drive(&claim).await {
            Ok(_) => Outcome::Completed,
            Err(error) if error.is_refusal() => Outcome::Compensated(error.into()),
            Err(Error::Failure(failure)) if failure.code.is_transient() => {
                Outcome::Unknown(failure.into())
            }
            Err(error) => Outcome::Failed(error.into()),
        }
    }
}
