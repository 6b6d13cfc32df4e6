//! `/v1/task-lists/{taskListId}/tasks/{taskId}/links`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::tasks::{NewTaskLink, TaskLink};
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::local_copy::task_parts::LINK;
use service::resources::tasks::parts::{self, TaskPartWrite, valid_link};
use service::writes::part_response::link_of;
use service::writes::response::ResponseChange;

use crate::api::operation::Priority::{Additive, Phase2};
use crate::api::operation::Routes;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::collection_items::parts_page;
use crate::web::cursor::Binding;

const LINKS: &str = "/v1/task-lists/{taskListId}/tasks/{taskId}/links";
const LINK_OF: &str = "/v1/task-lists/{taskListId}/tasks/{taskId}/links/{linkId}";

pub fn routes() -> Routes<App> {
    Routes::new("Task links")
        .get(LINKS, "tasks.read", Additive, list)
        .summary("List the links of a task")
        .lists::<TaskLink>()
        .post(LINKS, "tasks.write", Phase2, create)
        .summary("Link a task to a message, an event, a contact or a page")
        .description(
            "The link has either `url` or `resourceId`, the id of an event or a contact that the key may read. A key without `calendar.read` or `contacts.read` gets 403 `insufficient_scope`. A provider without links answers 400 `capability_not_supported`. Links to messages cannot be created yet.",
        )
        .body::<NewTaskLink>()
        .returns::<Written<TaskLink>>()
        .delete(LINK_OF, "tasks.write", Additive, delete)
        .summary("Delete a link")
}

async fn list(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path((list_id, task_id)): Path<(String, String)>,
) -> ApiResult {
    let task = parts::read(&app, &asker, &list_id, &task_id).await?;
    let ids: Vec<&str> = task.links.iter().map(|l| l.id.as_str()).collect();
    let binding = Binding::new(&asker.tenant, "task_links.list", &task_id);
    Ok(ApiResponse(parts_page(&app, &params, &binding, &ids, &task.links)?))
}

async fn create(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path((list_id, task_id)): Path<(String, String)>,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<NewTaskLink>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let link = valid_link(&cx.app, &cx.request, &new).await?;
    let place = parts::open(&cx, &list_id, &task_id).await?;
    let change = ResponseChange { status: 201, metadata: None, warnings };
    let given = ["url", "title", "applicationName", "resourceType", "resourceId"].map(str::to_owned);
    let write = TaskPartWrite { kind: LINK, op: "links.create", id: None, body: link, changed: given.into() };
    Ok(ApiResponse(place.put(&cx, write, change).await?))
}

async fn delete(
    Extract(cx): Extract<WriteContext>,
    Path((list_id, task_id, id)): Path<(String, String, String)>,
) -> ApiResult {
    let place = parts::open(&cx, &list_id, &task_id).await?;
    match link_of(&place.task, &id) {
        // An earlier attempt got as far as this.
        Err(_) if cx.attempt.resumed => return Ok(ApiResponse(StoredResponse::no_content())),
        link => link?,
    };
    Ok(ApiResponse(place.remove::<TaskLink>(&cx, "links.delete", &id).await?))
}
