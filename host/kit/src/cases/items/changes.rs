//! Changes since a cursor.

use model::wire::Source;

use crate::bench::{Bench, Outcome, Verdict, at, ensure, report_text};
use crate::caller::Page;
use crate::surface_bench::{Collection, ItemKind, supported};

const STATE: &str = "changes reports each item once, as it is now: the last state of everything that changed after the cursor";
const QUIET: &str = "where nothing has changed, answer with no sources and a cursor to go on from";
const GONE: &str = "a deleted item is a source with deleted: true, once; where the provider does not list deletions, report everything that there is, with enumeration: true on every page";

/// The changes since a cursor, in the order in which they are reported.
async fn since(
    bench: &mut Bench,
    kind: &ItemKind,
    collection: &Collection,
    cursor: Option<String>,
) -> Outcome<Vec<Source>> {
    let pages = bench.items(kind, collection, 0, cursor).await?;
    Ok(pages.into_iter().flat_map(|page| page.sources.sources).collect())
}

/// Returns the cursor after all changes so far.
pub async fn now(bench: &mut Bench, kind: &ItemKind, collection: &Collection) -> Outcome<Option<String>> {
    let pages = bench.items(kind, collection, 0, None).await?;
    let cursor = pages.last().and_then(|page| page.cursor.clone());
    ensure(
        cursor.is_some(),
        || "the last page of a walk has no cursor".to_owned(),
        "the last page's cursor is where the next changes begin",
    )?;
    // Some providers compare times of changes in seconds.
    bench.later(1_000);
    Ok(cursor)
}

/// Returns whether all pages of a walk are an enumeration: a provider without changes is read whole each time.
pub fn is_enumeration(pages: &[Page]) -> bool {
    pages.iter().all(|page| page.sources.enumeration)
}

/// Ends the case if a walk from a cursor is an enumeration.
pub fn ensure_differences(pages: &[Page]) -> Outcome {
    match is_enumeration(pages) {
        true => Err(Verdict::NotApplicable("the connector reports everything each time".to_owned())),
        false => Ok(()),
    }
}

/// Returns how often an id is reported, and its last source.
fn of_id<'a>(sources: &'a [Source], id: &str) -> (usize, Option<&'a Source>) {
    let mut found = sources.iter().filter(|source| source.external_id == id);
    let times = found.clone().count();
    (times, found.next_back())
}

/// Returns the name of an item, unless it is deleted.
fn name(kind: &ItemKind, source: Option<&Source>) -> Option<String> {
    source.filter(|source| !source.deleted).and_then(|source| kind.name_of(source))
}

/// `C1`: a new item is reported once from the cursor before it.
pub async fn created(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let cursor = now(bench, kind, &collection).await?;
    let id = bench.create_named(kind, &collection, "C1").await?.external_id;
    let sources = since(bench, kind, &collection, cursor.clone()).await?;
    let (times, last) = of_id(&sources, &id);
    let seen = name(kind, last);
    ensure(
        times == 1 && seen == Some(kind.label("C1")),
        || {
            format!(
                "from {} the new {} is {}; there are {} sources",
                at(cursor.as_deref()),
                kind.item,
                report_text(times, seen.as_deref()),
                sources.len()
            )
        },
        STATE,
    )
}

/// `C2`: a changed item is reported once, as it is now.
pub async fn updated(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let source = bench.create_named(kind, &collection, "C2").await?;
    let cursor = now(bench, kind, &collection).await?;
    let after = kind.label("C2-after");
    bench.update_item(kind, &collection, &source, &kind.renamed(&after), &kind.key("C2-after")).await?;
    let sources = since(bench, kind, &collection, cursor).await?;
    let (times, last) = of_id(&sources, &source.external_id);
    let seen = name(kind, last);
    ensure(
        times == 1 && seen == Some(after),
        || format!("the changed {} is {}", kind.item, report_text(times, seen.as_deref())),
        STATE,
    )
}

/// `C3`: a deleted item is reported once, as deleted.
pub async fn deleted(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let id = bench.create_named(kind, &collection, "C3").await?.external_id;
    let cursor = now(bench, kind, &collection).await?;
    let gone = bench.try_delete_item(kind, &collection, &id, &kind.key("C3-delete")).await;
    supported(gone, kind.delete_op)?;
    let pages = bench.items(kind, &collection, 0, cursor).await?;
    let is_everything = is_enumeration(&pages);
    let sources: Vec<Source> = pages.into_iter().flat_map(|page| page.sources.sources).collect();
    let (times, last) = of_id(&sources, &id);
    let is_deleted = last.is_some_and(|source| source.deleted);
    ensure(
        times == 1 && is_deleted || times == 0 && is_everything,
        || match times {
            0 => format!("the deleted {} is not reported, and the pages say enumeration: false", kind.item),
            _ => {
                let as_what = if is_deleted { "deleted" } else { "existing" };
                format!("the deleted {} is reported {times} times, the last time as {as_what}", kind.item)
            }
        },
        GONE,
    )
}

/// `C4`: several changes in one window end in the last state.
pub async fn last_state(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let cursor = now(bench, kind, &collection).await?;
    let kept = bench.create_named(kind, &collection, "C4-kept").await?;
    let gone = bench.create_named(kind, &collection, "C4-gone").await?;
    for (source, of) in [(&kept, "C4-kept-after"), (&gone, "C4-gone-after")] {
        bench.update_item(kind, &collection, source, &kind.renamed(&kind.label(of)), &kind.key(of)).await?;
    }
    let deleted = bench.try_delete_item(kind, &collection, &gone.external_id, &kind.key("C4-delete")).await;
    supported(deleted, kind.delete_op)?;
    let sources = since(bench, kind, &collection, cursor).await?;
    let (times, last) = of_id(&sources, &kept.external_id);
    let seen = name(kind, last);
    ensure(
        times == 1 && seen == Some(kind.label("C4-kept-after")),
        || {
            let seen = report_text(times, seen.as_deref());
            format!("a {} that was created and changed is {seen}", kind.item)
        },
        STATE,
    )?;
    let (times, last) = of_id(&sources, &gone.external_id);
    ensure(
        times == 0 || last.is_some_and(|source| source.deleted),
        || format!("a {} that was created, changed and deleted ends as existing", kind.item),
        STATE,
    )
}

/// `C6`: where nothing has changed, nothing is reported.
pub async fn quiet(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let mut cursor = now(bench, kind, &collection).await?;
    for _ in 0..2 {
        let pages = bench.items(kind, &collection, 0, cursor.clone()).await?;
        ensure_differences(&pages)?;
        let count: usize = pages.iter().map(|page| page.sources.sources.len()).sum();
        ensure(
            count == 0,
            || {
                format!(
                    "from {} {count} sources are reported, and nothing has changed",
                    at(cursor.as_deref())
                )
            },
            QUIET,
        )?;
        let last = pages.last().and_then(|page| page.cursor.clone());
        ensure(last.is_some(), || "a page without changes has no cursor".to_owned(), QUIET)?;
        cursor = last;
    }
    Ok(())
}
