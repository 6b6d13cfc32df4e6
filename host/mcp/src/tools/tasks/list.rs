//! `list_tasks`: the tasks of one list, or of all lists, and the lists.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Api, Request, segment};
use crate::tool::{
    Context, Definition, Effect, JsonObject, Outcome, ToolError, cut, json_of, object, output,
};
use crate::tools::shape::{FieldChoice, ListPage, cursor_schema, items, limit};
use crate::tools::tasks::fields::task;
use crate::tools::writing::missing;

const DEFAULT_LIMIT: usize = 20;
const MAX_LIMIT: usize = 50;
/// Lists that a call without `taskListId` reads.
const MAX_LISTS: usize = 10;
/// Bytes of a task's notes that a list shows.
const MAX_NOTES: usize = 200;
/// Bytes of a result that the names of the lists may take.
const LISTS_BUDGET: usize = 1_500;
/// Bytes of a result that the tasks of all lists may take.
const TASKS_BUDGET: usize = 4_000;

pub const LIST_TASKS: Definition = Definition {
    name: "list_tasks",
    title: "List tasks",
    description: "The open tasks of a list; with `status` others. Without taskListId all lists with their first tasks. A task \
        without `status` needs action.",
    scope: "tasks.read",
    effect: Effect::Read,
    idempotent: true,
    open_world: false,
    budget: 6 << 10,
    input,
    output: result,
};

fn input() -> JsonObject {
    let text = json!({"type": "string"});
    let states =
        ["open", "needsAction", "inProgress", "waiting", "deferred", "completed", "cancelled", "all"];
    object(
        json!({
            "taskListId": text,
            "connectionId": text,
            "query": text,
            "status": {"type": "string", "enum": states, "default": "open"},
            "dueBefore": text,
            "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT},
            "cursor": cursor_schema(),
        }),
        &[],
    )
}

fn result() -> JsonObject {
    let list = json!({"type": "array"});
    output(json!({ "lists": list, "tasks": list, "nextCursor": {"type": "string"} }), &["tasks"])
}

/// The tasks that a list shows, by their state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum TaskStatusFilter {
    #[default]
    Open,
    NeedsAction,
    InProgress,
    Waiting,
    Deferred,
    Completed,
    Cancelled,
    All,
}

impl TaskStatusFilter {
    /// The parameter of the API with its value; none for all tasks.
    fn parameter(self) -> Option<(&'static str, &'static str)> {
        match self {
            TaskStatusFilter::Open => Some(("open", "true")),
            TaskStatusFilter::NeedsAction => Some(("status", "needsAction")),
            TaskStatusFilter::InProgress => Some(("status", "inProgress")),
            TaskStatusFilter::Waiting => Some(("status", "waiting")),
            TaskStatusFilter::Deferred => Some(("status", "deferred")),
            TaskStatusFilter::Completed => Some(("status", "completed")),
            TaskStatusFilter::Cancelled => Some(("status", "cancelled")),
            TaskStatusFilter::All => None,
        }
    }
}

/// Arguments of `list_tasks`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListTasksArguments {
    task_list_id: Option<String>,
    connection_id: Option<String>,
    query: Option<String>,
    status: Option<TaskStatusFilter>,
    due_before: Option<String>,
    limit: Option<u64>,
    cursor: Option<String>,
}

impl ListTasksArguments {
    /// The request for the tasks of a list.
    fn request(&self, task_list_id: &str) -> Request {
        let request = Request::get(format!("/v1/task-lists/{}/tasks", segment(task_list_id)))
            .with_some("q", self.query.as_deref())
            .with_some("due_before", self.due_before.as_deref());
        match self.status.unwrap_or_default().parameter() {
            Some((name, value)) => request.with(name, value),
            None => request,
        }
    }
}

pub async fn list_tasks<A: Api>(
    context: &Context<'_, A>,
    arguments: ListTasksArguments,
) -> Result<Outcome, ToolError> {
    let limit = limit(arguments.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let Some(task_list_id) = arguments.task_list_id.as_deref() else {
        return list_all(context, &arguments, limit).await;
    };
    let request = arguments.request(task_list_id).with_some("cursor", arguments.cursor.as_deref());
    let links = context.policy.links;
    let shape = move |found: &Value| task(found, links, MAX_NOTES);
    let page = ListPage::read(context.api, request, limit, LIST_TASKS.budget, shape).await?;
    Ok(page.into_result("tasks", LIST_TASKS.name).into())
}

/// The lists of an account, or of all, with the first tasks of each.
async fn list_all<A: Api>(
    context: &Context<'_, A>,
    arguments: &ListTasksArguments,
    limit: usize,
) -> Result<Outcome, ToolError> {
    if arguments.cursor.is_some() {
        return Err(missing(
            "taskListId",
            "taskListId is required with cursor: each list has its own cursors",
        ));
    }
    let api = context.api;
    let request =
        Request::get("/v1/task-lists").with_some("connection_id", arguments.connection_id.as_deref());
    let mut page = json_of(api.call(request.with("limit", MAX_LISTS)).await)?;
    let mut has_more = page["next_cursor"].is_string();
    let all = items(&mut page);
    let (lists, is_cut) = cut(all.iter().map(list).collect(), LISTS_BUDGET);
    has_more |= is_cut;
    let mut tasks = Vec::new();
    for list in all.iter().take(lists.len()) {
        let Some(id) = list["id"].as_str() else { continue };
        let room = limit.saturating_sub(tasks.len());
        if room == 0 {
            has_more = true;
            break;
        }
        let mut page = json_of(api.call(arguments.request(id).with("limit", room)).await)?;
        has_more |= page["next_cursor"].is_string();
        tasks.extend(items(&mut page).iter().map(|found| task(found, context.policy.links, MAX_NOTES)));
    }
    let (tasks, is_cut) = cut(tasks, TASKS_BUDGET);
    let mut result = json!({ "lists": lists, "tasks": tasks });
    if has_more || is_cut {
        result["truncated"] = json!(true);
        result["howToContinue"] = json!(
            "Call list_tasks again with the taskListId of one list, or with connectionId for the lists of one account."
        );
    }
    Ok(result.into())
}

/// A task list as the result shows it.
fn list(list: &Value) -> Value {
    FieldChoice::new(list, false)
        .copy(&["id", "connectionId"])
        .line("untrustedName", &list["name"], 100)
        .copy(&["role", "readOnly", "openCount"])
        .finish()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{LIST_TASKS, ListTasksArguments, list_tasks};
    use crate::tool::{Outcome, arguments};
    use crate::tools::script::{Script, context, quiet_policy};

    fn read(given: Value) -> Result<ListTasksArguments, crate::tool::ToolError> {
        arguments(&LIST_TASKS, given.as_object().cloned().expect("an object"))
    }

    #[tokio::test]
    async fn without_a_list_all_lists_are_read() {
        let lists = json!({ "data": [
            { "id": "tsl_1", "connectionId": "conn_1", "name": "Tasks", "role": "default", "openCount": 1, "isShared": false },
            { "id": "tsl_2", "connectionId": "conn_1", "name": "Home", "role": null, "openCount": null },
        ], "next_cursor": null });
        let tasks =
            |title: &str| json!({ "data": [{ "id": title, "title": title, "status": "needsAction" }] });
        let api = Script::new()
            .on("GET", "/v1/task-lists", 200, lists)
            .on("GET", "/v1/task-lists/tsl_1/tasks", 200, tasks("Sweep"))
            .on("GET", "/v1/task-lists/tsl_2/tasks", 200, tasks("Paint"));
        let policy = quiet_policy();
        let given = read(json!({ "dueBefore": "2026-03-08" })).expect("arguments");
        let Ok(Outcome::Done(found)) = list_tasks(&context(&api, &policy), given).await else {
            panic!("no result")
        };
        let wanted = json!({
            "lists": [
                { "id": "tsl_1", "connectionId": "conn_1", "untrustedName": "Tasks", "role": "default", "openCount": 1 },
                { "id": "tsl_2", "connectionId": "conn_1", "untrustedName": "Home" },
            ],
            "tasks": [{ "id": "Sweep", "untrustedTitle": "Sweep" }, { "id": "Paint", "untrustedTitle": "Paint" }],
        });
        assert_eq!(found.structured, wanted);
        let wanted = [
            "GET /v1/task-lists?limit=10",
            "GET /v1/task-lists/tsl_1/tasks?due_before=2026-03-08&open=true&limit=20",
            "GET /v1/task-lists/tsl_2/tasks?due_before=2026-03-08&open=true&limit=19",
        ];
        assert_eq!(api.lines(), wanted);
    }

    #[test]
    fn a_wrong_state_is_named_with_those_that_exist() {
        let error = read(json!({ "status": "done" })).expect_err("no such state");
        assert_eq!(error.param.as_deref(), Some("status"));
        assert!(error.message.contains("needsAction") && error.message.contains("done"), "{}", error.message);
    }
}
