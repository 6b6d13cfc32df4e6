//! Contacts as they are answered.

use serde_json::{Value, json};

use crate::graph::call::GraphCall;
use crate::graph::contacts::book::ContactItem;
use crate::graph::contacts::contact_body::property_id;
use crate::graph::facts;
use crate::graph::ids;
use crate::graph::times::stamp;

/// A contact with all members; those without a value are null or empty.
pub fn contact_value(call: &GraphCall, item: &ContactItem) -> Value {
    let mut value = json!({
        "@odata.etag": item.etag(),
        "id": call.id_of(&item.key(), item.place),
        "createdDateTime": stamp(item.created_ms),
        "lastModifiedDateTime": stamp(item.modified_ms),
        "changeKey": ids::change_key(item.changed),
        "parentFolderId": ids::stable(&item.folder),
    });
    for name in facts::list("contact_members", "writable") {
        let empty = match name {
            name if facts::has("contact_members", "lists", name) => json!([]),
            name if facts::has("contact_members", "addresses", name) => json!({}),
            "fileAs" | "personalNotes" => json!(""),
            _ => Value::Null,
        };
        value[name] = item.members.get(name).cloned().unwrap_or(empty);
    }
    value
}

/// Adds the extended properties that `$expand` names, where the contact has any of them.
pub fn put_extended(call: &GraphCall, item: &ContactItem, contact: &mut Value) {
    let expand = call.parameter("$expand").unwrap_or_default();
    if !expand.contains("singleValueExtendedProperties") {
        return;
    }
    // The ids stand between quotes: `$filter=id eq 'SystemTime 0x3A41'`.
    let wanted: Vec<String> = expand.split('\'').skip(1).step_by(2).map(property_id).collect();
    let found = item.extended.iter().filter(|(id, _)| wanted.contains(id));
    let found: Vec<Value> = found.map(|(id, value)| json!({ "id": id, "value": value })).collect();
    if !found.is_empty() {
        contact["singleValueExtendedProperties"] = found.into();
    }
}
