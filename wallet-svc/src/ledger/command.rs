//! What can be asked of the ledger.

use platform::money::Amount;

use super::{AccountKey, Book, OrderId};
use crate::{
    asset::model::AssetCode,
    transaction::{
        metadata::Metadata,
        model::{Action, Notes, Sides, Status, Transaction, TransactionId, TransactionType},
    },
    wallet::model::{BONUS, EXCHANGE, UserId, WalletId},
};

/// One request to the ledger, accepted or refused whole.
#[derive(Debug, Clone)]
pub enum Command {
    /// Makes a transaction.
    Create(Create),
    /// Brings a transaction into another state.
    Advance(Advance),
    /// Posts transfers under an operation id, or holds their money.
    Post(Operation),
    /// Captures or releases what an operation holds.
    Conclude(Conclusion),
    /// Moves money of an operation back.
    Refund(Refund),
    /// Changes money of a wallet into another asset.
    Exchange(Exchange),
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
    /// Each becomes a transfer.
    pub legs: Vec<Leg>,
    /// Whether the money moves at once or is set aside.
    pub mode: Mode,
}

/// What an operation does with the money of its transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Moves it.
    Post,
    /// Sets it aside until it is captured or released.
    Hold,
}

impl Mode {
    /// The state in which the transfers start.
    pub const fn status(self) -> Status {
        match self {
            Self::Post => Status::Confirmed,
            Self::Hold => Status::Processing,
        }
    }
}

/// The end of a hold.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// The operation that holds.
    pub operation: String,
    /// [`Action::Confirm`] captures, [`Action::Fail`] releases.
    pub action: Action,
}

/// Money of an operation on its way back.
#[derive(Debug, Clone)]
pub struct Refund {
    /// The refund's own operation id.
    pub id: String,
    /// The operation whose money goes back.
    pub of: String,
    /// Places of transfers in that operation, each with how much of it goes back; empty: all that
    /// is left.
    pub parts: Vec<(i32, Amount)>,
    /// For people.
    pub description: Option<String>,
    /// JSON object.
    pub metadata: Metadata,
}

/// A wallet's money changed into another asset. The rate has been applied.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// The transaction: what is debited, of kind [`TransactionType::Exchange`].
    pub base: Create,
    /// The asset credited.
    pub quote_asset: AssetCode,
    /// How much of it; above zero.
    pub quote_amount: Amount,
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
    pub fn transaction(&self) -> Option<TransactionId> {
        match self {
            Self::Advance(advance) => Some(advance.id),
            Self::Reward(reward) => Some(reward.id),
            _ => None,
        }
    }

    /// The operation whose transactions have to be read and locked before anything else.
    pub fn operation(&self) -> Option<&str> {
        match self {
            Self::Conclude(conclusion) => Some(&conclusion.operation),
            Self::Refund(refund) => Some(&refund.of),
            _ => None,
        }
    }

    /// The operation that it makes, unless an earlier command did.
    pub fn new_operation(&self) -> Option<&str> {
        match self {
            Self::Post(operation) => Some(&operation.id),
            Self::Refund(refund) => Some(&refund.id),
            _ => None,
        }
    }

    /// The transactions that it changes or gives back, as far as the book has them.
    fn targets<'b>(&self, book: &'b Book) -> Vec<&'b Transaction> {
        let ids = if let Self::Advance(advance) = self {
            vec![advance.id]
        } else {
            let known = self.operation().and_then(|id| book.operations.get(id));
            known.cloned().unwrap_or_default()
        };
        ids.iter()
            .filter_map(|id| book.transactions.get(id))
            .collect()
    }

    /// The wallets that have to be read.
    pub fn wallets(&self, book: &Book) -> Vec<WalletId> {
        let both = |sides: &Sides| [sides.debit, sides.credit];
        match self {
            Self::Create(create) => both(&create.sides).to_vec(),
            Self::Post(post) => post.legs.iter().flat_map(|leg| both(&leg.sides)).collect(),
            Self::Advance(_) | Self::Conclude(_) | Self::Refund(_) => {
                let targets = self.targets(book);
                targets.iter().flat_map(|tx| both(&tx.sides)).collect()
            }
            Self::Exchange(exchange) => vec![exchange.base.sides.debit, EXCHANGE],
            Self::Bonus(BonusChange { wallet, .. }) | Self::Reward(Reward { wallet, .. }) => {
                vec![*wallet, BONUS]
            }
        }
    }

    /// The assets that have to be read.
    pub fn assets(&self, book: &Book) -> Vec<AssetCode> {
        match self {
            Self::Create(create) => vec![create.asset.clone()],
            Self::Advance(_) | Self::Conclude(_) => Vec::new(),
            Self::Refund(_) => {
                let targets = self.targets(book);
                targets.iter().map(|tx| tx.asset.clone()).collect()
            }
            Self::Post(post) => post.legs.iter().map(|leg| leg.asset.clone()).collect(),
            Self::Exchange(exchange) => {
                vec![exchange.base.asset.clone(), exchange.quote_asset.clone()]
            }
            Self::Bonus(BonusChange { asset, .. }) | Self::Reward(Reward { asset, .. }) => {
                vec![asset.clone()]
            }
        }
    }

    /// The balances that have to be locked: those it may change, and those that keep a wallet it is
    /// decided on from changing.
    pub fn accounts(&self, book: &Book) -> Vec<AccountKey> {
        let of_targets = |after: Status| {
            let targets = self.targets(book);
            let touched = |tx: &&Transaction| touched(tx.kind, tx.sides, &tx.asset, after);
            targets.iter().flat_map(touched).collect()
        };
        match self {
            Self::Create(new) => touched(new.kind, new.sides, &new.asset, new.status),
            Self::Advance(Advance { action, .. }) => match action {
                Action::Approve => of_targets(Status::Processing),
                Action::Confirm => of_targets(Status::Confirmed),
                Action::Fail | Action::Reject => of_targets(Status::Failed),
            },
            Self::Conclude(_) | Self::Refund(_) => of_targets(Status::Confirmed),
            Self::Post(post) => {
                let legs = post.legs.iter();
                legs.flat_map(|leg| both_sides(leg.sides, &leg.asset))
                    .collect()
            }
            Self::Exchange(Exchange {
                base, quote_asset, ..
            }) => {
                let sides = Sides {
                    debit: base.sides.debit,
                    credit: EXCHANGE,
                };
                [
                    both_sides(sides, &base.asset),
                    both_sides(sides, quote_asset),
                ]
                .concat()
            }
            Self::Bonus(BonusChange { wallet, asset, .. })
            | Self::Reward(Reward { wallet, asset, .. }) => both_sides(
                Sides {
                    debit: BONUS,
                    credit: *wallet,
                },
                asset,
            )
            .to_vec(),
        }
    }
}

/// The accounts that a transaction touches on its way into this state. What is only set aside or
/// given up leaves the system's wallets alone.
fn touched(
    kind: TransactionType,
    sides: Sides,
    asset: &AssetCode,
    after: Status,
) -> Vec<AccountKey> {
    let [debit, credit] = both_sides(sides, asset);
    match kind {
        _ if after == Status::Confirmed => vec![debit, credit],
        TransactionType::Deposit => vec![credit],
        TransactionType::Withdrawal => vec![debit],
        TransactionType::Transfer | TransactionType::Exchange => vec![debit, credit],
    }
}

fn both_sides(sides: Sides, asset: &AssetCode) -> [AccountKey; 2] {
    [
        AccountKey::new(sides.debit, asset),
        AccountKey::new(sides.credit, asset),
    ]
}
