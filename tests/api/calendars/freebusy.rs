//! `/v1/calendars/freebusy/query`

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use harness::{Actor, TestServer};
use serde_json::{Value, json};

const QUERY: &str = "/v1/calendars/freebusy/query";

fn id(value: &Value) -> &str {
    value["id"].as_str().expect("an id")
}

/// Alice's connection and an empty calendar of hers.
async fn empty_calendar(api: &Actor, zone: &str) -> (String, String) {
    let connection = api.connect_sandbox().await;
    let body = json!({ "connection_id": id(&connection), "name": "Project", "time_zone": zone });
    let calendar = api.post("/v1/calendars", body).send().await.expect(201);
    (id(&connection).to_owned(), id(&calendar).to_owned())
}

async fn event(api: &Actor, calendar: &str, event: Value) -> Value {
    api.post(format!("/v1/calendars/{calendar}/events"), event).send().await.expect(201)
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().expect("a text")
}

fn times(busy: &Value) -> Vec<(&str, &str, &str)> {
    let shown = |b| (text(b, "start"), text(b, "end"), text(b, "showAs"));
    busy.as_array().expect("a list").iter().map(shown).collect()
}

/// Busy times are merged, sorted and clipped; free and cancelled events leave the time free; an all-day event blocks the day
/// of the calendar's zone.
#[tokio::test]
async fn busy_times_of_a_calendar() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = empty_calendar(&api, "Europe/Berlin").await;
    for (start, end, show_as) in [
        ("2026-03-10T09:30:00Z", "2026-03-10T11:00:00Z", "busy"),
        ("2026-03-10T09:00:00Z", "2026-03-10T10:00:00Z", "busy"),
        ("2026-03-10T10:30:00Z", "2026-03-10T12:00:00Z", "tentative"),
        ("2026-03-10T13:00:00Z", "2026-03-10T14:00:00Z", "free"),
        ("2026-03-10T12:30:00Z", "2026-03-10T16:00:00Z", "workingElsewhere"),
        ("2026-03-10T14:00:00Z", "2026-03-10T15:00:00Z", "oof"),
    ] {
        event(&api, &calendar, json!({ "title": "x", "start": start, "end": end, "showAs": show_as })).await;
    }
    event(
        &api,
        &calendar,
        json!({ "title": "Fair", "allDay": true, "startDate": "2026-03-11", "endDate": "2026-03-12" }),
    )
    .await;
    let mut query = json!({
        "start": "2026-03-10T10:15:00+01:00", "end": "2026-03-11T12:00:00Z",
        "targets": [{ "connection_id": connection, "calendar_ids": [calendar] }]
    });
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    assert_eq!((&answer["complete"], &answer["warnings"]), (&json!(true), &json!([])));
    let result = &answer["data"][0];
    assert_eq!((&result["status"], &result["error"]), (&json!("ok"), &Value::Null));
    assert_eq!(result["target"]["calendarIds"], json!([calendar]));
    assert_eq!(
        times(&result["busy"]),
        [
            ("2026-03-10T09:15:00.000Z", "2026-03-10T11:00:00.000Z", "busy"),
            ("2026-03-10T11:00:00.000Z", "2026-03-10T12:00:00.000Z", "tentative"),
            ("2026-03-10T14:00:00.000Z", "2026-03-10T15:00:00.000Z", "oof"),
            ("2026-03-10T23:00:00.000Z", "2026-03-11T12:00:00.000Z", "busy"),
        ]
    );
    query["tentativeAsBusy"] = json!(false);
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(answer["data"][0]["busy"].as_array().expect("a list").len(), 3, "{answer:#}");
}

/// A series blocks the time of every instance, also of moved ones, at the same wall clock when the clocks change.
#[tokio::test]
async fn a_series_is_busy_at_every_instance() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = empty_calendar(&api, "Europe/Berlin").await;
    let series = json!({
        "title": "Stand-up", "start": "2026-03-23T08:00:00Z", "end": "2026-03-23T08:15:00Z",
        "timeZone": "Europe/Berlin", "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=4"]
    });
    event(&api, &calendar, series).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let range = "start=2026-03-20T00:00:00Z&end=2026-04-30T00:00:00Z&expand=true";
    let instances = api.all(&format!("{path}?{range}")).await;
    let moved = json!({ "start": "2026-04-06T12:00:00Z", "end": "2026-04-06T12:15:00Z" });
    api.patch(format!("{path}/{}", id(&instances[2])), moved).send().await.expect(200);
    api.delete(format!("{path}/{}", id(&instances[3]))).send().await.expect(204);
    let query = json!({
        "start": "2026-03-20T00:00:00Z", "end": "2026-04-30T00:00:00Z",
        "targets": [{ "connectionId": connection, "calendarIds": [calendar] }]
    });
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(
        times(&answer["data"][0]["busy"]),
        [
            ("2026-03-23T08:00:00.000Z", "2026-03-23T08:15:00.000Z", "busy"),
            ("2026-03-30T07:00:00.000Z", "2026-03-30T07:15:00.000Z", "busy"),
            ("2026-04-06T12:00:00.000Z", "2026-04-06T12:15:00.000Z", "busy"),
        ]
    );
}

/// Each target is answered for itself: one that fails has its own error, fails no other, and is never free.
#[tokio::test]
async fn a_target_that_fails_fails_alone() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = empty_calendar(&api, "UTC").await;
    event(
        &api,
        &calendar,
        json!({ "title": "x", "start": "2026-03-10T09:00:00Z", "end": "2026-03-10T10:00:00Z" }),
    )
    .await;
    let stranger = server.key("stranger", |_| {}).await;
    let (foreign, _) = empty_calendar(&stranger, "UTC").await;
    let query = json!({
        "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z",
        "targets": [
            { "connectionId": connection, "calendarIds": [calendar] },
            { "connectionId": "conn_01JNOSUCHCONNECTION0000000" },
            { "connectionId": foreign },
            { "connectionId": connection, "calendarIds": ["cal_01JNOSUCHCALENDAR00000000"] },
            { "email": "nobody@sandbox.test", "viaConnectionId": connection },
            { "email": "bob@sandbox.test", "viaConnectionId": connection },
        ]
    });
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(answer["complete"], false);
    let data = answer["data"].as_array().expect("a list");
    let statuses: Vec<(&str, &str)> = data
        .iter()
        .map(|r| (r["status"].as_str().unwrap_or_default(), r["error"]["code"].as_str().unwrap_or_default()))
        .collect();
    let gone = ("error", "not_found");
    assert_eq!(statuses, [("ok", ""), gone, gone, gone, gone, ("ok", "")], "{answer:#}");
    assert_eq!(data[0]["busy"].as_array().expect("a list").len(), 1);
    assert!(data[1..5].iter().all(|r| r["busy"] == json!([])));
}

/// Data that was read before the provider went down is stale: the target is then an error, and not free.
#[tokio::test]
async fn a_provider_that_is_down_makes_nobody_free() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = empty_calendar(&api, "UTC").await;
    let query = json!({
        "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z",
        "targets": [{ "connectionId": connection, "calendarIds": [calendar] }]
    });
    assert_eq!(api.post(QUERY, query.clone()).send().await.expect(200)["complete"], true);
    let login = format!("Basic {}", BASE64_STANDARD.encode("alice@sandbox.test:sandbox"));
    let fault = json!({ "status": 503, "times": 1000, "pathPrefix": "/sandbox/v1" });
    server
        .anonymous()
        .post("/sandbox/faults", fault)
        .header("authorization", &login)
        .send()
        .await
        .expect(201);
    server.clock.advance_ms(60_000);
    let answer = api.post(QUERY, query).send().await.expect(200);
    assert_eq!(
        (&answer["complete"], &answer["data"][0]["status"]),
        (&json!(false), &json!("error")),
        "{answer:#}"
    );
    assert_eq!(answer["data"][0]["error"]["code"], "provider_unavailable", "{answer:#}");
}

/// `includeDetails` lists the events one by one to a key that may read them.
#[tokio::test]
async fn details_are_for_those_who_may_read() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (connection, calendar) = empty_calendar(&api, "UTC").await;
    let nine = json!({ "title": "Nine", "start": "2026-03-10T09:00:00Z", "end": "2026-03-10T10:00:00Z" });
    let half_past =
        json!({ "title": "Half past", "start": "2026-03-10T09:30:00Z", "end": "2026-03-10T10:00:00Z" });
    let created = event(&api, &calendar, nine).await;
    event(&api, &calendar, half_past).await;
    let query = json!({
        "start": "2026-03-10T00:00:00Z", "end": "2026-03-11T00:00:00Z", "include_details": true,
        "targets": [{ "connectionId": connection, "calendarIds": [calendar] }]
    });
    let answer = api.post(QUERY, query.clone()).send().await.expect(200);
    let busy = answer["data"][0]["busy"].as_array().expect("a list");
    assert_eq!((busy.len(), &busy[0]["eventId"], &busy[0]["title"]), (2, &created["id"], &json!("Nine")));
    let display = server.client_with(&["calendar.freebusy"]).await;
    display.post(QUERY, query.clone()).send().await.refused(403, "insufficient_scope");
    let mut plain = query;
    plain["include_details"] = json!(false);
    let answer = display.post(QUERY, plain).send().await.expect(200);
    let busy = answer["data"][0]["busy"].as_array().expect("a list");
    assert!(
        busy.len() == 1 && busy[0].get("eventId").is_none() && busy[0].get("title").is_none(),
        "{answer:#}"
    );
}

/// Faults of the query are named before anybody is asked.
#[tokio::test]
async fn a_wrong_query_is_told_by_field() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let (from, to) = ("2026-03-10T00:00:00Z", "2026-03-11T00:00:00Z");
    let target = json!({ "connectionId": "conn_1" });
    let cases = [
        (json!({ "end": to, "targets": [target] }), "missing_field", "start"),
        (json!({ "start": from, "end": to }), "missing_field", "targets"),
        (json!({ "start": from, "end": to, "targets": [] }), "missing_field", "targets"),
        (
            json!({ "start": "2026-03-10T00:00:00", "end": to, "targets": [target] }),
            "invalid_parameter",
            "start",
        ),
        (json!({ "start": to, "end": from, "targets": [target] }), "invalid_time_range", "end"),
        (json!({ "start": from, "end": from, "targets": [target] }), "invalid_time_range", "end"),
        (
            json!({ "start": from, "end": "2026-06-10T00:00:01Z", "targets": [target] }),
            "range_too_large",
            "end",
        ),
        (
            json!({ "start": from, "end": to, "timeZone": "Mars/Base", "targets": [target] }),
            "invalid_time_zone",
            "timeZone",
        ),
        (
            json!({ "start": from, "end": to, "targets": [target, {}] }),
            "missing_field",
            "targets[1].connectionId",
        ),
        (
            json!({ "start": from, "end": to, "targets": [target, target, { "email": "ada", "viaConnectionId": "conn_1" }] }),
            "invalid_parameter",
            "targets[2].email",
        ),
        (
            json!({ "start": from, "end": to, "targets": [{ "email": "ada@example.com" }] }),
            "missing_field",
            "targets[0].viaConnectionId",
        ),
    ];
    for (body, code, param) in cases {
        let error = api.post(QUERY, body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{error:#}");
    }
    let odd = json!({ "start": from, "end": to, "targets": [target], "colour": "red" });
    let answer = api.post(QUERY, odd.clone()).send().await.expect(200);
    assert_eq!(answer["warnings"][0]["code"], "unknown_field", "{answer:#}");
    api.post(QUERY, odd).header("prefer", "handling=strict").send().await.refused(400, "unknown_field");
}
