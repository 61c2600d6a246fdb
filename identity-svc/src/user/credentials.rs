//! Changing a user's password, which ends the user's sessions.

use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    messaging::outbox,
};
use sqlx::{PgConnection, PgPool};

use super::{
    email::Email,
    events,
    model::UserId,
    password::{Hasher, Password},
    repo,
    service::require_visible,
};
use crate::{
    SCHEMA,
    account::tokens,
    auth::sessions,
    error::{Error, Result},
    mail::{self, Mail},
    revocation,
};

/// Changes passwords.
#[derive(Debug, Clone)]
pub(crate) struct Credentials {
    pool: PgPool,
    hasher: Hasher,
    clock: Clock,
    ids: Ids,
}

impl Credentials {
    pub(crate) fn new(pool: PgPool, hasher: Hasher, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            hasher,
            clock,
            ids,
        }
    }

    /// Changes the password of a user that the caller may see. The old one is not asked for.
    pub(crate) async fn change(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        id: UserId,
        password: &Password,
    ) -> Result<Reply<()>> {
        require_visible(caller, id)?;
        if let Some(reply) = idempotency::find_replay(&self.pool, SCHEMA, key).await? {
            return Ok(reply);
        }
        let hash = self.hash(id, password).await?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        self.replace_in_tx(&mut work, id, &hash).await?;
        let entry = Entry::new("user", "password_changed", id);
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        Ok(work.commit(()).await?)
    }

    /// Checks that a password suits the user, and hashes it for [`Self::replace_in_tx`].
    pub(crate) async fn hash(&self, id: UserId, password: &Password) -> Result<String> {
        // Before the cost of a hash.
        let user = repo::get(&mut *self.pool.acquire().await?, id).await?;
        let fits = password.check_for(&user.email);
        fits.map_err(|invalid| invalid.at("password"))?;
        self.hasher.hash(password).await
    }

    /// Replaces the user's password hash in the caller's transaction, ends what was granted before, and
    /// mails a warning. The caller records it in the audit log.
    pub(crate) async fn replace_in_tx(
        &self,
        conn: &mut PgConnection,
        id: UserId,
        hash: &str,
    ) -> Result<()> {
        let mut user = repo::get_for_update_in_tx(conn, id).await?;
        user.touch(self.clock.now());
        repo::update_in_tx(conn, &user).await?;
        repo::update_credentials_in_tx(conn, id, hash, user.updated_at).await?;
        revocation::revoke_user_in_tx(conn, id).await?;
        sessions::end_all_in_tx(conn, id).await?;
        tokens::end_all_in_tx(conn, id).await?;
        let to = Email::parse(&user.email).map_err(Error::internal)?;
        mail::enqueue_in_tx(conn, &Mail::PasswordChanged { to }).await?;
        let event = events::password_changed(self.ids.uuid(), &user);
        outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        Ok(())
    }
}
