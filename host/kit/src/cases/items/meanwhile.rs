//! Writes of items that another client changes in between.

use std::pin::pin;

use futures::future::{Either, select};
use runtime::Code;

use crate::bench::{Bench, Outcome, Verdict, describe_error, failed, must};
use crate::surface_bench::{ItemChange, ItemKind, supported};

/// `W5`: a change is refused if the item changed after the connector had read it. The kit holds the connector's write, changes the
/// item, and releases the write.
pub async fn changed_meanwhile(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    const HELP: &str = "let the provider compare versions: send ifMatch with the write itself (If-Match, or its own parameter). A version that the connector reads first may be old when the write arrives. Where the provider has no such condition, leave etag empty";
    let collection = bench.collection(kind).await?;
    let source = bench.create_named(kind, &collection, "W5").await?;
    let source = bench.read_item(kind, &collection, &source.external_id).await?;
    let Some(etag) = source.etag.clone() else {
        return Err(Verdict::NotApplicable(format!("the connector's {}s have no etag", kind.item)));
    };
    let change = |of: &str| ItemChange::update(&source, &kind.renamed(&kind.label(of)));
    let late = ItemChange { if_match: Some(etag), ..change("W5-late") };
    let first = (kind.write)(&collection, change("W5-first"));
    let (late_key, first_key) = (kind.key("W5-late"), kind.key("W5-first"));
    let mut other = bench.calls.fork(0);
    let (arrived, held) = bench.interceptor.hold_next_write();
    let late = pin!(bench.try_write_item(kind, &collection, late, &late_key));
    let result = match select(late, arrived).await {
        Either::Left((result, _)) => {
            supported(result, kind.update_op)?;
            return Err(Verdict::NotApplicable(format!("{} sends no write by HTTP", kind.update_op)));
        }
        Either::Right((_, late)) => {
            let first = other.mutate(kind.surface, kind.update_op, &first, &first_key).await;
            held.release();
            let result = late.await;
            must(first, kind.update_op)?;
            result
        }
    };
    match result {
        Err(error) if error.code == Code::Conflict => Ok(()),
        Err(error) if [Code::Timeout, Code::Deadline].contains(&error.code) => Err(Verdict::NotApplicable(
            "the provider took too long to change the item while the write was held".to_owned(),
        )),
        Err(error) => failed(
            format!(
                "the {} changed before the write arrived, and the write fails: {}",
                kind.item,
                describe_error(&error)
            ),
            HELP,
        ),
        Ok(_) => failed(
            format!(
                "the {} changed before the write arrived, and the write has replaced that change",
                kind.item
            ),
            HELP,
        ),
    }
}
