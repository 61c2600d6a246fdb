//! The ledger's decisions: which posting is accepted, and what it changes. Pure: no sqlx, tonic,
//! clock or randomness of its own. [`crate::posting`] loads what is decided on and writes what was
//! decided.

mod account;
mod admit;
mod bonus;
mod book;
mod changes;
mod command;
mod decide;
mod draft;
mod exchange;
mod gift;
mod operation;
mod refusal;

#[cfg(test)]
mod properties;

pub use account::{Account, AccountKey};
pub use bonus::{OrderBonus, OrderId};
pub use book::{AssetRule, Book, Party};
pub use changes::{Changes, Step};
pub use command::{
    Advance, BonusChange, Command, Conclusion, Create, Exchange, Leg, Mode, Operation, Refund,
    Reward,
};
pub use refusal::{Refusal, Side};
