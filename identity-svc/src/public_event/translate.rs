//! Which public event an event between services becomes, and its data: ids, and amounts with 8 places.

use chrono::SecondsFormat;
use platform::clock;
use proto::events::v1 as events;
use serde_json::{Value, json};

use super::event_types;

/// An event that may become a public one.
pub(super) trait Translate: prost::Message + Default + 'static {
    /// Returns type and data; `None` for what clients are not told.
    fn translate(self) -> Option<(&'static str, Value)>;

    /// Returns the type of another public event that the event implies, that comes before, and that has the same
    /// data.
    fn before(&self) -> Option<&'static str> {
        None
    }
}

/// Returns a text, or null where it is empty.
fn or_null(text: String) -> Value {
    if text.is_empty() {
        Value::Null
    } else {
        text.into()
    }
}

fn time(time: Option<prost_types::Timestamp>) -> Value {
    let time = time.as_ref().and_then(clock::from_proto);
    time.map_or(Value::Null, |time| {
        time.to_rfc3339_opts(SecondsFormat::Millis, true).into()
    })
}

fn amounts(amounts: Vec<events::RefundedAmount>) -> Value {
    let amounts = amounts.into_iter();
    amounts
        .map(|refunded| json!({"amount": refunded.amount, "assetCode": refunded.asset_code}))
        .collect()
}

impl Translate for events::OrderPlaced {
    fn translate(self) -> Option<(&'static str, Value)> {
        let data = json!({
            "orderId": self.order_id,
            "userId": self.user_id,
            "amount": self.amount,
            "assetCode": self.asset_code,
        });
        Some(("store.order.created", data))
    }
}

impl Translate for events::OrderPaid {
    fn translate(self) -> Option<(&'static str, Value)> {
        let data = json!({
            "orderId": self.order_id,
            "userId": self.user_id,
            "amount": self.amount,
            "assetCode": self.asset_code,
            "bonus": self.bonus,
            "bonusAssetCode": or_null(self.bonus_asset_code),
            "paidAt": time(self.paid_at),
        });
        Some(("store.order.paid", data))
    }
}

impl Translate for events::OrderFulfilled {
    fn translate(self) -> Option<(&'static str, Value)> {
        let data = json!({
            "orderId": self.order_id,
            "userId": self.user_id,
            "fulfilledAt": time(self.fulfilled_at),
        });
        Some(("store.order.fulfilled", data))
    }
}

impl Translate for events::OrderCanceled {
    fn translate(self) -> Option<(&'static str, Value)> {
        let data = json!({
            "orderId": self.order_id,
            "userId": self.user_id,
            "amount": self.amount,
            "refundedAmount": self.refunded_amount,
            "assetCode": self.asset_code,
            "refunded": amounts(self.refunded),
        });
        Some(("store.order.canceled", data))
    }
}

impl Translate for events::OrderRefunded {
    fn translate(self) -> Option<(&'static str, Value)> {
        let data = json!({
            "orderId": self.order_id,
            "userId": self.user_id,
            "amount": self.amount,
            "refundedAmount": self.refunded_amount,
            "assetCode": self.asset_code,
            "refunded": amounts(self.refunded),
            "transactionIds": self.transaction_ids,
        });
        Some(("store.order.refunded", data))
    }
}

fn transaction_type(
    transaction: &events::TransactionSummary,
    happened: &str,
) -> Option<&'static str> {
    event_types::find(&format!("transaction.{}.{happened}", transaction.r#type))
}

/// Translates an event of a transaction, whose type is a part of the public one.
fn transaction(
    transaction: Option<events::TransactionSummary>,
    happened: &str,
) -> Option<(&'static str, Value)> {
    let it = transaction?;
    let event_type = transaction_type(&it, happened)?;
    let data = json!({
        "transactionId": it.transaction_id,
        "type": it.r#type,
        "code": it.code,
        "amount": it.amount,
        "assetCode": it.asset_code,
        "originWalletId": or_null(it.origin_wallet_id),
        "destinationWalletId": or_null(it.destination_wallet_id),
        "orderId": or_null(it.order_id),
    });
    Some((event_type, data))
}

impl Translate for events::TransactionConfirmed {
    fn translate(self) -> Option<(&'static str, Value)> {
        transaction(self.transaction, "confirmed")
    }

    fn before(&self) -> Option<&'static str> {
        let created = self.transaction.as_ref().filter(|_| self.created);
        transaction_type(created?, "created")
    }
}

/// Implements the trait for another event of transactions.
macro_rules! transactions {
    ($($Event:ident: $happened:literal;)+) => {
        $(impl Translate for events::$Event {
            fn translate(self) -> Option<(&'static str, Value)> {
                transaction(self.transaction, $happened)
            }
        })+
    };
}

transactions! {
    TransactionCreated: "created";
    TransactionApproved: "approved";
    TransactionFailed: "failed";
    TransactionRejected: "rejected";
}

impl Translate for events::UserCreated {
    fn translate(self) -> Option<(&'static str, Value)> {
        let data = json!({
            "userId": self.user_id,
            "primaryWalletId": self.primary_wallet_id,
            "referralUserId": or_null(self.referral_user_id),
            "approved": self.approved,
            "blocked": self.blocked,
            "verified": self.verified,
        });
        Some(("user.user.created", data))
    }
}

impl Translate for events::UserApproved {
    fn translate(self) -> Option<(&'static str, Value)> {
        Some(("user.user.approved", json!({"userId": self.user_id})))
    }
}

impl Translate for events::UserBlocked {
    fn translate(self) -> Option<(&'static str, Value)> {
        Some(("user.user.blocked", json!({"userId": self.user_id})))
    }
}

impl Translate for events::TaskCompleted {
    fn translate(self) -> Option<(&'static str, Value)> {
        let data = json!({
            "completionId": self.completion_id,
            "taskId": self.task_id,
            "userId": self.user_id,
            "walletId": self.wallet_id,
            "amount": self.amount,
            "assetCode": self.asset_code,
            "transactionId": self.transaction_id,
        });
        Some(("task.task.completed", data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_becomes_the_event_of_its_type() {
        let of = |kind: &str| {
            let transaction = Some(events::TransactionSummary {
                transaction_id: "t".to_owned(),
                r#type: kind.to_owned(),
                amount: "1.00000000".to_owned(),
                destination_wallet_id: "w".to_owned(),
                ..Default::default()
            });
            events::TransactionConfirmed {
                transaction,
                created: true,
            }
        };
        let deposit = of("deposit");
        assert_eq!(deposit.before(), Some("transaction.deposit.created"));
        let (event_type, data) = deposit.translate().unwrap();
        assert_eq!(event_type, "transaction.deposit.confirmed");
        assert_eq!(data["amount"], "1.00000000");
        assert_eq!(data["originWalletId"], Value::Null);
        assert_eq!(data["destinationWalletId"], "w");
        assert_eq!(of("exchange").before(), None);
        assert_eq!(of("exchange").translate(), None);
        let confirmed_later = events::TransactionConfirmed {
            created: false,
            ..of("deposit")
        };
        assert_eq!(confirmed_later.before(), None);
        assert_eq!(events::TransactionFailed::default().translate(), None);
    }

    #[test]
    fn every_translation_has_a_known_type() {
        let types = [
            events::OrderPlaced::default().translate(),
            events::OrderPaid::default().translate(),
            events::OrderFulfilled::default().translate(),
            events::OrderCanceled::default().translate(),
            events::OrderRefunded::default().translate(),
            events::UserCreated::default().translate(),
            events::UserApproved::default().translate(),
            events::UserBlocked::default().translate(),
            events::TaskCompleted::default().translate(),
        ];
        for translated in types {
            let (event_type, _) = translated.unwrap();
            assert_eq!(event_types::find(event_type), Some(event_type));
        }
    }

    #[test]
    fn a_refund_names_what_was_refunded() {
        let refunded = events::OrderRefunded {
            refunded: vec![events::RefundedAmount {
                amount: "2.50000000".to_owned(),
                asset_code: "usd".to_owned(),
            }],
            ..Default::default()
        };
        let (_, data) = refunded.translate().unwrap();
        assert_eq!(
            data["refunded"],
            json!([{"amount": "2.50000000", "assetCode": "usd"}])
        );
    }
}
