//! Activity: transactions with their wallets and these wallets' owners. What is embedded costs a
//! query a kind, never one a row.

use std::collections::{BTreeSet, HashMap};

use platform::{auth::Caller, error::Failure, list::Page};
use proto::{common::v1::ListRequest, identity::v1::User, wallet::v1 as wire};
use sqlx::PgPool;

use super::{convert, model::Transaction, repo};
use crate::{
    access,
    clients::identity::Users,
    wallet::{
        self,
        model::{UserId, Wallet, WalletId},
    },
};

/// The use cases of activity.
#[derive(Debug, Clone)]
pub struct Activities {
    /// Where the transactions are.
    pub pool: PgPool,
    /// The wallets' owners.
    pub users: Users,
}

/// A page of activity and what is embedded in it.
#[derive(Debug)]
pub struct ActivityPage {
    page: Page<Transaction>,
    embeds_wallets: bool,
    wallets: HashMap<WalletId, Wallet>,
    users: HashMap<String, User>,
}

impl Activities {
    /// Activity that the caller may know of; only that of one wallet where given. Of other people's
    /// wallets a user sees no more than their ids.
    pub async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        wallet: Option<WalletId>,
    ) -> Result<ActivityPage, Failure> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        let page = repo::list_activity(&mut conn, request, wallet, reader).await?;
        let (embeds_wallets, embeds_users) = (page.includes("wallets"), page.includes("users"));
        let mut wallets = HashMap::new();
        if embeds_wallets || embeds_users {
            let sides = page
                .rows
                .iter()
                .flat_map(|tx| [tx.origin(), tx.destination()]);
            let ids: BTreeSet<_> = sides.flatten().collect();
            let ids: Vec<_> = ids.into_iter().collect();
            let found = wallet::repo::find_wallets(&mut conn, &ids, reader).await?;
            wallets.extend(found.into_iter().map(|wallet| (wallet.id, wallet)));
        }
        drop(conn);
        let mut users = HashMap::new();
        if embeds_users {
            let owners: BTreeSet<_> = wallets.values().filter_map(|wallet| wallet.owner).collect();
            let owners: Vec<UserId> = owners.into_iter().collect();
            let found = self.users.find(&owners).await?;
            users.extend(found.into_iter().map(|user| (user.id.clone(), user)));
        }
        Ok(ActivityPage {
            page,
            embeds_wallets,
            wallets,
            users,
        })
    }
}

impl ActivityPage {
    /// As the wire has it.
    pub fn encode(&self) -> wire::ListActivityResponse {
        wire::ListActivityResponse {
            activities: self.page.rows.iter().map(|tx| self.entry(tx)).collect(),
            page: Some(self.page.info()),
        }
    }

    fn entry(&self, tx: &Transaction) -> wire::Activity {
        wire::Activity {
            transaction: Some(convert::transaction(tx)),
            origin_wallet: self.wallet(tx.origin()),
            destination_wallet: self.wallet(tx.destination()),
            origin_wallet_user: self.user(tx.origin()),
            destination_wallet_user: self.user(tx.destination()),
        }
    }

    fn wallet(&self, id: Option<WalletId>) -> Option<wire::ActivityWallet> {
        let wallet = self.wallets.get(&id?).filter(|_| self.embeds_wallets)?;
        Some(wire::ActivityWallet {
            id: wallet.id.to_string(),
            name: wallet.name.clone(),
            owner_id: wallet.owner.map(String::from),
            reference: wallet.reference.clone(),
        })
    }

    fn user(&self, wallet: Option<WalletId>) -> Option<wire::ActivityUser> {
        let owner = self.wallets.get(&wallet?)?.owner?;
        let user = self.users.get(&owner.to_string())?;
        Some(wire::ActivityUser {
            id: user.id.clone(),
            name: user.name.clone(),
            email: user.email.clone(),
        })
    }
}
