//! A balance as it is read, under locks or not.

use chrono::{DateTime, Utc};
use platform::money::{Amount, DecimalPlaces};

use crate::{
    asset::model::AssetCode,
    ledger::{Account, AccountKey, AssetState, Book},
    wallet::model::WalletId,
};

/// A balance and its asset, as the queries of this folder return them.
pub(super) struct BalanceRow {
    pub wallet_id: WalletId,
    pub asset_code: String,
    pub amount: Amount,
    pub held: Amount,
    pub incoming: Amount,
    pub sequence: i64,
    pub moved_at: DateTime<Utc>,
    pub system: bool,
    pub version: i64,
    pub enabled: bool,
    pub decimal_places: DecimalPlaces,
    pub asset_version: i64,
    /// The database's clock.
    pub read_at: DateTime<Utc>,
}

impl BalanceRow {
    /// Adds the balance and its asset to the book, whose time is no earlier than the balance's.
    pub(super) fn apply_to(self, book: &mut Book) {
        book.now = book.now.max(self.moved_at);
        let code = AssetCode::stored(&self.asset_code);
        let key = AccountKey::new(self.wallet_id, &code);
        let account = Account {
            key: key.clone(),
            amount: self.amount,
            held: self.held,
            incoming: self.incoming,
            sequence: self.sequence,
            moved_at: self.moved_at,
            system: self.system,
            version: self.version,
        };
        book.accounts.insert(key, account);
        let asset = AssetState {
            enabled: self.enabled,
            decimal_places: self.decimal_places,
            version: self.asset_version,
        };
        book.assets.entry(code).or_insert(asset);
    }
}
