//! Invites.

use proto::lists::identity as lists;

use crate::{
    access::Access::{Public, User},
    resources::invites::{self, Invite, InviteValidation, NewInvite, NewInvites},
    router::route::{Route, get, post},
};

/// Users manage their own invites, and back offices all; anybody may validate a code.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/invites", User, invites::list).page::<Invite>(&lists::INVITES),
        get("/invites/{code}", User, invites::get).response::<Invite>(),
        get("/invites/{code}/validate", Public, invites::validate).response::<InviteValidation>(),
        post("/invites", User, invites::create)
            .body::<NewInvite>()
            .created::<Invite>(),
        post("/invites/{code}/cancel", User, invites::cancel).response::<Invite>(),
        post("/invites/send", User, invites::send)
            .body::<NewInvites>()
            .no_content(),
    ]
}
