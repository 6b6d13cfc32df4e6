//! The account's task lists: listed, made, renamed and deleted.

use std::ops::ControlFlow;

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::cursor;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::tasks::TaskList;
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Source, Sources, Warning};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::api::{accepted, ask, execute, object};
use crate::calendar::patch::field_warning;
use crate::roots;
use crate::tasks::mapping::millis;
use crate::tasks::native::{TaskListEntry, TaskListPage};
use crate::tasks::order::has_assigned;
use crate::tasks::read::visit_pages;
use crate::tasks::record::{deleted_source, list_source};
use crate::tasks::write::first_attempt_at;

/// The version of the cursors.
const VERSION: &str = "g1";
/// Lists of a page.
const PAGE_SIZE: u32 = 100;
/// Lists of a page when one is looked for; Google's most.
const LARGEST_PAGE: &str = "1000";
/// Pages that are looked through: an account can have 2,000 lists.
const MAX_PAGES: usize = 3;

const LISTS: [&str; 3] = ["users", "@me", "lists"];
/// The name of the default list in a path.
const DEFAULT: &str = "@default";

/// A place in the list of lists.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListsPlace {
    page: String,
    /// The id of the default list.
    default: Option<String>,
}

/// Returns a page of the account's task lists; an enumeration.
pub fn list(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let place: Option<ListsPlace> =
        context.cursor.as_deref().map(|text| cursor::read(VERSION, text)).transpose()?;
    let size = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(PAGE_SIZE) }.to_string();
    let mut query = vec![("maxResults", size.as_str())];
    query.extend(place.as_ref().map(|place| ("pageToken", place.page.as_str())));
    let mut requests = vec![Request::get(roots::tasks(&LISTS, &query)?)];
    if place.is_none() {
        requests.push(Request::get(address(DEFAULT)?));
    }
    let mut responses = context.send_many(requests, 2).into_iter();
    let mut next = || responses.next().unwrap_or_else(|| Err(Failure::unavailable("an answer is missing")));
    let page = next().and_then(|response| accepted(context, response, "listing the task lists"));
    let page: TaskListPage = object(&page.map_err(|failure| {
        let is_of_token = place.is_some() && failure.code == code::INVALID;
        if is_of_token { failure.with_code(code::CURSOR_EXPIRED) } else { failure }
    })?)?;
    let default = match place {
        Some(place) => place.default,
        None => default_of(context, next())?,
    };
    let sources = page.items.iter().map(|entry| list_source(entry, default.as_deref()));
    let sources: Vec<Source> = sources.collect::<Outcome<_>>()?;
    let token = page.next_page_token.filter(|token| !token.is_empty());
    let cursor = token.map(|page| cursor::write(VERSION, &ListsPlace { page, default })).transpose()?;
    let more = cursor.is_some();
    Ok(Answer { body: Sources { sources, enumeration: true, ..Sources::default() }, cursor, more })
}

fn address(id: &str) -> Outcome<String> {
    roots::tasks(&[&LISTS[..], &[id]].concat(), &[])
}

/// The id of the default list in an answer; none where the account has no such list.
fn default_of(context: &Context, response: Outcome<Response>) -> Outcome<Option<String>> {
    let answer = response.and_then(|response| accepted(context, response, "reading the default task list"));
    match answer {
        Err(failure) if failure.code == code::NOT_FOUND => Ok(None),
        answer => Ok(Some(object::<TaskListEntry>(&answer?)?.id).filter(|id| !id.is_empty())),
    }
}

/// Makes a task list. A second attempt looks for a new and empty one of the same name.
pub fn create(context: &Context, args: &CollectionWrite<TaskList>) -> Outcome<Mutated> {
    let earlier = match context.attempt() {
        1 => None,
        _ => find_made(context, &args.body.name)?,
    };
    let entry = match earlier {
        Some(entry) => entry,
        None => {
            let request = Request::post(roots::tasks(&LISTS, &[])?).json(&json!({ "title": args.body.name }));
            ask(context, request, "creating the task list")?
        }
    };
    to_mutated(&entry, None, losses(&args.body, &args.changed))
}

/// The list that an earlier attempt has made: the newest one since the first attempt with this name, unless it has tasks. A list of the
/// user's own that is taken for a new one might be deleted as such.
fn find_made(context: &Context, name: &str) -> Outcome<Option<TaskListEntry>> {
    let since = first_attempt_at(context);
    let mut newest: Option<TaskListEntry> = None;
    let mut token: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut query = vec![("maxResults", LARGEST_PAGE)];
        query.extend(token.as_deref().map(|token| ("pageToken", token)));
        let request = Request::get(roots::tasks(&LISTS, &query)?);
        let page: TaskListPage = ask(context, request, "listing the task lists")?;
        let is_it = |entry: &TaskListEntry| {
            entry.title.as_deref() == Some(name)
                && millis(entry.updated.as_deref()).is_some_and(|updated| updated >= since)
        };
        let alike = page.items.into_iter().filter(is_it);
        newest = newest.into_iter().chain(alike).max_by_key(|entry| millis(entry.updated.as_deref()));
        token = page.next_page_token.filter(|token| !token.is_empty());
        if token.is_none() {
            break;
        }
    }
    match newest {
        Some(entry) if !has_tasks(context, &entry.id)? => Ok(Some(entry)),
        _ => Ok(None),
    }
}

fn has_tasks(context: &Context, list: &str) -> Outcome<bool> {
    let query = [
        ("showCompleted", "true"),
        ("showHidden", "true"),
        ("showAssigned", "true"),
        ("fields", "nextPageToken,items(id)"),
    ];
    let mut is_found = false;
    visit_pages(context, list, &query, |_| {
        is_found = true;
        ControlFlow::Break(())
    })?;
    Ok(is_found)
}

/// Renames a task list.
pub fn update(context: &Context, args: &CollectionWrite<TaskList>) -> Outcome<Mutated> {
    let id = args.source.as_deref().ok_or_else(|| Failure::invalid("source is missing"))?;
    let (mut entry, default) = read(context, id)?;
    if args.if_match.is_some() && entry.etag != args.if_match {
        return Err(Failure::conflict("the task list has changed since it was read"));
    }
    if args.changed.iter().any(|name| name == "name") {
        let request = Request::patch(address(id)?).if_match(args.if_match.as_deref());
        let request = request.json(&json!({ "title": args.body.name }));
        entry = ask(context, request, "changing the task list")?;
    }
    to_mutated(&entry, default.as_deref(), losses(&args.body, &args.changed))
}

/// Deletes a task list with its tasks. One that is gone is as good as deleted. A list with tasks that were assigned elsewhere stays: the
/// originals would be deleted with it.
pub fn delete(context: &Context, args: &CollectionDelete) -> Outcome<Mutated> {
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    let (entry, default) = match read(context, &args.source) {
        Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
        read => read?,
    };
    if default.as_ref() == Some(&entry.id) {
        return Err(Failure::unsupported("deleting the default task list"));
    }
    if args.if_match.is_some() && entry.etag != args.if_match {
        return Err(Failure::conflict("the task list has changed since it was read"));
    }
    if has_assigned(context, &args.source)? {
        let message =
            "the list has tasks that were assigned in documents or chats, whose originals would be deleted";
        return Err(Failure::new(code::UNSUPPORTED, message));
    }
    let request = Request::delete(address(&args.source)?).if_match(args.if_match.as_deref());
    match execute(context, request, "deleting the task list") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

/// The list of this id, and the id of the default one.
fn read(context: &Context, id: &str) -> Outcome<(TaskListEntry, Option<String>)> {
    let requests = vec![Request::get(address(id)?), Request::get(address(DEFAULT)?)];
    let mut responses = context.send_many(requests, 2).into_iter();
    let mut next = || responses.next().unwrap_or_else(|| Err(Failure::unavailable("an answer is missing")));
    let entry = next().and_then(|response| accepted(context, response, "reading the task list"));
    let entry: TaskListEntry = object(&entry?)?;
    Ok((entry, default_of(context, next())?))
}

/// Warnings about changed fields that Google does not have.
fn losses(ours: &TaskList, changed: &[String]) -> Vec<Warning> {
    let lost = [("color", ours.color.is_some()), ("sortOrder", ours.sort_order != 0)];
    let lost =
        lost.into_iter().filter(|(field, is_lost)| *is_lost && changed.iter().any(|name| name == field));
    lost.map(|(field, _)| field_warning(field, "Google has no such setting of a task list")).collect()
}

fn to_mutated(entry: &TaskListEntry, default: Option<&str>, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let source = list_source(entry, default)?;
    Ok(Mutated { item: Some(entry.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}
