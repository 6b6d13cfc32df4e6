//! `/v1/task-lists/{taskListId}/tasks`

pub mod checklist_items;
pub mod links;

use axum::extract::State;
use base::error::Result;
use base::input::validate;
use http::HeaderMap;
use model::bounds;
use model::formats::{self, InstantOrDate};
use model::resource::{New, Patch, Resource};
use model::tasks::{Task, TaskStatus};
use schemars::JsonSchema;
use serde::Deserialize;
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::resources::collection_items;
use service::resources::collections::{self, open_to_read, open_to_write};
use service::resources::open_item::ItemPath;
use service::resources::tasks::find::{self, TaskQuery};

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::Body;
use crate::api::request::query::{IncludeList, IncludeQuery, StrictQuery};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::collection_items::{listed, manner};
use crate::web::cursor::Binding;

const TASKS: &str = "/v1/task-lists/{taskListId}/tasks";
const TASK: &str = "/v1/task-lists/{taskListId}/tasks/{taskId}";

pub fn routes() -> Routes<App> {
    Routes::new("Tasks")
        .get(TASKS, "tasks.read", Mvp, list)
        .summary("List tasks")
        .description(
            "The tasks are sorted by `position` if the provider has one, then by id. Subtasks are in the list, too.",
        )
        .query::<TaskListQuery>()
        .lists::<Resource<Task>>()
        .post(TASKS, "tasks.write", Mvp, create)
        .summary("Create a task")
        .query::<StrictQuery>()
        .body::<New<Task>>()
        .returns::<Resource<Task>>()
        .get(TASK, "tasks.read", Mvp, get)
        .summary("Read a task")
        .query::<IncludeQuery>()
        .returns::<Resource<Task>>()
        .patch(TASK, "tasks.write", Mvp, update)
        .summary("Change or complete a task")
        .description(
            "The body is a JSON merge patch (RFC 7396). Setting `status` to `completed` sets `completedAt`; another status clears it.",
        )
        .query::<StrictQuery>()
        .body::<Patch<Task>>()
        .returns::<Resource<Task>>()
        .delete(TASK, "tasks.write", Mvp, delete)
        .summary("Delete a task")
}

/// The query string of a list of tasks.
#[derive(Debug, Deserialize, JsonSchema)]
struct TaskListQuery {
    /// Words, separated by spaces, that all occur in the title, the notes, the checklist items, the categories or the assignees. Case and
    /// accents do not matter.
    #[schemars(length(max = bounds::list::MAX_QUERY))]
    q: Option<String>,
    /// Returns only tasks in this state.
    #[serde(default)]
    #[schemars(with = "TaskStatus")]
    status: Option<TaskStatus>,
    /// Returns only open tasks, which are neither completed nor cancelled; with `false`, only the others.
    open: Option<bool>,
    /// Returns only tasks that are due on this day or later.
    #[schemars(with = "Option<formats::Date>")]
    due_after: Option<String>,
    /// Returns only tasks that are due before this day.
    #[schemars(with = "Option<formats::Date>")]
    due_before: Option<String>,
    /// Returns only subtasks of this task.
    #[schemars(with = "Option<formats::Id>", length(max = bounds::MAX_ID))]
    parent_id: Option<String>,
    /// Returns only tasks with this category.
    #[schemars(length(max = bounds::MAX_LABEL))]
    category: Option<String>,
    /// Returns only tasks that changed at this time or later. A date stands for its midnight in UTC.
    updated_after: Option<InstantOrDate>,
    /// Parts that the answer has beside the usual ones: `providerData` adds the provider's fields that the model has no field for. Other
    /// words are ignored.
    #[serde(default)]
    include: IncludeList,
}

async fn refresh_if_stale(app: &App, asker: &RequestContext, task_list_id: &str) -> Result<()> {
    let opened = open_to_read(app, asker, ResourceKind::TaskList, task_list_id).await?;
    collections::freshen(app, asker, &opened.0, &opened.1).await
}

async fn list(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path(task_list_id): Path<String>,
) -> ApiResult {
    let limit = pagination::limit(params.get("limit"))?;
    let given: TaskListQuery = params.read()?;
    for (name, day) in [("due_after", &given.due_after), ("due_before", &given.due_before)] {
        if let Some(day) = day {
            validate::date(name, day)?;
        }
    }
    let query = TaskQuery {
        q: given.q,
        status: given.status,
        open: given.open,
        due_after: given.due_after,
        due_before: given.due_before,
        parent_id: given.parent_id,
        category: given.category,
        updated_after: given.updated_after.map(InstantOrDate::as_millis),
        with_provider_data: given.include.has_provider_data(),
        task_list_id,
    };
    let binding = Binding::new(&asker.tenant, "tasks.list", &query);
    let after = binding.place(&app.keyring, params.get("cursor"))?;
    refresh_if_stale(&app, &asker, &query.task_list_id).await?;
    let print = find::list(&app, &asker, &query, after, limit);
    listed(&app, &asker, &params, &binding, limit, print).await
}

async fn create(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path(task_list_id): Path<String>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    let opened = open_to_write(&cx, ResourceKind::TaskList, &task_list_id).await?;
    Ok(ApiResponse(collection_items::create::<Task>(&cx, &opened, body, manner).await?))
}

async fn get(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path((task_list_id, id)): Path<(String, String)>,
) -> ApiResult {
    refresh_if_stale(&app, &asker, &task_list_id).await?;
    let path = ItemPath { kind: ResourceKind::Task, collection_id: Some(&task_list_id), id: &id };
    let query: IncludeQuery = params.read()?;
    Ok(ApiResponse(collection_items::get(&app, &asker, path, query.include.has_provider_data()).await?))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path((task_list_id, id)): Path<(String, String)>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    let path = ItemPath { kind: ResourceKind::Task, collection_id: Some(&task_list_id), id: &id };
    Ok(ApiResponse(collection_items::update::<Task>(&cx, path, body, manner).await?))
}

async fn delete(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    params: Params,
    Path((task_list_id, id)): Path<(String, String)>,
    Body(mut body): Body,
) -> ApiResult {
    let manner = manner(&headers, &params, &mut body)?;
    let path = ItemPath { kind: ResourceKind::Task, collection_id: Some(&task_list_id), id: &id };
    Ok(ApiResponse(collection_items::delete(&cx, path, manner.expected).await?))
}
