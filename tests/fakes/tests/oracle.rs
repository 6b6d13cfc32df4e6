//! The discovery document as a judge: it refuses what Google's API does not have.

use fakes::oracle::{self, Discovery, Side};
use serde_json::{Value, json};

/// The document of the Calendar API; none, with a line that says so, where it is not installed and not required.
fn document() -> Option<Discovery> {
    match oracle::documents() {
        Ok(folder) => Some(oracle::load(&folder, "calendar.v3").expect("the document can be read")),
        Err(error) => {
            assert_ne!(std::env::var("SWITCHBOARD_REQUIRE_PEERS").as_deref(), Ok("1"), "{error:#}");
            println!("NOT RUN: {error:#}");
            None
        }
    }
}

/// Verb, query, body, and a part of the violation.
type WrongRequest<'a> = (&'a str, &'a [(&'a str, &'a str)], Option<Value>, &'a str);

fn segments(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

fn query(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_wrong_request_is_refused() {
    let Some(document) = document() else { return };
    let events = segments("calendar/v3/calendars/primary/events");
    let good = query(&[
        ("maxResults", "250"),
        ("showDeleted", "true"),
        ("eventTypes", "default"),
        ("eventTypes", "birthday"),
    ]);
    let call = document.request("GET", &events, &good, None).expect("this is what the document has");
    assert_eq!(call.method.id, "calendar.events.list");
    assert_eq!(call.path.get("calendarId").map(String::as_str), Some("primary"));

    let wrong: [WrongRequest<'_>; 12] = [
        ("GET", &[("maxResult", "1")], None, "unknown parameter"),
        ("GET", &[("maxResults", "0")], None, "0 is not from 1"),
        ("GET", &[("maxResults", "many")], None, "integer expected"),
        ("GET", &[("showDeleted", "yes")], None, "boolean expected"),
        ("GET", &[("orderBy", "title")], None, "is none of"),
        ("GET", &[("timeMin", "2026-03-01")], None, "is no"),
        ("GET", &[("q", "a"), ("q", "b")], None, "given twice"),
        ("GET", &[], Some(json!({})), "takes no body"),
        ("POST", &[("conferenceDataVersion", "2")], Some(json!({})), "2 is not from 0 to 1"),
        ("POST", &[], Some(json!({ "summary": "x", "titel": "y" })), "unknown member"),
        ("POST", &[], Some(json!({ "start": { "date": "3 March" } })), "is no date"),
        ("PUT", &[], Some(json!({})), "no such method"),
    ];
    for (verb, pairs, body, fault) in wrong {
        let violation = document.request(verb, &events, &query(pairs), body.as_ref()).expect_err(fault);
        assert_eq!(violation.side, Side::Request);
        assert!(violation.fault.contains(fault), "{violation} instead of {fault}");
    }
    // A patch clears a member; a local time may have its zone beside it.
    let event = segments("calendar/v3/calendars/primary/events/e1");
    let patch =
        json!({ "location": null, "start": { "dateTime": "2026-03-01T09:00:00", "timeZone": "UTC" } });
    document.request("PATCH", &event, &[], Some(&patch)).expect("a patch");
}

#[test]
fn a_wrong_answer_is_refused() {
    let Some(document) = document() else { return };
    let method = |id: &str| document.method(id).unwrap_or_else(|| panic!("no method {id}"));
    let (event, channel) = (method("calendar.events.get"), method("calendar.events.watch"));
    let good = json!({ "id": "e1", "start": { "dateTime": "2026-03-01T09:00:00+01:00" }, "sequence": 1 });
    document.answer(event, Some(&good)).expect("an event");
    document.answer(channel, Some(&json!({ "id": "c", "expiration": "1772352000000" }))).expect("a channel");
    document.answer(method("calendar.events.delete"), None).expect("no body");

    let wrong = [
        (event, Some(json!({ "id": "e1", "colour": "red" })), "unknown member"),
        (event, Some(json!({ "id": 1 })), "string expected"),
        (event, Some(json!({ "sequence": "1" })), "integer expected"),
        (event, Some(json!({ "location": null })), "string expected"),
        (event, Some(json!({ "start": { "dateTime": "2026-03-01T09:00:00" } })), "is no date-time"),
        (event, Some(json!({ "attendees": { "email": "a@b.test" } })), "array expected"),
        (event, None, "missing"),
        (channel, Some(json!({ "expiration": 1_772_352_000_000_i64 })), "string expected"),
        (channel, Some(json!({ "expiration": "soon" })), "is no int64"),
        (method("calendar.events.delete"), Some(json!({})), "answers none"),
    ];
    for (method, body, fault) in wrong {
        let violation = document.answer(method, body.as_ref()).expect_err(fault);
        assert_eq!(violation.side, Side::Answer);
        assert!(violation.fault.contains(fault), "{violation} instead of {fault}");
    }
}

/// Maxima, values and bytes as other documents have them.
#[test]
fn maxima_enums_and_bytes_are_judged() {
    let document = json!({
        "servicePath": "", "parameters": {},
        "schemas": { "Raw": { "type": "object", "properties": {
            "raw": { "type": "string", "format": "byte" },
            "kind": { "type": "string", "enum": ["a", "b"] },
            "history": { "type": "string", "format": "uint64" } } } },
        "resources": { "users": { "resources": { "messages": { "methods": { "list": {
            "id": "mail.users.messages.list", "httpMethod": "GET", "path": "v1/{+userId}/messages", "scopes": [],
            "parameters": { "maxResults": { "type": "integer", "location": "query", "format": "uint32", "maximum": "500" } },
            "response": { "$ref": "Raw" } } } } } } },
    });
    let document = Discovery::parse(&document.to_string()).expect("a document");
    let path = segments("v1/me/messages");
    let call = document.request("GET", &path, &query(&[("maxResults", "500")]), None).expect("the maximum");
    let violation =
        document.request("GET", &path, &query(&[("maxResults", "501")]), None).expect_err("over the maximum");
    assert!(violation.fault.contains("501 is not from 0 to 500"), "{violation}");
    document
        .answer(call.method, Some(&json!({ "raw": "_-8=", "kind": "a", "history": "18446744073709551615" })))
        .expect("an answer");
    for wrong in [json!({ "raw": "+/8=" }), json!({ "kind": "c" }), json!({ "history": 5 })] {
        document.answer(call.method, Some(&wrong)).expect_err("the document forbids it");
    }
}
