//! Tasks and their completions.

use proto::lists::identity as lists;

use crate::{
    access::Access::{Admin, User},
    resources::{
        completions::{self, NewCompletion, TaskCompletion},
        dto::Reorder,
        tasks::{self, NewTask, Task, TaskPatch},
    },
    router::route::{Route, delete, get, patch, post},
};

/// Users read the enabled tasks and what they completed; back offices manage all and complete them.
pub(super) fn routes() -> Vec<Route> {
    vec![
        get("/tasks", User, tasks::list).page::<Task>(&lists::TASKS),
        get("/tasks/{id}", User, tasks::get).response::<Task>(),
        post("/tasks", Admin, tasks::create)
            .body::<NewTask>()
            .created::<Task>(),
        patch("/tasks/{id}", Admin, tasks::update)
            .body::<TaskPatch>()
            .response::<Task>()
            .versioned(),
        delete("/tasks/{id}", Admin, tasks::delete).versioned(),
        post("/tasks/{id}/complete", Admin, completions::complete)
            .body::<NewCompletion>()
            .response::<TaskCompletion>(),
        post("/tasks/{id}/reorder", Admin, tasks::reorder)
            .body::<Reorder>()
            .no_content(),
        get("/tasks/{id}/completions", Admin, completions::list_of_task)
            .page::<TaskCompletion>(&lists::COMPLETIONS),
        get("/users/{id}/completions", User, completions::list_of_user)
            .page::<TaskCompletion>(&lists::COMPLETIONS),
    ]
}
