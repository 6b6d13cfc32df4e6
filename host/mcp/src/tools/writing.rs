//! The common parts of tools that write: the place that a new record goes to, the key of a repeated call, and warnings.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::api::{Api, Request, segment};
use crate::policy;
use crate::tool::{ToolError, json_of};
use crate::tools::shape::items;
use crate::untrusted;

/// Milliseconds in which a second call with the same arguments is a repetition of the first one, and no second act.
const REPEAT_WINDOW_MS: i64 = 600_000;
/// Warnings of an answer that are passed on.
const MAX_WARNINGS: usize = 2;
/// Bytes of a warning that are passed on.
const MAX_WARNING: usize = 160;

/// Returns the connection that a call means: the one that it names, else the only one that the key sees.
///
/// # Errors
/// `missing_field` if the key sees several, or may not list them.
pub async fn connection<A: Api>(api: &A, given: Option<String>) -> Result<String, ToolError> {
    if let Some(id) = given {
        return Ok(id);
    }
    let answer = api.call(Request::get("/v1/connections").with("limit", 2)).await;
    let mut page = match json_of(answer) {
        Err(error) if error.code == "insufficient_scope" => {
            return Err(unnamed_connection("the key may not list connections"));
        }
        other => other?,
    };
    match items(&mut page).as_slice() {
        [] => Err(ToolError::new("not_found", "no account is connected that this key may use")
            .remedy("Ask the user to connect an account.")),
        [only] => Ok(only["id"].as_str().unwrap_or_default().to_owned()),
        _ => Err(unnamed_connection("the key sees several connections")),
    }
}

fn unnamed_connection(reason: &str) -> ToolError {
    missing("connectionId", &format!("connectionId is required: {reason}"))
        .remedy("Take an id from list_connections. Ask the user if you do not know which account is meant.")
}

/// Returns the error of an argument that is missing.
pub fn missing(param: &str, message: &str) -> ToolError {
    ToolError::new("missing_field", message).param(param)
}

/// Returns the calendar that a call means: the one that it names, else the main calendar of the connection.
///
/// # Errors
/// `missing_field` if the connection is not clear, or has no main calendar that can be changed. `shared_with_others` for a calendar of
/// somebody else.
pub async fn calendar<A: Api>(
    api: &A,
    calendar_id: Option<String>,
    connection_id: Option<String>,
) -> Result<String, ToolError> {
    if let Some(id) = calendar_id {
        ensure_own_calendar(api, &id).await?;
        return Ok(id);
    }
    let connection = connection(api, connection_id).await?;
    let is_main = |one: &Value| one["isPrimary"] == true && one["readOnly"] != true;
    let found = only(api, "/v1/calendars", &connection, is_main).await?;
    found.ok_or_else(|| {
        missing(
            "calendarId",
            "the connection has no main calendar that can be changed, so calendarId is required",
        )
        .remedy("Take an id from list_calendars.")
    })
}

/// Returns the task list that a call means: the one that it names, else the default list of the connection.
///
/// # Errors
/// `missing_field` if the connection is not clear, or has no default list. `shared_with_others` for a list of somebody else.
pub async fn task_list<A: Api>(
    api: &A,
    task_list_id: Option<String>,
    connection_id: Option<String>,
) -> Result<String, ToolError> {
    if let Some(id) = task_list_id {
        ensure_own_list(api, &id).await?;
        return Ok(id);
    }
    let connection = connection(api, connection_id).await?;
    let is_default =
        |one: &Value| one["role"] == "default" && one["readOnly"] != true && one["isShared"] != true;
    let found = only(api, "/v1/task-lists", &connection, is_default).await?;
    found.ok_or_else(|| {
        missing("taskListId", "the connection has no default task list of its own, so taskListId is required")
            .remedy("Take an id from list_tasks, which names the lists.")
    })
}

/// Ensures that the account owns the calendar. Text in a calendar that somebody else shares with the account reaches them, so it would be a
/// way out around `policy::way_out`.
///
/// # Errors
/// `shared_with_others` for a calendar of somebody else, and the API's error if there is no such calendar.
pub async fn ensure_own_calendar<A: Api>(api: &A, id: &str) -> Result<(), ToolError> {
    ensure_own(api, format!("/v1/calendars/{}", segment(id)), "isOwned", "calendar").await
}

/// Ensures that the account owns the task list, and shows it to nobody else.
///
/// # Errors
/// As `ensure_own_calendar`.
pub async fn ensure_own_list<A: Api>(api: &A, id: &str) -> Result<(), ToolError> {
    ensure_own(api, format!("/v1/task-lists/{}", segment(id)), "isOwner", "task list").await
}

async fn ensure_own<A: Api>(api: &A, path: String, flag: &str, noun: &str) -> Result<(), ToolError> {
    let collection = json_of(api.call(Request::get(path)).await)?;
    if collection[flag] == true && collection["isShared"] != true {
        return Ok(());
    }
    let message =
        format!("the account shares this {noun} with other people, who see what is written into it");
    Err(ToolError::new("shared_with_others", message)
        .remedy(format!("Use a {noun} of the account alone, or ask the user to write it.")))
}

/// The id of the only collection of a connection that fits.
async fn only<A: Api>(
    api: &A,
    path: &str,
    connection_id: &str,
    fits: impl Fn(&Value) -> bool + Send + Sync,
) -> Result<Option<String>, ToolError> {
    let request = Request::get(path).with("connection_id", connection_id).with("limit", 200);
    let mut page = json_of(api.call(request).await)?;
    let all = items(&mut page);
    let fitting: Vec<&Value> = all.iter().filter(|one| fits(one)).collect();
    match fitting.as_slice() {
        [one] => Ok(one["id"].as_str().map(str::to_owned)),
        _ => Ok(None),
    }
}

/// The `Idempotency-Key` of a create. A client that got no answer calls the tool again with the same arguments: within ten minutes that is
/// the same act and makes no second record. MCP's own request ids begin anew with each client, so they cannot name the act.
pub fn repeat_key<A: Api>(api: &A, tool: &str, arguments: &impl Serialize) -> String {
    let window = api.now().div_euclid(REPEAT_WINDOW_MS);
    policy::digest(&json!({ "tool": tool, "window": window, "arguments": arguments }))
}

/// The body of a write: the arguments that were given, without those that are no fields of the record.
pub fn body(arguments: &impl Serialize, no_fields: &[&str]) -> Map<String, Value> {
    let Ok(Value::Object(mut body)) = serde_json::to_value(arguments) else { return Map::new() };
    body.retain(|name, _| !no_fields.contains(&name.as_str()));
    body
}

/// The warnings of an answer, as sentences.
pub fn warnings(answer: &Value) -> Value {
    let all = answer["warnings"].as_array().into_iter().flatten();
    let texts = all.filter_map(|warning| warning["message"].as_str()).take(MAX_WARNINGS);
    texts.map(|text| untrusted::shorten(&untrusted::clean_line(text, false).text, MAX_WARNING)).collect()
}

/// Whether an answer has a warning with this code.
pub fn has_warning(answer: &Value, code: &str) -> bool {
    answer["warnings"].as_array().into_iter().flatten().any(|warning| warning["code"] == code)
}

/// Reads an argument of which null has a meaning: it clears the field.
///
/// # Errors
/// Fails if the value has another type.
pub fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    given: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(given).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{body, calendar, connection, has_warning, repeat_key, warnings};
    use crate::tools::script::Script;

    fn connections(ids: &[&str]) -> Value {
        json!({ "data": ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>(), "next_cursor": null })
    }

    #[tokio::test]
    async fn the_only_connection_need_not_be_named() {
        let api = Script::new().on("GET", "/v1/connections", 200, connections(&["conn_1"]));
        assert_eq!(connection(&api, None).await, Ok("conn_1".to_owned()));
        assert_eq!(connection(&api, Some("conn_2".to_owned())).await, Ok("conn_2".to_owned()));
    }

    #[tokio::test]
    async fn of_several_connections_none_is_guessed() {
        let api = Script::new().on("GET", "/v1/connections", 200, connections(&["conn_1", "conn_2"]));
        let error = connection(&api, None).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.param.as_deref()), ("missing_field", Some("connectionId")));
        let refusal =
            json!({ "error": { "code": "insufficient_scope", "message": "needs connections.read" } });
        let api = Script::new().on("GET", "/v1/connections", 403, refusal);
        assert_eq!(connection(&api, None).await.unwrap_err().param.as_deref(), Some("connectionId"));
    }

    #[tokio::test]
    async fn a_new_event_goes_to_the_main_calendar() {
        let two = json!({ "data": [
            { "id": "cal_1", "isPrimary": false, "readOnly": false },
            { "id": "cal_2", "isPrimary": true, "readOnly": false },
        ] });
        let api = Script::new().on("GET", "/v1/calendars", 200, two);
        assert_eq!(calendar(&api, None, Some("conn_1".to_owned())).await, Ok("cal_2".to_owned()));
        let read_only = json!({ "data": [{ "id": "cal_1", "isPrimary": true, "readOnly": true }] });
        let api = Script::new().on("GET", "/v1/calendars", 200, read_only);
        let error = calendar(&api, None, Some("conn_1".to_owned())).await.unwrap_err();
        assert_eq!(error.param.as_deref(), Some("calendarId"));
    }

    /// Text in a calendar of somebody else reaches them.
    #[tokio::test]
    async fn nothing_is_written_into_calendars_of_others() {
        let api = Script::new()
            .on("GET", "/v1/calendars/cal_1", 200, json!({ "id": "cal_1", "isOwned": true }))
            .on("GET", "/v1/calendars/cal_2", 200, json!({ "id": "cal_2", "isOwned": false }));
        assert_eq!(calendar(&api, Some("cal_1".to_owned()), None).await, Ok("cal_1".to_owned()));
        let error = calendar(&api, Some("cal_2".to_owned()), None).await.unwrap_err();
        assert_eq!(error.code, "shared_with_others");
    }

    #[test]
    fn a_repetition_has_the_same_key_for_ten_minutes() {
        let key =
            |now, title: &str| repeat_key(&Script::new().at(now), "create_task", &json!({ "title": title }));
        assert_eq!(key(0, "Sweep"), key(599_999, "Sweep"));
        assert_ne!(key(0, "Sweep"), key(600_000, "Sweep"));
        assert_ne!(key(0, "Sweep"), key(0, "Paint"));
    }

    #[test]
    fn a_body_has_the_fields_of_the_record_alone() {
        let arguments = json!({ "calendarId": "cal_1", "title": "Lunch", "location": null });
        assert_eq!(
            Value::Object(body(&arguments, &["calendarId"])),
            json!({ "title": "Lunch", "location": null })
        );
    }

    #[test]
    fn warnings_are_sentences() {
        let answer = json!({ "warnings": [{ "code": "a", "message": "one\nline" }, { "code": "b" }] });
        assert_eq!(warnings(&answer), json!(["one line"]));
        assert!(has_warning(&answer, "b") && !has_warning(&answer, "c"));
    }
}
