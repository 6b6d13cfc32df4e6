//! `/v1/task-lists/{taskListId}/tasks/{taskId}/checklist-items`

use axum::extract::State;
use http::HeaderMap;
use model::resource::Written;
use model::tasks::{ChecklistItem, ChecklistItemPatch, NewChecklistItem};
use service::app::App;
use service::app::stored_response::StoredResponse;
use service::connections::request_context::RequestContext;
use service::connections::write_context::WriteContext;
use service::local_copy::task_parts::STEP;
use service::resources::tasks::parts::{self, TaskPartWrite, valid_step};
use service::writes::part_response::step_of;
use service::writes::response::ResponseChange;

use crate::api::operation::Priority::{Additive, Phase2};
use crate::api::operation::Routes;
use crate::api::request::etag;
use crate::api::request::extractors::{Extract, Params, Path};
use crate::api::request::json::{self, Body};
use crate::api::response::reply::{ApiResponse, ApiResult};
use crate::api::shared::collection_items::parts_page;
use crate::web::cursor::Binding;

const STEPS: &str = "/v1/task-lists/{taskListId}/tasks/{taskId}/checklist-items";
const STEP_OF: &str = "/v1/task-lists/{taskListId}/tasks/{taskId}/checklist-items/{itemId}";

pub fn routes() -> Routes<App> {
    Routes::new("Checklist items")
        .get(STEPS, "tasks.read", Additive, list)
        .summary("List the checklist items of a task")
        .lists::<ChecklistItem>()
        .post(STEPS, "tasks.write", Phase2, create)
        .summary("Add a checklist item")
        .description("A provider without checklists answers 400 `capability_not_supported`.")
        .body::<NewChecklistItem>()
        .returns::<Written<ChecklistItem>>()
        .patch(STEP_OF, "tasks.write", Phase2, update)
        .summary("Change or tick a checklist item")
        .body::<ChecklistItemPatch>()
        .returns::<Written<ChecklistItem>>()
        .delete(STEP_OF, "tasks.write", Phase2, delete)
        .summary("Delete a checklist item")
}

async fn list(
    State(app): State<App>,
    Extract(asker): Extract<RequestContext>,
    params: Params,
    Path((list_id, task_id)): Path<(String, String)>,
) -> ApiResult {
    let task = parts::read(&app, &asker, &list_id, &task_id).await?;
    let ids: Vec<&str> = task.checklist_items.iter().map(|s| s.id.as_str()).collect();
    let binding = Binding::new(&asker.tenant, "checklist_items.list", &task_id);
    Ok(ApiResponse(parts_page(&app, &params, &binding, &ids, &task.checklist_items)?))
}

async fn create(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path((list_id, task_id)): Path<(String, String)>,
    Body(body): Body,
) -> ApiResult {
    let (new, unknown) = json::typed::<NewChecklistItem>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let mut changed = vec!["title".to_owned(), "checked".to_owned()];
    changed.extend(new.position.is_some().then(|| "position".to_owned()));
    let step = ChecklistItem {
        title: new.title,
        checked: new.checked,
        position: new.position,
        ..ChecklistItem::default()
    };
    valid_step(&step)?;
    let place = parts::open(&cx, &list_id, &task_id).await?;
    let change = ResponseChange { status: 201, metadata: None, warnings };
    let write = TaskPartWrite { kind: STEP, op: "checklist.create", id: None, body: step, changed };
    Ok(ApiResponse(place.put(&cx, write, change).await?))
}

async fn update(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path((list_id, task_id, id)): Path<(String, String, String)>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let (patch, unknown) = json::typed::<ChecklistItemPatch>(body)?;
    let warnings = json::unknown_fields(&headers, &unknown)?;
    let place = parts::open(&cx, &list_id, &task_id).await?;
    let current = step_of(&place.task, &id)?;
    let step = ChecklistItem {
        title: patch.title.unwrap_or_else(|| current.title.clone()),
        checked: patch.checked.unwrap_or(current.checked),
        position: patch.position.or_else(|| current.position.clone()),
        ..current.clone()
    };
    valid_step(&step)?;
    let differs = [
        ("title", step.title != current.title),
        ("checked", step.checked != current.checked),
        ("position", step.position != current.position),
    ];
    let changed: Vec<String> =
        differs.iter().filter(|(_, is)| *is).map(|(name, _)| (*name).to_owned()).collect();
    if !(cx.attempt.resumed && changed.is_empty()) {
        parts::expect(&expected, current)?;
    }
    let change = ResponseChange { status: 200, metadata: None, warnings };
    if changed.is_empty() {
        let text = serde_json::to_string(current)?;
        return Ok(ApiResponse(StoredResponse::ok(text).warned(&change.warnings).etag(&current.etag)));
    }
    let write = TaskPartWrite { kind: STEP, op: "checklist.update", id: Some(&id), body: step, changed };
    Ok(ApiResponse(place.put(&cx, write, change).await?))
}

async fn delete(
    Extract(cx): Extract<WriteContext>,
    headers: HeaderMap,
    Path((list_id, task_id, id)): Path<(String, String, String)>,
    Body(mut body): Body,
) -> ApiResult {
    let expected = etag::expected(&headers, Some(&mut body))?;
    let place = parts::open(&cx, &list_id, &task_id).await?;
    let step = match step_of(&place.task, &id) {
        // An earlier attempt got as far as this.
        Err(_) if cx.attempt.resumed => return Ok(ApiResponse(StoredResponse::no_content())),
        step => step?,
    };
    parts::expect(&expected, step)?;
    Ok(ApiResponse(place.remove::<ChecklistItem>(&cx, "checklist.delete", &id).await?))
}
