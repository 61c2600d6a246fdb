//! Users.

use proto::lists::identity as lists;

use crate::{
    access::Access::{Admin, SignUp, User},
    resources::users::{self, NewPassword, NewUser, Referral, User as UserResource, UserPatch},
    router::route::{Route, delete, get, patch, post},
};

/// Users manage themselves; back offices manage all.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/users", User, users::list).page::<UserResource>(&lists::USERS),
        get("/users/{id}", User, users::get).response::<UserResource>(),
        get("/users/{id}/referrals", User, users::referrals).page::<Referral>(&lists::REFERRALS),
        post("/users", SignUp, users::create)
            .body::<NewUser>()
            .created::<UserResource>(),
        patch("/users/{id}", User, users::update)
            .body::<UserPatch>()
            .response::<UserResource>()
            .versioned(),
        delete("/users/{id}", User, users::delete),
        post("/users/{id}/change-password", User, users::change_password)
            .body::<NewPassword>()
            .no_content(),
        post("/users/{id}/approve", Admin, users::approve).no_content(),
        post("/users/{id}/block", Admin, users::block).no_content(),
        post("/users/{id}/unblock", Admin, users::unblock).no_content(),
        post("/users/{id}/unlock", Admin, users::unblock)
            .no_content()
            .alias_of("/users/{id}/unblock"),
    ]
}
