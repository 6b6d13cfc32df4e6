//! `create_task` and `update_task`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::api::{Api, Request, segment};
use crate::tool::{Context, Definition, Effect, JsonObject, Outcome, ToolError, json_of, object};
use crate::tools::shape::written_schema;
use crate::tools::tasks::fields::task;
use crate::tools::writing;

/// Bytes of a task's notes that the result of a write shows.
const MAX_NOTES: usize = 300;

pub const CREATE_TASK: Definition = Definition {
    name: "create_task",
    title: "Create a task",
    description: "Adds a task to a list, or to the default list of an account. Give taskListId or connectionId if several accounts \
        are connected.",
    scope: "tasks.write",
    effect: Effect::Write,
    idempotent: false,
    open_world: false,
    budget: 2 << 10,
    input: create_input,
    output: task_output,
};

pub const UPDATE_TASK: Definition = Definition {
    name: "update_task",
    title: "Change or complete a task",
    description: "Sets the given fields of a task; null clears a field. Status `completed` completes it.",
    scope: "tasks.write",
    effect: Effect::Write,
    idempotent: true,
    open_world: false,
    budget: 2 << 10,
    input: update_input,
    output: task_output,
};

fn create_input() -> JsonObject {
    let text = json!({"type": "string"});
    object(
        json!({
            "taskListId": text,
            "connectionId": text,
            "title": text,
            "notes": text,
            "dueDate": text,
            "dueTime": {"type": "string", "description": "HH:MM"},
            "timeZone": text,
            "priority": {"type": "string", "enum": ["low", "normal", "high"]},
        }),
        &["title"],
    )
}

fn update_input() -> JsonObject {
    let text = json!({"type": "string"});
    let clearable = json!({"type": ["string", "null"]});
    object(
        json!({
            "taskListId": text,
            "taskId": text,
            "title": text,
            "notes": clearable,
            "status": {"enum": ["needsAction", "inProgress", "waiting", "deferred", "completed", "cancelled"]},
            "dueDate": clearable,
            "dueTime": clearable,
            "timeZone": text,
            "priority": {"enum": ["low", "normal", "high", null]},
        }),
        &["taskListId", "taskId"],
    )
}

fn task_output() -> JsonObject {
    written_schema("task")
}

/// The importance of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
enum Importance {
    Low,
    Normal,
    High,
}

/// The state that a task gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
enum NewTaskStatus {
    NeedsAction,
    InProgress,
    Waiting,
    Deferred,
    Completed,
    Cancelled,
}

/// Arguments of `create_task`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateTaskArguments {
    task_list_id: Option<String>,
    connection_id: Option<String>,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<Importance>,
}

pub async fn create_task<A: Api>(
    context: &Context<'_, A>,
    arguments: CreateTaskArguments,
) -> Result<Outcome, ToolError> {
    let key = writing::repeat_key(context.api, CREATE_TASK.name, &arguments);
    let body = writing::body(&arguments, &["taskListId", "connectionId"]);
    let list = writing::task_list(context.api, arguments.task_list_id, arguments.connection_id).await?;
    let path = format!("/v1/task-lists/{}/tasks", segment(&list));
    write(context, Request::post(path, Value::Object(body)).idempotent(key)).await
}

/// Arguments of `update_task`.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UpdateTaskArguments {
    task_list_id: String,
    task_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, deserialize_with = "writing::present", skip_serializing_if = "Option::is_none")]
    notes: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<NewTaskStatus>,
    #[serde(default, deserialize_with = "writing::present", skip_serializing_if = "Option::is_none")]
    due_date: Option<Option<String>>,
    #[serde(default, deserialize_with = "writing::present", skip_serializing_if = "Option::is_none")]
    due_time: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_zone: Option<String>,
    #[serde(default, deserialize_with = "writing::present", skip_serializing_if = "Option::is_none")]
    priority: Option<Option<Importance>>,
}

/// Changes a task. Every field is set to a value, so that a repeated call changes nothing more.
pub async fn update_task<A: Api>(
    context: &Context<'_, A>,
    arguments: UpdateTaskArguments,
) -> Result<Outcome, ToolError> {
    let mut body = writing::body(&arguments, &["taskListId", "taskId"]);
    if body.is_empty() {
        return Err(writing::missing("title", "give at least one field to change, such as title or status"));
    }
    if matches!(arguments.notes, Some(Some(_))) {
        // Notes of other programs may be HTML; these are not.
        body.insert("notesFormat".into(), json!("text"));
    }
    // The status says nothing that others could not be told.
    if body.keys().any(|name| name != "status") {
        writing::ensure_own_list(context.api, &arguments.task_list_id).await?;
    }
    let (list, id) = (segment(&arguments.task_list_id), segment(&arguments.task_id));
    write(context, Request::patch(format!("/v1/task-lists/{list}/tasks/{id}"), Value::Object(body))).await
}

async fn write<A: Api>(context: &Context<'_, A>, request: Request) -> Result<Outcome, ToolError> {
    let written = json_of(context.api.call(request).await)?;
    let shown = task(&written, context.policy.links, MAX_NOTES);
    Ok(json!({ "task": shown, "warnings": writing::warnings(&written) }).into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{CREATE_TASK, UPDATE_TASK, create_task, update_task};
    use crate::tool::arguments;
    use crate::tools::script::{Script, context, quiet_policy};

    fn fields(given: Value) -> crate::tool::JsonObject {
        given.as_object().cloned().expect("an object")
    }

    #[tokio::test]
    async fn a_new_task_goes_to_the_default_list() {
        let lists =
            json!({ "data": [{ "id": "tsl_1", "role": null }, { "id": "tsl_2", "role": "default" }] });
        let api = Script::new()
            .on("GET", "/v1/connections", 200, json!({ "data": [{ "id": "conn_1" }] }))
            .on("GET", "/v1/task-lists", 200, lists)
            .on("POST", "/v1/task-lists/tsl_2/tasks", 201, json!({ "id": "tsk_1", "title": "Pay" }));
        let policy = quiet_policy();
        let given = fields(json!({ "title": "Pay", "dueDate": "2026-03-05", "priority": "high" }));
        let given = arguments(&CREATE_TASK, given).expect("arguments");
        create_task(&context(&api, &policy), given).await.expect("it is created");
        let sent = api.last();
        assert_eq!(sent.body, Some(json!({ "title": "Pay", "dueDate": "2026-03-05", "priority": "high" })));
        assert!(sent.idempotency_key.is_some());
    }

    #[tokio::test]
    async fn null_clears_and_absent_keeps() {
        let path = "/v1/task-lists/tsl_1/tasks/tsk_1";
        let api = Script::new()
            .on("GET", "/v1/task-lists/tsl_1", 200, json!({ "id": "tsl_1", "isOwner": true }))
            .on("PATCH", path, 200, json!({ "id": "tsk_1" }));
        let policy = quiet_policy();
        let given =
            json!({ "taskListId": "tsl_1", "taskId": "tsk_1", "dueDate": null, "status": "completed" });
        let given = arguments(&UPDATE_TASK, fields(given)).expect("arguments");
        update_task(&context(&api, &policy), given).await.expect("it is changed");
        assert_eq!(api.last().body, Some(json!({ "dueDate": null, "status": "completed" })));
        let shared = Script::new()
            .on(
                "GET",
                "/v1/task-lists/tsl_1",
                200,
                json!({ "id": "tsl_1", "isOwner": true, "isShared": true }),
            )
            .on("PATCH", path, 200, json!({ "id": "tsk_1" }));
        for (name, value, code) in
            [("status", "completed", ""), ("notes", "All customers", "shared_with_others")]
        {
            let given = fields(json!({ "taskListId": "tsl_1", "taskId": "tsk_1", (name): value }));
            let given = arguments(&UPDATE_TASK, given).expect("arguments");
            let error = update_task(&context(&shared, &policy), given).await.err();
            assert_eq!(error.map(|error| error.code).unwrap_or_default(), code, "{name}");
        }
        let nothing = arguments(&UPDATE_TASK, fields(json!({ "taskListId": "tsl_1", "taskId": "tsk_1" })));
        let error = update_task(&context(&api, &policy), nothing.expect("arguments")).await.unwrap_err();
        assert_eq!(error.code, "missing_field");
    }
}
