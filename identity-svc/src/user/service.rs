//! What callers do with users. Another's user is one that does not exist.

use platform::{
    auth::Caller,
    clock::Clock,
    error::{Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
};
use proto::{common::v1::ListRequest, identity::v1 as wire};
use sqlx::PgPool;

use super::{
    convert, events,
    model::{Action, User, UserId},
    repo,
};
use crate::{
    SCHEMA,
    error::{Error, Result},
};

/// Ids in one batch.
const BATCH_MAX: usize = 1000;

/// Reads users and acts on them; [`super::Provisioning`] creates them.
#[derive(Debug, Clone)]
pub struct Users {
    pool: PgPool,
    clock: Clock,
    ids: Ids,
}

impl Users {
    /// Over these.
    pub fn new(pool: PgPool, clock: Clock, ids: Ids) -> Self {
        Self { pool, clock, ids }
    }

    /// One user.
    pub async fn get(&self, caller: &Caller, id: UserId) -> Result<User> {
        if caller.require_self_or_admin(id).is_err() {
            return Err(Error::UserNotFound);
        }
        let mut conn = self.pool.acquire().await?;
        repo::find(&mut conn, id).await?.ok_or(Error::UserNotFound)
    }

    /// The users among these ids that the caller may see.
    pub async fn get_batch(&self, caller: &Caller, ids: &[UserId]) -> Result<Vec<User>> {
        if ids.len() > BATCH_MAX {
            let message = "must have at most 1000 items";
            return Err(Failure::invalid("ids", FieldCode::Length, message).into());
        }
        let visible = |id: &&UserId| caller.require_self_or_admin(id).is_ok();
        let ids: Vec<_> = ids.iter().filter(visible).copied().collect();
        let mut conn = self.pool.acquire().await?;
        repo::find_all(&mut conn, &ids).await
    }

    /// A page of the users that the caller may see.
    pub async fn list(&self, caller: &Caller, request: &ListRequest) -> Result<Page<User>> {
        let own = own_id(caller)?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list(&mut conn, request, own).await?)
    }

    /// Approves, blocks or unblocks; a repeat changes nothing and is no event.
    pub async fn act(
        &self,
        key: Option<&Key>,
        id: UserId,
        action: Action,
    ) -> Result<Reply<wire::User>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let found = repo::find_for_update_in_tx(&mut work, id).await?;
        let mut user = found.ok_or(Error::UserNotFound)?;
        if user.act(action, self.clock.now()) {
            repo::update_flags_in_tx(&mut work, &user).await?;
            let event = events::acted(self.ids.uuid(), &user, action);
            outbox::append_in_tx(&mut work, SCHEMA, &[event]).await?;
        }
        Ok(work.commit(convert::user(user)).await?)
    }
}

/// The only user that the caller may see; `None` for one who sees all.
fn own_id(caller: &Caller) -> Result<Option<UserId>> {
    if caller.is_admin() {
        return Ok(None);
    }
    // An API key without the admin role is no user, and is not allowed anything here.
    let Some(id) = caller.user_id() else {
        caller.require_admin()?;
        return Ok(None);
    };
    Ok(Some(UserId::parse(id).map_err(Error::internal)?))
}
