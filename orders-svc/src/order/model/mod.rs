//! The rules of orders: states, amounts, payments, refunds, fulfilment and claims. Pure: no SQL, no
//! wire format, no clock; `now` and ids are passed in.

mod bonus;
mod cart;
mod claim;
mod command;
mod event;
mod fulfilment;
mod history;
mod order;
mod payer;
mod payment;
mod quote;
mod refund;
mod status;
mod tax;

#[cfg(test)]
mod tests;

pub(crate) use bonus::BonusAsset;
pub(crate) use cart::{Buyer, Cart, REFERENCE_LENGTH};
pub(crate) use claim::{
    Action, Claim, ClaimId, Intent, Leg, LineUnits, OpenClaim, Refund, TransferDirection, VALIDITY,
};
pub(crate) use command::{
    CancelOrder, FulfilOrder, NewLine, NewOrder, PayOrder, RefundOrder, RefundedPart,
};
pub(crate) use event::Event;
pub(crate) use fulfilment::{FulfilmentDirection, Units};
pub(crate) use history::{HistoryAction, HistoryEntry, State};
pub(crate) use order::{
    Category, Line, LineId, Order, OrderId, OrderWithLines, Product, ProductId, TransactionId,
    UserId, WalletId,
};
pub(crate) use payer::{Payer, Wallet};
pub(crate) use payment::Payment;
pub(crate) use quote::{AnswerFault, Quote};
pub(crate) use status::{DeliveryMethod, LineStatus, OrderStatus, PaymentStatus};
pub(crate) use tax::TaxSum;
