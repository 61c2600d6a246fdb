//! The end of a user's open invites when the user is deleted.

use platform::{clock::Clock, ids::Ids, messaging::outbox};
use sqlx::PgConnection;

use super::{events, repo};
use crate::{SCHEMA, error::Result, user::UserId};

/// Cancels the invites of users who are deleted.
#[derive(Debug, Clone)]
pub(crate) struct OpenInvites {
    clock: Clock,
    ids: Ids,
}

impl OpenInvites {
    pub(crate) fn new(clock: Clock, ids: Ids) -> Self {
        Self { clock, ids }
    }

    /// Cancels the open invites that the user made, and removes the user's email from the one that
    /// the user was invited by. An invite in use by a sign-up is left to it.
    pub(crate) async fn cancel_in_tx(
        &self,
        conn: &mut PgConnection,
        user_id: UserId,
    ) -> Result<()> {
        let now = self.clock.now();
        let mut canceled = Vec::new();
        for mut invite in repo::find_open_of_in_tx(conn, user_id, now).await? {
            invite.cancel(now)?;
            repo::update_in_tx(conn, &invite).await?;
            canceled.push(events::canceled(self.ids.uuid(), &invite));
        }
        outbox::append_in_tx(conn, SCHEMA, canceled).await?;
        repo::erase_email_in_tx(conn, user_id).await
    }
}
