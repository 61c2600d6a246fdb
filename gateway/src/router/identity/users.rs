//! Users.

use proto::lists::identity as lists;

use crate::{
    access::Access::{Admin, User},
    resources::users::{self, NewUser, User as UserResource},
    router::route::{Route, get, post},
};

/// Users read themselves; back offices manage all.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/users", User, users::list).page::<UserResource>(&lists::USERS),
        get("/users/{id}", User, users::get).response::<UserResource>(),
        post("/users", Admin, users::create)
            .body::<NewUser>()
            .created::<UserResource>(),
        post("/users/{id}/approve", Admin, users::approve).no_content(),
        post("/users/{id}/block", Admin, users::block).no_content(),
        post("/users/{id}/unblock", Admin, users::unblock).no_content(),
        post("/users/{id}/unlock", Admin, users::unblock)
            .no_content()
            .alias_of("/users/{id}/unblock"),
    ]
}
