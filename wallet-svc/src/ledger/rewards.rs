//! What the system posts itself: bonuses, claw-backs and rewards, confirmed immediately and not
//! stopped by locks, so that no money is stuck.

use platform::money::Amount;

use super::{
    Create, LedgerError,
    bonus::OrderBonus,
    command::{BonusChange, Reward},
    transition::Transition,
};
use crate::{
    asset::model::AssetCode,
    transaction::{
        metadata::Metadata,
        model::{Notes, Sides, Status, TransactionType},
    },
    wallet::model::{BONUS, WalletId},
};

impl Transition<'_> {
    /// Brings the credit of an order's bonus to what was granted less what was revoked.
    pub(super) fn adjust_bonus(&mut self, change: &BonusChange) -> Result<(), LedgerError> {
        let known = self.bonus(change.key).cloned();
        let mut bonus = known.unwrap_or_else(|| OrderBonus::new(change, self.book.now));
        let difference = bonus.apply(change)?;
        if difference.is_negative() {
            let charged = self.claw_back(&bonus, -difference)?;
            bonus.add_debt((-difference).sub(charged)?)?;
        }
        let id = change.transaction;
        let reward = Reward {
            id: id.unwrap_or_else(|| self.book.ids.next()),
            wallet: bonus.wallet,
            asset: bonus.asset.clone(),
            amount: difference,
            metadata: order_metadata(&bonus, bonus.key.beneficiary.credit_reason()),
        };
        self.put_bonus(bonus);
        if difference.is_positive() {
            self.reward(&reward)?;
        }
        Ok(())
    }

    /// Credits a wallet from the bonus wallet, then settles what it owes out of that.
    pub(super) fn reward(&mut self, reward: &Reward) -> Result<(), LedgerError> {
        let sides = Sides {
            debit: BONUS,
            credit: reward.wallet,
        };
        self.post_internal(TransactionType::Deposit, sides, reward)?;
        let mut left = reward.amount;
        for mut debt in self.debts(reward.wallet, &reward.asset) {
            let paid = self.claw_back(&debt, debt.owed.min(left))?;
            debt.owed = debt.owed.sub(paid)?;
            left = left.sub(paid)?;
            self.put_bonus(debt);
        }
        Ok(())
    }

    /// Takes an order's bonus back as far as the wallet has it available; returns how much that was.
    fn claw_back(&mut self, bonus: &OrderBonus, due: Amount) -> Result<Amount, LedgerError> {
        let charged = due.min(self.available(bonus.wallet, &bonus.asset)?);
        if charged.is_positive() {
            let shortfall = due.sub(charged)?;
            let mut metadata = order_metadata(bonus, bonus.key.beneficiary.reversal_reason());
            if shortfall.is_positive() {
                metadata = metadata.with_text("bonusShortfall", &shortfall.to_string());
            }
            let charge = Reward {
                id: self.book.ids.next(),
                wallet: bonus.wallet,
                asset: bonus.asset.clone(),
                amount: charged,
                metadata,
            };
            let sides = Sides {
                debit: bonus.wallet,
                credit: BONUS,
            };
            self.post_internal(TransactionType::Withdrawal, sides, &charge)?;
        }
        Ok(charged)
    }

    fn post_internal(
        &mut self,
        kind: TransactionType,
        sides: Sides,
        reward: &Reward,
    ) -> Result<(), LedgerError> {
        let tx = self.new_transaction(&Create {
            id: reward.id,
            kind,
            code: "internal".to_owned(),
            asset: reward.asset.clone(),
            amount: reward.amount,
            sides,
            status: Status::Confirmed,
            notes: Notes::default(),
            metadata: reward.metadata.clone(),
            owner: None,
        });
        self.validate(&tx, true)?;
        self.begin(tx)
    }

    /// Returns the bonuses owed on an account, oldest first.
    fn debts(&self, wallet: WalletId, asset: &AssetCode) -> Vec<OrderBonus> {
        let is_owed = |bonus: &&OrderBonus| {
            bonus.wallet == wallet && bonus.asset == *asset && bonus.owed.is_positive()
        };
        let mut debts: Vec<_> = self.bonuses().filter(is_owed).cloned().collect();
        debts.sort_by_key(|bonus| (bonus.created_at, bonus.key));
        debts
    }
}

fn order_metadata(bonus: &OrderBonus, reason: &str) -> Metadata {
    Metadata::default()
        .with_text("reason", reason)
        .with_text("orderId", &bonus.key.order.to_string())
}
