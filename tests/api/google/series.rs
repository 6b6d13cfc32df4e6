//! Parts of series at Google: one instance, and an instance with all later ones, for which Google has no operation.

use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::google::{ALICE, World, ZONE, event};

/// The series of these tests: from 2 March on, from nine to ten.
fn daily(title: &str, rule: &str) -> Value {
    event("series", title, "2026-03-02T09:00:00Z", json!({ "recurrence": [rule] }))
}

/// A changed instance of it, in the afternoon.
fn moved(day: &str, title: &str) -> Value {
    let original = json!({ "dateTime": format!("2026-03-{day}T09:00:00Z"), "timeZone": "UTC" });
    let more = json!({ "recurringEventId": "series", "originalStartTime": original });
    event(&format!("series_202603{day}T090000Z"), title, &format!("2026-03-{day}T15:00:00Z"), more)
}

/// A series of days from this one on.
fn days(id: &str, first: &str, after: &str, rule: &str) -> Value {
    let more = json!({ "start": { "date": first }, "end": { "date": after }, "recurrence": [rule] });
    event(id, "Old", "2026-03-01T00:00:00Z", more)
}

/// The lines of a series at Google.
fn rules(world: &World, calendar: &str, id: &str) -> String {
    let series = world.fake.with(|state| state.event(calendar, id));
    series.unwrap_or_else(|| panic!("Google has no event {id}"))["recurrence"].to_string()
}

/// An instance is named by the id that follows from its original start. The series itself is not written.
#[tokio::test]
async fn one_occurrence_is_changed_and_deleted() {
    let Some(world) = World::start().await else { return };
    world.put(daily("Series", "RRULE:FREQ=DAILY;COUNT=4"));
    world.put(days("days", "2026-03-10", "2026-03-11", "RRULE:FREQ=WEEKLY;COUNT=3"));
    let before = world.theirs("series");
    let calendar = world.primary().await;
    let second = world.instance(&calendar, "03T09:00 Series").await;
    let third = world.instance(&calendar, "04T09:00 Series").await;
    let day = world.instance(&calendar, "17 Old").await;

    world.fake.clear_requests();
    let change = json!({ "title": "Moved", "start": "2026-03-03T15:00:00Z", "end": "2026-03-03T16:00:00Z" });
    let changed = world.api.patch(calendar.path(&second), change).send().await.expect(200);
    assert_eq!(
        (&changed["type"], &changed["seriesId"], &changed["externalId"]),
        (&json!("exception"), &second["seriesId"], &json!("series_20260303T090000Z"))
    );
    for gone in [&third, &day] {
        world.api.delete(calendar.path(gone)).send().await.expect(204);
    }
    let written: Vec<String> =
        world.writes().iter().map(|write| format!("{} {}", write.method, write.path)).collect();
    let of = |id: &str| format!("PATCH /calendar/v3/calendars/{ALICE}/events/{id}");
    let instances = ["series_20260303T090000Z", "series_20260304T090000Z", "days_20260317"];
    assert_eq!(written, instances.map(of));
    assert_eq!(world.theirs("series"), before);
    let left = ["02T09:00 Series", "03T15:00 Moved", "05T09:00 Series", "10 Old", "24 Old"];
    assert_eq!(world.march(&calendar).await, left);
    assert_eq!(world.their_march(ALICE).await, left);

    // An instance that was changed is deleted as all others are, and does not come back as the series has it.
    let path = calendar.path(&world.instance(&calendar, "03T15:00 Moved").await);
    world.api.delete(path).send().await.expect(204);
    let left = ["02T09:00 Series", "05T09:00 Series", "10 Old", "24 Old"];
    assert_eq!(world.march(&calendar).await, left);
    assert_eq!(world.their_march(ALICE).await, left);
    world.assert_allowed();
}

/// A split doubles no first instance and adds no second COUNT: the first series ends before the instance, the second has the rest of the
/// rule. Asserts that each instance takes place as before.
#[tokio::test]
async fn a_split_doubles_no_instance_and_no_count() {
    let Some(world) = World::start().await else { return };
    let connection = world.connect().await;
    let berlin = |text: &str| json!({ "dateTime": text, "timeZone": ZONE });
    let times = json!({
        "start": berlin("2026-03-02T08:00:00Z"), "end": berlin("2026-03-02T09:00:00Z"),
        "recurrence": ["RRULE:FREQ=WEEKLY;UNTIL=20260401T000000Z"],
    });
    let cases = [
        ("counted", daily("Old", "RRULE:FREQ=DAILY;COUNT=6"), "05T09:00", "COUNT=3"),
        // Over the change of clocks on 29 March.
        (
            "ended",
            event("series", "Old", "2026-03-02T08:00:00Z", times),
            "16T08:00",
            "UNTIL=20260401T000000Z",
        ),
        ("endless", daily("Old", "RRULE:FREQ=WEEKLY"), "09T09:00", "FREQ=WEEKLY"),
        ("days", days("series", "2026-03-05", "2026-03-06", "RRULE:FREQ=DAILY;COUNT=4"), "07", "COUNT=2"),
    ];
    for (name, series, at, rest) in cases {
        let home = format!("{name}@group.calendar.google.com");
        world.fake.with(|state| {
            state.add_calendar(ALICE, &home, name, ZONE);
            state.put_event(&home, series);
            if name == "counted" {
                state.put_event(&home, moved("03", "Moved"));
            }
        });
        let calendar = world.calendar(&connection, name).await;
        let before = world.march(&calendar).await;
        let line = format!("{at} Old");
        let first = world.instance(&calendar, &line).await;
        world.fake.clear_requests();
        let change = json!({ "title": "New", "recurrenceScope": "thisAndFollowing" });
        let made = world.api.patch(calendar.path(&first), change).send().await.expect(200);
        assert_eq!((&made["type"], &made["title"]), (&json!("series"), &json!("New")), "{name}");
        let told: Vec<(String, Option<String>)> = world
            .writes()
            .into_iter()
            .map(|write| (write.method.clone(), write.parameter("sendUpdates").map(str::to_owned)))
            .collect();
        // Guests are notified of the new series, but not also of the end of the old one.
        let expected = [("POST", "all"), ("PATCH", "none")];
        assert_eq!(told, expected.map(|(method, whom)| (method.to_owned(), Some(whom.to_owned()))), "{name}");

        let place = before.iter().position(|known| *known == line).expect("it was there");
        let renamed = |(number, line): (usize, &String)| {
            if number < place { line.clone() } else { line.replace("Old", "New") }
        };
        let expected: Vec<String> = before.iter().enumerate().map(renamed).collect();
        assert_eq!(world.march(&calendar).await, expected, "{name}");
        assert_eq!(world.their_march(&home).await, expected, "{name}");
        let (old, new) = (rules(&world, &home, "series"), rules(&world, &home, &text(&made["externalId"])));
        assert!(old.contains("UNTIL=") && !old.contains("COUNT="), "{name}: {old}");
        assert!(new.contains(rest), "{name}: {new}");
    }
    world.assert_allowed();
}

/// The series ends before the instance. Exceptions after its end are deleted as well.
#[tokio::test]
async fn this_and_following_are_deleted() {
    let Some(world) = World::start().await else { return };
    world.put(daily("Series", "RRULE:FREQ=DAILY;COUNT=6"));
    world.put(moved("03", "Early"));
    world.put(moved("06", "Late"));
    let calendar = world.primary().await;
    let path = calendar.path(&world.instance(&calendar, "05T09:00 Series").await);
    world.api.delete(format!("{path}?recurrence_scope=thisAndFollowing")).send().await.expect(204);
    let left = ["02T09:00 Series", "03T15:00 Early", "04T09:00 Series"];
    assert_eq!(world.march(&calendar).await, left);
    assert_eq!(world.their_march(ALICE).await, left);
    assert_eq!(world.ids(), ["series", "series_20260303T090000Z"]);
    world.assert_allowed();
}

/// The series changes while it is divided: the new one is taken back, and nothing takes place twice.
#[tokio::test]
async fn split_is_undone_on_412() {
    let Some(world) = World::start().await else { return };
    world.put(daily("Series", "RRULE:FREQ=DAILY;COUNT=4"));
    let calendar = world.primary().await;
    let before = world.march(&calendar).await;
    let path = calendar.path(&world.instance(&calendar, "04T09:00 Series").await);
    let change = json!({ "title": "Later", "recurrenceScope": "thisAndFollowing", "notify": "none" });
    let body = json!({ "error": {
        "code": 412, "message": "Precondition Failed",
        "errors": [{ "domain": "global", "reason": "conditionNotMet", "message": "Precondition Failed" }],
    } });
    world.fake.fault(Fault::status("/events/series", 412, body).method("PATCH"));
    world.fake.clear_requests();
    world.api.patch(&path, change.clone()).send().await.refused(409, "stale_etag");
    assert_eq!(world.methods(), ["POST", "PATCH", "DELETE"]);
    assert_eq!(world.ids(), ["series"]);
    assert_eq!(world.march(&calendar).await, before);
    assert_eq!(world.their_march(ALICE).await, before);

    world.api.patch(&path, change).send().await.expect(200);
    let after = ["02T09:00 Series", "03T09:00 Series", "04T09:00 Later", "05T09:00 Later"];
    assert_eq!(world.march(&calendar).await, after);
    assert_eq!(world.their_march(ALICE).await, after);
    world.assert_allowed();
}

/// The answer to the insert of the new series is lost: the repeated request continues with it.
#[tokio::test]
async fn a_lost_split_goes_on_where_it_stopped() {
    let Some(world) = World::start().await else { return };
    world.put(daily("Series", "RRULE:FREQ=DAILY;COUNT=4"));
    let calendar = world.primary().await;
    let path = calendar.path(&world.instance(&calendar, "04T09:00 Series").await);
    let change = json!({ "title": "Later", "recurrenceScope": "thisAndFollowing" });
    world.fake.fault(Fault::new("/events", What::Kill).method("POST").after());
    let lost = world.api.patch(&path, change.clone()).keyed("split").send().await;
    assert!(lost.status >= 500, "{lost}");
    assert_eq!(world.ids().len(), 2);

    let made = world.api.patch(&path, change).keyed("split").send().await.expect(200);
    assert_eq!(made["title"], "Later");
    assert_eq!(world.ids().len(), 2, "the new series is there once");
    let after = ["02T09:00 Series", "03T09:00 Series", "04T09:00 Later", "05T09:00 Later"];
    assert_eq!(world.march(&calendar).await, after);
    assert_eq!(world.their_march(ALICE).await, after);
    world.assert_allowed();
}
