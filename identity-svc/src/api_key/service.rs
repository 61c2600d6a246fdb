//! Creating, reading and revoking API keys. The secret of a key leaves the service once.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use platform::{
    audit::{self, Entry},
    auth::Caller,
    clock::Clock,
    idempotency::{self, Key, Reply, Started},
    ids::Ids,
    list::Page,
    messaging::outbox,
    pg,
};
use proto::{
    common::v1::ListRequest,
    identity::v1::{self as wire, CreateApiKeyRequest},
};
use sqlx::PgPool;

use super::{
    convert, events,
    model::{ApiKey, check_deletable},
    repo,
};
use crate::{
    SCHEMA,
    auth::{
        api_key::{self as credential, ApiKeyId},
        end_key_in_tx,
    },
    error::{Error, Result},
    revocation,
};

#[derive(Debug, Clone)]
pub(crate) struct ApiKeys {
    pool: PgPool,
    clock: Clock,
    ids: Ids,
}

/// A created key: the secret only now, and not in a recorded response.
pub(super) struct Created {
    pub(super) reply: Reply<wire::ApiKey>,
    pub(super) secret: Option<String>,
}

impl ApiKeys {
    pub(crate) fn new(pool: PgPool, clock: Clock, ids: Ids) -> Self {
        Self { pool, clock, ids }
    }

    /// Creates a key.
    pub(super) async fn create(
        &self,
        key: Option<&Key>,
        request: CreateApiKeyRequest,
    ) -> Result<Created> {
        let now = self.clock.now();
        let mut work = match idempotency::start(&self.pool, SCHEMA, key).await? {
            Started::Replay(reply) => {
                let secret = None;
                return Ok(Created { reply, secret });
            }
            Started::Fresh(work) => work,
        };
        let new = convert::new_api_key(request, now)?;
        let secret = credential::with_prefix(&BASE64.encode(self.ids.secret()));
        let created = ApiKey {
            id: self.ids.next(),
            name: new.name,
            roles: new.roles,
            expires_at: new.expires_at,
            last_used_at: None,
            created_at: now,
        };
        repo::insert_in_tx(&mut work, &created, &credential::hash(&secret)).await?;
        let entry = Entry::new("api_key", "created", created.id);
        audit::record_in_tx(&mut work, SCHEMA, entry).await?;
        let reply = work.commit(convert::api_key(created)).await?;
        Ok(Created {
            reply,
            secret: Some(secret),
        })
    }

    /// Returns a key.
    pub(super) async fn get(&self, id: ApiKeyId) -> Result<ApiKey> {
        repo::find(&self.pool, id)
            .await?
            .ok_or(Error::ApiKeyNotFound)
    }

    /// Lists keys.
    pub(super) async fn list(&self, request: &ListRequest) -> Result<Page<ApiKey>> {
        let mut conn = self.pool.acquire().await?;
        Ok(repo::list(&mut conn, request).await?)
    }

    /// Revokes a key with its tokens.
    pub(super) async fn delete(&self, caller: &Caller, id: ApiKeyId) -> Result<()> {
        check_deletable(id, caller)?;
        let mut tx = pg::tx(&self.pool).await?;
        if !end_key_in_tx(&mut tx, id, self.clock.now()).await? {
            return Err(Error::ApiKeyNotFound);
        }
        revocation::revoke_key_in_tx(&mut tx, id).await?;
        let event = events::revoked(self.ids.uuid(), id);
        outbox::append_in_tx(&mut tx, SCHEMA, [event]).await?;
        let entry = Entry::new("api_key", "revoked", id);
        audit::record_in_tx(&mut tx, SCHEMA, entry).await?;
        Ok(tx.commit().await?)
    }
}
