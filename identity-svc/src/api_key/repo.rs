//! SQL of API keys as admins see them: those that were not revoked.

use chrono::{DateTime, Utc};
use platform::{
    auth::Role,
    error::Failure,
    list::{Key, List, Page},
};
use proto::{common::v1::ListRequest, lists::identity::API_KEYS};
use sqlx::{PgConnection, PgExecutor};

use super::model::ApiKey;
use crate::{auth::api_key::ApiKeyId, error::Result};

#[derive(Debug, sqlx::FromRow)]
struct Row {
    id: ApiKeyId,
    name: String,
    roles: Vec<String>,
    expires_at: Option<DateTime<Utc>>,
    last_used_at: Option<DateTime<Utc>>,
    created_at: DateTime<Utc>,
}

impl From<Row> for ApiKey {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            name: row.name,
            roles: Role::parse_known(&row.roles),
            expires_at: row.expires_at,
            last_used_at: row.last_used_at,
            created_at: row.created_at,
        }
    }
}

/// Inserts a key with the hash of its secret.
pub(super) async fn insert_in_tx(
    conn: &mut PgConnection,
    key: &ApiKey,
    hash: &[u8; 32],
) -> Result<()> {
    let roles = key.roles.iter().map(|role| role.as_str().to_owned());
    sqlx::query!(
        "insert into identity.api_keys (id, name, key_hash, roles, expires_at, created_at)
         values ($1, $2, $3, $4, $5, $6)",
        key.id as _,
        key.name,
        hash,
        &roles.collect::<Vec<_>>(),
        key.expires_at,
        key.created_at,
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Finds a key.
pub(super) async fn find(db: impl PgExecutor<'_>, id: ApiKeyId) -> Result<Option<ApiKey>> {
    let row = sqlx::query_as!(
        Row,
        r#"select id as "id: ApiKeyId", name, roles, expires_at, last_used_at, created_at
           from identity.api_keys
           where id = $1 and revoked_at is null"#,
        id as _
    )
    .fetch_optional(db)
    .await?;
    Ok(row.map(ApiKey::from))
}

/// Lists keys.
pub(super) async fn list(
    conn: &mut PgConnection,
    request: &ListRequest,
) -> Result<Page<ApiKey>, Failure> {
    let keys = List::new(&API_KEYS, "identity.api_keys k", Key::Id("k.id"))
        .select("k.id, k.name, k.roles, k.expires_at, k.last_used_at, k.created_at")
        .only("k.revoked_at is null")
        .array("role", "k.roles")
        // A key never changes.
        .column("updatedAt", "k.created_at");
    let page = keys.fetch::<Row>(conn, request).await?;
    Ok(page.map(ApiKey::from))
}
