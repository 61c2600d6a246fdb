//! What can be asked of the ledger.

use platform::money::Amount;

use super::{AccountKey, OrderId};
use crate::{
    asset::model::AssetCode,
    transaction::{
        metadata::Metadata,
        model::{Action, Notes, Sides, Status, Transaction, TransactionId, TransactionType},
    },
    wallet::model::{BONUS, UserId, WalletId},
};

/// One request to the ledger, accepted or refused whole.
#[derive(Debug, Clone)]
pub enum Command {
    /// Makes a transaction.
    Create(Create),
    /// Brings a transaction into another state.
    Advance(Advance),
    /// Posts transfers under an operation id.
    Post(Operation),
    /// Says what an order's bonus should be.
    Bonus(BonusChange),
    /// Credits a reward.
    Reward(Reward),
}

/// A new transaction.
#[derive(Debug, Clone)]
pub struct Create {
    /// Its id, made before.
    pub id: TransactionId,
    /// Where the money goes.
    pub kind: TransactionType,
    /// `<feature>` or `<feature>:<method>`.
    pub code: String,
    /// The asset moved.
    pub asset: AssetCode,
    /// How much of it; above zero.
    pub amount: Amount,
    /// The wallets, with the system's for a deposit or withdrawal.
    pub sides: Sides,
    /// The state it starts in: pending, processing or confirmed.
    pub status: Status,
    /// What its creator says of it.
    pub notes: Notes,
    /// JSON object of the service.
    pub metadata: Metadata,
    /// Who has to own the origin, if anyone.
    pub owner: Option<UserId>,
}

/// A step of a transaction.
#[derive(Debug, Clone)]
pub struct Advance {
    /// Which one.
    pub id: TransactionId,
    /// Which step.
    pub action: Action,
    /// Why it failed or was rejected: JSON text.
    pub reason: Option<String>,
}

/// Transfers that belong together.
#[derive(Debug, Clone)]
pub struct Operation {
    /// Unique for ever.
    pub id: String,
    /// Each becomes a confirmed transfer.
    pub legs: Vec<Leg>,
}

/// One transfer of an operation.
#[derive(Debug, Clone)]
pub struct Leg {
    /// Its transaction's id, made before.
    pub id: TransactionId,
    /// `pay` or `refund`.
    pub code: String,
    /// The asset moved.
    pub asset: AssetCode,
    /// How much of it; above zero.
    pub amount: Amount,
    /// The wallets.
    pub sides: Sides,
    /// For people.
    pub description: Option<String>,
    /// JSON object.
    pub metadata: Metadata,
    /// Goes through on locked wallets and disabled assets.
    pub returns_money: bool,
}

/// What is known of an order's bonus; what is not said stays as it was.
#[derive(Debug, Clone)]
pub struct BonusChange {
    /// The order.
    pub order: OrderId,
    /// The buyer's primary wallet.
    pub wallet: WalletId,
    /// The bonus asset.
    pub asset: AssetCode,
    /// The whole bonus, once the order is paid.
    pub granted: Option<Amount>,
    /// All that is taken back of it so far.
    pub revoked: Option<Amount>,
}

/// A reward for a task.
#[derive(Debug, Clone)]
pub struct Reward {
    /// Its transaction's id, given by the event.
    pub id: TransactionId,
    /// The user's primary wallet.
    pub wallet: WalletId,
    /// The asset it is paid in.
    pub asset: AssetCode,
    /// How much of it; above zero.
    pub amount: Amount,
    /// JSON object.
    pub metadata: Metadata,
}

impl Command {
    /// The transaction that has to be read and locked before anything else.
    pub fn advances(&self) -> Option<TransactionId> {
        match self {
            Self::Advance(advance) => Some(advance.id),
            _ => None,
        }
    }

    /// The wallets that have to be read.
    pub fn wallets(&self, target: Option<&Transaction>) -> Vec<WalletId> {
        let both = |sides: &Sides| [sides.debit, sides.credit];
        match self {
            Self::Create(create) => both(&create.sides).to_vec(),
            Self::Advance(_) => target.map_or_else(Vec::new, |tx| both(&tx.sides).to_vec()),
            Self::Post(post) => post.legs.iter().flat_map(|leg| both(&leg.sides)).collect(),
            Self::Bonus(BonusChange { wallet, .. }) | Self::Reward(Reward { wallet, .. }) => {
                vec![*wallet, BONUS]
            }
        }
    }

    /// The assets that have to be read.
    pub fn assets(&self) -> Vec<AssetCode> {
        match self {
            Self::Create(create) => vec![create.asset.clone()],
            Self::Advance(_) => Vec::new(),
            Self::Post(post) => post.legs.iter().map(|leg| leg.asset.clone()).collect(),
            Self::Bonus(BonusChange { asset, .. }) | Self::Reward(Reward { asset, .. }) => {
                vec![asset.clone()]
            }
        }
    }

    /// The balances it may change, which have to be locked. `target` is the transaction it advances.
    pub fn accounts(&self, target: Option<&Transaction>) -> Vec<AccountKey> {
        let key = |wallet: WalletId, asset: &AssetCode| AccountKey::new(wallet, asset);
        let both =
            |sides: &Sides, asset: &AssetCode| [key(sides.debit, asset), key(sides.credit, asset)];
        match self {
            Self::Create(create) if create.status == Status::Confirmed => {
                both(&create.sides, &create.asset).to_vec()
            }
            Self::Create(create) => named(create.kind, create.sides, |wallet| {
                key(wallet, &create.asset)
            }),
            Self::Advance(advance) => match (target, advance.action) {
                (None, _) | (_, Action::Approve) => Vec::new(),
                (Some(tx), Action::Confirm) => both(&tx.sides, &tx.asset).to_vec(),
                (Some(tx), _) => named(tx.kind, tx.sides, |wallet| key(wallet, &tx.asset)),
            },
            Self::Post(post) => {
                let legs = post.legs.iter();
                legs.flat_map(|leg| both(&leg.sides, &leg.asset)).collect()
            }
            Self::Bonus(BonusChange { wallet, asset, .. })
            | Self::Reward(Reward { wallet, asset, .. }) => {
                vec![key(*wallet, asset), key(BONUS, asset)]
            }
        }
    }
}

/// The sides that are not the system's.
fn named<T>(kind: TransactionType, sides: Sides, make: impl Fn(WalletId) -> T) -> Vec<T> {
    match kind {
        TransactionType::Deposit => vec![make(sides.credit)],
        TransactionType::Transfer => vec![make(sides.debit), make(sides.credit)],
        TransactionType::Withdrawal => vec![make(sides.debit)],
    }
}
