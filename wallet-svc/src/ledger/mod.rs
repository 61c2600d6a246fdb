//! The ledger's decisions: which command is accepted, and what it changes.
//!
//! Pure: no sqlx, tonic, clock or randomness of its own. [`crate::posting`] loads a [`Book`], lets it
//! decide the commands of a batch in arrival order, and writes its [`Changes`].

mod account;
mod bonus;
mod book;
mod changes;
mod command;
mod decide;
mod error;
mod exchange;
mod operation;
mod reads;
mod rewards;
mod transition;
mod validate;

#[cfg(test)]
mod properties;

pub(crate) use account::{Account, AccountKey};
pub(crate) use bonus::{Beneficiary, BonusKey, OrderBonus, OrderId};
pub(crate) use book::{AssetState, Book, WalletState};
pub(crate) use changes::{Changes, StatusChange};
pub(crate) use command::{
    Advance, BonusChange, Command, Create, EndHold, Exchange, Leg, Mode, Operation, Refund,
    RefundPart, Reward,
};
pub(crate) use error::{LedgerError, Side};
