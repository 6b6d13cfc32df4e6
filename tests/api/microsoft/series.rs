//! Parts of series in Outlook: one instance, and an instance with all later ones, for which Graph has no operation.

use fakes::graph::occurrence_id;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::FollowedCalendar;
use crate::microsoft::calendar::daily;
use crate::microsoft::{ALICE, World};

/// The series of these tests as Graph has it.
fn theirs(world: &World, id: &str) -> Value {
    let found = world.fake.with(|state| state.stored_event(ALICE, id));
    found.unwrap_or_else(|| panic!("Graph has no event {id}"))
}

async fn path_of(world: &World, calendar: &FollowedCalendar, line: &str) -> String {
    calendar.path(&world.instance(calendar, line).await)
}

/// An instance is found by its exact original start, over a change of clocks too, and written under its own id.
#[tokio::test]
async fn one_occurrence_is_changed_and_deleted() {
    let Some(world) = World::start().await else { return };
    // At ten in Berlin: from 29 March on that is eight o'clock UTC.
    let mut series = daily("Series", 27, 9, 5);
    for name in ["start", "end"] {
        let hour = if name == "start" { 10 } else { 11 };
        series[name] =
            json!({ "dateTime": format!("2026-03-27T{hour}:00:00"), "timeZone": "W. Europe Standard Time" });
    }
    let id = world.fake.with(|state| state.put_event(ALICE, "", series));
    let calendar = world.primary().await;
    let all = ["27T09:00 Series", "28T09:00 Series", "29T08:00 Series", "30T08:00 Series", "31T08:00 Series"];
    assert_eq!(world.march(&calendar).await, all);
    let (changed, gone) = (
        path_of(&world, &calendar, "29T08:00 Series").await,
        path_of(&world, &calendar, "30T08:00 Series").await,
    );
    world.fake.clear_requests();
    let change = json!({ "title": "Moved", "start": "2026-03-29T13:00:00Z", "end": "2026-03-29T14:00:00Z" });
    let answered = world.api.patch(&changed, change).send().await.expect(200);
    assert_eq!(answered["type"], "exception", "{answered:#}");
    world.api.delete(&gone).send().await.expect(204);
    assert_eq!(world.methods(), ["PATCH", "DELETE"]);
    let left = ["27T09:00 Series", "28T09:00 Series", "29T13:00 Moved", "31T08:00 Series"];
    assert_eq!(world.march(&calendar).await, left);
    let stored = theirs(&world, &id);
    assert_eq!(
        (&stored["exceptions"], &stored["cancelled"]),
        (&json!(["2026-03-29"]), &json!(["2026-03-30"]))
    );
    assert_eq!(theirs(&world, &occurrence_id(&id, "2026-03-29"))["subject"], "Moved");
    world.assert_allowed();
}

/// The first series ends before the instance, the second has the rest of the rule; a lost answer makes no third.
#[tokio::test]
async fn this_and_following_is_another_series() {
    let Some(world) = World::start().await else { return };
    let id = world.fake.with(|state| {
        let id = state.put_event(ALICE, "", daily("Old", 2, 9, 6));
        state.delete_event(ALICE, &occurrence_id(&id, "2026-03-03"));
        state.delete_event(ALICE, &occurrence_id(&id, "2026-03-06"));
        id
    });
    let calendar = world.primary().await;
    assert_eq!(
        world.march(&calendar).await,
        ["02T09:00 Old", "04T09:00 Old", "05T09:00 Old", "07T09:00 Old"]
    );
    let path = path_of(&world, &calendar, "05T09:00 Old").await;
    let change = json!({ "title": "New", "recurrenceScope": "thisAndFollowing" });
    world.fake.fault(Fault::new("/events", What::Kill).method("POST").after());
    let lost = world.api.patch(&path, change.clone()).keyed("split").send().await;
    assert!(lost.status >= 500, "{lost}");
    let made = world.api.patch(&path, change).keyed("split").send().await.expect(200);
    assert_eq!((&made["type"], &made["title"]), (&json!("series"), &json!("New")), "{made:#}");
    assert_eq!(
        world.march(&calendar).await,
        ["02T09:00 Old", "04T09:00 Old", "05T09:00 New", "07T09:00 New"]
    );
    assert_eq!(world.fake.with(|state| state.event_ids(ALICE)).len(), 2);
    assert_eq!(theirs(&world, &id)["recurrence"]["range"]["type"], "endDate");
    let new = theirs(&world, &text(&made["externalId"]));
    assert_eq!(
        (&new["recurrence"]["range"]["numberOfOccurrences"], &new["cancelled"]),
        (&json!(3), &json!(["2026-03-06"]))
    );

    // Later ones are deleted: the series ends before them.
    let path = path_of(&world, &calendar, "07T09:00 New").await;
    world.api.delete(format!("{path}?recurrence_scope=thisAndFollowing")).send().await.expect(204);
    assert_eq!(world.march(&calendar).await, ["02T09:00 Old", "04T09:00 Old", "05T09:00 New"]);
    world.assert_allowed();
}
