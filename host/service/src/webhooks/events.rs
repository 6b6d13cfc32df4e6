//! The event log as clients read it: page by page, and one event by its id. Each event is the body that a webhook receives of it.

use base::error::{Code, Result, invalid, not_found};
use base::input::validate::{self, fault};
use base::tenant::Tenant;
use base::{ids, scopes};
use bytes::Bytes;
use model::bounds::webhook::MAX_NAMED;
use model::webhook::PayloadMode;
use serde::Serialize;
use storage::api_keys::ApiKey;
use storage::log::{self, Entry, Light};
use storage::{connections, sql};

use crate::app::App;
use crate::app::event_log::check_position;
use crate::app::page_cache::PageBudget;
use crate::webhooks::event_head::EventHead;
use crate::webhooks::notification_types::{self, Matcher, SubscriptionFilter};
use crate::webhooks::{input, payload};

/// Entries of the log that are read for one page, whether they match or not.
const MAX_READ: usize = 5_000;
/// Entries of the log that are read at a time, without their content.
const ENTRIES_PER_READ: i64 = 500;
/// Entries that are read at a time with their content.
pub const WHOLE_AT_A_TIME: usize = 16;

/// The events that a client requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventRequest {
    /// Kinds and patterns as a webhook's; empty: all.
    types: Vec<String>,
    /// Empty: those of all connections, and those of none.
    connection_ids: Vec<String>,
    include_backfill: bool,
}

impl EventRequest {
    /// The events of these types and connections; an empty list stands for all.
    ///
    /// # Errors
    /// 400 for an unknown type, and for a list that is too long.
    pub fn new(
        types: Vec<String>,
        connection_ids: Vec<String>,
        include_backfill: bool,
    ) -> Result<EventRequest> {
        validate::length("type", types.len(), MAX_NAMED)?;
        validate::length("connection_id", connection_ids.len(), MAX_NAMED)?;
        match types.iter().all(|pattern| notification_types::is_known(pattern)) {
            true => Ok(EventRequest { types, connection_ids, include_backfill }),
            false => Err(fault(
                "type",
                "must be event types such as calendar.event.created, families such as calendar.*, or *, with commas between them; see /docs",
            )),
        }
    }

    /// As `new`, with comma-separated lists.
    pub fn read(
        types: Option<&str>,
        connection_ids: Option<&str>,
        include_backfill: bool,
    ) -> Result<EventRequest> {
        EventRequest::new(split_list(types), split_list(connection_ids), include_backfill)
    }
}

/// The entries of a comma-separated list: all, or one more than a request may name.
fn split_list(text: Option<&str>) -> Vec<String> {
    let entries = text.unwrap_or_default().split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.take(MAX_NAMED + 1).map(str::to_owned).collect()
}

/// A filter of the requested events to those that the key may see: by the rules of a webhook that the key creates.
pub struct EventLogFilter(Matcher);

impl EventLogFilter {
    /// # Errors
    /// 403 for a type whose family the key may not read, 404 for a connection that the key does not see.
    pub async fn new(app: &App, key: &ApiKey, wish: &EventRequest) -> Result<EventLogFilter> {
        check_scopes(key, &wish.types)?;
        check_connections(app, key, &wish.connection_ids).await?;
        let event_types = match wish.types.is_empty() {
            true => vec!["*".to_owned()],
            false => wish.types.clone(),
        };
        Ok(EventLogFilter(Matcher::new(&[SubscriptionFilter {
            id: String::new(),
            event_types,
            connection_ids: wish.connection_ids.clone(),
            bound_to: key.connection_ids.clone(),
            families: input::families(key),
            include_backfill: wish.include_backfill,
        }])))
    }

    /// Whether the client is shown this event.
    pub fn admits(&self, line: &Light) -> bool {
        self.0.matching(line.into()).next().is_some()
    }
}

fn check_scopes(key: &ApiKey, types: &[String]) -> Result<()> {
    for pattern in types {
        // All of them are those that the key may read.
        let Some(family) = notification_types::family_of(pattern) else { continue };
        let scope = family.read_scope();
        if !scopes::holds(&key.scopes, scope) {
            let message =
                format!("type: {pattern} needs the scope {scope}, which the API key that asks lacks");
            return Err(invalid(Code::InsufficientScope, "type", message));
        }
    }
    Ok(())
}

async fn check_connections(app: &App, key: &ApiKey, ids: &[String]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let known = connections::existing(app.db.reader(), &key.tenant, ids).await?;
    let is_its_own = |id: &String| key.connection_ids.is_empty() || key.connection_ids.contains(id);
    match ids.iter().all(|id| known.contains(id) && is_its_own(id)) {
        true => Ok(()),
        false => Err(not_found("connection")),
    }
}

/// Events in the order of the log.
pub struct EventLogPage {
    /// Their JSON texts.
    pub items: Vec<String>,
    /// Everything up to this sequence is in this page or an earlier one, or does not match the request.
    pub position: i64,
    /// Whether the log continues after this page, which may be short even then.
    pub has_more: bool,
}

/// Entries of the log that match, without their content.
struct LogMatches {
    lines: Vec<Light>,
    position: i64,
    has_more: bool,
}

/// At most `limit` events after a position; without one, from the oldest that is kept.
///
/// # Errors
/// 409 `sync_reset_required` where the log does not hold everything after the position.
pub async fn page(
    app: &App,
    key: &ApiKey,
    wish: &EventRequest,
    after: Option<i64>,
    limit: usize,
) -> Result<EventLogPage> {
    let (reader, tenant) = (app.db.reader(), &key.tenant);
    let filter = EventLogFilter::new(app, key, wish).await?;
    let last = log_end(reader, tenant).await?;
    let begin = match after {
        Some(after) => after,
        None => log::floor(reader, tenant).await?,
    };
    let found = scan(reader, tenant, &filter, begin, last, limit).await?;
    let page = read(reader, tenant, found, begin).await?;
    if let Some(after) = after {
        // The floor is read last: entries above it at this time existed when the page was read.
        check_position(after, log::floor(reader, tenant).await?, last)?;
    }
    Ok(page)
}

/// The last number of an application's log: every entry up to it is there to be read.
pub async fn log_end(reader: &sql::Reader, tenant: &Tenant) -> Result<i64> {
    Ok(log::last_sequence(reader, tenant).await?)
}

/// Looks through the log after `begin` up to `last`, a number that was committed before: every entry up to it can be read, because a
/// writer locks the application's row from taking a number to the commit.
async fn scan(
    reader: &sql::Reader,
    tenant: &Tenant,
    filter: &EventLogFilter,
    begin: i64,
    last: i64,
    limit: usize,
) -> Result<LogMatches> {
    let mut found = LogMatches { lines: Vec::new(), position: begin, has_more: false };
    let mut count = 0;
    while found.position < last {
        if count >= MAX_READ {
            found.has_more = true;
            return Ok(found);
        }
        let lines = log::light_after(reader, tenant, found.position, ENTRIES_PER_READ).await?;
        count += lines.len();
        let is_whole = is_end(&lines, ENTRIES_PER_READ, last);
        for line in lines.into_iter().filter(|line| line.sequence <= last) {
            let sequence = line.sequence;
            if filter.admits(&line) {
                if found.lines.len() >= limit {
                    // The page ends before this one.
                    found.has_more = true;
                    return Ok(found);
                }
                found.lines.push(line);
            }
            found.position = sequence;
        }
        if is_whole {
            // Numbers without an entry exist.
            found.position = last;
        }
    }
    Ok(found)
}

/// Whether no entry up to `last` comes after these, of which at most `limit` were asked for.
pub fn is_end(lines: &[Light], limit: i64, last: i64) -> bool {
    let is_short = i64::try_from(lines.len()).is_ok_and(|count| count < limit);
    is_short || lines.last().is_some_and(|line| line.sequence >= last)
}

/// Reads the content of the entries, as far as it fits into a page.
async fn read(reader: &sql::Reader, tenant: &Tenant, found: LogMatches, begin: i64) -> Result<EventLogPage> {
    let mut page = EventLogPage { items: Vec::new(), position: begin, has_more: found.has_more };
    let mut room = PageBudget::new(found.lines.len());
    for lines in found.lines.chunks(WHOLE_AT_A_TIME) {
        let ids: Vec<String> = lines.iter().map(|line| line.id.clone()).collect();
        for entry in log::whole_by_ids(reader, tenant, &ids).await? {
            let text = String::from_utf8_lossy(&body(&entry, tenant)).into_owned();
            if !room.take(text.len()) {
                page.has_more = true;
                return Ok(page);
            }
            page.items.push(text);
            page.position = entry.sequence;
        }
    }
    page.position = found.position;
    Ok(page)
}

/// The JSON text of an event, which is one line: byte for byte what a webhook with full payloads receives.
pub fn body(entry: &Entry, tenant: &Tenant) -> Bytes {
    payload::render(entry, tenant, PayloadMode::Full, payload::VERSION)
}

/// The event with this id, if the key may read it.
pub async fn find(app: &App, key: &ApiKey, id: &str) -> Result<Bytes> {
    if !ids::is_plausible(id) {
        return Err(not_found("event"));
    }
    let found = log::whole_by_ids(app.db.reader(), &key.tenant, &[id.to_owned()]).await?.pop();
    let entry = found.filter(|entry| may_read(key, entry)).ok_or_else(|| not_found("event"))?;
    Ok(body(&entry, &key.tenant))
}

/// By the scopes of the key, and the connections that it is bound to.
fn may_read(key: &ApiKey, entry: &Entry) -> bool {
    let family = notification_types::family_of(&entry.entry_type);
    let is_own = |id: &str| key.connection_ids.iter().any(|own| own == id);
    family.is_some_and(|family| scopes::holds(&key.scopes, family.read_scope()))
        && (key.connection_ids.is_empty() || EventHead::from(entry).is_within(is_own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_lists_with_commas() {
        let wish =
            EventRequest::read(Some(" calendar.*, task.created,"), Some("conn_1,conn_2"), true).unwrap();
        assert_eq!(wish.types, ["calendar.*", "task.created"]);
        assert_eq!(wish.connection_ids, ["conn_1", "conn_2"]);
        assert_eq!(EventRequest::read(None, None, false).unwrap(), EventRequest::default());
        let many = vec!["conn_1"; MAX_NAMED + 1].join(",");
        for (types, connection_ids) in
            [(Some("calendar"), None), (Some("*,nothing.*"), None), (None, Some(many.as_str()))]
        {
            assert!(EventRequest::read(types, connection_ids, false).is_err(), "{types:?}");
        }
    }
}
