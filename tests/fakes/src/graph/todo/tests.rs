//! Calls of To Do as a client makes them, and the answers.

use serde_json::{Value, json};

use crate::clock::Clock;
use crate::graph::errors::GraphError;
use crate::graph::state::{AccountKind, GraphState};
use crate::graph::test_call::{call, json_of, query_of, texts};
use crate::graph::todo::answer;

const ANN: &str = "ann@work.test";

fn state() -> GraphState {
    let mut state = GraphState::new(Clock::default());
    state.add_account(ANN, "Ann", "W. Europe Standard Time", AccountKind::Work);
    state
}

fn send(state: &mut GraphState, line: &str, body: Value) -> Result<Value, GraphError> {
    answer(state, &call(ANN, line, body, &[])).map(|reply| json_of(&reply))
}

fn get(state: &mut GraphState, line: &str) -> Value {
    send(state, &format!("GET {line}"), Value::Null).unwrap_or_else(|error| panic!("{line}: {}", error.code))
}

fn refusal(state: &mut GraphState, line: &str, body: Value) -> (u16, String) {
    let error = send(state, line, body).expect_err("a refusal");
    (error.status, error.message)
}

/// The path of the tasks of a list.
fn tasks(state: &mut GraphState, list: &str) -> String {
    format!("todo/lists/{}/tasks", state.task_list_id(ANN, list))
}

#[test]
fn lists_have_well_known_ones_that_stay() {
    let mut state = state();
    let lists = get(&mut state, "todo/lists");
    assert_eq!(texts(&lists, "wellknownListName"), ["defaultList", "flaggedEmails"]);
    let flagged = state.task_list_id(ANN, "flaggedEmails");
    for line in [format!("DELETE todo/lists/{flagged}"), format!("PATCH todo/lists/{flagged}")] {
        assert_eq!(refusal(&mut state, &line, json!({ "displayName": "Mine" })).0, 400);
    }
    assert_eq!(
        refusal(&mut state, &format!("POST todo/lists/{flagged}/tasks"), json!({ "title": "x" })).0,
        400
    );
    let delta = get(&mut state, "todo/lists/delta");
    let made = send(&mut state, "POST todo/lists", json!({ "displayName": "House" })).expect("created");
    assert_eq!((&made["isOwner"], &made["wellknownListName"]), (&json!(true), &json!("none")));
    let next = get(&mut state, &format!("todo/lists/delta?{}", query_of(&delta, "@odata.deltaLink")));
    assert_eq!(texts(&next, "displayName"), ["House"]);
    let id = made["id"].as_str().expect("an id").to_owned();
    send(&mut state, &format!("PATCH todo/lists/{id}"), json!({ "displayName": "Home" })).expect("renamed");
    send(&mut state, &format!("DELETE todo/lists/{id}"), Value::Null).expect("deleted");
    let last = get(&mut state, &format!("todo/lists/delta?{}", query_of(&next, "@odata.deltaLink")));
    assert_eq!(
        (&last["value"][0]["id"], &last["value"][0]["@removed"]["reason"]),
        (&json!(id), &json!("deleted"))
    );
}

#[test]
fn due_of_a_shared_list_is_midnight_of_its_owner() {
    let mut state = state();
    let shared = state.add_shared_task_list(ANN, "Trip", "Pacific Standard Time");
    assert_eq!(get(&mut state, &format!("todo/lists/{shared}"))["isOwner"], false);
    let due = json!({ "title": "Pack", "dueDateTime": { "dateTime": "2026-03-05" } });
    state.put_task(ANN, "Trip", due.clone());
    state.put_task(ANN, "", due);
    for (list, expected) in [("Trip", "2026-03-05T08:00:00.0000000"), ("", "2026-03-04T23:00:00.0000000")] {
        let path = tasks(&mut state, list);
        let page = get(&mut state, &path);
        assert_eq!(page["value"][0]["dueDateTime"], json!({ "dateTime": expected, "timeZone": "UTC" }));
    }
}

#[test]
fn task_lives_with_its_parts() {
    let mut state = state();
    let path = tasks(&mut state, "");
    let link = json!({ "webUrl": "https://x.test/1", "applicationName": "Mail", "externalId": "1" });
    let body = json!({ "title": "Buy", "linkedResources": [link], "importance": "high" });
    let made = send(&mut state, &format!("POST {path}"), body).expect("created");
    assert!(made.get("dueDateTime").is_none() && made.get("linkedResources").is_none(), "{made}");
    let task = format!("{path}/{}", made["id"].as_str().expect("an id"));
    let item = send(&mut state, &format!("POST {task}/checklistItems"), json!({ "displayName": "Milk" }));
    let item = item.expect("created")["id"].as_str().expect("an id").to_owned();
    let line = format!("PATCH {task}/checklistItems/{item}");
    let checked = send(&mut state, &line, json!({ "isChecked": true })).expect("changed");
    assert_eq!((&checked["displayName"], checked["checkedDateTime"].is_string()), (&json!("Milk"), true));
    let id = made["id"].as_str().expect("an id");
    state.attach_to_task(ANN, id, "a.txt", "text/plain", b"abc");
    let expand = "$expand=checklistItems,linkedResources,attachments";
    let whole = get(&mut state, &format!("{task}?{expand}"));
    assert_eq!(
        (&whole["checklistItems"][0]["isChecked"], &whole["hasAttachments"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(whole["linkedResources"][0]["webUrl"], "https://x.test/1");
    assert_eq!(texts(&get(&mut state, &format!("{task}/attachments")), "name"), ["a.txt"]);
    let own_parts = json!({ "checklistItems": [] });
    assert_eq!(refusal(&mut state, &format!("PATCH {task}"), own_parts).0, 400);
    send(&mut state, &format!("DELETE {task}/checklistItems/{item}"), Value::Null).expect("deleted");
    assert_eq!(get(&mut state, &format!("{task}/checklistItems"))["value"], json!([]));
    let line = format!("{path}?$filter=status%20ne%20'completed'");
    assert_eq!(texts(&get(&mut state, &line), "title"), ["Buy"]);
    send(&mut state, &format!("PATCH {task}"), json!({ "status": "completed" })).expect("completed");
    assert_eq!(get(&mut state, &line)["value"], json!([]));
}

#[test]
fn delta_tells_of_parts_and_of_tasks_that_move() {
    let mut state = state();
    state.add_task_list(ANN, "House");
    let (path, house) = (tasks(&mut state, ""), tasks(&mut state, "House"));
    let id = state.put_task(ANN, "", json!({ "title": "Paint" }));
    let first = get(&mut state, &format!("{path}/delta"));
    let house_first = get(&mut state, &format!("{house}/delta"));
    assert_eq!(texts(&first, "id"), [id.as_str()]);
    state.put_checklist_item(ANN, &id, "Brush", false);
    let line = format!("{path}/delta?{}", query_of(&first, "@odata.deltaLink"));
    assert_eq!(texts(&get(&mut state, &line), "id"), [id.as_str()]);
    let first = get(&mut state, &format!("{path}/delta"));
    state.traps.set("todo_parts_silent", 9).expect("a trap");
    state.put_checklist_item(ANN, &id, "Colour", false);
    let line = format!("{path}/delta?{}", query_of(&first, "@odata.deltaLink"));
    assert_eq!(get(&mut state, &line)["value"], json!([]));
    let moved = state.move_task(ANN, &id, "House");
    assert_ne!(moved, id);
    assert_eq!(get(&mut state, &line)["value"][0]["@removed"]["reason"], "deleted");
    let line = format!("{house}/delta?{}", query_of(&house_first, "@odata.deltaLink"));
    assert_eq!(texts(&get(&mut state, &line), "id"), [moved.as_str()]);
    state.expire_task_tokens(ANN);
    assert_eq!(refusal(&mut state, &format!("GET {line}"), Value::Null).0, 410);
}

#[test]
fn delta_refuses_expand_unless_the_trap_is_on() {
    let mut state = state();
    let path = tasks(&mut state, "");
    let id = state.put_task(ANN, "", json!({ "title": "Paint" }));
    state.put_checklist_item(ANN, &id, "Brush", false);
    let line = format!("{path}/delta?$expand=checklistItems&$select=title");
    assert_eq!(refusal(&mut state, &format!("GET {line}"), Value::Null).0, 400);
    state.traps.set("todo_delta_expands", 9).expect("a trap");
    let page = get(&mut state, &line);
    assert_eq!(page["value"][0]["checklistItems"][0]["displayName"], "Brush");
    assert!(page["value"][0].get("status").is_none(), "{page}");
    state.put_checklist_item(ANN, &id, "Colour", true);
    let next = get(&mut state, &format!("{path}/delta?{}", query_of(&page, "@odata.deltaLink")));
    assert_eq!(next["value"][0]["checklistItems"].as_array().map(Vec::len), Some(2));
}

#[test]
fn recurrence_is_read_and_not_written() {
    let mut state = state();
    let path = tasks(&mut state, "");
    let body = json!({
        "title": "Water", "dueDateTime": { "dateTime": "2026-03-02", "timeZone": "UTC" },
        "recurrence": {
            "pattern": { "type": "weekly", "interval": 1, "daysOfWeek": ["monday"] },
            "range": { "type": "noEnd", "startDate": "2026-03-02" },
        },
    });
    let (status, message) = refusal(&mut state, &format!("POST {path}"), body.clone());
    assert_eq!((status, message.contains("recurrence.range.startDate")), (400, true));
    let id = state.put_task(ANN, "", body.clone());
    let read = get(&mut state, &format!("{path}/{id}"));
    assert_eq!(read["recurrence"]["pattern"]["daysOfWeek"], json!(["monday"]));
    let line = format!("PATCH {path}/{id}");
    let without = send(&mut state, &line, json!({ "dueDateTime": null })).expect("changed");
    assert!(without.get("dueDateTime").is_none() && without.get("recurrence").is_none(), "{without}");
    state.traps.set("todo_recurrence_taken", 9).expect("a trap");
    let again = json!({ "dueDateTime": body["dueDateTime"], "recurrence": body["recurrence"] });
    let written = send(&mut state, &line, again).expect("changed");
    assert_eq!(written["recurrence"]["range"]["type"], "noEnd");
}
