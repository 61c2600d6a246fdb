//! SQL of creations in progress, and of their hidden rows.

use chrono::{DateTime, Utc};
use platform::{idempotency::Scope, pg, saga};
use sqlx::{PgConnection, PgExecutor};

use crate::{
    clients::wallet::WalletId,
    error::{Error, Result},
    user::{UserId, model::NewProfile},
};

/// A creation in progress, with the data to complete it.
#[derive(Debug)]
pub(super) struct Claim {
    pub(super) user_id: UserId,
    pub(super) email: String,
    pub(super) name: Option<String>,
    /// The existing wallet that the request named.
    pub(super) wallet_id: Option<WalletId>,
    pub(super) scope: Option<Scope>,
    /// Whether the user is asked to confirm the email.
    pub(super) confirms_email: bool,
}

/// Inserts the claim. Its request has the time of a lease before a worker resumes it.
pub(super) async fn insert_in_tx(
    conn: &mut PgConnection,
    user_id: UserId,
    scope: Option<&Scope>,
    confirms_email: bool,
) -> Result<()> {
    sqlx::query!(
        "insert into identity.user_provisionings
             (user_id, idempotency_scope, due_at, confirms_email)
         values ($1, $2, now() + $3 * interval '1 second', $4)",
        user_id as _,
        scope.map(Scope::as_bytes),
        saga::LEASE.as_secs_f64(),
        confirms_email,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns the claim of this user's creation; `None` if it has ended.
pub(super) async fn find(db: impl PgExecutor<'_>, user_id: UserId) -> Result<Option<Claim>> {
    let row = sqlx::query!(
        r#"select u.id, u.email as "email!", u.name, u.primary_wallet_id, p.idempotency_scope,
                  p.confirms_email
           from identity.user_provisionings p
           join identity.users u on u.id = p.user_id
           where p.user_id = $1"#,
        user_id as _
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(|row| Claim {
        user_id: row.id,
        email: row.email,
        name: row.name,
        wallet_id: row.primary_wallet_id,
        scope: row.idempotency_scope.as_deref().and_then(Scope::from_bytes),
        confirms_email: row.confirms_email,
    }))
}

/// Deletes the claim: the creation has ended.
pub(super) async fn delete_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    sqlx::query!(
        "delete from identity.user_provisionings where user_id = $1",
        user_id as _
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The hidden row that reserves an email.
#[derive(Debug)]
pub(super) struct Reservation<'r> {
    pub(super) id: UserId,
    pub(super) email: &'r str,
    pub(super) canonical_email: &'r str,
    pub(super) profile: &'r NewProfile,
    pub(super) wallet_id: Option<WalletId>,
    pub(super) referral_code: &'r str,
    pub(super) referral_user_id: Option<UserId>,
    pub(super) now: DateTime<Utc>,
}

/// Whether a user, or a creation in progress, has this email.
pub(super) async fn is_reserved(conn: &mut PgConnection, canonical_email: &str) -> Result<bool> {
    let reserved = sqlx::query_scalar!(
        r#"select exists (
               select from identity.users where canonical_email = $1) as "reserved!""#,
        canonical_email
    );
    Ok(reserved.fetch_one(conn).await?)
}

/// Inserts a hidden row.
pub(super) async fn reserve_in_tx(conn: &mut PgConnection, new: Reservation<'_>) -> Result<()> {
    let profile = new.profile;
    let roles: Vec<String> = profile
        .roles
        .iter()
        .map(|role| role.as_str().to_owned())
        .collect();
    sqlx::query!(
        "insert into identity.users
             (id, email, canonical_email, name, locale, roles, approved, blocked, verified,
              primary_wallet_id, referral_code, referral_user_id, custom_data, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14)",
        new.id as _,
        new.email,
        new.canonical_email,
        profile.name.as_deref(),
        profile.locale.as_deref(),
        &roles,
        profile.approved,
        profile.blocked,
        profile.verified,
        new.wallet_id as _,
        new.referral_code,
        new.referral_user_id as _,
        profile.custom_data,
        new.now,
    )
    .execute(conn)
    .await
    .map_err(pg::on_constraint([
        ("users_canonical_email_key", Error::EmailTaken),
        ("users_primary_wallet_id_key", Error::WalletTaken),
    ]))?;
    Ok(())
}

/// Stores the user's password hash.
pub(super) async fn insert_credentials_in_tx(
    conn: &mut PgConnection,
    user_id: UserId,
    password_hash: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    sqlx::query!(
        "insert into identity.credentials (user_id, password_hash, updated_at) values ($1, $2, $3)",
        user_id as _,
        password_hash,
        now,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Makes a hidden row the first version of a user. Returns `false` if it is no longer hidden.
pub(super) async fn activate_in_tx(
    conn: &mut PgConnection,
    user_id: UserId,
    wallet_id: WalletId,
) -> Result<bool> {
    let activated = sqlx::query!(
        "update identity.users set state = 'active', primary_wallet_id = $2, version = 1
         where id = $1 and state = 'provisioning'",
        user_id as _,
        wallet_id as _,
    )
    .execute(conn)
    .await
    .map_err(pg::on_constraint([(
        "users_primary_wallet_id_key",
        Error::WalletTaken,
    )]))?;
    Ok(activated.rows_affected() == 1)
}

/// Locks a hidden row. Returns `false` if it is no longer hidden.
pub(super) async fn lock_hidden_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<bool> {
    let locked = sqlx::query_scalar!(
        "select id from identity.users where id = $1 and state = 'provisioning' for update",
        user_id as _
    )
    .fetch_optional(conn)
    .await?;
    Ok(locked.is_some())
}

/// Deletes a hidden row, which the caller has locked, and its credentials.
pub(super) async fn delete_hidden_in_tx(conn: &mut PgConnection, user_id: UserId) -> Result<()> {
    let credentials = sqlx::query!(
        "delete from identity.credentials where user_id = $1",
        user_id as _
    )
    .execute(&mut *conn)
    .await?;
    pg::ensure_affected(credentials, 1)?;
    let users = sqlx::query!(
        "delete from identity.users where id = $1 and state = 'provisioning'",
        user_id as _
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(users, 1)?)
}
