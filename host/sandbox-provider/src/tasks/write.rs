//! From a client's JSON to a checked list, todo, step or link. Pure: no code here depends on the state or HTTP.

use jiff::civil::{Date, Time};
use serde_json::{Map, Value};

use crate::patch::{MAX_LINE, MAX_TEXT, colour, few, patched, text, title};
use crate::problem::Problem;
use crate::tasks::types::{Due, Link, List, Step, Todo, TodoState};
use crate::times::{instant, parse_instant, zone};

/// Entries of each list of a todo.
pub const MAX_SMALL_LIST: usize = 100;

const LIST_FIELDS: &[&str] = &["title", "colour", "rank"];
const LIST_OWN: &[&str] =
    &["id", "etag", "main", "flagged", "mine", "shared", "locked", "todos", "open", "createdAt", "updatedAt"];
const TODO_FIELDS: &[&str] = &[
    "parent",
    "title",
    "body",
    "state",
    "importance",
    "percent",
    "startDay",
    "due",
    "alarmAt",
    "repeat",
    "tags",
    "people",
    "position",
];
const TODO_OWN: &[&str] = &[
    "id",
    "etag",
    "list",
    "doneAt",
    "hasFiles",
    "steps",
    "links",
    "webLink",
    "locked",
    "createdAt",
    "updatedAt",
];
const STEP_FIELDS: &[&str] = &["title", "done", "position"];
const STEP_OWN: &[&str] = &["id", "doneAt", "createdAt"];
const LINK_FIELDS: &[&str] = &["about", "url", "label", "app", "reference", "foreignId"];
const LINK_OWN: &[&str] = &["id", "createdAt"];

/// The list that `patch` makes of `base`, checked.
pub fn list(base: &List, patch: &Map<String, Value>) -> Result<List, Problem> {
    let list: List = patched(base, patch, LIST_FIELDS, LIST_OWN)?;
    title("title", &list.title)?;
    colour(list.colour.as_ref())?;
    Ok(list)
}

/// The todo that `patch` makes of `base`, checked. Does not check whether the parent exists.
pub fn todo(base: &Todo, patch: &Map<String, Value>, now_ms: i64) -> Result<Todo, Problem> {
    let mut todo: Todo = patched(base, patch, TODO_FIELDS, TODO_OWN)?;
    title("title", &todo.title)?;
    text("body.text", todo.body.text.as_ref(), MAX_TEXT)?;
    text("position", todo.position.as_ref(), MAX_LINE)?;
    if todo.percent.is_some_and(|percent| !(0..=100).contains(&percent)) {
        return Err(Problem::field("percent", "percent must be 0 to 100"));
    }
    if let Some(start) = &todo.start_day {
        day("startDay", start)?;
    }
    let sends_clock = patch.get("due").is_some_and(|due| due["clock"].is_string());
    todo.due = due(&todo.due, sends_clock)?;
    if let Some(at) = &todo.alarm_at {
        todo.alarm_at = Some(instant(parse_instant(at, "alarmAt")?));
    }
    repeat(&todo.repeat)?;
    few("tags", todo.tags.len(), MAX_SMALL_LIST)?;
    few("people", todo.people.len(), MAX_SMALL_LIST)?;
    match (base.state, todo.state) {
        (TodoState::Done, TodoState::Done) => {}
        (_, TodoState::Done) => todo.done_at = Some(instant(now_ms)),
        _ => todo.done_at = None,
    }
    Ok(todo)
}

fn day(field: &str, value: &str) -> Result<(), Problem> {
    // Only the plain form: jiff reads more.
    match value.len() == 10 && value.parse::<Date>().is_ok() {
        true => Ok(()),
        false => Err(Problem::field(field, format!("{field} must be a date such as 2026-03-01"))),
    }
}

fn due(due: &Due, sends_clock: bool) -> Result<Due, Problem> {
    if let Some(name) = &due.zone {
        zone(name, "due.zone")?;
    }
    let Some(on) = &due.day else {
        if sends_clock {
            return Err(Problem::field("due.clock", "a time without a day is never due"));
        }
        return Ok(Due { clock: None, ..due.clone() });
    };
    day("due.day", on)?;
    let is_clock = |clock: &String| clock.len() == 5 && clock.parse::<Time>().is_ok();
    match &due.clock {
        Some(clock) if !is_clock(clock) => {
            Err(Problem::field("due.clock", "due.clock must be a time such as 09:30"))
        }
        _ => Ok(due.clone()),
    }
}

/// Validates lines of days or of times; which of them they are matters only to code that expands them.
fn repeat(lines: &[String]) -> Result<(), Problem> {
    recurrence::validate(lines, true)
        .or_else(|_| recurrence::validate(lines, false))
        .map_err(|e| Problem::field("repeat", e.to_string()))
}

/// The step that `patch` makes of `base`, checked.
pub fn step(base: &Step, patch: &Map<String, Value>, now_ms: i64) -> Result<Step, Problem> {
    let mut step: Step = patched(base, patch, STEP_FIELDS, STEP_OWN)?;
    title("title", &step.title)?;
    text("position", step.position.as_ref(), MAX_LINE)?;
    match (base.done, step.done) {
        (true, true) => {}
        (false, true) => step.done_at = Some(instant(now_ms)),
        (_, false) => step.done_at = None,
    }
    Ok(step)
}

/// The link that `patch` describes, checked.
pub fn link(base: &Link, patch: &Map<String, Value>) -> Result<Link, Problem> {
    let link: Link = patched(base, patch, LINK_FIELDS, LINK_OWN)?;
    for (field, value) in [
        ("url", &link.url),
        ("label", &link.label),
        ("app", &link.app),
        ("reference", &link.reference),
        ("foreignId", &link.foreign_id),
    ] {
        text(field, value.as_ref(), MAX_LINE)?;
    }
    if link.url.is_none() && link.reference.is_none() && link.foreign_id.is_none() {
        return Err(Problem::field("url", "a link needs a url, a reference or a foreignId"));
    }
    Ok(link)
}
