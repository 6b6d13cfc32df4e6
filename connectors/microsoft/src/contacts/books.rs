//! The account's address books: folders of contacts within folders, and the default one, which Graph does not list.

use connector_sdk::http::{Request, Response};
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome, code};
use model::contacts::ContactBook;
use model::wire::{CollectionDelete, CollectionWrite, Mutated, Sources, Warning};
use serde_json::json;

use crate::api::{accepted, ask, execute, object, send};
use crate::calendar::patch::field_warning;
use crate::contacts::native::ContactFolder;
use crate::contacts::record::{book_source, deleted_source};
use crate::contacts::roots::{DEFAULT_BOOK, folders};
use crate::odata::batch;
use crate::odata::page::Page;

/// Folders of a page.
const PAGE_SIZE: &str = "100";
/// Folders of an account at most; more would be a loop.
const MAX_FOLDERS: usize = 2_000;
/// Pages of folders, and levels of folders within folders, that are read at most.
const MAX_PAGES: usize = 50;
const MAX_LEVELS: usize = 20;

const LISTING: &str = "listing the address books";
/// Parts of the first batch.
const TOP: &str = "top";
const DEFAULT: &str = "default";

/// Returns the books; an enumeration.
pub fn list(context: &Context) -> Outcome<Sources> {
    let parts = vec![
        Part::new(TOP, Request::get(folders(&[], &[("$top", PAGE_SIZE)])?)),
        Part::new(DEFAULT, Request::get(folders(&[DEFAULT_BOOK], &[])?)),
    ];
    let mut answers = read_all(context, parts)?.into_iter();
    let (Some((_, top)), Some((_, default))) = (answers.next(), answers.next()) else {
        return Err(Failure::unavailable("the provider has left out a part of a batch"));
    };
    let default = default_folder(context, default)?;
    let mut all: Vec<ContactFolder> = Vec::new();
    let mut level = read_list(context, &[], top)?;
    for _ in 0..MAX_LEVELS {
        level.retain(|folder| {
            let is_known = all.iter().any(|known| known.id == folder.id);
            !folder.id.is_empty() && folder.id != default.id && !is_known
        });
        if level.is_empty() || all.len() > MAX_FOLDERS {
            break;
        }
        let parents: Vec<String> = level.iter().map(|folder| folder.id.clone()).collect();
        all.append(&mut level);
        level = read_children(context, &parents)?;
    }
    let mut sources = vec![book_source(&default, DEFAULT_BOOK, true)?];
    for folder in &all {
        sources.push(book_source(folder, &folder.id, false)?);
    }
    Ok(Sources { sources, enumeration: true, ..Sources::default() })
}

/// The default folder. An account that does not show it by its name has one all the same.
fn default_folder(context: &Context, response: Response) -> Outcome<ContactFolder> {
    match accepted(context, response, "reading the default address book") {
        Ok(response) => object(&response),
        Err(failure) if matches!(failure.code.as_str(), code::NOT_FOUND | code::INVALID) => {
            Ok(ContactFolder::default())
        }
        Err(failure) => Err(failure),
    }
}

/// The folders within these ones.
fn read_children(context: &Context, parents: &[String]) -> Outcome<Vec<ContactFolder>> {
    let part = |parent: &String| -> Outcome<Part> {
        let url = folders(&[parent, "childFolders"], &[("$top", PAGE_SIZE)])?;
        Ok(Part::new(parent.as_str(), Request::get(url)))
    };
    let mut children = Vec::new();
    for (parent, response) in read_all(context, parents.iter().map(part).collect::<Outcome<_>>()?)? {
        children.extend(read_list(context, &[&parent, "childFolders"], response)?);
    }
    Ok(children)
}

/// The folders of a list whose first page is this answer. `below`: its path below the list of folders. A folder that is gone meanwhile
/// has no folders within it.
fn read_list(context: &Context, below: &[&str], first: Response) -> Outcome<Vec<ContactFolder>> {
    let mut page: Page<ContactFolder> = match accepted(context, first, LISTING) {
        Err(failure) if failure.code == code::NOT_FOUND && !below.is_empty() => return Ok(Vec::new()),
        first => object(&first?)?,
    };
    let mut all = Vec::new();
    for _ in 0..MAX_PAGES {
        let next = page.next()?;
        all.append(&mut page.value);
        let Some(next) = next else { return Ok(all) };
        let url = folders(below, &[("$top", PAGE_SIZE), next.parameter()])?;
        page = ask(context, Request::get(url), LISTING)?;
    }
    Err(Failure::unavailable("the account has too many address books to list them all"))
}

fn read_all(context: &Context, parts: Vec<Part>) -> Outcome<Vec<(String, Response)>> {
    let outcome = batch::read(context, parts, batch::MAX_PARTS, LISTING)?;
    if let Some(wait) = outcome.wait {
        return Err(wait);
    }
    let answers = outcome.parts.into_iter().filter_map(|(name, part)| match part {
        PartOutcome::Answered(response) => Some((name, response)),
        PartOutcome::Missing => None,
    });
    Ok(answers.collect())
}

/// Makes a book. One with the same name is that of an earlier attempt, where there was one: names are taken once.
pub fn create(context: &Context, args: &CollectionWrite<ContactBook>) -> Outcome<Mutated> {
    let name = args.body.name.as_str();
    let request = Request::post(folders(&[], &[])?).json(&json!({ "displayName": name }));
    let made: ContactFolder = match ask(context, request, "creating the address book") {
        Err(failure) if failure.code == code::ALREADY_EXISTS && context.attempt() > 1 => {
            find_named(context, name)?.ok_or(failure)?
        }
        made => made?,
    };
    to_mutated(&made, losses(args))
}

fn find_named(context: &Context, name: &str) -> Outcome<Option<ContactFolder>> {
    let first = Request::get(folders(&[], &[("$top", PAGE_SIZE)])?);
    let all = read_list(context, &[], send(context, first, LISTING)?)?;
    Ok(all.into_iter().find(|folder| folder.display_name.as_deref() == Some(name)))
}

/// Renames a book.
pub fn update(context: &Context, args: &CollectionWrite<ContactBook>) -> Outcome<Mutated> {
    let id = args.source.as_deref().unwrap_or_default();
    if id == DEFAULT_BOOK {
        return Err(Failure::unsupported("changing the default address book"));
    }
    let mut folder = read_folder(context, id)?;
    ensure_version(&folder, args.if_match.as_deref())?;
    if args.changed.iter().any(|field| field == "name") {
        let request = Request::patch(folders(&[id], &[])?).json(&json!({ "displayName": args.body.name }));
        folder = ask(context, request, "changing the address book")?;
    }
    to_mutated(&folder, losses(args))
}

/// Deletes a book with its contacts. One that is gone is as good as deleted.
pub fn delete(context: &Context, args: &CollectionDelete) -> Outcome<Mutated> {
    if args.source == DEFAULT_BOOK {
        return Err(Failure::unsupported("deleting the default address book"));
    }
    let deleted = || Mutated { sources: vec![deleted_source(&args.source)], ..Mutated::default() };
    if args.if_match.is_some() {
        match read_folder(context, &args.source) {
            Err(failure) if failure.code == code::NOT_FOUND => return Ok(deleted()),
            folder => ensure_version(&folder?, args.if_match.as_deref())?,
        }
    }
    let request = Request::delete(folders(&[&args.source], &[])?);
    match execute(context, request, "deleting the address book") {
        Err(failure) if failure.code != code::NOT_FOUND => Err(failure),
        _ => Ok(deleted()),
    }
}

fn read_folder(context: &Context, id: &str) -> Outcome<ContactFolder> {
    ask(context, Request::get(folders(&[id], &[])?), "reading the address book")
}

/// Fails with `conflict` where the caller insists on another version. Not every folder has one.
fn ensure_version(folder: &ContactFolder, if_match: Option<&str>) -> Outcome<()> {
    match (if_match, folder.etag.as_deref()) {
        (Some(wanted), Some(now)) if wanted != now => {
            Err(Failure::conflict("the address book was changed meanwhile"))
        }
        _ => Ok(()),
    }
}

/// Warnings about changed fields that Graph does not have.
fn losses(args: &CollectionWrite<ContactBook>) -> Vec<Warning> {
    let has_text = args.body.description.as_ref().is_some_and(|text| !text.is_empty());
    let is_lost = has_text && args.changed.iter().any(|field| field == "description");
    let warning = || field_warning("description", "Outlook's address books have no description");
    is_lost.then(warning).into_iter().collect()
}

fn to_mutated(folder: &ContactFolder, warnings: Vec<Warning>) -> Outcome<Mutated> {
    let source = book_source(folder, &folder.id, false)?;
    Ok(Mutated { item: Some(folder.id.clone()), sources: vec![source], warnings, ..Mutated::default() })
}
