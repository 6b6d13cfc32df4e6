//! The place of a task: its parent, and the sibling before it. Google changes it by a separate request.

use std::ops::ControlFlow;

use connector_sdk::http::Request;
use connector_sdk::{Context, Outcome};
use model::tasks::Task;
use model::wire::ItemWrite;

use crate::api::ask;
use crate::roots;
use crate::tasks::native::TaskRecord;
use crate::tasks::read::visit_pages;

/// Members of tasks that define their order.
const PLACES: &str = "nextPageToken,items(id,parent,position)";

/// The place that a task shall have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskPlace {
    pub parent: Option<String>,
    /// The sibling that the task comes after; none: it is the first one.
    pub previous: Option<String>,
}

impl TaskPlace {
    /// Returns the place that a write gives to the task: behind the last sibling whose position is smaller than the wanted one. Without a
    /// position it is the first place.
    pub fn of_write(context: &Context, write: &ItemWrite<Task>) -> Outcome<Self> {
        let parent = write.body.parent_id.clone().filter(|id| !id.is_empty());
        let is_placed = write.changed.iter().any(|name| name == "position");
        let wanted = write.body.position.as_deref().filter(|position| is_placed && !position.is_empty());
        let previous = match wanted {
            Some(wanted) => find_previous(context, write, parent.as_deref(), wanted)?,
            None => None,
        };
        Ok(TaskPlace { parent, previous })
    }

    /// Returns the place as the query of a request.
    pub fn query(&self) -> Vec<(&str, &str)> {
        let members = [("parent", &self.parent), ("previous", &self.previous)];
        members.into_iter().filter_map(|(name, id)| Some((name, id.as_deref()?))).collect()
    }
}

fn find_previous(
    context: &Context,
    write: &ItemWrite<Task>,
    parent: Option<&str>,
    wanted: &str,
) -> Outcome<Option<String>> {
    let query = [("showAssigned", "true"), ("fields", PLACES)];
    let mut last: Option<(String, String)> = None;
    visit_pages(context, &write.collection, &query, |task| {
        let position = task.position.unwrap_or_default();
        let is_sibling = task.parent.as_deref().filter(|id| !id.is_empty()) == parent
            && write.source.as_deref() != Some(task.id.as_str());
        if is_sibling && position.as_str() < wanted && last.as_ref().is_none_or(|(best, _)| *best < position)
        {
            last = Some((position, task.id));
        }
        ControlFlow::Continue(())
    })?;
    Ok(last.map(|(_, id)| id))
}

/// Moves a task, and returns it as it is then.
pub fn move_task(context: &Context, list: &str, id: &str, place: &TaskPlace) -> Outcome<TaskRecord> {
    let url = roots::tasks(&["lists", list, "tasks", id, "move"], &place.query())?;
    ask(context, Request::post(url), "moving the task")
}

/// Returns whether a list has a task that was assigned in a document or a chat: its deletion there would go with the list's.
pub fn has_assigned(context: &Context, list: &str) -> Outcome<bool> {
    let query = [
        ("showCompleted", "true"),
        ("showHidden", "true"),
        ("showAssigned", "true"),
        ("fields", "nextPageToken,items(id,assignmentInfo)"),
    ];
    let mut is_found = false;
    visit_pages(context, list, &query, |task| {
        is_found = task.assignment_info.is_some();
        if is_found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(is_found)
}
