//! How long a ledger's history is: its sizes, and the transfers of which each size consists.

use std::ops::RangeInclusive;

use anyhow::ensure;

/// The length of the whole history.
const DAYS: u64 = 180;
const MILLIS_PER_DAY: u64 = 24 * 60 * 60 * 1_000;
/// Transfers that are written in one transaction of Postgres.
const SLICE: u32 = 250_000;
/// A transfer has a debit and a credit, and so has the deposit of each wallet.
const MOVEMENTS: u32 = 2;

/// The history of a ledger, from the deposits on.
#[derive(Debug, Clone)]
pub struct History {
    deposits: u32,
    sizes: Vec<u32>,
}

impl History {
    /// Makes the history of so many wallets, which has each of these numbers of movements in turn.
    pub fn new(wallets: u32, sizes: &[u32]) -> anyhow::Result<Self> {
        let deposits = wallets * MOVEMENTS;
        let is_ascending = sizes.windows(2).all(|pair| pair[0] < pair[1]);
        ensure!(
            is_ascending,
            "each --movements has to be more than the one before"
        );
        let first = sizes.first().copied().unwrap_or_default();
        ensure!(
            first >= deposits + MOVEMENTS,
            "{first} --movements are too few: the deposits of {wallets} --wallets alone are {deposits}"
        );
        Ok(Self {
            deposits,
            sizes: sizes.to_vec(),
        })
    }

    /// Returns the sizes in movements, in ascending order.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns how many transfers a history of this size has.
    pub const fn transfers(&self, size: u32) -> u32 {
        size.saturating_sub(self.deposits) / MOVEMENTS
    }

    /// Returns the numbers of the transfers between two sizes, in slices.
    pub fn slices(&self, from: u32, to: u32) -> impl Iterator<Item = RangeInclusive<u32>> {
        let [from, to] = [from, to].map(|size| self.transfers(size));
        let starts = (from + 1..=to).step_by(SLICE as usize);
        starts.map(move |first| first..=to.min(first + (SLICE - 1)))
    }

    /// Returns the milliseconds between two transfers: the last size ends now.
    pub fn interval_millis(&self) -> u64 {
        let last = self.sizes.last().copied().unwrap_or_default();
        DAYS * MILLIS_PER_DAY / (u64::from(self.transfers(last)) + 1)
    }

    /// Returns the milliseconds from the deposits until the last transfer of a size.
    pub fn length_millis(&self, size: u32) -> u64 {
        u64::from(self.transfers(size)) * self.interval_millis()
    }

    /// Returns when the history begins, as an expression in SQL, if it ends at this one.
    pub fn began_at(ends_at: &str) -> String {
        format!("({ends_at} - interval '{DAYS} days')")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_ascend_and_hold_the_deposits() {
        for sizes in [&[][..], &[20, 20], &[30, 20], &[10], &[11]] {
            assert!(History::new(5, sizes).is_err(), "{sizes:?}");
        }
        assert!(History::new(5, &[12, 20]).is_ok());
    }

    #[test]
    fn a_size_has_its_movements() {
        let history = History::new(5, &[12, 21, 40]).unwrap();
        let transfers = history.sizes().iter().map(|size| history.transfers(*size));
        assert_eq!(transfers.collect::<Vec<_>>(), [1, 5, 15]);
    }

    #[test]
    fn slices_are_the_transfers_between_two_sizes() {
        let history = History::new(5, &[12, 40, 1_000_000]).unwrap();
        let slices = |from, to| history.slices(from, to).collect::<Vec<_>>();
        assert_eq!(slices(0, 12), [1..=1]);
        assert_eq!(slices(12, 40), [2..=15]);
        assert_eq!(slices(40, 1_000_000), [16..=250_015, 250_016..=499_995]);
        assert!(slices(40, 40).is_empty());
    }

    #[test]
    fn the_history_ends_before_now_and_has_a_time_for_each_transfer() {
        let days = DAYS * MILLIS_PER_DAY;
        for largest in [12, 10_000, 100_000_000] {
            let history = History::new(5, &[largest]).unwrap();
            assert!(history.interval_millis() > 0);
            assert!(history.length_millis(largest) < days, "{largest}");
            assert!(history.length_millis(largest) >= days / 3, "{largest}");
        }
    }
}
