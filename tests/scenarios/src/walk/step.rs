//! The steps of a walk.

use rand::{Rng as _, rngs::StdRng};
use serde_json::{Value, json};

use super::{catalogue::Catalogue, catalogue::Edit, compare::dollars, order::Order};

#[derive(Debug)]
pub(super) enum Step {
    Create(Cart),
    Edit(Edit),
    Act {
        /// Index of the order.
        order: usize,
        request: Request,
    },
}

#[derive(Debug)]
pub(super) struct Cart {
    /// Index among the buyers.
    pub(super) buyer: usize,
    /// Indexes of products, and quantities.
    pub(super) lines: Vec<(usize, i64)>,
    /// Whether the bonus balance pays with the creation, as far as it goes.
    pub(super) uses_bonus: bool,
    /// Whether the wallet pays the rest, or everything.
    pub(super) uses_wallet: bool,
}

impl Cart {
    pub(super) const fn name(&self) -> &'static str {
        match (self.uses_bonus, self.uses_wallet) {
            (false, false) => "create",
            (false, true) => "create and pay",
            (true, false) => "create with useBonus",
            (true, true) => "create with useBonus and walletId",
        }
    }
}

/// An action on an order.
#[derive(Debug)]
pub(super) enum Request {
    Pay(Amount),
    Cancel(Amount),
    Refund(Amount),
    /// Index of a line, and how many.
    RefundUnits(usize, i64),
    Move {
        fulfill: bool,
        units: Units,
    },
}

/// An amount of a request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Amount {
    /// Left out.
    Whole,
    Cents(i64),
    /// With more decimals than its asset.
    TooFine,
}

impl Amount {
    /// Returns the cents, or the code of the refusal.
    pub(super) const fn cents(self, whole: i64) -> Result<i64, &'static str> {
        match self {
            Self::Whole => Ok(whole),
            Self::Cents(cents) => Ok(cents),
            Self::TooFine => Err("amount_precision"),
        }
    }

    fn body(self, field: &str) -> Value {
        match self {
            Self::Whole => json!({}),
            Self::Cents(cents) => json!({ field: dollars(cents) }),
            Self::TooFine => json!({ field: "0.001" }),
        }
    }
}

/// The units that are moved.
#[derive(Debug, Clone, Copy)]
pub(super) enum Units {
    All,
    /// Index of a line, and how many; all if that is left out.
    Line(usize, Option<i64>),
}

impl Request {
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Pay(_) => "pay",
            Self::Cancel(_) => "cancel",
            Self::Refund(_) | Self::RefundUnits(..) => "refund",
            Self::Move { fulfill: true, .. } => "fulfill",
            Self::Move { fulfill: false, .. } => "unfulfill",
        }
    }

    /// Returns whether it may give back points, or take back a bonus.
    pub(super) const fn may_refund(&self) -> bool {
        matches!(
            self,
            Self::Cancel(_) | Self::Refund(_) | Self::RefundUnits(..)
        )
    }

    /// Returns the path behind that of the order.
    pub(super) fn path(&self, order: &Order) -> String {
        match self {
            Self::Move {
                units: Units::Line(index, _),
                ..
            } => format!("/lines/{}/{}", order.lines[*index].id, self.name()),
            _ => format!("/{}", self.name()),
        }
    }

    pub(super) fn body(&self, order: &Order) -> Value {
        match self {
            Self::Pay(amount) | Self::Refund(amount) => amount.body("amount"),
            Self::Cancel(refund) => refund.body("refundAmount"),
            Self::RefundUnits(index, quantity) => {
                let line = &order.lines[*index];
                json!({ "lines": [{ "lineId": line.id, "quantity": quantity }] })
            }
            Self::Move {
                units: Units::Line(_, Some(quantity)),
                ..
            } => json!({ "quantity": quantity }),
            Self::Move { .. } => json!({}),
        }
    }
}

/// Makes up a cart.
pub(super) fn create(random: &mut StdRng, catalogue: &Catalogue, buyers: usize) -> Step {
    let buyer = random.random_range(0..buyers);
    let lines = random.random_range(1..=3);
    Step::Create(Cart {
        buyer,
        lines: (0..lines).map(|_| catalogue.random_line(random)).collect(),
        uses_bonus: random.random_bool(0.4),
        uses_wallet: random.random_bool(0.5),
    })
}

/// Makes up an action on an order.
pub(super) fn action(random: &mut StdRng, index: usize, order: &Order) -> Step {
    let request = match random.random_range(0..10) {
        0..=2 => Request::Pay(amount(random, order.amount() - order.paid())),
        3 => Request::Cancel(amount(random, order.paid())),
        4 | 5 => match amount(random, order.paid()) {
            // What to refund must be said.
            Amount::Whole => {
                let (index, quantity) = line(random, order);
                Request::RefundUnits(index, quantity)
            }
            amount => Request::Refund(amount),
        },
        _ => Request::Move {
            fulfill: random.random_bool(0.5),
            units: units(random, order),
        },
    };
    Step::Act {
        order: index,
        request,
    }
}

/// Returns mostly a part of what is allowed.
fn amount(random: &mut StdRng, most: i64) -> Amount {
    match random.random_range(0..10) {
        0..=3 => Amount::Whole,
        4 => Amount::TooFine,
        5 => Amount::Cents(most + 1),
        _ => Amount::Cents(random.random_range(1..=most.max(1))),
    }
}

fn units(random: &mut StdRng, order: &Order) -> Units {
    if random.random_bool(0.3) {
        return Units::All;
    }
    let (index, quantity) = line(random, order);
    Units::Line(index, random.random_bool(0.7).then_some(quantity))
}

/// Returns the index of a line, and a quantity that may be one too many.
fn line(random: &mut StdRng, order: &Order) -> (usize, i64) {
    let index = random.random_range(0..order.lines.len());
    let quantity = random.random_range(1..=order.lines[index].quantity + 1);
    (index, quantity)
}
