//! Events of invites.

use platform::messaging::outbox::{Aggregate, Message};
use proto::events::v1;
use uuid::Uuid;

use super::model::Invite;
use crate::{SCHEMA, user::UserId};

pub(super) fn created(event_id: Uuid, invite: &Invite) -> Message {
    let body = v1::InviteCreated {
        invite_id: invite.id.to_string(),
        version: invite.version,
        code: invite.code.clone(),
        inviter_user_id: id_or_empty(invite.inviter_user_id),
    };
    message(event_id, invite, "InviteCreated", &body)
}

pub(super) fn accepted(event_id: Uuid, invite: &Invite) -> Message {
    let body = v1::InviteAccepted {
        invite_id: invite.id.to_string(),
        version: invite.version,
        code: invite.code.clone(),
        inviter_user_id: id_or_empty(invite.inviter_user_id),
        invited_user_id: id_or_empty(invite.invited_user_id),
    };
    message(event_id, invite, "InviteAccepted", &body)
}

pub(super) fn canceled(event_id: Uuid, invite: &Invite) -> Message {
    let body = v1::InviteCanceled {
        invite_id: invite.id.to_string(),
        version: invite.version,
        code: invite.code.clone(),
        inviter_user_id: id_or_empty(invite.inviter_user_id),
    };
    message(event_id, invite, "InviteCanceled", &body)
}

fn id_or_empty(id: Option<UserId>) -> String {
    id.map(String::from).unwrap_or_default()
}

fn message(event_id: Uuid, invite: &Invite, name: &str, body: &impl prost::Message) -> Message {
    let aggregate = Aggregate {
        kind: "invite",
        id: invite.id.uuid(),
        version: invite.version,
    };
    Message::new(SCHEMA, event_id, name, aggregate, body)
}
