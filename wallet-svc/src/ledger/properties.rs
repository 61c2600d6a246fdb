//! Property tests over random sequences of commands: a batch decides like one command at a time,
//! nothing is overdrawn, sums are zero, a repeat changes nothing.

mod commands;
mod store;

use chrono::{DateTime, TimeDelta, Utc};
use platform::{
    ids::{Id, Ids},
    money::Amount,
};
use proptest::prelude::*;
use uuid::Uuid;

use self::{
    commands::{commands, create},
    store::Store,
};
use super::{
    AccountKey, Advance, Beneficiary, BonusChange, BonusKey, Command, Create, EndHold, Exchange,
    Leg, Mode, Operation, Refund, RefundPart, Reward,
};
use crate::{
    asset::model::AssetCode,
    transaction::{
        metadata::Metadata,
        model::{Action, Notes, Sides, Status, TransactionType},
    },
    wallet::model::{EXTERNAL, WalletId},
};

fn id<T>(n: u128) -> Id<T> {
    Id::new(Uuid::from_u128(n))
}

fn start() -> DateTime<Utc> {
    DateTime::UNIX_EPOCH + TimeDelta::days(20_000)
}

fn wallet(n: u8) -> WalletId {
    id(1_000 + u128::from(n))
}

fn bonus_key(n: u128, beneficiary: Beneficiary) -> BonusKey {
    BonusKey {
        order: id(20_000 + n),
        beneficiary,
    }
}

fn usd() -> AssetCode {
    AssetCode::stored("usd")
}

fn eur() -> AssetCode {
    AssetCode::stored("eur")
}

fn cents(n: i64) -> Amount {
    Amount::from_units(i128::from(n) * 1_000_000).unwrap()
}

proptest! {
    #[test]
    fn a_batch_decides_like_one_command_at_a_time(commands in commands(), split in 1..8_usize) {
        let (mut batched, mut single) = (Store::default(), Store::default());
        let (ids, same_ids) = (Ids::seeded(1), Ids::seeded(1));
        for batch in commands.chunks(split) {
            let together = batched.post(&ids, batch);
            let one_by_one: Vec<_> = batch
                .iter()
                .flat_map(|command| single.post(&same_ids, std::slice::from_ref(command)))
                .collect();
            // A rejected command may have used up ids, and did so on both sides.
            prop_assert_eq!(together, one_by_one);
            prop_assert_eq!(&batched, &single);
            batched.check();
        }
    }

    #[test]
    fn a_repeat_changes_nothing(commands in commands()) {
        let ids = Ids::seeded(2);
        let mut store = Store::default();
        for command in &commands {
            let first = store.post(&ids, std::slice::from_ref(command)).remove(0);
            let is_once = !matches!(
                command,
                Command::Create(_) | Command::Exchange(_) | Command::Advance(_) | Command::Bonus(_)
            );
            if is_once && first.is_ok() {
                let book = store.load(&ids);
                let mut again = store.load(&ids);
                let repeated = again.decide(command);
                prop_assert_eq!(repeated, first);
                prop_assert!(again.changes.is_empty());
                prop_assert_eq!(again.accounts, book.accounts);
            }
        }
        store.check();
    }

    /// Writes without locks rely on it: a change of a wallet shows in the versions of its balances.
    #[test]
    fn each_named_wallet_has_a_changed_balance(commands in commands()) {
        let ids = Ids::seeded(5);
        let mut store = Store::default();
        for command in &commands {
            let mut book = store.load(&ids);
            let named = command.wallets(&book);
            let is_new = matches!(
                command,
                Command::Create(_) | Command::Post(_) | Command::Exchange(_)
            );
            if book.decide(command).is_ok() && is_new && !book.changes.is_empty() {
                for wallet in named.iter().filter(|wallet| !book.wallets[wallet].system) {
                    prop_assert!(book.changes.accounts.iter().any(|key| key.wallet == *wallet));
                }
            }
            store.write(book);
        }
    }

    #[test]
    fn a_reward_that_settles_a_debt_returns_the_same_as_its_repeat(owed in 1..500_i64, reward in 1..500_i64) {
        let bonus = |granted, revoked| Command::Bonus(BonusChange {
            key: bonus_key(0, Beneficiary::Buyer),
            wallet: wallet(0),
            asset: usd(),
            granted,
            revoked,
            transaction: None,
        });
        let reward = Command::Reward(Reward {
            id: id(30_000),
            wallet: wallet(0),
            asset: usd(),
            amount: cents(reward),
            metadata: Metadata::default(),
        });
        let spend = create(1, 1, 0, 1, owed, 2);
        let ids = Ids::seeded(4);
        let mut store = Store::default();
        let grant = bonus(Some(cents(owed)), None);
        let revoke = bonus(None, Some(cents(owed)));
        for result in store.post(&ids, &[grant, spend, revoke]) {
            prop_assert!(result.is_ok());
        }
        let first = store.post(&ids, std::slice::from_ref(&reward)).remove(0);
        prop_assert!(store.bonuses[&bonus_key(0, Beneficiary::Buyer)].owed < cents(owed));
        prop_assert_eq!(first.as_ref().map(Vec::len), Ok(1));
        prop_assert_eq!(store.post(&ids, &[reward]).remove(0), first);
        store.check();
    }

    #[test]
    fn the_order_of_grant_and_revocation_does_not_matter(
        granted in 1..500_i64,
        revoked in 1..500_i64,
    ) {
        let change = |granted: Option<i64>, revoked: Option<i64>| Command::Bonus(BonusChange {
            key: bonus_key(0, Beneficiary::Buyer),
            wallet: wallet(0),
            asset: usd(),
            granted: granted.map(cents),
            revoked: revoked.map(cents),
            transaction: None,
        });
        let (grant, revoke) = (change(Some(granted), None), change(None, Some(revoked)));
        let left = |order: &[Command]| {
            let mut store = Store::default();
            store.post(&Ids::seeded(3), order);
            store.check();
            let account = store.accounts.get(&AccountKey::new(wallet(0), &usd()));
            account.map_or(Amount::ZERO, |account| account.amount)
        };
        let expected = cents((granted - revoked).max(0));
        prop_assert_eq!(left(&[grant.clone(), revoke.clone()]), expected);
        prop_assert_eq!(left(&[revoke, grant]), expected);
    }
}
