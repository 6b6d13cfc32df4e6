//! What has changed since a cursor.

use model::wire::Source;

use crate::bench::{Bench, Outcome, at, ensure};
use crate::surface_bench::{Collection, ItemKind, supported};

const STATE: &str =
    "changes tells each item once, as it is now: the last state of everything that changed after the cursor";
const QUIET: &str = "where nothing has changed, a page without sources and with a cursor from which to go on";
const GONE: &str = "what is gone is told as a source with deleted: true; a provider that does not tell it needs a whole enumeration";

/// What changed since a cursor, in the order in which it is told.
async fn since(
    bench: &mut Bench,
    kind: &ItemKind,
    collection: &Collection,
    cursor: Option<String>,
) -> Outcome<Vec<Source>> {
    let pages = bench.items(kind, collection, 0, cursor).await?;
    Ok(pages.into_iter().flat_map(|page| page.sources.sources).collect())
}

/// Where the changes begin that are made from now on.
async fn now(bench: &mut Bench, kind: &ItemKind, collection: &Collection) -> Outcome<Option<String>> {
    let pages = bench.items(kind, collection, 0, None).await?;
    let cursor = pages.last().and_then(|page| page.cursor.clone());
    ensure(
        cursor.is_some(),
        || "the last page of a walk has no cursor".to_owned(),
        "the last page's cursor is where the next changes begin",
    )?;
    // For providers that know changes by the second.
    bench.later(1_000);
    Ok(cursor)
}

/// How often an id is told, and the last time as what.
fn of_id<'a>(sources: &'a [Source], id: &str) -> (usize, Option<&'a Source>) {
    let mut found = sources.iter().filter(|source| source.external_id == id);
    let times = found.clone().count();
    (times, found.next_back())
}

/// The name of an item that is there.
fn name(kind: &ItemKind, source: Option<&Source>) -> Option<String> {
    source.filter(|source| !source.deleted).and_then(|source| kind.name_of(source))
}

/// `C1`: what was created is told once from the cursor before it.
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
                "from {} the new {} is told {times} times, as {seen:?}; {} sources are told",
                at(cursor.as_deref()),
                kind.item,
                sources.len()
            )
        },
        STATE,
    )
}

/// `C2`: what was changed is told once, as it is now.
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
        || format!("the changed {} is told {times} times, as {seen:?}", kind.item),
        STATE,
    )
}

/// `C3`: what was deleted is told as gone.
pub async fn deleted(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let id = bench.create_named(kind, &collection, "C3").await?.external_id;
    let cursor = now(bench, kind, &collection).await?;
    let gone = bench.try_delete_item(kind, &collection, &id, &kind.key("C3-delete")).await;
    supported(gone, kind.delete_op)?;
    let sources = since(bench, kind, &collection, cursor).await?;
    let (times, last) = of_id(&sources, &id);
    let is_deleted = last.is_some_and(|source| source.deleted);
    ensure(
        times == 1 && is_deleted,
        || {
            let as_what = if is_deleted { "deleted" } else { "being there" };
            format!("the deleted {} is told {times} times, as {as_what}", kind.item)
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
        || format!("a {} that was made and changed is told {times} times, and ends as {seen:?}", kind.item),
        STATE,
    )?;
    let (times, last) = of_id(&sources, &gone.external_id);
    ensure(
        times == 0 || last.is_some_and(|source| source.deleted),
        || format!("a {} that was made, changed and deleted ends as being there", kind.item),
        STATE,
    )
}

/// `C6`: where nothing has changed, nothing is told.
pub async fn quiet(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let mut cursor = now(bench, kind, &collection).await?;
    for _ in 0..2 {
        let pages = bench.items(kind, &collection, 0, cursor.clone()).await?;
        let count: usize = pages.iter().map(|page| page.sources.sources.len()).sum();
        ensure(
            count == 0,
            || format!("from {} {count} sources are told, and nothing has changed", at(cursor.as_deref())),
            QUIET,
        )?;
        let last = pages.last().and_then(|page| page.cursor.clone());
        ensure(last.is_some(), || "a page without changes has no cursor".to_owned(), QUIET)?;
        cursor = last;
    }
    Ok(())
}
