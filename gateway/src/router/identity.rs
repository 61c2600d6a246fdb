//! Users and tasks.

use proto::lists::identity as lists;

use super::route::{Route, get, post};
use crate::{
    access::Access::{Admin, User},
    resources::{
        tasks::{self, NewCompletion, NewTask, Task, TaskCompletion},
        users::{self, NewUser, User as UserResource},
    },
};

/// Users read themselves and the enabled tasks; back offices manage both.
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
        get("/tasks", User, tasks::list).page::<Task>(&lists::TASKS),
        get("/tasks/{id}", User, tasks::get).response::<Task>(),
        post("/tasks", Admin, tasks::create)
            .body::<NewTask>()
            .created::<Task>(),
        post("/tasks/{id}/complete", Admin, tasks::complete)
            .body::<NewCompletion>()
            .response::<TaskCompletion>(),
    ]
}
