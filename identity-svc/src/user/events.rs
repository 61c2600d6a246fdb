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
    message(event_id, user, "UserCreated", &body)
}

/// Creates `UserApproved`, `UserBlocked` or `UserUnblocked`.
pub(crate) fn acted(event_id: Uuid, user: &User, action: Action) -> Message {
    let (user_id, version) = (user.id.to_string(), user.version);
    match action {
        Action::Approve => {
            let body = v1::UserApproved { user_id, version };
            message(event_id, user, "UserApproved", &body)
        }
        Action::Block => {
            let body = v1::UserBlocked { user_id, version };
            message(event_id, user, "UserBlocked", &body)
        }
        Action::Unblock => {
            let body = v1::UserUnblocked { user_id, version };
            message(event_id, user, "UserUnblocked", &body)
        }
    }
}

pub(crate) fn updated(event_id: Uuid, user: &User) -> Message {
    let body = v1::UserUpdated {
        user_id: user.id.to_string(),
        version: user.version,
    };
    message(event_id, user, "UserUpdated", &body)
}

pub(crate) fn password_changed(event_id: Uuid, user: &User) -> Message {
    let body = v1::UserPasswordChanged {
        user_id: user.id.to_string(),
        version: user.version,
    };
    message(event_id, user, "UserPasswordChanged", &body)
}

pub(crate) fn deleted(event_id: Uuid, user: &User) -> Message {
    let body = v1::UserDeleted {
        user_id: user.id.to_string(),
        version: user.version,
    };
    message(event_id, user, "UserDeleted", &body)
}

fn message(event_id: Uuid, user: &User, name: &'static str, body: &impl prost::Message) -> Message {
    let aggregate = Aggregate {
        kind: "user",
        id: user.id.uuid(),
        version: user.version,
    };
    Message::new(SCHEMA, event_id, name, aggregate, body)
}
