//! Closes the wallets of users who are deleted.

use platform::{
    audit::{self, Entry},
    messaging::outbox,
    pg,
};
use sqlx::PgConnection;

use super::{
    events,
    model::{UserId, WalletId},
    repo,
    service::Wallets,
};
use crate::{SCHEMA, error::Error};

impl Wallets {
    /// Locks all wallets of a user and removes their names, unless one of them holds anything. A repeat
    /// changes nothing.
    pub(crate) async fn close_all(&self, owner: UserId) -> Result<(), Error> {
        pg::retry_serialization(async || {
            let mut tx = pg::tx(&self.pool).await?;
            for id in find_wallets_of(&mut tx, owner).await? {
                self.close_in_tx(&mut tx, id, owner).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }

    async fn close_in_tx(
        &self,
        conn: &mut PgConnection,
        id: WalletId,
        owner: UserId,
    ) -> Result<(), Error> {
        let locked = repo::lock_wallet_in_tx(conn, id).await?;
        // It may have got another owner before it was locked.
        let Some(wallet) = locked.filter(|wallet| wallet.owner == Some(owner)) else {
            return Ok(());
        };
        if holds_anything(conn, id).await? {
            return Err(Error::WalletNotEmpty(id));
        }
        if let Some((closed, change)) = wallet.closed(self.clock.now()) {
            repo::update_wallet_in_tx(conn, &closed).await?;
            let events = change.map(|change| events::lock_changed(&closed, change, &self.ids));
            outbox::append_in_tx(conn, SCHEMA, events).await?;
            audit::record_in_tx(conn, SCHEMA, Entry::new("wallet", "closed", id)).await?;
        }
        Ok(())
    }
}

/// Returns the wallets of a user in the order in which they are locked.
async fn find_wallets_of(
    conn: &mut PgConnection,
    owner: UserId,
) -> Result<Vec<WalletId>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select id as "id: WalletId" from wallet.wallets where owner_id = $1 order by id"#,
        owner as _,
    )
    .fetch_all(conn)
    .await
}

/// Returns whether a wallet, which the caller has locked, has or expects money.
async fn holds_anything(conn: &mut PgConnection, id: WalletId) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (
               select from wallet.balances
               where wallet_id = $1 and (amount <> 0 or held <> 0 or incoming <> 0)
           ) as "exists!""#,
        id as _,
    )
    .fetch_one(conn)
    .await
}
