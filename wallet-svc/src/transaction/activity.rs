//! Activity: transactions with their wallets and the wallets' owners. Each relation takes one query
//! for all rows.

use std::collections::{BTreeSet, HashMap};

use platform::{
    auth::Caller,
    error::Failure,
    list::{Page, Totals},
};
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
pub(crate) struct Activities {
    pub(crate) pool: PgPool,
    pub(crate) totals: Totals,
    pub(crate) users: Users,
}

/// A page of transactions with their included wallets and users.
#[derive(Debug)]
pub(crate) struct ActivityPage {
    page: Page<Transaction>,
    related: Related,
}

/// The wallets and users of transactions.
#[derive(Debug)]
struct Related {
    includes_wallets: bool,
    wallets: HashMap<WalletId, Wallet>,
    users: HashMap<String, User>,
}

impl Activities {
    /// Lists the activity that the caller may see, of one wallet or of all. A user sees only the ids of
    /// other users' wallets.
    pub(crate) async fn list(
        &self,
        caller: &Caller,
        request: &ListRequest,
        wallet: Option<WalletId>,
    ) -> Result<ActivityPage, Failure> {
        let reader = access::reader(caller)?;
        let mut conn = self.pool.acquire().await?;
        let page = repo::list_activity(&mut conn, &self.totals, request, wallet, reader).await?;
        let (includes_wallets, includes_users) = (page.includes("wallets"), page.includes("users"));
        let mut wallets = HashMap::new();
        if includes_wallets || includes_users {
            let ids = wallet_ids(&page.rows);
            let found = wallet::repo::find_wallets(&mut *conn, &ids, reader).await?;
            wallets.extend(found.into_iter().map(|wallet| (wallet.id, wallet)));
        }
        drop(conn);
        let mut users = HashMap::new();
        if includes_users {
            let found = self.users.find(&owner_ids(&wallets)).await?;
            users.extend(found.into_iter().map(|user| (user.id.clone(), user)));
        }
        let related = Related {
            includes_wallets,
            wallets,
            users,
        };
        Ok(ActivityPage { page, related })
    }
}

fn wallet_ids(rows: &[Transaction]) -> Vec<WalletId> {
    let ids: BTreeSet<_> = rows
        .iter()
        .flat_map(|tx| [tx.origin(), tx.destination()])
        .flatten()
        .collect();
    ids.into_iter().collect()
}

fn owner_ids(wallets: &HashMap<WalletId, Wallet>) -> Vec<UserId> {
    let ids: BTreeSet<_> = wallets.values().filter_map(|wallet| wallet.owner).collect();
    ids.into_iter().collect()
}

impl ActivityPage {
    pub(crate) fn encode(self) -> wire::ListActivityResponse {
        let Self { page, related } = self;
        let (activities, page) = page.encode(|tx| related.entry(&tx));
        wire::ListActivityResponse {
            activities,
            page: Some(page),
        }
    }
}

impl Related {
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
        let wallet = self.wallets.get(&id?).filter(|_| self.includes_wallets)?;
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
