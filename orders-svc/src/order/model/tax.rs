//! Taxes of an order by rate.

use platform::money::{Amount, OutOfRange};
use serde::{Deserialize, Serialize};

use super::Line;

/// The lines with one tax rate. Its JSON is public.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaxSum {
    /// Percent; `None` of lines without tax.
    pub(crate) rate: Option<String>,
    /// Net.
    pub(crate) taxable_amount: Amount,
    pub(crate) tax_amount: Amount,
}

/// Sums lines by their tax rates, in the order in which these appear.
pub(super) fn by_rate(lines: &[Line]) -> Result<Vec<TaxSum>, OutOfRange> {
    let mut sums: Vec<TaxSum> = Vec::new();
    for line in lines {
        let rate = line.tax_rate.map(|rate| rate.to_string());
        let (net, tax) = (line.total_without_taxes()?, line.taxes()?);
        if let Some(sum) = sums.iter_mut().find(|sum| sum.rate == rate) {
            sum.taxable_amount = sum.taxable_amount.add(net)?;
            sum.tax_amount = sum.tax_amount.add(tax)?;
        } else {
            sums.push(TaxSum {
                rate,
                taxable_amount: net,
                tax_amount: tax,
            });
        }
    }
    Ok(sums)
}
