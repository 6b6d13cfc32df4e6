//! Lists of tasks.

use base::error::{Code, Result};
use base::input::validate::fault;
use model::tasks::TaskStatus;
use serde::{Deserialize, Serialize};
use storage::items::{ItemColumns, List, Within};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::search_text::words;
use crate::resources::collection_items::{self, ListPosition};

/// Filters and options of a list of tasks. The serialized part is bound to the cursor.
// Contract silent: the filters of tasks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TaskQuery {
    pub task_list_id: String,
    pub q: Option<String>,
    pub status: Option<TaskStatus>,
    /// Only open tasks (true), or only closed ones (false).
    pub open: Option<bool>,
    /// A date, inclusive.
    pub due_after: Option<String>,
    /// A date, exclusive.
    pub due_before: Option<String>,
    pub parent_id: Option<String>,
    pub category: Option<String>,
    pub updated_after: Option<i64>,
    /// Whether provider data is returned too. Not part of the filter: a cursor is valid with or without it.
    #[serde(skip)]
    pub with_provider_data: bool,
}

/// The fields of a stored task that the filters need.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TaskFilterInput {
    status: TaskStatus,
    due_date: Option<String>,
    parent_id: Option<String>,
    categories: Vec<String>,
}

impl TaskQuery {
    fn is_plain(&self) -> bool {
        self.status.is_none()
            && self.open.is_none()
            && self.due_after.is_none()
            && self.due_before.is_none()
            && self.parent_id.is_none()
            && self.category.is_none()
    }

    fn admits(&self, row: &ItemColumns<'_>) -> Result<bool> {
        if self.is_plain() {
            return Ok(true);
        }
        let task: TaskFilterInput = serde_json::from_str(row.body)?;
        let is_open = !matches!(task.status, TaskStatus::Completed | TaskStatus::Cancelled);
        // Dates of this form sort as text; a task without a day is due neither before nor after one.
        let due = task.due_date.as_deref();
        Ok(self.status.is_none_or(|status| status == task.status)
            && self.open.is_none_or(|open| open == is_open)
            && self.due_after.as_deref().is_none_or(|from| due.is_some_and(|due| due >= from))
            && self.due_before.as_deref().is_none_or(|to| due.is_some_and(|due| due < to))
            && self.parent_id.as_ref().is_none_or(|p| task.parent_id.as_ref() == Some(p))
            && self.category.as_ref().is_none_or(|c| task.categories.contains(c)))
    }
}

/// A page of a list that was already refreshed, by position.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    query: &TaskQuery,
    after: Option<ListPosition>,
    limit: i64,
) -> Result<(Vec<String>, Option<ListPosition>)> {
    if let Some(id) = &query.parent_id {
        check_parent(app, asker, &query.task_list_id, id).await?;
    }
    let words = words(query.q.as_deref())?;
    let list = List {
        within: Within::Collection(&query.task_list_id),
        kind: ResourceKind::Task.as_str(),
        updated_after: query.updated_after.unwrap_or(i64::MIN),
        words: &words,
        keys: &[],
        after: ("", ""),
        limit,
    };
    let raw = query.with_provider_data;
    collection_items::list(app, asker, &list, after, raw, |row| query.admits(row)).await
}

/// Refuses a parent that is no task of the list, instead of an answer that looks as if the task had no subtasks.
async fn check_parent(app: &App, asker: &RequestContext, task_list_id: &str, id: &str) -> Result<()> {
    match asker.item(app, ResourceKind::Task, id).await {
        Ok(parent) if parent.parent_id == task_list_id => Ok(()),
        Err(e) if e.code() != Some(Code::NotFound) => Err(e),
        _ => Err(fault("parent_id", "names no task of this list")),
    }
}
