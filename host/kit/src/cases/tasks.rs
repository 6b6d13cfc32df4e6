//! Tasks as the kit writes them.

use model::tasks::Task;
use model::wire::{ItemDelete, ItemWrite};
use runtime::Surface;
use serde_json::{Value, json};

use crate::surface_bench::{Collection, ItemChange, ItemKind, whole_args};

/// The operations on tasks.
pub static TASKS: ItemKind = ItemKind {
    surface: Surface::Tasks,
    item: "task",
    collection: "task list",
    list_op: "lists.list",
    changes_op: "tasks",
    get_op: "tasks.get",
    create_op: "tasks.create",
    update_op: "tasks.update",
    delete_op: "tasks.delete",
    name: "title",
    other: "notes",
    body: task,
    write,
    delete,
};

fn task(title: &str) -> Value {
    json!({ "title": title, "notes": "first line\nsecond line, with ünïcödé" })
}

fn write(list: &Collection, change: ItemChange) -> Value {
    whole_args::<ItemWrite<Task>>(json!({
        "collection": list.id,
        "source": change.source,
        "body": change.body,
        "changed": change.changed,
        "ifMatch": change.if_match,
        "strict": false,
    }))
}

fn delete(list: &Collection, id: &str) -> Value {
    whole_args::<ItemDelete>(json!({ "collection": list.id, "source": id }))
}
