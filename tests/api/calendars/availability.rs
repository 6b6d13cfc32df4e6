//! `/v1/calendars/availability/query`

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]

use harness::{Actor, TestServer};
use serde_json::{Value, json};

const QUERY: &str = "/v1/calendars/availability/query";

fn id(value: &Value) -> &str {
    value["id"].as_str().expect("an id")
}

/// Connects an account, and returns the connection with an empty calendar of that account.
async fn member(api: &Actor, name: &str) -> (String, String) {
    let body = json!({
        "provider": "sandbox",
        "credentials": { "username": format!("{name}@sandbox.test"), "password": "sandbox" },
        "scopes": ["calendar.read", "calendar.write"],
    });
    let connection = api.connect(body).await;
    let body = json!({ "connection_id": id(&connection), "name": "Project", "time_zone": "Europe/Berlin" });
    let calendar = api.post("/v1/calendars", body).send().await.expect(201);
    (id(&connection).to_owned(), id(&calendar).to_owned())
}

async fn event(api: &Actor, calendar: &str, start: &str, end: &str) -> Value {
    let event = json!({ "title": "x", "start": start, "end": end });
    api.post(format!("/v1/calendars/{calendar}/events"), event).send().await.expect(201)
}

/// Start and end of every time, as in `10T09:00 10T09:30`: day and UTC.
fn times(answer: &Value) -> Vec<String> {
    let short = |t: &Value| t.as_str().expect("an instant")[8..16].to_owned();
    let both = |t: &Value| format!("{} {}", short(&t["start"]), short(&t["end"]));
    answer["data"].as_array().expect("a list").iter().map(both).collect()
}

/// Slots lie in the open hours of the zone, on a grid that begins with the window and that a busy time does not move; a slot
/// with its buffers touches nothing.
#[tokio::test]
async fn slots_of_one_member() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = member(&api, "alice").await;
    let busy = event(&api, &calendar, "2026-03-10T04:00:00Z", "2026-03-10T04:20:00Z").await;
    let mut query = json!({
        "durationMinutes": 30, "timeZone": "Asia/Kathmandu",
        "start": "2026-03-10T03:00:00Z", "end": "2026-03-10T12:00:00Z",
        "participants": [{ "members": [{ "connectionId": connection, "calendarIds": [calendar] }] }],
        "openHours": [{ "days": [1, 2, 3, 4, 5], "start": "09:00", "end": "11:30" }]
    });
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    // Nine o'clock in Kathmandu is 03:15 UTC.
    assert_eq!(times(&answer), ["10T03:15 10T03:45", "10T04:45 10T05:15", "10T05:15 10T05:45"]);
    assert_eq!(answer["data"][0]["participants"], json!([connection]));
    assert_eq!(
        (&answer["order"], &answer["complete"], &answer["unavailable"]),
        (&Value::Null, &json!(true), &json!([]))
    );

    query["bufferBeforeMinutes"] = json!(30);
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    assert_eq!(times(&answer), ["10T03:15 10T03:45", "10T05:15 10T05:45"]);

    query["ignoreEventIds"] = json!([id(&busy)]);
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    assert_eq!(answer["data"].as_array().expect("a list").len(), 5);

    query["limit"] = json!(2);
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(times(&answer), ["10T03:15 10T03:45", "10T03:45 10T04:15"]);
}

/// Without open hours the grid begins at midnight in the query's zone, wherever the range begins.
#[tokio::test]
async fn without_hours_the_grid_is_that_of_the_zone() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = member(&api, "alice").await;
    event(&api, &calendar, "2026-03-10T10:00:00Z", "2026-03-10T11:10:00Z").await;
    let mut query = json!({
        "durationMinutes": 60, "slotIntervalMinutes": 30, "timeZone": "Europe/Berlin",
        "start": "2026-03-10T08:07:00Z", "end": "2026-03-10T13:00:00Z", "responseFormat": "overlapping_slots",
        "participants": [{ "members": [{ "connectionId": connection, "calendarIds": [calendar] }] }],
    });
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    assert_eq!(
        times(&answer),
        ["10T08:30 10T09:30", "10T09:00 10T10:00", "10T11:30 10T12:30", "10T12:00 10T13:00"]
    );
    query["responseFormat"] = json!("slots");
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    assert_eq!(times(&answer), ["10T08:30 10T09:30", "10T11:30 10T12:30"]);
    query["responseFormat"] = json!("periods");
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(times(&answer), ["10T08:07 10T10:00", "10T11:10 10T13:00"]);
}

/// The notice is counted from now, as an instant.
#[tokio::test]
async fn nothing_is_offered_within_the_notice() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = member(&api, "alice").await;
    // It is 08:00 UTC on 1 March.
    let query = json!({
        "durationMinutes": 60, "minNoticeMinutes": 90,
        "start": "2026-03-01T08:00:00Z", "end": "2026-03-01T12:00:00Z",
        "participants": [{ "members": [{ "connectionId": connection, "calendarIds": [calendar] }] }],
    });
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(times(&answer), ["01T10:00 01T11:00", "01T11:00 01T12:00"]);
}

/// All members of a group, or some of them: then each time names who is free, and `order` whose turn it is.
#[tokio::test]
async fn some_of_a_group_are_enough() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (alice, alices) = member(&api, "alice").await;
    let (bob, bobs) = member(&api, "bob").await;
    event(&api, &alices, "2026-03-10T09:00:00Z", "2026-03-10T11:00:00Z").await;
    event(&api, &bobs, "2026-03-10T09:00:00Z", "2026-03-10T10:00:00Z").await;
    let members = json!([
        { "connectionId": alice, "calendarIds": [alices] },
        { "connectionId": bob, "calendarIds": [bobs] },
    ]);
    let mut query = json!({
        "durationMinutes": 60,
        "queryPeriods": [{ "start": "2026-03-10T09:00:00Z", "end": "2026-03-10T12:00:00Z" }],
        "participants": [{ "members": members, "required": "all" }],
    });
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    assert_eq!((times(&answer), &answer["order"]), (vec!["10T11:00 10T12:00".to_owned()], &Value::Null));
    query["participants"][0]["required"] = json!(1);
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(times(&answer), ["10T10:00 10T11:00", "10T11:00 10T12:00"]);
    assert_eq!(answer["data"][0]["participants"], json!([bob]));
    assert_eq!(answer["data"][1]["participants"], json!([alice, bob]));
    assert_eq!(answer["order"], json!([bob, alice]), "the least busy first");
}

/// A member that cannot be asked counts as busy, and is named.
#[tokio::test]
async fn who_cannot_be_asked_is_not_free() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (alice, calendar) = member(&api, "alice").await;
    let nobody = "conn_01JNOSUCHCONNECTION0000000";
    let mut query = json!({
        "durationMinutes": 60, "start": "2026-03-10T09:00:00Z", "end": "2026-03-10T10:00:00Z",
        "participants": [{
            "members": [{ "connectionId": alice, "calendarIds": [calendar] }, { "connectionId": nobody }],
            "required": 1
        }],
    });
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    assert_eq!(answer["data"][0]["participants"], json!([alice]));
    assert_eq!(answer["unavailable"], json!([{ "connectionId": nobody, "code": "not_found" }]));
    assert_eq!((&answer["complete"], &answer["order"]), (&json!(false), &json!([alice])));
    query["participants"][0]["required"] = json!("all");
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(answer["data"], json!([]));
}

/// Faults of the query are named before anybody is asked.
#[tokio::test]
async fn a_wrong_query_is_told_by_field() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let right = json!({
        "durationMinutes": 30, "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z",
        "participants": [{ "members": [{ "connectionId": "conn_1" }] }],
    });
    let periods = json!([{ "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z" }]);
    let cases = [
        ("durationMinutes", json!(null), "missing_field", "durationMinutes"),
        ("durationMinutes", json!(0), "invalid_parameter", "durationMinutes"),
        ("durationMinutes", json!(1441), "invalid_parameter", "durationMinutes"),
        ("slotIntervalMinutes", json!(0), "invalid_parameter", "slotIntervalMinutes"),
        ("bufferAfterMinutes", json!(-1), "invalid_parameter", "bufferAfterMinutes"),
        ("start", json!(null), "missing_field", "start"),
        ("end", json!("2026-03-10T00:00:00Z"), "invalid_time_range", "end"),
        ("end", json!("2026-05-12T00:00:00Z"), "range_too_large", "end"),
        ("queryPeriods", periods, "conflicting_fields", "queryPeriods"),
        ("timeZone", json!("Mars/Base"), "invalid_time_zone", "timeZone"),
        ("participants", json!([]), "missing_field", "participants"),
        (
            "participants",
            json!([{ "members": [{}] }]),
            "missing_field",
            "participants[0].members[0].connectionId",
        ),
        (
            "participants",
            json!([{ "members": [{ "connectionId": "conn_1" }], "required": 2 }]),
            "invalid_parameter",
            "participants[0].required",
        ),
        (
            "openHours",
            json!([{ "days": [1], "start": "09:00", "end": "25:00" }]),
            "invalid_parameter",
            "openHours[0].end",
        ),
        (
            "openHours",
            json!([{ "days": [1], "start": "09:00", "end": "17:00", "timeZone": "Mars/Base" }]),
            "invalid_time_zone",
            "openHours[0].timeZone",
        ),
        ("limit", json!(0), "invalid_parameter", "limit"),
    ];
    for (field, value, code, param) in cases {
        let mut query = right.clone();
        query[field] = value;
        let error = api.post(QUERY, query).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{error:#}");
    }
}
