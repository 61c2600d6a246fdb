//! SQL of users. Hidden rows (state `provisioning`) are read by the saga alone.

use chrono::{DateTime, Utc};
use platform::{
    auth::Role,
    error::Failure,
    list::{Key, List, Page},
    pg,
};
use proto::{
    common::v1::ListRequest,
    lists::{
        ListTable,
        identity::{REFERRALS, USERS},
    },
};
use sqlx::PgConnection;

use super::{
    email,
    model::{User, UserId},
};
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
            roles: Role::parse_known(&row.roles),
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

/// Replaces the user's password hash.
pub(super) async fn update_credentials_in_tx(
    conn: &mut PgConnection,
    user_id: UserId,
    password_hash: &str,
    now: DateTime<Utc>,
) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.credentials set password_hash = $2, updated_at = $3 where user_id = $1",
        user_id as _,
        password_hash,
        now,
    )
    .execute(conn)
    .await?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Finds the users with these ids, in any order.
pub(crate) async fn find_all(conn: &mut PgConnection, ids: &[UserId]) -> Result<Vec<User>> {
    let rows = sqlx::query_as!(
        Row,
        r#"select id, version, email as "email!", name, phone, locale, roles, approved, blocked, verified,
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

/// Returns those of these ids whose users have been deleted.
pub(super) async fn find_deleted(conn: &mut PgConnection, ids: &[UserId]) -> Result<Vec<UserId>> {
    Ok(sqlx::query_scalar!(
        "select id from identity.users where id = any($1) and state = 'deleted'",
        ids as _
    )
    .fetch_all(conn)
    .await?)
}

/// Finds a user.
pub(crate) async fn find(conn: &mut PgConnection, id: UserId) -> Result<Option<User>> {
    Ok(find_all(conn, &[id]).await?.pop())
}

/// Returns a user.
pub(super) async fn get(conn: &mut PgConnection, id: UserId) -> Result<User> {
    find(conn, id).await?.ok_or(Error::UserNotFound)
}

/// Returns a user and locks it, to change it.
pub(crate) async fn get_for_update_in_tx(conn: &mut PgConnection, id: UserId) -> Result<User> {
    let found = find_for_update_in_tx(conn, id).await?;
    found.ok_or(Error::UserNotFound)
}

/// Finds a user and locks it against others who lock it.
pub(crate) async fn find_for_update_in_tx(
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

/// Finds the primary wallet of the user with this email in its canonical form, unless the user is blocked.
pub(super) async fn find_recipient(
    conn: &mut PgConnection,
    canonical_email: &str,
) -> Result<Option<WalletId>> {
    Ok(sqlx::query_scalar!(
        r#"select primary_wallet_id as "wallet!: WalletId" from identity.users
           where canonical_email = $1 and state = 'active' and not blocked"#,
        canonical_email
    )
    .fetch_optional(conn)
    .await?)
}

/// Finds the user with this referral code.
pub(crate) async fn find_by_referral_code(
    conn: &mut PgConnection,
    code: &str,
) -> Result<Option<User>> {
    let id = sqlx::query_scalar!(
        "select id from identity.users where referral_code = $1 and state = 'active'",
        code
    )
    .fetch_optional(&mut *conn)
    .await?;
    match id {
        Some(id) => find(conn, id).await,
        None => Ok(None),
    }
}

/// Writes the fields that change, of a user whose version has been raised by one.
pub(crate) async fn update_in_tx(conn: &mut PgConnection, user: &User) -> Result<()> {
    let updated = sqlx::query!(
        "update identity.users
         set name = $2, locale = $3, custom_data = $4, approved = $5, blocked = $6,
             version = version + 1, updated_at = $7, email = $9, canonical_email = $10,
             email_confirmed_at = $11
         where id = $1 and version = $8 and state = 'active'",
        user.id as _,
        user.name,
        user.locale,
        user.custom_data,
        user.approved,
        user.blocked,
        user.updated_at,
        user.version - 1,
        user.email,
        email::canonical(&user.email),
        user.email_confirmed_at,
    )
    .execute(conn)
    .await
    .map_err(pg::on_constraint([(
        "users_canonical_email_key",
        Error::EmailTaken,
    )]))?;
    Ok(pg::ensure_affected(updated, 1)?)
}

/// Lists users; `only` restricts the list to one.
pub(super) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
    only: Option<UserId>,
) -> Result<Page<User>, Failure> {
    let users = active(&USERS)
        .only_with("u.id = ?", only.map(UserId::uuid))
        .column("email", "u.canonical_email")
        .array("role", "u.roles");
    let page = users.fetch::<Row>(conn, request).await?;
    Ok(page.map(User::from))
}

/// Lists the users whom this one referred.
pub(super) async fn list_referrals(
    conn: &mut PgConnection,
    request: &ListRequest,
    referrer: UserId,
) -> Result<Page<User>, Failure> {
    let referrals = active(&REFERRALS).only_with("u.referral_user_id = ?", Some(referrer));
    let page = referrals.fetch::<Row>(conn, request).await?;
    Ok(page.map(User::from))
}

fn active(table: &'static ListTable) -> List {
    List::new(table, "identity.users u", Key::Id("u.id"))
        .select(
            "u.id, u.version, u.email, u.name, u.phone, u.locale, u.roles, u.approved, u.blocked,
             u.verified, u.email_confirmed_at, u.primary_wallet_id, u.referral_code, u.referral_user_id, u.custom_data,
             u.created_at, u.updated_at",
        )
        .only("u.state = 'active'")
}
