//! `/v1/task-lists/{taskListId}/tasks`

pub mod checklist_items;
pub mod links;

use axum::extract::State;
use base::error::Result;
use http::HeaderMap;
use model::resource::{New, Patch, Resource};
use model::tasks::Task;
use service::app::App;
use service::app::resource_kind::ResourceKind;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::resources::collection_items;
use service::resources::collections::{self, open_to_read, open_to_write};
use service::resources::open_item::ItemPath;
use service::resources::tasks::find::{self, STATUSES, TaskQuery};

use crate::api::operation::Priority::Mvp;
use crate::api::operation::Routes;
use crate::api::pagination;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::Body;
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::collection_items::{listed, manner};
use crate::web::cursor::Binding;

const TASKS: &str = "/v1/task-lists/{taskListId}/tasks";
const TASK: &str = "/v1/task-lists/{taskListId}/tasks/{taskId}";

pub fn routes() -> Routes<App> {
    Routes::new("Tasks")
        .get(TASKS, "tasks.read", Mvp, list)
        .summary("List tasks")
        .description("By `position` where the provider has one, then by id. Subtasks are in the list, too.")
        .param(
            "q",
            "string",
            "Words in title, notes, steps, categories or assignees; case and accents do not matter",
        )
        .param("status", "string", "needsAction, inProgress, completed, waiting, deferred or cancelled")
        .param("open", "boolean", "`true`: neither completed nor cancelled; `false`: one of the two")
        .param("due_after", "string", "Only tasks due on this day or later")
        .param("due_before", "string", "Only tasks due before this day")
        .param("parent_id", "string", "Only subtasks of this task")
        .param("category", "string", "Only tasks of this category")
        .param("updated_after", "string", "Only tasks changed at or after this instant")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .lists::<Resource<Task>>()
        .post(TASKS, "tasks.write", Mvp, create)
        .summary("Create a task")
        .param("strict", "boolean", "400 for a field that the provider cannot keep, instead of a warning")
        .body::<New<Task>>()
        .returns::<Resource<Task>>()
        .get(TASK, "tasks.read", Mvp, get)
        .summary("Read a task")
        .param("include", "string", "`providerData` adds what the model has no field for")
        .returns::<Resource<Task>>()
        .patch(TASK, "tasks.write", Mvp, update)
        .summary("Change or complete a task")
        .description(
            "A JSON merge patch. `status: completed` stamps `completedAt`, another status clears it.",
        )
        .param("strict", "boolean", "400 for a field that the provider cannot keep, instead of a warning")
        .body::<Patch<Task>>()
        .returns::<Resource<Task>>()
        .delete(TASK, "tasks.write", Mvp, delete)
        .summary("Delete a task")
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
    let query = TaskQuery {
        q: params.text("q", 256)?,
        status: params.word("status", &STATUSES)?,
        open: params.get("open").map(|_| params.flag("open")).transpose()?,
        due_after: params.date("due_after")?,
        due_before: params.date("due_before")?,
        parent_id: params.text("parent_id", 64)?,
        category: params.text("category", 255)?,
        updated_after: params.instant("updated_after")?,
        with_provider_data: params.with_provider_data(),
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
    Ok(ApiResponse(collection_items::get(&app, &asker, path, params.with_provider_data()).await?))
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
