//! Paged listings of a collection.

use std::collections::HashSet;

use runtime::Code;

use crate::bench::{Bench, Outcome, at, describe_error, ensure, failed, must};
use crate::caller::Page;
use crate::surface_bench::ItemKind;

/// Items of a page, and the minimum number of items.
const LIMIT: u32 = 2;
const ITEMS: usize = 5;

/// Cursors that a connector which prefixes its version never makes.
pub const FOREIGN_CURSORS: [&str; 5] = ["", "v0;page;1", "swkit", "2", "\u{1f512}"];

const LAST: &str = "the last page says more: false, and has the cursor from which the next changes are read";

/// `P1`: the pages together contain every item exactly once.
pub async fn pages(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.fill(kind, "P1", ITEMS).await?;
    let pages = bench.items(kind, &collection, LIMIT, None).await?;
    let mut seen = HashSet::new();
    for source in pages.iter().flat_map(|page| &page.sources.sources) {
        ensure(
            seen.insert(&source.external_id),
            || format!("\"{}\" is on two pages of one walk", source.external_id),
            "each page begins behind the last item of the page before",
        )?;
    }
    let told = kind.names(&pages);
    for n in 0..ITEMS {
        let name = kind.label(&format!("P1-{n}"));
        ensure(
            told.contains(&name),
            || {
                format!(
                    "the {} \"{name}\" is on no page; there are {} on {} pages",
                    kind.item,
                    told.len(),
                    pages.len()
                )
            },
            "a walk without a cursor reports everything: check where a page begins, and the last page",
        )?;
    }
    ensure(
        pages.iter().all(|page| page.sources.enumeration),
        || "a page of a walk over everything says enumeration: false".to_owned(),
        "all pages since the call without a cursor are an enumeration: the host deletes what they do not name",
    )
}

/// `P2`: a page can be requested again.
pub async fn again(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.fill(kind, "P2", ITEMS).await?;
    let pages = bench.items(kind, &collection, LIMIT, None).await?;
    let told = |page: &Page| -> Vec<(String, Option<String>)> {
        page.sources.sources.iter().map(|source| (source.external_id.clone(), source.etag.clone())).collect()
    };
    for pair in pages.windows(2) {
        let [before, page] = pair else { continue };
        let again = bench.page_of(kind, &collection, LIMIT, before.cursor.as_deref()).await;
        let again = must(again, "the same page again")?;
        ensure(
            told(page) == told(&again),
            || format!("the page from {} is different the second time", at(before.cursor.as_deref())),
            "keep the whole position in the cursor: the host may request a page again after a crash",
        )?;
    }
    Ok(())
}

/// `P3`: any limit works.
pub async fn any_limit(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.fill(kind, "P3", ITEMS).await?;
    let mut seen = Vec::new();
    for limit in [1, 0, 100_000] {
        let mut names = kind.names(&bench.items(kind, &collection, limit, None).await?);
        names.sort();
        seen.push(names);
    }
    ensure(
        seen.windows(2).all(|pair| pair[0] == pair[1]),
        || {
            let counts: Vec<String> = seen.iter().map(|names| names.len().to_string()).collect();
            format!("with the limits 1, 0 and 100,000 a walk has {} {}s", counts.join(", "), kind.item)
        },
        "limit is a hint: choose one yourself for 0, and never request more than the provider allows",
    )
}

/// `P4`: the last page ends the walk, and changes begin at its cursor.
pub async fn end(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.fill(kind, "P4", 1).await?;
    let pages = bench.items(kind, &collection, LIMIT, None).await?;
    let cursor = pages.last().and_then(|page| page.cursor.clone());
    ensure(cursor.is_some(), || "the last page of a walk has no cursor".to_owned(), LAST)?;
    match bench.page_of(kind, &collection, LIMIT, cursor.as_deref()).await {
        Ok(page) => ensure(
            page.cursor.is_some(),
            || format!("the changes from {} have no cursor", at(cursor.as_deref())),
            LAST,
        ),
        Err(error) => failed(
            format!("the changes from {} fail: {}", at(cursor.as_deref()), describe_error(&error)),
            LAST,
        ),
    }
}

/// `P5`: a cursor that is not of this version starts over.
pub async fn foreign_cursor(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    for cursor in FOREIGN_CURSORS {
        match bench.page_of(kind, &collection, 0, Some(cursor)).await {
            Err(error) if error.code == Code::CursorExpired => {}
            other => {
                let seen = other.map_or_else(
                    |error| describe_error(&error),
                    |page| format!("a page with {}", at(page.cursor.as_deref())),
                );
                return failed(
                    format!("a walk from {} gives {seen}", at(Some(cursor))),
                    "answer a cursor that you or the provider cannot read with failure cursor-expired: after an update or a rollback the host then starts over",
                );
            }
        }
    }
    Ok(())
}
