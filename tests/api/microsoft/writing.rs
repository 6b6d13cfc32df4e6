//! Writes of events to Outlook, answers to invitations, and what Outlook does by itself.

use fakes::graph::MeetingMailKind;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::microsoft::calendar::event;
use crate::microsoft::{ALICE, BOB, World};

fn tea() -> Value {
    json!({
        "title": "Tea", "start": "2026-03-04T15:00:00Z", "end": "2026-03-04T16:00:00Z", "timeZone": "Europe/Berlin",
        "description": "Green\nor black",
    })
}

fn theirs(world: &World, event: &Value) -> Value {
    let id = text(&event["externalId"]);
    let found = world.fake.with(|state| state.stored_event(ALICE, &id));
    found.unwrap_or_else(|| panic!("Graph has no event {id}"))
}

/// Outlook would remind of an event that says nothing of reminders; the body, which carries the link of the meeting, is sent where it
/// changes alone, and keeps the link.
#[tokio::test]
async fn no_reminder_is_none_and_an_unchanged_body_is_not_sent() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    let made = world.api.post(&calendar.events, tea()).send().await.expect(201);
    let stored = theirs(&world, &made);
    assert_eq!(
        (&stored["isReminderOn"], &stored["startZone"]),
        (&json!(false), &json!("W. Europe Standard Time"))
    );
    let path = calendar.path(&made);
    let added = world.api.post(format!("{path}/conference"), json!({})).send().await.expect(200);
    let link = text(&added["conference"]["joinUrl"]);
    assert!(link.starts_with("https://teams.microsoft.com/"), "{added:#}");
    assert_eq!(added["description"], "Green\nor black");

    world.fake.clear_requests();
    let same = json!({ "title": "Coffee", "description": "Green\nor black" });
    world.api.patch(&path, same).send().await.expect(200);
    let writes = world.writes();
    let [patch] = &writes[..] else { panic!("one request: {writes:#?}") };
    assert_eq!(patch.body, Some(json!({ "subject": "Coffee" })));
    let changed = world.api.patch(&path, json!({ "description": "White" })).send().await.expect(200);
    assert_eq!(
        (&changed["description"], &changed["conference"]["joinUrl"]),
        (&json!("White"), &json!(link)),
        "{changed:#}"
    );
    assert_eq!(theirs(&world, &made)["isOnlineMeeting"], true);
    world.assert_allowed();
}

/// The answer to a creation is lost: the repeated request finds the event of the first one.
#[tokio::test]
async fn a_lost_create_is_not_doubled() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    world.fake.fault(Fault::new("/events", What::Kill).method("POST").after());
    let lost = world.api.post(&calendar.events, tea()).keyed("tea").send().await;
    assert!(lost.status >= 500, "{lost}");
    let found = world.api.post(&calendar.events, tea()).keyed("tea").send().await.expect(201);
    assert_eq!(world.fake.with(|state| state.event_ids(ALICE)), [text(&found["externalId"])]);
    assert_eq!(world.march(&calendar).await, ["04T15:00 Tea"]);

    // The version is refused though it is the present one.
    world.fake.trap("irresolvable_conflict", 1);
    let path = calendar.path(&found);
    let etag = text(&world.get(&path).await["etag"]);
    let change = world.api.patch(&path, json!({ "title": "Late tea" })).if_match(&etag);
    assert_eq!(change.send().await.expect(200)["title"], "Late tea");
    assert!(
        !world.fake.with(|state| state.traps.is_on("irresolvable_conflict")),
        "the version was refused once"
    );
    world.assert_allowed();
}

/// Outlook sends mail to attendees whoever is named: who wants none gets a refusal, and nothing is written.
#[tokio::test]
async fn mail_to_attendees_cannot_be_suppressed() {
    let Some(world) = World::start().await else { return };
    let calendar = world.primary().await;
    let mut meeting = tea();
    meeting["attendees"] = json!([{ "email": BOB }]);
    meeting["notify"] = json!("none");
    world.fake.clear_requests();
    let strict = format!("{}?strict=true", calendar.events);
    world.api.post(strict, meeting.clone()).send().await.refused(400, "capability_not_supported");
    assert_eq!(world.methods(), Vec::<String>::new());
    let made = world.api.post(&calendar.events, meeting).send().await.expect(201);
    assert_eq!(made["warnings"][0]["code"], "notify_not_supported", "{made:#}");
    let mails = world.fake.with(|state| state.meeting_mails(ALICE));
    let [mail] = &mails[..] else { panic!("one mail: {mails:?}") };
    assert_eq!((mail.kind, mail.to.as_slice()), (MeetingMailKind::Invitation, &[BOB.to_owned()][..]));
    world.assert_allowed();
}

/// Invitations are accepted and declined; Outlook deletes what was declined, and that is success.
#[tokio::test]
async fn invitations_are_answered() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| {
        state.invite(ALICE, BOB, event("Board", 6, 9, json!({})));
        state.invite(ALICE, BOB, event("Party", 6, 11, json!({ "responseRequested": false })));
    });
    let calendar = world.primary().await;
    let board = calendar.path(&world.titled(&calendar, "Board").await);
    let accepted =
        world.api.post(format!("{board}/accept"), json!({ "comment": "Gladly" })).send().await.expect(200);
    assert_eq!(accepted["myResponse"], "accepted", "{accepted:#}");
    let mails = world.fake.with(|state| state.meeting_mails(ALICE));
    let [mail] = &mails[..] else { panic!("one mail: {mails:?}") };
    assert_eq!(
        (mail.kind, mail.to.as_slice(), mail.comment.as_str()),
        (MeetingMailKind::Response, &[BOB.to_owned()][..], "Gladly")
    );

    // The organizer wants no answer: none is sent, and the caller is told.
    let party = calendar.path(&world.titled(&calendar, "Party").await);
    let declined = world.api.post(format!("{party}/decline"), json!({})).send().await.expect(200);
    assert_eq!(
        (&declined["myResponse"], &declined["warnings"][0]["code"]),
        (&json!("declined"), &json!("organizer_not_notified")),
        "{declined:#}"
    );
    assert_eq!(world.fake.with(|state| state.meeting_mails(ALICE)).len(), 1);
    assert_eq!(world.march(&calendar).await, ["06T09:00 Board"]);
    world.assert_allowed();
}
