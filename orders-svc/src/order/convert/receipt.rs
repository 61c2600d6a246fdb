//! Encodes receipts.

use platform::money::{Amount, OutOfRange};
use proto::orders::v1 as wire;

use super::{encode, history};
use crate::{
    error::Error,
    order::{
        model::{Line, OrderWithLines, TaxSum},
        repo::transactions::OrderTransaction,
    },
};

/// What a receipt is made of, as it was at one moment.
pub(crate) struct Receipt {
    pub(crate) order: OrderWithLines,
    /// Payments and refunds, oldest first.
    pub(crate) transactions: Vec<OrderTransaction>,
    /// Sum of all refunds in the order's asset.
    pub(crate) refunded: Amount,
    pub(crate) seller_name: String,
}

/// Encodes a receipt. What was received is what is paid and what was refunded of it.
pub(in crate::order) fn receipt(receipt: Receipt) -> Result<wire::OrderReceipt, Error> {
    let lines = receipt.order.lines.iter().map(line);
    let lines = lines.collect::<Result<_, _>>()?;
    let order = receipt.order.order;
    let received = order.paid_amount.add(receipt.refunded)?;
    Ok(wire::OrderReceipt {
        decimal_places: order.asset_decimal_places.get().into(),
        seller_name: receipt.seller_name,
        lines,
        taxes: order.taxes.iter().map(tax).collect(),
        payments: receipt
            .transactions
            .into_iter()
            .map(history::payment)
            .collect(),
        received_amount: received.into(),
        refunded_amount: receipt.refunded.into(),
        bonus_revoked: order.bonus_revoked.into(),
        order: Some(encode::order(&OrderWithLines {
            order,
            lines: Vec::new(),
        })),
    })
}

fn line(line: &Line) -> Result<wire::ReceiptLine, OutOfRange> {
    Ok(wire::ReceiptLine {
        name: line.product_name.clone(),
        quantity: line.quantity.unsigned_abs(),
        refunded_quantity: line.refunded_quantity.unsigned_abs(),
        unit_price: line.unit_price.into(),
        unit_tax: line.unit_tax.into(),
        tax_rate: line.tax_rate.map(|rate| rate.to_string()),
        amount: line.total()?.into(),
    })
}

fn tax(sum: &TaxSum) -> wire::ReceiptTax {
    wire::ReceiptTax {
        rate: sum.rate.clone(),
        taxable_amount: sum.taxable_amount.into(),
        tax_amount: sum.tax_amount.into(),
    }
}
