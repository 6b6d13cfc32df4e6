//! Collections as every answer shows them: with what they hold, where that is known. A count is no part of a collection's
//! version, so it is not stored with it.

use base::error::Result;
use base::tenant::Tenant;
use serde_json::Value;
use storage::items::{self, Item};
use storage::sql::On;

use crate::resources::{Kind, render};

/// A page of collections of one kind, in the order of their ids.
pub async fn page(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    found: &[Item],
    warnings: &[Value],
    raw: bool,
) -> Result<Vec<String>> {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return Ok(Vec::new()) };
    let kind = Kind::of(first)?;
    let counts = match kind {
        Kind::Calendar => Vec::new(),
        _ => {
            let kinds = (kind.as_str(), kind.contents().as_str());
            items::counts(on, tenant, kinds, (&first.id, &last.id)).await?
        }
    };
    let print = |item: &Item| {
        let text = render::item(item, warnings, raw);
        match counts.iter().find(|c| c.collection_id == item.id) {
            Some(count) => render::counted(text, count.items, count.open),
            None => text,
        }
    };
    Ok(found.iter().map(print).collect())
}

/// One of them.
pub async fn printed(
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    item: &Item,
    warnings: &[Value],
    raw: bool,
) -> Result<String> {
    Ok(page(on, tenant, std::slice::from_ref(item), warnings, raw).await?.concat())
}
