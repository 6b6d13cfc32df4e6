//! The response that shows one part of a task.

use async_trait::async_trait;
use base::error::{Result, not_found};
use model::tasks::{ChecklistItem, Task, TaskLink};
use storage::items;

use crate::app::stored_response::StoredResponse;
use crate::connections::provider_call::ProviderWrite;
use crate::local_copy::change::UpsertResult;
use crate::local_copy::task_parts::STEP;
use crate::local_copy::transaction::CopyTransaction;
use crate::writes::response::{ResponseChange, stored, unanswered};
use crate::writes::view::ResponseView;

/// The part that a write changed: its kind, and the provider's id of it, unless our id is known.
#[derive(Clone, Debug)]
pub struct PartName {
    pub kind: &'static str,
    pub external_id: String,
}

impl PartName {
    /// Returns the noun for messages to people.
    fn noun(&self) -> &'static str {
        if self.kind == STEP { "checklist item" } else { "link" }
    }
}

/// The view of one part of a task.
pub struct PartView {
    /// The provider's id of the task.
    task: String,
    part: PartName,
    change: ResponseChange,
}

impl PartView {
    /// Returns the view of a part of the task that the provider reports as written.
    pub fn new(write: &mut ProviderWrite, part: PartName, change: ResponseChange) -> Result<PartView> {
        let task = write.mutated.item.clone().unwrap_or_default();
        Ok(PartView { task, part, change: change.warned(write)? })
    }
}

#[async_trait]
impl ResponseView for PartView {
    async fn render(
        &self,
        copy: &mut CopyTransaction<'_, '_>,
        upserted: &UpsertResult,
    ) -> Result<StoredResponse> {
        let PartView { task, part: name, change } = self;
        let item = stored(copy, upserted, task, change).await?;
        let parts = items::parts_of(&mut *copy.tx, &item.id).await?;
        let found = parts.into_iter().find(|p| p.kind == name.kind && p.external_id == name.external_id);
        let part = found.ok_or_else(|| unanswered(name.noun()))?;
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
}

/// Returns a step of a task.
pub fn step_of<'a>(task: &'a Task, id: &str) -> Result<&'a ChecklistItem> {
    task.checklist_items.iter().find(|s| s.id == id).ok_or_else(|| not_found("checklist item"))
}

/// Returns a link of a task.
pub fn link_of<'a>(task: &'a Task, id: &str) -> Result<&'a TaskLink> {
    task.links.iter().find(|l| l.id == id).ok_or_else(|| not_found("link"))
}
