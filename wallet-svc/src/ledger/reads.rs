//! The rows that a command has to read before it is decided.

use chrono::{DateTime, Utc};

use super::{
    AccountKey, Book,
    command::{Advance, BonusChange, Command, Exchange, Reward},
};
use crate::{
    asset::model::AssetCode,
    transaction::model::{Action, Sides, Status, Transaction, TransactionId, TransactionType},
    wallet::model::{BONUS, EXCHANGE, WalletId},
};

impl Command {
    /// Whether the command goes on from earlier transactions, operations or bonuses.
    pub(crate) const fn needs_existing(&self) -> bool {
        match self {
            Self::Create(_) | Self::Post(_) | Self::Exchange(_) => false,
            Self::Advance(_)
            | Self::EndHold(_)
            | Self::Refund(_)
            | Self::Bonus(_)
            | Self::Reward(_) => true,
        }
    }

    /// Returns about how many transactions the command makes or changes.
    pub(crate) fn legs(&self) -> usize {
        match self {
            Self::Create(_) | Self::Advance(_) | Self::Bonus(_) | Self::Reward(_) => 1,
            Self::Exchange(_) => 2,
            Self::Post(operation) => operation.legs.len(),
            Self::Refund(refund) if !refund.parts.is_empty() => refund.parts.len(),
            // As many as the operation has, which is not read yet.
            Self::Refund(_) | Self::EndHold(_) => 4,
        }
    }

    /// Returns the existing transaction that the command goes on from.
    pub(crate) fn existing_transaction(&self) -> Option<TransactionId> {
        match self {
            Self::Advance(advance) => Some(advance.id),
            Self::Reward(reward) => Some(reward.id),
            _ => None,
        }
    }

    /// Returns the existing operation that the command goes on from.
    pub(crate) fn existing_operation(&self) -> Option<&str> {
        match self {
            Self::EndHold(end) => Some(&end.operation),
            Self::Refund(refund) => Some(&refund.of),
            _ => None,
        }
    }

    /// Returns the operation that the command makes, unless an earlier one did.
    pub(crate) fn new_operation(&self) -> Option<&str> {
        match self {
            Self::Post(operation) => Some(&operation.id),
            Self::Refund(refund) => Some(&refund.id),
            _ => None,
        }
    }

    /// Returns the latest time at which the command may be accepted.
    pub(crate) const fn not_after(&self) -> Option<DateTime<Utc>> {
        match self {
            Self::Post(operation) => operation.not_after,
            _ => None,
        }
    }

    /// Returns the existing transactions that the command changes or refunds, if the book has them.
    fn targets<'b>(&self, book: &'b Book) -> Vec<&'b Transaction> {
        let ids = if let Self::Advance(advance) = self {
            vec![advance.id]
        } else {
            let known = self
                .existing_operation()
                .and_then(|id| book.operations.get(id));
            known.cloned().unwrap_or_default()
        };
        ids.iter()
            .filter_map(|id| book.transactions.get(id))
            .collect()
    }

    /// Returns the wallets to read.
    pub(crate) fn wallets(&self, book: &Book) -> Vec<WalletId> {
        let both = |sides: &Sides| [sides.debit, sides.credit];
        match self {
            Self::Create(create) => both(&create.sides).to_vec(),
            Self::Post(post) => post.legs.iter().flat_map(|leg| both(&leg.sides)).collect(),
            Self::Advance(_) | Self::EndHold(_) | Self::Refund(_) => {
                let targets = self.targets(book);
                targets.iter().flat_map(|tx| both(&tx.sides)).collect()
            }
            Self::Exchange(exchange) => vec![exchange.base.sides.debit, EXCHANGE],
            Self::Bonus(BonusChange { wallet, .. }) | Self::Reward(Reward { wallet, .. }) => {
                vec![*wallet, BONUS]
            }
        }
    }

    /// Returns the assets to read.
    pub(crate) fn assets(&self, book: &Book) -> Vec<AssetCode> {
        match self {
            Self::Create(create) => vec![create.asset.clone()],
            Self::Advance(_) | Self::EndHold(_) => Vec::new(),
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

    /// Returns the balances to read or lock: those that the command may change, and those whose lock
    /// keeps a wallet from changing.
    pub(crate) fn accounts(&self, book: &Book) -> Vec<AccountKey> {
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
            Self::EndHold(_) | Self::Refund(_) => of_targets(Status::Confirmed),
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

/// Returns the accounts that a transaction touches on its way into this status. Holding and releasing
/// leave system wallets alone.
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
