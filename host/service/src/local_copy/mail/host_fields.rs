//! Fields of a message or a draft that only the host knows: its delivery and its tracking. Changes of them are logged like any other.

use base::error::Result;
use serde_json::{Map, Value};
use storage::items::{self, Item};
use storage::locked::LockedRow;
use storage::log as table;

use crate::app::event_log::{self, NewLogEntry};
use crate::app::resource_kind::ResourceKind;
use crate::local_copy::change::etag;
use crate::local_copy::mail::normalize::hash;
use crate::local_copy::render;
use crate::local_copy::transaction::CopyTransaction;

/// Sets these fields of a stored message, and logs the change as `word` (`updated`, `sent`, `bounced`). Does nothing if they are unchanged.
pub async fn set<'l>(
    copy: &mut CopyTransaction<'_, 'l>,
    before: LockedRow<'l, Item>,
    fields: &[(&str, Value)],
    word: &str,
) -> Result<LockedRow<'l, Item>> {
    let mut body: Map<String, Value> = serde_json::from_str(&before.body)?;
    let mut changed = Vec::new();
    for (name, value) in fields {
        if body.get(*name) != Some(value) {
            body.insert((*name).to_owned(), value.clone());
            changed.push((*name).to_owned());
        }
    }
    if changed.is_empty() {
        return Ok(before);
    }
    let mut item = Item::clone(&before);
    item.body = serde_json::to_string(&body)?;
    item.hash = hash(&item.body);
    item.updated_at = copy.app.now();
    item.sequence = table::next_sequence(copy.tx, &copy.location.tenant, 1).await?;
    item.etag = etag(&item);
    let item = items::replace(copy.tx, before, item).await?;
    let kind = ResourceKind::from_item(&item)?;
    let note = NewLogEntry {
        connection_id: Some(item.connection_id.clone()),
        account_ids: None,
        entry_type: format!("{}.{word}", kind.resource_type()),
        change_type: "updated",
        resource_type: kind.resource_type(),
        resource_id: item.id.clone(),
        parent_id: String::new(),
        changed_fields: Some(changed),
        etag: Some(item.etag.clone()),
        origin: copy.location.origin,
        resource: Some(render::item(&item, &[], false)),
    };
    event_log::insert(copy.tx, copy.app, &copy.location.tenant, item.sequence, vec![note]).await?;
    Ok(item)
}
