//! Ends the tokens of a user or an API key before they expire. Each subject has a token version, which
//! its tokens carry; revoking raises it, and tokens of lower versions are refused by every process, which
//! [`Feed`] informs.

mod feed;
pub(crate) mod grpc;
mod purge;
mod repo;

use futures::FutureExt as _;
use platform::{auth::Kind, service::Backbone};
use sqlx::PgConnection;

use crate::{auth::api_key::ApiKeyId, error::Result, user::UserId};

pub(crate) use feed::Feed;

/// Refuses all tokens that the user has by now, from the caller's commit on.
pub(crate) async fn revoke_user_in_tx(conn: &mut PgConnection, id: UserId) -> Result<()> {
    let version = repo::raise_user_version_in_tx(conn, id).await?;
    repo::upsert_in_tx(conn, Kind::User, id.uuid(), version).await
}

/// Refuses all tokens that were issued for the API key by now, from the caller's commit on.
pub(crate) async fn revoke_key_in_tx(conn: &mut PgConnection, id: ApiKeyId) -> Result<()> {
    let version = repo::raise_key_version_in_tx(conn, id).await?;
    repo::upsert_in_tx(conn, Kind::Key, id.uuid(), version).await
}

/// Adds the tasks that follow the table and delete its expired rows.
pub(crate) fn start(backbone: &mut Backbone, feed: &Feed) {
    let (pool, feed) = (backbone.pool(), feed.clone());
    backbone.worker("revocations", move |stop| feed.clone().run(stop).map(Ok));
    backbone.worker("revocation-purge", move |stop| {
        purge::run(pool.clone(), stop).map(Ok)
    });
}
