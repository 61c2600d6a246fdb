//! What a walk did.

use std::{collections::BTreeMap, fmt};

use super::{account::Account, order::Order};

/// Numbers of what a walk did.
#[derive(Debug, Default)]
pub struct Report {
    /// Number of requests by kind and answer, and of those that moved points.
    answers: BTreeMap<String, u32>,
    /// Orders that were created.
    orders: usize,
}

impl Report {
    pub(super) fn count(&mut self, request: &str, answer: &str) {
        let kind = format!("{request}: {answer}");
        *self.answers.entry(kind).or_default() += 1;
    }

    pub(super) const fn count_order(&mut self) {
        self.orders += 1;
    }

    /// Counts what an accepted request did with points.
    pub(super) fn count_effects(
        &mut self,
        request: &str,
        orders: [&Order; 2],
        accounts: [&Account; 2],
    ) {
        let [before, after] = orders.map(Order::paid_by_asset);
        let with = if before.usd == after.usd {
            "points alone"
        } else {
            "points and usd"
        };
        if before.points < after.points {
            self.count(request, &format!("{with} paid"));
        } else if before.points > after.points {
            self.count(request, &format!("{with} returned"));
        }
        let [before, after] = accounts;
        if before.owed < after.owed {
            self.count(request, "spent points taken back");
        } else if before.owed > after.owed {
            self.count(request, "owed points settled");
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} orders, as the model has them", self.orders)?;
        for (answer, count) in &self.answers {
            writeln!(f, "{count:>8} {answer}")?;
        }
        Ok(())
    }
}
