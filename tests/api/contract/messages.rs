//! Errors of wrong bodies in words that a client developer knows: the field, what came, what is allowed, all of them at once.

use harness::TestServer;
use serde_json::{Value, json};

/// Words of Rust and serde that no error may have.
const FOREIGN_WORDS: [&str; 8] =
    ["struct", "variant", "i64", "u16", "sequence", "enum", "invalid type", "expected"];

/// The error's details as fields and messages. Fails if the first one is not the error itself, or a message speaks Rust.
#[track_caller]
fn faults(error: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let details = error["details"].as_array().expect("a list").iter();
    let found: Vec<_> = details.map(|one| (text(&one["field"]), text(&one["message"]))).collect();
    assert_eq!(found[0], (text(&error["param"]), text(&error["message"])), "{error:#}");
    for (field, message) in &found {
        assert!(message.starts_with(field.as_str()), "{message}");
        assert!(!FOREIGN_WORDS.iter().any(|word| message.contains(word)), "{message}");
    }
    found
}

/// A value of a wrong kind is explained: with an example of an object, the words of a list of words, the kind of a number.
#[tokio::test]
async fn a_wrong_kind_of_value_is_explained() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let events = format!("/v1/calendars/{}/events", api.calendar(&connection, "Work").await);
    let event = |change: Value| {
        let mut event =
            json!({ "title": "x", "start": "2026-03-02T10:00:00Z", "end": "2026-03-02T11:00:00Z" });
        event.as_object_mut().expect("an object").extend(change.as_object().expect("an object").clone());
        event
    };
    let event_type = json!({ "slug": "x", "title": "x", "hosts": [{}], "durationMinutes": 1.5 });
    let (send, types) = ("/v1/email/send", "/v1/scheduling/event-types");
    for (path, body, field, allowed, got) in [
        (send, json!({ "to": ["bob@x"] }), "to[0]", r#"{"email": "ada@example.com"}"#, "\"bob@x\""),
        (send, json!({ "from": { "email": "a@x.test" } }), "from", "a list", "an object"),
        (send, json!({ "body": { "text": 5 } }), "body.text", "a string", "`5`"),
        (send, json!({ "replyMode": "bogus" }), "replyMode", "one of reply,", "\"bogus\""),
        (types, event_type, "durationMinutes", "an integer, such as 30", "`1.5`"),
        (
            events.as_str(),
            event(json!({ "status": "bogus" })),
            "status",
            "confirmed, tentative, cancelled",
            "\"bogus\"",
        ),
        (events.as_str(), event(json!({ "attendees": ["x"] })), "attendees[0]", "an object such as", "\"x\""),
    ] {
        let error = api.post(path, body).send().await.refused(400, "invalid_parameter");
        let found = faults(&error);
        assert_eq!((found.len(), found[0].0.as_str()), (1, field), "{error:#}");
        assert!(found[0].1.contains(allowed) && found[0].1.ends_with(&format!("; got {got}")), "{error:#}");
    }
}

/// Several wrong fields are all in `details`.
#[tokio::test]
async fn all_wrong_fields_are_named_at_once() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let body = json!({ "connectionId": 5, "subject": "x", "to": "bob@x", "saveToSent": "no", "headers": [{ "name": 1 }] });
    let error = api.post("/v1/email/send", body).send().await.refused(400, "invalid_parameter");
    let mut fields: Vec<String> = faults(&error).into_iter().map(|(field, _)| field).collect();
    fields.sort();
    assert_eq!(fields, ["connectionId", "headers[0].name", "saveToSent", "to"], "{error:#}");
    let fields = ["slug", "title", "description", "durationMinutes", "hosts"];
    let body: Value = fields.into_iter().map(|name| (name.to_owned(), json!([[1]]))).collect();
    let error = api.post("/v1/scheduling/event-types", body).send().await.refused(400, "invalid_parameter");
    assert_eq!(faults(&error).len(), fields.len(), "{error:#}");
}

/// The error of a secret of a wrong kind says what is allowed, and does not repeat the secret.
#[tokio::test]
async fn a_secret_is_not_repeated() {
    let server = TestServer::start().await;
    let api = server.client().await;
    for (credentials, field) in [
        (json!({ "username": "alice@sandbox.test", "password": 918_273 }), "credentials.password"),
        (json!({ "accessToken": [918_273] }), "credentials.accessToken"),
        (json!("918273"), "credentials"),
    ] {
        let body = json!({ "provider": "sandbox", "credentials": credentials, "scopes": ["calendar.read"] });
        let error = api.post("/v1/connections", body).send().await.refused(400, "invalid_parameter");
        assert_eq!(faults(&error)[0].0, field, "{error:#}");
        assert!(!error.to_string().contains("918273"), "{error:#}");
    }
}
