//! The account's task lists: listed, made, renamed and deleted.

use connector_sdk::http::Request;
use connector_sdk::rest::cursor;
use connector_sdk::{Answer, Context, Failure, Outcome, code};
use model::tasks::TaskList;
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Sources, Warning};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::api::{ask, execute};
use crate::calendar::patch::field_warning;
use crate::odata::page::{Page, Token};
use crate::tasks::native::{TodoList, TodoTask};
use crate::tasks::record::{deleted_source, list_source};
use crate::tasks::roots::{lists, tasks};

/// The version of the cursors.
const VERSION: &str = "m1";
/// Lists of a page.
const PAGE_SIZE: u32 = 100;
/// Pages in which the list of an earlier attempt is looked for.
const MAX_PAGES: usize = 20;

const LISTING: &str = "listing the task lists";

/// A place in the list of lists.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum ListsPlace {
    Page(String),
    Offset(String),
}

impl ListsPlace {
    /// The place behind a page; none behind the last one.
    fn after(page: &Page<TodoList>) -> Outcome<Option<Self>> {
        Ok(page.next()?.map(|token| match token {
            Token::Offset(value) => ListsPlace::Offset(value),
            Token::Skip(value) | Token::Delta(value) => ListsPlace::Page(value),
        }))
    }

    fn parameter(&self) -> (&'static str, &str) {
        match self {
            ListsPlace::Page(value) => ("$skiptoken", value),
            ListsPlace::Offset(value) => ("$skip", value),
        }
    }
}

/// Returns a page of the account's task lists; an enumeration.
pub fn list(context: &Context, args: &ChangesRequest) -> Outcome<Answer<Sources>> {
    let place: Option<ListsPlace> =
        context.cursor.as_deref().map(|text| cursor::read(VERSION, text)).transpose()?;
    let size = if args.limit == 0 { PAGE_SIZE } else { args.limit.min(PAGE_SIZE) };
    let page = read_page(context, size, place.as_ref()).map_err(|failure| {
        let is_of_token = place.is_some() && failure.code == code::INVALID;
        if is_of_token { failure.with_code(code::CURSOR_EXPIRED) } else { failure }
    })?;
    let cursor = ListsPlace::after(&page)?.map(|place| cursor::write(VERSION, &place)).transpose()?;
    let more = cursor.is_some();
    let sources = page.value.iter().map(list_source).collect::<Outcome<_>>()?;
    Ok(Answer { body: Sources { sources, enumeration: true, ..Sources::default() }, cursor, more })
}

fn read_page(context: &Context, size: u32, place: Option<&ListsPlace>) -> Outcome<Page<TodoList>> {
    let size = size.to_string();
    let mut query = vec![("$top", size.as_str())];
    query.extend(place.map(ListsPlace::parameter));
    ask(context, Request::get(lists(&[], &query)?), LISTING)
}

/// Makes a task list. A second attempt looks for an empty one of the same name.
pub fn create(context: &Context, args: &CollectionWrite<TaskList>) -> Outcome<Mutated> {
    let earlier = match context.attempt() {
        1 => None,
        _ => find_made(context, &args.body.name)?,
    };
    let made = match earlier {
        Some(made) => made,
        None => {
            let request = Request::post(lists(&[], &[])?).json(&json!({ "displayName": args.body.name }));
            ask(context, request, "creating the task list")?
        }
    };
    to_mutated(&made, losses(&args.body, &args.changed))
}

/// The list that an earlier attempt has made: one with this name and without tasks. Graph does not say when a list was made; a list of the
/// user's own that is taken for a new one might be deleted as such.
fn find_made(context: &Context, name: &str) -> Outcome<Option<TodoList>> {
    let mut place = None;
    for _ in 0..MAX_PAGES {
        let page = read_page(context, PAGE_SIZE, place.as_ref())?;
        place = ListsPlace::after(&page)?;
        let is_alike = |entry: &TodoList| {
            entry.display_name.as_deref() == Some(name) && !entry.is_default() && !entry.is_flagged_mail()
        };
        for entry in page.value.into_iter().filter(is_alike) {
            let url = tasks(&entry.id, &[], &[("$top", "1")])?;
            let first: Page<TodoTask> = ask(context, Request::get(url), "reading the task list")?;
            if first.value.is_empty() {
                return Ok(Some(entry));
            }
        }
        if place.is_none() {
            break;
        }
    }
    Ok(None)
}

/// Renames a task list.
pub fn update(context: &Context, args: &CollectionWrite<TaskList>) -> Outcome<Mutated> {
    let id = args.source.as_deref().unwrap_or_default();
    let mut entry = read_list(context, id)?;
    ensure_version(&entry, args.if_match.as_deref())?;
    if args.changed.iter().any(|name| name == "name") {
        ensure_own(&entry, "renaming")?;
        let request = Request::patch(lists(&[id], &[])?).json(&json!({ "displayName": args.body.name }));
        entry = ask(context, request, "changing the task list")?;
    }
    to_mutated(&entry, losses(&args.body, &args.changed))
}

/// Deletes a task list with its tasks. One that is gone is as good as deleted.
pub fn delete(context: &Context, args: &CollectionDelete) -> Outcome<Mutated> {
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    let entry = match read_list(context, &args.source) {
        Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
        entry => entry?,
    };
    ensure_own(&entry, "deleting")?;
    ensure_version(&entry, args.if_match.as_deref())?;
    match execute(context, Request::delete(lists(&[&args.source], &[])?), "deleting the task list") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

fn read_list(context: &Context, id: &str) -> Outcome<TodoList> {
    ask(context, Request::get(lists(&[id], &[])?), "reading the task list")
}

/// Fails with `unsupported` for a list that Microsoft To Do has made.
fn ensure_own(entry: &TodoList, doing: &str) -> Outcome<()> {
    match (entry.is_default(), entry.is_flagged_mail()) {
        (true, _) => Err(Failure::unsupported(&format!("{doing} the default task list"))),
        (false, true) => Err(Failure::unsupported(&format!("{doing} the list of flagged messages"))),
        (false, false) => Ok(()),
    }
}

/// Fails with `conflict` where the caller insists on another version.
fn ensure_version(entry: &TodoList, if_match: Option<&str>) -> Outcome<()> {
    match (if_match, entry.etag.as_deref()) {
        (Some(wanted), Some(now)) if wanted != now => {
            Err(Failure::conflict("the task list was changed meanwhile"))
        }
        _ => Ok(()),
    }
}

/// Warnings about changed fields that Graph does not have.
fn losses(ours: &TaskList, changed: &[String]) -> Vec<Warning> {
    let lost = [("color", ours.color.is_some()), ("sortOrder", ours.sort_order != 0)];
    let lost =
        lost.into_iter().filter(|(field, is_lost)| *is_lost && changed.iter().any(|name| name == field));
    lost.map(|(field, _)| field_warning(field, "Microsoft To Do has no such setting of a task list"))
        .collect()
}

fn to_mutated(entry: &TodoList, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let source = list_source(entry)?;
    Ok(Mutated { item: Some(entry.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}
