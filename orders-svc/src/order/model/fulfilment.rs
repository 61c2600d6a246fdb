//! Fulfilment: units are handed over or taken back. It does not depend on payment.

use chrono::{DateTime, Utc};
use platform::error::FieldCode;

use super::{
    Event, Line, LineId, LineStatus, LineUnits, OrderStatus, OrderWithLines, status::Status as _,
};
use crate::error::Error;

/// The units that a fulfilment applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Units {
    /// All remaining units of every line.
    AllLines,
    /// Units of one line, by default all that remain.
    Line { id: LineId, quantity: Option<i32> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FulfilmentDirection {
    Fulfill,
    Unfulfill,
}

impl FulfilmentDirection {
    /// Returns its word in the audit log.
    pub(crate) const fn done(self) -> &'static str {
        match self {
            Self::Fulfill => "fulfilled",
            Self::Unfulfill => "unfulfilled",
        }
    }
}

/// The outcome of a fulfilment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fulfilment {
    /// The units of each line that changed.
    pub(crate) moved: Vec<LineUnits>,
    pub(crate) events: Vec<Event>,
}

impl OrderWithLines {
    /// Moves units and updates the statuses. Changes nothing if no unit remains to be moved.
    pub(crate) fn move_units(
        &mut self,
        direction: FulfilmentDirection,
        units: Units,
        now: DateTime<Utc>,
    ) -> Result<Fulfilment, Error> {
        if self.order.order_status == OrderStatus::Canceled {
            return Err(Error::InvalidState("the order is canceled"));
        }
        let mut moved = Vec::new();
        let mut found = units == Units::AllLines;
        for line in &mut self.lines {
            let quantity = match units {
                Units::AllLines => None,
                Units::Line { id, quantity } if id == line.id => quantity,
                Units::Line { .. } => continue,
            };
            found = true;
            let quantity = line.move_units(direction, quantity, now)?;
            if quantity > 0 {
                moved.push(LineUnits {
                    line_id: line.id,
                    quantity,
                });
            }
        }
        if !found {
            return Err(Error::OrderLineNotFound);
        }
        let events = self.update_status(now)?;
        if !moved.is_empty() {
            self.order.touch(now);
        }
        Ok(Fulfilment { moved, events })
    }

    /// Derives the order's status from its lines.
    fn update_status(&mut self, now: DateTime<Utc>) -> Result<Vec<Event>, Error> {
        let all_fulfilled = self
            .lines
            .iter()
            .all(|line| line.unfulfilled_quantity() == 0);
        let order = &mut self.order;
        Ok(match (order.order_status, all_fulfilled) {
            (OrderStatus::Unfulfilled, true) => {
                order.order_status.move_to(OrderStatus::Fulfilled)?;
                order.fulfilled_at = Some(now);
                vec![Event::Fulfilled]
            }
            (OrderStatus::Fulfilled, false) => {
                order.order_status.move_to(OrderStatus::Unfulfilled)?;
                order.fulfilled_at = None;
                vec![Event::Unfulfilled]
            }
            _ => Vec::new(),
        })
    }
}

impl Line {
    /// Moves units of the line, by default all that remain. Returns how many.
    fn move_units(
        &mut self,
        direction: FulfilmentDirection,
        quantity: Option<i32>,
        now: DateTime<Utc>,
    ) -> Result<i32, Error> {
        let remaining = match direction {
            FulfilmentDirection::Fulfill => self.unfulfilled_quantity(),
            FulfilmentDirection::Unfulfill => self.fulfilled_quantity,
        };
        let units = quantity.unwrap_or(remaining);
        if units > remaining {
            return Err(Error::Field {
                field: "quantity".into(),
                code: FieldCode::Range,
                message: format!("must be at most {remaining}, the remaining units"),
            });
        }
        if units == 0 {
            return Ok(0);
        }
        self.fulfilled_quantity += match direction {
            FulfilmentDirection::Fulfill => units,
            FulfilmentDirection::Unfulfill => -units,
        };
        self.status.move_to(match self.fulfilled_quantity {
            0 => LineStatus::Unfulfilled,
            fulfilled if fulfilled == self.quantity => LineStatus::Fulfilled,
            _ => LineStatus::PartiallyFulfilled,
        })?;
        self.fulfilled_at = (self.status == LineStatus::Fulfilled).then_some(now);
        self.updated_at = now;
        Ok(units)
    }
}
