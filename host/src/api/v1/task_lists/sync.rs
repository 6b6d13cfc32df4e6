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
        .description("From now on the service follows the list by itself. Starting again changes nothing and answers 200.")
        .status(202)
        .body::<SyncStart>()
        .returns::<Written<SyncState>>()
        .get("/v1/task-lists/{taskListId}/sync/changes", "tasks.read", Mvp, changes_inside::<TaskList>)
        .summary("Read what changed in a task list")
        .description("Without `cursor` the feed begins with every task there is. Read until `next_cursor` is null, keep `sync_cursor`, and pass it as `cursor` next time.");
    parameters(changes)
        .returns::<SyncChanges>()
        .post("/v1/task-lists/{taskListId}/sync/reset", "tasks.read", Mvp, reset_inside::<TaskList>)
        .summary("Read a task list from the beginning")
        .description("`soft` keeps cursors valid and tells only true differences; `hard` ends them and tells everything anew.")
        .status(202)
        .body::<SyncReset>()
        .returns::<Written<SyncState>>()
        .get("/v1/task-lists/{taskListId}/sync/status", "tasks.read", Additive, status_inside::<TaskList>)
        .summary("How the sync of a task list stands")
        .returns::<SyncState>()
}
