//! Google tasks: read with all that Google leaves out by default, written by changed fields, ordered, and never doubled or deleted
//! elsewhere.

use fakes::google::RequestRecord;
use fakes::{Fault, What};
use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::fake_provider::builder;
use crate::fake_provider::tasks::FollowedTaskList;
use crate::google::{ALICE, World};

const DAY_MS: i64 = 86_400_000;

/// The titles of the tasks; sorted.
async fn titles(list: &FollowedTaskList, world: &World) -> Vec<String> {
    let mut titles: Vec<String> = list.all(world).await.iter().map(|task| text(&task["title"])).collect();
    titles.sort();
    titles
}

/// Makes a task with these fields.
async fn create(list: &FollowedTaskList, world: &World, fields: Value) -> Value {
    world.api.post(&list.tasks, fields).send().await.expect(201)
}

/// The requests that change something of Alice's tasks, since `clear_requests`.
fn writes(world: &World) -> Vec<RequestRecord> {
    let all = world.fake.requests().into_iter();
    all.filter(|request| request.method != "GET" && request.path.starts_with("/tasks/v1/")).collect()
}

fn methods(world: &World) -> Vec<String> {
    writes(world).into_iter().map(|request| request.method).collect()
}

/// The requests that list tasks.
fn walks(world: &World) -> Vec<RequestRecord> {
    let all = world.fake.requests().into_iter();
    all.filter(|request| request.method == "GET" && request.path.ends_with("/tasks")).collect()
}

/// A task from a document.
fn assigned(title: &str) -> Value {
    let origin = json!({ "surfaceType": "DOCUMENT", "linkToTask": "https://docs.google.com/d/1" });
    json!({ "title": title, "assignmentInfo": origin })
}

/// All tasks are read, also those that Google's own apps have hidden and those from documents; then the changes. Google has no sync
/// tokens: deletions come as tombstones, and without one the daily full read detects the deletion.
#[tokio::test]
async fn first_walk_and_delta() {
    let Some(world) = World::on(builder().config(|c| c.pull_page = 2)).await else { return };
    let (open, done, gone) = world.fake.with(|state| {
        let open = state
            .put_task(ALICE, json!({ "title": "Open", "due": "2026-03-31T00:00:00.000Z", "notes": "soon" }));
        let done = state.put_task(ALICE, json!({ "title": "Done" }));
        state.put_task(ALICE, assigned("Assigned"));
        state.put_task(ALICE, json!({ "title": "Below", "parent": open }));
        (open, done, state.put_task(ALICE, json!({ "title": "Gone" })))
    });
    world.fake.with(|state| state.complete_task(ALICE, &done));
    let mut list = FollowedTaskList::connect(&world).await;
    let all = ["created Assigned", "created Below", "created Done", "created Gone", "created Open"];
    assert_eq!(list.follow(&world).await, all);
    let read = list.titled(&world, "Open").await;
    assert_eq!(
        (&read["dueDate"], &read["dueTime"], &read["notes"]),
        (&json!("2026-03-31"), &Value::Null, &json!("soon"))
    );
    assert!(text(&read["webUrl"]).starts_with("https://tasks.google.com/"), "{read:#}");
    let hidden = list.titled(&world, "Done").await;
    assert_eq!((&hidden["status"], hidden["completedAt"].is_string()), (&json!("completed"), true));
    assert_eq!(list.titled(&world, "Below").await["parentId"], read["id"]);

    world.advance(120_000);
    world.fake.clear_requests();
    world.fake.with(|state| {
        state.change_task(ALICE, &open, json!({ "title": "Renamed" }));
        state.delete_task(ALICE, &gone);
        state.put_task(ALICE, json!({ "title": "New" }));
    });
    assert_eq!(list.changes(&world).await, ["created New", "deleted", "updated Renamed"]);
    assert_eq!(list.changes(&world).await, Vec::<String>::new(), "nothing is told twice");
    let walks = walks(&world);
    assert!(
        !walks.is_empty() && walks.iter().all(|walk| walk.parameter("updatedMin").is_some()),
        "{walks:#?}"
    );
    for shown in ["showCompleted", "showHidden", "showDeleted", "showAssigned"] {
        assert!(walks.iter().all(|walk| walk.parameter(shown) == Some("true")), "{shown}: {walks:#?}");
    }

    // The positions of the later tasks change, which may be reported; the deletion is not.
    let is_deletion = |change: &&String| change.starts_with("deleted");
    world.fake.trap("no_tombstones", 1);
    world.fake.with(|state| state.delete_task(ALICE, &open));
    assert_eq!(list.changes(&world).await.iter().filter(is_deletion).count(), 0, "Google says nothing of it");
    world.advance(DAY_MS);
    assert_eq!(
        list.changes(&world).await.iter().filter(is_deletion).count(),
        2,
        "the task and the one below it"
    );
    assert_eq!(titles(&list, &world).await, ["Assigned", "Done", "New"]);
    world.assert_allowed();
}

/// A patch has the fields that the caller changed; fields that Google cannot store are reported. A task that Google's apps have hidden is
/// open again when the caller opens it.
#[tokio::test]
async fn only_changed_fields_are_sent() {
    let Some(world) = World::start().await else { return };
    let list = FollowedTaskList::connect(&world).await;
    let new = json!({ "title": "Taxes", "dueDate": "2026-03-31", "dueTime": "17:00", "timeZone": "UTC", "priority": "high" });
    let refused = world.api.post(format!("{}?strict=true", list.tasks), new.clone()).send().await;
    refused.refused(400, "capability_not_supported");
    let made = create(&list, &world, new).await;
    assert_eq!(
        (&made["dueDate"], &made["dueTime"], &made["priority"]),
        (&json!("2026-03-31"), &Value::Null, &Value::Null)
    );
    assert_ne!(made["warnings"], json!([]));
    let id = text(&made["externalId"]);
    let theirs = || world.fake.with(|state| state.task(ALICE, &id));
    assert_eq!(theirs()["due"], "2026-03-31T00:00:00.000Z");
    for (change, member, value) in [
        (json!({ "title": "File taxes" }), "title", json!("File taxes")),
        (json!({ "notes": "with receipts" }), "notes", json!("with receipts")),
        (json!({ "dueDate": "2026-04-01" }), "due", json!("2026-04-01T00:00:00.000Z")),
        (json!({ "dueDate": null }), "due", Value::Null),
        (json!({ "status": "completed" }), "status", json!("completed")),
    ] {
        world.fake.clear_requests();
        world.api.patch(list.path(&made), change.clone()).send().await.expect(200);
        let writes = writes(&world);
        let [patch] = &writes[..] else { panic!("{change}: one request: {writes:#?}") };
        let sent = patch.body.as_ref().and_then(Value::as_object).expect("a body");
        assert!(sent.contains_key(member) && !sent.contains_key("links"), "{change}: {sent:#?}");
        assert!(member == "title" || !sent.contains_key("title"), "{change}: {sent:#?}");
        assert_eq!(theirs()[member], value, "{change}");
    }
    world.fake.with(|state| state.complete_task(ALICE, &id));
    assert_eq!(theirs()["hidden"], true);
    let open = world.api.patch(list.path(&made), json!({ "status": "needsAction" })).send().await.expect(200);
    assert_eq!((&open["status"], &open["completedAt"]), (&json!("needsAction"), &Value::Null));
    assert_eq!((&theirs()["hidden"], &theirs()["completed"]), (&Value::Null, &Value::Null));
    world.api.delete(list.path(&made)).send().await.expect(204);
    assert_eq!(theirs()["deleted"], true);
    assert_eq!(titles(&list, &world).await, Vec::<String>::new());
    world.assert_allowed();
}

/// Google compares versions if it can; if it does not, or if its version does not change, the connector does.
#[tokio::test]
async fn a_stale_etag_is_a_conflict() {
    let Some(world) = World::start().await else { return };
    let list = FollowedTaskList::connect(&world).await;
    for is_ignored in [false, true] {
        if is_ignored {
            world.fake.trap("if_match_ignored", 1);
        }
        let made = create(&list, &world, json!({ "title": "Sow" })).await;
        let id = text(&made["externalId"]);
        world.advance(1_000);
        world.fake.with(|state| state.change_task(ALICE, &id, json!({ "notes": "theirs" })));
        let etag = text(&made["etag"]);
        let change = json!({ "notes": "ours" });
        world
            .api
            .patch(list.path(&made), change.clone())
            .if_match(&etag)
            .send()
            .await
            .refused(409, "stale_etag");
        world.api.delete(list.path(&made)).if_match(&etag).send().await.refused(409, "stale_etag");
        let theirs = || world.fake.with(|state| state.task(ALICE, &id));
        assert_eq!(
            (&theirs()["notes"], &theirs()["deleted"]),
            (&json!("theirs"), &Value::Null),
            "{is_ignored}"
        );
        let current = list.titled(&world, "Sow").await;
        let etag = text(&current["etag"]);
        world.api.patch(list.path(&made), change).if_match(&etag).send().await.expect(200);
        assert_eq!(theirs()["notes"], "ours");
        world.api.delete(list.path(&made)).send().await.expect(204);
    }
    // An etag that does not change with the task: the change is still read.
    let made = create(&list, &world, json!({ "title": "Reap" })).await;
    world.advance(1_000);
    world.fake.trap("task_etag_stays", 1);
    world
        .fake
        .with(|state| state.change_task(ALICE, &text(&made["externalId"]), json!({ "notes": "theirs" })));
    assert_eq!(list.titled(&world, "Reap").await["notes"], "theirs");
    world.assert_allowed();
}

/// Google has made the task and its answer is lost: the repeated request finds it. An older task of the same content is another one.
#[tokio::test]
async fn a_lost_insert_is_not_doubled() {
    let Some(world) = World::start().await else { return };
    world.fake.with(|state| state.put_task(ALICE, json!({ "title": "Tea" })));
    world.advance(3_600_000);
    let list = FollowedTaskList::connect(&world).await;
    let tea = json!({ "title": "Tea", "notes": "green" });
    for is_read in [false, true] {
        let key = if is_read { "read" } else { "lost" };
        let before = titles(&list, &world).await.len();
        world.fake.fault(Fault::new("/tasks", What::Kill).method("POST").after());
        let lost = world.api.post(&list.tasks, tea.clone()).keyed(key).send().await;
        assert!(lost.status >= 500, "{lost}");
        if is_read {
            assert_eq!(titles(&list, &world).await.len(), before + 1);
        }
        let found = world.api.post(&list.tasks, tea.clone()).keyed(key).send().await.expect(201);
        assert_eq!(found["notes"], "green");
        assert_eq!(titles(&list, &world).await, vec!["Tea"; before + 1], "{key}");
        world.advance(3_600_000);
    }
    let outline = world.fake.with(|state| state.task_outline(ALICE));
    assert_eq!(outline, ["Tea", "Tea", "Tea"]);
    world.assert_allowed();
}

/// The request has not reached Google: its repetition makes the task, and does not take one for it that was there before.
#[tokio::test]
async fn an_equal_task_from_before_the_first_attempt_is_another_one() {
    let Some(world) = World::start().await else { return };
    let list = FollowedTaskList::connect(&world).await;
    let theirs = world.fake.with(|state| state.put_task(ALICE, json!({ "title": "Tea" })));
    world.advance(60_000);
    let tea = json!({ "title": "Tea" });
    world.fake.fault(Fault::status("/tasks", 503, json!({ "error": { "code": 503 } })).method("POST"));
    world.api.post(&list.tasks, tea.clone()).keyed("tea").send().await.refused(503, "provider_unavailable");
    world.advance(60_000);
    let made = world.api.post(&list.tasks, tea).keyed("tea").send().await.expect(201);
    assert_ne!(made["externalId"], json!(theirs));
    assert_eq!(world.fake.with(|state| state.task_outline(ALICE)), ["Tea", "Tea"]);
    world.assert_allowed();
}

/// To delete an assigned task would delete the original in its document too: that is refused, and so is what else Google does not take.
#[tokio::test]
async fn assigned_task_is_not_deleted() {
    let Some(world) = World::start().await else { return };
    let id = world.fake.with(|state| state.put_task(ALICE, assigned("From a document")));
    let list = FollowedTaskList::connect(&world).await;
    let task = list.titled(&world, "From a document").await;
    world.fake.clear_requests();
    world.api.delete(list.path(&task)).send().await.refused(400, "capability_not_supported");
    assert_eq!(methods(&world), Vec::<String>::new(), "Google is not asked to");
    let notes = json!({ "notes": "mine" });
    let refused = world.api.patch(format!("{}?strict=true", list.path(&task)), notes).send().await;
    assert_eq!(refused.status, 400, "{refused}");
    let done = world.api.patch(list.path(&task), json!({ "status": "completed" })).send().await.expect(200);
    assert_eq!(done["status"], "completed");
    let theirs = world.fake.with(|state| state.task(ALICE, &id));
    assert_eq!((&theirs["status"], &theirs["deleted"]), (&json!("completed"), &Value::Null));
    assert_eq!(
        world.fake.with(|state| state.task_book(ALICE).deleted_originals.clone()),
        Vec::<String>::new()
    );
    world.assert_allowed();
}

/// Tasks have a parent and a position, which moves change; all other tasks keep theirs.
#[tokio::test]
async fn subtasks_and_order() {
    let Some(world) = World::start().await else { return };
    let list = FollowedTaskList::connect(&world).await;
    let house = create(&list, &world, json!({ "title": "House" })).await;
    let roof = create(&list, &world, json!({ "title": "Roof", "parentId": house["id"] })).await;
    assert_eq!(roof["parentId"], house["id"]);
    let outline = || world.fake.with(|state| state.task_outline(ALICE));
    assert_eq!(outline(), ["House", "  Roof"]);
    world.fake.with(|state| {
        for title in ["Garden", "Shed"] {
            state.put_task(ALICE, json!({ "title": title }));
        }
    });
    world.advance(120_000);
    let before = outline();
    assert_eq!(before, ["House", "  Roof", "Garden", "Shed"]);
    let all = list.all(&world).await;
    let position = |title: &str| {
        let found = all.iter().find(|task| task["title"] == title);
        text(&found.unwrap_or_else(|| panic!("no {title}: {all:#?}"))["position"])
    };
    assert!(position("House") < position("Garden") && position("Garden") < position("Shed"));

    // Only the moved task is reported as changed at Google, although the positions of the others change.
    world.fake.trap("siblings_stay", 1);
    let shed = list.titled(&world, "Shed").await;
    let between = json!({ "position": format!("{}5", position("House")) });
    world.fake.clear_requests();
    world.api.patch(list.path(&shed), between).send().await.expect(200);
    assert_eq!(methods(&world), ["POST"], "one move");
    assert_eq!(outline(), ["House", "  Roof", "Shed", "Garden"]);
    let below = json!({ "parentId": house["id"] });
    let moved = world.api.patch(list.path(&shed), below).send().await.expect(200);
    assert_eq!(moved["parentId"], house["id"]);
    assert!(outline().contains(&"  Shed".to_owned()), "{:?}", outline());
    let freed = json!({ "parentId": null, "title": "Barn" });
    let freed = world.api.patch(list.path(&roof), freed).send().await.expect(200);
    assert_eq!((&freed["parentId"], &freed["title"]), (&Value::Null, &json!("Barn")));
    let mut now = outline();
    now.sort();
    assert_eq!(now, ["  Shed", "Barn", "Garden", "House"]);
    world.api.delete(list.path(&house)).send().await.expect(204);
    assert_eq!(titles(&list, &world).await, ["Barn", "Garden"], "what is below goes too");
    world.assert_allowed();
}

/// Lists are made, renamed and deleted; the default one stays.
#[tokio::test]
async fn lists_are_created_renamed_and_deleted() {
    let Some(world) = World::start().await else { return };
    let default = FollowedTaskList::connect(&world).await;
    let new = json!({ "connectionId": default.connection, "name": "Garden" });
    let made = world.api.post("/v1/task-lists", new).send().await.expect(201);
    let path = format!("/v1/task-lists/{}", text(&made["id"]));
    let titles = || {
        world.fake.with(|state| {
            let lists = &state.task_book(ALICE).lists;
            lists.iter().map(|list| list.title.clone()).collect::<Vec<String>>()
        })
    };
    assert_eq!(titles(), ["My Tasks", "Garden"]);
    world.api.post(format!("{path}/tasks"), json!({ "title": "Dig" })).send().await.expect(201);
    let renamed = world.api.patch(&path, json!({ "name": "Allotment" })).send().await.expect(200);
    assert_eq!(
        (&renamed["name"], titles()),
        (&json!("Allotment"), vec!["My Tasks".to_owned(), "Allotment".to_owned()])
    );
    world.api.delete(&path).send().await.expect(204);
    assert_eq!(titles(), ["My Tasks"]);
    let refused = world.api.delete(&default.path).send().await;
    assert!(refused.status == 400 || refused.status == 409, "{refused}");
    assert_eq!(titles(), ["My Tasks"]);
    world.assert_allowed();
}
