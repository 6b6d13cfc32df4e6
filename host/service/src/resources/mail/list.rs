//! Lists of messages, newest first, from the local copy. During the initial sync of a mailbox a list goes as far back as the copy does: a
//! page may then be short, and its cursor continues where the copy ended.

use std::time::Duration;

use base::error::{Code, Error, Result, invalid};
use base::input::validate::fault;
use futures::{FutureExt, StreamExt};
use storage::connections::Connection;
use storage::mail as table;
use storage::mail::{Filter, MAX_WORDS, MessageMatch, VisitedMessage};

use crate::app::App;
use crate::app::freshness::DataAge;
use crate::app::page_cache::PageBudget;
use crate::app::resource_kind::ResourceKind;
use crate::connections::request_context::RequestContext;
use crate::local_copy::mail::normalize::MessageSideData;
use crate::local_copy::mail::threads;
use crate::local_copy::render;
use crate::local_copy::search_text::words;
use crate::resources::mail::filter::{FoldedFilter, MailQuery, MessageFields, bits, is_in};
use crate::resources::mail::list_place::{MailAccounts, MailListPosition, MailRow};
use crate::resources::readable::{missed, nothing_known, readable_connections, record_age};
use crate::sync::backfill::{self, BackfillCoverage};
use crate::writes::provider_records::MessageToFetch;

/// Most rows that one page scans when a filter drops most of them; the page may then be short.
const MAX_SCANNED: i64 = 20_000;
/// Longest time that a list waits for an initial sync when it has nothing to show yet.
pub const PATIENCE: Duration = Duration::from_secs(15);
/// Mailboxes that are refreshed at a time.
const CONCURRENT: usize = 8;

/// Finds the mailboxes of the query and checks that they may be read.
pub async fn open(app: &App, asker: &RequestContext, query: &MailQuery) -> Result<MailAccounts> {
    let mut connection = None;
    if let Some(id) = &query.connection_id {
        connection = Some(asker.connection(app, id, "email.read").await?);
    }
    let mut place_id = None;
    let named = [
        (ResourceKind::EmailFolder, "folder_id", &query.folder_id),
        (ResourceKind::EmailLabel, "label_id", &query.label_id),
    ];
    for (kind, field, id) in named {
        let Some(id) = id else { continue };
        let item = asker.item(app, kind, id).await.map_err(|e| match e.code() {
            Some(Code::NotFound) => fault(field, &format!("names no {}", kind.noun())),
            _ => e,
        })?;
        ensure_same_connection(app, asker, &mut connection, &item.connection_id, field).await?;
        place_id = place_id.or(Some(item.id));
    }
    if let Some(id) = &query.thread_id {
        let thread = threads::find(app, asker, id).await.map_err(|e| match e.code() {
            Some(Code::NotFound) => fault("thread_id", "names no thread"),
            _ => e,
        })?;
        ensure_same_connection(app, asker, &mut connection, &thread.connection_id, "thread_id").await?;
        // A thread has the fewest messages.
        place_id = Some(thread.id);
    }
    let connections = match connection {
        Some(connection) => vec![connection],
        None => readable_connections(app, asker, ResourceKind::EmailMessage).await?,
    };
    let whole = || match connections.as_slice() {
        [one] if query.connection_id.is_some() => one.id.clone(),
        _ => asker.tenant.application_id.clone(),
    };
    let place_id = place_id.unwrap_or_else(whole);
    Ok(MailAccounts { connections, place_id })
}

/// Checks that a filter belongs to the same connection as the others, and that the connection may be read.
async fn ensure_same_connection(
    app: &App,
    asker: &RequestContext,
    connection: &mut Option<Connection>,
    owner: &str,
    field: &str,
) -> Result<()> {
    match connection {
        Some(connection) if connection.id == owner => Ok(()),
        Some(_) => Err(fault(field, "belongs to another connection than the other filters")),
        None => {
            *connection = Some(asker.connection(app, owner, "email.read").await?);
            Ok(())
        }
    }
}

/// Refreshes the newest messages if they are stale, and notes their age.
pub async fn freshen(app: &App, asker: &RequestContext, opened: &MailAccounts) -> Result<()> {
    match opened.connections.as_slice() {
        [connection] => {
            asker.reading.note(backfill::refresh(app, connection, asker.no_cache).await?);
            Ok(())
        }
        several => freshen_each(app, asker, several).await,
    }
}

/// As `freshen`, for several mailboxes. The stored data of one that does not answer is shown, and the answer names it.
pub async fn freshen_each(app: &App, asker: &RequestContext, connections: &[Connection]) -> Result<()> {
    let freshened = connections.iter().cloned().map(|connection| {
        let (app, asker) = (app.clone(), asker.clone());
        async move {
            let e = match backfill::refresh(&app, &connection, asker.no_cache).await {
                Ok(age) => {
                    record_age(&asker, &connection, age);
                    return Ok(None);
                }
                Err(e) => e,
            };
            missed(&asker, &connection, &e);
            let is_unknown = backfill::covered(&app, &connection).await? == BackfillCoverage::Nothing;
            Ok::<_, Error>(Some(e).filter(|_| is_unknown))
        }
        .boxed()
    });
    // Collected first: a stream over a closure that borrows would not be `Send`.
    let freshened: Vec<_> = freshened.collect();
    let unknown: Vec<Result<Option<Error>>> =
        futures::stream::iter(freshened).buffered(CONCURRENT).collect().await;
    let unknown: Vec<Option<Error>> = unknown.into_iter().collect::<Result<_>>()?;
    nothing_known(asker, unknown.into_iter().flatten().collect(), connections.len())
}

/// The error for a cursor of a search at the provider when the local copy is listed.
fn other_source() -> Error {
    let message = "this cursor is of a search at the provider, which cannot be continued; repeat the request without cursor";
    invalid(Code::InvalidCursor, "cursor", message)
}

/// A page from the local copy.
pub async fn local(
    app: &App,
    asker: &RequestContext,
    query: &MailQuery,
    opened: &MailAccounts,
    after: Option<MailListPosition>,
    limit: i64,
) -> Result<(Vec<MailRow>, Option<MailListPosition>)> {
    let mut before = match after {
        None => (i64::MAX, String::new()),
        Some(MailListPosition::Before(at, id)) => (at, id),
        Some(MailListPosition::Search(_) | MailListPosition::Within { .. }) => return Err(other_source()),
    };
    freshen(app, asker, opened).await?;
    let mut looked_for = words(query.q.as_deref())?;
    looked_for.extend(FoldedFilter::from_query(query).words());
    looked_for.truncate(MAX_WORDS);
    let (mask, flags) = bits(query);
    let deadline = tokio::time::Instant::now() + PATIENCE;
    let mut rows: Vec<MailRow> = Vec::new();
    let mut room = PageBudget::new(usize::try_from(limit).unwrap_or(usize::MAX));
    loop {
        let bound = bound(app, asker, &opened.connections).await?;
        let filter = Filter {
            place_id: &opened.place_id,
            from: query.received_after.unwrap_or(i64::MIN).max(bound),
            to: query.received_before.unwrap_or(i64::MAX),
            mask,
            flags,
            words: &looked_for,
            kind: if query.drafts { ResourceKind::EmailDraft.as_str() } else { "" },
            before: (before.0, &before.1),
            limit: 0,
        };
        let (found, place) = scan(app, asker, query, opened, &filter, &mut room).await?;
        rows.extend(found);
        if let Some(place) = place {
            return Ok((rows, Some(MailListPosition::Before(place.0, place.1))));
        }
        if bound == i64::MIN || query.received_after.is_some_and(|after| after >= bound) {
            return Ok((rows, None));
        }
        // The copy ends here. Matches so far are returned; without any, the list waits. The copy of a mailbox that was connected after the
        // list began may end above the current position: the list does not go back for it.
        before = before.min((bound, String::new()));
        let is_late = tokio::time::Instant::now() >= deadline;
        if before.0 != i64::MAX && (is_late || !rows.is_empty()) {
            return Ok((rows, Some(MailListPosition::Before(before.0, before.1))));
        }
        further(app, asker, &opened.connections).await?;
        asker.reading.note(DataAge::provider(Some(app.now())));
    }
}

/// Whether a list over several mailboxes continues without this one, which the answer names as missing.
fn is_left_out(asker: &RequestContext, connections: &[Connection], connection: &Connection) -> bool {
    connections.len() > 1 && asker.reading.misses(&connection.id)
}

/// The time (Unix ms) down to which all of these mailboxes were read; the minimum if their copies are complete.
pub async fn bound(app: &App, asker: &RequestContext, connections: &[Connection]) -> Result<i64> {
    let mut bound = i64::MIN;
    for connection in connections {
        if is_left_out(asker, connections, connection) {
            continue;
        }
        bound = bound.max(match backfill::covered(app, connection).await? {
            BackfillCoverage::Whole => i64::MIN,
            BackfillCoverage::Since(at) => at,
            BackfillCoverage::Nothing if connections.len() == 1 => i64::MAX,
            // One of many mailboxes that could not be read at all does not hide the others.
            BackfillCoverage::Nothing => i64::MIN,
        });
    }
    Ok(bound)
}

/// Waits for the mailbox whose sync is least advanced. Of several, one that does not answer is left out from then on, and the answer names
/// it.
pub async fn further(app: &App, asker: &RequestContext, connections: &[Connection]) -> Result<()> {
    let mut least: Option<(i64, &Connection, BackfillCoverage)> = None;
    for connection in connections {
        if is_left_out(asker, connections, connection) {
            continue;
        }
        let covered = backfill::covered(app, connection).await?;
        let at = match covered {
            BackfillCoverage::Whole => continue,
            BackfillCoverage::Since(at) => at,
            BackfillCoverage::Nothing => i64::MAX,
        };
        if least.as_ref().is_none_or(|(most, ..)| at > *most) {
            least = Some((at, connection, covered));
        }
    }
    let Some((_, connection, covered)) = least else { return Ok(()) };
    let read = backfill::further(app, connection, covered).await;
    match read {
        Err(e) if connections.len() > 1 => {
            missed(asker, connection, &e);
            Ok(())
        }
        read => read.map(|_| ()),
    }
}

/// The next rows within the copy; the position of the last one if there may be more. `filter.limit` is set here.
async fn scan(
    app: &App,
    asker: &RequestContext,
    query: &MailQuery,
    opened: &MailAccounts,
    filter: &Filter<'_>,
    room: &mut PageBudget,
) -> Result<(Vec<MailRow>, Option<(i64, String)>)> {
    let narrow = FoldedFilter::from_query(query);
    let mut before = (filter.before.0, filter.before.1.to_owned());
    let mut rows = Vec::new();
    let mut scanned = 0;
    // One row more than needed shows whether there is a next page.
    let limit = i64::try_from(room.items_left()).unwrap_or(MAX_SCANNED) + 1;
    loop {
        let step = Filter { before: (before.0, &before.1), limit, ..filter.clone() };
        let read = |seen: VisitedMessage<'_>| {
            let listed = match seen.found {
                Some(found) => admits(asker, query, opened, &narrow, &found)
                    .map_err(|e| anyhow::anyhow!(e.to_string()))?
                    .then(|| row(&found, seen.sort_at, query)),
                None => None,
            };
            Ok(((seen.sort_at, seen.id.to_owned()), listed))
        };
        let reader = app.db.resources();
        let chunk =
            table::list_messages(reader, &asker.tenant, &step, query.with_provider_data, read).await?;
        if scanned > 0 {
            // Yields to other tasks between the steps of a long search.
            tokio::task::yield_now().await;
        }
        scanned += chunk.rows.len() as i64;
        let mut found = chunk.rows.into_iter();
        while !room.is_full()
            && let Some((place, row)) = found.next()
        {
            if let Some(row) = row {
                if !room.take(row.text.len()) {
                    return Ok((rows, Some(before)));
                }
                rows.push(row);
            }
            before = place;
        }
        if chunk.is_last && found.as_slice().is_empty() {
            return Ok((rows, None));
        }
        if room.is_full() || scanned >= MAX_SCANNED {
            return Ok((rows, Some(before)));
        }
    }
}

fn admits(
    asker: &RequestContext,
    query: &MailQuery,
    opened: &MailAccounts,
    narrow: &FoldedFilter,
    found: &MessageMatch<'_>,
) -> Result<bool> {
    let shown = &found.shown;
    if !asker.may_use(shown.connection_id) || !opened.connections.iter().any(|c| c.id == shown.connection_id)
    {
        return Ok(false);
    }
    Ok(is_in(query, shown.body)? && narrow.admits(shown.body)?)
}

fn row(found: &MessageMatch<'_>, sort_at: i64, query: &MailQuery) -> MailRow {
    MailRow {
        place: MailListPosition::Before(sort_at, found.shown.id.to_owned()),
        id: found.shown.id.to_owned(),
        at: found.shown.sort_at,
        text: render::item_columns(&found.shown, &[], query.with_provider_data),
        wanted: (query.fields != MessageFields::Summary).then(|| MessageToFetch {
            id: found.shown.id.to_owned(),
            connection_id: found.shown.connection_id.to_owned(),
            source_id: found.source_id.to_owned(),
            hint: MessageSideData::from_text(found.aside).hint,
        }),
    }
}
