//! `/v1/calendars/{calendarId}/events`

use harness::TestServer;
use serde_json::{Value, json};

async fn work_calendar(api: &harness::Actor) -> String {
    let connection = api.connect_sandbox().await;
    api.calendar(&connection, "Work").await
}

fn lunch() -> Value {
    json!({ "title": "Lunch", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z", "time_zone": "Europe/Berlin" })
}

/// A request body may be snake_case; the answer is camelCase, with every field of the model.
#[tokio::test]
async fn create_an_event() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let created = api.post(format!("/v1/calendars/{calendar}/events"), lunch()).send().await;
    assert!(created.header("location").is_some_and(|l| l.starts_with("/v1/calendars/")), "{created}");
    assert!(created.header("etag").is_some(), "{created}");
    let event = created.expect(201);
    assert_eq!(event["title"], "Lunch");
    assert_eq!(event["start"], "2026-03-02T11:00:00.000Z");
    assert_eq!(event["timeZone"], "Europe/Berlin");
    assert_eq!(event["type"], "single");
    assert_eq!(event["calendarId"], calendar);
    let missing: Vec<&str> = FIELDS.split_whitespace().filter(|f| event.get(f).is_none()).collect();
    assert!(missing.is_empty(), "fields that are not there: {missing:?}");
}

/// Every field of an event, present even where it is not set.
const FIELDS: &str = "id calendarId connectionId externalId iCalUid sequence etag type seriesId recurrenceId originalStart \
    start end timeZone endTimeZone allDay startDate endDate title description descriptionHtml location locations color \
    htmlLink status showAs busy visibility eventKind readOnly organizer creator attendees hideAttendees guestsCanModify \
    guestsCanInvite capacity myResponse recurrence conference reminders attachments metadata createdAt updatedAt warnings";

/// A change carries the etag that it is based on; a stale one is 409 with the current one.
#[tokio::test]
async fn a_stale_etag_is_a_conflict() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let event = api.post(format!("/v1/calendars/{calendar}/events"), lunch()).send().await.expect(201);
    let path = format!("/v1/calendars/{calendar}/events/{}", event["id"].as_str().expect("an id"));
    let first = event["etag"].as_str().expect("an etag");

    let changed = api.patch(&path, json!({ "title": "Long lunch" })).if_match(first).send().await.expect(200);
    assert_eq!(changed["title"], "Long lunch");
    assert_ne!(changed["etag"], event["etag"]);

    let stale = api.patch(&path, json!({ "title": "No lunch", "etag": first })).send().await;
    let error = stale.refused(409, "stale_etag");
    assert_eq!(error["current_etag"], changed["etag"]);
    assert_eq!(api.get(&path).send().await.expect(200)["title"], "Long lunch");

    api.delete(&path).if_match(first).send().await.refused(409, "stale_etag");
    api.delete(&path).if_match(changed["etag"].as_str().expect("an etag")).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
}

/// null clears, absent keeps, and what cannot be set is refused by name.
#[tokio::test]
async fn a_patch_is_a_merge_patch() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let body = json!({
        "title": "Review", "location": "Room 1", "description": "Bring figures",
        "start": "2026-03-03T09:00:00+01:00", "end": "2026-03-03T10:00:00+01:00",
        "attendees": [{ "email": "bob@sandbox.test", "name": "Bob" }],
        "metadata": { "deal": "42" }
    });
    let event = api.post(format!("/v1/calendars/{calendar}/events"), body).send().await.expect(201);
    let path = format!("/v1/calendars/{calendar}/events/{}", event["id"].as_str().expect("an id"));
    assert_eq!(event["start"], "2026-03-03T08:00:00.000Z");
    assert_eq!(event["metadata"]["deal"], "42");

    let changed = api.patch(&path, json!({ "location": null, "title": "Review 2" })).send().await.expect(200);
    assert_eq!((&changed["location"], &changed["description"]), (&Value::Null, &json!("Bring figures")));
    assert_eq!(changed["attendees"][0]["email"], "bob@sandbox.test");

    let error = api.patch(&path, json!({ "id": "evt_other" })).send().await.refused(400, "invalid_parameter");
    assert_eq!(error["param"], "id");
    let error = api.patch(&path, json!({ "attendees": [{ "email": "no address" }] })).send().await;
    assert_eq!(error.refused(400, "invalid_parameter")["param"], "attendees[0].email");
    let error = api.patch(&path, json!({ "status": "perhaps" })).send().await;
    assert_eq!(error.refused(400, "invalid_parameter")["param"], "status");
    let warned = api.patch(&path, json!({ "colour": "red" })).send().await.expect(200);
    assert_eq!(warned["warnings"][0]["code"], "unknown_field");
    let strict =
        api.patch(&path, json!({ "colour": "red" })).header("prefer", "handling=strict").send().await;
    strict.refused(400, "unknown_field");

    // Unknown fields inside of objects and lists are reported too.
    let inside = json!({ "reminders": { "useDefault": false, "overrides": [{ "minutesBefore": 5, "sound": "bell" }] } });
    let warned = api.patch(&path, inside).send().await.expect(200);
    assert_eq!(warned["reminders"]["overrides"], json!([{ "method": "popup", "minutesBefore": 5 }]));
    assert_eq!(warned["warnings"][0]["field"], "reminders.overrides[0].sound");
    let nameless = json!({ "reminders": { "overrides": [{ "minutes": 5 }] } });
    let error = api.patch(&path, nameless).send().await.refused(400, "missing_field");
    assert_eq!(error["param"], "reminders.overrides[0].minutesBefore");
    for (field, list) in
        [("reminders", json!([true, []])), ("attendees[0]", json!([["bob@sandbox.test", "Bob"]]))]
    {
        let name = field.trim_end_matches("[0]");
        let error = api.patch(&path, json!({ name: list })).send().await.refused(400, "invalid_parameter");
        assert_eq!(error["param"], field);
    }
}

/// The same Idempotency-Key with the same request is one event and one answer.
#[tokio::test]
async fn a_repeated_create_is_one_event() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let first = api.post(&path, lunch()).keyed("k1").send().await;
    let again = api.post(&path, lunch()).keyed("k1").send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_ne!(first.header("x-request-id"), again.header("x-request-id"));
    assert_eq!(first.expect(201), again.expect(201));
    let mut other = lunch();
    other["title"] = json!("Dinner");
    api.post(&path, other).keyed("k1").send().await.refused(409, "idempotency_key_reused");
    let found = api.all(&format!("{path}?q=lunch&start=2026-03-02T00:00:00Z&end=2026-03-03T00:00:00Z")).await;
    assert_eq!(found.iter().filter(|e| e["title"] == "Lunch").count(), 1);
}

/// Sixteen copies of one request at once: one event.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_copies_are_one_event() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let copies = (0..16).map(|_| api.post(&path, lunch()).keyed("race").send());
    let answers = futures::future::join_all(copies).await;
    let mut ids: Vec<String> =
        answers.into_iter().map(|a| a.expect(201)["id"].as_str().expect("an id").to_owned()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1);
}

/// A series is stored once; its instances are computed, can be read and changed on their own, and leave exceptions.
#[tokio::test]
async fn an_instance_of_a_series_has_an_id_of_its_own() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let id = connection["id"].as_str().expect("an id");
    let body = json!({ "connection_id": id, "name": "Series", "time_zone": "Europe/Berlin" });
    let calendar = api.post("/v1/calendars", body).send().await.expect(201);
    let path = format!("/v1/calendars/{}/events", calendar["id"].as_str().expect("an id"));
    let body = json!({
        "title": "Stand-up", "start": "2026-03-23T08:00:00Z", "end": "2026-03-23T08:15:00Z",
        "time_zone": "Europe/Berlin", "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=4"]
    });
    let series = api.post(&path, body).send().await.expect(201);
    assert_eq!(series["type"], "series");

    let range = "start=2026-03-01T00:00:00Z&end=2026-05-01T00:00:00Z&expand=true";
    let instances = api.all(&format!("{path}?{range}&limit=1")).await;
    let starts: Vec<&str> = instances.iter().filter_map(|i| i["start"].as_str()).collect();
    // Nine o'clock in Berlin stays nine o'clock when the clocks go forward on 29 March.
    assert_eq!(
        starts,
        [
            "2026-03-23T08:00:00.000Z",
            "2026-03-30T07:00:00.000Z",
            "2026-04-06T07:00:00.000Z",
            "2026-04-13T07:00:00.000Z"
        ]
    );
    let second = format!("{path}/{}", instances[1]["id"].as_str().expect("an id"));
    assert_eq!(api.get(&second).send().await.expect(200)["type"], "occurrence");

    let moved = json!({ "start": "2026-03-30T09:00:00Z", "end": "2026-03-30T09:15:00Z" });
    let exception = api.patch(&second, moved).send().await.expect(200);
    assert_eq!((&exception["type"], &exception["seriesId"]), (&json!("exception"), &series["id"]));
    assert_eq!(exception["recurrenceId"], "2026-03-30T09:00:00");
    let third = format!("{path}/{}", instances[2]["id"].as_str().expect("an id"));
    api.delete(&third).send().await.expect(204);
    let starts: Vec<Value> =
        api.all(&format!("{path}?{range}")).await.iter().map(|i| i["start"].clone()).collect();
    assert_eq!(
        starts,
        [
            json!("2026-03-23T08:00:00.000Z"),
            json!("2026-03-30T09:00:00.000Z"),
            json!("2026-04-13T07:00:00.000Z")
        ]
    );
}

/// All-day events are dates; their instants are midnights in the calendar's zone.
#[tokio::test]
async fn an_all_day_event_is_a_date() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let body = json!({ "title": "Fair", "allDay": true, "start": "2026-03-29", "timeZone": "Europe/Berlin" });
    let event = api.post(format!("/v1/calendars/{calendar}/events"), body).send().await.expect(201);
    assert_eq!((&event["startDate"], &event["endDate"]), (&json!("2026-03-29"), &json!("2026-03-30")));
    assert_eq!(event["start"], "2026-03-28T23:00:00.000Z");
    let wrong = json!({ "title": "Fair", "allDay": true, "start": "2026-03-29T10:00:00Z" });
    let error = api.post(format!("/v1/calendars/{calendar}/events"), wrong).send().await;
    assert_eq!(error.refused(400, "invalid_parameter")["param"], "start");
}

/// Faults of the input are named before the provider is asked.
#[tokio::test]
async fn wrong_input_is_told_by_field() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let cases = [
        (json!({ "title": "x", "end": "2026-03-02T11:00:00Z" }), "missing_field", "start"),
        (
            json!({ "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T10:00:00Z" }),
            "invalid_time_range",
            "end",
        ),
        (
            json!({ "start": "2026-03-02T11:00:00", "end": "2026-03-02T12:00:00Z" }),
            "invalid_parameter",
            "start",
        ),
        (
            json!({ "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z", "timeZone": "Mars/Base" }),
            "invalid_time_zone",
            "timeZone",
        ),
        (
            json!({ "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z", "recurrence": ["RRULE:FREQ=DAILY;COUNT=2;UNTIL=20260401T000000Z"] }),
            "invalid_recurrence",
            "recurrence[0]",
        ),
        (
            json!({ "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z", "start_date": "2026-03-02", "startDate": "2026-03-03" }),
            "conflicting_fields",
            "startDate",
        ),
    ];
    for (body, code, param) in cases {
        let error = api.post(&path, body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{error:#}");
    }
    api.post(&path, json!(null))
        .raw("application/json", "{\"title\":")
        .send()
        .await
        .refused(400, "invalid_json");
    api.get(&path).send().await.expect(200);
    api.get(format!("{path}?limit=0")).send().await.refused(400, "invalid_parameter");
    api.get(format!("{path}?expand=true")).send().await.refused(400, "missing_field");
    api.get(format!("{path}?cursor=made-up")).send().await.refused(400, "invalid_cursor");
}

/// A list that was asked for before is true each time: after a change here, after one at the provider, and for other filters.
#[tokio::test]
async fn a_list_that_is_asked_for_again_is_never_old() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let calendar = work_calendar(&api).await;
    let path = format!("/v1/calendars/{calendar}/events");
    let titles = async |query: &str| -> Vec<String> {
        let page = api.get(format!("{path}?limit=200{query}")).send().await.expect(200);
        let items = page["data"].as_array().expect("a list").iter();
        items.map(|event| event["title"].as_str().unwrap_or_default().to_owned()).collect()
    };
    let before = titles("").await;
    assert_eq!(titles("").await, before);

    let quince =
        json!({ "title": "Quince jam", "start": "2026-03-02T11:00:00Z", "end": "2026-03-02T12:00:00Z" });
    let event = api.post(&path, quince).send().await.expect(201);
    assert_eq!(titles("").await.len(), before.len() + 1);
    assert_eq!(titles("&q=quince").await, ["Quince jam"]);

    let one = format!("{path}/{}", event["id"].as_str().expect("an id"));
    api.patch(&one, json!({ "title": "Plum jam" })).send().await.expect(200);
    assert!(titles("").await.contains(&"Plum jam".to_owned()));
    assert_eq!(titles("&q=quince").await, Vec::<String>::new());

    api.delete(&one).send().await.expect(204);
    assert_eq!(titles("").await, before);
}

/// A single event that is given a rule is a series from then on, and a single one again without it.
#[tokio::test]
async fn an_event_becomes_a_series_and_one_event_again() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let connection = api.connect_sandbox().await;
    let path = format!("/v1/calendars/{}/events", api.calendar(&connection, "Work").await);
    let body = json!({ "title": "Often", "start": "2026-06-01T11:00:00Z", "end": "2026-06-01T12:00:00Z" });
    let event = api.post(&path, body).send().await.expect(201);
    let one = format!("{path}/{}", event["id"].as_str().expect("an id"));
    for (rule, times) in [(json!(["RRULE:FREQ=DAILY;COUNT=3"]), 3), (json!([]), 1)] {
        api.patch(&one, json!({ "recurrence": rule })).send().await.expect(200);
        let expanded = "expand=true&start=2026-06-01T00:00:00Z&end=2026-06-08T00:00:00Z&q=often";
        assert_eq!(api.all(&format!("{path}?{expanded}")).await.len(), times);
    }
}
