//! The ranks that a move writes: one between the item's new neighbours, or, where no rank is left
//! between them, new ones for some of the neighbours too.
//!
//! This is done here and not in SQL because a midpoint is its smallest part. The end and the start of
//! a list, equal ranks and the choice of neighbours are rules that tests run ten thousand times.

use ethnum::U256;

use super::{Rank, Ranked, end, one};

/// The items on one side of a place, nearest first, without the item that moves.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) rows: Vec<Ranked>,
    /// Whether the list has no more of them.
    pub(super) complete: bool,
}

/// The ranks that a move writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placement {
    /// The rank of the item.
    pub(super) item: Rank,
    /// The neighbours that get new ranks, and these; mostly none.
    pub(super) neighbours: Vec<Ranked>,
}

/// Finds the ranks for a place; `None` if it takes more neighbours than were read.
///
/// Re-spacing takes the smallest neighbourhood, doubled each time, that leaves room for 66 halvings
/// between any two ranks, so its cost is spread over as many moves. Equal ranks next to the place are
/// re-spaced if all of them were read, because their order is only that of their ids.
pub(super) fn place(before: &Side, after: &Side) -> Option<Placement> {
    let ties = (before.ties(), after.ties());
    let resolves_ties = ties != (0, 0) && before.reads_past(ties.0) && after.reads_past(ties.1);
    if !resolves_ties && let Some(item) = between(before, after) {
        return Some(Placement {
            item,
            neighbours: Vec::new(),
        });
    }
    let mut width = 1;
    // Ends with the whole list at the latest: 10^60 units have room for fewer than 10^39 items.
    loop {
        let before_count = width.max(ties.0).min(before.rows.len());
        let after_count = width.max(ties.1).min(after.rows.len());
        let low = before.bound(before_count, U256::ZERO)?;
        let high = after.bound(after_count, end() + 1)?;
        let (before, after) = (&before.rows[..before_count], &after.rows[..after_count]);
        if let Some(placement) = spread(low, high, before, after) {
            return Some(placement);
        }
        width *= 2;
    }
}

impl Side {
    /// Takes the rows that were read with this limit.
    pub(super) fn new(rows: Vec<Ranked>, limit: u32) -> Self {
        Self {
            complete: rows.len() < limit as usize,
            rows,
        }
    }

    /// Returns how many of the nearest ranks are equal, 0 if only one is.
    fn ties(&self) -> usize {
        let nearest = self.rows.first().map(|row| row.rank);
        let equal = self.rows.iter().take_while(|row| Some(row.rank) == nearest);
        match equal.count() {
            1 => 0,
            ties => ties,
        }
    }

    /// Returns whether the end of a run of equal ranks was read.
    fn reads_past(&self, ties: usize) -> bool {
        ties < self.rows.len() || self.complete
    }

    /// Returns the nearest rank that stays when `count` others change, or the end of the range.
    fn bound(&self, count: usize, end: U256) -> Option<U256> {
        let row = self.rows.get(count).map(|row| number(row.rank));
        row.or(self.complete.then_some(end))
    }
}

/// Counts ranks from 1, so that there is a number below the least.
fn number(rank: Rank) -> U256 {
    rank.0 + 1
}

/// Finds one rank between two: the next integer at the end of a list, a small step down at its start,
/// else the middle. Halving towards zero would soon leave nothing there.
fn between(before: &Side, after: &Side) -> Option<Rank> {
    let (low, high) = (before.bound(0, U256::ZERO)?, after.bound(0, end() + 1)?);
    if high <= low + 1 {
        return None;
    }
    let last = before.rows.first();
    let next = last.map_or_else(Rank::first, |last| last.rank.next());
    if high > end() && number(next) > low {
        return Some(next);
    }
    let key = if low == U256::ZERO {
        high - step_down(high)
    } else {
        low + (high - low) / 2
    };
    Some(Rank(key - 1))
}

/// Returns the largest power of ten within a hundredth of the room below the first rank, so that
/// ranks stay short.
fn step_down(room: U256) -> U256 {
    let digits = (room / 100).max(U256::ONE).to_string().len();
    U256::new(10).pow(u32::try_from(digits).unwrap_or(u32::MAX) - 1)
}

/// Spreads ranks evenly over the item and its neighbours; `None` if they would be too close. At the
/// end of a list integers are enough, while there are any.
fn spread(low: U256, high: U256, before: &[Ranked], after: &[Ranked]) -> Option<Placement> {
    let intervals = U256::from(before.len() as u64 + after.len() as u64 + 2);
    let high = if high > end() {
        high.min(low + intervals * one())
    } else {
        high
    };
    let step = high.saturating_sub(low) / intervals;
    if step < U256::new(10).pow(20) {
        return None;
    }
    let rank = |n: usize| Rank(low + step * U256::from(n as u64) - 1);
    let item = before.len() + 1;
    let numbered = before
        .iter()
        .rev()
        .zip(1..)
        .chain(after.iter().zip(item + 1..));
    let moved = numbered.map(|(row, n)| Ranked {
        rank: rank(n),
        ..*row
    });
    Some(Placement {
        item: rank(item),
        neighbours: moved.collect(),
    })
}

#[cfg(test)]
mod tests;
