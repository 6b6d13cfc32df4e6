//! The other side: lists and tasks as tests put them there, and changes that other clients make. None of it is a request.

use serde_json::{Value, json};

use crate::graph::calendar::find_zone;
use crate::graph::ids;
use crate::graph::state::GraphState;
use crate::graph::todo::parts::{self, TaskPart};
use crate::graph::todo::store::{TodoAttachment, TodoStore, list_key, task_key};
use crate::graph::todo::task_body::TaskContext;
use crate::graph::todo::task_json::{put_parts, task_value};
use crate::graph::todo::{note, note_task, tasks};

impl GraphState {
    fn todo_store(&mut self, user: &str) -> &mut TodoStore {
        self.todo.get_mut(user).unwrap_or_else(|| panic!("no account {user}"))
    }

    /// Adds a list. Returns its id.
    pub fn add_task_list(&mut self, user: &str, name: &str) -> String {
        ids::stable(&list_key(self.todo_store(user).add_list(name, "none")))
    }

    /// Adds a list that another person shares, whose zone has this Windows name. Returns its id.
    pub fn add_shared_task_list(&mut self, user: &str, name: &str, owner_zone: &str) -> String {
        let store = self.todo_store(user);
        let number = store.add_list(name, "none");
        if let Some(list) = store.lists.get_mut(&number) {
            list.is_owner = false;
            list.is_shared = true;
            list.owner_zone = Some(owner_zone.to_owned());
        }
        ids::stable(&list_key(number))
    }

    /// The id of a list by its id, name or well-known name; of the default one for an empty name.
    pub fn task_list_id(&mut self, user: &str, list: &str) -> String {
        ids::stable(&list_key(list_number(self.todo_store(user), list)))
    }

    /// Gives a list another name.
    pub fn rename_task_list(&mut self, user: &str, list: &str, name: &str) {
        let store = self.todo_store(user);
        let number = list_number(store, list);
        store.rename_list(number, name);
    }

    /// Deletes a list with its tasks.
    pub fn delete_task_list(&mut self, user: &str, list: &str) {
        let store = self.todo_store(user);
        let number = list_number(store, list);
        for task in store.remove_list(number) {
            note(self, user, "deleted", &task);
        }
    }

    /// Stores a task as a request has it, with a recurrence too; times without a zone are in the zone of the list's owner. Returns its id.
    ///
    /// # Panics
    /// A member is wrong.
    pub fn put_task(&mut self, user: &str, list: &str, task: Value) -> String {
        let number = list_number(self.todo_store(user), list);
        let how = self.own_context(user, number);
        let added = tasks::add(self.todo_store(user), number, &task, how);
        let added = added.unwrap_or_else(|error| panic!("{}: {}", error.code, error.message));
        note_task(self, user, "created", added);
        ids::stable(&task_key(added))
    }

    /// Changes a task as another client does.
    ///
    /// # Panics
    /// There is no such task, or a member is wrong.
    pub fn edit_task(&mut self, user: &str, id: &str, change: Value) {
        let number = task_number(id);
        let list = self.todo_store(user).tasks.get(&number).map(|task| task.list);
        let how = self.own_context(user, list.unwrap_or_else(|| panic!("no task {id}")));
        tasks::edit(self.todo_store(user), number, &change, how)
            .unwrap_or_else(|error| panic!("{}: {}", error.code, error.message));
        note_task(self, user, "updated", number);
    }

    /// Moves a task to another list as To Do does: it gets another id, which is returned.
    ///
    /// # Panics
    /// There is no such task.
    pub fn move_task(&mut self, user: &str, id: &str, list: &str) -> String {
        let now_ms = self.clock.now_ms();
        let store = self.todo_store(user);
        let target = list_number(store, list);
        let before = store.remove(task_number(id)).unwrap_or_else(|| panic!("no task {id}"));
        let filled = store.add(target, now_ms, |task| {
            let (number, list, changed) = (task.number, task.list, task.changed);
            task.clone_from(&before);
            (task.number, task.list, task.changed) = (number, list, changed);
            Ok::<(), String>(())
        });
        let number = filled.unwrap_or_else(|error| panic!("{error}"));
        note(self, user, "deleted", &before);
        note_task(self, user, "created", number);
        ids::stable(&task_key(number))
    }

    /// Deletes a task as another client does.
    ///
    /// # Panics
    /// There is no such task.
    pub fn delete_task(&mut self, user: &str, id: &str) {
        let removed = self.todo_store(user).remove(task_number(id));
        note(self, user, "deleted", &removed.unwrap_or_else(|| panic!("no task {id}")));
    }

    /// Adds a checklist item to a task. Returns its id.
    pub fn put_checklist_item(&mut self, user: &str, task: &str, name: &str, is_checked: bool) -> String {
        let body = json!({ "displayName": name, "isChecked": is_checked });
        self.put_task_part(user, task, TaskPart::ChecklistItem, &body)
    }

    /// Removes a checklist item.
    pub fn delete_checklist_item(&mut self, user: &str, task: &str, id: &str) {
        let number = task_number(task);
        parts::remove(self.todo_store(user), number, TaskPart::ChecklistItem, id);
        parts::record(self, user, number);
    }

    /// Adds a linked resource to a task. Returns its id.
    pub fn put_linked_resource(&mut self, user: &str, task: &str, link: Value) -> String {
        self.put_task_part(user, task, TaskPart::LinkedResource, &link)
    }

    /// Attaches a file to a task.
    ///
    /// # Panics
    /// There is no such task.
    pub fn attach_to_task(&mut self, user: &str, task: &str, name: &str, content_type: &str, bytes: &[u8]) {
        let (added_ms, number) = (self.clock.now_ms(), task_number(task));
        let store = self.todo_store(user);
        let id = ids::stable(&format!("todo-attachment-{}", store.log.next_change()));
        let one = store.tasks.get_mut(&number).unwrap_or_else(|| panic!("no task {task}"));
        one.attachments.push(TodoAttachment {
            id,
            name: name.to_owned(),
            content_type: content_type.to_owned(),
            bytes: bytes.to_vec(),
            added_ms,
        });
        store.touch(number, added_ms);
        note_task(self, user, "updated", number);
    }

    /// A task as it is answered with all its parts; none where it is not there.
    pub fn stored_task(&mut self, user: &str, id: &str) -> Option<Value> {
        let task = self.todo_store(user).tasks.get(&task_number(id))?;
        let mut value = task_value(task);
        put_parts(task, "checklistItems,linkedResources,attachments", &mut value);
        Some(value)
    }

    /// The ids of the tasks of a list, the oldest first.
    pub fn task_ids(&mut self, user: &str, list: &str) -> Vec<String> {
        let store = self.todo_store(user);
        let number = list_number(store, list);
        store.in_list(number).map(|task| ids::stable(&task_key(task.number))).collect()
    }

    /// Lets the delta tokens of lists and tasks that were handed out so far expire.
    pub fn expire_task_tokens(&mut self, user: &str) {
        self.todo_store(user).log.expire_tokens();
    }

    fn put_task_part(&mut self, user: &str, task: &str, part: TaskPart, body: &Value) -> String {
        let (now_ms, number) = (self.clock.now_ms(), task_number(task));
        let added = parts::add(self.todo_store(user), number, part, body, now_ms);
        let added = added.unwrap_or_else(|| panic!("no task {task}"));
        parts::record(self, user, number);
        added["id"].as_str().unwrap_or_default().to_owned()
    }

    /// The circumstances of a write by one of Microsoft's own clients: days are those of the list's owner.
    fn own_context(&self, user: &str, list: u64) -> TaskContext {
        let list = self.todo.get(user).and_then(|store| store.lists.get(&list));
        let own_zone = self.accounts.get(user).map(|account| account.time_zone.as_str());
        let zone = list.and_then(|list| list.owner_zone.as_deref()).or(own_zone);
        TaskContext {
            now_ms: self.clock.now_ms(),
            zone: zone.and_then(find_zone).unwrap_or(chrono_tz::UTC),
            takes_recurrence: true,
        }
    }
}

/// The number of a list by its id, name or well-known name; of the default one for an empty name.
///
/// # Panics
/// There is none.
fn list_number(store: &TodoStore, list: &str) -> u64 {
    let name = if list.is_empty() { "defaultList" } else { list };
    let mut all = store.lists.values();
    let found = all
        .find(|one| one.well_known == name || one.name == name || ids::stable(&list_key(one.number)) == name);
    found.map(|one| one.number).unwrap_or_else(|| panic!("no list {list}"))
}

/// The number of the task that an id names.
///
/// # Panics
/// It names none.
fn task_number(id: &str) -> u64 {
    let key = ids::parse_stable(id).unwrap_or_default();
    let number = key.strip_prefix("todo-task-").and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("{id} is no task's id"))
}

/// `/__control/todo/{user}/…`: operations of a test in another process.
///
/// # Errors
/// There is no such route, or a member of the body is missing.
pub fn control(state: &mut GraphState, method: &str, path: &[&str], body: &Value) -> Result<Value, String> {
    let text = |name: &str| body[name].as_str().ok_or_else(|| format!("{name} is missing"));
    let [user, rest @ ..] = path else { return Err("no user".to_owned()) };
    if !state.todo.contains_key(*user) {
        return Err(format!("{user} has no tasks"));
    }
    let list = body["list"].as_str().unwrap_or_default();
    match (method, rest) {
        ("POST", ["lists"]) => {
            let id = match body["ownerZone"].as_str() {
                Some(zone) => state.add_shared_task_list(user, text("name")?, zone),
                None => state.add_task_list(user, text("name")?),
            };
            return Ok(json!({ "id": id }));
        }
        ("PATCH", ["lists", id]) => state.rename_task_list(user, id, text("name")?),
        ("DELETE", ["lists", id]) => state.delete_task_list(user, id),
        ("POST", ["tasks"]) => {
            return Ok(json!({ "id": state.put_task(user, list, body["task"].clone()) }));
        }
        ("PATCH", ["tasks", id]) => state.edit_task(user, id, body["change"].clone()),
        ("DELETE", ["tasks", id]) => state.delete_task(user, id),
        ("POST", ["tasks", id, "move"]) => return Ok(json!({ "id": state.move_task(user, id, list) })),
        ("POST", ["tasks", id, "checklist"]) => {
            let is_checked = body["checked"] == true;
            return Ok(json!({ "id": state.put_checklist_item(user, id, text("name")?, is_checked) }));
        }
        ("GET", ["tasks", id]) => return Ok(json!({ "task": state.stored_task(user, id) })),
        ("POST", ["expire-tokens"]) => state.expire_task_tokens(user),
        _ => return Err("no such route".to_owned()),
    }
    Ok(json!({}))
}
