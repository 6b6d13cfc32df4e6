//! Lists and reads events. A plain list joins stored JSON; a filter parses it; `expand` lists the instances of series in their place.

use std::sync::Arc;

use base::error::Result;
use base::ids;
use storage::connections::Connection;
use storage::items::{self, After, Item, ItemColumns, Shape, Window};
use storage::sql::Chunk;

use crate::app::App;
use crate::app::page_cache::PageBudget;
use crate::app::resource_kind::ResourceKind;
use crate::app::stored_response::StoredResponse;
use crate::connections::request_context::RequestContext;
use crate::local_copy::render;
use crate::resources::collections;
use crate::resources::events::listing::{EventListPosition, EventPage, EventQuery, is_listed};
use crate::resources::events::{expanded, load_target};

/// Most rows that one page scans when a filter drops most of them; the page may then be short.
const MAX_SCANNED: usize = 2_000;

/// Opens the calendar of the query and refreshes it if it is stale.
pub async fn open(app: &App, asker: &RequestContext, query: &EventQuery) -> Result<Arc<(Connection, Item)>> {
    query.check()?;
    let opened = collections::open_to_read(app, asker, ResourceKind::Calendar, &query.calendar_id).await?;
    let (connection, calendar) = &*opened;
    collections::freshen(app, asker, connection, calendar).await?;
    Ok(opened)
}

/// A page of an opened calendar's events, by start and id.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    calendar: &Item,
    query: &EventQuery,
    after: Option<EventListPosition>,
    limit: i64,
) -> Result<EventPage> {
    if query.expand {
        return expanded::page(app, asker, calendar, query, after, limit).await;
    }
    list_stored(app, asker, query, after, limit).await
}

async fn list_stored(
    app: &App,
    asker: &RequestContext,
    query: &EventQuery,
    after: Option<EventListPosition>,
    limit: i64,
) -> Result<EventPage> {
    let mut room = PageBudget::new(usize::try_from(limit).unwrap_or(usize::MAX));
    let mut found: Vec<String> = Vec::new();
    let mut place = after;
    let mut scanned = 0;
    loop {
        // One row more than needed shows whether there is a next page.
        let chunk = scan(app, asker, query, place.as_ref(), limit + 1).await?;
        scanned += chunk.rows.len();
        let mut rows = chunk.rows.into_iter();
        while !room.is_full()
            && let Some((at, text)) = rows.next()
        {
            if let Some(text) = text {
                if !room.take(text.len()) {
                    return Ok((found, place));
                }
                found.push(text);
            }
            place = Some(at);
        }
        if chunk.is_last && rows.as_slice().is_empty() {
            return Ok((found, None));
        }
        if room.is_full() || scanned >= MAX_SCANNED {
            // The row that shows whether there is a next page may have been taken.
            let is_end = rows.as_slice().is_empty()
                && scan(app, asker, query, place.as_ref(), 1).await?.rows.is_empty();
            return Ok((found, place.filter(|_| !is_end)));
        }
    }
}

/// The next rows of the window; the text of each that is listed.
async fn scan(
    app: &App,
    asker: &RequestContext,
    query: &EventQuery,
    after: Option<&EventListPosition>,
    limit: i64,
) -> Result<Chunk<(EventListPosition, Option<String>)>> {
    let window = Window {
        parent_id: &query.calendar_id,
        from: query.start,
        to: query.end.unwrap_or(i64::MAX),
        shape: Shape::Any,
        after: after.cloned().map(|p| After { sort_at: p.sort_at, id: p.id }),
        limit,
    };
    let with_provider_data = query.with_provider_data;
    let print = |row: ItemColumns<'_>| {
        let is_recent = query.updated_after.is_none_or(|after| row.updated_at >= after);
        let text = (is_recent && is_listed(query, row.body)?)
            .then(|| render::item_columns(&row, &[], with_provider_data));
        Ok((EventListPosition { sort_at: row.sort_at, id: row.id.to_owned() }, text))
    };
    Ok(items::read_window(app.db.resources(), &asker.tenant, &window, with_provider_data, print).await?)
}

/// Refreshes the events of a calendar that the caller may read, if they are stale.
pub async fn freshen(app: &App, asker: &RequestContext, calendar_id: &str) -> Result<()> {
    let opened = collections::open_to_read(app, asker, ResourceKind::Calendar, calendar_id).await?;
    let (connection, calendar) = &*opened;
    collections::freshen(app, asker, connection, calendar).await
}

/// One event, stored or computed, of a calendar that was already refreshed.
pub async fn get(
    app: &App,
    asker: &RequestContext,
    calendar_id: &str,
    event_id: &str,
    with_provider_data: bool,
) -> Result<StoredResponse> {
    let printed = |row: &ItemColumns<'_>| {
        StoredResponse::ok(render::item_columns(row, &[], with_provider_data)).etag(row.etag)
    };
    let is_asked = |row: &ItemColumns<'_>| row.parent_id == calendar_id && asker.may_use(row.connection_id);
    let read = |row: ItemColumns<'_>| is_asked(&row).then(|| printed(&row));
    let row = (ResourceKind::Event.as_str(), event_id);
    if ids::is_plausible(event_id)
        && let Some(Some(answer)) =
            items::read(app.db.resources(), &asker.tenant, row, with_provider_data, read).await?
    {
        return Ok(answer);
    }
    // Otherwise the id is an instance's, or unknown.
    let item = Box::pin(load_target(app, asker, calendar_id, event_id)).await?.into_item();
    Ok(printed(&ItemColumns::from(&item)))
}
