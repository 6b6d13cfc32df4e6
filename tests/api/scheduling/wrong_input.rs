//! Faults of requests are reported with their field.

use harness::{Actor, TestServer};
use serde_json::{Value, json};

use super::{BOOKINGS, DAY, Desk, EVENT_TYPES, SLOTS, booking, on};

const FAULT: &str = "invalid_parameter";
const UNSUPPORTED: &str = "capability_not_supported";
const MISSING: &str = "missing_field";

/// Invalid fields, with the expected code and field of the error.
fn of_event_types() -> Vec<(Value, &'static str, &'static str)> {
    let weekly = |row: Value| json!({ "schedule": { "timeZone": "UTC", "weekly": [row] } });
    vec![
        (json!({ "slug": null }), MISSING, "slug"),
        (json!({ "slug": "Not A Slug" }), FAULT, "slug"),
        (json!({ "slug": "x".repeat(65) }), FAULT, "slug"),
        (json!({ "title": null }), MISSING, "title"),
        (json!({ "title": "a\nb" }), FAULT, "title"),
        (json!({ "durationMinutes": null }), MISSING, "durationMinutes"),
        (json!({ "durationMinutes": 0 }), FAULT, "durationMinutes"),
        (json!({ "durationMinutes": 1_441 }), FAULT, "durationMinutes"),
        (json!({ "durationMinutes": "30" }), FAULT, "durationMinutes"),
        (json!({ "durationOptions": [30, 4] }), FAULT, "durationOptions[1]"),
        (json!({ "slotIntervalMinutes": 4 }), FAULT, "slotIntervalMinutes"),
        (json!({ "slotOffsetMinutes": -1 }), FAULT, "slotOffsetMinutes"),
        (json!({ "bufferBeforeMinutes": 1_441 }), FAULT, "bufferBeforeMinutes"),
        (json!({ "bufferAfterMinutes": -1 }), FAULT, "bufferAfterMinutes"),
        (json!({ "minNoticeMinutes": -1 }), FAULT, "minNoticeMinutes"),
        (json!({ "color": "red" }), FAULT, "color"),
        (json!({ "bookingWindow": { "kind": "rolling" } }), MISSING, "bookingWindow.days"),
        (
            json!({ "bookingWindow": { "kind": "range", "endDate": "tomorrow" } }),
            FAULT,
            "bookingWindow.endDate",
        ),
        (json!({ "limits": { "perDay": 0 } }), FAULT, "limits.perDay"),
        (json!({ "schedule": { "timeZone": "Mars/Base" } }), "invalid_time_zone", "schedule.timeZone"),
        (
            weekly(json!({ "days": [8], "start": "09:00", "end": "10:00" })),
            FAULT,
            "schedule.weekly[0].days[0]",
        ),
        (weekly(json!({ "days": [1], "start": "9", "end": "10:00" })), FAULT, "schedule.weekly[0].start"),
        (json!({ "scheduleId": "sch_1" }), "conflicting_fields", "scheduleId"),
        (json!({ "schedule": null, "scheduleId": "sch_1" }), FAULT, "scheduleId"),
        (json!({ "hosts": [] }), MISSING, "hosts"),
        (json!({ "hosts": [{}] }), MISSING, "hosts[0].connectionId"),
        (json!({ "hosts": [{ "connectionId": "conn_none" }] }), FAULT, "hosts[0].connectionId"),
        (
            json!({ "hosts": [{ "connectionId": "a" }, { "connectionId": "a" }] }),
            FAULT,
            "hosts[1].connectionId",
        ),
        (json!({ "hosts": [{ "connectionId": "a", "role": "rotation" }] }), FAULT, "hosts[0].role"),
        (
            json!({ "assignment": "collective", "hosts": [{ "connectionId": "a", "role": "optional" }] }),
            FAULT,
            "hosts[0].role",
        ),
        (
            json!({
                "assignment": "roundRobin", "roundRobinStrategy": "weighted",
                "hosts": [{ "connectionId": "a", "role": "rotation" }],
            }),
            FAULT,
            "hosts[0].weight",
        ),
        (json!({ "hosts": [{ "connectionId": "a", "weight": -1 }] }), FAULT, "hosts[0].weight"),
        (json!({ "hosts": [{ "connectionId": "a", "role": "boss" }] }), FAULT, "hosts[0].role"),
        (json!({ "assignment": "roundRobin" }), FAULT, "hosts[0].role"),
        (json!({ "assignment": "anybody" }), FAULT, "assignment"),
        (json!({ "seatsPerSlot": 0 }), FAULT, "seatsPerSlot"),
        (json!({ "seatsPerSlot": 1_001 }), FAULT, "seatsPerSlot"),
        (json!({ "confirmationExpiresMinutes": 0 }), FAULT, "confirmationExpiresMinutes"),
        (
            json!({ "notifications": { "reminders": [{ "minutesBefore": 0 }] } }),
            FAULT,
            "notifications.reminders[0].minutesBefore",
        ),
        (json!({ "locations": [{ "type": "zoom" }] }), UNSUPPORTED, "locations[0].type"),
        (json!({ "locations": [{ "type": "googleMeet" }] }), UNSUPPORTED, "locations[0].type"),
        (
            json!({ "locations": [{ "type": "link", "value": "nonsense" }] }),
            "invalid_url",
            "locations[0].value",
        ),
        (json!({ "questions": [{ "key": "a b", "label": "x" }] }), FAULT, "questions[0].key"),
        (
            json!({ "questions": [{ "key": "a", "label": "x", "type": "select" }] }),
            MISSING,
            "questions[0].options",
        ),
        (json!({ "successRedirectUrl": "http://example.org" }), "invalid_url", "successRedirectUrl"),
        (json!({ "link": { "embedDomains": ["*.example.org"] } }), FAULT, "link.embedDomains[0]"),
        (json!({ "metadata": { "": "x" } }), FAULT, "metadata."),
        (json!({ "id": "et_other" }), FAULT, "id"),
    ]
}

#[tokio::test]
async fn each_wrong_field_of_an_event_type_is_named() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let path = format!("{EVENT_TYPES}/{}", desk.open("intro", json!({})).await);
    let before = desk.api.get(&path).send().await.expect(200);
    for (wrong, code, param) in of_event_types() {
        let mut body = desk.event_type("other");
        for (name, value) in wrong.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let error = desk.api.post(EVENT_TYPES, body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{wrong}");
        let error = desk.api.patch(&path, wrong.clone()).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{wrong}");
    }
    assert_eq!(desk.api.get(&path).send().await.expect(200), before);
}

/// A calendar has to be one of the connection's.
#[tokio::test]
async fn a_calendar_of_somebody_else_is_refused() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let other = Desk::of(&server, "bob").await;
    let mut body = desk.event_type("intro");
    body["hosts"][0]["calendarId"] = json!(other.calendar);
    let refused = desk.api.post(EVENT_TYPES, body).send().await.refused(400, FAULT);
    assert_eq!(refused["param"], "hosts[0].calendarId");
    let mut body = desk.event_type("intro");
    body["hosts"][0]["conflictCalendarIds"] = json!([desk.calendar, other.calendar]);
    let refused = desk.api.post(EVENT_TYPES, body).send().await.refused(400, FAULT);
    assert_eq!(refused["param"], "hosts[0].conflictCalendarIds[1]");
}

async fn each(api: &Actor, path: &str, good: &Value, faults: Vec<(Value, &str, &str)>) {
    for (wrong, code, param) in faults {
        let mut body = good.clone();
        for (name, value) in wrong.as_object().expect("an object") {
            body[name] = value.clone();
        }
        let error = api.post(path, body).send().await.refused(400, code);
        assert_eq!(error["param"], param, "{wrong}");
    }
}

#[tokio::test]
async fn each_wrong_field_of_a_query_is_named() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    let faults = vec![
        (json!({ "eventTypeId": null }), MISSING, "eventTypeId"),
        (json!({ "slug": "intro" }), "conflicting_fields", "slug"),
        (json!({ "start": null }), MISSING, "start"),
        (json!({ "end": null }), MISSING, "end"),
        (json!({ "start": "2026-03-10" }), FAULT, "start"),
        (json!({ "end": "2026-03-10T00:00:00Z" }), "invalid_time_range", "end"),
        (json!({ "end": "2026-05-12T00:00:00Z" }), "range_too_large", "end"),
        (json!({ "timeZone": "Mars/Base" }), "invalid_time_zone", "timeZone"),
        (json!({ "durationMinutes": 31 }), FAULT, "durationMinutes"),
        (json!({ "hostIds": ["conn_none"] }), FAULT, "hostIds[0]"),
        (json!({ "limit": 0 }), FAULT, "limit"),
        (json!({ "cursor": "nonsense" }), "invalid_cursor", "cursor"),
    ];
    each(&desk.api, SLOTS, &on(&id, DAY), faults).await;
    desk.api.post(SLOTS, on("et_none", DAY)).send().await.refused(404, "not_found");
}

#[tokio::test]
async fn each_wrong_field_of_a_booking_is_named() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let fields = json!({
        "locations": [{ "type": "inPerson", "value": "Room 1" }, { "type": "phoneInvitee" }],
        "questions": [{ "key": "topic", "label": "Topic", "type": "text" }],
    });
    let id = desk.open("intro", fields).await;
    let faults = vec![
        (json!({ "eventTypeId": null }), MISSING, "eventTypeId"),
        (json!({ "start": null }), MISSING, "start"),
        (json!({ "start": "10 March" }), FAULT, "start"),
        (json!({ "start": "9999-01-01T00:00:00Z" }), FAULT, "start"),
        (json!({ "inviteeEmail": null }), MISSING, "inviteeEmail"),
        (json!({ "inviteeEmail": "nobody" }), FAULT, "inviteeEmail"),
        (json!({ "inviteeEmail": "evil.example/login@example.org" }), FAULT, "inviteeEmail"),
        (json!({ "inviteeEmail": "www.evil.example@example.org" }), FAULT, "inviteeEmail"),
        (json!({ "inviteeEmail": "evil.example?x=1@example.org" }), FAULT, "inviteeEmail"),
        (json!({ "inviteeName": "a\r\nb" }), FAULT, "inviteeName"),
        (json!({ "inviteeName": "x".repeat(257) }), FAULT, "inviteeName"),
        (json!({ "inviteeName": "https://evil.example" }), FAULT, "inviteeName"),
        (json!({ "inviteeName": "Reset at evil.example/login" }), FAULT, "inviteeName"),
        (json!({ "inviteeName": "\u{ff45}vil\u{ff0e}example/login" }), FAULT, "inviteeName"),
        (json!({ "inviteeName": "a\u{2028}b" }), FAULT, "inviteeName"),
        (json!({ "guests": [{ "email": "a@b.c", "name": "//evil.example" }] }), FAULT, "guests[0].name"),
        (json!({ "guests": [{ "email": "a@b.c", "name": "a\u{85}b" }] }), FAULT, "guests[0].name"),
        (json!({ "inviteePhone": "1.evil.org" }), FAULT, "inviteePhone"),
        (json!({ "inviteePhone": "Account locked: call 1 900 555" }), FAULT, "inviteePhone"),
        (json!({ "inviteePhone": "https://evil.example/1" }), FAULT, "inviteePhone"),
        (json!({ "inviteeTimeZone": "Mars/Base" }), "invalid_time_zone", "inviteeTimeZone"),
        (json!({ "inviteePhone": "call me" }), FAULT, "inviteePhone"),
        (json!({ "durationMinutes": 45 }), FAULT, "durationMinutes"),
        (json!({ "guests": [{ "email": "nobody" }] }), FAULT, "guests[0].email"),
        (json!({ "guests": [{ "email": "evil.example/x@example.org" }] }), FAULT, "guests[0].email"),
        (json!({ "answers": { "other": "x" } }), FAULT, "answers.other"),
        (json!({ "answers": { "topic": 5 } }), FAULT, "answers.topic"),
        (json!({ "location": { "type": "zoom" } }), FAULT, "location"),
        (json!({ "location": { "type": "phoneInvitee" } }), MISSING, "inviteePhone"),
        (json!({ "notes": "x".repeat(10_001) }), FAULT, "notes"),
        (json!({ "metadata": { "": "x" } }), FAULT, "metadata."),
        (json!({ "slotToken": "nonsense" }), FAULT, "slotToken"),
    ];
    each(&desk.api, BOOKINGS, &booking(&id, "09:00"), faults).await;
    desk.api.post(BOOKINGS, booking("et_none", "09:00")).send().await.refused(404, "not_found");
}

/// Several mistakes are reported at once, each with its field.
#[tokio::test]
async fn all_faults_of_a_booking_are_told_at_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let questions = json!([{ "key": "topic", "label": "Topic", "type": "text", "required": true }]);
    let id = desk.open("intro", json!({ "questions": questions })).await;
    let told = async |body: Value, code: &str| {
        let error = desk.api.post(BOOKINGS, body).send().await.refused(400, code);
        let details = error["details"].as_array().expect("a list").iter();
        let fields: Vec<Value> = details.map(|detail| detail["field"].clone()).collect();
        assert_eq!(error["param"], fields[0]);
        json!(fields)
    };
    let missing = told(json!({ "inviteeName": "Ada" }), MISSING).await;
    assert_eq!(missing, json!(["eventTypeId", "start", "inviteeEmail"]));
    let mut body = booking(&id, "09:00");
    body["inviteeEmail"] = json!("nobody");
    body["inviteePhone"] = json!("call me");
    body["guests"] = json!([{ "email": "a@b.c" }, { "email": "nobody" }]);
    let wrong = told(body.clone(), FAULT).await;
    assert_eq!(wrong, json!(["inviteeEmail", "inviteePhone", "guests[1].email", "answers.topic"]));
    body["guests"] = (0..30).map(|_| json!({ "email": "nobody" })).collect();
    assert_eq!(told(body, FAULT).await.as_array().map(Vec::len), Some(20));
}
