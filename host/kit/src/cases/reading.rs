//! One task by its id.

use model::tasks::Task;
use runtime::Code;
use serde_json::Value;

use crate::bench::{Bench, Outcome, body, describe_error, ensure, ensure_valid, failed, must};

pub async fn get(bench: &mut Bench) -> Outcome {
    let list = bench.filled("R1", 2).await?;
    let pages = bench.tasks(&list, 0, None).await?;
    let sources = pages.iter().flat_map(|page| &page.sources.sources);
    for source in sources.filter(|source| !source.deleted && source.error.is_none()).take(5) {
        let read = must(bench.get(&list, &source.external_id).await, "tasks.get")?;
        ensure_valid("tasks.get", &read.sources)?;
        let [read] = read.sources.as_slice() else {
            return failed(
                format!("tasks.get answers with {} sources", read.sources.len()),
                "tasks.get answers with one source: the one of that id",
            );
        };
        let (listed, read_task) = (body::<Task>(source), body::<Task>(read));
        ensure(
            read.external_id == source.external_id && listed.is_some() && listed == read_task,
            || {
                let (listed, found) = (body::<Value>(source), body::<Value>(read));
                let (listed, found) = (listed.unwrap_or_default(), found.unwrap_or_default());
                format!("\"{}\" is {listed} in the list, and {found} from tasks.get", source.external_id)
            },
            "use one mapping for lists and for single items",
        )?;
    }
    Ok(())
}

pub async fn missing(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    match bench.get(&list, "swkit-is-not-there").await {
        Err(error) if error.code == Code::NotFound => Ok(()),
        Ok(sources) if sources.sources.iter().all(|source| source.deleted) && !sources.sources.is_empty() => {
            Ok(())
        }
        Ok(sources) => failed(
            format!("tasks.get of an unknown id answers with {} sources", sources.sources.len()),
            "answer with failure not-found: an empty answer looks like a task without content",
        ),
        Err(error) => failed(
            format!("tasks.get of an unknown id fails: {}", describe_error(&error)),
            "the provider's 404 is failure not-found; Context::send_ok does it",
        ),
    }
}

pub async fn deleted(bench: &mut Bench) -> Outcome {
    let list = bench.list().await?;
    let made = bench.create(&list, "swkit-R3", "kit-R3").await?;
    let Some(id) = made.item.or_else(|| made.sources.first().map(|source| source.external_id.clone())) else {
        return failed("the answer of tasks.create names no task", "Mutated.item is the id of the new item");
    };
    must(bench.delete(&list, &id, "kit-R3-delete").await, "tasks.delete")?;
    match bench.get(&list, &id).await {
        Err(error) if error.code == Code::NotFound => Ok(()),
        Ok(sources) if sources.sources.iter().all(|source| source.deleted) && !sources.sources.is_empty() => {
            Ok(())
        }
        Ok(_) => failed(
            "a deleted task can still be read",
            "a deleted item is failure not-found, or a source with deleted: true",
        ),
        Err(error) => failed(
            format!("tasks.get of a deleted task fails: {}", describe_error(&error)),
            "a deleted item is failure not-found, or a source with deleted: true",
        ),
    }
}
