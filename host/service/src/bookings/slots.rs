//! The search for slots of an event type.

use std::time::Duration;

use base::error::{Code, Result, invalid, not_found};
use base::input::validate::{self, fault};
use model::Instant;
use model::bounds::scheduling::{MAX_SLOT_DAYS, MAX_SLOTS};
use model::scheduling::event_type::{EventType, FreeBusyFailure, HostRole};
use model::scheduling::slots::{Slot, SlotAnswer, SlotQuery, UnavailableHost};
use scheduling::hours::Zone;
use scheduling::interval::Interval;
use scheduling::oracle::{self, Oracle};
use scheduling::rules::Question;
use serde_json::{Map, Value};
use storage::scheduling::{meeting_events, meetings};

use crate::app::App;
use crate::bookings::engine_input::{self, HostBusyTimes, SlotRange};
use crate::bookings::input::missing;
use crate::bookings::links::{self, Bookable};
use crate::bookings::{list, policy, rules, view};
use crate::connections::request_context::RequestContext;

/// Deadline of calendar reads; calendars that were not read by then are unknown.
const DEADLINE: Duration = Duration::from_millis(2_500);
const DAY_MS: i64 = 24 * 60 * 60_000;
/// Longest range.
const MAX_RANGE_MS: i64 = MAX_SLOT_DAYS * DAY_MS;
/// Most steps (starts times hosts) of a search on the thread of the request: some milliseconds.
const MAX_INLINE_STEPS: i64 = 200_000;

/// Fails if a required field is missing, or if the event type is given twice.
pub fn require_fields(body: &Map<String, Value>) -> Result<()> {
    let has = |field: &str| !matches!(body.get(field), None | Some(Value::Null));
    match (has("eventTypeId"), has("slug")) {
        (false, false) => return Err(missing("eventTypeId")),
        (true, true) => {
            let message = "slug and eventTypeId both name an event type; send one of them";
            return Err(invalid(Code::ConflictingFields, "slug", message));
        }
        _ => {}
    }
    match ["start", "end"].into_iter().find(|field| !has(field)) {
        Some(field) => Err(missing(field)),
        None => Ok(()),
    }
}

/// A page of slots from `from_ms` on, or from the first; and the position of the next page, if there is one.
pub async fn answer(
    app: &App,
    asker: &RequestContext,
    sees_hosts: bool,
    query: &SlotQuery,
    from_ms: Option<i64>,
) -> Result<(SlotAnswer, Option<i64>)> {
    let SlotSearchResult { bookable, zone, minutes, question, busy, mut slots, limit } =
        find(app, asker, query, from_ms, MAX_SLOTS).await?;
    let next = slots.get(limit).map(|slot| slot.at.start);
    slots.truncate(limit);
    let body = &bookable.body;
    let tells_seats = body.seats_per_slot.is_some() && (sees_hosts || body.show_seat_count);
    let print = |slot: &oracle::Slot| Slot {
        start: Instant::from_millis(slot.at.start),
        end: Instant::from_millis(slot.at.end),
        local_start: local(slot.at.start, &zone),
        host_ids: sees_hosts.then(|| ids(&question, slot)),
        host_count: i64::try_from(slot.hosts.len()).unwrap_or(i64::MAX),
        seats_remaining: tells_seats.then(|| i64::from(slot.seats_left)),
        slot_token: Some(view::slot_token(&app.keyring, &bookable.row, slot.at.start, minutes)),
    };
    let answer = SlotAnswer {
        data: slots.iter().map(print).collect(),
        next_cursor: None,
        computed_at: Instant::from_millis(question.now_ms),
        complete: busy.iter().all(Result::is_ok),
        unavailable_hosts: if sees_hosts { unavailable(&bookable, &busy) } else { Vec::new() },
        time_zone: zone.name,
    };
    Ok((answer, next))
}

/// The start of a slot, and what invitees may see of its seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotStart {
    pub at: Instant,
    /// Free seats; none if the event type does not show them.
    pub seats_left: Option<u32>,
}

/// The starts of the slots of one search, at most `most`: for callers who need a whole range at once, and nothing else of a slot.
pub async fn starts(
    app: &App,
    asker: &RequestContext,
    query: &SlotQuery,
    most: i64,
) -> Result<Vec<SlotStart>> {
    let found = find(app, asker, query, None, most).await?;
    let body = &found.bookable.body;
    let shows_seats = body.seats_per_slot.is_some() && body.show_seat_count;
    let starts = found.slots.iter().map(|slot| SlotStart {
        at: Instant::from_millis(slot.at.start),
        seats_left: shows_seats.then_some(slot.seats_left),
    });
    Ok(starts.take(found.limit).collect())
}

/// The result of a search.
struct SlotSearchResult {
    bookable: Bookable,
    /// The zone of local times.
    zone: Zone,
    /// The length of a meeting.
    minutes: i64,
    question: Question,
    busy: HostBusyTimes,
    /// One more than `limit`, if there are more.
    slots: Vec<oracle::Slot>,
    /// The requested number of slots.
    limit: usize,
}

/// The slots from `from_ms` on, or from the first; as many as the query asks for, at most `most`.
async fn find(
    app: &App,
    asker: &RequestContext,
    query: &SlotQuery,
    from_ms: Option<i64>,
    most: i64,
) -> Result<SlotSearchResult> {
    let range = range(query)?;
    let limit = limit(query.limit, most)?;
    let bookable = match (&query.event_type_id, &query.slug) {
        (Some(id), _) => links::by_id(app, asker, id).await?,
        (None, slug) => links::by_slug(app, asker, slug.as_deref().unwrap_or_default()).await?,
    };
    let body = &bookable.body;
    let zone = zone(query, &bookable)?;
    let minutes = rules::duration(body, query.duration_minutes)?;
    let rules = rules::for_event_type(body, minutes)?;
    check_hosts(query, &bookable)?;
    let mut ignored = engine_input::unwanted(app, body).await?;
    let moved = match &query.reschedule_booking_id {
        Some(id) => load_moved(app, asker, &bookable, id).await?,
        None => MovedBooking::default(),
    };
    ignored.extend(moved.ignored);
    let of = SlotRange { event_type: body, rules: &rules, range };
    let busy = engine_input::busy(app, asker, of, ignored, DEADLINE).await;
    let is_closed = body.free_busy_failure == FreeBusyFailure::Closed;
    if is_closed && is_unknown(body, &busy) {
        return Err(engine_input::unknown());
    }
    let stored = engine_input::stored(app.db.reader(), &bookable.row.id, of).await?;
    let mut question = engine_input::question(body, rules, range, &busy, &stored, app.now())?;
    question.moved = moved.meeting_id;
    question.only_hosts = both(query.host_ids.clone(), moved.only_hosts);
    let slots = search(app, asker, &question, from_ms.unwrap_or(range.start), limit + 1).await;
    Ok(SlotSearchResult { bookable, zone, minutes, question, busy, slots, limit })
}

/// Whether no candidate host's calendars could be read.
fn is_unknown(event_type: &EventType, busy: &HostBusyTimes) -> bool {
    let mut needed = event_type.hosts.iter().zip(busy).filter(|(host, _)| host.role != HostRole::Optional);
    needed.all(|(_, busy)| busy.is_err())
}

/// Walks the grid; with many hosts and a long range this is slow.
async fn search(
    app: &App,
    asker: &RequestContext,
    question: &Question,
    from_ms: i64,
    limit: usize,
) -> Vec<oracle::Slot> {
    let starts = question.range.len_ms() / question.rules.step_ms.max(1);
    let hosts = i64::try_from(question.hosts.len()).unwrap_or(i64::MAX);
    let work = || Oracle::new(question).slots(from_ms, limit);
    match starts.saturating_mul(hosts) > MAX_INLINE_STEPS {
        true => app.compute.run_heavy(&asker.tenant.application_id, work).await,
        false => work(),
    }
}

fn range(query: &SlotQuery) -> Result<Interval> {
    for (field, instant) in [("start", query.start), ("end", query.end)] {
        validate::year_of(field, instant)?;
    }
    let range = Interval::new(query.start.as_millis(), query.end.as_millis());
    if range.is_empty() {
        return Err(invalid(Code::InvalidTimeRange, "end", "end must be after start"));
    }
    if range.len_ms() > MAX_RANGE_MS {
        return Err(invalid(Code::RangeTooLarge, "end", "end may be at most 62 days after start"));
    }
    Ok(range)
}

fn limit(limit: Option<i64>, most: i64) -> Result<usize> {
    match limit.unwrap_or(most) {
        n if n < 1 => Err(fault("limit", &format!("must be from 1 to {most}"))),
        n => Ok(usize::try_from(n.min(most)).unwrap_or(usize::MAX)),
    }
}

/// The zone of local times: the requested one, else the event type's.
fn zone(query: &SlotQuery, bookable: &Bookable) -> Result<Zone> {
    let Some(name) = &query.time_zone else { return Ok(rules::zone(&bookable.body)) };
    Zone::named(name).ok_or_else(|| {
        let message = format!("timeZone: {name:?} is not an IANA time zone, such as Europe/Berlin");
        invalid(Code::InvalidTimeZone, "timeZone", message)
    })
}

fn check_hosts(query: &SlotQuery, bookable: &Bookable) -> Result<()> {
    let is_host = |id: &String| bookable.body.hosts.iter().any(|host| host.connection_id == *id);
    match query.host_ids.iter().flatten().position(|id| !is_host(id)) {
        Some(i) => Err(fault(&format!("hostIds[{i}]"), "is no host of this event type")),
        None => Ok(()),
    }
}

/// Changes of the question for a booking that is rescheduled: the same as in `reschedule`.
#[derive(Default)]
struct MovedBooking {
    /// Its meeting, which does not conflict with itself; none if others have seats in it.
    meeting_id: Option<String>,
    /// Its events, which do not count as busy.
    ignored: Vec<String>,
    /// The hosts of the rotation to which the choice is limited.
    only_hosts: Option<Vec<String>>,
}

async fn load_moved(
    app: &App,
    asker: &RequestContext,
    bookable: &Bookable,
    booking_id: &str,
) -> Result<MovedBooking> {
    let none = || not_found("booking of this event type");
    let reader = app.db.reader();
    let seat = match list::find(app, asker, booking_id).await {
        Ok(seat) if seat.row.event_type_id == bookable.row.id => seat,
        Err(e) if e.code() != Some(Code::NotFound) => return Err(e),
        _ => return Err(none()),
    };
    let meeting = meetings::find(reader, &seat.row.meeting_id).await?.ok_or_else(none)?;
    let mut moved = MovedBooking::default();
    if seat.is_alone_in(&meeting) {
        let events = meeting_events::of_meeting(reader, &meeting.id).await?;
        moved.ignored = events.into_iter().filter_map(|event| event.event_id).collect();
        moved.meeting_id = Some(meeting.id.clone());
    }
    moved.only_hosts = policy::hosts_to_keep(&bookable.body, &meeting.hosts);
    Ok(moved)
}

/// The intersection, if both are given; else the given one.
fn both(asked: Option<Vec<String>>, kept: Option<Vec<String>>) -> Option<Vec<String>> {
    match (asked, kept) {
        (Some(mut asked), Some(kept)) => {
            asked.retain(|id| kept.contains(id));
            Some(asked)
        }
        (asked, kept) => asked.or(kept),
    }
}

fn ids(question: &Question, slot: &oracle::Slot) -> Vec<String> {
    let hosts = slot.hosts.iter().filter_map(|index| question.hosts.get(usize::from(*index)));
    hosts.map(|host| host.id.clone()).collect()
}

fn unavailable(bookable: &Bookable, busy: &HostBusyTimes) -> Vec<UnavailableHost> {
    let each = bookable.body.hosts.iter().zip(busy);
    let failed = each.filter_map(|(host, answer)| Some((host, *answer.as_ref().err()?)));
    failed.map(|(host, code)| UnavailableHost { host_id: host.connection_id.clone(), code }).collect()
}

/// The local time with its offset, as in `2026-03-10T10:00:00+01:00`.
fn local(at_ms: i64, zone: &Zone) -> String {
    let zoned = Instant::from_millis(at_ms).timestamp().to_zoned(zone.rules.clone());
    zoned.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_no_more_slots_than_its_caller_takes() {
        assert_eq!(limit(None, MAX_SLOTS).unwrap(), 1_000);
        assert_eq!(limit(Some(18_000), MAX_SLOTS).unwrap(), 1_000);
        assert_eq!(limit(Some(18_000), 18_000).unwrap(), 18_000);
        assert!(limit(Some(0), MAX_SLOTS).is_err());
    }

    #[test]
    fn a_local_time_tells_its_offset() {
        let zone = Zone::named("Asia/Kathmandu").unwrap();
        assert_eq!(local(0, &zone), "1970-01-01T05:30:00+05:30");
        assert_eq!(local(0, &Zone::utc()), "1970-01-01T00:00:00+00:00");
    }
}
