//! Random commands on few wallets and few ids, so that they interact.

use super::*;

pub(super) fn create(n: u8, kind: u8, from: u8, to: u8, amount: i64, status: u8) -> Command {
    let (from, to) = (wallet(from), wallet(to));
    let (kind, debit, credit) = match kind {
        0 => (TransactionType::Deposit, EXTERNAL, to),
        1 => (TransactionType::Withdrawal, from, EXTERNAL),
        _ => (TransactionType::Transfer, from, to),
    };
    Command::Create(Create {
        id: id(5_000 + u128::from(n)),
        kind,
        code: "internal".to_owned(),
        asset: usd(),
        amount: cents(amount),
        sides: Sides { debit, credit },
        status: [Status::Pending, Status::Processing, Status::Confirmed][usize::from(status)],
        notes: Notes::default(),
        metadata: Metadata::default(),
        owner: None,
    })
}

fn operation(n: u8, holds: bool, legs: Vec<(u8, u8, i64)>) -> Command {
    let leg = |(index, (from, to, amount)): (u128, (u8, u8, i64))| Leg {
        id: id(10_000 + u128::from(n) * 10 + index),
        code: "pay".to_owned(),
        asset: usd(),
        amount: cents(amount),
        sides: Sides {
            debit: wallet(from),
            credit: wallet(to),
        },
        description: None,
        metadata: Metadata::default(),
        returns_money: amount % 2 == 0,
    };
    Command::Post(Operation {
        id: format!("operation {n}"),
        legs: (0..).zip(legs).map(leg).collect(),
        mode: if holds { Mode::Hold } else { Mode::Post },
        not_after: None,
    })
}

fn exchange(n: u8, wallet: u8, base: i64, quote: i64) -> Command {
    let Command::Create(mut create) = create(n, 2, wallet, wallet, base, 2) else {
        unreachable!("create makes a creation")
    };
    create.kind = TransactionType::Exchange;
    Command::Exchange(Exchange {
        base: create,
        quote_asset: eur(),
        quote_amount: cents(quote),
    })
}

fn refund(n: u8, of: u8, parts: Vec<(i32, i64)>) -> Command {
    Command::Refund(Refund {
        id: format!("refund {n}"),
        of: format!("operation {of}"),
        parts: parts
            .into_iter()
            .map(|(index, amount)| RefundPart {
                index,
                amount: cents(amount),
            })
            .collect(),
        description: None,
        metadata: Metadata::default(),
    })
}

fn any_command() -> impl Strategy<Value = Command> {
    let amount = || 1..500_i64;
    let action = prop_oneof![
        Just(Action::Approve),
        Just(Action::Confirm),
        Just(Action::Fail),
        Just(Action::Reject)
    ];
    let leg = (0..4_u8, 0..4_u8, amount());
    prop_oneof![
        4 => (any::<u8>(), 0..3_u8, 0..4_u8, 0..4_u8, amount(), 0..3_u8)
            .prop_map(|(n, kind, from, to, amount, status)| create(n, kind, from, to, amount, status)),
        3 => (any::<u8>(), action).prop_map(|(n, action)| {
            Command::Advance(Advance { id: id(5_000 + u128::from(n)), action, reason: None })
        }),
        2 => (0..8_u8, any::<bool>(), prop::collection::vec(leg, 1..4))
            .prop_map(|(n, holds, legs)| operation(n, holds, legs)),
        2 => (0..8_u8, any::<bool>()).prop_map(|(n, captures)| Command::EndHold(EndHold {
            operation: format!("operation {n}"),
            action: if captures { Action::Confirm } else { Action::Fail },
        })),
        2 => (0..4_u8, 0..8_u8, prop::collection::vec((0..3_i32, amount()), 0..3))
            .prop_map(|(n, of, parts)| refund(n, of, parts)),
        1 => (any::<u8>(), 0..4_u8, amount(), amount())
            .prop_map(|(n, wallet, base, quote)| exchange(n, wallet, base, quote)),
        2 => (0..8_u8, prop::option::of(amount()), prop::option::of(amount())).prop_map(
            |(n, granted, revoked)| Command::Bonus(BonusChange {
                key: bonus_key(u128::from(n / 2), [Beneficiary::Buyer, Beneficiary::Referrer][usize::from(n % 2)]),
                wallet: wallet(n / 2),
                asset: usd(),
                granted: granted.map(cents),
                revoked: revoked.map(cents),
                transaction: None,
            })
        ),
        1 => (0..4_u8, amount()).prop_map(|(n, amount)| Command::Reward(Reward {
            id: id(30_000 + u128::from(n)),
            wallet: wallet(n),
            asset: usd(),
            amount: cents(amount),
            metadata: Metadata::default(),
        })),
    ]
}

/// Generates sequences of commands in which ids of new transactions are unique.
pub(super) fn commands() -> impl Strategy<Value = Vec<Command>> {
    prop::collection::vec(any_command(), 1..40).prop_map(|mut commands| {
        let mut made = std::collections::HashSet::new();
        commands.retain(|command| match command {
            Command::Create(create) => made.insert(create.id),
            Command::Exchange(exchange) => made.insert(exchange.base.id),
            _ => true,
        });
        commands
    })
}
