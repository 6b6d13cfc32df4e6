//! Tasks: a task with a due day, its subtask, its fields, a list.

use serde_json::{Value, json};

use crate::email::mailbox::text;
use crate::scenario::accounts::ConnectedAccount;
use crate::scenario::support::{ChangeFeed, carried_out, home, is_able, leave};

/// Everything that the scenario does with tasks.
pub async fn use_tasks(account: &impl ConnectedAccount, capabilities: &Value) {
    let list = home(account, "/v1/task-lists", |list| list["role"] == "default").await;
    let path = format!("/v1/task-lists/{}", text(&list["id"]));
    let changes = format!("{path}/sync/changes?limit=100");
    let mut feed = ChangeFeed::follow(account, &format!("{path}/sync/start"), json!({}), changes).await;

    account.put_task(&list, "Water the plants").await;
    let theirs = feed.arrival(account, "Water the plants").await;
    assert_eq!(theirs["status"], "needsAction");
    let tasks = format!("{path}/tasks");
    write(account, &tasks, capabilities).await;
    detail(account, &tasks, capabilities).await;
    use_own_list(account, capabilities).await;
    leave(account, &path).await;
}

/// A task that is created once, completed and deleted.
async fn write(account: &impl ConnectedAccount, tasks: &str, capabilities: &Value) {
    let new = json!({ "title": "Paint", "dueDate": "2027-03-31" });
    let create = async || account.api().post(tasks, new.clone()).keyed("paint").send().await;
    let made = create().await;
    let Some(paint) = carried_out(is_able(capabilities, "/operations/createTask"), made) else { return };
    assert_eq!(create().await.expect(201)["id"], paint["id"], "one request, one task");
    assert_eq!(paint["dueDate"], "2027-03-31");
    let path = format!("{tasks}/{}", text(&paint["id"]));
    if is_able(capabilities, "/features/subtasks") {
        let below = json!({ "title": "Buy paint", "parentId": paint["id"] });
        let below = account.api().post(tasks, below).send().await.expect(201);
        assert_eq!(below["parentId"], paint["id"]);
        account.api().delete(format!("{tasks}/{}", text(&below["id"]))).send().await.expect(204);
    }
    let done = account.api().patch(&path, json!({ "status": "completed" })).send().await;
    if let Some(done) = carried_out(is_able(capabilities, "/operations/updateTask"), done) {
        assert_eq!(done["status"], "completed");
    }
    let deleted = account.api().delete(&path).send().await;
    carried_out(is_able(capabilities, "/operations/deleteTask"), deleted);
    account.api().get(&path).send().await.refused(404, "not_found");
}

/// Fields that the provider cannot keep are refused under `strict`, and left out with a warning otherwise.
async fn detail(account: &impl ConnectedAccount, tasks: &str, capabilities: &Value) {
    let fields = [
        ("dueTime", json!({ "dueDate": "2027-03-31", "dueTime": "17:00", "timeZone": "UTC" })),
        ("priority", json!({ "priority": "high" })),
        ("categories", json!({ "categories": ["home"] })),
    ];
    for (feature, mut task) in fields {
        task["title"] = json!(format!("With {feature}"));
        let is_kept = is_able(capabilities, &format!("/features/{feature}"));
        let strict = account.api().post(format!("{tasks}?strict=true"), task.clone()).send().await;
        let made = match carried_out(is_kept, strict) {
            Some(made) => made,
            None => account.api().post(tasks, task.clone()).send().await.expect(201),
        };
        assert_eq!(made[feature] == task[feature], is_kept, "{feature}: {made:#}");
        assert_eq!(made["warnings"] == json!([]), is_kept, "{feature}: {made:#}");
        let path = format!("{tasks}/{}", text(&made["id"]));
        let steps = format!("{path}/checklist-items");
        let step = account.api().post(steps, json!({ "title": "First" })).send().await;
        carried_out(is_able(capabilities, "/operations/checklistItems"), step);
        account.api().delete(path).send().await.expect(204);
    }
}

async fn use_own_list(account: &impl ConnectedAccount, capabilities: &Value) {
    let new = json!({ "connectionId": account.desk(), "name": "House" });
    let made = account.api().post("/v1/task-lists", new).send().await;
    let Some(list) = carried_out(is_able(capabilities, "/operations/createList"), made) else { return };
    let path = format!("/v1/task-lists/{}", text(&list["id"]));
    let renamed = account.api().patch(&path, json!({ "name": "Garden" })).send().await;
    if let Some(renamed) = carried_out(is_able(capabilities, "/operations/updateList"), renamed) {
        assert_eq!(renamed["name"], "Garden");
    }
    let deleted = account.api().delete(&path).send().await;
    if carried_out(is_able(capabilities, "/operations/deleteList"), deleted).is_some() {
        account.api().get(&path).send().await.refused(404, "not_found");
    }
}
