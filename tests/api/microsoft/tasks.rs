//! Microsoft To Do: days that Graph answers as times, rules that are read and not written, and the parts of tasks.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::tasks::{FollowedTaskList, connect_lists};
use crate::microsoft::{ALICE, World};

/// Alice's lists, with her account just connected; sorted by their names.
async fn lists(world: &World) -> Vec<Value> {
    let mut lists = connect_lists(world).await;
    lists.sort_by_key(|list| text(&list["name"]));
    lists
}

/// A day is midnight in the zone of whoever set it, which Graph answers in UTC: perhaps on the day before, and in a shared list at any hour.
#[tokio::test]
async fn due_is_the_day_of_the_mailbox() {
    let Some(world) = World::start().await else { return };
    let taxes = json!({ "title": "Taxes", "dueDateTime": { "dateTime": "2026-03-31" } });
    world.fake.with(|state| {
        state.put_task(ALICE, "", taxes.clone());
        let shared = state.add_shared_task_list(ALICE, "Team", "Tokyo Standard Time");
        state.put_task(ALICE, &shared, taxes);
    });
    let lists = lists(&world).await;
    let roles: Vec<(&Value, bool, bool)> = lists
        .iter()
        .map(|list| (&list["role"], list["readOnly"] == true, list["isShared"] == true))
        .collect();
    let (flagged, default) = (json!("flagged"), json!("default"));
    assert_eq!(roles, [(&flagged, true, false), (&default, false, false), (&Value::Null, false, true)]);
    for list in &lists[1..] {
        let task = FollowedTaskList::new(list).titled(&world, "Taxes").await;
        assert_eq!((&task["dueDate"], &task["dueTime"]), (&json!("2026-03-31"), &Value::Null), "{list:#}");
    }
    let list = FollowedTaskList::new(&lists[1]);
    let new = json!({ "title": "Plan", "dueDate": "2026-03-10", "dueTime": "17:00", "timeZone": "UTC", "priority": "high" });
    let made = world.api.post(&list.tasks, new).send().await.expect(201);
    let warnings = made["warnings"].as_array().expect("a list");
    assert!(warnings.iter().any(|warning| warning["target"] == "dueTime"), "{made:#}");
    assert_eq!((&made["dueDate"], &made["priority"]), (&json!("2026-03-10"), &json!("high")));
    let id = text(&made["externalId"]);
    let theirs = || world.fake.with(|state| state.stored_task(ALICE, &id)).expect("the task");
    assert_eq!(
        theirs()["dueDateTime"],
        json!({ "dateTime": "2026-03-09T23:00:00.0000000", "timeZone": "UTC" })
    );
    let bare = world.api.patch(list.path(&made), json!({ "dueDate": null })).send().await.expect(200);
    assert_eq!((&bare["dueDate"], theirs().get("dueDateTime")), (&Value::Null, None));
    let done = world.api.patch(list.path(&made), json!({ "status": "completed" })).send().await.expect(200);
    assert!(done["completedAt"].is_string(), "{done:#}");
    world.assert_allowed();
}

/// The rule of a recurring task is read, and a change of it is refused; its other fields and its steps are written. A change by another
/// client comes with the next delta, and an older version is a conflict.
#[tokio::test]
async fn recurring_task_is_read_only() {
    let Some(world) = World::start().await else { return };
    let pattern =
        json!({ "type": "weekly", "interval": 1, "daysOfWeek": ["tuesday"], "firstDayOfWeek": "monday" });
    let rule = json!({ "pattern": pattern, "range": { "type": "noEnd", "startDate": "2026-03-31" } });
    let id = world.fake.with(|state| {
        let bins =
            json!({ "title": "Bins", "dueDateTime": { "dateTime": "2026-03-31" }, "recurrence": rule });
        state.put_task(ALICE, "", bins)
    });
    let mut list = FollowedTaskList::connect(&world).await;
    assert_eq!(list.follow(&world).await, ["created Bins"]);
    let task = list.titled(&world, "Bins").await;
    assert!(text(&task["recurrence"][0]).starts_with("RRULE:FREQ=WEEKLY"), "{task:#}");
    world.fake.clear_requests();
    let daily = json!({ "recurrence": ["RRULE:FREQ=DAILY"] });
    world.api.patch(list.path(&task), daily).send().await.refused(400, "capability_not_supported");
    assert!(world.writes().is_empty());
    let renamed =
        world.api.patch(list.path(&task), json!({ "title": "Paper bins" })).send().await.expect(200);
    assert_eq!((&renamed["title"], &renamed["recurrence"]), (&json!("Paper bins"), &task["recurrence"]));

    let steps = format!("{}/checklist-items", list.path(&task));
    let step = world.api.post(&steps, json!({ "title": "Blue one" })).send().await.expect(201);
    let step = format!("{steps}/{}", text(&step["id"]));
    let checked = world.api.patch(&step, json!({ "checked": true })).send().await.expect(200);
    assert_eq!((&checked["title"], &checked["checked"]), (&json!("Blue one"), &json!(true)));
    let link = json!({ "url": "https://bins.example", "title": "Days", "applicationName": "Town" });
    world.api.post(format!("{}/links", list.path(&task)), link).send().await.expect(201);
    let stored = world.fake.with(|state| state.stored_task(ALICE, &id)).expect("the task");
    assert_eq!(
        (&stored["checklistItems"][0]["isChecked"], &stored["linkedResources"][0]["webUrl"]),
        (&json!(true), &json!("https://bins.example"))
    );
    world.api.delete(&step).send().await.expect(204);
    let now = list.titled(&world, "Paper bins").await;
    assert_eq!((&now["checklistItems"], now["links"].as_array().map(Vec::len)), (&json!([]), Some(1)));

    list.changes(&world).await;
    world.advance(1_000);
    world.fake.with(|state| {
        state.edit_task(ALICE, &id, json!({ "title": "Glass bins" }));
        state.put_checklist_item(ALICE, &id, "Green one", false)
    });
    let stale = json!({ "title": "x", "etag": now["etag"] });
    world.api.patch(list.path(&task), stale).send().await.refused(409, "stale_etag");
    let fresh = list.titled(&world, "Glass bins").await;
    assert_eq!(fresh["checklistItems"][0]["title"], "Green one");
    world.fake.with(|state| state.delete_task(ALICE, &id));
    assert!(list.changes(&world).await.contains(&"deleted".to_owned()));
    world.assert_allowed();
}
