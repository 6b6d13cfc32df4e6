//! Paged listings of a task list.

use std::collections::HashSet;

use model::wire::ChangesRequest;
use runtime::{Code, Surface, Verb};

use crate::bench::{Bench, Outcome, at, describe_error, ensure, failed, must, titles};
use crate::caller::Page;
use crate::cases::items::paging::FOREIGN_CURSORS;

/// Tasks of a page, and the minimum number of tasks.
const LIMIT: u32 = 2;
const TASKS: usize = 5;

pub async fn pages(bench: &mut Bench) -> Outcome {
    let list = bench.filled("P1", TASKS).await?;
    let pages = bench.tasks(&list, LIMIT, None).await?;
    let mut seen = HashSet::new();
    for source in pages.iter().flat_map(|page| &page.sources.sources) {
        ensure(
            seen.insert(&source.external_id),
            || format!("\"{}\" is on two pages of one walk", source.external_id),
            "each page begins behind the last item of the page before",
        )?;
    }
    let told = titles(&pages);
    for n in 0..TASKS {
        let title = format!("swkit-P1-{n}");
        ensure(
            told.contains(&title),
            || {
                format!(
                    "the task \"{title}\" is on no page; there are {} tasks on {} pages",
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
    )?;
    let last = pages.last().and_then(|page| page.cursor.as_deref());
    ensure(
        last.is_some(),
        || "the last page has no cursor".to_owned(),
        "the last page has a cursor: the next changes begin there",
    )
}

pub async fn foreign_cursor(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let args = ChangesRequest { collection: Some(list), ..ChangesRequest::default() };
    let of = (Surface::Tasks, Verb::Changes, "tasks");
    for cursor in FOREIGN_CURSORS {
        match bench.calls.page(of, &args, Some(cursor)).await {
            Err(error) if error.code == Code::CursorExpired => {}
            other => {
                let seen = other.map_or_else(
                    |error| describe_error(&error),
                    |page| format!("a page with {}", at(page.cursor.as_deref())),
                );
                return failed(
                    format!("a walk from {} gives {seen}", at(Some(cursor))),
                    "answer an unknown cursor with failure cursor-expired: after an update or a rollback the host then starts over",
                );
            }
        }
    }
    Ok(())
}

pub async fn again(bench: &mut Bench) -> Outcome {
    let list = bench.filled("P2", TASKS).await?;
    let pages = bench.tasks(&list, LIMIT, None).await?;
    let args = ChangesRequest { collection: Some(list), limit: LIMIT, ..ChangesRequest::default() };
    let of = (Surface::Tasks, Verb::Changes, "tasks");
    let told = |page: &Page| -> Vec<(String, Option<String>)> {
        page.sources.sources.iter().map(|source| (source.external_id.clone(), source.etag.clone())).collect()
    };
    for pair in pages.windows(2) {
        let [before, page] = pair else { continue };
        let again = must(bench.calls.page(of, &args, before.cursor.as_deref()).await, "the same page again")?;
        ensure(
            told(page) == told(&again),
            || format!("the page from {} is different the second time", at(before.cursor.as_deref())),
            "keep the whole position in the cursor: the host may request a page again after a crash",
        )?;
    }
    Ok(())
}

pub async fn any_limit(bench: &mut Bench) -> Outcome {
    let list = bench.filled("P3", TASKS).await?;
    let mut seen = Vec::new();
    for limit in [1, 0, 100_000] {
        let mut titles = titles(&bench.tasks(&list, limit, None).await?);
        titles.sort();
        seen.push(titles);
    }
    let [one, none, many] = seen.as_slice() else { return Ok(()) };
    ensure(
        one == none && none == many,
        || {
            let counts: Vec<String> = seen.iter().map(|titles| titles.len().to_string()).collect();
            format!("with the limits 1, 0 and 100,000 a walk has {} tasks", counts.join(", "))
        },
        "limit is a hint: choose one yourself for 0, and never request more than the provider allows",
    )
}
