//! Values derived from a task: sort and search texts.

use model::tasks::Task;

use crate::local_copy::search_text::{searchable, sort_key};

/// Returns the sort key of lists: the provider's position; tasks without one come after those with one, the oldest first.
// Contract silent: the order of tasks.
pub fn sort_text(position: Option<&str>) -> String {
    sort_key(position)
}

/// Returns the text that `q` searches.
pub fn search_text(task: &Task) -> String {
    let steps = task.checklist_items.iter().map(|step| Some(step.title.as_str()));
    let tags = task.categories.iter().map(|c| Some(c.as_str()));
    let people = task.assignees.iter().flat_map(|a| [a.name.as_deref(), a.email.as_deref()]);
    searchable(
        [Some(task.title.as_str()), task.notes.as_deref()].into_iter().chain(steps).chain(tags).chain(people),
    )
}
