//! A wallet, its balances, and the system wallets. Pure.

use chrono::{DateTime, Utc};
use platform::{clock, ids::Id, money::Amount, patch::Patch};
use uuid::Uuid;

use crate::asset::model::AssetCode;

pub(crate) type WalletId = Id<Wallet>;

/// A user of identity-svc.
pub(crate) struct User;

pub(crate) type UserId = Id<User>;

/// The other side of deposits and withdrawals.
pub(crate) const EXTERNAL: WalletId =
    Id::new(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001));
/// The source of bonuses and rewards.
pub(crate) const BONUS: WalletId =
    Id::new(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0002));
/// The other side of both halves of an exchange.
pub(crate) const EXCHANGE: WalletId =
    Id::new(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0003));

/// The system wallets and their names.
pub(crate) const SYSTEM_WALLETS: [(WalletId, &str); 3] = [
    (EXTERNAL, "external"),
    (BONUS, "bonus"),
    (EXCHANGE, "exchange"),
];

/// The length of a wallet's reference in characters.
pub(crate) const REFERENCE_LENGTH: usize = 10;

/// A holder of balances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wallet {
    pub(crate) id: WalletId,
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) owner: Option<UserId>,
    /// Whether the owner never changes: that of a primary wallet and of the default wallet.
    pub(crate) owner_fixed: bool,
    /// A locked wallet accepts no transactions.
    pub(crate) locked: bool,
    /// Unique; generated.
    pub(crate) reference: String,
    /// JSON object of the client, as written.
    pub(crate) custom_data: String,
    /// JSON object of the service.
    pub(crate) metadata: String,
    /// Counts the events from 1.
    pub(crate) version: i64,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) updated_at: DateTime<Utc>,
}

/// A new wallet; fields as in [`Wallet`].
#[derive(Debug, Clone, Default)]
pub(crate) struct NewWallet {
    pub(crate) name: Option<String>,
    pub(crate) owner: Option<UserId>,
    pub(crate) owner_fixed: bool,
    pub(crate) locked: bool,
    pub(crate) custom_data: Option<String>,
    /// Makes the creation idempotent.
    pub(crate) operation_id: Option<String>,
}

/// An update of a wallet; fields as in [`Wallet`].
#[derive(Debug, Clone, Default)]
pub(crate) struct WalletPatch {
    pub(crate) name: Option<String>,
    pub(crate) owner: Patch<UserId>,
    /// Whether the wallet becomes the primary one of its new owner, who must be its first.
    pub(crate) fixes_owner: bool,
    pub(crate) locked: Option<bool>,
    pub(crate) custom_data: Option<String>,
}

/// Rejects another owner of a wallet whose owner never changes, and a second owner of one that would
/// become primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OwnerIsFixed;

/// The part of an update that is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockChange {
    Locked,
    Unlocked,
}

impl Wallet {
    /// Applies an update; returns `None` if it changes nothing.
    pub(crate) fn patched(
        &self,
        patch: WalletPatch,
        now: DateTime<Utc>,
    ) -> Result<Option<(Self, Option<LockChange>)>, OwnerIsFixed> {
        let mut after = self.clone();
        after.name = patch.name.or(after.name);
        after.owner = patch.owner.or(after.owner);
        let fixed = self.owner_fixed || (patch.fixes_owner && self.owner.is_some());
        if fixed && after.owner != self.owner {
            return Err(OwnerIsFixed);
        }
        after.owner_fixed |= patch.fixes_owner;
        after.locked = patch.locked.unwrap_or(after.locked);
        after.custom_data = patch.custom_data.unwrap_or(after.custom_data);
        if after == *self {
            return Ok(None);
        }
        Ok(Some(self.changed(after, now)))
    }

    /// Locks the wallet of a user who is deleted, and removes its name, which may be the user's; returns
    /// `None` if that changes nothing.
    pub(crate) fn closed(&self, now: DateTime<Utc>) -> Option<(Self, Option<LockChange>)> {
        let after = Self {
            name: None,
            locked: true,
            ..self.clone()
        };
        (after != *self).then(|| self.changed(after, now))
    }

    /// Completes a change of the wallet's fields.
    fn changed(&self, mut after: Self, now: DateTime<Utc>) -> (Self, Option<LockChange>) {
        after.updated_at = clock::after(self.updated_at, now);
        let change = match (self.locked, after.locked) {
            (false, true) => Some(LockChange::Locked),
            (true, false) => Some(LockChange::Unlocked),
            _ => None,
        };
        after.version += i64::from(change.is_some());
        (after, change)
    }
}

/// The balance of a wallet, or of several wallets together, in one asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Balance {
    pub(crate) asset: AssetCode,
    /// The sum of the movements.
    pub(crate) amount: Amount,
    /// The debits of open transactions.
    pub(crate) held: Amount,
    /// The credits of open transactions.
    pub(crate) incoming: Amount,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wallet() -> Wallet {
        let at = DateTime::from_timestamp_millis(1_769_853_600_000).unwrap();
        Wallet {
            id: EXTERNAL,
            name: Some("a".to_owned()),
            description: None,
            owner: None,
            owner_fixed: false,
            locked: false,
            reference: "R".to_owned(),
            custom_data: "{}".to_owned(),
            metadata: "{}".to_owned(),
            version: 1,
            created_at: at,
            updated_at: at,
        }
    }

    fn patch() -> WalletPatch {
        WalletPatch::default()
    }

    #[test]
    fn an_update_without_a_change_is_none() {
        let now = wallet().updated_at + chrono::TimeDelta::seconds(1);
        assert_eq!(wallet().patched(patch(), now), Ok(None));
        let same = WalletPatch {
            locked: Some(false),
            ..patch()
        };
        assert_eq!(wallet().patched(same, now), Ok(None));
    }

    #[test]
    fn only_locking_and_unlocking_increment_the_version() {
        let now = wallet().updated_at + chrono::TimeDelta::seconds(1);
        let lock = WalletPatch {
            locked: Some(true),
            ..patch()
        };
        let (locked, change) = wallet().patched(lock, now).unwrap().unwrap();
        assert_eq!((locked.version, change), (2, Some(LockChange::Locked)));
        let rename = WalletPatch {
            name: Some("b".to_owned()),
            ..patch()
        };
        let (renamed, change) = locked.patched(rename, now).unwrap().unwrap();
        assert_eq!((renamed.version, change), (2, None));
        assert_eq!(renamed.name.as_deref(), Some("b"));
        assert!(renamed.updated_at > now, "after the change before");
    }

    #[test]
    fn a_closed_wallet_is_locked_and_nameless() {
        let now = wallet().updated_at + chrono::TimeDelta::seconds(1);
        let (closed, change) = wallet().closed(now).unwrap();
        assert_eq!((closed.locked, closed.name.as_ref()), (true, None));
        assert_eq!((closed.version, change), (2, Some(LockChange::Locked)));
        assert_eq!(closed.updated_at, now);
        assert_eq!(closed.closed(now), None);
    }

    #[test]
    fn the_owner_of_a_primary_wallet_never_changes() {
        let now = wallet().updated_at;
        let user = |n| UserId::new(Uuid::from_u128(n));
        let own = |owner, fixes_owner| WalletPatch {
            owner,
            fixes_owner,
            ..patch()
        };
        let apply = |wallet: &Wallet, patch| {
            let patched = wallet.patched(patch, now)?;
            Ok(patched.map_or_else(|| wallet.clone(), |(after, _)| after))
        };
        // Without being primary it goes from hand to hand.
        let ann = apply(&wallet(), own(Patch::Set(user(1)), false)).unwrap();
        let ben = apply(&ann, own(Patch::Set(user(2)), false)).unwrap();
        let nobodys = apply(&ben, own(Patch::Null, false)).unwrap();
        assert_eq!((nobodys.owner, nobodys.version), (None, 1));

        // It becomes primary for its first owner only; a repeat changes nothing.
        let second = apply(&ann, own(Patch::Set(user(2)), true));
        assert_eq!(second, Err(OwnerIsFixed));
        let primary = apply(&wallet(), own(Patch::Set(user(1)), true)).unwrap();
        assert!(primary.owner_fixed);
        for owner in [Patch::Set(user(2)), Patch::Null] {
            for fixes_owner in [false, true] {
                let refused = apply(&primary, own(owner, fixes_owner));
                assert_eq!(refused, Err(OwnerIsFixed));
            }
        }
        let same = own(Patch::Set(user(1)), true);
        assert_eq!(apply(&primary, same).unwrap(), primary);
    }
}
