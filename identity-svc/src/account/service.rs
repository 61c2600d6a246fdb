//! The use cases. Whether an email has a user is told by mail only.

use platform::{
    audit::{self, Entry},
    auth::{Caller, Kind as CallerKind},
    clock::Clock,
    error::{Code, Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    messaging::outbox,
};
use sqlx::{PgConnection, PgPool};

use super::{
    token::TokenHash,
    tokens::{self, Grant, Purpose},
};
use crate::{
    SCHEMA,
    error::{Error, Result},
    mail::{self, Kind, Mail},
    user::{Credentials, Email, Password, User, UserId, events, repo as users, require_visible},
};

/// Changes of the email that a user may ask for within an hour: each is mailed to anybody.
const MAX_CHANGES: usize = 5;

/// Resets passwords, confirms and changes emails.
#[derive(Debug, Clone)]
pub(crate) struct Accounts {
    pool: PgPool,
    credentials: Credentials,
    clock: Clock,
    ids: Ids,
}

impl Accounts {
    pub(crate) fn new(pool: PgPool, credentials: Credentials, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            credentials,
            clock,
            ids,
        }
    }

    /// Queues a mail to an email that a user may have. The worker finds out: the request takes as long
    /// for any email.
    pub(crate) async fn request_mail(&self, key: Option<&Key>, mail: &Mail) -> Result<Reply<()>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        mail::enqueue_in_tx(&mut work, mail).await?;
        Ok(work.commit(()).await?)
    }

    /// Sets another password for the owner of a token.
    pub(crate) async fn reset_password(
        &self,
        key: Option<&Key>,
        token: &TokenHash,
        password: &Password,
    ) -> Result<Reply<()>> {
        if let Some(reply) = idempotency::find_replay(&self.pool, SCHEMA, key).await? {
            return Ok(reply);
        }
        let purposes = &[Purpose::ResetPassword];
        // Before the cost of a hash.
        let user = tokens::find_user(&self.pool, token, purposes).await?;
        let user = user.ok_or_else(invalid_token)?;
        let hash = self.credentials.hash(user, password).await;
        let hash = hash.map_err(without_user)?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let (user, _) = take_in_tx(&mut work, token, purposes).await?;
        self.credentials
            .replace_in_tx(&mut work, user.id, &hash)
            .await?;
        let entry = by_owner(user.id, "password_reset");
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        Ok(work.commit(()).await?)
    }

    /// Confirms the email that a token was sent to, or makes it the user's.
    pub(crate) async fn confirm_email(
        &self,
        key: Option<&Key>,
        token: &TokenHash,
    ) -> Result<Reply<()>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let purposes = &[Purpose::ConfirmEmail, Purpose::ChangeEmail];
        let (mut user, grant) = take_in_tx(&mut work, token, purposes).await?;
        let now = self.clock.now();
        let changed = if let Grant::ChangeEmail(email) = grant {
            // They were sent to the old address.
            tokens::end_all_in_tx(&mut work, user.id).await?;
            user.change_email(&email, now);
            true
        } else {
            user.confirm_email(now)
        };
        if changed {
            users::update_in_tx(&mut work, &user).await?;
            let event = events::updated(self.ids.uuid(), &user);
            outbox::append_in_tx(&mut work, SCHEMA, [event]).await?;
            let entry = by_owner(user.id, "email_confirmed");
            audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        }
        Ok(work.commit(()).await?)
    }

    /// Asks for the confirmation of a new email of a user that the caller may see, and warns the
    /// present one.
    pub(crate) async fn change_email(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        id: UserId,
        to: Email,
    ) -> Result<Reply<()>> {
        require_visible(caller, id)?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let user = users::get_for_update_in_tx(&mut work, id).await?;
        let present = Email::parse(&user.email).map_err(Error::internal)?;
        if present.canonical() == to.canonical() {
            let message = "is the email of the user already";
            return Err(Failure::invalid("email", FieldCode::Duplicate, message).into());
        }
        let other = users::find_by_email(&mut work, &to.canonical()).await?;
        if other.is_some() {
            return Err(Error::EmailTaken);
        }
        let wait = mail::wait_for(&mut *work, Kind::ChangeEmail, id, 1, MAX_CHANGES).await?;
        if let Some(wait) = wait {
            let message =
                format!("the email of a user changes at most {MAX_CHANGES} times an hour");
            return Err(Failure::new(Code::RateLimited, message)
                .retry_after(wait)
                .into());
        }
        mail::enqueue_in_tx(&mut work, &Mail::ChangeEmail { to, user: id }).await?;
        mail::enqueue_in_tx(&mut work, &Mail::EmailChangeRequested { to: present }).await?;
        let entry = Entry::new("user", "email_change_requested", id);
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        Ok(work.commit(()).await?)
    }
}

/// Uses a token. Returns its user, locked.
async fn take_in_tx(
    conn: &mut PgConnection,
    token: &TokenHash,
    purposes: &[Purpose],
) -> Result<(User, Grant)> {
    let id = tokens::find_user(&mut *conn, token, purposes).await?;
    let id = id.ok_or_else(invalid_token)?;
    // Tokens are used and ended under the lock of their user.
    let user = users::get_for_update_in_tx(conn, id).await;
    let user = user.map_err(without_user)?;
    let grant = tokens::take_in_tx(conn, token, purposes).await?;
    match grant {
        Some(grant) if !user.blocked => Ok((user, grant)),
        _ => Err(invalid_token()),
    }
}

/// An entry of the audit log about the owner of a token. The caller of the RPC is the gateway, for anybody.
fn by_owner(id: UserId, done: &str) -> Entry {
    Entry::new("user", done, id).by(format!("{}:{id}", CallerKind::User.as_str()))
}

/// Tells nothing of a user who is deleted meanwhile.
fn without_user(error: Error) -> Error {
    match error {
        Error::UserNotFound => invalid_token(),
        error => error,
    }
}

/// The same for all: it must not help to guess one.
fn invalid_token() -> Error {
    let message = "is not valid: it may have been used, or be too old";
    Failure::invalid("token", FieldCode::UnknownReference, message).into()
}
