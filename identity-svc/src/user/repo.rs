//! SQL of users. Hidden rows (state `provisioning`) are read by the saga alone.

use chrono::{DateTime, Utc};
use platform::{
    auth::Role,
    error::Failure,
    list::{Key, List, Page},
    pg,
};
use proto::{common::v1::ListRequest, lists::identity::USERS};
use sqlx::PgConnection;

use super::model::{NewProfile, User, UserId};
use crate::{
    clients::wallet::WalletId,
    error::{Error, Result},
};

#[derive(Debug, sqlx::FromRow)]
struct Row {
    id: UserId,
    version: i64,
    email: String,
    name: Option<String>,
    phone: Option<String>,
    locale: Option<String>,
    roles: Vec<String>,
    approved: bool,
    blocked: bool,
    verified: bool,
    email_confirmed_at: Option<DateTime<Utc>>,
    primary_wallet_id: WalletId,
    referral_code: String,
    referral_user_id: Option<UserId>,
    custom_data: String,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl From<Row> for User {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            version: row.version,
            email: row.email,
            name: row.name,
            phone: row.phone,
            locale: row.locale,
            roles: row
                .roles
                .iter()
                .filter_map(|name| Role::parse(name))
                .collect(),
            approved: row.approved,
            blocked: row.blocked,
            verified: row.verified,
            email_confirmed_at: row.email_confirmed_at,
            primary_wallet_id: row.primary_wallet_id,
            referral_code: row.referral_code,
            referral_user_id: row.referral_user_id,
            custom_data: row.custom_data,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
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

/// Finds the users with these ids, in any order.
pub(super) async fn find_all(conn: &mut PgConnection, ids: &[UserId]) -> Result<Vec<User>> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id, version, email, name, phone, locale, roles, approved, blocked, verified,
                  email_confirmed_at, primary_wallet_id as "primary_wallet_id!: WalletId", referral_code,
                  referral_user_id, custom_data, created_at, updated_at
           from identity.users
           where id = any($1) and state = 'active'"#,
        ids as _
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(User::from).collect())
}

/// Finds a user.
pub(crate) async fn find(conn: &mut PgConnection, id: UserId) -> Result<Option<User>> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// Finds and locks a user, to change it.
pub(super) async fn find_for_update_in_tx(
    conn: &mut PgConnection,
    id: UserId,
) -> Result<Option<User>> {
    sqlx::query_scalar!(
        "select id from identity.users where id = $1 and state = 'active' for update",
        id as _
    )
    .fetch_optional(&mut *conn)
    .await?;
    find(conn, id).await
}

/// Finds a user and locks it against changes.
pub(crate) async fn find_for_share_in_tx(
    conn: &mut PgConnection,
    id: UserId,
) -> Result<Option<User>> {
    sqlx::query_scalar!(
        "select id from identity.users where id = $1 and state = 'active' for share",
        id as _
    )
    .fetch_optional(&mut *conn)
    .await?;
    find(conn, id).await
}

/// Finds the user with this email in its canonical form.
pub(crate) async fn find_by_email(
    conn: &mut PgConnection,
    canonical_email: &str,
) -> Result<Option<User>> {
    let id = sqlx::query_scalar!(
        "select id from identity.users
           where canonical_email = $1 and state = 'active'",
        canonical_email
    )
    .fetch_optional(&mut *conn)
    .await?;
    match id {
        Some(id) => find(conn, id).await,
        None => Ok(None),
    }
}

/// Finds the user with this referral code.
pub(super) async fn find_by_referral_code(
    conn: &mut PgConnection,
    code: &str,
) -> Result<Option<UserId>> {
    Ok(sqlx::query_scalar!(
        "select id from identity.users where referral_code = $1 and state = 'active'",
        code
    )
    .fetch_optional(conn)
    .await?)
}

/// Writes the state that an action changes.
pub(super) async fn update_flags_in_tx(conn: &mut PgConnection, user: &User) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.users
         set approved = $2, blocked = $3, version = version + 1, updated_at = $4
         where id = $1 and version = $5",
        user.id as _,
        user.approved,
        user.blocked,
        user.updated_at,
        user.version - 1,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Lists users; `only` restricts the list to one.
pub(super) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    only: Option<UserId>,
) -> Result<Page<User>, Failure> {
    let users = List::new(&USERS, "identity.users u", Key::Id("u.id"))
        .select(
            "u.id, u.version, u.email, u.name, u.phone, u.locale, u.roles, u.approved, u.blocked,
             u.verified, u.email_confirmed_at, u.primary_wallet_id, u.referral_code, u.referral_user_id, u.custom_data,
             u.created_at, u.updated_at",
        )
        .only("u.state = 'active'")
        .only_with("u.id = ?", only.map(UserId::uuid))
        .column("email", "u.canonical_email")
        .array("role", "u.roles");
    let page = users.fetch::<Row>(conn, request).await?;
    Ok(page.map(User::from))
}
