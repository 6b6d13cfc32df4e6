//! Changes since a cursor.

use model::tasks::Task;
use model::wire::{ChangesRequest, Source};
use runtime::{Code, Surface, Verb};

use crate::bench::{Bench, Outcome, at, body, describe_error, ensure, failed, must, report_text};
use crate::cases::items::changes::{ensure_differences, is_enumeration};
use crate::line::Fault;

const STATE: &str = "changes reports each item once, as it is now: the last state of everything that changed after the cursor";
const QUIET: &str = "where nothing has changed, answer with no sources and a cursor to go on from";

/// The changes since a cursor, in the order in which they are reported.
async fn since(bench: &mut Bench, list: &str, cursor: Option<String>) -> Outcome<Vec<Source>> {
    let pages = bench.tasks(list, 0, cursor).await?;
    Ok(pages.into_iter().flat_map(|page| page.sources.sources).collect())
}

/// Returns the cursor after all changes so far.
async fn now(bench: &mut Bench, list: &str) -> Outcome<Option<String>> {
    let pages = bench.tasks(list, 0, None).await?;
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

/// Returns how often an id is reported, and its last source.
fn of_id<'a>(sources: &'a [Source], id: &str) -> (usize, Option<&'a Source>) {
    let mut found = sources.iter().filter(|source| source.external_id == id);
    let times = found.clone().count();
    (times, found.next_back())
}

fn title(source: Option<&Source>) -> Option<String> {
    source.filter(|source| !source.deleted).and_then(body::<Task>).map(|task| task.title)
}

async fn created_id(bench: &mut Bench, list: &str, title: &str) -> Outcome<String> {
    let made = bench.create(list, title, &format!("kit-{title}")).await?;
    match made.item.or_else(|| made.sources.first().map(|source| source.external_id.clone())) {
        Some(id) => Ok(id),
        None => failed("the answer of tasks.create names no task", "Mutated.item is the id of the new item"),
    }
}

pub async fn created(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let cursor = now(bench, &list).await?;
    let id = created_id(bench, &list, "swkit-C1").await?;
    let sources = since(bench, &list, cursor.clone()).await?;
    let (times, last) = of_id(&sources, &id);
    let title = title(last);
    ensure(
        times == 1 && title.as_deref() == Some("swkit-C1"),
        || {
            format!(
                "from {} the new task is {}; there are {} sources",
                at(cursor.as_deref()),
                report_text(times, title.as_deref()),
                sources.len()
            )
        },
        STATE,
    )
}

pub async fn updated(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let id = created_id(bench, &list, "swkit-C2").await?;
    let cursor = now(bench, &list).await?;
    let change = Task { title: "swkit-C2-after".into(), ..Task::default() };
    must(bench.update(&list, (&id, None), change, &["title"], "kit-C2-after").await, "tasks.update")?;
    let sources = since(bench, &list, cursor).await?;
    let (times, last) = of_id(&sources, &id);
    let title = title(last);
    ensure(
        times == 1 && title.as_deref() == Some("swkit-C2-after"),
        || format!("the changed task is {}", report_text(times, title.as_deref())),
        STATE,
    )
}

pub async fn deleted(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let id = created_id(bench, &list, "swkit-C3").await?;
    let cursor = now(bench, &list).await?;
    must(bench.delete(&list, &id, "kit-C3-delete").await, "tasks.delete")?;
    let pages = bench.tasks(&list, 0, cursor).await?;
    let is_everything = is_enumeration(&pages);
    let sources: Vec<Source> = pages.into_iter().flat_map(|page| page.sources.sources).collect();
    let (times, last) = of_id(&sources, &id);
    ensure(
        times == 1 && last.is_some_and(|source| source.deleted) || times == 0 && is_everything,
        || match times {
            0 => "the deleted task is not reported, and the pages say enumeration: false".to_owned(),
            _ => {
                let as_what = if last.is_some_and(|source| source.deleted) { "deleted" } else { "existing" };
                format!("the deleted task is reported {times} times, the last time as {as_what}")
            }
        },
        "a deleted item is a source with deleted: true, once; where the provider does not list deletions, report everything that there is, with enumeration: true on every page",
    )
}

/// Several changes of one item in one window.
pub async fn last_state(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let cursor = now(bench, &list).await?;
    let kept = created_id(bench, &list, "swkit-C4-kept").await?;
    let gone = created_id(bench, &list, "swkit-C4-gone").await?;
    for (id, title, key) in [(&kept, "swkit-C4-kept-after", "1"), (&gone, "swkit-C4-gone-after", "2")] {
        let change = Task { title: title.into(), ..Task::default() };
        let key = format!("kit-C4-{key}");
        must(bench.update(&list, (id, None), change, &["title"], &key).await, "tasks.update")?;
    }
    must(bench.delete(&list, &gone, "kit-C4-delete").await, "tasks.delete")?;
    let sources = since(bench, &list, cursor).await?;
    let kept = title(of_id(&sources, &kept).1);
    ensure(
        kept.as_deref() == Some("swkit-C4-kept-after"),
        || {
            let kept = kept.as_deref().unwrap_or_default();
            format!("a task that was created and changed ends with the title \"{kept}\"")
        },
        STATE,
    )?;
    let (times, last) = of_id(&sources, &gone);
    ensure(
        times == 0 || last.is_some_and(|source| source.deleted),
        || "a task that was created, changed and deleted ends as existing".to_owned(),
        STATE,
    )
}

pub async fn expired(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let cursor = now(bench, &list).await?;
    let args = ChangesRequest { collection: Some(list), ..ChangesRequest::default() };
    bench.line.spoil_all(Fault::Answer(410, Vec::new(), "{}"));
    let page = bench.calls.page((Surface::Tasks, Verb::Changes, "tasks"), &args, cursor.as_deref()).await;
    bench.line.mend();
    const HELP: &str = "a token that the provider has forgotten is failure cursor-expired: the host then reads everything again";
    match page {
        Err(error) if error.code == Code::CursorExpired => Ok(()),
        Err(error) => failed(format!("changes fails after a 410 with {}", describe_error(&error)), HELP),
        Ok(_) => failed("the provider answered 410, and changes returned a page", HELP),
    }
}

pub async fn quiet(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let mut cursor = now(bench, &list).await?;
    for _ in 0..2 {
        let pages = bench.tasks(&list, 0, cursor.clone()).await?;
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
