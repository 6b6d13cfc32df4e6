//! Writes of calendars and events to Google: under ids of our own, with only the changed fields, and with each refusal reported by its
//! cause.

use fakes::google::RequestRecord;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::FollowedCalendar;
use crate::google::{ALICE, BOB, World, ZONE, event};

const HOLIDAYS: &str = "de#holiday@group.v.calendar.google.com";

fn tea() -> Value {
    json!({
        "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z", "timeZone": "UTC",
    })
}

/// The values of a parameter in requests.
fn said(requests: &[RequestRecord], parameter: &str) -> Vec<String> {
    requests.iter().map(|request| request.parameter(parameter).unwrap_or("nothing").to_owned()).collect()
}

fn header<'r>(request: &'r RequestRecord, name: &str) -> Option<&'r str> {
    let found = request.headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// An error in the form that all of Google's APIs have.
fn refusal(status: u16, reason: &str, message: &str) -> Value {
    json!({ "error": {
        "code": status, "message": message,
        "errors": [{ "domain": "usageLimits", "reason": reason, "message": message }],
    } })
}

/// The id follows from the idempotency key and has the characters that Google takes.
#[tokio::test]
async fn an_event_is_created_under_an_id_of_ours() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    world.fake.clear_requests();
    let made = world.api.post(&calendar.events, tea()).keyed("one").send().await.expect(201);
    let id = text(&made["externalId"]);
    assert!(id.len() == 32 && id.chars().all(|c| c.is_ascii_digit() || ('a'..='v').contains(&c)), "{id}");
    let writes = world.writes();
    let [insert] = &writes[..] else { panic!("one request: {writes:#?}") };
    let body = insert.body.as_ref().expect("a body");
    assert_eq!((insert.method.as_str(), &body["id"]), ("POST", &made["externalId"]));
    let theirs = world.theirs(&id);
    let start = json!({ "dateTime": "2026-03-04T15:00:00Z", "timeZone": "UTC" });
    assert_eq!((&theirs["summary"], &theirs["start"]), (&json!("Tea"), &start));
    assert_eq!(made["iCalUid"], theirs["iCalUID"]);

    let again = world.api.post(&calendar.events, tea()).keyed("one").send().await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.expect(201)["id"], made["id"]);
    let other = world.api.post(&calendar.events, tea()).keyed("two").send().await.expect(201);
    assert_ne!(other["externalId"], made["externalId"]);
    let both = ["04T15:00 Tea", "04T15:00 Tea"];
    assert_eq!(world.march(&calendar).await, both);
    assert_eq!(world.their_march(ALICE).await, both);
    world.assert_allowed();
}

/// Google has made the event and its answer is lost.
async fn lose_an_insert(world: &World, calendar: &FollowedCalendar, key: &str) {
    world.fake.fault(Fault::new("/events", What::Kill).method("POST").after());
    let lost = world.api.post(&calendar.events, tea()).keyed(key).send().await;
    assert!(lost.status >= 500, "{lost}");
}

/// The repeated request finds the event of the first one, also if a pull has read it in between.
#[tokio::test]
async fn lost_insert_is_found() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    for is_read in [false, true] {
        let before = world.ids();
        let key = if is_read { "read" } else { "lost" };
        lose_an_insert(&world, &calendar, key).await;
        let new: Vec<String> = world.ids().into_iter().filter(|id| !before.contains(id)).collect();
        let [id] = &new[..] else { panic!("one event: {new:?}") };
        if is_read {
            assert_eq!(world.march(&calendar).await.len(), before.len() + 1);
        }
        let found = world.api.post(&calendar.events, tea()).keyed(key).send().await.expect(201);
        assert_eq!(found["externalId"], id.as_str());
        assert_eq!(world.ids().len(), before.len() + 1);
        assert_eq!(world.march(&calendar).await, vec!["04T15:00 Tea"; before.len() + 1]);
    }
    world.assert_allowed();
}

/// The id of an event that was deleted stays taken: the repeated request makes one under another id.
#[tokio::test]
async fn a_lost_insert_that_was_deleted_is_made_again() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    lose_an_insert(&world, &calendar, "lost").await;
    let ids = world.ids();
    let [first] = &ids[..] else { panic!("one event: {ids:?}") };
    world.fake.with(|state| state.change_event(ALICE, first, json!({ "status": "cancelled" })));
    let made = world.api.post(&calendar.events, tea()).keyed("lost").send().await.expect(201);
    assert_ne!(made["externalId"], first.as_str());
    assert_eq!(world.ids(), [text(&made["externalId"])]);
    assert_eq!(world.march(&calendar).await, ["04T15:00 Tea"]);
    world.assert_allowed();
}

/// An HTML page of a front end instead of Google's answer is no deletion: the event stays here as at Google, since no later change would
/// bring it back.
#[tokio::test]
async fn google_alone_says_that_an_event_is_deleted() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    let made = world.api.post(&calendar.events, tea()).send().await.expect(201);
    let path = calendar.path(&made);
    let delete = || world.api.delete(&path).keyed("delete").send();
    world.fake.fault(Fault::new("/events/", What::Html).method("DELETE"));
    delete().await.refused(503, "provider_unavailable");
    let both = ["04T15:00 Tea"];
    assert_eq!(world.march(&calendar).await, both);
    assert_eq!(world.their_march(ALICE).await, both);

    delete().await.expect(204);
    assert!(world.march(&calendar).await.is_empty() && world.their_march(ALICE).await.is_empty());
    world.assert_allowed();
}

/// A patch has the members that the caller changed: fields outside the model, and those that others have written, stay at Google.
#[tokio::test]
async fn only_changed_fields_are_sent() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    let more = json!({
        "description": "<b>Bring</b> figures", "location": "Room 1", "colorId": "5", "transparency": "transparent",
        "visibility": "private", "guestsCanModify": true,
        "extendedProperties": { "private": { "theirs": "1" } },
        "attendees": [{ "email": BOB, "responseStatus": "accepted", "additionalGuests": 2 }],
        "reminders": { "useDefault": false, "overrides": [{ "method": "email", "minutes": 30 }] },
    });
    world.put(event("review", "Review", "2026-03-03T09:00:00Z", more));
    let before = world.theirs("review");
    let path = calendar.path(&world.titled(&calendar, "Review").await);
    let time = |text: &str| json!({ "dateTime": text, "timeZone": "UTC" });
    let moved = json!({ "start": "2026-03-03T10:00:00Z", "end": "2026-03-03T11:00:00Z" });
    let times = json!({ "start": time("2026-03-03T10:00:00.000Z"), "end": time("2026-03-03T11:00:00.000Z") });
    for (change, sent) in [
        (json!({ "title": "Audit" }), json!({ "summary": "Audit" })),
        (json!({ "location": null }), json!({ "location": null })),
        (json!({ "description": "Figures" }), json!({ "description": "Figures" })),
        (json!({ "color": "#dc2127" }), json!({ "colorId": "11" })),
        (json!({ "showAs": "busy" }), json!({ "transparency": "opaque" })),
        (json!({ "visibility": "default" }), json!({ "visibility": "default" })),
        (moved, times),
    ] {
        world.fake.clear_requests();
        world.api.patch(&path, change.clone()).send().await.expect(200);
        let writes = world.writes();
        let [patch] = &writes[..] else { panic!("{change}: one request: {writes:#?}") };
        assert_eq!((patch.method.as_str(), patch.body.as_ref()), ("PATCH", Some(&sent)), "{change}");
        let reads = world.fake.requests();
        assert!(
            !reads.iter().any(|read| read.method == "GET" && read.path.ends_with("/events/review")),
            "{change}"
        );
    }
    let after = world.theirs("review");
    for kept in ["attendees", "extendedProperties", "guestsCanModify", "iCalUID", "reminders"] {
        assert_eq!(after[kept], before[kept], "{kept}");
    }

    world.fake.clear_requests();
    let own = json!({ "metadata": { "deal": "42" } });
    assert_eq!(world.api.patch(&path, own).send().await.expect(200)["metadata"]["deal"], "42");
    assert_eq!(world.methods(), Vec::<String>::new(), "metadata is no field of Google's");
    world.assert_allowed();
}

/// Each request that writes an event says whom Google notifies: without that, each method has a different default.
#[tokio::test]
async fn notify_none_sends_nothing() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    for notify in ["none", "externalOnly", "all"] {
        world.fake.clear_requests();
        let mut body = tea();
        body["notify"] = json!(notify);
        body["attendees"] = json!([{ "email": BOB }]);
        let path = calendar.path(&world.api.post(&calendar.events, body).send().await.expect(201));
        let change = json!({ "title": "High tea", "notify": notify });
        world.api.patch(&path, change).send().await.expect(200);
        world.api.delete(format!("{path}?notify={notify}")).send().await.expect(204);
        assert_eq!(world.methods(), ["POST", "PATCH", "DELETE"]);
        assert_eq!(said(&world.writes(), "sendUpdates"), [notify; 3]);
    }

    // Parts of series, a conference, and background requests.
    let more = json!({ "recurrence": ["RRULE:FREQ=DAILY;COUNT=6"], "attendees": [{ "email": BOB }] });
    world.put(event("series", "Series", "2026-03-02T09:00:00Z", more));
    let at = async |line: &str| calendar.path(&world.instance(&calendar, line).await);
    let (third, fourth) = (at("03T09:00 Series").await, at("04T09:00 Series").await);
    let (fifth, sixth) = (at("05T09:00 Series").await, at("06T09:00 Series").await);
    world.fake.clear_requests();
    let one = json!({ "title": "Moved", "notify": "none" });
    world.api.patch(third, one).send().await.expect(200);
    world.api.delete(format!("{fourth}?notify=none")).send().await.expect(204);
    let rest = "recurrence_scope=thisAndFollowing&notify=none";
    world.api.delete(format!("{sixth}?{rest}")).send().await.expect(204);
    let later = json!({ "title": "Later", "notify": "none", "recurrenceScope": "thisAndFollowing" });
    world.api.patch(fifth, later).send().await.expect(200);
    let moved = calendar.path(&world.titled(&calendar, "Moved").await);
    world.api.post(format!("{moved}/conference"), json!({})).send().await.expect(200);
    let writes = world.writes();
    assert!(writes.len() >= 6, "{writes:#?}");
    assert_eq!(said(&writes, "sendUpdates"), vec!["none"; writes.len()]);
    let bodies: Vec<&RequestRecord> = writes.iter().filter(|write| write.method != "DELETE").collect();
    for write in bodies {
        let versions = (write.parameter("supportsAttachments"), write.parameter("conferenceDataVersion"));
        assert_eq!(versions, (Some("true"), Some("1")), "{write:#?}");
    }
    world.assert_allowed();
}

/// Google changes a new event by itself for a while. Callers who did not name a version are not affected.
#[tokio::test]
async fn a_412_after_insert_is_no_conflict_for_callers_without_if_match() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    for (change, insists) in
        [(json!({ "title": "High tea" }), false), (json!({ "attendees": [{ "email": BOB }] }), true)]
    {
        world.fake.trap("etag_moves", 1);
        let made = world.api.post(&calendar.events, tea()).send().await.expect(201);
        world.fake.clear_requests();
        world.api.patch(calendar.path(&made), change.clone()).send().await.expect(200);
        let writes = world.writes();
        let [patch] = &writes[..] else { panic!("one request: {writes:#?}") };
        // A list of guests is replaced as a whole: it is read first, and written only for that version.
        assert_eq!(header(patch, "if-match").is_some(), insists, "{change}");
    }

    let made = world.api.post(&calendar.events, tea()).send().await.expect(201);
    let id = text(&made["externalId"]);
    world.fake.with(|state| state.change_event(ALICE, &id, json!({ "summary": "Theirs" })));
    world.server.clock.advance_ms(1);
    let change = world.api.patch(calendar.path(&made), json!({ "title": "Ours" }));
    change.if_match(&text(&made["etag"])).send().await.refused(409, "stale_etag");
    assert_eq!(world.theirs(&id)["summary"], "Theirs");
    world.assert_allowed();
}

/// "Calendar usage limits exceeded" protects guests from spam: Google blocks an account's writes for an unknown number of hours. Reads
/// continue, and writes as soon as Google accepts them.
#[tokio::test]
async fn calendar_usage_limits_leave_reads_alone() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    let shut = "Calendar usage limits exceeded.";
    let mut renamed = refusal(403, "quotaExceeded", shut);
    renamed["error"]["status"] = json!("PERMISSION_DENIED");
    let answers = [None, Some((403, renamed)), Some((429, refusal(429, "quotaExceeded", "Quota exceeded.")))];
    for (number, answer) in answers.into_iter().enumerate() {
        match answer {
            None => world.fake.trap("usage_limits", 1),
            Some((status, body)) => {
                world.fake.fault(Fault::status("/events", status, body).method("POST"));
            }
        }
        world.api.post(&calendar.events, tea()).send().await.refused(429, "provider_rate_limited");
        assert_eq!(world.ids().len(), 2 * number);

        let title = format!("Read {number}");
        let read = event(&format!("read{number}"), &title, "2026-03-03T11:00:00Z", json!({}));
        world.put(read);
        world.fake.clear_requests();
        assert!(world.march(&calendar).await.contains(&format!("03T11:00 {title}")));
        assert!(!world.fake.requests().is_empty(), "Google was asked");
        world.api.post(&calendar.events, tea()).send().await.expect(201);
    }
    world.assert_allowed();
}

/// A scope that Google does not find in the token is no fault of the request, and requests with other scopes work. Restrictions by an
/// administrator are reported as such.
#[tokio::test]
async fn a_scope_that_was_not_granted_says_so() {
    let Some(world) = World::start().await else { return };
    let connection = world.connect().await;
    let calendar = world.calendar(&connection, ALICE).await;
    let scope = "https://www.googleapis.com/auth/calendar.calendars";
    world.fake.with(|state| state.authority.take_scope(ALICE, scope));
    let team = json!({ "connectionId": connection["id"], "name": "Team" });
    let error = world.api.post("/v1/calendars", team).send().await.refused(403, "scope_not_granted");
    assert!(text(&error["message"]).contains("scope"), "{error:#}");
    world.api.post(&calendar.events, tea()).send().await.expect(201);
    assert_eq!(world.march(&calendar).await, ["04T15:00 Tea"]);

    let policy = refusal(403, "domainPolicy", "The domain administrators have disabled Calendar apps.");
    world.fake.fault(Fault::status("/events", 403, policy).method("POST"));
    world.api.post(&calendar.events, tea()).send().await.refused(403, "admin_blocked");
    let id = text(&connection["id"]);
    let connection = world.api.get(format!("/v1/connections/{id}")).send().await.expect(200);
    assert_eq!(connection["status"], "active");
    world.assert_allowed();
}

/// A calendar of one's own is made, changed and deleted. A calendar of another user has a separate name and color for the account, and a
/// deletion only removes it from the account's list.
#[tokio::test]
async fn calendars_are_created_changed_and_unsubscribed() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| state.add_holidays(ALICE, HOLIDAYS, "Feiertage", ZONE));
    let connection = world.connect().await;
    let body = json!({
        "connectionId": connection["id"], "name": "Team", "timeZone": "Asia/Tokyo", "description": "Ours",
        "color": "#0b8043",
    });
    let made = world.api.post("/v1/calendars", body).send().await.expect(201);
    assert_eq!(
        (&made["name"], &made["timeZone"], &made["color"], &made["isOwned"]),
        (&json!("Team"), &json!("Asia/Tokyo"), &json!("#0b8043"), &json!(true))
    );
    let id = text(&made["externalId"]);
    let texts = || {
        world.fake.with(|state| {
            let calendar = state.calendars.get(&id).expect("the calendar");
            (calendar.summary.clone(), calendar.time_zone.clone(), calendar.description.clone())
        })
    };
    let ours = |name: &str| (name.to_owned(), "Asia/Tokyo".to_owned(), Some("Ours".to_owned()));
    assert_eq!(texts(), ours("Team"));
    let entry = |id: &str, member: &str| {
        world.fake.with(|state| {
            let entries = &state.users.get(ALICE).expect("Alice").entries;
            let entry = entries.get(id).filter(|entry| !entry.is_deleted);
            entry.and_then(|entry| entry.members.get(member).cloned())
        })
    };
    assert_eq!(entry(&id, "backgroundColor"), Some(json!("#0b8043")));

    let path = format!("/v1/calendars/{}", text(&made["id"]));
    let change = json!({ "name": "Crew", "color": "#d50000" });
    let changed = world.api.patch(&path, change).send().await.expect(200);
    assert_eq!((&changed["name"], &changed["color"]), (&json!("Crew"), &json!("#d50000")));
    assert_eq!((texts(), entry(&id, "backgroundColor")), (ours("Crew"), Some(json!("#d50000"))));
    world.api.delete(&path).send().await.expect(204);
    assert!(world.fake.with(|state| state.calendars.get(&id).is_some_and(|calendar| calendar.is_deleted)));

    let holidays = world.calendar(&connection, "Feiertage").await;
    let path = format!("/v1/calendars/{}", holidays.id);
    let renamed = world.api.patch(&path, json!({ "name": "Free days" })).send().await.expect(200);
    assert_eq!(renamed["name"], "Free days");
    assert_eq!(entry(HOLIDAYS, "summaryOverride"), Some(json!("Free days")));
    world.api.delete(&path).send().await.expect(204);
    assert_eq!(entry(HOLIDAYS, "summaryOverride"), None, "it is not in the list any more");
    let is_there = world.fake.with(|state| {
        let calendar = state.calendars.get(HOLIDAYS).expect("the calendar");
        !calendar.is_deleted && calendar.summary == "Feiertage"
    });
    assert!(is_there, "others still have it");

    let primary = world.calendar(&connection, ALICE).await;
    let path = format!("/v1/calendars/{}", primary.id);
    world.api.delete(path).send().await.refused(400, "capability_not_supported");
    world.assert_allowed();
}
