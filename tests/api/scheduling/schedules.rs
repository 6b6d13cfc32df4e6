//! `/v1/scheduling/schedules`

use harness::TestServer;
use serde_json::{Value, json};

use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, booking, on, starts, text};

const SCHEDULES: &str = "/v1/scheduling/schedules";

/// Weekdays between these times.
fn office(start: &str, end: &str) -> Value {
    json!({
        "name": "Office", "timeZone": "UTC", "weekly": [{ "days": [1, 2, 3, 4, 5], "start": start, "end": end }],
    })
}

#[tokio::test]
async fn a_schedule_is_made_read_changed_and_deleted() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let mut body = office("09:00", "10:00");
    body["metadata"] = json!({ "team": "sales" });
    let made = api.post(SCHEDULES, body.clone()).keyed("k").send().await.expect(201);
    let path = format!("{SCHEDULES}/{}", text(&made["id"]));
    assert!(text(&made["id"]).starts_with("sch_"));
    assert_eq!((&made["name"], &made["timeZone"]), (&json!("Office"), &json!("UTC")));
    assert_eq!((&made["overrides"], &made["metadata"]), (&json!([]), &json!({ "team": "sales" })));
    assert_eq!(api.post(SCHEDULES, body).keyed("k").send().await.expect(201), made);
    assert_eq!(api.get(&path).send().await.expect(200), made);
    assert_eq!(api.all(SCHEDULES).await, std::slice::from_ref(&made));

    let etag = text(&made["etag"]);
    let change = json!({ "name": "Shop" });
    let changed = api.patch(&path, change.clone()).if_match(&etag).send().await.expect(200);
    assert_eq!((&changed["name"], &changed["weekly"]), (&json!("Shop"), &made["weekly"]));
    assert_ne!(changed["etag"], made["etag"]);
    api.patch(&path, change.clone()).if_match(&etag).send().await.refused(409, "stale_etag");
    assert_eq!(api.patch(&path, change).send().await.expect(200)["etag"], changed["etag"]);
    api.delete(&path).if_match(&etag).send().await.refused(409, "stale_etag");

    let other = server.key("other", |_| ()).await;
    other.get(&path).send().await.refused(404, "not_found");
    other.delete(&path).send().await.refused(404, "not_found");
    api.delete(&path).send().await.expect(204);
    api.get(&path).send().await.refused(404, "not_found");
    assert_eq!(api.all(SCHEDULES).await, Vec::<Value>::new());
}

/// The hours of an event type that names a schedule are that schedule's, from each change of it on; it stays as long as it is used.
#[tokio::test]
async fn an_event_type_has_the_hours_of_its_schedule() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let made = desk.api.post(SCHEDULES, office("09:00", "10:00")).send().await.expect(201);
    let path = format!("{SCHEDULES}/{}", text(&made["id"]));
    let id = desk.open("intro", json!({ "schedule": null, "scheduleId": made["id"] })).await;
    let event_type = format!("{EVENT_TYPES}/{id}");
    let read = desk.api.get(&event_type).send().await.expect(200);
    assert_eq!((&read["scheduleId"], &read["schedule"]), (&made["id"], &Value::Null));
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["09:00", "09:30"]);

    desk.api.patch(&path, office("10:00", "11:00")).send().await.expect(200);
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["10:00", "10:30"]);
    desk.api.post(BOOKINGS, booking(&id, "09:00")).send().await.refused(409, "slot_unavailable");
    desk.api.post(BOOKINGS, booking(&id, "10:00")).send().await.expect(201);

    let refused = desk.api.delete(&path).send().await.refused(409, "invalid_state");
    assert!(text(&refused["message"]).contains(&id), "{refused}");
    let hours = office("11:00", "12:00");
    let own = json!({ "scheduleId": null, "schedule": { "timeZone": "UTC", "weekly": hours["weekly"] } });
    desk.api.patch(&event_type, own).send().await.expect(200);
    assert_eq!(starts(&desk.api, &on(&id, DAY)).await, ["11:00", "11:30"]);
    desk.api.delete(&path).send().await.expect(204);
    let gone = json!({ "schedule": null, "scheduleId": made["id"] });
    let refused = desk.api.patch(&event_type, gone).send().await.refused(400, "invalid_parameter");
    assert_eq!(refused["param"], "scheduleId");
}

#[tokio::test]
async fn each_wrong_field_of_a_schedule_is_named() {
    let server = TestServer::start().await;
    let api = server.client().await;
    let made = api.post(SCHEDULES, office("09:00", "10:00")).send().await.expect(201);
    let path = format!("{SCHEDULES}/{}", text(&made["id"]));
    let window = |start: &str| json!({ "weekly": [{ "days": [1], "start": start, "end": "10:00" }] });
    let weekday = |day: i64| json!({ "weekly": [{ "days": [day], "start": "09:00", "end": "10:00" }] });
    let open_on = |date: &str| json!({ "overrides": [{ "date": date, "available": true }] });
    for (wrong, code, param) in [
        (json!({ "name": null }), "missing_field", "name"),
        (json!({ "name": " " }), "missing_field", "name"),
        (json!({ "name": "a\nb" }), "invalid_parameter", "name"),
        (json!({ "timeZone": null }), "missing_field", "timeZone"),
        (json!({ "timeZone": "Mars/Base" }), "invalid_time_zone", "timeZone"),
        (window("9"), "invalid_parameter", "weekly[0].start"),
        (weekday(8), "invalid_parameter", "weekly[0].days[0]"),
        (json!({ "overrides": [{ "date": "tomorrow" }] }), "invalid_parameter", "overrides[0].date"),
        (open_on("2026-12-24"), "missing_field", "overrides[0].windows"),
        (json!({ "metadata": { "": "x" } }), "invalid_parameter", "metadata."),
    ] {
        let mut body = office("09:00", "10:00");
        for (name, value) in wrong.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let refused = api.post(SCHEDULES, body).send().await.refused(400, code);
        assert_eq!(refused["param"], param, "{wrong}");
        let refused = api.patch(&path, wrong.clone()).send().await.refused(400, code);
        assert_eq!(refused["param"], param, "{wrong}");
    }
    assert_eq!(api.get(&path).send().await.expect(200), made);
}
