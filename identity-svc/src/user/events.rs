//! Events of users.

use platform::messaging::outbox::{Aggregate, Message};
use proto::events::v1;
use uuid::Uuid;

use super::model::{Action, User};
use crate::SCHEMA;

/// Creates `UserCreated`, with every flag: no consumer has to read the user.
pub(crate) fn created(event_id: Uuid, user: &User) -> Message {
    let body = v1::UserCreated {
        user_id: user.id.to_string(),
        version: user.version,
        primary_wallet_id: user.primary_wallet_id.to_string(),
        referral_user_id: user.referral_user_id.map(String::from).unwrap_or_default(),
        approved: user.approved,
        blocked: user.blocked,
        verified: user.verified,
    };
    Message::new(SCHEMA, event_id, "UserCreated", aggregate(user), &body)
}

/// Creates `UserApproved`, `UserBlocked` or `UserUnblocked`.
pub(crate) fn acted(event_id: Uuid, user: &User, action: Action) -> Message {
    let (user_id, version) = (user.id.to_string(), user.version);
    let aggregate = aggregate(user);
    match action {
        Action::Approve => {
            let body = v1::UserApproved { user_id, version };
            Message::new(SCHEMA, event_id, "UserApproved", aggregate, &body)
        }
        Action::Block => {
            let body = v1::UserBlocked { user_id, version };
            Message::new(SCHEMA, event_id, "UserBlocked", aggregate, &body)
        }
        Action::Unblock => {
            let body = v1::UserUnblocked { user_id, version };
            Message::new(SCHEMA, event_id, "UserUnblocked", aggregate, &body)
        }
    }
}

fn aggregate(user: &User) -> Aggregate {
    Aggregate {
        kind: "user",
        id: user.id.uuid(),
        version: user.version,
    }
}
