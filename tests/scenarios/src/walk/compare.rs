//! Compares an order of the service with that of the model.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::order::{Line, Order};
use crate::client::Reply;

/// Returns cents as the API writes dollars. Works for hundredths of a percent, too.
pub(super) fn dollars(cents: i64) -> String {
    format!("{}.{:02}000000", cents / 100, cents % 100)
}

/// Returns the cents in an amount of the API.
pub(super) fn cents(amount: &str) -> anyhow::Result<i64> {
    let (whole, decimals) = amount.split_once('.').context("a decimal point")?;
    let decimals = decimals.strip_suffix("000000").context("whole cents")?;
    Ok(format!("{whole}{decimals}").parse()?)
}

/// Fails unless every amount and status is that of the model.
pub(super) fn compare(model: &Order, shown: &Value) -> anyhow::Result<()> {
    let paid = model.paid();
    let fields = [
        ("amount", json!(dollars(model.amount()))),
        ("taxesAmount", json!(dollars(model.taxes()))),
        ("bonus", json!(dollars(model.bonus()))),
        ("bonusAssetCode", json!("points")),
        ("paidAmount", json!(dollars(paid))),
        ("unpaidAmount", json!(dollars(model.amount() - paid))),
        ("orderStatus", json!(model.status())),
        ("paymentStatus", json!(model.payment_status())),
    ];
    ensure_equal(&fields, shown)?;
    // Some answers show no lines.
    let Some(lines) = shown["lines"].as_array() else {
        return Ok(());
    };
    ensure!(lines.len() == model.lines.len(), "lines of {shown}");
    for (line, shown) in model.lines.iter().zip(lines) {
        compare_line(model, line, shown)?;
    }
    Ok(())
}

fn compare_line(model: &Order, line: &Line, shown: &Value) -> anyhow::Result<()> {
    let fields = [
        ("id", json!(line.id)),
        ("quantity", json!(line.quantity)),
        ("fulfilledQuantity", json!(line.fulfilled)),
        ("status", json!(model.line_status(line))),
        ("unitPrice", json!(dollars(line.price))),
        ("unitTax", json!(dollars(line.tax))),
        ("unitBonus", json!(dollars(line.bonus))),
        ("bonusAssetCode", json!("points")),
    ];
    ensure_equal(&fields, shown)
}

fn ensure_equal(expected: &[(&str, Value)], shown: &Value) -> anyhow::Result<()> {
    for (field, expected) in expected {
        let found = &shown[*field];
        ensure!(
            found == expected,
            "{field} is {found}, not {expected}: {shown}"
        );
    }
    Ok(())
}

/// Fails unless the answer is the expected one; returns what was expected of a success.
pub(super) fn expected_of<T>(
    expected: Result<T, &str>,
    answer: &Reply,
) -> anyhow::Result<Option<T>> {
    match expected {
        Ok(after) => {
            ensure!(answer.is_success(), "a success is expected: {answer:?}");
            Ok(Some(after))
        }
        Err(code) => {
            let refused = !answer.is_success() && answer.body["code"] == code;
            ensure!(refused, "{code} is expected: {answer:?}");
            Ok(None)
        }
    }
}
