//! The receipt as a page: one template without scripts or other resources.

use std::sync::LazyLock;

use axum::{
    http::{HeaderValue, header},
    response::{Html, IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest as _, Sha256};

use super::{OrderReceipt, ReceiptLine, ReceiptTax};
use crate::resources::{dto::Time, orders::OrderPayment};

const TEMPLATE: &str = include_str!("receipt.html");

/// Allows the template's style element, by its hash, and nothing else.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let style = between(TEMPLATE, "<style>", "</style>");
    let hash = BASE64_STANDARD.encode(Sha256::digest(style));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("ASCII")
});

/// Responds with the page.
pub(super) fn respond(receipt: &OrderReceipt) -> Response {
    let policy = (header::CONTENT_SECURITY_POLICY, POLICY.clone());
    ([policy], Html(render(receipt))).into_response()
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split_once(start).map_or("", |(_, rest)| rest);
    rest.split_once(end).map_or("", |(inner, _)| inner)
}

/// Fills the template. No value holds a place of it, because `<` is escaped.
fn render(receipt: &OrderReceipt) -> String {
    let money = Money(receipt);
    let lines = receipt.lines.iter().map(|line| money.line(line));
    let taxes = receipt.taxes.iter().map(|tax| money.tax(tax));
    let payments = receipt
        .payments
        .iter()
        .map(|payment| money.payment(payment));
    let places = [
        ("seller", escape(&receipt.seller_name)),
        (
            "reference",
            escape(receipt.reference.as_deref().unwrap_or_default()),
        ),
        ("facts", facts(receipt)),
        ("lines", lines.collect()),
        ("taxes", taxes.collect()),
        ("totals", money.totals()),
        ("payments", payments.collect()),
        ("sums", money.sums()),
        ("bonus", money.bonus()),
    ];
    let mut page = TEMPLATE.to_owned();
    for (name, value) in places {
        page = page.replace(&format!("<!-- {name} -->"), &value);
    }
    page
}

fn facts(receipt: &OrderReceipt) -> String {
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
    .fold(String::new(), |facts, (name, value)| {
        facts + "<dt>" + name + "</dt><dd>" + &escape(&value) + "</dd>"
    })
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
        format!("{} {}", shorten(amount, places), escape(asset_code))
    }

    fn line(&self, line: &ReceiptLine) -> String {
        let refunded = match line.refunded_quantity {
            0 => String::new(),
            refunded => format!("<small>{refunded} refunded</small>"),
        };
        row(&[
            format!("{}{refunded}", escape(&line.name)),
            line.quantity.to_string(),
            self.of(&line.unit_price),
            rate(line.tax_rate.as_deref()),
            self.of(&line.amount),
        ])
    }

    fn tax(&self, tax: &ReceiptTax) -> String {
        row(&[
            rate(tax.rate.as_deref()),
            self.of(&tax.taxable_amount),
            self.of(&tax.tax_amount),
        ])
    }

    fn totals(&self) -> String {
        let receipt = self.0;
        let total = self.in_asset(&receipt.amount, &receipt.asset_code);
        let rows = [
            ("Shipping", self.of(&receipt.shipping_amount)),
            ("Taxes", self.of(&receipt.taxes_amount)),
            ("Total", total),
        ];
        rows.iter()
            .map(|(name, value)| total_row(name, value, 4))
            .collect()
    }

    fn payment(&self, payment: &OrderPayment) -> String {
        let (kind, sign) = match payment.r#type.as_str() {
            "refund" => ("Refund", "\u{2212}"),
            _ => ("Payment", ""),
        };
        let bonus = if payment.bonus { " (bonus)" } else { "" };
        let reason = payment
            .reason
            .as_ref()
            .map(|reason| format!("<small>{}</small>", escape(&reason.plain_text())));
        let reason = reason.unwrap_or_default();
        row(&[
            escape(&date(payment.created_at.as_ref()).unwrap_or_default()),
            format!("{kind}{bonus}{reason}"),
            format!(
                "{sign}{}",
                self.in_asset(&payment.amount, &payment.asset_code)
            ),
        ])
    }

    fn sums(&self) -> String {
        let receipt = self.0;
        let rows = [
            ("Received", self.of(&receipt.received_amount)),
            ("Refunded", self.of(&receipt.refunded_amount)),
            ("Paid", self.of(&receipt.paid_amount)),
            ("Open", self.of(&receipt.unpaid_amount)),
        ];
        rows.iter()
            .map(|(name, value)| total_row(name, value, 2))
            .collect()
    }

    /// A sentence about the bonus; none if there is no bonus.
    fn bonus(&self) -> String {
        let receipt = self.0;
        if is_zero(&receipt.bonus) {
            return String::new();
        }
        let bonus = self.in_asset(&receipt.bonus, &receipt.bonus_asset_code);
        let revoked = if is_zero(&receipt.bonus_revoked) {
            String::new()
        } else {
            let revoked = self.in_asset(&receipt.bonus_revoked, &receipt.bonus_asset_code);
            format!(", of which refunds took back {revoked}")
        };
        format!("<p>Bonus: {bonus}{revoked}.</p>")
    }
}

fn row(cells: &[String]) -> String {
    format!("<tr><td>{}</td></tr>\n", cells.join("</td><td>"))
}

fn total_row(name: &str, value: &str, columns: u8) -> String {
    format!("<tr><th colspan=\"{columns}\">{name}</th><td>{value}</td></tr>\n")
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
        return escape(amount);
    };
    let needed = decimals.trim_end_matches('0').len().max(places);
    match decimals.get(..needed) {
        Some(kept) if !kept.is_empty() => escape(&format!("{whole}.{kept}")),
        _ => escape(whole),
    }
}

/// Escapes a text for elements and attributes.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
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

    #[test]
    fn markup_is_escaped() {
        let escaped = escape(r#"<img src="x" onerror='alert(1)'>&<!-- lines -->"#);
        assert!(!escaped.contains(['<', '>', '"', '\'']));
    }

    #[test]
    fn the_template_loads_nothing_and_its_style_is_allowed() {
        let policy = POLICY.to_str().unwrap();
        assert!(policy.contains("style-src 'sha256-"));
        assert!(!between(TEMPLATE, "<style>", "</style>").is_empty());
        for outside in ["<script", "<link", "url(", "http", " style=", "<img"] {
            assert!(!TEMPLATE.contains(outside), "{outside}");
        }
    }
}
