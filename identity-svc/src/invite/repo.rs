//! SQL of invites.

use chrono::{DateTime, Utc};
use platform::{
    error::Failure,
    list::{Key, List, Page},
    pg,
};
use proto::{common::v1::ListRequest, lists::identity::INVITES};
use sqlx::{PgConnection, PgExecutor};

use super::model::{Invite, InviteId, State};
use crate::{error::Result, user::UserId};

pub(super) async fn insert_in_tx(conn: &mut PgConnection, invite: &Invite) -> Result<()> {
    sqlx::query!(
        "insert into identity.invites
             (id, code, state, invited_email, inviter_user_id, version, expired_at, created_at,
              updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        invite.id as _,
        invite.code,
        invite.state as _,
        invite.invited_email.as_deref(),
        invite.inviter_user_id as _,
        invite.version,
        invite.expired_at,
        invite.created_at,
        invite.updated_at,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Finds the invite with this code.
pub(super) async fn find(db: impl PgExecutor<'_>, code: &str) -> Result<Option<Invite>> {
    Ok(sqlx::query_as!(
        Invite,
        r#"select id, code, state as "state: State", invited_email, invited_user_id,
                  inviter_user_id, reserved_by, version, expired_at, created_at, updated_at
           from identity.invites
           where code = $1"#,
        code
    )
    .fetch_optional(db)
    .await?)
}

/// Finds and locks the invite with this code, to change it.
pub(super) async fn find_for_update_in_tx(
    conn: &mut PgConnection,
    code: &str,
) -> Result<Option<Invite>> {
    sqlx::query_scalar!(
        r#"select id as "id: InviteId" from identity.invites where code = $1 for update"#,
        code
    )
    .fetch_optional(&mut *conn)
    .await?;
    find(conn, code).await
}

/// Locks and returns the invite that this user has reserved.
pub(super) async fn find_reserved_in_tx(
    conn: &mut PgConnection,
    user_id: UserId,
) -> Result<Option<Invite>> {
    Ok(sqlx::query_as!(
        Invite,
        r#"select id, code, state as "state: State", invited_email, invited_user_id,
                  inviter_user_id, reserved_by, version, expired_at, created_at, updated_at
           from identity.invites
           where reserved_by = $1
           for update"#,
        user_id as _
    )
    .fetch_optional(conn)
    .await?)
}

/// Locks and returns the invites of this inviter that can still be used, and that no sign-up is using.
pub(super) async fn find_open_of_in_tx(
    conn: &mut PgConnection,
    inviter: UserId,
    now: DateTime<Utc>,
) -> Result<Vec<Invite>> {
    Ok(sqlx::query_as!(
        Invite,
        r#"select id, code, state as "state: State", invited_email, invited_user_id,
                  inviter_user_id, reserved_by, version, expired_at, created_at, updated_at
           from identity.invites
           where inviter_user_id = $1 and state = 'pending' and reserved_by is null
               and expired_at > $2
           order by id
           for update"#,
        inviter as _,
        now,
    )
    .fetch_all(conn)
    .await?)
}

/// Writes the fields that change, of an invite whose version has been raised by one.
pub(super) async fn update_in_tx(conn: &mut PgConnection, invite: &Invite) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.invites
         set state = $2, invited_user_id = $3, reserved_by = $4, version = version + 1,
             updated_at = $5
         where id = $1 and version = $6",
        invite.id as _,
        invite.state as _,
        invite.invited_user_id as _,
        invite.reserved_by as _,
        invite.updated_at,
        invite.version - 1,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Reserves an invite for a user who is being created, or ends the reservation. Not a change that
/// anybody sees.
pub(super) async fn set_reserved_in_tx(
    conn: &mut PgConnection,
    id: InviteId,
    user_id: Option<UserId>,
) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.invites set reserved_by = $2 where id = $1 and state = 'pending'",
        id as _,
        user_id as _,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Removes the email from the invite that this user used.
pub(super) async fn erase_email_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    sqlx::query!(
        "update identity.invites set invited_email = null where invited_user_id = $1",
        user_id as _,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Lists invites; `only` restricts the list to those of one inviter.
pub(super) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    only: Option<UserId>,
    now: DateTime<Utc>,
) -> Result<Page<Invite>, Failure> {
    List::new(&INVITES, "identity.invites i", Key::Id("i.id"))
        .select(
            "i.id, i.code, i.state, i.invited_email, i.invited_user_id, i.inviter_user_id,
             i.reserved_by, i.version, i.expired_at, i.created_at, i.updated_at",
        )
        .only_with("i.inviter_user_id = ?", only.map(UserId::uuid))
        .column_with(
            "status",
            // As Invite::status
            "case when i.state = 'pending' and i.reserved_by is null and i.expired_at <= ?
                  then 'expired' else i.state end",
            now,
        )
        .column("type", "'invite'::text")
        .fetch(conn, request)
        .await
}
