//! The sandbox provider's own API, by example, without a connector or any part of Switchboard in between: users' tests may rely on this
//! behavior when they inject faults into the provider.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod contacts;
mod mail;
mod post;
mod push;
mod tasks;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt;
use sandbox_provider::{Config, Sandbox, router};
use serde_json::{Value, json};
use tower::ServiceExt;

/// Tuesday 2026-03-10, 08:00 in Berlin.
const NOW_MS: i64 = 1_773_126_000_000;

/// One account's way to a provider.
#[derive(Clone)]
struct Api {
    router: Router,
    login: String,
    now_ms: Arc<AtomicI64>,
}

/// An answer.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Value,
}

impl Answer {
    fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self.body
    }

    fn refused(self, status: u16, code: &str) {
        assert_eq!(
            (self.status.as_u16(), self.body["error"]["code"].as_str()),
            (status, Some(code)),
            "{}",
            self.body
        );
    }
}

impl Api {
    fn start() -> Self {
        Self::open(None)
    }

    fn open(data_dir: Option<&Path>) -> Self {
        let now_ms = Arc::new(AtomicI64::new(NOW_MS));
        let clock = now_ms.clone();
        let config = Config {
            data_dir: data_dir.map(Path::to_owned),
            seed: Some(7),
            ..Config::new(Arc::new(move || clock.load(Ordering::Relaxed)))
        };
        let router = router(Sandbox::new(config).expect("the provider starts"));
        Api { router, login: basic("alice@sandbox.test", "sandbox"), now_ms }
    }

    /// Opens a journal of these lines.
    fn replay(data_dir: &Path, lines: &[Value]) -> Self {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::create_dir(data_dir.join("sandbox")).unwrap();
        std::fs::write(data_dir.join("sandbox/journal.jsonl"), text).unwrap();
        Self::open(Some(data_dir))
    }

    fn as_person(&self, name: &str) -> Self {
        Api { login: basic(&format!("{name}@sandbox.test"), "sandbox"), ..self.clone() }
    }

    async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<Value>) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header("authorization", &self.login);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map_or_else(Body::empty, |b| Body::from(b.to_string()));
        let answer = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let (status, headers) = (answer.status(), answer.headers().clone());
        let bytes = answer.into_body().collect().await.map(|b| b.to_bytes()).unwrap_or_default();
        Answer { status, headers, body: serde_json::from_slice(&bytes).unwrap_or(Value::Null) }
    }

    async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        self.send("POST", path, &[], Some(body)).await
    }

    async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send("PATCH", path, &[], Some(body)).await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], None).await
    }

    /// Everything that a calendar has, and the token at its end.
    async fn walk(&self, calendar: &str, first: &str) -> (Vec<Value>, String) {
        self.walk_path(&events_of(calendar), first).await
    }

    /// Walks any folder: `path` ends with its contents.
    async fn walk_path(&self, path: &str, first: &str) -> (Vec<Value>, String) {
        let kind = path.rsplit('/').next().unwrap();
        let mut records = Vec::new();
        let mut query = first.to_owned();
        loop {
            let page = self.get(&format!("{path}?limit=10&{query}")).await.expect(200);
            records.extend(page[kind].as_array().unwrap().clone());
            match page["nextPageToken"].as_str() {
                Some(token) => query = format!("pageToken={token}"),
                None => return (records, page["nextSyncToken"].as_str().unwrap().to_owned()),
            }
        }
    }
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

fn events_of(calendar: &str) -> String {
    format!("/sandbox/v1/calendars/{calendar}/events")
}

const WORK: &str = "/sandbox/v1/calendars/work/events";

fn lunch() -> Value {
    json!({
        "id": "lunch",
        "title": "Lunch",
        "start": "2026-03-12T12:00:00+01:00",
        "end": "2026-03-12T13:00:00+01:00",
        "timeZone": "Europe/Berlin",
    })
}

fn daily() -> Value {
    json!({
        "id": "daily",
        "title": "Daily",
        "start": "2026-03-02T09:00:00+01:00",
        "end": "2026-03-02T09:30:00+01:00",
        "timeZone": "Europe/Berlin",
        "recurrence": ["RRULE:FREQ=DAILY;COUNT=10"],
    })
}

/// Accounts and their password are valid in every API.
#[tokio::test]
async fn log_in() {
    let api = Api::start();
    let me = api.get("/sandbox/v1/me").await.expect(200);
    assert_eq!(me["mail"], "alice@sandbox.test");
    assert_eq!(me["zone"], "Europe/Berlin");

    let bearer = Api { login: "Bearer sandbox-bob".to_owned(), ..api.clone() };
    assert_eq!(bearer.get("/sandbox/v1/me").await.expect(200)["mail"], "bob@sandbox.test");

    let wrong = Api { login: basic("alice@sandbox.test", "guess"), ..api.clone() };
    let refused = wrong.get("/sandbox/v1/me").await;
    assert!(refused.headers.contains_key("www-authenticate"));
    refused.refused(401, "unauthorized");
    let elsewhere = Api { login: basic("alice@example.com", "sandbox"), ..api.clone() };
    elsewhere.get("/sandbox/v1/me").await.refused(401, "unauthorized");
}

/// Some accounts only show one trouble each.
#[tokio::test]
async fn accounts_in_trouble() {
    let api = Api::start();
    api.as_person("revoked").get("/sandbox/v1/me").await.refused(401, "unauthorized");
    let throttled = api.as_person("throttled").get("/sandbox/v1/me").await;
    assert_eq!(throttled.headers["retry-after"], "1");
    throttled.refused(429, "tooManyRequests");
    api.as_person("down").get("/sandbox/v1/me").await.refused(503, "unavailable");
}

/// Three people with a full calendar; anybody else begins empty.
#[tokio::test]
async fn seeded_accounts() {
    let api = Api::start();
    let calendars = api.get("/sandbox/v1/calendars").await.expect(200);
    let names: Vec<_> = calendars["calendars"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
    assert_eq!(names, ["Work", "Holidays", "Personal"]);
    assert_eq!(calendars["calendars"][0]["isPrimary"], true);

    let mut count = 0;
    for calendar in ["work", "personal", "holidays"] {
        count += api.walk(calendar, "").await.0.len();
    }
    assert!((55..=80).contains(&count), "{count} events");

    let standup = api.get(&format!("{WORK}/alice-standup")).await.expect(200);
    assert_eq!(standup["type"], "series");
    assert_eq!(standup["exceptions"][0]["recurrenceId"], "2026-03-11T09:15:00");
    // Carol is invited: it is on her calendar, too, and it is not hers to change.
    let carol = api.as_person("carol");
    let copy = carol.get(&format!("{WORK}/alice-standup")).await.expect(200);
    assert_eq!((&copy["readOnly"], &copy["myResponse"]), (&json!(true), &json!("needsAction")));

    let fresh = api.as_person("ci-4711");
    assert_eq!(fresh.walk("work", "").await.0.len(), 0);
    assert_eq!(
        fresh.get("/sandbox/v1/calendars").await.expect(200)["calendars"].as_array().unwrap().len(),
        1
    );
}

#[tokio::test]
async fn calendars() {
    let api = Api::start();
    let path = "/sandbox/v1/calendars/side";
    let sent = json!({
        "id": "side", "name": "Side", "description": "aside", "timeZone": "Asia/Tokyo", "color": "#aabbcc", "location": "Shed",
        "defaultReminders": [{ "method": "email", "minutesBefore": 1440 }, { "method": "popup", "minutesBefore": 0 }],
        "includeInAvailability": "attending", "conferenceTypes": ["other", "zoom"], "apart": true,
    });
    let made = api.post("/sandbox/v1/calendars", sent.clone()).await.expect(201);
    for (name, value) in sent.as_object().unwrap() {
        assert_eq!(made[name], *value, "{name}");
    }
    assert_eq!((&made["accessRole"], &made["isOwned"]), (&json!("owner"), &json!(true)));
    api.post("/sandbox/v1/calendars", json!({ "id": "side", "name": "Again" })).await.refused(409, "exists");
    api.patch(path, json!({ "timeZone": "Mars/Olympus" })).await.refused(422, "invalidField");
    api.patch(path, json!({ "nmae": "Typo" })).await.refused(422, "invalidField");

    let etag = made["etag"].as_str().unwrap();
    let changed =
        api.send("PATCH", path, &[("if-match", etag)], Some(json!({ "name": "Aside" }))).await.expect(200);
    assert_eq!((&changed["name"], &changed["timeZone"]), (&json!("Aside"), &json!("Asia/Tokyo")));
    api.send("DELETE", path, &[("if-match", etag)], None).await.refused(412, "stale");
    api.delete(path).await.expect(204);
    api.get(path).await.refused(404, "notFound");
    api.delete("/sandbox/v1/calendars/work").await.refused(403, "mainCalendar");
    api.post(&events_of("holidays"), lunch()).await.refused(403, "locked");
}

#[tokio::test]
async fn one_event() {
    let api = Api::start();
    let made = api.post(WORK, lunch()).await;
    assert_eq!(made.headers["etag"], made.body["event"]["etag"].as_str().unwrap());
    let event = made.expect(201)["event"].clone();
    assert_eq!(
        (&event["start"], &event["timeZone"]),
        (&json!("2026-03-12T11:00:00.000Z"), &json!("Europe/Berlin"))
    );
    let me = json!({ "email": "alice@sandbox.test", "name": "Alice Berger", "self": true });
    assert_eq!(event["organizer"], me);

    let path = format!("{WORK}/lunch");
    let etag = event["etag"].as_str().unwrap();
    let body =
        json!({ "location": "Canteen", "allDay": true, "startDate": "2026-03-12", "endDate": "2026-03-13" });
    let changed = api.send("PATCH", &path, &[("if-match", etag)], Some(body)).await.expect(200);
    let event = &changed["event"];
    assert_eq!(event["title"], "Lunch", "a patch leaves the rest alone");
    assert_eq!(event["start"], "2026-03-11T23:00:00.000Z", "the midnight of the calendar's zone");
    assert_eq!(event["sequence"], 1);

    let stale = api.send("PATCH", &path, &[("if-match", etag)], Some(json!({ "location": "Bar" }))).await;
    assert_eq!(stale.headers["etag"], event["etag"].as_str().unwrap(), "a refusal names the current etag");
    stale.refused(412, "stale");
    api.send("DELETE", &path, &[("if-match", etag)], None).await.refused(412, "stale");
    api.delete(&path).await.expect(204);
    api.get(&path).await.refused(404, "notFound");
    let first = json!({ "id": "first", "start": "1970-01-01T00:00:00Z", "end": "1970-01-01T00:00:00Z" });
    api.post(WORK, merged(lunch(), first)).await.expect(201);
    api.patch(&format!("{WORK}/first"), json!({ "end": null })).await.refused(422, "invalidField");
}

/// A refusal names the field.
#[tokio::test]
async fn wrong_events() {
    let api = Api::start();
    let cases = [
        (json!({ "title": "no time" }), "start"),
        (json!({ "allDay": true, "startDate": "2026-03-12", "endDate": "2026-03-12" }), "endDate"),
        (merged(lunch(), json!({ "end": "2026-03-12T09:00:00Z" })), "end"),
        (merged(lunch(), json!({ "start": "2026-03-12T12:00:00" })), "start"),
        (merged(lunch(), json!({ "timeZone": "Berlin" })), "timeZone"),
        (merged(lunch(), json!({ "showAs": "sometimes" })), "showAs"),
        (merged(lunch(), json!({ "attendees": [{ "email": "nobody" }] })), "attendees[0].email"),
        (merged(lunch(), json!({ "recurrence": ["RRULE:FREQ=HOURS"] })), "recurrence"),
        (merged(lunch(), json!({ "color": "red" })), "color"),
        (merged(lunch(), json!({ "id": "UPPER" })), "id"),
    ];
    for (body, field) in cases {
        let refused = api.post(WORK, body).await;
        assert_eq!(refused.body["error"]["field"], field, "{}", refused.body);
        refused.refused(422, "invalidField");
    }
}

fn merged(mut base: Value, with: Value) -> Value {
    base.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    base
}

/// A client's id and an idempotency key both make a repetition harmless.
#[tokio::test]
async fn repeated_writes() {
    let api = Api::start();
    api.post(WORK, lunch()).await.expect(201);
    api.post(WORK, lunch()).await.refused(409, "exists");

    let key = [("idempotency-key", "k1")];
    let patch = || Some(json!({ "location": "Canteen" }));
    let path = format!("{WORK}/lunch");
    let first = api.send("PATCH", &path, &key, patch()).await.expect(200);
    let again = api.send("PATCH", &path, &key, patch()).await.expect(200);
    assert_eq!(first, again, "nothing was changed a second time");
    api.send("PATCH", &path, &key, Some(json!({ "location": "Bar" }))).await.refused(422, "keyReused");

    let key = [("idempotency-key", "k2")];
    api.send("DELETE", &path, &key, None).await.expect(204);
    api.send("DELETE", &path, &key, None).await.expect(204);
    api.delete(&path).await.refused(404, "notFound");
}

#[tokio::test]
async fn sync_tokens_expire() {
    let api = Api::start();
    let (_, token) = api.walk("work", "").await;
    let list = format!("{WORK}?syncToken={token}");
    api.get(&format!("{}?syncToken={token}", events_of("personal"))).await.refused(400, "badRequest");
    api.now_ms.fetch_add(8 * 24 * 3_600_000, Ordering::Relaxed);
    api.get(&list).await.refused(410, "syncTokenExpired");

    let (_, token) = api.walk("work", "").await;
    api.send("POST", "/sandbox/reset", &[], None).await.expect(204);
    api.get(&format!("{WORK}?syncToken={token}")).await.refused(410, "syncTokenExpired");
    api.get(&format!("{WORK}?syncToken=nonsense")).await.refused(400, "badRequest");
}

#[tokio::test]
async fn filters() {
    let api = Api::start();
    let ids = async |query: &str| -> Vec<String> {
        let page = api.get(&format!("{WORK}?limit=250&{query}")).await.expect(200);
        assert!(page["nextSyncToken"].is_null(), "a filtered list has no sync token");
        page["events"].as_array().unwrap().iter().map(|e| e["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids("q=MONTHLY").await, ["alice-review"]);
    assert_eq!(ids("uid=bob-sync@sandbox.test").await, ["bob-sync"]);
    assert_eq!(ids("guest=dana@customer.example").await, ["alice-customer"]);
    // A series counts when one of its instances lies in the range.
    let sunday = ids("from=2026-03-15T00:00:00Z&to=2026-03-15T23:00:00Z").await;
    assert_eq!(sunday.len(), 0, "{sunday:?}");
    assert!(
        ids("from=2027-03-15T00:00:00Z&to=2027-03-16T00:00:00Z").await.contains(&"alice-standup".to_owned())
    );
    api.now_ms.fetch_add(1000, Ordering::Relaxed);
    api.post(WORK, lunch()).await.expect(201);
    assert_eq!(ids("updatedMin=2026-03-10T07:00:01Z").await, ["lunch"]);
}

#[tokio::test]
async fn one_instance_of_a_series() {
    let api = Api::start();
    api.post(WORK, daily()).await.expect(201);
    let path = format!("{WORK}/daily/instances/2026-03-05T09:00:00");
    let plain = api.get(&path).await.expect(200);
    assert_eq!((&plain["type"], &plain["start"]), (&json!("occurrence"), &json!("2026-03-05T08:00:00.000Z")));

    let moved = json!({
        "title": "Late daily", "start": "2026-03-05T11:00:00+01:00", "end": "2026-03-05T11:30:00+01:00",
    });
    let changed = api.patch(&path, moved).await.expect(200);
    let event = &changed["event"];
    assert_eq!(
        (&event["exceptions"][0]["recurrenceId"], &event["exceptions"][0]["originalStart"]),
        (&json!("2026-03-05T09:00:00"), &json!("2026-03-05T08:00:00.000Z"))
    );
    assert_eq!(event["title"], "Daily");

    // Deleted once: an EXDATE.
    let removed = api.delete(&format!("{WORK}/daily/instances/2026-03-06T08:00:00Z")).await.expect(200);
    assert_eq!(removed["event"]["recurrence"][1], "EXDATE;TZID=Europe/Berlin:20260306T090000");
    api.get(&format!("{WORK}/daily/instances/2026-03-06T09:00:00")).await.refused(404, "notFound");
    api.get(&format!("{WORK}/daily/instances/2026-04-06T09:00:00")).await.refused(404, "notFound");

    let list = format!("{WORK}/daily/instances?from=2026-03-04T00:00:00Z&to=2026-03-08T00:00:00Z");
    let found = api.get(&list).await.expect(200);
    let found: Vec<_> =
        found["instances"].as_array().unwrap().iter().map(|i| i["start"].as_str().unwrap()).collect();
    let starts = ["2026-03-04T08:00:00.000Z", "2026-03-05T10:00:00.000Z", "2026-03-07T08:00:00.000Z"];
    assert_eq!(found, starts);
}

/// `span=following` ends the series before the instance and continues with a new one.
#[tokio::test]
async fn this_and_following() {
    let api = Api::start();
    api.post(WORK, daily()).await.expect(201);
    api.patch(&format!("{WORK}/daily/instances/2026-03-10T09:00:00"), json!({ "location": "Roof" }))
        .await
        .expect(200);
    let path = format!("{WORK}/daily/instances/2026-03-08T09:00:00?span=following");
    let answer = api.patch(&path, json!({ "id": "daily2", "title": "New daily" })).await.expect(200);
    let (next, old) = (&answer["event"], &answer["others"][0]);
    assert_eq!(old["recurrence"], json!(["RRULE:FREQ=DAILY;UNTIL=20260308T075959Z"]));
    assert_eq!((&next["id"], &next["recurrence"]), (&json!("daily2"), &json!(["RRULE:FREQ=DAILY;COUNT=4"])));
    assert_eq!(next["start"], "2026-03-08T08:00:00.000Z");
    assert_ne!(next["iCalUid"], old["iCalUid"]);
    assert_eq!(next["exceptions"][0]["location"], "Roof", "changed instances go along");
    assert_eq!(old["exceptions"], json!([]));

    // From the first instance on it is the whole series.
    let path = format!("{WORK}/daily2/instances/2026-03-08T09:00:00?span=following");
    let answer = api.patch(&path, json!({ "title": "All" })).await.expect(200);
    assert_eq!((&answer["event"]["id"], answer["others"].as_array().unwrap().len()), (&json!("daily2"), 0));
    api.delete(&path).await.expect(204);
    api.get(&format!("{WORK}/daily2")).await.refused(404, "notFound");
    let path = format!("{WORK}/daily/instances/2026-03-04T09:00:00?span=following");
    let answer = api.delete(&path).await.expect(200);
    assert_eq!(answer["event"]["recurrence"], json!(["RRULE:FREQ=DAILY;UNTIL=20260304T075959Z"]));
}

/// A series at another time takes its excluded and changed instances along.
#[tokio::test]
async fn moved_overrides() {
    let api = Api::start();
    api.post(WORK, daily()).await.expect(201);
    api.patch(&format!("{WORK}/daily/instances/2026-03-04T09:00:00"), json!({ "location": "Roof" }))
        .await
        .expect(200);
    api.delete(&format!("{WORK}/daily/instances/2026-03-03T09:00:00")).await.expect(200);
    let later = json!({ "start": "2026-03-02T09:30:00+01:00", "end": "2026-03-02T10:00:00+01:00" });
    let answer = api.patch(&format!("{WORK}/daily"), later).await.expect(200);
    assert_eq!(answer["dropped"], json!([]));
    let event = &answer["event"];
    assert_eq!(
        event["recurrence"],
        json!(["RRULE:FREQ=DAILY;COUNT=10", "EXDATE;TZID=Europe/Berlin:20260303T093000"])
    );
    let changed = api.get(&format!("{WORK}/daily/instances/2026-03-04T09:30:00")).await.expect(200);
    assert_eq!(
        (&changed["location"], &changed["start"]),
        (&json!("Roof"), &json!("2026-03-04T08:30:00.000Z"))
    );
    api.get(&format!("{WORK}/daily/instances/2026-03-03T09:30:00")).await.refused(404, "notFound");
}

/// An invitation lands on the guest's calendar; the answer comes back to the host.
#[tokio::test]
async fn invitations() {
    let api = Api::start();
    let bob = api.as_person("bob");
    let attendees =
        ["Bob", "accepts", "declines"].map(|name| json!({ "email": format!("{name}@sandbox.test") }));
    let made = api.post(WORK, merged(lunch(), json!({ "attendees": attendees }))).await.expect(201);
    let answers = |event: &Value| -> Vec<String> {
        let attendees = event["attendees"].as_array().unwrap().iter();
        attendees.map(|a| a["responseStatus"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(answers(&made["event"]), ["needsAction", "accepted", "declined"]);

    let path = format!("{WORK}/lunch");
    let copy = bob.get(&path).await.expect(200);
    assert_eq!(
        (&copy["organizer"]["self"], &copy["attendees"][0]["self"], &copy["readOnly"]),
        (&json!(false), &json!(true), &json!(true))
    );
    bob.patch(&path, json!({ "title": "Dinner" })).await.refused(403, "notHost");
    bob.patch(&path, json!({ "color": "#112233" })).await.expect(200);
    let reply = json!({ "response": "tentative", "comment": "if the train is on time" });
    let answered = bob.post(&format!("{path}/answer"), reply).await.expect(200);
    assert_eq!(answered["event"]["myResponse"], "tentative");
    let hosted = api.get(&path).await.expect(200);
    assert_eq!(answers(&hosted), ["tentative", "accepted", "declined"]);
    assert_eq!(
        (&hosted["attendees"][0]["comment"], &hosted["color"]),
        (&json!("if the train is on time"), &Value::Null)
    );

    api.post(&format!("{path}/answer"), json!({ "response": "accepted" }))
        .await
        .refused(409, "hostCannotAnswer");
    api.patch(&path, json!({ "attendees": [] })).await.expect(200);
    bob.get(&path).await.refused(404, "notFound");
}

/// A meeting is made once per event.
#[tokio::test]
async fn meetings() {
    let api = Api::start();
    api.post(WORK, lunch()).await.expect(201);
    let path = format!("{WORK}/lunch/video");
    let made = api.post(&path, json!({ "provider": "other", "createRequestId": "r1" })).await.expect(200);
    let meeting = &made["event"]["conference"];
    assert_eq!(
        (&meeting["joinUrl"], &meeting["status"]),
        (&json!("https://meet.sandbox.test/lunch"), &json!("ready"))
    );
    let again = api.post(&path, json!({ "provider": "other", "createRequestId": "r2" })).await.expect(200);
    assert_eq!(again["event"]["etag"], made["event"]["etag"]);
    api.post(&path, json!({ "provider": "zoom" })).await.refused(422, "invalidField");

    // Some calendars have more services; of these the provider makes no meeting with Zoom.
    api.post(WORK, merged(lunch(), json!({ "id": "later" }))).await.expect(201);
    let path = format!("{WORK}/later/video");
    api.post(&path, json!({ "provider": "googleMeet" })).await.refused(422, "invalidField");
    let services = json!({ "conferenceTypes": ["other", "googleMeet", "zoom"] });
    api.patch("/sandbox/v1/calendars/work", services).await.expect(200);
    api.post(&path, json!({ "provider": "zoom" })).await.refused(422, "invalidField");
    let made = api.post(&path, json!({ "provider": "googleMeet" })).await.expect(200);
    let meeting = &made["event"]["conference"];
    assert_eq!(
        (&meeting["provider"], &meeting["joinUrl"]),
        (&json!("googleMeet"), &json!("https://meet.sandbox.test/meet/later"))
    );
}

#[tokio::test]
async fn free_and_busy() {
    let api = Api::start();
    let ask = json!({
        "from": "2026-03-15T00:00:00Z", "to": "2026-03-16T00:00:00Z",
        "calendars": ["work", "personal", "nowhere"], "people": ["bob@sandbox.test", "nobody@sandbox.test"]
    });
    let answer = api.post("/sandbox/v1/busy", ask).await.expect(200);
    let results = answer["results"].as_array().unwrap();
    assert_eq!(results[0], json!({ "calendar": "work", "busy": [], "problem": null }));
    let run =
        json!({ "start": "2026-03-15T08:00:00.000Z", "end": "2026-03-15T09:40:00.000Z", "showAs": "busy" });
    assert_eq!(results[1]["busy"], json!([run]));
    assert_eq!(results[2]["problem"], "notFound");
    assert_eq!(
        results[3]["busy"][1]["start"], "2026-03-15T13:00:00.000Z",
        "Bob runs in New York, in summer time already"
    );
    assert_eq!(results[4]["problem"], "notFound");
}

/// A series with more instances than are listed one by one is busy from its start on, and does not affect others.
#[tokio::test]
async fn a_series_of_minutes_is_busy_as_a_whole() {
    let api = Api::start();
    let at = |time: &str| json!(format!("2026-03-10T{time}Z"));
    let series = json!({
        "title": "Pulse", "start": at("09:00:00"), "end": at("09:00:30"), "timeZone": "UTC",
        "recurrence": ["RRULE:FREQ=MINUTELY"],
    });
    api.post(WORK, series).await.expect(201);
    let busy = async |from: &str, to: &str| {
        let ask = json!({ "from": from, "to": to, "calendars": ["work"] });
        api.post("/sandbox/v1/busy", ask).await.expect(200)["results"][0]["busy"].clone()
    };
    let hour = busy("2026-03-10T09:00:00Z", "2026-03-10T10:00:00Z").await;
    assert_eq!(hour.as_array().map(Vec::len), Some(60));
    let month = busy("2026-03-10T00:00:00Z", "2026-04-10T00:00:00Z").await;
    let whole =
        json!({ "start": "2026-03-10T09:00:00.000Z", "end": "2026-04-10T00:00:00.000Z", "showAs": "busy" });
    assert!(month.as_array().expect("a list").contains(&whole), "{month:#}");
}

/// `POST /sandbox/faults` fails the account's next requests.
#[tokio::test]
async fn faults() {
    let api = Api::start();
    let plan = async |fault: Value| api.post("/sandbox/faults", fault).await.expect(201);
    plan(json!({ "status": 429, "retryAfterS": 7, "times": 2, "method": "POST", "pathPrefix": "/sandbox/v1/calendars/work" })).await;
    api.get(WORK).await.expect(200);
    for _ in 0..2 {
        let refused = api.post(WORK, lunch()).await;
        assert_eq!(refused.headers["retry-after"], "7");
        refused.refused(429, "tooManyRequests");
    }
    api.post(WORK, lunch()).await.expect(201);

    plan(json!({ "status": 401 })).await;
    api.as_person("bob").get(WORK).await.expect(200);
    api.get(WORK).await.refused(401, "unauthorized");

    let (_, token) = api.walk("work", "").await;
    plan(json!({ "status": 410, "syncTokenOnly": true })).await;
    api.get(WORK).await.expect(200);
    api.get(&format!("{WORK}?syncToken={token}")).await.refused(410, "syncTokenExpired");
    api.get(&format!("{WORK}?syncToken={token}")).await.expect(200);

    plan(json!({ "status": 500, "times": 1000 })).await;
    assert_eq!(api.get("/sandbox/faults").await.expect(200)["faults"].as_array().unwrap().len(), 1);
    api.delete("/sandbox/faults").await.expect(204);
    api.get(WORK).await.expect(200);
    api.post("/sandbox/faults", json!({ "status": 200 })).await.refused(422, "invalidField");
}

/// A lost answer: the write happened, the connection breaks. In the title it happens by itself.
#[tokio::test]
async fn lost_answers() {
    let api = Api::start();
    api.post("/sandbox/faults", json!({ "lostAnswer": true, "method": "POST" })).await.expect(201);
    assert_eq!(api.post(WORK, lunch()).await.body, Value::Null);
    api.post(WORK, lunch()).await.refused(409, "exists");

    let body = || merged(lunch(), json!({ "id": "lost", "title": "Lost [sandbox:lost-answer]" }));
    assert_eq!(api.post(WORK, body()).await.body, Value::Null);
    api.post(WORK, body()).await.refused(409, "exists");
    let body = merged(lunch(), json!({ "id": "busy", "title": "[sandbox:rate-limit]" }));
    api.post(WORK, body).await.refused(429, "tooManyRequests");
    api.get(&format!("{WORK}/busy")).await.refused(404, "notFound");
}

/// Acknowledged writes survive a restart; tokens and etags go on.
#[tokio::test]
async fn restart() {
    let dir = tempfile::tempdir().unwrap();
    let api = Api::open(Some(dir.path()));
    let (_, token) = api.walk("work", "").await;
    let made = api.send("POST", WORK, &[("idempotency-key", "k")], Some(lunch())).await.expect(201);
    api.delete(&format!("{WORK}/alice-focus")).await.expect(204);
    let (before, _) = api.walk("work", "").await;
    let clash =
        Sandbox::new(Config { data_dir: Some(dir.path().to_owned()), ..Config::new(Arc::new(|| NOW_MS)) });
    assert!(clash.err().unwrap().to_string().contains("another process"));
    drop(api);

    // A line that the crash cut off was never acknowledged.
    let journal = dir.path().join("sandbox/journal.jsonl");
    let mut text = std::fs::read(&journal).unwrap();
    text.extend_from_slice(b"[{\"op\":\"calendarEvent\",\"mail\":\"al");
    std::fs::write(&journal, text).unwrap();

    let api = Api::open(Some(dir.path()));
    assert_eq!(api.walk("work", "").await.0, before);
    let (changes, _) = api.walk("work", &format!("syncToken={token}")).await;
    assert_eq!(changes.len(), 2);
    let again = api.send("POST", WORK, &[("idempotency-key", "k")], Some(lunch())).await.expect(201);
    assert_eq!(again, made);
}

/// A journal in which calendars, contacts and tasks have an older form is read: ids, etags and sync tokens go on.
#[tokio::test]
async fn older_journals() {
    let dir = tempfile::tempdir().unwrap();
    let put = |op: &str, folder: &str, seq: u64, record: Value| json!([{ "op": op, "mail": "ann@sandbox.test", "folder": folder, "seq": seq, "atMs": 5, "record": record }]);
    let at = |time: &str| json!({ "time": format!("2026-03-12T{time}:00+01:00"), "zone": "Europe/Berlin" });
    let now = "2026-03-10T07:00:00.000Z";
    let daily = json!({
        "id": "daily", "uid": "daily@x", "revision": 2, "when": { "from": at("12:00"), "to": at("13:00") }, "subject": "Daily",
        "body": { "text": "plain", "html": null }, "places": [{ "label": "HQ", "latLon": "52.5,13.4" }], "privacy": "secret",
        "host": { "mail": "ann@sandbox.test", "label": "Ann" }, "repeat": ["RRULE:FREQ=DAILY;COUNT=3"],
        "guests": [{ "mail": "dana@x.example", "label": null, "answer": "no", "part": "observer", "type": "room", "note": null }],
        "video": { "service": "meet", "state": "ready", "url": "https://meet.example/1", "dialIn": [{ "number": "1", "pin": null, "country": "DE" }] },
        "alerts": { "inherit": false, "own": [{ "via": "mail", "leadMinutes": 5 }] }, "createdAt": now, "updatedAt": now,
        "overrides": { "2026-03-13T12:00:00": { "subject": "Moved", "when": { "from": at("14:00"), "to": at("15:00") } } },
    });
    let ada = json!({
        "id": "ada", "kind": "person", "label": "Ada", "name": { "first": "Ada", "last": null }, "jobs": [{ "company": "Engines", "now": false }],
        "mails": [{ "address": "ada@x.example", "use": "office", "called": null, "main": true }], "birthday": { "year": null, "month": 12, "day": 10 },
        "picture": { "url": null, "bytes": "QUJD", "type": "image/png", "fingerprint": "f" }, "origin": "noticed", "createdAt": now, "updatedAt": now,
    });
    let paint = json!({
        "id": "paint", "title": "Paint", "body": { "text": "white", "markup": "plain" }, "state": "started", "importance": "major", "percent": 3,
        "due": { "day": "2026-03-12", "clock": "17:30", "zone": "Europe/Berlin" }, "tags": ["home"], "createdAt": now, "updatedAt": now,
        "steps": [{ "id": "sand", "title": "Sand", "done": true, "doneAt": now, "createdAt": now }],
        "links": [{ "id": "mail", "about": "mail", "foreignId": "<m@x>", "createdAt": now }],
    });
    let lines = [
        json!({ "sandboxJournal": 1, "epoch": "before" }),
        json!([
            { "op": "account", "mail": "ann@sandbox.test", "name": "ann", "zone": "UTC" },
            { "op": "calendar", "mail": "ann@sandbox.test", "seq": 1, "floor": 1, "calendar": { "id": "work", "title": "Work", "zone": "Asia/Tokyo", "main": true } },
            { "op": "book", "mail": "ann@sandbox.test", "seq": 2, "floor": 2, "head": { "id": "own", "title": "Mine", "main": true } },
            { "op": "list", "mail": "ann@sandbox.test", "seq": 3, "floor": 3, "head": { "id": "own", "title": "Todo", "main": true, "rank": 4 } },
        ]),
        json!([{ "op": "event", "mail": "ann@sandbox.test", "calendar": "work", "seq": 4, "atMs": 5, "event": { "id": "day", "when": { "from": { "day": "2026-03-12" }, "to": { "day": "2026-03-13" } } } }]),
        put("event", "work", 5, daily),
        put("card", "own", 6, ada),
        put(
            "card",
            "own",
            7,
            json!({ "id": "ring", "kind": "circle", "label": "Ring", "members": ["ada"], "builtIn": true }),
        ),
        put("todo", "own", 8, paint),
        json!([{ "op": "dropEvent", "mail": "ann@sandbox.test", "calendar": "work", "seq": 9, "atMs": 6, "id": "gone" }]),
    ];
    let ann = Api::replay(dir.path(), &lines).as_person("ann");
    let cases = [
        (
            "calendars/work",
            json!({ "name": "Work", "timeZone": "Asia/Tokyo", "isPrimary": true, "etag": "\"1\"" }),
        ),
        (
            "calendars/work/events/day",
            json!({ "allDay": true, "startDate": "2026-03-12", "start": "2026-03-11T15:00:00.000Z" }),
        ),
        (
            "calendars/work/events/daily",
            json!({
                "etag": "\"5\"", "iCalUid": "daily@x", "sequence": 2, "type": "series", "title": "Daily", "description": "plain",
                "start": "2026-03-12T11:00:00.000Z", "timeZone": "Europe/Berlin", "endTimeZone": null, "visibility": "confidential",
                "locations": [{ "name": "HQ", "address": null, "uri": null, "geo": "52.5,13.4" }], "createdAt": now, "readOnly": false,
                "reminders": { "useDefault": false, "overrides": [{ "method": "email", "minutesBefore": 5 }] },
            }),
        ),
        (
            "calendars/work/events/daily/instances/2026-03-13T12:00:00",
            json!({ "type": "exception", "title": "Moved", "end": "2026-03-12T14:00:00.000Z" }),
        ),
        ("books/own", json!({ "name": "Mine", "isDefault": true, "contactCount": 1 })),
        (
            "books/own/cards/ada",
            json!({
                "type": "contact", "displayName": "Ada", "givenName": "Ada", "source": "suggested", "photo": { "url": null, "etag": "f" },
                "emails": [{ "value": "ada@x.example", "type": "work", "label": null, "primary": true }],
                "organizations": [{ "name": "Engines", "title": null, "department": null, "current": false }],
            }),
        ),
        ("books/own/cards/ada/picture", json!({ "contentType": "image/png", "contentBase64": "QUJD" })),
        (
            "books/own/cards/ring",
            json!({ "type": "contact_group", "name": "Ring", "contactIds": ["ada"], "kind": "system" }),
        ),
        ("lists/own", json!({ "name": "Todo", "role": "default", "sortOrder": 4, "openCount": 1 })),
        (
            "lists/own/todos/paint",
            json!({
                "title": "Paint", "notes": "white", "notesFormat": "text", "status": "inProgress", "priority": "high", "percentComplete": 3,
                "dueDate": "2026-03-12", "dueTime": "17:30", "timeZone": "Europe/Berlin", "categories": ["home"],
            }),
        ),
    ];
    for (path, expected) in cases {
        let shown = ann.get(&format!("/sandbox/v1/{path}")).await.expect(200);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(shown[name], *value, "{name} of {path}");
        }
    }
    let daily = ann.get(&format!("{WORK}/daily")).await.expect(200);
    let dana = &daily["attendees"][0];
    assert_eq!(
        (&dana["email"], &dana["responseStatus"], &dana["role"], &dana["kind"]),
        (&json!("dana@x.example"), &json!("declined"), &json!("nonParticipant"), &json!("room"))
    );
    let conference = &daily["conference"];
    assert_eq!(
        (&conference["provider"], &conference["phones"][0]["region"]),
        (&json!("googleMeet"), &json!("DE"))
    );
    let paint = ann.get("/sandbox/v1/lists/own/todos/paint").await.expect(200);
    let step = &paint["checklistItems"][0];
    assert_eq!(
        (&step["id"], &step["checked"], &step["checkedAt"]),
        (&json!("sand"), &json!(true), &json!(now))
    );
    assert_eq!(
        (&paint["links"][0]["resourceType"], &paint["links"][0]["externalId"]),
        (&json!("email_message"), &json!("<m@x>"))
    );
    // Of a journal from before there were address books: a token without the kind.
    let place = json!({ "epoch": "before", "calendar": "work", "after": 4, "filters": "abc223721d7e", "at_ms": NOW_MS });
    let token = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(place.to_string());
    let (changes, _) = ann.walk("work", &format!("syncToken={token}")).await;
    assert_eq!(
        (changes.len(), &changes[0]["id"], &changes[1]["deleted"]),
        (2, &json!("daily"), &json!(true))
    );
}
