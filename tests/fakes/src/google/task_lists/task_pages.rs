//! Pages of tasks.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE;
use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::google::call::{Call, MethodResult};
use crate::google::errors::ApiError;
use crate::google::state::State;
use crate::google::task_lists::book::{self, TaskRecord};
use crate::google::task_lists::facts::TASKS;
use crate::google::task_lists::render;
use crate::google::times;

/// The size of a page by the facts `pages.{of}_usual` and `pages.{of}_most`.
///
/// # Errors
/// The request asks for more, or for none: 400.
pub fn page_size(call: &Call, of: &str) -> Result<usize, ApiError> {
    let most = TASKS.number("pages", &format!("{of}_most"));
    match call.parameter("maxResults").map(str::parse::<usize>) {
        None => Ok(TASKS.number("pages", &format!("{of}_usual"))),
        Some(Ok(size)) if (1..=most).contains(&size) => Ok(size),
        Some(_) => Err(ApiError::invalid("Invalid value for maxResults.").at("parameter", "maxResults")),
    }
}

/// The page token behind this many items.
pub fn token(offset: usize) -> String {
    BASE64_URL_SAFE.encode(offset.to_string())
}

/// The number of items before the page.
///
/// # Errors
/// The page token is none of the fake's: 400.
pub fn offset(call: &Call) -> Result<usize, ApiError> {
    let Some(text) = call.parameter("pageToken") else { return Ok(0) };
    let bytes = BASE64_URL_SAFE.decode(text).ok();
    let offset = bytes.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok());
    offset.ok_or_else(|| ApiError::invalid("Invalid page token value.").at("parameter", "pageToken"))
}

/// The bounds that a request sets to a time of its tasks.
struct TimeRange {
    from: Option<DateTime<Utc>>,
    to: Option<DateTime<Utc>>,
}

impl TimeRange {
    /// Parses the parameters with these names.
    ///
    /// # Errors
    /// One is no RFC 3339 timestamp: 400.
    fn parse(call: &Call, from: &'static str, to: &'static str) -> Result<TimeRange, ApiError> {
        let read = |name: &'static str| match call.parameter(name) {
            None => Ok(None),
            Some(text) => match times::parse_instant(text, None) {
                Some(at) => Ok(Some(at)),
                None => Err(ApiError::invalid("Invalid Value").at("parameter", name)),
            },
        };
        Ok(TimeRange { from: read(from)?, to: read(to)? })
    }

    /// Whether a time is inside; one that is missing is so where there are no bounds.
    fn has(&self, text: Option<&str>) -> bool {
        let at = text.and_then(|text| times::parse_instant(text, None));
        let is_free = self.from.is_none() && self.to.is_none();
        match at {
            None => is_free,
            Some(at) => self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at < to),
        }
    }
}

/// `tasks.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let size = page_size(call, "tasks")?;
    let offset = offset(call)?;
    let completed = TimeRange::parse(call, "completedMin", "completedMax")?;
    let due = TimeRange::parse(call, "dueMin", "dueMax")?;
    let updated = TimeRange::parse(call, "updatedMin", "updatedMin")?.from;
    let has_tombstones = !state.traps.is_on("no_tombstones");
    let list = book::of_caller(state, call).list(call.path("tasklist"))?;
    let is_shown = |task: &&TaskRecord| {
        let is_recent = updated.is_none_or(|least| times::from_ms(task.updated_ms) >= least);
        (!task.is_deleted || (call.is_set("showDeleted") && has_tombstones))
            && (!task.is_hidden || call.is_set("showHidden"))
            && (!task.is_completed() || call.parameter("showCompleted") != Some("false"))
            && (task.assignment.is_none() || call.is_set("showAssigned"))
            && completed.has(task.text("completed"))
            && due.has(task.text("due"))
            && is_recent
    };
    let tasks: Vec<&TaskRecord> = list.tasks.values().filter(is_shown).collect();
    let items: Vec<Value> =
        tasks.iter().skip(offset).take(size).map(|task| render::show_task(list, task)).collect();
    let behind = offset.saturating_add(size);
    let mut body = json!({ "kind": "tasks#tasks", "etag": render::etag(list.changed) });
    // An empty list is left out.
    if !items.is_empty() {
        body["items"] = items.into();
    }
    if behind < tasks.len() {
        body["nextPageToken"] = token(behind).into();
    }
    Ok(Some(body))
}
