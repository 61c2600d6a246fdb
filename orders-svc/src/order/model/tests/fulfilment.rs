//! Units are fulfilled and taken back.

use chrono::TimeDelta;
use proptest::prelude::*;

use super::{super::fulfilment::Fulfilment, *};
use crate::order::model::{
    Event, FulfilmentDirection, LineId, LineStatus, LineUnits, OrderStatus, Units,
};

/// An order of two units of one product and one of another.
fn two_lines() -> OrderWithLines {
    let quote = quote("1", "0", "0");
    order(&[(quote.clone(), 2), (quote, 1)], None)
}

fn units(id: LineId, quantity: i32) -> Units {
    Units::Line {
        id,
        quantity: Some(quantity),
    }
}

fn one(line_id: LineId) -> LineUnits {
    LineUnits {
        line_id,
        quantity: 1,
    }
}

fn all_units(id: LineId) -> Units {
    Units::Line { id, quantity: None }
}

fn fulfil(order: &mut OrderWithLines, units: Units) -> Result<Fulfilment, Error> {
    order.move_units(FulfilmentDirection::Fulfill, units, later())
}

fn unfulfil(order: &mut OrderWithLines, units: Units) -> Result<Fulfilment, Error> {
    order.move_units(FulfilmentDirection::Unfulfill, units, later())
}

#[test]
fn the_order_is_fulfilled_with_its_last_line() {
    let mut order = two_lines();
    let (first, second) = (order.lines[0].id, order.lines[1].id);

    let part = fulfil(&mut order, units(first, 1)).unwrap();
    assert_eq!(part.moved, [one(first)]);
    assert_eq!(part.events, []);
    assert_eq!(order.lines[0].status, LineStatus::PartiallyFulfilled);
    assert_eq!(order.lines[0].fulfilled_at, None);

    let rest = fulfil(&mut order, all_units(first)).unwrap();
    assert_eq!(rest.events, []);
    assert_eq!(order.lines[0].status, LineStatus::Fulfilled);
    assert_eq!(order.lines[0].fulfilled_at, Some(later()));
    assert_eq!(order.order.order_status, OrderStatus::Unfulfilled);

    let last = fulfil(&mut order, all_units(second)).unwrap();
    assert_eq!(last.events, [Event::Fulfilled]);
    assert_eq!(order.order.order_status, OrderStatus::Fulfilled);
    assert_eq!(order.order.fulfilled_at, Some(later()));
    // The third change at this time.
    let changed = later() + TimeDelta::milliseconds(2);
    assert_eq!(order.order.updated_at, changed);
}

#[test]
fn taking_a_unit_back_makes_the_order_unfulfilled() {
    let mut order = two_lines();
    let first = order.lines[0].id;
    fulfil(&mut order, Units::AllLines).unwrap();
    let undone = unfulfil(&mut order, units(first, 1)).unwrap();
    assert_eq!(undone.moved, [one(first)]);
    assert_eq!(undone.events, [Event::Unfulfilled]);
    assert_eq!(order.order.order_status, OrderStatus::Unfulfilled);
    assert_eq!(order.order.fulfilled_at, None);
    assert_eq!(order.lines[0].status, LineStatus::PartiallyFulfilled);
}

#[test]
fn nothing_remaining_changes_nothing() {
    let mut order = two_lines();
    fulfil(&mut order, Units::AllLines).unwrap();
    let before = order.clone();
    let again = order.move_units(FulfilmentDirection::Fulfill, Units::AllLines, now());
    let again = again.unwrap();
    assert!(again.moved.is_empty() && again.events.is_empty());
    assert_eq!(order, before);
}

#[test]
fn more_than_the_remaining_units_are_refused() {
    let mut order = two_lines();
    let first = order.lines[0].id;
    let over = fulfil(&mut order, units(first, 3));
    assert_refused(over, Code::ValidationFailed, &["quantity"]);
    fulfil(&mut order, units(first, 1)).unwrap();
    let over = unfulfil(&mut order, units(first, 2));
    assert_refused(over, Code::ValidationFailed, &["quantity"]);
}

#[test]
fn a_line_of_another_order_is_not_found() {
    let mut order = two_lines();
    let other = fulfil(&mut order, all_units(Ids::system().next()));
    assert_refused(other, Code::OrderLineNotFound, &[]);
}

proptest! {
    #[test]
    fn fulfilled_units_stay_within_bounds(
        steps in prop::collection::vec((any::<bool>(), 0_i32..5), 1..40),
    ) {
        let quote = quote("1", "0", "0");
        let mut order = order(&[(quote.clone(), 3), (quote, 2)], None);
        let ids: Vec<_> = order.lines.iter().map(|line| line.id).collect();
        for (forward, quantity) in steps {
            let id = ids[usize::try_from(quantity).unwrap() % 2];
            let units = if quantity == 0 { Units::AllLines } else { units(id, quantity) };
            // Refused or not.
            let _ = if forward { fulfil(&mut order, units) } else { unfulfil(&mut order, units) };
            for line in &order.lines {
                prop_assert!((0..=line.quantity).contains(&line.fulfilled_quantity));
                prop_assert_eq!(line.fulfilled_at.is_some(), line.status == LineStatus::Fulfilled);
            }
            let all = order.lines.iter().all(|line| line.unfulfilled_quantity() == 0);
            prop_assert_eq!(order.order.order_status == OrderStatus::Fulfilled, all);
            prop_assert_eq!(order.order.fulfilled_at.is_some(), all);
        }
    }
}
