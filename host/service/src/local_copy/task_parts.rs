//! The ids of a task's steps and links.

use base::error::Result;
use base::ids;
use model::Instant;
use model::tasks::Task;
use serde::Serialize;
use sha2::{Digest, Sha256};
use storage::items::StoredPart;

use crate::app::App;

/// The kind name under which steps are stored.
pub const STEP: &str = "checklist_item";

/// The kind name under which links are stored.
pub const LINK: &str = "task_link";

/// Whether a stored task has parts; compares the text without parsing it, because most tasks have none.
pub fn has_parts(body: &str) -> bool {
    !(body.contains("\"checklistItems\":[]") && body.contains("\"links\":[]"))
}

/// Replaces the provider's ids by ours, generates missing ones, and fills in the fields of parts. `known`: the parts that the task ever
/// had. Returns the new ones.
pub fn bind_parts(
    app: &App,
    task_id: &str,
    task: &mut Task,
    mut known: Vec<StoredPart>,
) -> Result<Vec<StoredPart>> {
    let before = known.len();
    let mut part = |kind: &'static str, id: ids::Kind, external_id: &str| -> StoredPart {
        // One of our ids comes from a body that was bound before.
        let found =
            known.iter().find(|p| p.kind == kind && (p.external_id == external_id || p.id == external_id));
        found.cloned().unwrap_or_else(|| {
            let new = StoredPart {
                id: app.new_id(id),
                kind: kind.to_owned(),
                external_id: external_id.to_owned(),
                created_at: app.now(),
            };
            known.push(new.clone());
            new
        })
    };
    for step in &mut task.checklist_items {
        let part = part(STEP, ids::Kind::ChecklistItem, &step.id);
        step.id = part.id;
        task_id.clone_into(&mut step.task_id);
        step.created_at = or_else(step.created_at, part.created_at);
        step.etag = String::new();
        step.etag = etag(step)?;
    }
    for link in &mut task.links {
        let part = part(LINK, ids::Kind::TaskLink, &link.id);
        link.id = part.id;
        task_id.clone_into(&mut link.task_id);
        link.created_at = or_else(link.created_at, part.created_at);
    }
    Ok(known.split_off(before))
}

/// Returns the provider's creation time of a part, or else the time of our first read.
pub(crate) fn or_else(told: Instant, seen: i64) -> Instant {
    if told == Instant::default() { Instant::from_millis(seen) } else { told }
}

/// Returns the version of a part, a hash of its content.
pub(crate) fn etag(part: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string(part)?;
    Ok(format!("\"{}\"", hex::encode(&Sha256::digest(text)[..8])))
}
