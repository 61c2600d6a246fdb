//! Reading users and changing their state. A user that the caller may not see is not found.

use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    error::{Failure, FieldCode},
    grpc::precondition::{self, Versions},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    pg,
};
use proto::{common::v1::ListRequest, identity::v1 as wire};
use sqlx::PgPool;

use super::{
    convert,
    email::Email,
    events,
    model::{Action, User, UserId, UserPatch},
    repo,
};
use crate::{
    SCHEMA,
    account::tokens,
    auth::sessions,
    clients::wallet::WalletId,
    error::{Error, Result},
    revocation,
};

const MAX_BATCH: usize = 1000;

/// Reads and changes users; [`super::Provisioning`] creates them.
#[derive(Debug, Clone)]
pub(crate) struct Users {
    pool: PgPool,
    clock: Clock,
    ids: Ids,
}

impl Users {
    pub(crate) fn new(pool: PgPool, clock: Clock, ids: Ids) -> Self {
        Self { pool, clock, ids }
    }

    pub(crate) async fn get(&self, caller: &Caller, id: UserId) -> Result<User> {
        require_visible(caller, id)?;
        let mut conn = self.pool.acquire().await?;
        repo::get(&mut conn, id).await
    }

    /// Returns the users with these ids, and the ids of deleted ones, except those that the caller may
    /// not see.
    pub(crate) async fn get_batch(
        &self,
        caller: &Caller,
        ids: &[UserId],
    ) -> Result<(Vec<User>, Vec<UserId>)> {
        if ids.len() > MAX_BATCH {
            let message = "must have at most 1000 items";
            return Err(Failure::invalid("ids", FieldCode::Length, message).into());
        }
        let visible: Vec<_> = ids
            .iter()
            .filter(|id| caller.require_self_or_admin(id).is_ok())
            .copied()
            .collect();
        let mut conn = self.pool.acquire().await?;
        let users = repo::find_all(&mut conn, &visible).await?;
        if users.len() == visible.len() {
            return Ok((users, Vec::new()));
        }
        let deleted = repo::find_deleted(&mut conn, &visible).await?;
        Ok((users, deleted))
    }

    /// Lists the users that the caller may see.
    pub(crate) async fn list(&self, caller: &Caller, request: &ListRequest) -> Result<Page<User>> {
        let only = visible_to(caller)?;
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list(&mut conn, request, only).await?)
    }

    /// Finds the wallet for money that is sent to an email.
    pub(crate) async fn find_recipient(&self, email: &str) -> Result<Option<WalletId>> {
        let Ok(email) = Email::parse(email) else {
            return Ok(None);
        };
        let mut conn = self.pool.acquire().await?;
        repo::find_recipient(&mut conn, &email.canonical()).await
    }

    /// Lists the users whom a user referred, that the caller may see.
    pub(crate) async fn list_referrals(
        &self,
        caller: &Caller,
        id: UserId,
        request: &ListRequest,
    ) -> Result<Page<User>> {
        require_visible(caller, id)?;
        let mut conn = self.pool.acquire().await?;
        repo::get(&mut conn, id).await?;
        Ok(repo::list_referrals(&mut conn, request, id).await?)
    }

    /// Changes the profile of a user.
    pub(crate) async fn update(
        &self,
        caller: &Caller,
        id: UserId,
        patch: UserPatch,
        if_version: Option<&Versions>,
    ) -> Result<User> {
        require_visible(caller, id)?;
        let mut tx = pg::tx(&self.pool).await?;
        let mut user = repo::get_for_update_in_tx(&mut tx, id).await?;
        precondition::check(if_version, user.version)?;
        if user.patch(patch, self.clock.now()) {
            repo::update_in_tx(&mut tx, &user).await?;
            let event = events::updated(self.ids.uuid(), &user);
            outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
            audit::record_in_tx(&mut tx, SCHEMA, Entry::new("user", "updated", id)).await?;
            tx.commit().await?;
        }
        Ok(user)
    }

    /// Approves, blocks or unblocks a user; a block ends the user's tokens, mailed ones too. A repeat changes nothing and
    /// publishes no event.
    pub(crate) async fn act(
        &self,
        key: Option<&Key>,
        id: UserId,
        action: Action,
    ) -> Result<Reply<wire::User>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let mut user = repo::get_for_update_in_tx(&mut work, id).await?;
        if user.apply(action, self.clock.now()) {
            repo::update_in_tx(&mut work, &user).await?;
            if action == Action::Block {
                revocation::revoke_user_in_tx(&mut work, id).await?;
                sessions::end_all_in_tx(&mut work, id).await?;
                tokens::end_all_in_tx(&mut work, id).await?;
            }
            let event = events::acted(self.ids.uuid(), &user, action);
            outbox::append_in_tx(&mut work, SCHEMA, [event]).await?;
            let entry = Entry::new("user", action.done(), id);
            audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        }
        Ok(work.commit(convert::user(user)).await?)
    }
}

/// A user that the caller may not see is not found.
pub(crate) fn require_visible(caller: &Caller, id: UserId) -> Result<()> {
    let visible = caller.require_self_or_admin(id);
    visible.map_err(|_| Error::UserNotFound)
}

/// Returns the only user that the caller may see; `None` for a caller who sees all.
pub(crate) fn visible_to(caller: &Caller) -> Result<Option<UserId>> {
    if caller.is_admin() {
        return Ok(None);
    }
    // An API key without the admin role is no user, and may see none.
    let Some(id) = caller.user_id() else {
        caller.require_admin()?;
        return Ok(None);
    };
    Ok(Some(UserId::parse(id).map_err(Error::internal)?))
}
