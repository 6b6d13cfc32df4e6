//! `/v1/task-lists/{taskListId}/sync`

use model::resource::Written;
use model::sync::{SyncChanges, SyncReset, SyncStart, SyncState};
use model::tasks::TaskList;
use service::app::App;

use crate::api::operation::Priority::{Additive, Mvp};
use crate::api::operation::Routes;
use crate::api::shared::change_feed::{
    changes_inside, parameters, reset_inside, start_inside, status_inside,
};

pub fn routes() -> Routes<App> {
    let changes = Routes::new("Task sync")
        .post("/v1/task-lists/{taskListId}/sync/start", "tasks.read", Mvp, start_inside::<TaskList>)
        .summary("Start incremental sync of a task list")
        .description("From now on the service keeps its copy of the list up to date. Starting the sync again changes nothing and answers 200.")
        .status(202)
        .body::<SyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/task-lists/{taskListId}/sync/changes", "tasks.read", Mvp, changes_inside::<TaskList>)
        .summary("Read what changed in a task list")
        .description("Without `cursor`, the feed begins with every task that exists. Read until `next_cursor` is null, store `sync_cursor`, and pass it as `cursor` next time.");
    parameters(changes)
        .returns::<SyncChanges>()
        .post("/v1/task-lists/{taskListId}/sync/reset", "tasks.read", Mvp, reset_inside::<TaskList>)
        .summary("Read a task list from the beginning")
        .description("With `soft`, cursors stay valid and the feed reports only differences. With `hard`, earlier cursors become invalid and the feed reports everything again.")
        .status(202)
        .body::<SyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/task-lists/{taskListId}/sync/status", "tasks.read", Additive, status_inside::<TaskList>)
        .summary("Read the state of the sync of a task list")
        .returns::<SyncState>()
}
