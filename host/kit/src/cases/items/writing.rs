//! Changes at the provider.

use runtime::Code;
use serde_json::Value;

use crate::bench::{Bench, Outcome, Verdict, describe_error, ensure, failed, must};
use crate::line::Fault;
use crate::surface_bench::{Collection, ItemChange, ItemKind, supported, written_source};

const ONCE: &str = "make the provider's id of a new item from the idempotency key, or pass the key on: a repeated attempt must find the item of the first";

/// Returns the creation of this case, the same each time.
fn creation(kind: &ItemKind, of: &str) -> ItemChange {
    ItemChange::create((kind.body)(&kind.label(of)))
}

/// Returns the number of items of this case's name in the collection.
async fn count(bench: &mut Bench, kind: &ItemKind, collection: &Collection, of: &str) -> Outcome<usize> {
    let (pages, name) = (bench.items(kind, collection, 0, None).await?, kind.label(of));
    Ok(kind.names(&pages).iter().filter(|seen| **seen == name).count())
}

/// `W1`: the same creation twice makes one item.
pub async fn idempotent(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let key = kind.key("W1");
    let first = bench.create_named(kind, &collection, "W1").await?;
    let again = bench.try_write_item(kind, &collection, creation(kind, "W1"), &key).await;
    let again = written_source(&must(again, "the same creation again")?)?;
    let times = count(bench, kind, &collection, "W1").await?;
    ensure(times == 1, || format!("one creation, sent twice, has made {times} {}s", kind.item), ONCE)?;
    let (one, other) = (first.external_id, again.external_id);
    ensure(one == other, || format!("the answer names \"{one}\", then \"{other}\""), ONCE)
}

/// `W2`: a creation whose answer is lost makes one item.
pub async fn lost_answer(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    // Ends the case if the connector cannot write.
    bench.create_named(kind, &collection, "W2-before").await?;
    let key = kind.key("W2");
    bench.line.spoil_next_write(Fault::DropAfter);
    let lost = bench.try_write_item(kind, &collection, creation(kind, "W2"), &key).await;
    bench.line.mend();
    if let Err(error) = lost {
        ensure(
            error.is_transient(),
            || format!("a lost answer becomes {}", describe_error(&error)),
            "the provider may have acted or not: failure unavailable or timeout, so that the host tries again",
        )?;
    }
    let again = bench.try_write_item(kind, &collection, creation(kind, "W2"), &key).await;
    must(again, "a creation after its answer was lost")?;
    let times = count(bench, kind, &collection, "W2").await?;
    ensure(
        times == 1,
        || format!("a creation whose answer was lost, sent again, has made {times} {}s", kind.item),
        ONCE,
    )
}

/// `W3`: a change keeps the fields that it does not name.
pub async fn keeps_the_rest(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str =
        "write the fields that `changed` names, and no others: the rest keeps the provider's bytes";
    let collection = bench.collection(kind).await?;
    let source = bench.create_named(kind, &collection, "W3").await?;
    let before = bench.read_body(kind, &collection, &source.external_id).await?;
    let name = kind.label("W3-after");
    // The change has and names the name only: a connector that writes other fields empties them.
    let change = ItemChange {
        source: Some(source.external_id.clone()),
        body: with_times(kind.renamed(&name), &before),
        changed: vec![kind.name.to_owned()],
        if_match: None,
    };
    let changed = bench.try_write_item(kind, &collection, change, &kind.key("W3-after")).await;
    supported(changed, kind.update_op)?;
    let after = bench.read_body(kind, &collection, &source.external_id).await?;
    ensure(
        after[kind.name] == name.as_str(),
        || format!("the {} is {} after it was changed", kind.name, after[kind.name]),
        HELP,
    )?;
    let fields = (kind.body)("");
    let fields = fields.as_object().into_iter().flat_map(|fields| fields.keys());
    let differ: Vec<String> = fields
        .filter(|field| *field != kind.name && before[field.as_str()] != after[field.as_str()])
        .map(|field| format!("{field} was {}, and is {}", before[field.as_str()], after[field.as_str()]))
        .collect();
    ensure(
        differ.is_empty(),
        || format!("a change of the {} also changed: {}", kind.name, differ.join("; ")),
        HELP,
    )
}

/// Adds the times of an event to the fields: the model requires them.
pub fn with_times(mut fields: Value, event: &Value) -> Value {
    for field in ["start", "end", "timeZone", "allDay"] {
        if !event[field].is_null() {
            fields[field] = event[field].clone();
        }
    }
    fields
}

/// `W4`: a change of an older version is rejected.
pub async fn stale_etag(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "send ifMatch with the change (If-Match); the provider's 412 is failure conflict. Otherwise two people overwrite each other";
    let collection = bench.collection(kind).await?;
    let source = bench.create_named(kind, &collection, "W4").await?;
    let source = bench.read_item(kind, &collection, &source.external_id).await?;
    let Some(etag) = source.etag.clone() else {
        return Err(Verdict::NotApplicable(format!("the connector's {}s have no etag", kind.item)));
    };
    let (first, late) = (kind.label("W4-first"), kind.label("W4-late"));
    let change = |name: &str| ItemChange {
        if_match: Some(etag.clone()),
        ..ItemChange::update(&source, &kind.renamed(name))
    };
    let done = bench.try_write_item(kind, &collection, change(&first), &kind.key("W4-1")).await;
    supported(done, kind.update_op)?;
    match bench.try_write_item(kind, &collection, change(&late), &kind.key("W4-2")).await {
        Err(error) if error.code == Code::Conflict => {}
        Err(error) => {
            return failed(format!("a change of an older version fails: {}", describe_error(&error)), HELP);
        }
        Ok(_) => return failed("a change of an older version is accepted", HELP),
    }
    let now = bench.read_body(kind, &collection, &source.external_id).await?;
    ensure(
        now[kind.name] == first.as_str(),
        || format!("the rejected change has written {}", now[kind.name]),
        HELP,
    )
}

/// `W6`: an item can be deleted twice.
pub async fn deleted_twice(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let collection = bench.collection(kind).await?;
    let id = bench.create_named(kind, &collection, "W6").await?.external_id;
    let first = bench.try_delete_item(kind, &collection, &id, &kind.key("W6-1")).await;
    supported(first, kind.delete_op)?;
    match bench.try_delete_item(kind, &collection, &id, &kind.key("W6-2")).await {
        Ok(_) => Ok(()),
        Err(error) if error.code == Code::NotFound => Ok(()),
        Err(error) => failed(
            format!("{} of a deleted {} fails: {}", kind.delete_op, kind.item, describe_error(&error)),
            "a deletion of a deleted item succeeds, or is failure not-found",
        ),
    }
}
