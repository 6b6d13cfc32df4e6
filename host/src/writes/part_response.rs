//! The response that shows one part of a task.

use base::error::{Result, not_found};
use model::tasks::{ChecklistItem, Task, TaskLink};
use storage::Tx;
use storage::items::{self, Item};

use crate::app::stored_response::StoredResponse;
use crate::local_copy::task_parts::STEP;
use crate::writes::response::ResponseChange;

/// The part that a write was about: of which kind, and the provider's id of it, unless our id is known.
#[derive(Clone, Debug)]
pub struct PartName {
    pub kind: &'static str,
    pub external_id: String,
}

/// The answer that shows one part of a stored task.
pub async fn part_shown(
    tx: &mut Tx,
    item: &Item,
    name: &PartName,
    change: &ResponseChange,
) -> Result<StoredResponse> {
    let parts = items::parts_of(&mut *tx, &item.id).await?;
    let found = parts.into_iter().find(|p| p.kind == name.kind && p.external_id == name.external_id);
    let part =
        found.ok_or_else(|| anyhow::anyhow!("the connector did not say what became of the {}", name.kind))?;
    let task: Task = serde_json::from_str(&item.body)?;
    let (text, etag) = match name.kind {
        STEP => {
            let step = step_of(&task, &part.id)?;
            (serde_json::to_string(step)?, Some(step.etag.clone()))
        }
        _ => (serde_json::to_string(link_of(&task, &part.id)?)?, None),
    };
    let answer = StoredResponse::json(change.status, text).warned(&change.warnings);
    Ok(match etag {
        Some(etag) => answer.etag(&etag),
        None => answer,
    })
}

/// A step of a task.
pub fn step_of<'a>(task: &'a Task, id: &str) -> Result<&'a ChecklistItem> {
    task.checklist_items.iter().find(|s| s.id == id).ok_or_else(|| not_found("checklist item"))
}

/// A link of a task.
pub fn link_of<'a>(task: &'a Task, id: &str) -> Result<&'a TaskLink> {
    task.links.iter().find(|l| l.id == id).ok_or_else(|| not_found("link"))
}
