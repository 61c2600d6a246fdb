//! SQL of signing keys. All times are those of the database, as replicas share it.

use sqlx::{PgConnection, PgExecutor};

/// A key whose tokens may still be valid.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) key_id: String,
    pub(super) sealed_seed: Vec<u8>,
    /// Whether its time to sign has come.
    pub(super) may_sign: bool,
}

/// Returns the keys to publish, the newest first. A key is left out half an hour after the next one
/// has begun to sign: no token lives longer, with ten minutes for clocks that differ.
pub(super) async fn list(db: impl PgExecutor<'_>) -> Result<Vec<Row>, sqlx::Error> {
    sqlx::query_as!(
        Row,
        r#"select key_id, sealed_seed, signs_from <= now() as "may_sign!"
           from identity.signing_keys k
           where not exists (
               select from identity.signing_keys next
               where next.signs_from > k.signs_from
                   and next.signs_from <= now() - interval '30 minutes')
           order by signs_from desc, key_id"#
    )
    .fetch_all(db)
    .await
}

/// Deletes the keys that [`list`] leaves out.
pub(super) async fn delete_old(db: impl PgExecutor<'_>) -> Result<u64, sqlx::Error> {
    let deleted = sqlx::query!(
        "delete from identity.signing_keys k
         where exists (
             select from identity.signing_keys next
             where next.signs_from > k.signs_from
                 and next.signs_from <= now() - interval '30 minutes')"
    )
    .execute(db)
    .await?;
    Ok(deleted.rows_affected())
}

/// Returns whether there is a key, and lets no other process store one until the transaction ends.
pub(super) async fn exists_locked_in_tx(conn: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query!("lock table identity.signing_keys in share row exclusive mode")
        .execute(&mut *conn)
        .await?;
    let exists =
        sqlx::query_scalar!(r#"select exists (select from identity.signing_keys) as "exists!""#);
    exists.fetch_one(conn).await
}

/// Stores a key that signs after a delay.
pub(super) async fn insert(
    db: impl PgExecutor<'_>,
    key_id: &str,
    sealed_seed: &[u8],
    delay_seconds: f64,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into identity.signing_keys (key_id, sealed_seed, signs_from)
         values ($1, $2, now() + $3 * interval '1 second')",
        key_id,
        sealed_seed,
        delay_seconds,
    )
    .execute(db)
    .await?;
    Ok(())
}
