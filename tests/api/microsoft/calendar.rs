//! Outlook's calendars are read in full and by changes, by Graph's delta of a calendar and without it.

use fakes::graph::{AttachmentKind, GraphCalendarKind, occurrence_id};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::builder;
use crate::microsoft::{ALICE, BOB, World, ZONE};

/// An hour in UTC on a day of March 2026.
fn at(day: u8, hour: u8) -> Value {
    json!({ "dateTime": format!("2026-03-{day:02}T{hour:02}:00:00"), "timeZone": "UTC" })
}

/// An event of an hour; `more` overrides members.
pub fn event(title: &str, day: u8, hour: u8, more: Value) -> Value {
    let mut event =
        json!({ "subject": title, "start": at(day, hour), "end": at(day, hour + 1), "isReminderOn": false });
    for (name, value) in more.as_object().into_iter().flatten() {
        event[name.as_str()] = value.clone();
    }
    event
}

/// A series of an hour on each day, so many times.
pub fn daily(title: &str, day: u8, hour: u8, count: u8) -> Value {
    let range =
        json!({ "type": "numbered", "startDate": format!("2026-03-{day:02}"), "numberOfOccurrences": count });
    event(
        title,
        day,
        hour,
        json!({ "recurrence": { "pattern": { "type": "daily", "interval": 1 }, "range": range } }),
    )
}

/// Reads a calendar in full and then its changes; the lines of March before and after, and what the feed had.
async fn read_by(world: &World) -> (Vec<String>, Vec<String>, Vec<String>) {
    let ids = world.fake.with(|state| {
        let lunch = state.put_event(ALICE, "", event("Lunch", 3, 11, json!({})));
        let midnight =
            |day: u8| json!({ "dateTime": format!("2026-03-{day:02}T00:00:00"), "timeZone": ZONE });
        let days = json!({ "isAllDay": true, "start": midnight(5), "end": midnight(7) });
        state.put_event(ALICE, "", event("Offsite", 5, 0, days));
        let standup = state.put_event(ALICE, "", daily("Standup", 2, 9, 4));
        state.edit_event(
            ALICE,
            &occurrence_id(&standup, "2026-03-03"),
            json!({ "subject": "Late", "start": at(3, 14), "end": at(3, 15) }),
        );
        state.delete_event(ALICE, &occurrence_id(&standup, "2026-03-04"));
        [lunch, standup]
    });
    let connection = world.connect().await;
    let mut calendar = world.default_calendar(&connection).await;
    let mut feed = world.follow(&mut calendar).await;
    let before = world.march(&calendar).await;
    let late = world.instance(&calendar, "03T14:00 Late").await;
    assert_eq!(late["type"], "exception", "{late:#}");
    world.fake.with(|state| {
        state.delete_event(ALICE, &ids[0]);
        state.edit_event(ALICE, &ids[1], json!({ "subject": "Daily" }));
        state.delete_event(ALICE, &occurrence_id(&ids[1], "2026-03-05"));
        state.put_event(ALICE, "", event("Review", 4, 14, json!({})));
    });
    feed.extend(
        world
            .changes(&mut calendar)
            .await
            .into_iter()
            .map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")),
    );
    assert_eq!(world.changes(&mut calendar).await, Vec::<String>::new(), "nothing is told twice");
    (before, world.march(&calendar).await, feed)
}

/// The delta of a calendar's events is not documented for version 1.0. Where it is refused, names and versions are listed instead, and the
/// outcome is the same.
#[tokio::test]
async fn both_delta_roads_give_the_same_events() {
    let Some(by_delta) = World::on(builder().config(|c| c.pull_page = 2)).await else { return };
    let read = read_by(&by_delta).await;
    let before = ["02T09:00 Standup", "03T11:00 Lunch", "03T14:00 Late", "05 Offsite", "05T09:00 Standup"];
    assert_eq!(read.0, before);
    assert_eq!(read.1, ["02T09:00 Daily", "03T14:00 Late", "04T14:00 Review", "05 Offsite"]);
    by_delta.assert_allowed();

    for trap in ["events_delta_refused", "events_delta_needs_range"] {
        let Some(by_names) = World::on(builder().config(|c| c.pull_page = 2)).await else { return };
        by_names.fake.trap(trap, u32::MAX);
        assert_eq!(read_by(&by_names).await, read, "{trap}");
        by_names.assert_allowed();
    }
}

/// Graph forgets the token of a delta: everything is read again and compared, and each difference is told once.
#[tokio::test]
async fn a_forgotten_token_is_absorbed() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| state.put_event(ALICE, "", event("Stays", 3, 11, json!({}))));
    let leaves = world.fake.with(|state| state.put_event(ALICE, "", event("Leaves", 3, 12, json!({}))));
    let connection = world.connect().await;
    let mut calendar = world.default_calendar(&connection).await;
    assert_eq!(world.follow(&mut calendar).await, ["created Leaves", "created Stays"]);
    world.fake.with(|state| {
        state.delete_event(ALICE, &leaves);
        state.put_event(ALICE, "", event("New", 4, 11, json!({})));
        state.expire_calendar_tokens(ALICE);
    });
    let changes = world.changes(&mut calendar).await;
    assert_eq!(changes.len(), 2, "{changes:?}");
    assert_eq!(world.march(&calendar).await, ["03T11:00 Stays", "04T11:00 New"]);
    world.assert_allowed();
}

/// Another person's calendar answers no events and no error: it is not shown, because it would look empty. Holidays are there to be read.
#[tokio::test]
async fn a_shared_calendar_is_left_out() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| {
        state.add_foreign_calendar(ALICE, BOB, "Bob");
        state.add_calendar(ALICE, "Trips");
        state.add_read_only_calendar(ALICE, "Holidays", GraphCalendarKind::Holidays);
    });
    let connection = world.connect().await;
    let page = world.get(&format!("/v1/calendars?connection_id={}", text(&connection["id"]))).await;
    let all = page["data"].as_array().expect("a list");
    let named = |name: &str| all.iter().find(|calendar| calendar["name"] == name);
    assert!(named("Bob").is_none() && all.len() == 3, "{page:#}");
    let (trips, holidays) = (named("Trips").expect("there"), named("Holidays").expect("there"));
    assert_eq!(
        (&trips["isOwned"], &trips["readOnly"], &holidays["readOnly"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert_eq!(trips["timeZone"], "Europe/Berlin");
    world.assert_allowed();
}

/// An event that is moved to another calendar keeps its id there, and Graph answers it under the old calendar too: it is in one of them.
#[tokio::test]
async fn a_moved_event_is_in_one_calendar() {
    let Some(world) = World::start().await else { return };
    let id = world.fake.with(|state| {
        state.add_calendar(ALICE, "Trips");
        state.put_event(ALICE, "", event("Flight", 3, 11, json!({})))
    });
    let connection = world.connect().await;
    let mut home = world.default_calendar(&connection).await;
    assert_eq!(world.follow(&mut home).await, ["created Flight"]);
    let mut trips = world.calendar(&connection, "Trips").await;
    assert_eq!(world.follow(&mut trips).await, Vec::<String>::new());
    world.fake.with(|state| state.move_event(ALICE, &id, "Trips"));
    assert_eq!(world.changes(&mut home).await.len(), 1);
    assert_eq!(world.changes(&mut trips).await, ["created Flight"]);
    assert_eq!(
        (world.march(&home).await.len(), world.march(&trips).await),
        (0, vec!["03T11:00 Flight".to_owned()])
    );
    world.assert_allowed();
}

/// Files and links that are attached to an event have their names and types. Graph takes none: a list that differs has a warning, and the
/// attachments stay.
#[tokio::test]
async fn attachments_are_read_and_not_written() {
    let Some(world) = World::start().await else { return };
    let id = world.fake.with(|state| {
        let id = state.put_event(ALICE, "", event("Review", 3, 9, json!({})));
        state.attach_to_event(ALICE, &id, AttachmentKind::File, "agenda.pdf", "application/pdf");
        state.attach_to_event(ALICE, &id, AttachmentKind::Reference, "Plan", "");
        id
    });
    let connection = world.connect().await;
    let mut calendar = world.default_calendar(&connection).await;
    assert_eq!(world.follow(&mut calendar).await, ["created Review"]);
    let review = world.titled(&calendar, "Review").await;
    let attachments = json!([
        { "title": "agenda.pdf", "url": null, "mimeType": "application/pdf" },
        { "title": "Plan", "url": null, "mimeType": null },
    ]);
    assert_eq!(review["attachments"], attachments, "{review:#}");

    let path = calendar.path(&review);
    let change = json!({ "title": "Second review", "attachments": attachments });
    let renamed = world.api.patch(&path, change).send().await.expect(200);
    assert_eq!((&renamed["attachments"], &renamed["warnings"]), (&attachments, &json!([])), "{renamed:#}");
    let link = json!({ "attachments": [{ "title": "Notes", "url": "https://files.example.test/notes" }] });
    let kept = world.api.patch(&path, link).send().await.expect(200);
    assert_eq!(kept["attachments"], attachments, "{kept:#}");
    assert_eq!(
        (&kept["warnings"][0]["code"], &kept["warnings"][0]["target"]),
        (&json!("field_not_supported"), &json!("attachments")),
        "{kept:#}"
    );

    world.changes(&mut calendar).await;
    world.fake.with(|state| {
        state.attach_to_event(ALICE, &id, AttachmentKind::File, "minutes.txt", "text/plain");
    });
    assert_eq!(world.changes(&mut calendar).await, ["updated Second review"]);
    let after = world.titled(&calendar, "Second review").await;
    assert_eq!(after["attachments"][2]["title"], "minutes.txt", "{after:#}");
    world.assert_allowed();
}
