//! Questions to invitees, and their answers.

use harness::TestServer;
use serde_json::{Value, json};

use super::{BOOKINGS, Desk, booking};

fn questions() -> Value {
    json!({ "questions": [
        { "key": "topic", "label": "Topic", "type": "select", "options": ["a", "b"], "required": true },
        { "key": "many", "label": "Many", "type": "multiselect", "options": ["a", "b"] },
        { "key": "line", "label": "Line", "type": "text" },
        { "key": "text", "label": "Text", "type": "textarea" },
        { "key": "yes", "label": "Yes", "type": "boolean" },
        { "key": "number", "label": "Number", "type": "number" },
        { "key": "phone", "label": "Phone", "type": "phone" },
        { "key": "email", "label": "Email", "type": "email" },
    ] })
}

/// Answers of every kind are kept as they were given.
#[tokio::test]
async fn every_kind_of_question_is_answered() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", questions()).await;
    let answers = json!({
        "topic": "b", "many": ["a", "b"], "line": "x", "text": "x\ny", "yes": false, "number": 1.5,
        "phone": "+49 30 123456", "email": "ada@example.org",
    });
    let mut body = booking(&id, "09:00");
    body["answers"] = answers.clone();
    let booked = desk.api.post(BOOKINGS, body).send().await.expect(201);
    assert_eq!(booked["answers"], answers);
}

/// An answer to an unknown question is refused.
#[tokio::test]
async fn an_unknown_question_is_400() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", questions()).await;
    let mut body = booking(&id, "09:00");
    body["answers"] = json!({ "topic": "a", "colour": "red" });
    let refused = desk.api.post(BOOKINGS, body).send().await.refused(400, "invalid_parameter");
    assert_eq!(refused["param"], "answers.colour");
}

/// Each answer that does not fit its question is named, and so is one that is missing.
#[tokio::test]
async fn a_wrong_answer_is_named() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", questions()).await;
    for (answers, code, param) in [
        (json!({}), "missing_field", "answers.topic"),
        (json!({ "topic": "" }), "missing_field", "answers.topic"),
        (json!({ "topic": "c" }), "invalid_parameter", "answers.topic"),
        (json!({ "topic": "a", "many": ["a", "a"] }), "invalid_parameter", "answers.many"),
        (json!({ "topic": "a", "line": "x\ny" }), "invalid_parameter", "answers.line"),
        (json!({ "topic": "a", "text": 1 }), "invalid_parameter", "answers.text"),
        (json!({ "topic": "a", "yes": "yes" }), "invalid_parameter", "answers.yes"),
        (json!({ "topic": "a", "number": "one" }), "invalid_parameter", "answers.number"),
        (json!({ "topic": "a", "phone": "call me" }), "invalid_parameter", "answers.phone"),
        (json!({ "topic": "a", "email": "nobody" }), "invalid_parameter", "answers.email"),
    ] {
        let mut body = booking(&id, "09:00");
        body["answers"] = answers.clone();
        let refused = desk.api.post(BOOKINGS, body).send().await.refused(400, code);
        assert_eq!(refused["param"], param, "{answers}");
    }
}

/// The title has the names of the event type, of the invitee and of the host who meets.
#[tokio::test]
async fn a_title_is_made_of_its_template() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({ "titleTemplate": "{invitee} and {host}: {title}" })).await;
    let booked = desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.expect(201);
    assert_eq!(booked["title"], "Ada and Alice: Intro call");
}
