//! The events of wallets.

use platform::{
    ids::Ids,
    messaging::outbox::{Aggregate, Message},
};
use proto::events::v1::{WalletCreated, WalletLocked, WalletUnlocked};

use super::model::{LockChange, Wallet};
use crate::SCHEMA;

fn aggregate(wallet: &Wallet) -> Aggregate {
    Aggregate {
        kind: "wallet",
        id: wallet.id.uuid(),
        version: wallet.version,
    }
}

pub(crate) fn created(wallet: &Wallet, ids: &Ids) -> Message {
    let body = WalletCreated {
        wallet_id: wallet.id.to_string(),
        version: wallet.version,
        owner_id: wallet.owner.map(String::from).unwrap_or_default(),
    };
    Message::new(
        SCHEMA,
        ids.uuid(),
        "WalletCreated",
        aggregate(wallet),
        &body,
    )
}

/// Returns the event of a locked or unlocked wallet.
pub(crate) fn lock_changed(wallet: &Wallet, change: LockChange, ids: &Ids) -> Message {
    let (wallet_id, version) = (wallet.id.to_string(), wallet.version);
    let (id, aggregate) = (ids.uuid(), aggregate(wallet));
    match change {
        LockChange::Locked => {
            let body = WalletLocked { wallet_id, version };
            Message::new(SCHEMA, id, "WalletLocked", aggregate, &body)
        }
        LockChange::Unlocked => {
            let body = WalletUnlocked { wallet_id, version };
            Message::new(SCHEMA, id, "WalletUnlocked", aggregate, &body)
        }
    }
}
