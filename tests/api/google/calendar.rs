//! Google calendars are read in full and by deltas, for any order and form of Google's answers.

use fakes::Fault;
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::builder;
use crate::google::{ALICE, World, event};

/// Returns the requests that list events, with their parameter `name`.
fn lists(world: &World, name: &str) -> Vec<Option<String>> {
    let requests = world.fake.requests().into_iter();
    let lists = requests.filter(|request| request.path == format!("/calendar/v3/calendars/{ALICE}/events"));
    lists.map(|request| request.parameter(name).map(str::to_owned)).collect()
}

/// All events are read page by page, then only the changes, each reported once.
#[tokio::test]
async fn first_walk_and_delta() {
    let Some(world) = World::on(builder().config(|c| c.pull_page = 2)).await else { return };
    world.fake.with(|state| {
        state.put_event(ALICE, event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({})));
        let days = json!({ "start": { "date": "2026-03-05" }, "end": { "date": "2026-03-07" } });
        state.put_event(ALICE, event("offsite", "Offsite", "2026-03-05T00:00:00Z", days));
        let rule = json!({ "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=3"] });
        state.put_event(ALICE, event("standup", "Standup", "2026-03-02T09:00:00Z", rule));
    });
    let connection = world.connect().await;
    assert_eq!((&connection["email"], &connection["missingScopes"]), (&json!(ALICE), &json!([])));
    let mut calendar = world.calendar(&connection, ALICE).await;
    assert_eq!(world.follow(&mut calendar).await, ["created Lunch", "created Offsite", "created Standup"]);
    let all = ["02T09:00 Standup", "03T11:00 Lunch", "05 Offsite", "09T09:00 Standup", "16T09:00 Standup"];
    assert_eq!(world.march(&calendar).await, all);

    world.fake.clear_requests();
    world.fake.with(|state| {
        state.put_event(ALICE, event("review", "Review", "2026-03-04T14:00:00Z", json!({})));
        state.change_event(ALICE, "standup", json!({ "summary": "Daily" }));
        state.change_event(ALICE, "lunch", json!({ "status": "cancelled" }));
    });
    let mut changes = world.changes(&mut calendar).await;
    assert!(changes.remove(1).starts_with("deleted"), "{changes:?}");
    assert_eq!(changes, ["created Review", "updated Daily"]);
    let tokens = lists(&world, "syncToken");
    assert!(!tokens.is_empty() && tokens.iter().all(Option::is_some), "changes alone are read: {tokens:?}");
    let all = ["02T09:00 Daily", "04T14:00 Review", "05 Offsite", "09T09:00 Daily", "16T09:00 Daily"];
    assert_eq!(world.march(&calendar).await, all);
    assert_eq!(world.changes(&mut calendar).await, Vec::<String>::new(), "nothing is told twice");
    world.assert_allowed();
}

/// A page without events that has the token of another is not the end.
#[tokio::test]
async fn empty_page_goes_on() {
    let Some(world) = World::start().await else { return };
    world
        .fake
        .with(|state| state.put_event(ALICE, event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({}))));
    world.fake.trap("empty_page", 1);
    let connection = world.connect().await;
    let mut calendar = world.calendar(&connection, ALICE).await;
    assert_eq!(world.follow(&mut calendar).await, ["created Lunch"]);
    assert!(!world.fake.with(|state| state.traps.is_on("empty_page")), "the page was answered");
    world.fake.with(|state| state.put_event(ALICE, event("tea", "Tea", "2026-03-04T15:00:00Z", json!({}))));
    world.fake.trap("empty_page", 1);
    assert_eq!(world.changes(&mut calendar).await, ["created Tea"]);
    world.assert_allowed();
}

/// A calendar's 410 is no empty page, and nothing is deleted because of it: when Google has forgotten the sync token, everything is read
/// again and compared. Each difference is reported once, and nothing else.
#[tokio::test]
async fn calendar_410_is_no_empty_page() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| {
        for (id, title) in [("stays", "Stays"), ("leaves", "Leaves")] {
            state.put_event(ALICE, event(id, title, "2026-03-03T11:00:00Z", json!({})));
        }
    });
    let connection = world.connect().await;
    let mut calendar = world.calendar(&connection, ALICE).await;
    assert_eq!(world.follow(&mut calendar).await, ["created Leaves", "created Stays"]);
    for (round, trap) in [(1, "full_sync_required"), (2, "updated_min_too_long_ago")] {
        world.fake.clear_requests();
        world.fake.with(|state| {
            // Without a tombstone: Google has forgotten that too.
            let calendar = state.calendars.get_mut(ALICE).expect("the primary calendar");
            calendar.events.remove("leaves");
            let title = format!("Round {round}");
            state
                .put_event(ALICE, event(&format!("round{round}"), &title, "2026-03-04T11:00:00Z", json!({})));
        });
        world.fake.trap(trap, 1);
        let mut changes = world.changes(&mut calendar).await;
        if round == 1 {
            assert!(changes.remove(1).starts_with("deleted"), "{changes:?}");
        }
        assert_eq!(changes, [format!("created Round {round}")], "{trap}");
        let tokens = lists(&world, "syncToken");
        assert!(tokens.len() >= 2, "{trap}: {tokens:?}");
        assert!(
            tokens.first().is_some_and(Option::is_some) && tokens.iter().any(Option::is_none),
            "{tokens:?}"
        );
    }
    let all = ["03T11:00 Stays", "04T11:00 Round 1", "04T11:00 Round 2"];
    assert_eq!(world.march(&calendar).await, all);
    world.assert_allowed();
}

/// The offset of today is not the one of all dates: Google writes times with the offset of the calendar's zone. The zone of an event is
/// another thing, and its series follows the clock changes there.
#[tokio::test]
async fn offset_is_not_the_zone() {
    let Some(world) = World::start().await else { return };
    let there = |start: &str, end: &str| {
        let time = |text: &str| json!({ "dateTime": text, "timeZone": "America/Los_Angeles" });
        json!({ "start": time(start), "end": time(end), "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=2"] })
    };
    world.fake.with(|state| {
        state.add_calendar(ALICE, "brasil@group.calendar.google.com", "Brasil", "America/Sao_Paulo");
        // 9:00 in Los Angeles before and after the clocks go forward on 2026-03-08.
        let times = there("2026-03-03T17:00:00Z", "2026-03-03T18:00:00Z");
        let call = event("call", "Call", "2026-03-03T17:00:00Z", times);
        state.put_event("brasil@group.calendar.google.com", call);
    });
    let connection = world.connect().await;
    let calendar = world.calendar(&connection, "Brasil").await;
    assert_eq!(world.march(&calendar).await, ["03T17:00 Call", "10T16:00 Call"]);
    let call = world.titled(&calendar, "Call").await;
    assert_eq!(
        (&call["start"], &call["timeZone"]),
        (&json!("2026-03-03T17:00:00.000Z"), &json!("America/Los_Angeles")),
        "{call:#}"
    );
    world.assert_allowed();
}

/// A changed and a cancelled instance come before their series, on pages of their own, and each is one occurrence of it.
#[tokio::test]
async fn an_exception_before_its_series_is_one_occurrence() {
    let Some(world) = World::on(builder().config(|c| c.pull_page = 1)).await else { return };
    let original = |day: &str| json!({ "dateTime": format!("2026-03-{day}T09:00:00Z"), "timeZone": "UTC" });
    world.fake.with(|state| {
        let rule = json!({ "recurrence": ["RRULE:FREQ=DAILY;COUNT=4"] });
        state.put_event(ALICE, event("series", "Series", "2026-03-02T09:00:00Z", rule));
        let moved = json!({ "recurringEventId": "series", "originalStartTime": original("03") });
        state.put_event(ALICE, event("series_20260303T090000Z", "Moved", "2026-03-03T15:00:00Z", moved));
        let gone = json!({ "recurringEventId": "series", "originalStartTime": original("04"), "status": "cancelled" });
        state.put_event(ALICE, event("series_20260304T090000Z", "Gone", "2026-03-04T09:00:00Z", gone));
    });
    world.fake.trap("series_last", u32::MAX);
    let connection = world.connect().await;
    let calendar = world.calendar(&connection, ALICE).await;
    assert_eq!(world.march(&calendar).await, ["02T09:00 Series", "03T15:00 Moved", "05T09:00 Series"]);
    let (series, moved) = (world.titled(&calendar, "Series").await, world.titled(&calendar, "Moved").await);
    assert_eq!(moved["seriesId"], series["id"]);
    world.assert_allowed();
}

/// A page of HTML with status 200, and an answer that ends in its middle, are failures: no event is lost by them.
#[tokio::test]
async fn a_200_of_html_is_no_data() {
    let Some(world) = World::start().await else { return };
    world
        .fake
        .with(|state| state.put_event(ALICE, event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({}))));
    let connection = world.connect().await;
    let mut calendar = world.calendar(&connection, ALICE).await;
    assert_eq!(world.follow(&mut calendar).await, ["created Lunch"]);
    for trap in ["html_200", "cut_body"] {
        world.fake.clear_requests();
        world.fake.trap(trap, 100);
        world.server.clock.advance_ms(1);
        let path = format!("/v1/calendars/{}/sync/changes?limit=100", calendar.id);
        let answer = world.api.get(path).header("cache-control", "no-cache").send().await;
        if answer.status == 200 {
            let deleted = |change: &Value| change["changeType"] == "deleted";
            let changes = answer.answer["data"].as_array().expect("a list");
            assert!(!changes.iter().any(deleted), "{trap}: {answer}");
        }
        assert!(!world.fake.requests().is_empty(), "{trap}: Google was asked");
        world.fake.trap(trap, 0);
        // Longer than the service waits after failures.
        world.server.clock.advance_ms(30 * 60_000);
        assert_eq!(world.changes(&mut calendar).await, Vec::<String>::new(), "{trap}");
        assert_eq!(world.march(&calendar).await, ["03T11:00 Lunch"], "{trap}");
    }
    world.assert_allowed();
}

/// A scope that the user has not ticked is missing from the connection; the others work.
#[tokio::test]
async fn fewer_scopes_are_missing_scopes() {
    let Some(world) = World::start().await else { return };
    world
        .fake
        .with(|state| state.put_event(ALICE, event("lunch", "Lunch", "2026-03-03T11:00:00Z", json!({}))));
    let connection = world
        .connect_ticking(&["calendar.read", "calendar.write"], |scope| {
            !scope.ends_with("/auth/calendar.calendars")
        })
        .await;
    assert_eq!(
        (&connection["grantedScopes"], &connection["missingScopes"]),
        (&json!(["calendar.read"]), &json!(["calendar.write"])),
        "{connection:#}"
    );
    let calendar = world.calendar(&connection, ALICE).await;
    assert_eq!(world.march(&calendar).await, ["03T11:00 Lunch"]);
    let body = json!({ "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z", "timeZone": "UTC" });
    let refused = world.api.post(&calendar.events, body).send().await;
    assert_eq!(refused.status, 403, "{refused}");
    assert_eq!(world.fake.with(|state| state.event_ids(ALICE)), ["lunch"]);
    world.assert_allowed();
}

/// The rest of a series that is divided keeps its changed instances, and a cancelled one does not come back: Google's rule knows nothing of
/// either.
#[tokio::test]
async fn the_rest_of_a_series_keeps_its_exceptions() {
    let Some(world) = World::start().await else { return };
    let original = |day: &str| json!({ "dateTime": format!("2026-03-{day}T09:00:00Z"), "timeZone": "UTC" });
    world.fake.with(|state| {
        let rule = json!({ "recurrence": ["RRULE:FREQ=DAILY;COUNT=6"] });
        state.put_event(ALICE, event("series", "Series", "2026-03-02T09:00:00Z", rule));
        let moved = json!({ "recurringEventId": "series", "originalStartTime": original("05") });
        state.put_event(ALICE, event("series_20260305T090000Z", "Moved", "2026-03-05T15:00:00Z", moved));
        let gone = json!({ "recurringEventId": "series", "originalStartTime": original("06"), "status": "cancelled" });
        state.put_event(ALICE, event("series_20260306T090000Z", "Gone", "2026-03-06T09:00:00Z", gone));
    });
    let connection = world.connect().await;
    let calendar = world.calendar(&connection, ALICE).await;
    let before =
        ["02T09:00 Series", "03T09:00 Series", "04T09:00 Series", "05T15:00 Moved", "07T09:00 Series"];
    assert_eq!(world.march(&calendar).await, before);
    let range = "expand=true&start=2026-03-04T00:00:00Z&end=2026-03-05T00:00:00Z";
    let fourth = world.get(&format!("{}?{range}", calendar.events)).await;
    let path = format!("{}/{}", calendar.events, text(&fourth["data"][0]["id"]));
    let later = json!({ "title": "Rest", "recurrenceScope": "thisAndFollowing" });
    world.api.patch(path, later).send().await.expect(200);
    let after = ["02T09:00 Series", "03T09:00 Series", "04T09:00 Rest", "05T15:00 Moved", "07T09:00 Rest"];
    assert_eq!(world.march(&calendar).await, after);
    world.assert_allowed();
}

/// Each of Google's reasons for a 403 has its own code: missing grants, and restrictions by the administrator.
#[tokio::test]
async fn a_refusal_is_told_by_its_reason() {
    let Some(world) = World::start().await else { return };
    let connection = world.connect().await;
    let calendar = world.calendar(&connection, ALICE).await;
    for (reason, status, code) in [
        ("insufficientPermissions", 403, "scope_not_granted"),
        ("domainPolicy", 403, "admin_blocked"),
        ("forbiddenForNonOrganizer", 400, "provider_rejected"),
    ] {
        let errors = json!([{ "domain": "global", "reason": reason, "message": "no" }]);
        let error = json!({ "error": { "code": 403, "message": "no", "errors": errors } });
        world.fake.fault(Fault::status("/events", 403, error).method("POST"));
        let body = json!({ "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z" });
        world.api.post(&calendar.events, body).send().await.refused(status, code);
    }
    assert_eq!(world.fake.with(|state| state.event_ids(ALICE)), Vec::<String>::new());
    world.assert_allowed();
}
