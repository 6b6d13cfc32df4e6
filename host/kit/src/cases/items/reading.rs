//! One item by its id.

use runtime::Code;
use serde_json::Value;

use crate::bench::{Bench, Outcome, Verdict, body, describe_error, ensure, ensure_valid, failed};
use crate::surface_bench::{ItemKind, supported};

/// Items that are read by their ids.
const READ: usize = 5;

/// `R1`: an item read by its id is the one in the list.
pub async fn get(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.fill(kind, "R1", 2).await?;
    let pages = bench.items(kind, &collection, 0, None).await?;
    let sources = pages.iter().flat_map(|page| &page.sources.sources).filter(|source| kind.is_record(source));
    for source in sources.filter(|source| !source.deleted && source.error.is_none()).take(READ) {
        let id = &source.external_id;
        let read = supported(bench.get_item(kind, &collection, id).await, kind.get_op)?;
        ensure_valid(kind.get_op, &read.sources)?;
        let [read] = read.sources.as_slice() else {
            return failed(
                format!("{} answers with {} sources", kind.get_op, read.sources.len()),
                "a read by id answers with one source: the one of that id",
            );
        };
        let (listed, found) = (body::<Value>(source), body::<Value>(read));
        ensure(
            read.external_id == *id && read.items.len() == source.items.len() && listed == found,
            || {
                let (listed, found) = (listed.unwrap_or_default(), found.unwrap_or_default());
                format!("\"{id}\" is {listed} in the list, and {found} from {}", kind.get_op)
            },
            "use one mapping for lists and for single items",
        )?;
    }
    Ok(())
}

/// `R2`: an unknown id is not found.
pub async fn missing(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    match bench.get_item(kind, &collection, "swkit-is-not-there").await {
        Err(error) if error.code == Code::NotFound => Ok(()),
        Ok(sources) if kind.is_unknown(&sources) => Ok(()),
        Ok(sources) => failed(
            format!("{} of an unknown id answers with {} sources", kind.get_op, sources.sources.len()),
            "answer with failure not-found: an empty answer looks like an item without content",
        ),
        Err(error) if error.code == Code::Unsupported => {
            Err(Verdict::NotApplicable(format!("{} is unsupported", kind.get_op)))
        }
        Err(error) => failed(
            format!("{} of an unknown id fails: {}", kind.get_op, describe_error(&error)),
            "the provider's 404 is failure not-found; Context::send_ok does it",
        ),
    }
}

/// `R3`: a deleted item is gone.
pub async fn deleted(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "a deleted item is failure not-found, or a source with deleted: true";
    let collection = bench.collection(kind).await?;
    let made = bench.create_named(kind, &collection, "R3").await?;
    let id = made.external_id;
    let gone = bench.try_delete_item(kind, &collection, &id, &kind.key("R3-delete")).await;
    supported(gone, kind.delete_op)?;
    match bench.get_item(kind, &collection, &id).await {
        Err(error) if error.code == Code::NotFound => Ok(()),
        Ok(sources) if kind.is_gone(&sources) => Ok(()),
        Ok(_) => failed(format!("a deleted {} can still be read", kind.item), HELP),
        Err(error) => failed(
            format!("{} of a deleted {} fails: {}", kind.get_op, kind.item, describe_error(&error)),
            HELP,
        ),
    }
}
