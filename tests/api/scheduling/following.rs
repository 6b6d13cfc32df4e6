//! The calendars of an event type's hosts are followed: what hosts do in them reaches the bookings without anybody asking.

use harness::{Actor, TestServer};
use serde_json::{Value, json};
use service::bookings::reconcile::BOOKING_RECONCILE;
use service::job_runner::runner;
use storage::sql::query;

use super::lifecycle::{book, read, run_jobs};
use super::mail_lost::{an_hour_later, change};
use super::pools::{desks, host};
use super::provider_side::the_event;
use super::{Desk, EVENT_TYPES, text};

const MINUTE_MS: i64 = 60_000;

/// Returns the status of a calendar's sync.
async fn sync_of(api: &Actor, calendar: &str) -> Value {
    api.get(format!("/v1/calendars/{calendar}/sync/status")).send().await.expect(200)
}

/// The calendars that are followed, in order.
async fn followed(server: &TestServer) -> Vec<String> {
    let sql =
        "select scope_id from sync_states where followed = 1 and surface = 'calendar' order by scope_id";
    query(sql).fetch_all(server.app.db.reader(), |row| row.get("scope_id")).await.expect("a query")
}

/// Returns how often the start of a sync was logged.
async fn starts_told(server: &TestServer) -> i64 {
    let sql = "select count(*) as n from log where type = 'sync.started'";
    query(sql).fetch_one(server.app.db.reader(), |row| row.get("n")).await.expect("a query")
}

/// The service reads the host's calendar by itself, without any request for slots or events.
#[tokio::test]
async fn a_host_who_deletes_the_event_cancels_the_booking_though_nobody_asks() {
    let server = TestServer::builder().without_pulls().start().await;
    let desk = Desk::of(&server, "alice").await;
    let id = desk.open("intro", json!({})).await;
    assert_ne!(sync_of(&desk.api, &desk.calendar).await["startedAt"], Value::Null);
    let booked = book(&desk, &id, "09:00").await;
    run_jobs(&server).await;
    // The first reading, which is due at once.
    server.pull().await;
    let (_, theirs) = the_event(&server, &desk).await;
    server.provider("alice").delete(theirs).send().await.expect(204);

    server.clock.advance_ms(15 * MINUTE_MS);
    run_jobs(&server).await;
    assert_eq!(read(&desk.api, &booked).await["status"], "confirmed", "nobody has read the calendar");
    assert!(server.pull().await > 0, "the calendar is read");
    // For a minute the event could come back under another name.
    server.clock.advance_ms(MINUTE_MS);
    run_jobs(&server).await;
    let cancelled = read(&desk.api, &booked).await;
    assert_eq!((&cancelled["status"], &cancelled["cancelledBy"]), (&json!("cancelled"), &json!("host")));
}

/// For each host, the calendar that bookings are written to and those that make the host busy are followed; for an optional host only the
/// first. A calendar that is already followed is not started again.
#[tokio::test]
async fn what_makes_a_host_busy_is_followed_once() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    let made = async |name: &str| {
        let body = json!({ "connectionId": desk.connection, "name": name, "timeZone": "UTC" });
        text(&desk.api.post("/v1/calendars", body).send().await.expect(201)["id"])
    };
    let (private, unused) = (made("Private").await, made("Unused").await);
    let host = |conflicts: Value, role: &str| {
        json!([{
            "connectionId": desk.connection, "calendarId": desk.calendar, "conflictCalendarIds": conflicts,
            "role": role,
        }])
    };
    let body = json!({ "hosts": host(json!([desk.calendar]), "required") });
    let id = desk.open("intro", body).await;
    assert_eq!((followed(&server).await, starts_told(&server).await), (vec![desk.calendar.clone()], 1));
    desk.open("another", json!({ "hosts": host(json!([desk.calendar]), "required") })).await;
    assert_eq!(starts_told(&server).await, 1);

    let change = json!({ "hosts": host(json!([private]), "required") });
    desk.api.patch(format!("{EVENT_TYPES}/{id}"), change).send().await.expect(200);
    let mut both = vec![desk.calendar.clone(), private];
    both.sort();
    assert_eq!((followed(&server).await, starts_told(&server).await), (both.clone(), 2));

    // A refused event type follows nothing.
    let mut taken = desk.event_type("intro");
    taken["hosts"] = host(json!([unused]), "required");
    desk.api.post(EVENT_TYPES, taken).send().await.refused(409, "already_exists");
    assert_eq!(followed(&server).await, both);
    // Without a list all calendars make the host busy.
    desk.open("all", json!({ "hosts": host(json!([]), "required") })).await;
    assert!(followed(&server).await.contains(&unused));

    // An optional host's busy times are not needed.
    let bob = Desk::of(&server, "bob").await;
    let body = json!({ "connectionId": bob.connection, "name": "Private", "timeZone": "UTC" });
    let private = text(&bob.api.post("/v1/calendars", body).send().await.expect(201)["id"]);
    let mut hosts = host(json!([desk.calendar]), "required");
    let mut optional = bob.event_type("x")["hosts"][0].clone();
    optional["role"] = json!("optional");
    optional["conflictCalendarIds"] = json!([bob.calendar, private]);
    hosts.as_array_mut().expect("a list").push(optional);
    desk.open("both", json!({ "hosts": hosts })).await;
    let all = followed(&server).await;
    assert!(all.contains(&bob.calendar) && !all.contains(&private), "{all:?}");
}

/// A change of the hosts brings their calendars along.
#[tokio::test]
async fn another_host_who_is_added_is_followed_too() {
    let server = TestServer::start().await;
    let (alice, bob) = (Desk::of(&server, "alice").await, Desk::of(&server, "bob").await);
    let id = alice.open("intro", json!({})).await;
    assert_eq!(sync_of(&alice.api, &bob.calendar).await["startedAt"], Value::Null);
    let hosts: Vec<Value> = [&alice, &bob]
        .into_iter()
        .flat_map(|desk| desk.event_type("x")["hosts"].as_array().cloned())
        .flatten()
        .collect();
    let change = json!({ "hosts": hosts, "assignment": "collective" });
    let told = alice.api.patch(format!("{EVENT_TYPES}/{id}"), change).send().await.expect(200);
    assert_eq!(told["warnings"], json!([]));
    assert_ne!(sync_of(&alice.api, &bob.calendar).await["startedAt"], Value::Null);
}

/// As it was before saving an event type followed the calendars of its hosts.
async fn as_before(server: &TestServer) {
    change(server, "update sync_states set followed = 0, started_at = null where surface = 'calendar'").await;
    change(server, "update event_types set calendars_due_at = 0").await;
    assert_eq!(followed(server).await, Vec::<String>::new());
}

/// Returns the number of event types that are still to be checked.
async fn waiting(server: &TestServer) -> i64 {
    let sql = "select count(*) as n from event_types where calendars_due_at is not null";
    query(sql).fetch_one(server.app.db.reader(), |row| row.get("n")).await.expect("a query")
}

/// The calendars of event types that were saved before are followed from the next hour on, without anybody saving them again; those of one
/// that is not active when it is again.
#[tokio::test]
async fn event_types_of_before_catch_up_once() {
    let server = TestServer::start().await;
    let (alice, bob) = (Desk::of(&server, "alice").await, Desk::of(&server, "bob").await);
    alice.open("intro", json!({})).await;
    let closed = bob.open("closed", json!({ "active": false })).await;
    as_before(&server).await;
    let told = starts_told(&server).await;
    an_hour_later(&server).await;
    assert_eq!(followed(&server).await, [alice.calendar.as_str()]);
    assert_eq!((starts_told(&server).await, waiting(&server).await), (told + 1, 0));
    assert_ne!(sync_of(&alice.api, &alice.calendar).await["startedAt"], Value::Null);

    // A stopped sync stays stopped: an event type is checked once.
    change(&server, "update sync_states set followed = 0 where surface = 'calendar'").await;
    let active = json!({ "active": true });
    bob.api.patch(format!("{EVENT_TYPES}/{closed}"), active).send().await.expect(200);
    an_hour_later(&server).await;
    assert_eq!(followed(&server).await, [bob.calendar.as_str()]);
    an_hour_later(&server).await;
    assert_eq!((starts_told(&server).await, waiting(&server).await), (told + 2, 0));
}

/// A run checks fifty event types, and the next one continues after them. A calendar of many event types is followed once.
#[tokio::test]
async fn many_event_types_catch_up_in_steps() {
    let server = TestServer::start().await;
    let desk = Desk::of(&server, "alice").await;
    for n in 0..51 {
        desk.open(&format!("intro-{n}"), json!({})).await;
    }
    as_before(&server).await;
    let told = starts_told(&server).await;
    an_hour_later(&server).await;
    assert_eq!((starts_told(&server).await, waiting(&server).await), (told + 1, 1));
    server.clock.advance_ms(1_000);
    runner::drain(&server.app, &[BOOKING_RECONCILE]).await.expect("it is run");
    assert_eq!((starts_told(&server).await, waiting(&server).await), (told + 1, 0));
}

/// Hosts start to follow at most two hundred calendars at once. The rest is followed within the hour.
#[tokio::test]
async fn the_rest_of_very_many_calendars_is_followed_within_the_hour() {
    let server = TestServer::start().await;
    let all = desks(&server, &["alice", "bob", "carol", "dave", "erin"]).await;
    let alice = &all[0];
    let mut made = Vec::new();
    for n in 0..42 {
        let name = format!("Calendar {n}");
        let body = json!({ "connectionId": alice.connection, "name": name, "timeZone": "UTC" });
        made.push(text(&alice.api.post("/v1/calendars", body).send().await.expect(201)["id"]));
    }
    let mut hosts: Vec<Value> = all.iter().map(|desk| host(desk, json!({}))).collect();
    // Without a list all calendars make the host busy.
    hosts[0]["conflictCalendarIds"] = json!([]);
    alice.open("all", json!({ "hosts": hosts, "assignment": "collective" })).await;
    assert_eq!((followed(&server).await.len(), waiting(&server).await), (40 + 4, 1));

    an_hour_later(&server).await;
    let all = followed(&server).await;
    assert!(made.iter().all(|id| all.contains(id)), "{all:?}");
    assert_eq!(waiting(&server).await, 0);
}
