//! Prepares the texts of a receipt: amounts without needless decimals, dates to the minute, and names.

use super::{
    OrderReceipt, ReceiptLine, ReceiptTax,
    view::{Cell, Column, Kind, Table, View},
};
use crate::resources::{
    dto::{Raw, Time},
    orders::OrderPayment,
};

const LINES: &[Column] = &[
    column("Product", Kind::Prose),
    column("Quantity", Kind::Number),
    column("Unit price, net", Kind::Number),
    column("Tax", Kind::Number),
    column("Amount", Kind::Number),
];
const TAXES: &[Column] = &[
    column("Rate", Kind::Prose),
    column("Net", Kind::Number),
    column("Tax", Kind::Number),
];
const PAYMENTS: &[Column] = &[
    column("Time", Kind::Label),
    column("What", Kind::Prose),
    column("Amount", Kind::Number),
];

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

impl From<&OrderReceipt> for View {
    fn from(receipt: &OrderReceipt) -> Self {
        let money = Money(receipt);
        let number = receipt.reference.as_ref().unwrap_or(&receipt.order_id);
        let changed_at = receipt.updated_at.as_ref().or(receipt.created_at.as_ref());
        Self {
            number: number.clone(),
            seller: receipt.seller_name.clone(),
            facts: facts(receipt),
            tables: vec![money.lines(), money.taxes(), money.payments()],
            bonus: money.bonus(),
            changed_at: changed_at.map(|time| time.as_str().to_owned()),
        }
    }
}

fn facts(receipt: &OrderReceipt) -> Vec<(&'static str, String)> {
    let status = format!(
        "{}, {}",
        words(&receipt.order_status),
        words(&receipt.payment_status)
    );
    [
        ("Buyer", receipt.buyer_name.clone()),
        ("Ordered", date(receipt.created_at.as_ref())),
        ("Paid", date(receipt.paid_at.as_ref())),
        ("Canceled", date(receipt.canceled_at.as_ref())),
        ("Status", Some(status)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// `2026-01-31 10:00 UTC`.
fn date(time: Option<&Time>) -> Option<String> {
    let text = time?.as_str();
    let minutes = text.get(..16)?.replace('T', " ");
    Some(format!("{minutes} UTC"))
}

fn words(name: &str) -> String {
    name.replace('_', " ")
}

/// Writes amounts with as many decimals as the order's asset has.
struct Money<'r>(&'r OrderReceipt);

impl Money<'_> {
    fn of(&self, amount: &str) -> String {
        shorten(amount, self.0.decimal_places)
    }

    /// An amount that may be in another asset than the order's.
    fn in_asset(&self, amount: &str, asset_code: &str) -> String {
        let places = if asset_code.eq_ignore_ascii_case(&self.0.asset_code) {
            self.0.decimal_places
        } else {
            0
        };
        format!("{} {asset_code}", shorten(amount, places))
    }

    fn lines(&self) -> Table {
        let receipt = self.0;
        let total = self.in_asset(&receipt.amount, &receipt.asset_code);
        Table {
            heading: "Order",
            columns: LINES,
            rows: receipt.lines.iter().map(|line| self.line(line)).collect(),
            sums: vec![
                ("Shipping", self.of(&receipt.shipping_amount)),
                ("Taxes", self.of(&receipt.taxes_amount)),
                ("Total", total),
            ],
        }
    }

    fn line(&self, line: &ReceiptLine) -> Vec<Cell> {
        let is_refunded = line.refunded_quantity > 0;
        let name = Cell {
            text: line.name.clone(),
            note: is_refunded.then(|| format!("{} refunded", line.refunded_quantity)),
        };
        vec![
            name,
            line.quantity.to_string().into(),
            self.of(&line.unit_price).into(),
            rate(line.tax_rate.as_deref()).into(),
            self.of(&line.amount).into(),
        ]
    }

    fn taxes(&self) -> Table {
        let row = |tax: &ReceiptTax| {
            vec![
                rate(tax.rate.as_deref()).into(),
                self.of(&tax.taxable_amount).into(),
                self.of(&tax.tax_amount).into(),
            ]
        };
        Table {
            heading: "Taxes",
            columns: TAXES,
            rows: self.0.taxes.iter().map(row).collect(),
            sums: Vec::new(),
        }
    }

    fn payments(&self) -> Table {
        let receipt = self.0;
        let rows = receipt.payments.iter();
        Table {
            heading: "Payments",
            columns: PAYMENTS,
            rows: rows.map(|payment| self.payment(payment)).collect(),
            sums: vec![
                ("Received", self.of(&receipt.received_amount)),
                ("Refunded", self.of(&receipt.refunded_amount)),
                ("Paid", self.of(&receipt.paid_amount)),
                ("Open", self.of(&receipt.unpaid_amount)),
            ],
        }
    }

    fn payment(&self, payment: &OrderPayment) -> Vec<Cell> {
        let (kind, sign) = match payment.r#type.as_str() {
            "refund" => ("Refund", "\u{2212}"),
            _ => ("Payment", ""),
        };
        let bonus = if payment.bonus { " (bonus)" } else { "" };
        let amount = self.in_asset(&payment.amount, &payment.asset_code);
        let what = Cell {
            text: format!("{kind}{bonus}"),
            note: payment.reason.as_ref().map(Raw::plain_text),
        };
        let time = date(payment.created_at.as_ref()).unwrap_or_default();
        vec![time.into(), what, format!("{sign}{amount}").into()]
    }

    /// A sentence about the bonus; none if there is no bonus.
    fn bonus(&self) -> Option<String> {
        let receipt = self.0;
        if is_zero(&receipt.bonus) {
            return None;
        }
        let bonus = self.in_asset(&receipt.bonus, &receipt.bonus_asset_code);
        if is_zero(&receipt.bonus_revoked) {
            return Some(format!("Bonus: {bonus}."));
        }
        let revoked = self.in_asset(&receipt.bonus_revoked, &receipt.bonus_asset_code);
        Some(format!(
            "Bonus: {bonus}, of which refunds took back {revoked}."
        ))
    }
}

fn rate(rate: Option<&str>) -> String {
    rate.map_or_else(
        || "\u{2013}".to_owned(),
        |rate| format!("{} %", shorten(rate, 0)),
    )
}

fn is_zero(amount: &str) -> bool {
    amount.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

/// Leaves out trailing zeros, but keeps this many decimals.
fn shorten(amount: &str, places: usize) -> String {
    let Some((whole, decimals)) = amount.split_once('.') else {
        return amount.to_owned();
    };
    let needed = decimals.trim_end_matches('0').len().max(places);
    match decimals.get(..needed) {
        Some(kept) if !kept.is_empty() => format!("{whole}.{kept}"),
        _ => whole.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_the_decimals_of_their_asset() {
        for (amount, places, expected) in [
            ("12.50000000", 2, "12.50"),
            ("12.50000000", 0, "12.5"),
            ("12.00000000", 0, "12"),
            ("0.00000001", 2, "0.00000001"),
            ("5", 2, "5"),
        ] {
            assert_eq!(shorten(amount, places), expected);
        }
    }
}
