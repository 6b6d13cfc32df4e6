//! Tasks as a kind of `CollectionItem`.

use base::error::Result;
use base::input::validate::fault;
use model::Instant;
use model::tasks::{Task, TaskStatus};
use model::wire::ItemWrite;
use storage::items;

use crate::app::resource_kind::ResourceKind;
use crate::connections::write_context::WriteContext;
use crate::resources::collection_items::{self, CollectionItem};
use crate::resources::tasks::input;
use crate::writes::open_collection::OpenCollection;

/// Most ancestors that the cycle check visits.
const MAX_DEPTH: usize = 100;

impl CollectionItem for Task {
    const KIND: ResourceKind = ResourceKind::Task;
    type Args = ItemWrite<Self>;

    fn complete(
        &mut self,
        before: Option<&Self>,
        changed: &mut Vec<String>,
        now: Instant,
        zone: &str,
    ) -> Result<()> {
        let is_new = |changed: &[String], field: &str| changed.iter().any(|f| f == field);
        if self.due_date.is_none() && self.due_time.is_some() && !is_new(changed, "dueTime") {
            // Clearing the date clears the time of that date.
            self.due_time = None;
            changed.push("dueTime".to_owned());
        }
        // A floating time (the same in every zone) stays floating until it is changed.
        let is_placed = is_new(changed, "dueTime") || is_new(changed, "timeZone");
        if self.due_time.is_some() && self.time_zone.is_none() && is_placed {
            self.time_zone = Some(zone.to_owned());
            changed.push("timeZone".to_owned());
        }
        input::valid(self, changed, before)?;
        if is_new(changed, "status") {
            self.stamp(before, now, changed);
        }
        Ok(())
    }

    async fn args(
        cx: &WriteContext,
        opened: &OpenCollection,
        mut write: ItemWrite<Self>,
        before: Option<&Self>,
    ) -> Result<ItemWrite<Self>> {
        if let Some(id) = write.body.parent_id.take() {
            let field = |_| "parentId".to_owned();
            let named = std::slice::from_ref(&id);
            let parents = collection_items::resolve_ids(cx, opened, ResourceKind::Task, named, field).await?;
            if before.is_some_and(|b| b.parent_id.as_ref() != Some(&id)) {
                no_circle(cx, &id, write.source.as_deref()).await?;
            }
            write.body.parent_id = parents.first().map(collection_items::uid);
        }
        // Steps and links have operations of their own.
        write.body.checklist_items.clear();
        write.body.links.clear();
        Ok(write)
    }
}

/// Sets the fields that follow from a task's status. A trait, because the type is the model's.
trait Stamp {
    fn stamp(&mut self, before: Option<&Task>, now: Instant, changed: &mut Vec<String>);
}

impl Stamp for Task {
    /// Contract: completing stamps `completedAt`, leaving clears it.
    // Contract silent: `percentComplete`. 100 when completed; leaving takes a 100 away, unless the caller says another.
    fn stamp(&mut self, before: Option<&Task>, now: Instant, changed: &mut Vec<String>) {
        let is_done = self.status == TaskStatus::Completed;
        self.completed_at = is_done.then_some(now);
        changed.push("completedAt".to_owned());
        let says_percent = changed.iter().any(|f| f == "percentComplete");
        let was_full = before.is_some_and(|b| b.percent_complete == Some(100));
        if is_done || (was_full && !says_percent) {
            self.percent_complete = is_done.then_some(100);
            changed.push("percentComplete".to_owned());
        }
    }
}

/// Refuses a parent that would make a task its own descendant.
async fn no_circle(cx: &WriteContext, parent_id: &str, source_id: Option<&str>) -> Result<()> {
    let mut at = Some(parent_id.to_owned());
    for _ in 0..MAX_DEPTH {
        let Some(id) = at else { return Ok(()) };
        let (reader, tenant) = (cx.app.db.reader(), &cx.request.tenant);
        let found = items::find(reader, tenant, ResourceKind::Task.as_str(), &id).await?;
        let Some(item) = found else { return Ok(()) };
        if Some(item.source_id.as_str()) == source_id {
            break;
        }
        let task: Task = serde_json::from_str(&item.body)?;
        at = task.parent_id;
    }
    Err(fault("parentId", "would make the task a part of itself"))
}
