//! Claims: names, directions, and the stored form.

use super::*;
use crate::order::model::{Action, Claim, Intent, Refund, TransferDirection, claim::sums_by};

fn leg(asset_code: &str, paid: &str) -> Leg {
    Leg {
        asset_code: asset_code.into(),
        ..order_of("10")
            .order
            .payment_leg(Ids::seeded(5).next(), amount(paid))
    }
}

fn refund(legs: Vec<Leg>) -> Refund {
    Refund {
        legs,
        rounded_off: Vec::new(),
        lines: Vec::new(),
        amount: amount("7"),
        bonus_revoked: amount("0.5"),
        reason: Some("[]".into()),
    }
}

#[test]
fn actions_know_their_name_direction_and_field() {
    let legs = vec![leg("usd", "10")];
    for (action, name, direction, field) in [
        (
            Action::PlaceAndCharge(legs.clone()),
            "create",
            TransferDirection::Payment,
            "walletId",
        ),
        (
            Action::Charge(legs.clone()),
            "pay",
            TransferDirection::Payment,
            "walletId",
        ),
        (
            Action::Cancel(refund(legs.clone())),
            "cancel",
            TransferDirection::Refund,
            "refundAmount",
        ),
    ] {
        assert_eq!(action.name(), name);
        assert_eq!(action.direction(), direction);
        assert_eq!(action.field(), field);
        assert_eq!(action.legs(), legs);
    }
}

#[test]
fn an_operation_id_names_order_action_and_sequence() {
    let order_id = Ids::seeded(5).next();
    let claim = Claim {
        order_id,
        sequence: 3,
        intent: Intent {
            default_wallet_id: Ids::seeded(6).next(),
            actor: "user:ann".to_owned(),
            action: Action::Charge(Vec::new()),
        },
        idempotency_scope: None,
    };
    assert_eq!(claim.operation_id(), format!("order:{order_id}:pay:3"));
}

#[test]
fn a_stored_intent_reads_back() {
    for action in [
        Action::PlaceAndCharge(vec![leg("usd", "10")]),
        Action::Charge(vec![Leg {
            order_amount: Some(amount("3")),
            ..leg("points", "100")
        }]),
        Action::Cancel(refund(vec![Leg {
            refunded_payment: Some(Ids::seeded(8).next()),
            ..leg("usd", "7")
        }])),
    ] {
        let intent = Intent {
            default_wallet_id: Ids::seeded(6).next(),
            actor: "user:ann".to_owned(),
            action,
        };
        let stored = serde_json::to_string(&intent).unwrap();
        assert_eq!(serde_json::from_str::<Intent>(&stored).unwrap(), intent);
    }
}

#[test]
fn a_cancellation_sums_its_refunds_by_asset() {
    let refunded = refund(vec![leg("usd", "1"), leg("points", "5"), leg("usd", "2")])
        .refunded()
        .unwrap();
    let refunded: Vec<_> = refunded.into_iter().collect();
    let expected = [
        ("points".to_owned(), amount("5")),
        ("usd".to_owned(), amount("3")),
    ];
    assert_eq!(refunded, expected);
}

#[test]
fn a_sum_out_of_range_is_an_error() {
    let legs = vec![leg("usd", "99999999999999999999"); 2];
    assert!(sums_by(&legs, |leg| leg.wallet_id).is_err());
}
