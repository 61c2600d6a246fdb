//! A wallet and the fixed ones. Pure.

use chrono::{DateTime, Utc};
use platform::{ids::Id, money::Amount, patch::Patch};
use uuid::Uuid;

use crate::asset::model::AssetCode;

/// The id of a wallet.
pub type WalletId = Id<Wallet>;

/// A user, who lives in identity-svc.
pub struct User;

/// The id of a user.
pub type UserId = Id<User>;

/// The world outside: the other side of deposits and withdrawals.
pub const EXTERNAL: WalletId = Id::new(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0001));
/// Where bonuses and rewards come from.
pub const BONUS: WalletId = Id::new(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0002));
/// Between the two halves of an exchange.
pub const EXCHANGE: WalletId = Id::new(Uuid::from_u128(0x0000_0000_0000_7000_8000_0000_0000_0003));

/// The system wallets and their names.
pub const SYSTEM_WALLETS: [(WalletId, &str); 3] = [
    (EXTERNAL, "external"),
    (BONUS, "bonus"),
    (EXCHANGE, "exchange"),
];

/// Characters of a wallet's reference.
pub const REFERENCE_LENGTH: usize = 10;

/// A holder of balances.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wallet {
    /// Its id.
    pub id: WalletId,
    /// For people.
    pub name: Option<String>,
    /// For people.
    pub description: Option<String>,
    /// The user it belongs to.
    pub owner: Option<UserId>,
    /// Whether it refuses new transactions.
    pub locked: bool,
    /// Unique, made by the service.
    pub reference: String,
    /// The client's JSON object, as written.
    pub custom_data: String,
    /// JSON object of the service.
    pub metadata: String,
    /// Counts its events from 1.
    pub version: i64,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it changed last.
    pub updated_at: DateTime<Utc>,
}

/// What a new wallet starts with.
#[derive(Debug, Clone, Default)]
pub struct NewWallet {
    /// For people.
    pub name: Option<String>,
    /// The user it belongs to.
    pub owner: Option<UserId>,
    /// Whether it refuses transactions from the start.
    pub locked: bool,
    /// The client's JSON object.
    pub custom_data: Option<String>,
    /// Makes the creation safe to repeat.
    pub operation_id: Option<String>,
}

/// A change of a wallet.
#[derive(Debug, Clone, Default)]
pub struct WalletPatch {
    /// For people.
    pub name: Option<String>,
    /// The user it belongs to.
    pub owner: Patch<UserId>,
    /// Whether it refuses new transactions.
    pub locked: Option<bool>,
    /// The client's JSON object, whole.
    pub custom_data: Option<String>,
}

/// What a patch did that others hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockChange {
    /// It refuses transactions now.
    Locked,
    /// It takes them again.
    Unlocked,
}

impl Wallet {
    /// Applies a patch. `None` where it changes nothing.
    pub fn patched(
        &self,
        patch: WalletPatch,
        now: DateTime<Utc>,
    ) -> Option<(Self, Option<LockChange>)> {
        let mut after = self.clone();
        after.name = patch.name.or(after.name);
        after.owner = patch.owner.or(after.owner);
        after.locked = patch.locked.unwrap_or(after.locked);
        after.custom_data = patch.custom_data.unwrap_or(after.custom_data);
        if after == *self {
            return None;
        }
        after.updated_at = now.max(self.updated_at);
        let change = match (self.locked, after.locked) {
            (false, true) => Some(LockChange::Locked),
            (true, false) => Some(LockChange::Unlocked),
            _ => None,
        };
        after.version += i64::from(change.is_some());
        Some((after, change))
    }
}

/// What a wallet, or all of them, hold of one asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Balance {
    /// The asset.
    pub asset: AssetCode,
    /// Sum of the movements.
    pub amount: Amount,
    /// Debits of open transactions.
    pub held: Amount,
    /// Credits of open transactions.
    pub incoming: Amount,
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
        WalletPatch {
            name: None,
            owner: Patch::Absent,
            locked: None,
            custom_data: None,
        }
    }

    #[test]
    fn a_patch_that_changes_nothing_is_none() {
        let now = wallet().updated_at + chrono::TimeDelta::seconds(1);
        assert_eq!(wallet().patched(patch(), now), None);
        let same = WalletPatch {
            locked: Some(false),
            ..patch()
        };
        assert_eq!(wallet().patched(same, now), None);
    }

    #[test]
    fn only_a_change_of_the_lock_is_news() {
        let now = wallet().updated_at + chrono::TimeDelta::seconds(1);
        let lock = WalletPatch {
            locked: Some(true),
            ..patch()
        };
        let (locked, change) = wallet().patched(lock, now).unwrap();
        assert_eq!((locked.version, change), (2, Some(LockChange::Locked)));
        let rename = WalletPatch {
            name: Some("b".to_owned()),
            ..patch()
        };
        let (renamed, change) = locked.patched(rename, now).unwrap();
        assert_eq!((renamed.version, change), (2, None));
        assert_eq!(renamed.name.as_deref(), Some("b"));
        assert_eq!(renamed.updated_at, now);
    }
}
