//! Random walks: orders of any cart take any actions in any order, and the invariants hold after each.

use std::{cell::RefCell, collections::BTreeSet};

use platform::money::{Conversion, Rate};
use proptest::{prelude::*, test_runner::TestRunner};

use super::*;
use crate::order::model::{
    Event, FulfilmentDirection, LineStatus, LineUnits, OrderStatus, PaymentStatus, Refund,
    RefundedPart, Units, status::Status,
};

const ORDERS: u32 = 2_000;
const STEPS: usize = 50;

/// A cart, and what its buyer has of the bonus asset.
#[derive(Debug, Clone)]
struct Start {
    /// Price, tax rate in hundredths of a percent, bonus and quantity.
    lines: Vec<(u32, u32, u32, i32)>,
    /// The rate from the order's asset to that of bonuses, if it is another.
    rate: Option<(u32, bool)>,
    /// Paid with first, when the order is created.
    bonus_balance: Option<u32>,
}

/// An action; shares are percentages of all that it may be.
#[derive(Debug, Clone, Copy)]
enum Step {
    Pay {
        share: u32,
    },
    Cancel {
        share: Option<u32>,
    },
    Refund {
        share: u32,
    },
    RefundUnits {
        line: usize,
        quantity: i32,
    },
    Move {
        direction: FulfilmentDirection,
        line: Option<usize>,
        quantity: Option<i32>,
    },
}

fn starts() -> impl Strategy<Value = Start> {
    let line = (0_u32..100_000, 0_u32..=10_000, 0_u32..20_000, 1_i32..=5);
    (
        prop::collection::vec(line, 1..4),
        prop::option::of((1_u32..100_000, any::<bool>())),
        prop::option::of(0_u32..1_000_000),
    )
        .prop_map(|(lines, rate, bonus_balance)| Start {
            lines,
            rate,
            bonus_balance,
        })
}

fn steps() -> impl Strategy<Value = Step> {
    let direction = prop_oneof![
        Just(FulfilmentDirection::Fulfill),
        Just(FulfilmentDirection::Unfulfill),
    ];
    prop_oneof![
        8 => (0_u32..=101).prop_map(|share| Step::Pay { share }),
        4 => Just(Step::Pay { share: 100 }),
        1 => prop::option::of(0_u32..=101).prop_map(|share| Step::Cancel { share }),
        3 => (0_u32..=101).prop_map(|share| Step::Refund { share }),
        2 => (0_usize..3, 1_i32..=6)
            .prop_map(|(line, quantity)| Step::RefundUnits { line, quantity }),
        12 => (direction, prop::option::of(0_usize..3), prop::option::of(1_i32..=6)).prop_map(
            |(direction, line, quantity)| Step::Move { direction, line, quantity }
        ),
    ]
}

/// The rows of the tables that a walk used.
#[derive(Debug, Default)]
struct Changes {
    orders: BTreeSet<String>,
    payments: BTreeSet<String>,
    lines: BTreeSet<String>,
}

fn change<S: Status + std::fmt::Debug>(from: S, to: S) -> String {
    format!("{from:?} -> {to:?}")
}

impl Changes {
    fn add(&mut self, before: &OrderWithLines, after: &OrderWithLines) {
        let (from, to) = (&before.order, &after.order);
        self.orders
            .insert(change(from.order_status, to.order_status));
        self.payments
            .insert(change(from.payment_status, to.payment_status));
        for (from, to) in before.lines.iter().zip(&after.lines) {
            self.lines.insert(change(from.status, to.status));
        }
    }
}

#[track_caller]
fn assert_all_seen<S: Status + std::fmt::Debug>(seen: &BTreeSet<String>) {
    for row in S::TRANSITIONS {
        let change = change(row.from, row.to);
        assert!(seen.contains(&change), "never seen: {change}");
    }
}

/// An order with what its buyer and the ledger know of it.
struct Walk {
    order: OrderWithLines,
    payments: Vec<Payment>,
    /// What was paid, in the order's asset.
    paid: Amount,
    /// What was refunded, in the order's asset.
    refunded: Amount,
    /// The bonus, once the order was reported as paid.
    granted: Option<Amount>,
}

impl Walk {
    fn start(start: &Start, seen: &mut Changes) -> Self {
        let bonus = start.rate.map(|(rate, inverse)| BonusAsset {
            code: "points".into(),
            decimal_places: DecimalPlaces::new(2).unwrap(),
            conversion: Some(conversion(rate, inverse)),
        });
        let lines: Vec<_> = start
            .lines
            .iter()
            .map(|&(price, rate, bonus, quantity)| {
                let [price, rate, bonus] = [price, rate, bonus].map(|of| cents(of).to_string());
                (quote(&price, &rate, &bonus), quantity)
            })
            .collect();
        let mut walk = Self {
            order: order(&lines, bonus.as_ref()),
            payments: Vec::new(),
            paid: Amount::ZERO,
            refunded: Amount::ZERO,
            granted: None,
        };
        if let Some(balance) = start.bonus_balance {
            walk.pay_with_bonus(start, cents(balance), seen);
        }
        walk
    }

    /// Pays the draft with the bonus balance, as `useBonus` does.
    fn pay_with_bonus(&mut self, start: &Start, balance: Amount, seen: &mut Changes) {
        let conversion = start.rate.map(|(rate, inverse)| conversion(rate, !inverse));
        let order = &mut self.order.order;
        let leg = order.bonus_leg(balance, conversion).unwrap();
        assert!(leg.amount <= balance);
        let legs = order.immediate_payment(Some(leg), None).unwrap();
        if !legs.is_empty() {
            order.order_status = OrderStatus::Draft;
            let before = self.order.clone();
            self.order.order.activate().unwrap();
            seen.add(&before, &self.order);
            self.charge(&legs);
        }
    }

    fn charge(&mut self, legs: &[Leg]) {
        let transactions: Vec<_> = legs.iter().map(|_| Ids::system().next()).collect();
        let order = &mut self.order.order;
        let events = order.record_payment(legs, &transactions, now()).unwrap();
        for event in events {
            if event == Event::Paid {
                assert_eq!(self.granted, None, "a bonus is granted once");
                self.granted = Some(order.bonus);
            }
        }
        let claim = i32::try_from(self.payments.len()).unwrap();
        for (leg, transaction_id) in legs.iter().zip(transactions) {
            self.paid = self.paid.add(leg.value()).unwrap();
            self.payments.push(Payment {
                transaction_id,
                claim,
                leg: 0,
                wallet_id: leg.wallet_id,
                asset_code: leg.asset_code.clone(),
                amount: leg.amount,
                order_amount: leg.order_amount,
                is_bonus: leg.is_bonus,
                refunded_amount: Amount::ZERO,
                refunded_value: Amount::ZERO,
            });
        }
    }

    fn give_back(&mut self, refund: &Refund) {
        let legs = || refund.legs.iter().chain(&refund.rounded_off);
        for leg in legs() {
            let mut payments = self.payments.iter_mut();
            let payment = payments.find(|paid| Some(paid.transaction_id) == leg.refunded_payment);
            let payment = payment.unwrap();
            payment.refunded_amount = payment.refunded_amount.add(leg.amount).unwrap();
            payment.refunded_value = payment.refunded_value.add(leg.value()).unwrap();
        }
        assert_eq!(Amount::sum(legs().map(Leg::value)).unwrap(), refund.amount);
        self.refunded = self.refunded.add(refund.amount).unwrap();
    }

    fn refund(&mut self, part: RefundedPart) -> Result<(), Error> {
        let refund = self.order.partial_refund(&self.payments, 0, part, None)?;
        let transactions: Vec<_> = refund.legs.iter().map(|_| Ids::system().next()).collect();
        self.give_back(&refund);
        self.order.refund(&refund, &transactions, now())?;
        Ok(())
    }

    /// Takes a step, and returns whether it was accepted.
    fn take(&mut self, step: Step) -> Result<(), Error> {
        match step {
            Step::Pay { share } => {
                let amount = part(self.order.order.unpaid_amount(), share);
                let order = &self.order.order;
                let amount = order.check_payment(&self.payments, Some(amount))?;
                let leg = order.payment_leg(Ids::system().next(), amount);
                self.charge(&[leg]);
            }
            Step::Cancel { share } => {
                let refund = share.map(|share| part(self.order.order.paid_amount, share));
                let cancellation = self.order.cancellation(&self.payments, refund, None)?;
                let transactions: Vec<_> = cancellation
                    .legs
                    .iter()
                    .map(|_| Ids::system().next())
                    .collect();
                self.give_back(&cancellation);
                self.order.cancel(&cancellation, &transactions, now())?;
            }
            Step::Refund { share } => {
                let amount = part(self.order.order.paid_amount, share);
                self.refund(RefundedPart::Amount(amount))?;
            }
            Step::RefundUnits { line, quantity } => {
                let line_id = self.order.lines[line % self.order.lines.len()].id;
                self.refund(RefundedPart::Lines(vec![LineUnits { line_id, quantity }]))?;
            }
            Step::Move {
                direction,
                line,
                quantity,
            } => {
                let units = match line {
                    None => Units::AllLines,
                    Some(line) => Units::Line {
                        id: self.order.lines[line % self.order.lines.len()].id,
                        quantity,
                    },
                };
                self.order.move_units(direction, units, now())?;
            }
        }
        Ok(())
    }

    fn check(&self) {
        self.check_money();
        self.check_bonus();
        self.check_units();
    }

    fn check_money(&self) {
        let order = &self.order.order;
        assert_eq!(order.paid_amount, self.paid.sub(self.refunded).unwrap());
        let sum = order.paid_amount.add(order.unpaid_amount()).unwrap();
        assert_eq!(sum, order.amount);
        for payment in &self.payments {
            assert!(payment.refunded_amount <= payment.amount);
            let is_left = payment.value_left().unwrap().is_positive();
            assert_eq!(is_left, payment.refunded_amount < payment.amount);
        }
    }

    /// The bonus that is not taken back is at most the share of it that is paid for.
    fn check_bonus(&self) {
        let order = &self.order.order;
        let granted = self.granted.unwrap_or(Amount::ZERO);
        let net = granted.sub(order.bonus_revoked).unwrap();
        assert!(!net.is_negative(), "more is revoked than granted");
        let paid_for = order.bonus.units() * order.paid_amount.units();
        let is_free = order.amount.is_zero();
        assert!(is_free || net.units() * order.amount.units() <= paid_for);
    }

    fn check_units(&self) {
        let OrderWithLines { order, lines } = &self.order;
        for line in lines {
            assert!((0..=line.quantity).contains(&line.fulfilled_quantity));
            assert!((0..=line.quantity).contains(&line.refunded_quantity));
        }
        let is_canceled = order.order_status == OrderStatus::Canceled;
        let all_fulfilled = lines.iter().all(|line| line.unfulfilled_quantity() == 0);
        assert_eq!(order.order_status == OrderStatus::Fulfilled, all_fulfilled);
        for line in lines {
            assert_eq!(line.status == LineStatus::Canceled, is_canceled);
            assert!(!is_canceled || line.fulfilled_quantity == 0);
        }
    }
}

fn conversion(rate: u32, inverse: bool) -> Conversion {
    let rate = Rate::parse(&cents(rate).to_string()).unwrap();
    Conversion { rate, inverse }
}

/// Returns a share of an amount in cents, rounded down.
fn part(amount: Amount, percent: u32) -> Amount {
    let cents = amount.units() / 1_000_000 * i128::from(percent) / 100;
    Amount::from_units(cents * 1_000_000).unwrap()
}

/// Takes the steps. One that is refused changes nothing, and a canceled order is only refunded.
fn walk(start: &Start, steps: &[Step], seen: &mut Changes) {
    let mut walk = Walk::start(start, seen);
    walk.check();
    for step in steps {
        let before = walk.order.clone();
        let refused = walk.take(*step).is_err();
        walk.check();
        let is_refund = matches!(step, Step::Refund { .. } | Step::RefundUnits { .. });
        let was_canceled = before.order.order_status == OrderStatus::Canceled;
        let unchanged = refused || (was_canceled && !is_refund);
        assert!(!unchanged || walk.order == before, "{step:?}");
        seen.add(&before, &walk.order);
    }
}

#[test]
fn no_walk_of_100_000_steps_breaks_an_invariant() {
    let seen = RefCell::new(Changes::default());
    let walks = (starts(), prop::collection::vec(steps(), STEPS));
    let mut runner = TestRunner::new(ProptestConfig::with_cases(ORDERS));
    let result = runner.run(&walks, |(start, steps)| {
        walk(&start, &steps, &mut seen.borrow_mut());
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}\n{runner}");
    }
    let seen = seen.into_inner();
    assert_all_seen::<OrderStatus>(&seen.orders);
    assert_all_seen::<PaymentStatus>(&seen.payments);
    assert_all_seen::<LineStatus>(&seen.lines);
}
