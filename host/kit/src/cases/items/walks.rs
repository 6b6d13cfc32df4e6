//! Paged listings with other events in between: deletions between two pages, several pages of changes, collections that do not exist.

use std::collections::HashSet;

use model::wire::ChangesRequest;
use runtime::{Code, Verb};
use serde_json::json;

use crate::bench::{Bench, MAX_PAGES, Outcome, Verdict, at, describe_error, ensure, failed, must};
use crate::cases::items::changes::{ensure_differences, now};
use crate::cases::items::paging::FOREIGN_CURSORS;
use crate::surface_bench::{Collection, ItemChange, ItemKind, optional, supported};

/// Items of a page, and items that a case makes.
const LIMIT: u32 = 2;
const ITEMS: usize = 5;
/// Items of a case whose first items fitted on one page: more than most providers have on a page.
const MANY_ITEMS: usize = 120;
/// The beginning of the names of items that the kit has made.
const OF_KIT: &str = "swkit-";

/// Makes the items `from` to [`MANY_ITEMS`] of a case, and returns their ids.
async fn fill_up(
    bench: &mut Bench,
    kind: &ItemKind,
    collection: &Collection,
    case: &str,
    from: usize,
) -> Outcome<Vec<String>> {
    let mut ids = Vec::new();
    for number in from..MANY_ITEMS {
        let made = bench.create_named(kind, collection, &format!("{case}-{number}")).await?;
        ids.push(made.external_id);
    }
    Ok(ids)
}

/// `P6`: the deletion of an item between two pages hides no other.
pub async fn deleted_meanwhile(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "a deletion moves everything behind it: go on behind the last item of the page (its id, or a token of the provider), or list deleted items too. A number of items to skip, or a page number, misses an item, and the host takes it for deleted";
    let collection = bench.fill(kind, "P6", ITEMS).await?;
    let mut pages = bench.items(kind, &collection, LIMIT, None).await?;
    if pages.len() == 1 {
        fill_up(bench, kind, &collection, "P6", ITEMS).await?;
        pages = bench.items(kind, &collection, LIMIT, None).await?;
    }
    let sources = pages.iter().flat_map(|page| &page.sources.sources);
    let before: Vec<String> =
        sources.filter(|source| !source.deleted).map(|source| source.external_id.clone()).collect();
    let Some((deleted, seen)) = walk_and_delete(bench, kind, &collection).await? else {
        return Err(Verdict::NotApplicable(format!("{} {}s come on one page", before.len(), kind.item)));
    };
    let missing =
        before.iter().find(|id| **id != deleted && seen.as_ref().is_some_and(|seen| !seen.contains(*id)));
    ensure(
        missing.is_none(),
        || {
            let missing = missing.map(String::as_str).unwrap_or_default();
            format!(
                "\"{deleted}\" was deleted between two pages, and \"{missing}\" is on no page of that walk"
            )
        },
        HELP,
    )
}

/// Lists the collection and deletes an item after the page that has it. Returns its id, and the ids on all pages. None if only the last
/// page has items of the kit; no ids if the connector starts over.
async fn walk_and_delete(
    bench: &mut Bench,
    kind: &ItemKind,
    collection: &Collection,
) -> Outcome<Option<(String, Option<HashSet<String>>)>> {
    let (mut cursor, mut deleted, mut seen) = (None::<String>, None::<String>, HashSet::new());
    for _ in 0..MAX_PAGES {
        let page = bench.page_of(kind, collection, LIMIT, cursor.as_deref()).await;
        let page = match (page, &deleted) {
            (Err(error), Some(deleted)) if error.code == Code::CursorExpired => {
                return Ok(Some((deleted.clone(), None)));
            }
            (page, _) => must(page, kind.changes_op)?,
        };
        seen.extend(page.sources.sources.iter().map(|source| source.external_id.clone()));
        if !page.more {
            return Ok(deleted.map(|deleted| (deleted, Some(seen))));
        }
        let is_own = |name: String| name.starts_with(OF_KIT);
        let mut own = page.sources.sources.iter().filter(|source| !source.deleted);
        let own = own.find(|source| kind.name_of(source).is_some_and(is_own));
        if let (Some(own), None) = (own, &deleted) {
            let id = own.external_id.clone();
            let gone = bench.try_delete_item(kind, collection, &id, &kind.key("P6-delete")).await;
            supported(gone, kind.delete_op)?;
            deleted = Some(id);
        }
        cursor = page.cursor;
    }
    failed(
        format!("{} did not end after {MAX_PAGES} pages", kind.changes_op),
        "set more: false on the last page",
    )
}

/// `P7`: a cursor of collections that is not of this version starts over.
pub async fn foreign_list_cursor(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "put a version in front of the cursors of lists too, and answer any other cursor with failure cursor-expired: the host then starts over";
    if bench.collections(kind).await?.len() == 1 {
        return Err(Verdict::NotApplicable(format!("{} has one page", kind.list_op)));
    }
    let of = (kind.surface, Verb::Fetch, kind.list_op);
    for cursor in FOREIGN_CURSORS {
        let seen = match bench.calls.page(of, &ChangesRequest::default(), Some(cursor)).await {
            Err(error) if error.code == Code::CursorExpired => continue,
            Err(error) => describe_error(&error),
            Ok(page) => format!("a page of {} {}s", page.sources.sources.len(), kind.collection),
        };
        return failed(format!("{} from {} gives {seen}", kind.list_op, at(Some(cursor))), HELP);
    }
    Ok(())
}

/// `C7`: the pages of changes are of one kind: all differences, or all an enumeration.
pub async fn several_pages(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "every page of changes says enumeration: false, the second one too: keep in the cursor how the walk began. The host deletes what an enumeration does not name";
    const ONCE: &str = "each page of changes begins behind the last change of the page before";
    const FEW: usize = 3;
    let collection = bench.collection(kind).await?;
    let cursor = now(bench, kind, &collection).await?;
    let mut ids = Vec::new();
    for number in 0..FEW {
        ids.push(bench.create_named(kind, &collection, &format!("C7-{number}")).await?.external_id);
    }
    let mut pages = bench.items(kind, &collection, 1, cursor.clone()).await?;
    if pages.len() == 1 {
        ids.extend(fill_up(bench, kind, &collection, "C7", FEW).await?);
        pages = bench.items(kind, &collection, 1, cursor).await?;
    }
    let first = pages.first().is_some_and(|page| page.sources.enumeration);
    let other = pages.iter().position(|page| page.sources.enumeration != first);
    ensure(
        other.is_none(),
        || {
            let (number, count) = (other.unwrap_or_default() + 1, pages.len());
            format!(
                "of {count} pages of changes, page 1 says enumeration: {first}, and page {number} {}",
                !first
            )
        },
        HELP,
    )?;
    let sources: Vec<&str> = pages
        .iter()
        .flat_map(|page| &page.sources.sources)
        .map(|source| source.external_id.as_str())
        .collect();
    for id in &ids {
        let times = sources.iter().filter(|source| *source == id).count();
        ensure(
            times == 1,
            || format!("the new {} \"{id}\" is on {times} of {} pages of changes", kind.item, pages.len()),
            ONCE,
        )?;
    }
    Ok(())
}

/// `C8`: changes of a collection that does not exist are not found.
pub async fn unknown_collection(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "a collection that the provider does not know is failure not-found (Context::send_ok). An empty enumeration would delete everything that the host has of it";
    bench.needs_surface(kind)?;
    let unknown = Collection { id: "swkit-is-not-there".to_owned(), body: json!({}) };
    let seen = match bench.page_of(kind, &unknown, 0, None).await {
        Err(error) if error.code == Code::NotFound => return Ok(()),
        Err(error) if error.code == Code::Unsupported => {
            return Err(Verdict::NotApplicable(format!("{} is unsupported", kind.changes_op)));
        }
        Err(error) => describe_error(&error),
        Ok(page) => {
            let (count, enumeration) = (page.sources.sources.len(), page.sources.enumeration);
            format!("a page of {count} sources with enumeration: {enumeration}")
        }
    };
    failed(format!("{} of a {} that does not exist gives {seen}", kind.changes_op, kind.collection), HELP)
}

/// `C9`: a change is not reported again from the cursor after it.
pub async fn not_again(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "the last page of changes has a new cursor, behind everything that this walk reported: with the old one the host reads the same changes for ever";
    let collection = bench.collection(kind).await?;
    let changed = bench.create_named(kind, &collection, "C9-changed").await?;
    let gone = bench.create_named(kind, &collection, "C9-gone").await?.external_id;
    let cursor = now(bench, kind, &collection).await?;
    bench.create_named(kind, &collection, "C9-new").await?;
    let change = ItemChange::update(&changed, &kind.renamed(&kind.label("C9-after")));
    let done = bench.try_write_item(kind, &collection, change, &kind.key("C9-after")).await;
    optional(done, kind.update_op)?;
    let done = bench.try_delete_item(kind, &collection, &gone, &kind.key("C9-delete")).await;
    optional(done, kind.delete_op)?;
    let pages = bench.items(kind, &collection, 0, cursor).await?;
    ensure_differences(&pages)?;
    let next = pages.last().and_then(|page| page.cursor.clone());
    ensure(next.is_some(), || "the last page of changes has no cursor".to_owned(), HELP)?;
    bench.later(1_000);
    let again = bench.items(kind, &collection, 0, next.clone()).await?;
    let count: usize = again.iter().map(|page| page.sources.sources.len()).sum();
    ensure(
        count == 0,
        || {
            format!(
                "{count} sources are reported again from {}, the last cursor of the walk that reported them",
                at(next.as_deref())
            )
        },
        HELP,
    )
}
