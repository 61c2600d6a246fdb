//! Tasks.

use proto::lists::identity as lists;

use crate::{
    access::Access::{Admin, User},
    resources::tasks::{self, NewCompletion, NewTask, Task, TaskCompletion},
    router::route::{Route, get, post},
};

/// Users read the enabled tasks; back offices manage all and complete them.
pub(super) fn routes() -> Vec<Route> {
    vec![
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
