//! Folders and labels. They are synced with the messages; the provider counts their messages.

use std::collections::HashMap;

use base::error::Result;
use serde_json::{Map, Value};
use storage::items::{self, Item};
use storage::mail;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::normalize::MessageSideData;
use crate::local_copy::render;
use crate::resources::mail::list;
use crate::resources::readable::readable_connections;
use crate::sync::backfill;

/// A page of folders or labels in id order. Without a connection: of all connections whose mail the key may read.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    kind: ResourceKind,
    connection_id: Option<&str>,
    after_id: &str,
    limit: i64,
) -> Result<Vec<Item>> {
    if let Some(id) = connection_id {
        let connection = asker.connection(app, id, "email.read").await?;
        asker.reading.note(backfill::refresh(app, &connection, asker.no_cache).await?);
    } else {
        // On each page, because each lists the missing connections.
        let connections = readable_connections(app, asker, kind).await?;
        list::freshen_each(app, asker, &connections).await?;
    }
    let mut found: Vec<Item> = Vec::new();
    let mut after = after_id.to_owned();
    while (found.len() as i64) < limit {
        let (reader, tenant) = (app.db.reader(), &asker.tenant);
        let rows = items::list_top(reader, tenant, connection_id, kind.as_str(), &after, limit).await?;
        let is_last = (rows.len() as i64) < limit;
        after = rows.last().map_or(after, |i| i.id.clone());
        let is_shown =
            |i: &Item| asker.may_use(&i.connection_id) && !asker.reading.withholds(&i.connection_id);
        found.extend(rows.into_iter().filter(is_shown));
        if is_last {
            break;
        }
    }
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// Renders folders or labels. If the provider has no counts, the local copy is counted once it is complete.
pub async fn render_folders(app: &App, items: &[Item], with_provider_data: bool) -> Result<Vec<String>> {
    let told = |item: &Item| MessageSideData::from_text(item.aside.as_deref()).counts.unwrap_or_default();
    let counted = items.iter().filter(|item| told(item).0.is_none());
    let mut whole: HashMap<&str, bool> = HashMap::new();
    let mut ids = Vec::new();
    for item in counted {
        let is_whole = match whole.get(item.connection_id.as_str()) {
            Some(known) => *known,
            None => backfill::is_whole(app, &item.connection_id).await?,
        };
        whole.insert(&item.connection_id, is_whole);
        ids.extend(is_whole.then_some(item.id.as_str()));
    }
    let counts = match ids.is_empty() {
        true => HashMap::new(),
        false => mail::counts(app.db.reader(), &ids).await?,
    };
    let print = |item: &Item| {
        let (total, unread) = match ids.contains(&item.id.as_str()) {
            true => counts.get(&item.id).map_or((Some(0), Some(0)), |(n, unread)| (Some(*n), Some(*unread))),
            false => told(item),
        };
        let mut folder: Map<String, Value> =
            serde_json::from_str(&render::item(item, &[], with_provider_data))?;
        folder.insert("totalCount".into(), total.into());
        folder.insert("unreadCount".into(), unread.into());
        Ok(Value::Object(folder).to_string())
    };
    items.iter().map(print).collect()
}
