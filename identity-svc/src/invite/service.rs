//! Creating, sending, reading, canceling and validating invites. Users act as themselves.

use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    error::{Code, Failure, FieldCode},
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    messaging::outbox,
};
use proto::{
    common::v1::{ListRequest, PageInfo},
    identity::v1 as wire,
};
use sqlx::{PgConnection, PgPool};

use super::{
    convert::{self, Address},
    events,
    model::{Invite, NewInvite},
    repo,
};
use crate::{
    SCHEMA,
    error::{Error, Result},
    links::Links,
    mail::{self, Kind as MailKind, Mail},
    sign_up_code::{Kind, SignUpCode},
    user::{UserId, canonical_email, repo as users, visible_to},
};

/// The mails that users may send within an hour, each.
const MAX_MAILS: usize = 100;

/// Manages invites; [`super::SignUps`] uses them.
#[derive(Debug, Clone)]
pub(crate) struct Invites {
    pool: PgPool,
    links: Links,
    clock: Clock,
    ids: Ids,
}

impl Invites {
    pub(crate) fn new(pool: PgPool, links: Links, clock: Clock, ids: Ids) -> Self {
        Self {
            pool,
            links,
            clock,
            ids,
        }
    }

    /// Creates an invite, for anybody or for the owner of one address.
    pub(crate) async fn create(
        &self,
        key: Option<&Key>,
        inviter: Option<UserId>,
        email: Option<Address>,
    ) -> Result<Reply<wire::Invite>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        check_inviter_in_tx(&mut work, inviter, email.as_slice()).await?;
        let invite = self.create_in_tx(&mut work, inviter, email).await?;
        Ok(work.commit(self.encode(invite)).await?)
    }

    /// Creates and mails an invite for each of these addresses.
    pub(crate) async fn send(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        inviter: Option<UserId>,
        addresses: Vec<Address>,
    ) -> Result<Reply<()>> {
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        check_inviter_in_tx(&mut work, inviter, &addresses).await?;
        if !caller.is_admin() {
            check_rate_in_tx(&mut work, inviter, addresses.len()).await?;
        }
        for address in addresses {
            let to = address.email.clone();
            let invite = self.create_in_tx(&mut work, inviter, Some(address)).await?;
            let code = invite.code;
            mail::enqueue_in_tx(&mut work, &Mail::Invite { to, code, inviter }).await?;
        }
        Ok(work.commit(()).await?)
    }

    async fn create_in_tx(
        &self,
        conn: &mut PgConnection,
        inviter_user_id: Option<UserId>,
        address: Option<Address>,
    ) -> Result<Invite> {
        let code = SignUpCode::generate(Kind::Invite, &self.ids);
        let new = NewInvite {
            email: address.map(|address| address.email),
            inviter_user_id,
        };
        let invite = Invite::create(self.ids.next(), &code, new, self.clock.now());
        repo::insert_in_tx(conn, &invite).await?;
        let event = events::created(self.ids.uuid(), &invite);
        outbox::append_in_tx(conn, SCHEMA, [event]).await?;
        audit::record_in_tx(conn, SCHEMA, Entry::new("invite", "created", &invite.code)).await?;
        Ok(invite)
    }

    /// Returns an invite that the caller may see.
    pub(crate) async fn get(&self, caller: &Caller, code: &SignUpCode) -> Result<wire::Invite> {
        let only = visible_to(caller)?;
        let invite = visible(repo::find(&self.pool, code.as_str()).await?, only)?;
        Ok(self.encode(invite))
    }

    /// Lists the invites that the caller may see.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
    ) -> Result<(Vec<wire::Invite>, PageInfo)> {
        let only = visible_to(caller)?;
        let mut conn = self.pool.acquire().await?;
        let page = repo::list(&mut conn, request, only, self.clock.now()).await?;
        Ok(page.encode(|invite| self.encode(invite)))
    }

    /// Cancels a pending invite that the caller may see.
    pub(crate) async fn cancel(
        &self,
        caller: &Caller,
        key: Option<&Key>,
        code: &SignUpCode,
    ) -> Result<Reply<wire::Invite>> {
        let only = visible_to(caller)?;
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => return Ok(reply),
            Started::Fresh(work) => work,
        };
        let found = repo::find_for_update_in_tx(&mut work, code.as_str()).await?;
        let mut invite = visible(found, only)?;
        invite.cancel(self.clock.now())?;
        repo::update_in_tx(&mut work, &invite).await?;
        let event = events::canceled(self.ids.uuid(), &invite);
        outbox::append_in_tx(&mut work, SCHEMA, [event]).await?;
        let entry = Entry::new("invite", "canceled", &invite.code);
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        Ok(work.commit(self.encode(invite)).await?)
    }

    fn encode(&self, invite: Invite) -> wire::Invite {
        convert::invite(invite, &self.links, self.clock.now())
    }
}

/// Returns the invite unless it is one that the caller may not see.
fn visible(found: Option<Invite>, only: Option<UserId>) -> Result<Invite> {
    found
        .filter(|invite| only.is_none() || invite.inviter_user_id == only)
        .ok_or(Error::InviteNotFound)
}

/// Checks that the inviter exists, and that none of the addresses is the inviter's own. Locks the
/// inviter, so that its deletion cancels the invites, and its requests are counted one after another.
async fn check_inviter_in_tx(
    conn: &mut PgConnection,
    inviter: Option<UserId>,
    addresses: &[Address],
) -> Result<()> {
    let Some(inviter) = inviter else {
        return Ok(());
    };
    let inviter = users::find_for_update_in_tx(conn, inviter)
        .await?
        .ok_or_else(convert::unknown_inviter)?;
    let own = canonical_email(&inviter.email);
    match addresses
        .iter()
        .find(|address| address.email.canonical() == own)
    {
        Some(address) => {
            let message = "must not be the inviter's own";
            Err(Failure::invalid(&address.field, FieldCode::Format, message).into())
        }
        None => Ok(()),
    }
}

/// Refuses mails in the name of a user who has sent too many within the hour.
async fn check_rate_in_tx(
    conn: &mut PgConnection,
    inviter: Option<UserId>,
    more: usize,
) -> Result<()> {
    let Some(inviter) = inviter else {
        return Ok(());
    };
    match mail::wait_for(conn, MailKind::Invite, inviter, more, MAX_MAILS).await? {
        Some(wait) => {
            let message = format!("a user sends at most {MAX_MAILS} invites an hour");
            Err(Failure::new(Code::RateLimited, message)
                .retry_after(wait)
                .into())
        }
        None => Ok(()),
    }
}
