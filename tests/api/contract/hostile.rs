//! Hostile and broken input, everywhere: each place of each body gets values that do not belong there. For any input the response follows
//! the contract: never a 5xx, and errors in the one envelope.

use harness::{Actor, TestServer};
use reqwest::Method;
use serde_json::{Value, json};
use switchboard::api;

/// Values of every type, some at the edge of what computers can hold, some that are expensive to believe.
fn misfits() -> Vec<Value> {
    vec![
        Value::Null,
        json!(true),
        json!(-1),
        json!(i64::MAX),
        json!(1e308),
        json!(""),
        json!("\u{0}"),
        json!("x".repeat(3000)),
        json!("2026-13-45T99:99:99Z"),
        json!("9999-12-31T23:59:59Z"),
        json!("0001-01-01T00:00:00Z"),
        json!("RRULE:FREQ=SECONDLY;COUNT=999999999"),
        json!([]),
        json!([[]]),
        json!([{}]),
        json!(vec!["x"; 3000]),
        json!({ "a": { "b": [1] } }),
        json!({ "": "" }),
    ]
}

/// The pointers of every place in a value, its own among them.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(map) => map.iter().for_each(|(name, v)| places(v, &format!("{at}/{name}"), found)),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(i, v)| places(v, &format!("{at}/{i}"), found))
        }
        _ => {}
    }
}

/// The writes and queries, each with a body that says as much as it can.
fn requests(connection: &Value, calendar: &str, new: &Value, event: &Value) -> Vec<(Method, String, Value)> {
    let (connection, id) = (&connection["id"], event["id"].as_str().expect("an id"));
    let events = format!("/v1/calendars/{calendar}/events");
    let hours =
        json!([{ "days": [1, 2], "start": "08:00", "end": "11:00", "timeZone": "UTC", "exdates": [] }]);
    let availability = json!({
        "durationMinutes": 30, "start": "2026-03-02T00:00:00Z", "end": "2026-03-04T00:00:00Z", "timeZone": "UTC",
        "slotIntervalMinutes": 15, "bufferBeforeMinutes": 0, "minNoticeMinutes": 0, "openHours": hours, "limit": 5,
        "participants": [{ "members": [{ "connectionId": connection, "calendarIds": [calendar], "openHours": hours }], "required": "all" }],
    });
    let freebusy = json!({
        "start": "2026-03-02T00:00:00Z", "end": "2026-03-04T00:00:00Z", "timeZone": "UTC", "tentativeAsBusy": true,
        "targets": [{ "connectionId": connection, "calendarIds": [calendar] }],
    });
    let key = json!({ "name": "x", "scopes": ["calendar.read"], "allowedDomains": [], "allowedIps": [], "rateLimitPerMinute": 10,
        "connectionIds": [], "expiresAt": null });
    let account = json!({ "provider": "sandbox", "credentials": { "username": "alice@sandbox.test", "password": "sandbox" },
        "scopes": ["calendar.read"], "settings": {}, "tags": {}, "metadata": {}, "displayName": "x" });
    let own = json!({ "connectionId": connection, "name": "x", "timeZone": "UTC", "color": null, "metadata": {}, "defaultReminders": [] });
    let rsvp = json!({ "comment": "x", "notifyOrganizer": true, "recurrenceScope": "all", "etag": "x" });
    vec![
        (Method::POST, "/v1/connections".to_owned(), account),
        (Method::POST, "/v1/api-keys".to_owned(), key),
        (Method::POST, "/v1/calendars".to_owned(), own.clone()),
        (Method::PATCH, format!("/v1/calendars/{calendar}"), own),
        (Method::POST, events.clone(), new.clone()),
        (Method::PATCH, format!("{events}/{id}"), event.clone()),
        (Method::POST, format!("{events}/{id}/accept"), rsvp),
        (Method::POST, format!("{events}/{id}/conference"), json!({ "provider": "other" })),
        (Method::POST, "/v1/calendars/freebusy/query".to_owned(), freebusy),
        (Method::POST, "/v1/calendars/availability/query".to_owned(), availability),
        (Method::POST, format!("/v1/calendars/{calendar}/sync/start"), json!({ "backfillSince": null })),
        (Method::POST, format!("/v1/calendars/{calendar}/sync/reset"), json!({ "mode": "soft" })),
    ]
}

/// Returns such requests for contacts and tasks: each is made first, so that there is an item to change.
async fn more_requests(api: &Actor, connection: &str) -> Vec<(Method, String, Value)> {
    let contact = json!({
        "connectionId": connection, "displayName": "x", "givenName": "x", "emails": [{ "value": "a@b.example", "type": "home",
        "label": "x", "primary": true }], "phones": [{ "value": "+49 30 901820", "type": "mobile" }],
        "addresses": [{ "type": "home", "street": "x", "countryCode": "DE" }], "organizations": [{ "name": "x", "current": true }],
        "urls": [{ "value": "https://a.example/" }], "imAddresses": [{ "protocol": "xmpp", "handle": "x" }],
        "relations": [{ "name": "x", "type": "friend" }], "birthday": { "year": 1999, "month": 12, "day": 31 },
        "anniversaries": [{ "type": "wedding", "date": { "month": 2, "day": 29 } }], "notes": "x",
        "photo": { "url": "data:image/png;base64,iVBORw0KGgo=" }, "groupIds": [], "starred": true, "metadata": { "a": "b" },
    });
    let made = api.post("/v1/contacts", contact.clone()).send().await.expect(201);
    let group =
        json!({ "connectionId": connection, "name": "x", "contactIds": [made["id"]], "metadata": {} });
    let grouped = api.post("/v1/contact-groups", group.clone()).send().await.expect(201);
    let book = json!({ "connectionId": connection, "name": "x", "description": "x", "metadata": {} });
    let booked = api.post("/v1/contact-books", book.clone()).send().await.expect(201);
    let list = json!({ "connectionId": connection, "name": "x", "color": "#123456", "sortOrder": 1, "metadata": {} });
    let listed = api.post("/v1/task-lists", list.clone()).send().await.expect(201);
    let path_of = |base: &str, one: &Value| format!("{base}/{}", one["id"].as_str().expect("an id"));
    let list_path = path_of("/v1/task-lists", &listed);
    let tasks = format!("{list_path}/tasks");
    let task = json!({
        "title": "x", "notes": "x", "notesFormat": "html", "status": "inProgress", "priority": "low", "percentComplete": 10,
        "startDate": "2026-03-01", "dueDate": "2026-03-02", "dueTime": "10:00", "timeZone": "Europe/Berlin",
        "reminderAt": "2026-03-02T09:00:00Z", "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"], "categories": ["x"],
        "assignees": [{ "email": "a@b.example", "name": "x" }], "position": "a", "metadata": {},
    });
    let to_do = api.post(&tasks, task.clone()).send().await.expect(201);
    let task_path = path_of(&tasks, &to_do);
    let steps = format!("{task_path}/checklist-items");
    let step = json!({ "title": "x", "checked": true, "position": "a" });
    let stepped = api.post(&steps, step.clone()).send().await.expect(201);
    let link =
        json!({ "url": "https://a.example/", "title": "x", "applicationName": "x", "resourceType": "url" });
    let query = json!({ "connectionId": connection, "bookIds": [made["bookId"]], "contactIds": [made["id"]], "minScore": 0.5,
        "limit": 5, "cursor": null });
    let followed = json!({ "connectionId": connection, "mode": "soft" });
    vec![
        (Method::POST, "/v1/contacts".to_owned(), contact),
        (Method::PATCH, path_of("/v1/contacts", &made), made),
        (Method::POST, "/v1/contact-groups".to_owned(), group),
        (Method::PATCH, path_of("/v1/contact-groups", &grouped), grouped),
        (Method::POST, "/v1/contact-books".to_owned(), book),
        (Method::PATCH, path_of("/v1/contact-books", &booked), booked),
        (Method::POST, "/v1/contacts/merge-suggestions/query".to_owned(), query),
        (Method::POST, "/v1/contacts/sync/start".to_owned(), json!({ "connectionId": connection })),
        (Method::POST, "/v1/contacts/sync/reset".to_owned(), followed),
        (Method::POST, "/v1/task-lists".to_owned(), list),
        (Method::PATCH, list_path.clone(), listed),
        (Method::POST, tasks, task),
        (Method::PATCH, task_path.clone(), to_do),
        (Method::POST, steps.clone(), step),
        (Method::PATCH, path_of(&steps, &stepped), stepped),
        (Method::POST, format!("{task_path}/links"), link),
        (Method::POST, format!("{list_path}/sync/start"), json!({ "backfillSince": null })),
        (Method::POST, format!("{list_path}/sync/reset"), json!({ "mode": "soft" })),
    ]
}

/// PostgreSQL cannot store U+0000 in texts: it is an error of the field, on either engine.
#[tokio::test]
async fn the_character_nul_is_refused_by_field() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let new = json!({ "name": "x", "scopes": ["calendar.read"], "allowed_ips": ["a\u{0}"] });
    let error = api.post("/v1/api-keys", new).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "allowedIps[0]");
    let odd = json!({ "metadata": { "a\u{0}": "x" } });
    let error = api.post("/v1/api-keys", odd).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "metadata.a");
    let error = api.get("/v1/connections?provider=a%00").send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "provider");
    api.get("/v1/api-keys/key%00").send().await.refused(404, "not_found");
}

async fn answered(api: &Actor, method: &Method, path: &str, body: Option<Value>) {
    let answer = api.ask(method.clone(), path.to_owned(), body).send().await;
    assert!(answer.status < 500 || answer.status == 501, "{answer}");
    let error = &answer.answer["error"];
    let is_error = match path {
        // RFC 6749 section 5.2 rules there.
        "/v1/oauth/token" => error.is_string() && answer.answer["error_description"].is_string(),
        _ => error["code"].is_string() && error["request_id"].is_string(),
    };
    assert!(answer.status < 400 || is_error, "{answer}");
}

#[tokio::test]
async fn a_misfit_anywhere_in_a_body_is_no_server_error() {
    let server = TestServer::start().await;
    let api = server.key("test", |key| key.rate_limit_per_minute = 1_000_000).await;
    let connection = api.connect_sandbox().await;
    let calendar = api.calendar(&connection, "Work").await;
    let new = json!({ "title": "a", "start": "2026-03-02T09:00:00Z", "end": "2026-03-02T10:00:00Z",
        "attendees": [{ "email": "bob@sandbox.test" }], "reminders": { "overrides": [{ "minutesBefore": 5 }] },
        "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"] });
    let event = api.post(format!("/v1/calendars/{calendar}/events"), new.clone()).send().await.expect(201);
    try_all(&api, requests(&connection, &calendar, &new, &event)).await;
}

#[tokio::test]
async fn a_misfit_anywhere_in_a_contact_or_a_task_is_no_server_error() {
    let server = TestServer::start().await;
    let api = server.key("test", |key| key.rate_limit_per_minute = 1_000_000).await;
    let connection = api.connect_account("zoe").await;
    let requests = more_requests(&api, &connection).await;
    try_all(&api, requests).await;
}

/// Every misfit at every place of every body.
async fn try_all(api: &Actor, requests: Vec<(Method, String, Value)>) {
    for (method, path, body) in requests {
        let mut found = Vec::new();
        places(&body, "", &mut found);
        for place in found {
            for misfit in misfits() {
                let mut body = body.clone();
                *body.pointer_mut(&place).expect("a place of it") = misfit;
                answered(api, &method, &path, Some(body)).await;
            }
        }
    }
}

#[tokio::test]
async fn a_misfit_in_the_address_is_no_server_error() {
    let server = TestServer::start().await;
    let api = server.key("test", |key| key.rate_limit_per_minute = 1_000_000).await;
    // A stream has no end to wait for: `events::stream` has its own wrong addresses.
    for operation in api::operations().iter().filter(|o| !o.public && !o.docs.streams) {
        for id in ["%ff", "%00", "..%2f..", "_", "evt__x", "%F0%9F%98%80", "x%20y"] {
            let segments = operation.path.split('/').map(|s| if s.starts_with('{') { id } else { s });
            let path = segments.collect::<Vec<_>>().join("/");
            let body = (operation.method != Method::GET).then(|| json!({}));
            answered(&api, &operation.method, &path, body).await;
        }
        if operation.method == Method::GET {
            for query in [
                "limit=99999999999999999999",
                "cursor=%ff",
                "start=9999-12-31T23:59:59Z&end=x",
                "q=%00",
                "limit=1&limit=2",
                "&&=&",
            ] {
                answered(
                    &api,
                    &operation.method,
                    &format!("{}?{query}", operation.path.replace(['{', '}'], "")),
                    None,
                )
                .await;
            }
        }
    }
}

/// Bodies that cost more to understand than to send: each is refused with the place at fault, by every operation alike.
#[tokio::test]
async fn bodies_that_are_bombs_are_refused() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let zeros = |n: usize| format!("[{}0]", "0,".repeat(n - 1));
    let bombs = [
        (format!("{{\"{}\":{}}}", "k".repeat(300_000), zeros(800_000)), 400, "body"),
        (format!("{{\"a\":{}}}", zeros(900_000)), 400, "a"),
        (format!("{{\"a\":{}1{}}}", "[".repeat(100), "]".repeat(100)), 400, ""),
        (format!("{}1{}", "[".repeat(900_000), "]".repeat(900_000)), 400, ""),
        (
            format!("{{{}\"z\":0}}", (0..90_000).map(|i| format!("\"k{i}\":0,")).collect::<String>()),
            400,
            "body",
        ),
        (format!("{{\"a\":[{}0]}}", format!("{},", zeros(9_000)).repeat(100)), 400, ""),
        (format!("{{\"a\":\"{}\"}}", "x".repeat(3 << 20)), 413, ""),
    ];
    for path in ["/v1/api-keys", "/v1/connections", "/v1/email/send", "/v1/calendars/freebusy/query"] {
        for (body, status, param) in &bombs {
            // Files may come with a message: it may be larger, but not longer.
            let status = if path == "/v1/email/send" { 400 } else { *status };
            for key in [None, Some("bomb")] {
                let mut ask = api.post(path, json!({})).raw("application/json", body.clone());
                if let Some(key) = key {
                    ask = ask.keyed(key);
                }
                let answer = ask.send().await;
                assert_eq!(answer.status, status, "{path}: {}", answer.answer);
                if !param.is_empty() {
                    assert_eq!(&answer.answer["error"]["param"], param);
                }
            }
        }
    }
}

/// Ignored fields are named, up to a maximum number.
#[tokio::test]
async fn unknown_fields_are_named_up_to_a_number() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let mut body = json!({ "name": "x", "scopes": ["calendar.read"] });
    for i in 0..900 {
        body[format!("unknown{i}")] = json!(i);
    }
    let made = api.post("/v1/api-keys", body).send().await.expect(201);
    assert_eq!(made["warnings"].as_array().map(Vec::len), Some(100));
    let long = json!({ "name": "x", "scopes": ["calendar.read"], "rateLimitPerMinute": "9".repeat(100_000) });
    let error = api.post("/v1/api-keys", long).send().await.refused(400, "invalid_parameter");
    assert!(
        error["message"].as_str().is_some_and(|m| m.len() < 1_000),
        "what was given is not sent back whole"
    );
}
