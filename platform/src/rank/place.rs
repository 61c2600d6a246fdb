//! Where an item that moves gets its key: between its new neighbours, or, where no key lies between
//! them, among some that get new keys with it.

use ethnum::U256;

use super::{Rank, end};

/// The items on one side of a place, nearest first, as many as were looked up.
#[derive(Debug, Clone)]
pub struct Side {
    /// Their keys, without that of the item that moves.
    pub keys: Vec<Rank>,
    /// Whether the list has no more of them.
    pub complete: bool,
}

/// What a move writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// The item gets this key, and nothing else changes.
    Between(Rank),
    /// The nearest items on both sides, nearest first, get new keys together with the item.
    Respaced {
        /// Of those before.
        before: Vec<Rank>,
        /// Of the item.
        item: Rank,
        /// Of those after.
        after: Vec<Rank>,
    },
    /// It takes more neighbours than were looked up.
    Unknown,
}

/// Finds the key of a place.
///
/// Re-spacing takes the smallest neighbourhood, doubled each time, that leaves room for 66 halvings
/// between any two keys, so that its cost is spread over as many moves. Equal keys next to the place
/// are re-spaced as far as they were looked up: they say nothing of the order they stand for.
pub fn place(before: &Side, after: &Side) -> Placement {
    let equal = (ties(&before.keys), ties(&after.keys));
    let bounds = (low(before, 0), high(after, 0));
    if let (Some(low), Some(high)) = bounds {
        let tied = [equal.0, equal.1].into_iter().any(|ties| ties > 0);
        if let Some(key) = between(low, high, before.keys.first())
            && !(tied && resolvable(before, equal.0) && resolvable(after, equal.1))
        {
            return Placement::Between(key);
        }
    }
    respace(before, after, equal)
}

/// How many of the nearest keys are one key, if more than one is.
fn ties(keys: &[Rank]) -> usize {
    let same = keys.iter().take_while(|key| Some(*key) == keys.first());
    match same.count() {
        1 => 0,
        ties => ties,
    }
}

/// Whether the end of a run of equal keys is in sight.
fn resolvable(side: &Side, ties: usize) -> bool {
    ties < side.keys.len() || side.complete
}

/// Keys count from 1 here, so that there is something below the least.
fn number(rank: Rank) -> U256 {
    rank.0 + 1
}

/// The key that stays below `taken` keys that get new ones; `None` if it was not looked up.
fn low(side: &Side, taken: usize) -> Option<U256> {
    let bound = side.keys.get(taken).copied().map(number);
    bound.or(side.complete.then_some(U256::ZERO))
}

fn high(side: &Side, taken: usize) -> Option<U256> {
    let bound = side.keys.get(taken).copied().map(number);
    bound.or_else(|| side.complete.then(|| end() + 1))
}

/// A key between two: the next integer at the end of a list, a small step down at its start, else
/// the middle. Halving towards zero would soon leave nothing there.
fn between(low: U256, high: U256, last: Option<&Rank>) -> Option<Rank> {
    if high <= low || high - low < 2 {
        return None;
    }
    if high > end() {
        let next = last.map_or_else(Rank::first, |last| last.next());
        if number(next) > low {
            return Some(next);
        }
    }
    let key = if low == U256::ZERO {
        high - step_down(high)
    } else {
        low + (high - low) / 2
    };
    Some(Rank(key - 1))
}

/// The largest power of ten within a hundredth of the room below the first key, so that keys stay
/// short.
fn step_down(room: U256) -> U256 {
    let digits = (room / 100).max(U256::ONE).to_string().len();
    U256::new(10).pow(u32::try_from(digits).unwrap_or(u32::MAX) - 1)
}

/// The least distance of re-spaced keys.
fn spacing() -> U256 {
    U256::new(10).pow(20)
}

/// At the end of a list integers are enough, while there are any.
fn low_end(low: U256, high: U256, items: usize) -> U256 {
    let integers = low + (U256::from(items as u64) + 1) * Rank::first().0;
    if high > end() {
        high.min(integers)
    } else {
        high
    }
}

fn respace(before: &Side, after: &Side, ties: (usize, usize)) -> Placement {
    let mut reach = 1;
    loop {
        let most = (before.keys.len(), after.keys.len());
        let taken = (reach.max(ties.0).min(most.0), reach.max(ties.1).min(most.1));
        let (Some(low), Some(high)) = (low(before, taken.0), high(after, taken.1)) else {
            return Placement::Unknown;
        };
        let items = taken.0 + 1 + taken.1;
        let high = low_end(low, high, items);
        let step = high.saturating_sub(low) / U256::from(items as u64 + 1);
        if step >= spacing() {
            let nth = |n: usize| Rank(low + step * U256::from(n as u64) - 1);
            return Placement::Respaced {
                before: (1..=taken.0).rev().map(nth).collect(),
                item: nth(taken.0 + 1),
                after: (taken.0 + 2..=items).map(nth).collect(),
            };
        }
        if taken == most && before.complete && after.complete {
            // A whole list always has room: 10^60 units are for fewer than 10^39 items.
            unreachable!("a list of {items} items fills the range of its keys");
        }
        reach *= 2;
    }
}

#[cfg(test)]
mod tests;
