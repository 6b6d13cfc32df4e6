//! The collections of an account.

use std::collections::HashSet;

use crate::bench::{Bench, Outcome, ensure};
use crate::caller::Page;
use crate::surface_bench::ItemKind;

/// Bytes of an id.
const MAX_ID_BYTES: usize = 1024;

/// `D3` of a surface.
pub async fn collections(bench: &mut Bench, kind: &ItemKind) -> Outcome {
    let pages = bench.collections(kind).await?;
    ensure(
        pages.iter().all(|page| page.sources.enumeration),
        || format!("{} answers with enumeration: false", kind.list_op),
        "the pages are all collections: say enumeration: true, else a deleted one is never removed",
    )?;
    let first = ids(&pages);
    let mut seen = HashSet::new();
    for id in &first {
        ensure(
            !id.is_empty() && id.len() <= MAX_ID_BYTES,
            || format!("a {} has an id of {} bytes", kind.collection, id.len()),
            "externalId is the provider's id of the collection, 1 to 1,024 bytes",
        )?;
        ensure(
            seen.insert(id),
            || format!("the {} \"{id}\" is reported twice", kind.collection),
            "each page begins behind the last collection of the page before",
        )?;
    }
    let again = ids(&bench.collections(kind).await?);
    ensure(
        first == again,
        || format!("{} returns {first:?}, then {again:?}", kind.list_op),
        "nothing has changed in between: return the same collections in the same order",
    )
}

fn ids(pages: &[Page]) -> Vec<String> {
    let sources = pages.iter().flat_map(|page| &page.sources.sources);
    sources.map(|source| source.external_id.clone()).collect()
}
