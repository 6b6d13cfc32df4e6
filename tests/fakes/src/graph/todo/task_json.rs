//! Tasks as they are answered.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::graph::ids;
use crate::graph::times::{stamp, stamp_with_millis};
use crate::graph::todo::store::{TodoAttachment, TodoTask, task_key};

/// A task without its parts. Members without a value are missing.
pub fn task_value(task: &TodoTask) -> Value {
    let mut value = json!({
        "@odata.etag": ids::etag(task.changed),
        "id": ids::stable(&task_key(task.number)),
        "title": "",
        "status": "notStarted",
        "importance": "normal",
        "isReminderOn": false,
        "hasAttachments": !task.attachments.is_empty(),
        "categories": [],
        "createdDateTime": stamp(task.created_ms),
        "lastModifiedDateTime": stamp_with_millis(task.modified_ms),
        "bodyLastModifiedDateTime": stamp(task.body_modified_ms),
        "body": { "content": "", "contentType": "text" },
    });
    for (name, member) in &task.members {
        value[name.as_str()] = member.clone();
    }
    value
}

/// Adds the parts that a value of `$expand` names.
pub fn put_parts(task: &TodoTask, expand: &str, value: &mut Value) {
    let names: Vec<&str> =
        expand.split(',').map(|name| name.split('(').next().unwrap_or(name).trim()).collect();
    if names.contains(&"checklistItems") {
        value["checklistItems"] = task.checklist.clone().into();
    }
    if names.contains(&"linkedResources") {
        value["linkedResources"] = task.links.clone().into();
    }
    if names.contains(&"attachments") {
        value["attachments"] = task.attachments.iter().map(attachment_value).collect();
    }
}

/// An attachment without its bytes.
pub fn attachment_value(attachment: &TodoAttachment) -> Value {
    json!({
        "@odata.type": "#microsoft.graph.taskFileAttachment",
        "id": attachment.id,
        "name": attachment.name,
        "contentType": attachment.content_type,
        "size": attachment.bytes.len(),
        "lastModifiedDateTime": stamp(attachment.added_ms),
    })
}

/// The same with its bytes.
pub fn whole_attachment(attachment: &TodoAttachment) -> Value {
    let mut value = attachment_value(attachment);
    value["contentBytes"] = BASE64_STANDARD.encode(&attachment.bytes).into();
    value
}
