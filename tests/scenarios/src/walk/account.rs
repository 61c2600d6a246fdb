//! The model of a buyer's wallet, in cents.

/// What a buyer has of the asset of orders and of that of bonuses.
#[derive(Debug, Clone, Copy)]
pub(super) struct Account {
    pub(super) usd: i64,
    pub(super) points: i64,
    /// Points that were taken back after the buyer had spent them. Later bonuses settle it first.
    pub(super) owed: i64,
}

impl Account {
    /// Credits a bonus.
    pub(super) fn grant(&mut self, points: i64) {
        let settled = self.owed.min(points);
        self.owed -= settled;
        self.points += points - settled;
    }

    /// Takes a bonus back as far as it is there, and records the rest as owed.
    pub(super) fn revoke(&mut self, points: i64) {
        let charged = self.points.min(points);
        self.points -= charged;
        self.owed += points - charged;
    }
}
