//! Handing units over and taking that back. Payment does not matter here.

use chrono::{DateTime, Utc};
use platform::error::FieldCode;

use super::model::{Event, Line, LineId, LineStatus, OrderStatus, OrderWithLines};
use crate::error::Error;

/// Which units are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Units {
    /// All that are left on every line.
    Order,
    /// All that are left on one line.
    Line(LineId),
    /// So many of one line.
    Some(LineId, i32),
}

/// Which way they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the buyer.
    Fulfill,
    /// Back.
    Unfulfill,
}

/// What a fulfilment changed.
#[derive(Debug, PartialEq, Eq)]
pub struct Fulfilment {
    /// The lines to write.
    pub lines: Vec<LineId>,
    /// What to tell the others.
    pub events: Vec<Event>,
}

impl OrderWithLines {
    /// Moves units, and lets the statuses follow. Without anything to move nothing changes.
    pub fn move_units(
        &mut self,
        direction: Direction,
        units: Units,
        now: DateTime<Utc>,
    ) -> Result<Fulfilment, Error> {
        if self.order.order_status == OrderStatus::Canceled {
            return Err(Error::InvalidState("the order is canceled"));
        }
        let mut changed = Vec::new();
        let mut found = units == Units::Order;
        for line in &mut self.lines {
            let wanted = match units {
                Units::Order => None,
                Units::Line(id) if id == line.id => None,
                Units::Some(id, quantity) if id == line.id => Some(quantity),
                _ => continue,
            };
            found = true;
            if line.move_units(direction, wanted, now)? {
                changed.push(line.id);
            }
        }
        if !found {
            return Err(Error::OrderLineNotFound);
        }
        let events = self.follow_lines(now);
        if !changed.is_empty() {
            self.order.updated_at = now;
        }
        Ok(Fulfilment {
            lines: changed,
            events,
        })
    }

    fn follow_lines(&mut self, now: DateTime<Utc>) -> Vec<Event> {
        let all = self.lines.iter().all(|line| line.left() == 0);
        let order = &mut self.order;
        match (order.order_status, all) {
            (OrderStatus::Unfulfilled, true) => {
                order.order_status = OrderStatus::Fulfilled;
                order.fulfilled_at = Some(now);
                vec![Event::Fulfilled]
            }
            (OrderStatus::Fulfilled, false) => {
                order.order_status = OrderStatus::Unfulfilled;
                order.fulfilled_at = None;
                vec![Event::Unfulfilled]
            }
            _ => Vec::new(),
        }
    }
}

impl Line {
    /// Whether anything changed.
    fn move_units(
        &mut self,
        direction: Direction,
        wanted: Option<i32>,
        now: DateTime<Utc>,
    ) -> Result<bool, Error> {
        let room = match direction {
            Direction::Fulfill => self.left(),
            Direction::Unfulfill => self.fulfilled_quantity,
        };
        let units = wanted.unwrap_or(room);
        if units > room {
            return Err(Error::Field {
                field: "quantity".into(),
                code: FieldCode::Range,
                message: format!("at most {room} units are left"),
            });
        }
        if units == 0 {
            return Ok(false);
        }
        self.fulfilled_quantity += match direction {
            Direction::Fulfill => units,
            Direction::Unfulfill => -units,
        };
        self.status = match self.fulfilled_quantity {
            0 => LineStatus::Unfulfilled,
            done if done == self.quantity => LineStatus::Fulfilled,
            _ => LineStatus::PartiallyFulfilled,
        };
        self.fulfilled_at = (self.status == LineStatus::Fulfilled).then_some(now);
        self.updated_at = now;
        Ok(true)
    }
}
