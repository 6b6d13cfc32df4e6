//! Paper's API: lists and items as it has them, and what they are for Switchboard.

use std::fmt;
use std::str::FromStr;

use connector_sdk::http::Request;
use connector_sdk::model::tasks::{Task, TaskList, TaskStatus};
use connector_sdk::model::wire::{Item as Record, ItemError, ItemWrite, JsonText, Mutated, Source, Warning};
use connector_sdk::{Context, Failure, Outcome, code};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
pub struct Me {
    pub id: String,
    pub email: Option<String>,
    pub name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListPage {
    pub lists: Vec<List>,
    pub next_page_token: Option<String>,
}

#[derive(Deserialize)]
pub struct List {
    pub id: String,
    pub title: String,
    pub etag: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ItemPage {
    pub items: Vec<Item>,
    pub next_page_token: Option<String>,
    /// On the last page alone: ask with it for what changes from now on.
    pub next_since: Option<String>,
}

/// The id is always there: an answer without one is no item. Of a deleted one there is nothing else.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    pub id: String,
    #[serde(default)]
    pub etag: String,
    #[serde(default)]
    pub title: String,
    pub note: Option<String>,
    #[serde(default)]
    pub done: bool,
    /// `YYYY-MM-DD`.
    pub due: Option<String>,
    #[serde(default)]
    pub deleted: bool,
}

impl List {
    pub fn source(&self) -> Outcome<Source> {
        let list = TaskList { name: self.title.clone(), is_owner: true, ..TaskList::default() };
        source(&self.id, &self.etag, &list)
    }
}

impl Item {
    pub fn source(&self) -> Outcome<Source> {
        if self.deleted {
            return Ok(Source { external_id: self.id.clone(), deleted: true, ..Source::default() });
        }
        let task = Task {
            title: self.title.clone(),
            notes: self.note.clone(),
            status: if self.done { TaskStatus::Completed } else { TaskStatus::NeedsAction },
            due_date: self.due.clone(),
            ..Task::default()
        };
        source(&self.id, &self.etag, &task)
    }
}

fn source(id: &str, etag: &str, body: &impl Serialize) -> Outcome<Source> {
    let body = JsonText::of(body)
        .map_err(|error| Failure::unavailable(format!("the item cannot be written as JSON: {error}")))?;
    let item = Record { external_id: id.into(), body, ..Record::default() };
    Ok(Source { external_id: id.into(), etag: Some(etag.into()), items: vec![item], ..Source::default() })
}

/// An item that is there and cannot be read.
pub fn unreadable(item: &Item, failure: &Failure) -> Source {
    let error = ItemError { code: "unreadable".into(), message: failure.message.clone() };
    Source { external_id: item.id.clone(), error: Some(error), ..Source::default() }
}

/// The answer of a change.
pub fn written(item: &Item, warnings: Vec<Warning>) -> Outcome<Mutated> {
    Ok(Mutated { sources: vec![item.source()?], item: Some(item.id.clone()), warnings, ..Mutated::default() })
}

/// The fields of a task that Paper has.
const KNOWN: [&str; 4] = ["title", "notes", "status", "dueDate"];

/// Returns the fields to write to Paper: all fields of the task, or the changed ones alone, so that the others stay as they are.
pub fn fields(task: &Task, changed: Option<&[String]>) -> Map<String, Value> {
    let values = [
        ("title", "title", json!(task.title)),
        ("notes", "note", json!(task.notes)),
        ("status", "done", json!(task.status == TaskStatus::Completed)),
        ("dueDate", "due", json!(task.due_date)),
    ];
    let is_changed = |ours: &str| changed.is_none_or(|names| names.iter().any(|name| name == ours));
    let kept = values.into_iter().filter(|(ours, ..)| is_changed(ours));
    kept.map(|(_, theirs, value)| (theirs.to_owned(), value)).collect()
}

fn unknown(write: &ItemWrite<Task>) -> impl Iterator<Item = &String> {
    write.changed.iter().filter(|field| !KNOWN.contains(&field.as_str()))
}

/// A strict caller wants all or nothing.
pub fn refuse_unknown(write: &ItemWrite<Task>) -> Outcome<()> {
    match unknown(write).next().filter(|_| write.strict) {
        Some(field) => Err(Failure::unsupported(&format!("the field {field}")).with_detail(json!({ "field": field }))),
        None => Ok(()),
    }
}

/// Every other caller gets a warning for each field that Paper did not keep.
pub fn warnings(write: &ItemWrite<Task>) -> Vec<Warning> {
    let warning = |field: &String| Warning {
        code: "field_not_supported".into(),
        message: format!("Paper has no {field}"),
        target: Some(field.clone()),
    };
    unknown(write).map(warning).collect()
}

/// The position at which a walk over items continues. It begins with a version: a cursor of another version of this connector is no
/// error, the host starts over.
#[derive(Debug, PartialEq)]
pub enum Cursor {
    /// The next page of everything.
    Page(String),
    /// The next page of changes.
    ChangesPage(String),
    /// The changes after this point.
    Since(String),
}

impl Cursor {
    /// The token of a cursor that can only be [`Cursor::Page`].
    pub fn of_page(text: &str) -> Outcome<String> {
        match text.parse()? {
            Cursor::Page(token) => Ok(token),
            _ => Err(expired()),
        }
    }

    pub fn is_of_everything(&self) -> bool {
        matches!(self, Cursor::Page(_))
    }

    pub fn query(&self) -> (&'static str, &str) {
        match self {
            Cursor::Page(token) | Cursor::ChangesPage(token) => ("pageToken", token),
            Cursor::Since(token) => ("since", token),
        }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cursor::Page(token) => write!(f, "v1;page;{token}"),
            Cursor::ChangesPage(token) => write!(f, "v1;changes;{token}"),
            Cursor::Since(token) => write!(f, "v1;since;{token}"),
        }
    }
}

impl FromStr for Cursor {
    type Err = Failure;

    fn from_str(text: &str) -> Outcome<Cursor> {
        let (kind, token) = text.strip_prefix("v1;").and_then(|rest| rest.split_once(';')).ok_or_else(expired)?;
        match kind {
            "page" => Ok(Cursor::Page(token.into())),
            "changes" => Ok(Cursor::ChangesPage(token.into())),
            "since" => Ok(Cursor::Since(token.into())),
            _ => Err(expired()),
        }
    }
}

fn expired() -> Failure {
    Failure::new(code::CURSOR_EXPIRED, "the cursor is not one of this connector")
}

/// An address at Paper. Segments and values are escaped, so that an id cannot lead elsewhere. A segment that is a step in a path has no
/// escaped form: nothing has such an id.
pub fn url(context: &Context, segments: &[&str], query: &[(&str, &str)]) -> Outcome<String> {
    let server = context.setting("serverUrl");
    let server = server.ok_or_else(|| Failure::invalid("settings.serverUrl is missing: give Paper's address"))?;
    let mut url = format!("{}/v1", server.trim_end_matches('/'));
    for segment in segments {
        if matches!(*segment, "." | "..") {
            return Err(Failure::not_found("nothing has an id that is a step in a path"));
        }
        url.push('/');
        escape(segment, &mut url);
    }
    for (number, (name, value)) in query.iter().enumerate() {
        url.push(if number == 0 { '?' } else { '&' });
        url.push_str(name);
        url.push('=');
        escape(value, &mut url);
    }
    Ok(url)
}

/// RFC 3986, section 2.3.
fn escape(text: &str, into: &mut String) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            into.push(char::from(byte));
        } else {
            into.push_str(&format!("%{byte:02X}"));
        }
    }
}

/// Reads something. Paper answers 410 where it no longer knows a token.
pub fn read<T: DeserializeOwned>(
    context: &Context,
    path: &[&str],
    query: &[(&str, &str)],
    doing: &str,
) -> Outcome<T> {
    let response = context.send(Request::get(url(context, path, query)?))?;
    if response.is_success() {
        return response.json();
    }
    let failure = context.failure(&response, doing);
    Err(if response.status == 410 { failure.with_code(code::CURSOR_EXPIRED) } else { failure })
}
