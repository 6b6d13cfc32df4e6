//! `/v1/task-lists/{taskListId}/tasks/{taskId}/links`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::tasks::{NewTaskLink, TaskLink};

use crate::api::operation::Priority::{Additive, Phase2};
use crate::api::operation::Routes;
use crate::api::request::extractors::{Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::error::ApiError;
use crate::api::shared::collection_items::parts_page;
use crate::app::App;
use crate::app::stored_response::StoredResponse;
use crate::connections::request_context::RequestContext;
use crate::connections::write_context::WriteContext;
use crate::local_copy::task_parts::LINK;
use crate::resources::tasks::parts::{self, TaskPartWrite, valid_link};
use crate::web::cursor::Binding;
use crate::writes::part_response::link_of;
use crate::writes::response::ResponseChange;

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
            "Either `url` or `resourceId`, which names an event or a contact that the key may read: 403 `insufficient_scope` without `calendar.read` or `contacts.read`. 400 `capability_not_supported` if the provider has no links.",
        )
        .body::<NewTaskLink>()
        .returns::<Written<TaskLink>>()
        .delete(LINK_OF, "tasks.write", Additive, delete)
        .summary("Delete a link")
}

async fn list(
    State(app): State<App>,
    asker: RequestContext,
    params: Params,
    Path((list_id, task_id)): Path<(String, String)>,
) -> Result<StoredResponse, ApiError> {
    let task = parts::read(&app, &asker, &list_id, &task_id).await?;
    let ids: Vec<&str> = task.links.iter().map(|l| l.id.as_str()).collect();
    let binding = Binding::new(&asker.tenant, "task_links.list", &task_id);
    Ok(parts_page(&app, &params, &binding, &ids, &task.links)?)
}

async fn create(
    cx: WriteContext,
    headers: HeaderMap,
    Path((list_id, task_id)): Path<(String, String)>,
    Body(body): Body,
) -> Result<StoredResponse, ApiError> {
    let (new, unknown) = json::typed::<NewTaskLink>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let link = valid_link(&cx.app, &cx.request, &new).await?;
    let place = parts::open(&cx, &list_id, &task_id).await?;
    let change = ResponseChange { status: 201, metadata: None, warnings };
    let given = ["url", "title", "applicationName", "resourceType", "resourceId"].map(str::to_owned);
    let write = TaskPartWrite { kind: LINK, op: "links.create", id: None, body: link, changed: given.into() };
    Ok(place.put(&cx, write, change).await?)
}

async fn delete(
    cx: WriteContext,
    Path((list_id, task_id, id)): Path<(String, String, String)>,
) -> Result<StoredResponse, ApiError> {
    let place = parts::open(&cx, &list_id, &task_id).await?;
    match link_of(&place.task, &id) {
        // An earlier attempt got as far as this.
        Err(_) if cx.attempt.resumed => return Ok(StoredResponse::no_content()),
        link => link?,
    };
    Ok(place.remove::<TaskLink>(&cx, "links.delete", &id).await?)
}
