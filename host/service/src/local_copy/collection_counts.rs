//! Collections as every response shows them: with counts of their contents, and calendars with their watches. Neither is part of a
//! collection's version, so that it is not stored with it and does not occur in change feeds and events.

use std::collections::HashMap;

use base::error::Result;
use base::tenant::Tenant;
use serde_json::Value;
use storage::items::{self, Item};
use storage::sql::On;
use storage::watches::{self, Watch};

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::{watch_expiry, watch_reach};
use crate::local_copy::render;

/// Returns a page of collections of one kind, in the order of their ids.
pub async fn page(
    app: &App,
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    found: &[Item],
    warnings: &[Value],
    raw: bool,
) -> Result<Vec<String>> {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return Ok(Vec::new()) };
    let kind = ResourceKind::from_item(first)?;
    if kind == ResourceKind::Calendar {
        let watches = watches_of(app, on, found).await?;
        let print = |item: &Item| {
            let text = render::item(item, warnings, raw);
            match watches.get(&item.id).and_then(|rows| watch_expiry::watch_view(rows, app.now())) {
                Some(watch) => render::watched(text, &watch),
                None => Ok(text),
            }
        };
        return found.iter().map(print).collect();
    }
    let kinds = (kind.as_str(), kind.contents().as_str());
    let counts = items::counts(on, tenant, kinds, (&first.id, &last.id)).await?;
    let print = |item: &Item| {
        let text = render::item(item, warnings, raw);
        match counts.iter().find(|c| c.collection_id == item.id) {
            Some(count) => render::counted(text, count.items, count.open),
            None => text,
        }
    };
    Ok(found.iter().map(print).collect())
}

/// Returns the watches of these calendars, by calendar, with one statement. Watches of a provider that can no longer notify this service
/// are left out.
async fn watches_of(
    app: &App,
    on: impl Into<On<'_>>,
    calendars: &[Item],
) -> Result<HashMap<String, Vec<Watch>>> {
    let ids: Vec<String> = calendars.iter().map(|calendar| calendar.id.clone()).collect();
    let mut of_calendars: HashMap<String, Vec<Watch>> = HashMap::new();
    for watch in watches::of_collections(on, ResourceKind::Calendar.surface().as_str(), &ids).await? {
        if watch_reach::can_watch(app, &watch.provider, &watch.surface) {
            of_calendars.entry(watch.scope_id.clone()).or_default().push(watch);
        }
    }
    Ok(of_calendars)
}

/// Returns one rendered collection.
pub async fn render_collection(
    app: &App,
    on: impl Into<On<'_>>,
    tenant: &Tenant,
    item: &Item,
    warnings: &[Value],
    raw: bool,
) -> Result<String> {
    Ok(page(app, on, tenant, std::slice::from_ref(item), warnings, raw).await?.concat())
}
