//! Finds the event of a meeting that its host has moved to another calendar of the account (a WebDAV MOVE, "move to calendar", or a copy
//! there and a deletion here): by its iCalendar UID, in the local copy, else at the provider.

use std::collections::HashSet;
use std::time::Duration;

use base::error::{Code, Error, Result};
use model::calendar::{AccessRole, Calendar, Event, EventStatus, ResponseStatus};
use model::scheduling::booking::Party;
use storage::Tx;
use storage::connections::{self as connection_table, Connection};
use storage::items::{self, Item};
use storage::scheduling::bookings;
use storage::scheduling::meeting_events::{self, MeetingEventRow};
use tokio::time::Instant;

use crate::app::App;
use crate::app::resource_kind::ResourceKind;
use crate::bookings::calendar_subscriptions;
use crate::bookings::change::{self, BookingChange, Seat};
use crate::bookings::join_link::UPDATED;
use crate::bookings::locked_meeting::HeldMeeting;
use crate::connections;
use crate::local_copy::normalize;
use crate::sync::scope::{SyncScope, scope};
use crate::sync::{collection_set, on_demand, staleness};

/// Time that an event must be missing before it counts as gone, ms. It can come back with a later page of the same pull under another id; a
/// large calendar that is deleted loses its events before itself; and a host who moves it may delete it first and add it there afterwards.
const GONE_MS: i64 = 60_000;
/// Time during which an event is searched for in calendars that cannot be read, ms. After that the event counts as deleted.
const UNKNOWN_MS: i64 = 3_600_000;
/// The shortest interval between searches for an event, ms. Each comes after as long as it has been missing.
const SEARCH_AGAIN_MS: i64 = 15_000;
/// Most events with one UID that are read.
const MAX_COPIES: i64 = 20;
/// Most calendars of one account that are read for one event, those that were read before first.
const MAX_CALENDARS: usize = 50;
/// Time limit of reading all of them: less than a job may take.
const READ_TIMEOUT: Duration = Duration::from_secs(40);
/// A calendar that was read less than this ago is not read again for the next event, ms: all events of a calendar can disappear at once.
const READ_AGAIN_MS: i64 = 5_000;

/// The place of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLocation {
    pub calendar_id: String,
    pub event_id: String,
}

/// The result of a search for an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSearch {
    pub location: Option<EventLocation>,
    /// Whether the provider has answered for each calendar that the account can write to. Otherwise the event may be in one of the others.
    pub is_complete: bool,
}

/// Searches for the event of a meeting, which has been missing since `since` (Unix ms). Subscribes to the calendar that has it, so that
/// later changes of the host are noticed there.
pub async fn search(app: &App, row: &MeetingEventRow, since: i64) -> Result<EventSearch> {
    let mut is_complete = true;
    let mut location = stored(app, row).await?;
    if location.is_none() {
        is_complete = read_calendars(app, row, since).await?;
        location = stored(app, row).await?;
    }
    if let Some(location) = location.as_ref().filter(|_| row.is_wanted) {
        let calendar_id = &location.calendar_id;
        if let Err(e) = calendar_subscriptions::begin(app, &row.tenant, &row.connection_id, calendar_id).await
        {
            tracing::warn!(meeting = %row.meeting_id, error = %e, "the calendar of a meeting's event cannot be followed");
        }
    }
    Ok(EventSearch { location, is_complete })
}

/// As `search`, in the local copy alone.
// Contract silent: which of several events with the meeting's UID is the meeting's. The newest one in any calendar that the account can
// write to: a calendar that it can only read, such as a colleague's, has an invitee's copy. Where the meeting is in the calendars of
// several hosts, all under one UID, one that the account owns.
pub async fn stored(app: &App, row: &MeetingEventRow) -> Result<Option<EventLocation>> {
    let Some(print) = normalize::event_fingerprint(&row.i_cal_uid) else { return Ok(None) };
    let reader = app.db.reader();
    let found = items::live_with_fingerprint(reader, &row.connection_id, &print, MAX_COPIES).await?;
    let is_shared = meeting_events::of_meeting(reader, &row.meeting_id).await?.len() > 1;
    for item in found.into_iter().filter(|item| row.event_id.as_ref() != Some(&item.id)) {
        let event: Event = serde_json::from_str(&item.body)?;
        if event.status == EventStatus::Cancelled || event.my_response == Some(ResponseStatus::Declined) {
            continue;
        }
        let kind = ResourceKind::Calendar.as_str();
        let Some(calendar) = items::find(reader, &row.tenant, kind, &item.parent_id).await? else { continue };
        let calendar: Calendar = serde_json::from_str(&calendar.body)?;
        if is_writable(&calendar) && (calendar.is_owned || !is_shared) {
            return Ok(Some(EventLocation { calendar_id: item.parent_id, event_id: item.id }));
        }
    }
    Ok(None)
}

/// The time of the next search for an event that is missing since `since` and was not found. None: it counts as gone. All times are Unix
/// ms.
pub fn next_search(since: i64, is_complete: bool, now: i64) -> Option<i64> {
    let limit = if is_complete { GONE_MS } else { UNKNOWN_MS };
    let next = now.saturating_add(now.saturating_sub(since).max(SEARCH_AGAIN_MS));
    // Neither the end of the minute nor the end of all searches is skipped.
    let ends = [GONE_MS, limit].map(|ms| since.saturating_add(ms));
    let next = ends.into_iter().filter(|end| *end > now).fold(next, i64::min);
    (now < since.saturating_add(limit)).then_some(next)
}

/// Records the new location of a meeting's event. False: it is no longer there.
pub async fn follow(
    tx: &mut Tx,
    app: &App,
    of: &mut HeldMeeting,
    connection_id: &str,
    location: &EventLocation,
    now: i64,
) -> Result<bool> {
    let Some(lock) = of.lock_of(connection_id) else { return Ok(false) };
    let item = items::lock_item(tx, lock, &location.event_id).await?;
    let is_there =
        item.is_some_and(|item| item.deleted_at.is_none() && item.parent_id == location.calendar_id);
    let event = of.events.iter_mut().find(|event| event.connection_id == connection_id);
    let Some(event) = event.filter(|_| is_there) else { return Ok(false) };
    // The meeting's reservations stay: it is the host's time, in any calendar.
    event.calendar_id.clone_from(&location.calendar_id);
    event.event_id = Some(location.event_id.clone());
    event.updated_at = now.max(event.updated_at + 1);
    meeting_events::update(tx, event).await?;
    let seats = bookings::lock_seated(tx, &of.meeting.id).await?;
    let mut seats: Vec<Seat> = seats.into_iter().map(Seat::read).collect::<Result<_>>()?;
    let change = BookingChange { events: &of.events, by: Party::Host, words: &[UPDATED], warnings: &[] };
    change::write_all(tx, app, &mut seats, &change, now).await?;
    Ok(true)
}

/// Reads the calendars of the account, the list of them first: the host may have created one for the event. Returns whether each of them
/// was read; a permanent failure counts as read.
async fn read_calendars(app: &App, row: &MeetingEventRow, since: i64) -> Result<bool> {
    let found = connection_table::find(app.db.reader(), &row.tenant, &row.connection_id).await?;
    let Some(connection) = found else { return Ok(true) };
    if connections::usable(&connection).is_err() {
        return Ok(false);
    }
    let since = (app.now() - READ_AGAIN_MS).max(since.saturating_add(1));
    let times = ReadTimes { since, until: Instant::now() + READ_TIMEOUT };
    let list = SyncScope::collections(ResourceKind::Calendar);
    let mut is_complete = is_read(app, &connection, &list, times).await;
    for calendar in known_first(app, &connection).await?.into_iter().take(MAX_CALENDARS) {
        is_complete &= is_read(app, &connection, &scope(&calendar)?, times).await;
    }
    Ok(is_complete)
}

/// The times between which calendars are read.
#[derive(Clone, Copy)]
struct ReadTimes {
    /// A calendar that was read at this time (Unix ms) or later is not read again.
    since: i64,
    until: Instant,
}

/// Reads a calendar, or the list of them. False: the provider has not answered, and may later.
async fn is_read(app: &App, connection: &Connection, scope: &SyncScope, times: ReadTimes) -> bool {
    if matches!(staleness::read_since(app, connection, scope, times.since).await, Ok(Some(_))) {
        return true;
    }
    // Boxed: futures are moved, and a pull's is large.
    let reading = Box::pin(on_demand::refreshed(app, connection, scope, true));
    match tokio::time::timeout_at(times.until, reading).await {
        Ok(Ok(age)) => age.failed.is_none(),
        Ok(Err(e)) => !may_pass(&e),
        Err(_) => false,
    }
}

fn may_pass(e: &Error) -> bool {
    matches!(
        e.code(),
        None | Some(
            Code::ProviderUnavailable
                | Code::ProviderTimeout
                | Code::ProviderRateLimited
                | Code::Overloaded
                | Code::DatabaseUnavailable
                | Code::StorageFull
                | Code::ReauthRequired
        )
    )
}

/// Whether the host can have moved an event there with this account.
fn is_writable(calendar: &Calendar) -> bool {
    matches!(calendar.access_role, AccessRole::Owner | AccessRole::Writer)
}

/// The calendars that the account can write to, those that were read before first.
async fn known_first(app: &App, connection: &Connection) -> Result<Vec<Item>> {
    let kind = ResourceKind::Calendar;
    let all = collection_set::collections(app, connection, kind).await?;
    let states = collection_set::states(app, connection, kind, &all).await?;
    let known = states.into_iter().filter(|state| state.last_success_at.is_some());
    let known: HashSet<String> = known.map(|state| state.scope_id).collect();
    let mut writable = Vec::with_capacity(all.len());
    for item in all {
        let calendar: Calendar = serde_json::from_str(&item.body)?;
        if is_writable(&calendar) {
            writable.push(item);
        }
    }
    writable.sort_by_key(|item| !known.contains(&item.id));
    Ok(writable)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SINCE: i64 = 1_000_000;

    fn searches(is_complete: bool) -> Vec<i64> {
        let mut at = SINCE;
        let mut all = vec![0];
        while let Some(next) = next_search(SINCE, is_complete, at) {
            assert!(next > at);
            at = next;
            all.push(at - SINCE);
        }
        all
    }

    #[test]
    fn an_event_is_not_searched_for_where_the_account_can_only_read() {
        for (access_role, wanted) in [
            (AccessRole::Owner, true),
            (AccessRole::Writer, true),
            (AccessRole::Reader, false),
            (AccessRole::FreeBusyReader, false),
        ] {
            let calendar = Calendar { access_role, ..Calendar::default() };
            assert_eq!(is_writable(&calendar), wanted, "{access_role:?}");
        }
    }

    #[test]
    fn an_event_is_searched_for_until_the_minute_is_over() {
        assert_eq!(searches(true), [0, 15_000, 30_000, 60_000]);
        assert_eq!(next_search(0, true, SINCE), None, "it was forgotten long ago");
        assert_eq!(next_search(SINCE, true, SINCE + 59_999), Some(SINCE + GONE_MS));
    }

    #[test]
    fn a_provider_that_does_not_answer_has_an_hour() {
        let seconds: Vec<i64> = searches(false).into_iter().map(|ms| ms / 1_000).collect();
        assert_eq!(seconds, [0, 15, 30, 60, 120, 240, 480, 960, 1_920, 3_600]);
    }
}
