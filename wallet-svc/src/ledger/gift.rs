//! What the system posts itself: bonuses, claw-backs and rewards, confirmed at once and passing
//! locks, so that no money is stuck.

use platform::money::Amount;

use super::{
    Create, Refusal,
    bonus::OrderBonus,
    command::{BonusChange, Reward},
    draft::Draft,
};
use crate::{
    asset::model::AssetCode,
    transaction::{
        metadata::Metadata,
        model::{Notes, Sides, Status, TransactionType},
    },
    wallet::model::{BONUS, WalletId},
};

impl Draft<'_> {
    /// Brings an order's credit to what was granted less what was revoked.
    pub(super) fn adjust_bonus(&mut self, change: &BonusChange) -> Result<(), Refusal> {
        let known = self.bonus(change.order).cloned();
        let mut bonus = known.unwrap_or_else(|| OrderBonus::new(change, self.book.now));
        let difference = bonus.learn(change)?;
        if difference.is_negative() {
            let (_, short) = self.charge(&bonus, -difference)?;
            bonus.owe(short)?;
        }
        let gift = Reward {
            id: self.book.ids.next(),
            wallet: bonus.wallet,
            asset: bonus.asset.clone(),
            amount: difference,
            metadata: about_order(&bonus, "bonus"),
        };
        self.keep_bonus(bonus);
        if difference.is_positive() {
            self.reward(&gift)?;
        }
        Ok(())
    }

    /// Credits a wallet from the bonus wallet, then settles what it owes out of that.
    pub(super) fn reward(&mut self, gift: &Reward) -> Result<(), Refusal> {
        let sides = Sides {
            debit: BONUS,
            credit: gift.wallet,
        };
        self.internal(TransactionType::Deposit, sides, gift)?;
        let mut left = gift.amount;
        for mut debt in self.debts(gift.wallet, &gift.asset) {
            let (paid, _) = self.charge(&debt, debt.owed.min(left))?;
            debt.owed = debt.owed.sub(paid)?;
            left = left.sub(paid)?;
            self.keep_bonus(debt);
        }
        Ok(())
    }

    /// Takes an order's bonus back as far as the wallet holds it: what was taken, and what was not.
    fn charge(&mut self, bonus: &OrderBonus, due: Amount) -> Result<(Amount, Amount), Refusal> {
        let account = self.account(bonus.wallet, &bonus.asset)?;
        let charged = due.min(account.available());
        let short = due.sub(charged)?;
        if charged.is_positive() {
            let mut metadata = about_order(bonus, "bonus_reversal");
            if short.is_positive() {
                metadata = metadata.with_text("bonusShortfall", &short.to_string());
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
            self.internal(TransactionType::Withdrawal, sides, &charge)?;
        }
        Ok((charged, short))
    }

    fn internal(
        &mut self,
        kind: TransactionType,
        sides: Sides,
        what: &Reward,
    ) -> Result<(), Refusal> {
        let tx = self.transaction(&Create {
            id: what.id,
            kind,
            code: "internal".to_owned(),
            asset: what.asset.clone(),
            amount: what.amount,
            sides,
            status: Status::Confirmed,
            notes: Notes::default(),
            metadata: what.metadata.clone(),
            owner: None,
        });
        self.admit(&tx, true)?;
        self.begin(tx)
    }

    /// The bonuses owed on an account, oldest first.
    fn debts(&self, wallet: WalletId, asset: &AssetCode) -> Vec<OrderBonus> {
        let owed = |bonus: &&OrderBonus| {
            bonus.wallet == wallet && bonus.asset == *asset && bonus.owed.is_positive()
        };
        let mut debts: Vec<_> = self.bonuses().filter(owed).cloned().collect();
        debts.sort_by_key(|bonus| (bonus.created_at, bonus.order));
        debts
    }
}

fn about_order(bonus: &OrderBonus, reason: &str) -> Metadata {
    Metadata::default()
        .with_text("reason", reason)
        .with_text("orderId", &bonus.order.to_string())
}
