//! Units handed over and taken back.

use platform::{
    error::{Code, Failure},
    ids::Ids,
};
use proptest::prelude::*;

use super::{now, order, quote};
use crate::order::{
    fulfilment::{Direction, Units},
    model::{Event, LineStatus, OrderStatus},
};

#[test]
fn the_order_follows_its_lines() {
    let mut placed = order(
        &[(quote("1", "0", "0"), 2), (quote("1", "0", "0"), 1)],
        None,
    );
    let (first, second) = (placed.lines[0].id, placed.lines[1].id);
    let over = placed.move_units(Direction::Fulfill, Units::Some(first, 3), now());
    assert_eq!(Failure::from(over.unwrap_err()).fields[0].field, "quantity");
    placed
        .move_units(Direction::Fulfill, Units::Some(first, 1), now())
        .unwrap();
    assert_eq!(placed.lines[0].status, LineStatus::PartiallyFulfilled);
    placed
        .move_units(Direction::Fulfill, Units::Line(first), now())
        .unwrap();
    assert_eq!(placed.order.order_status, OrderStatus::Unfulfilled);
    let done = placed
        .move_units(Direction::Fulfill, Units::Line(second), now())
        .unwrap();
    assert_eq!(done.events, [Event::Fulfilled]);
    assert_eq!(placed.order.fulfilled_at, Some(now()));

    let nothing = placed
        .move_units(Direction::Fulfill, Units::Order, now())
        .unwrap();
    assert!(nothing.lines.is_empty() && nothing.events.is_empty());
    let undone = placed
        .move_units(Direction::Unfulfill, Units::Line(first), now())
        .unwrap();
    assert_eq!(undone.events, [Event::Unfulfilled]);
    assert_eq!(placed.order.fulfilled_at, None);
    let stranger = placed.move_units(Direction::Fulfill, Units::Line(Ids::system().next()), now());
    assert_eq!(
        Failure::from(stranger.unwrap_err()).code,
        Code::OrderLineNotFound
    );
}

proptest! {
    #[test]
    fn units_stay_within_bounds(steps in prop::collection::vec((any::<bool>(), 0_i32..5), 1..40)) {
        let mut placed = order(&[(quote("1", "0", "0"), 3), (quote("1", "0", "0"), 2)], None);
        let ids: Vec<_> = placed.lines.iter().map(|line| line.id).collect();
        for (forward, quantity) in steps {
            let direction = if forward { Direction::Fulfill } else { Direction::Unfulfill };
            let id = ids[usize::try_from(quantity).unwrap() % 2];
            let units = if quantity == 0 { Units::Order } else { Units::Some(id, quantity) };
            let _ = placed.move_units(direction, units, now());
            for line in &placed.lines {
                prop_assert!((0..=line.quantity).contains(&line.fulfilled_quantity));
                prop_assert_eq!(line.fulfilled_at.is_some(), line.status == LineStatus::Fulfilled);
            }
            let all = placed.lines.iter().all(|line| line.left() == 0);
            prop_assert_eq!(placed.order.order_status == OrderStatus::Fulfilled, all);
            prop_assert_eq!(placed.order.fulfilled_at.is_some(), all);
        }
    }
}
