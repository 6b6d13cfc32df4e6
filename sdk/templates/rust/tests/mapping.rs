//! The mapping from Paper's answers to Switchboard's resources, without a host: the answers are recorded.

use connector_my_connector::MyConnector;
use connector_sdk::model::wire::{ChangesRequest, Connection};
use connector_sdk::testing::{Recorded, response, told};
use connector_sdk::{Context, Tasks};
use serde_json::json;

fn connection() -> Connection {
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), json!("https://paper.test"));
    connection
}

#[test]
fn an_item_is_a_task() {
    let page = json!({
        "items": [{ "id": "i1", "etag": "3", "title": "Buy milk", "note": "Two litres", "done": true, "due": "2026-05-01" }],
        "nextSince": "t7",
    });
    let url = "https://paper.test/v1/lists/l1/items?limit=100";
    let paper = Recorded::new().expect("GET", url, response(200, &[], &page.to_string()));
    let args = ChangesRequest { collection: Some("l1".into()), ..ChangesRequest::default() };
    let answer = MyConnector::changes(&Context::new(&paper, connection()), args).expect("an answer");
    assert_eq!((answer.cursor.as_deref(), answer.more), (Some("v1;since;t7"), false));
    let task = &told(&answer.body)["sources"][0]["items"][0]["body"];
    assert_eq!((&task["title"], &task["notes"], &task["dueDate"]), (&json!("Buy milk"), &json!("Two litres"), &json!("2026-05-01")));
    assert_eq!(task["status"], "completed");
}

#[test]
fn a_token_that_paper_forgot_starts_over() {
    let url = "https://paper.test/v1/lists/l1/items?limit=100&since=t1";
    let paper = Recorded::new().expect("GET", url, response(410, &[], "{}"));
    let context = Context::new(&paper, connection()).at(Some("v1;since;t1".into()));
    let args = ChangesRequest { collection: Some("l1".into()), ..ChangesRequest::default() };
    let failure = MyConnector::changes(&context, args).expect_err("no answer");
    assert_eq!(failure.code, "cursor-expired");
}
