//! The traps of Google's APIs with calendars, and with several APIs at once. Those of mail, contacts, tasks, pushes and writes are beside
//! their other tests.

use std::collections::BTreeSet;

use fakes::google::RequestRecord;
use futures::future::join_all;
use serde_json::json;

use crate::email::mailbox::{text, until};
use crate::fake_provider::{FollowedCalendar, builder};
use crate::google::mail::letter;
use crate::google::{ALICE, BOB, World, ZONE, event};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const BIRTHDAYS: &str = "addressbook#contacts@group.v.calendar.google.com";
/// Maximum simultaneous requests of one account, as in the connector's manifest.
const MAX_CONCURRENT_REQUESTS: usize = 4;
/// Parameters of a walk that differ from request to request.
const OF_ONE_REQUEST: [&str; 4] = ["syncToken", "pageToken", "maxResults", "fields"];
/// Parameters that no sync token can have.
const NEVER_IN_SYNC: [&str; 6] = ["timeMin", "timeMax", "q", "orderBy", "updatedMin", "iCalUID"];

/// The requests that list the events of a calendar.
fn walks(world: &World, calendar: &str) -> Vec<RequestRecord> {
    let path = format!("/calendar/v3/calendars/{calendar}/events");
    let all = world.fake.requests().into_iter();
    all.filter(|request| request.method == "GET" && request.path == path).collect()
}

/// Alice's primary calendar, followed from its beginning.
async fn followed(world: &World) -> FollowedCalendar {
    let connection = world.connect().await;
    let mut calendar = world.calendar(&connection, ALICE).await;
    world.follow(&mut calendar).await;
    calendar
}

/// Walks through Alice's calendar: whole in pages, by a delta, and whole again after the token was lost.
async fn walk_in_all_ways(world: &World) {
    let daily = json!({ "recurrence": ["RRULE:FREQ=DAILY;COUNT=3"] });
    world.put(event("series", "Series", "2026-03-02T09:00:00Z", daily));
    for number in 0..4 {
        world.put(event(&format!("single{number}"), "Single", "2026-03-05T09:00:00Z", json!({})));
    }
    let mut calendar = followed(world).await;
    world.put(event("later", "Later", "2026-03-06T09:00:00Z", json!({})));
    assert_eq!(world.changes(&mut calendar).await, ["created Later"]);
    world.fake.trap("full_sync_required", 1);
    assert_eq!(world.changes(&mut calendar).await, Vec::<String>::new());
    assert_eq!(world.march(&calendar).await.len(), 8);
}

/// With `singleEvents=true` Google gives no sync token, and reports six months of cancellations: a sync reads series, never their
/// instances, and uses no parameter that excludes a token.
#[tokio::test]
async fn single_events_are_never_synced() {
    let Some(world) = World::on(builder().config(|c| c.pull_page = 2)).await else { return };
    walk_in_all_ways(&world).await;
    let walks = walks(&world, ALICE);
    assert!(walks.len() >= 5, "{walks:#?}");
    for walk in &walks {
        assert_eq!(walk.parameter("singleEvents"), Some("false"), "{walk:#?}");
        assert_eq!(walk.parameter("showDeleted"), Some("true"), "{walk:#?}");
        for name in NEVER_IN_SYNC {
            assert_eq!(walk.parameter(name), None, "{walk:#?}");
        }
    }
    world.assert_allowed();
}

/// One token for all filters: a token is valid only with the parameters of its own walk. Each calendar has one walk, with the same
/// parameters in all requests, whatever clients ask for.
#[tokio::test]
async fn one_token_has_one_set_of_parameters() {
    let Some(world) = World::on(builder().config(|c| c.pull_page = 2)).await else { return };
    walk_in_all_ways(&world).await;
    let fixed = |request: &RequestRecord| -> BTreeSet<(String, String)> {
        let query = request.query.iter().filter(|(name, _)| !OF_ONE_REQUEST.contains(&name.as_str()));
        query.cloned().collect()
    };
    let walks = walks(&world, ALICE);
    assert!(walks.iter().any(|walk| walk.parameter("syncToken").is_some()), "{walks:#?}");
    let parameters: BTreeSet<_> = walks.iter().map(fixed).collect();
    assert_eq!(parameters.len(), 1, "{parameters:#?}");
    world.assert_allowed();
}

/// Google reports no deletion in a delta of the birthday calendar: it is read in full each time, and missing events are deleted.
#[tokio::test]
async fn a_birthday_calendar_is_read_in_full() {
    let Some(world) = World::start().await else { return };
    let birthday = |id: &str, name: &str, day: u8| {
        let (first, after) = (format!("2026-03-{day:02}"), format!("2026-03-{:02}", day + 1));
        let days = json!({ "start": { "date": first }, "end": { "date": after }, "eventType": "birthday" });
        event(id, name, "2026-03-01T00:00:00Z", days)
    };
    world.fake.with(|state| {
        state.add_birthdays(ALICE, BIRTHDAYS, "Birthdays", ZONE);
        state.put_event(BIRTHDAYS, birthday("ada", "Ada", 3));
        state.put_event(BIRTHDAYS, birthday("bea", "Bea", 4));
    });
    let connection = world.connect().await;
    let mut calendar = world.calendar(&connection, "Birthdays").await;
    assert_eq!(world.follow(&mut calendar).await, ["created Ada", "created Bea"]);
    assert_eq!(world.titled(&calendar, "Ada").await["readOnly"], true);
    world.fake.with(|state| {
        state.change_event(BIRTHDAYS, "ada", json!({ "status": "cancelled" }));
        state.put_event(BIRTHDAYS, birthday("cleo", "Cleo", 5));
    });
    let changes = world.changes(&mut calendar).await;
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert_eq!(changes[0], "created Cleo");
    assert!(changes[1].starts_with("deleted"), "{changes:?}");
    assert_eq!(world.march(&calendar).await, ["04 Bea", "05 Cleo"]);
    let tokens = walks(&world, BIRTHDAYS);
    assert!(
        tokens.len() >= 2 && tokens.iter().all(|walk| walk.parameter("syncToken").is_none()),
        "{tokens:#?}"
    );
    world.assert_allowed();
}

/// Cancelled events of others keep all their fields, including title and guests, and others have only ids: `cancelled` decides. They come
/// back in a full read, and stay deleted.
#[tokio::test]
async fn a_cancelled_event_with_all_its_fields_is_deleted() {
    let Some(world) = World::start().await else { return };
    let theirs = json!({
        "organizer": { "email": BOB }, "creator": { "email": BOB },
        "attendees": [{ "email": BOB, "responseStatus": "accepted" }, { "email": ALICE, "responseStatus": "accepted" }],
    });
    world.put(event("whole", "Whole", "2026-03-03T09:00:00Z", theirs.clone()));
    world.put(event("bare", "Bare", "2026-03-04T09:00:00Z", theirs));
    world.put(event("stays", "Stays", "2026-03-05T09:00:00Z", json!({})));
    let mut calendar = followed(&world).await;
    for (id, is_bare) in [("whole", false), ("bare", true)] {
        world.fake.trap("bare_cancelled", u32::from(is_bare));
        world.fake.with(|state| state.change_event(ALICE, id, json!({ "status": "cancelled" })));
        let kept = world.theirs(id);
        assert_eq!(kept["attendees"].as_array().map(Vec::len), Some(2), "Google keeps it: {kept:#}");
        let changes = world.changes(&mut calendar).await;
        assert!(changes.len() == 1 && changes[0].starts_with("deleted"), "{id}: {changes:?}");
    }
    world.fake.trap("bare_cancelled", 0);
    world.fake.with(|state| state.expire_sync_tokens(ALICE));
    assert_eq!(world.changes(&mut calendar).await, Vec::<String>::new());
    assert_eq!(world.march(&calendar).await, ["05T09:00 Stays"]);
    world.assert_allowed();
}

/// Google writes exclusions as exceptions with the status `cancelled`, and imported series have EXDATEs too: both leave an instance out.
#[tokio::test]
async fn cancelled_exceptions_and_exdates_both_exclude() {
    let Some(world) = World::start().await else { return };
    let lines = json!({ "recurrence": ["RRULE:FREQ=DAILY;COUNT=5", "EXDATE:20260303T090000Z"] });
    world.put(event("series", "Series", "2026-03-02T09:00:00Z", lines));
    let original = json!({ "dateTime": "2026-03-04T09:00:00Z", "timeZone": "UTC" });
    let gone = json!({ "recurringEventId": "series", "originalStartTime": original, "status": "cancelled" });
    world.put(event("series_20260304T090000Z", "Gone", "2026-03-04T09:00:00Z", gone));
    let calendar = followed(&world).await;
    let left = ["02T09:00 Series", "05T09:00 Series", "06T09:00 Series"];
    assert_eq!(world.march(&calendar).await, left);
    assert_eq!(world.their_march(ALICE).await, left);
    world.assert_allowed();
}

/// A limit that comes as 403 is one by its reason, in all four spellings: the calendar is read once the limit is over, and the
/// account stays active.
#[tokio::test]
async fn a_limit_as_403_is_retried() {
    let Some(world) = World::start().await else { return };
    let mut calendar = followed(&world).await;
    for (number, (trap, wait_ms)) in [
        ("rate_limit_exceeded", MINUTE_MS),
        ("user_rate_limit_exceeded", MINUTE_MS),
        ("queries_per_minute", MINUTE_MS),
        ("daily_limit_exceeded", HOUR_MS),
    ]
    .into_iter()
    .enumerate()
    {
        let title = format!("Round {number}");
        world.put(event(&format!("round{number}"), &title, "2026-03-03T11:00:00Z", json!({})));
        world.fake.trap(trap, 1);
        world.server.clock.advance_ms(1);
        // The reader gets the limit as an error, or the stored events.
        let path = format!("{}?limit=200", calendar.events);
        let read = world.api.get(path).header("cache-control", "no-cache").send().await;
        assert!([200, 429].contains(&read.status), "{trap}: {read}");
        assert!(!world.fake.with(|state| state.traps.is_on(trap)), "{trap}: Google was asked");
        world.advance(wait_ms);
        assert_eq!(world.changes(&mut calendar).await, [format!("created {title}")], "{trap}");
    }
    let connections = world.api.all("/v1/connections").await;
    assert_eq!(connections[0]["status"], "active");
    world.assert_allowed();
}

/// The answers to these reads at once.
async fn read_at_once(world: &World, paths: &[String]) -> Vec<u16> {
    world.server.clock.advance_ms(1);
    let reads = paths.iter().map(|path| world.api.get(path).header("cache-control", "no-cache").send());
    join_all(reads).await.into_iter().map(|answer| answer.status).collect()
}

/// Parallel gets cause a 429. The fifth request of an account is never sent while four are running: not by the check of a new account,
/// which sends eight requests, and not by many readers and writers of all surfaces.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parallel_gets_are_never_more_than_four() {
    let Some(world) = World::start().await else { return };
    // Each host counts for itself.
    let hosts = if world.server.app.db.is_shared() { 2 } else { 1 };
    world.fake.with(|state| {
        state.flights.limit = Some(MAX_CONCURRENT_REQUESTS * hosts);
        for number in 0..30 {
            state.deliver(ALICE, letter(&format!("Number {number}"), "").as_bytes());
        }
        state.put_contact(ALICE, json!({ "names": [{ "givenName": "Ada" }] }));
        state.put_task(ALICE, json!({ "title": "Pay" }));
        state.put_event(ALICE, event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({})));
    });
    world.fake.hold(true);
    let release = async {
        let are_open = async || {
            world.fake.with(|state| state.flights.open(ALICE) >= MAX_CONCURRENT_REQUESTS).then_some(())
        };
        until("four requests are under way", are_open).await;
        world.fake.hold(false);
    };
    let scopes = ["calendar.write", "email.read", "contacts.write", "tasks.write"];
    let (connection, ()) = tokio::join!(world.connect_for(&scopes), release);
    assert_eq!(
        world.fake.with(|state| state.flights.most(ALICE)),
        MAX_CONCURRENT_REQUESTS,
        "one host checks the account"
    );

    let id = text(&connection["id"]);
    let calendar = world.calendar(&connection, ALICE).await;
    let lists = ["calendars", "contacts", "contact-groups", "task-lists", "email/messages", "email/folders"];
    let mut paths: Vec<String> = lists.iter().map(|list| format!("/v1/{list}?connection_id={id}")).collect();
    paths.push(calendar.events.clone());
    for number in 0..6 {
        paths.push(format!("/v1/email/messages?connection_id={id}&native_query=subject%3A{number}"));
    }
    world.fake.hold(true);
    let release = async {
        let is_open = async || {
            world.fake.with(|state| state.flights.open(ALICE) >= MAX_CONCURRENT_REQUESTS).then_some(())
        };
        until("four requests are under way", is_open).await;
        world.fake.hold(false);
    };
    let (statuses, ()) = tokio::join!(read_at_once(&world, &paths), release);
    assert!(statuses.iter().all(|status| *status == 200), "{statuses:?}");
    let lists = world.get(&format!("/v1/task-lists?connection_id={id}")).await;
    let tasks = format!("/v1/task-lists/{}/tasks", text(&lists["data"][0]["id"]));
    let tea = json!({ "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z" });
    let writes = [
        (calendar.events.as_str(), tea),
        (tasks.as_str(), json!({ "title": "Sow" })),
        ("/v1/contacts", json!({ "connectionId": id, "givenName": "Bea" })),
    ];
    let made = writes.iter().cycle().take(6).map(|(path, body)| world.api.post(*path, body.clone()).send());
    let statuses: Vec<u16> = join_all(made).await.into_iter().map(|answer| answer.status).collect();
    assert_eq!(statuses, [201; 6]);
    let (most, refused) = world.fake.with(|state| (state.flights.most(ALICE), state.flights.refused));
    assert!(most <= MAX_CONCURRENT_REQUESTS * hosts, "{most} at once");
    assert_eq!(refused, 0, "Google refused calls");
    world.assert_allowed();
}
