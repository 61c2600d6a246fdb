//! Users and tasks.

use proto::lists::identity;

use super::route::{Route, get, post};
use crate::{
    access::Access::{Admin, User},
    resources::{tasks, users},
};

/// Their routes.
pub(super) fn routes() -> Vec<Route> {
    use {tasks as t, users as u};
    vec![
        get("/users", User, "List users", u::list).page::<u::User>(&identity::USERS),
        get("/users/{id}", User, "Read a user", u::get).one::<u::User>(),
        post(
            "/users",
            Admin,
            "Create a user and its primary wallet",
            u::create,
        )
        .takes::<u::NewUser>()
        .creates::<u::User>(),
        post("/users/{id}/approve", Admin, "Approve a user", u::approve).nothing(),
        post("/users/{id}/block", Admin, "Block a user", u::block).nothing(),
        post("/users/{id}/unblock", Admin, "Unblock a user", u::unblock).nothing(),
        post(
            "/users/{id}/unlock",
            Admin,
            "Unblock a user (alias)",
            u::unblock,
        )
        .nothing(),
        get("/tasks", User, "List tasks", t::list).page::<t::Task>(&identity::TASKS),
        get("/tasks/{id}", User, "Read a task", t::get).one::<t::Task>(),
        post("/tasks", Admin, "Create a task", t::create)
            .takes::<t::NewTask>()
            .creates::<t::Task>(),
        post(
            "/tasks/{id}/complete",
            Admin,
            "Record that a user completed a task",
            t::complete,
        )
        .takes::<t::NewCompletion>()
        .one::<t::TaskCompletion>(),
    ]
}
