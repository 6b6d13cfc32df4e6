//! Connections to read busy times from, with refreshed calendars. A search among many hosts reads all connections with one statement, and
//! with another one the calendars of those whose list is fresh; the others each wait for their provider.

use std::collections::HashMap;

use base::error::{Code, Error, Result, refuse};
use futures::stream::{self, StreamExt};
use model::calendar::Calendar;
use storage::connections::Connection;
use storage::items::{self, Item};
use storage::sql::Chunk;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::sync::scope::SyncScope;
use crate::sync::{self, staleness};

/// Connections that are checked together.
const CONCURRENT: usize = 8;
/// Calendars of one connection that are read from the database at a time.
const PAGE: i64 = 200;
/// Calendars of many connections that are read in one statement. Connections whose calendars are not all among them are read one by one.
const PAGE_OF_MANY: i64 = 1_000;

/// A connection that may be read, with its calendars.
pub struct ConnectionCalendars {
    pub connection: Connection,
    pub calendars: Vec<(Item, Calendar)>,
}

/// The state of a connection that was loaded together with others.
pub enum PreloadedConnection {
    /// The connection with its calendars.
    Opened(ConnectionCalendars),
    /// The connection may be read; its calendars are not loaded yet.
    Found(Connection),
    /// The connection may not be read, for this reason.
    Refused(Error),
}

/// Opens a connection that was not preloaded.
pub async fn open(
    app: &App,
    asker: &RequestContext,
    connection_id: &str,
    scope: &str,
) -> Result<ConnectionCalendars> {
    let connection = asker.connection(app, connection_id, scope).await?;
    open_found(app, asker, connection).await
}

/// Opens a connection that may be read.
pub async fn open_found(
    app: &App,
    asker: &RequestContext,
    connection: Connection,
) -> Result<ConnectionCalendars> {
    let asked_at = app.now();
    let list = SyncScope::collections(ResourceKind::Calendar);
    sync::ensure_fresh(app, &connection, &list, asker.no_cache).await?;
    must_be_fresh(app, &connection, &list, asked_at)?;
    let calendars = all_calendars(app, asker, &connection).await?;
    Ok(ConnectionCalendars { connection, calendars })
}

/// Loads connections (without duplicates) as far as possible without a provider: one statement for all of them, one for their calendars
/// and, if several hosts share the database, one for each connection to learn the age of its calendar list. The result has an entry for
/// each connection.
///
/// # Errors
/// Only if the database, or a record in it, cannot be read.
pub async fn open_together(
    app: &App,
    asker: &RequestContext,
    connection_ids: &[String],
    scope: &str,
) -> Result<HashMap<String, PreloadedConnection>> {
    let mut known = HashMap::new();
    let mut looks = Vec::new();
    for (id, found) in connection_ids.iter().zip(asker.connections(app, connection_ids, scope).await?) {
        match found {
            Ok(connection) => looks.push(refresh_calendar_list(app, asker, connection)),
            Err(e) => {
                known.insert(id.clone(), PreloadedConnection::Refused(e));
            }
        }
    }
    let looked: Vec<(Connection, bool)> = stream::iter(looks).buffered(CONCURRENT).collect().await;
    let fresh = looked.iter().filter(|(_, is_fresh)| *is_fresh).map(|(connection, _)| connection.id.clone());
    let fresh: Vec<String> = fresh.collect();
    let mut calendars = calendars_of(app, asker, &fresh).await?;
    for (connection, _) in looked {
        let id = connection.id.clone();
        let of_connection = match calendars.remove(&id) {
            Some(calendars) => PreloadedConnection::Opened(ConnectionCalendars { connection, calendars }),
            None => PreloadedConnection::Found(connection),
        };
        known.insert(id, of_connection);
    }
    Ok(known)
}

/// Returns a connection, and whether its calendar list is as fresh as `sync::ensure_fresh` makes it. If the age cannot be read, the
/// connection is opened by itself, and fails there.
async fn refresh_calendar_list(
    app: &App,
    asker: &RequestContext,
    connection: Connection,
) -> (Connection, bool) {
    if asker.no_cache {
        return (connection, false);
    }
    let since = app.now() - app.config.freshness_ms;
    let read =
        staleness::read_since(app, &connection, &SyncScope::collections(ResourceKind::Calendar), since).await;
    (connection, read.is_ok_and(|at| at.is_some()))
}

/// The calendars of connections, by connection id. A connection is missing if not all of its calendars are on the first page.
async fn calendars_of(
    app: &App,
    asker: &RequestContext,
    connection_ids: &[String],
) -> Result<HashMap<String, Vec<(Item, Calendar)>>> {
    if connection_ids.is_empty() {
        return Ok(HashMap::new());
    }
    let (reader, kind) = (app.db.reader(), ResourceKind::Calendar.as_str());
    let page = items::list_top_of(reader, &asker.tenant, connection_ids, kind, PAGE_OF_MANY).await?;
    let mut found: HashMap<String, Vec<(Item, Calendar)>> = HashMap::new();
    for (id, rows) in by_connection(connection_ids, page) {
        let calendars = found.entry(id).or_default();
        for item in rows {
            let body = serde_json::from_str(&item.body)?;
            calendars.push((item, body));
        }
    }
    Ok(found)
}

/// Groups the rows of a page by connection, leaving out connections with rows on later pages: the connection of the last row, and any
/// without a row here, because the order of the ids is the database's own.
fn by_connection(connection_ids: &[String], page: Chunk<Item>) -> HashMap<String, Vec<Item>> {
    let mut found: HashMap<String, Vec<Item>> = HashMap::new();
    if page.is_last {
        found.extend(connection_ids.iter().map(|id| (id.clone(), Vec::new())));
    }
    let cut = page.rows.last().filter(|_| !page.is_last).map(|item| item.connection_id.clone());
    for item in page.rows {
        found.entry(item.connection_id.clone()).or_default().push(item);
    }
    if let Some(cut) = cut {
        found.remove(&cut);
    }
    found
}

/// Fails if the copy could not be refreshed. Reads are served from an older copy while the provider is down; here it could show a busy time
/// as free.
// Contract silent: how old busy times may be. As fresh as any read; a copy that could not be brought up to date is no answer.
pub fn must_be_fresh(app: &App, connection: &Connection, scope: &SyncScope, asked_at: i64) -> Result<()> {
    let read_at = app.freshness.get(&scope.lock_name(connection));
    if read_at.is_some_and(|at| at >= asked_at - app.config.freshness_ms) {
        return Ok(());
    }
    Err(refuse(
        Code::ProviderUnavailable,
        "the provider does not answer, so it is not known whether this time is free",
    ))
}

async fn all_calendars(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
) -> Result<Vec<(Item, Calendar)>> {
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let (reader, kind) = (app.db.reader(), ResourceKind::Calendar.as_str());
        let page = items::list_top(reader, &asker.tenant, Some(&connection.id), kind, &after, PAGE).await?;
        let is_last = (page.len() as i64) < PAGE;
        for item in page {
            after.clone_from(&item.id);
            let body = serde_json::from_str(&item.body)?;
            found.push((item, body));
        }
        if is_last {
            return Ok(found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_left_out_unless_all_of_its_calendars_are_there() {
        let ids = ["conn_1", "conn_2", "conn_3"].map(str::to_owned);
        let rows: Vec<Item> = ["conn_1", "conn_1", "conn_2"]
            .map(|id| Item { connection_id: id.to_owned(), ..Item::default() })
            .into();
        let counts = |is_last| {
            let found = by_connection(&ids, Chunk { rows: rows.clone(), is_last });
            ids.clone().map(|id| found.get(&id).map(Vec::len))
        };
        assert_eq!(counts(true), [Some(2), Some(1), Some(0)]);
        assert_eq!(counts(false), [Some(2), None, None]);
    }
}
