//! `/v1/task-lists`

pub mod sync;
pub mod tasks;

use model::resource::{New, Patch, Resource};
use model::tasks::TaskList;
use service::app::App;

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::request::query::{ConnectionIncludeQuery, IncludeQuery};
use crate::api::shared::collections::{create, delete, get, list, update};

pub fn routes() -> Routes<App> {
    Routes::new("Task lists")
        .get("/v1/task-lists", "tasks.read", Mvp, list::<TaskList>)
        .summary("List task lists")
        .query::<ConnectionIncludeQuery>()
        .lists::<Resource<TaskList>>()
        .post("/v1/task-lists", "tasks.write", Mvp, create::<TaskList>)
        .summary("Create a task list")
        .body::<New<TaskList>>()
        .returns::<Resource<TaskList>>()
        .get("/v1/task-lists/{taskListId}", "tasks.read", Mvp, get::<TaskList>)
        .summary("Read a task list")
        .query::<IncludeQuery>()
        .returns::<Resource<TaskList>>()
        .patch("/v1/task-lists/{taskListId}", "tasks.write", Mvp, update::<TaskList>)
        .summary("Change a task list")
        .body::<Patch<TaskList>>()
        .returns::<Resource<TaskList>>()
        .delete("/v1/task-lists/{taskListId}", "tasks.write", Mvp, delete::<TaskList>)
        .summary("Delete a task list with its tasks")
        .description("The account's default list cannot be deleted: 409 `invalid_state`.")
}
