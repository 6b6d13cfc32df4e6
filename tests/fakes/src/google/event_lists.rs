//! Lists of events: walks with page tokens and sync tokens, and the instances of a series.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::google::call::{CalendarAccess, Call, MethodResult, stored};
use crate::google::errors::ApiError;
use crate::google::facts;
use crate::google::instances;
use crate::google::render::EventView;
use crate::google::state::{Calendar, CalendarKind, EventRecord, State};
use crate::google::times::{self, EventTime};
use crate::google::tokens::{self, PageToken, SyncToken};

/// A walk through a calendar, as its first request began it.
struct EventWalk {
    access: CalendarAccess,
    sync: Option<SyncToken>,
    page: Option<PageToken>,
    parameters: String,
    /// The number of the latest change when the walk began.
    upper: u64,
}

/// `events.list`
pub fn list(state: &mut State, call: &Call) -> MethodResult {
    let walk = begin(state, call)?;
    let has_empty_page = walk.page.is_none() && state.traps.fires("empty_page");
    let is_bare = state.traps.is_on("bare_cancelled");
    let is_series_last = state.traps.is_on("series_last");
    let home = stored(state, &walk.access.id)?;
    let size = call.page_size(facts::number("pages", "events_usual"), facts::number("pages", "events_most"));
    let mut body = head(state, home, &walk);
    if has_empty_page {
        let after = walk.sync.as_ref().map_or(0, |sync| sync.number);
        body["items"] = json!([]);
        body["nextPageToken"] = PageToken { upper: walk.upper, after, is_empty: true }.to_text().into();
        return Ok(Some(body));
    }
    let is_ordered = call.is_set("singleEvents") || call.parameter("orderBy").is_some() || is_series_last;
    let base = walk.sync.as_ref().map_or(0, |sync| sync.number);
    let (records, next) = match is_ordered {
        true => {
            let mut records = chosen(state, home, call, &walk, base);
            if is_series_last {
                records.sort_by_key(|record| Reverse(record.text("recurringEventId").is_some()));
            }
            by_offset(records, &walk, size)
        }
        false => {
            let after = walk.page.as_ref().map_or(base, |page| page.after);
            let mut records = chosen(state, home, call, &walk, after);
            records.sort_by_key(|record| record.changed);
            let has_more = records.len() > size;
            records.truncate(size);
            let last = records.last().map_or(after, |record| record.changed);
            (records, has_more.then_some(last))
        }
    };
    let view = EventView::new(home, call, is_bare);
    body["items"] = records.iter().map(|record| view.show(record)).collect();
    match next {
        Some(after) => {
            body["nextPageToken"] = PageToken { upper: walk.upper, after, is_empty: false }.to_text().into();
        }
        // A walk whose parameters no sync token can have ends without one.
        None if !is_restricted(call) && !call.is_set("singleEvents") => {
            let token = SyncToken { number: walk.upper, parameters: walk.parameters };
            body["nextSyncToken"] = token.to_text().into();
        }
        None => {}
    }
    Ok(Some(body))
}

fn is_restricted(call: &Call) -> bool {
    call.query.iter().any(|(name, _)| facts::has("sync", "forbidden_with_token", name))
}

fn begin(state: &mut State, call: &Call) -> Result<EventWalk, ApiError> {
    let access = call.calendar(state)?;
    let sync = call.parameter("syncToken").map(SyncToken::parse).transpose()?;
    let page = call.parameter("pageToken").map(PageToken::parse).transpose()?;
    let parameters = tokens::fixed_parameters(&format!("events/{}", access.id), &call.query);
    if call.parameter("orderBy") == Some("startTime") && !call.is_set("singleEvents") {
        let message = "The requested ordering is not available for the particular query.";
        return Err(ApiError::invalid(message).at("parameter", "orderBy"));
    }
    if let (Some(from), Some(to)) = (call.instant("timeMin"), call.instant("timeMax"))
        && from >= to
    {
        return Err(ApiError::new(400, "timeRangeEmpty", "The specified time range is empty."));
    }
    if let Some(sync) = &sync {
        if is_restricted(call) || call.parameter("showDeleted") == Some("false") {
            return Err(tokens::restricted());
        }
        for (trap, reason) in
            [("full_sync_required", "fullSyncRequired"), ("updated_min_too_long_ago", "updatedMinTooLongAgo")]
        {
            if page.is_none() && state.traps.fires(trap) {
                return Err(ApiError::sync_token_expired(reason));
            }
        }
        if sync.number < stored(state, &access.id)?.valid_from {
            return Err(ApiError::sync_token_expired("fullSyncRequired"));
        }
        sync.check_parameters(&parameters)?;
    }
    let upper = page.as_ref().map_or(state.latest(), |page| page.upper);
    Ok(EventWalk { access, sync, page, parameters, upper })
}

/// The members that every page has.
fn head(state: &State, home: &Calendar, walk: &EventWalk) -> Value {
    let entry = state.users.values().find_map(|user| {
        (user.email == home.owner)
            .then(|| user.entries.get(&home.id)?.members.get("defaultReminders").cloned())
    });
    let mut body = json!({
        "kind": "calendar#events",
        "etag": format!("\"p{:08}\"", walk.upper),
        "summary": home.summary,
        "updated": times::stamp(state.clock.now_ms()),
        "timeZone": home.time_zone,
        "accessRole": walk.access.role,
        "defaultReminders": entry.flatten().unwrap_or_else(|| json!([])),
    });
    if let Some(description) = &home.description {
        body["description"] = description.clone().into();
    }
    body
}

/// The records of a walk that changed behind `after`, in no order that matters unless the request names one.
fn chosen(state: &State, home: &Calendar, call: &Call, walk: &EventWalk, after: u64) -> Vec<EventRecord> {
    let has_tombstones = home.kind != CalendarKind::Birthdays;
    let shows_deleted = has_tombstones && (call.is_set("showDeleted") || walk.sync.is_some());
    let is_single = call.is_set("singleEvents");
    let zone = home.zone();
    let until = call.instant("timeMax").unwrap_or_else(|| instances::horizon(state.clock.now_ms()));
    let mut records = Vec::new();
    for record in home.events.values().filter(|record| after < record.changed && record.changed <= walk.upper)
    {
        let is_exception = record.text("recurringEventId").is_some();
        if is_single && record.is_series() && !record.is_cancelled() {
            records.extend(instances::expand(home, record.text("id").unwrap_or_default(), until));
        } else if !is_single || !is_exception {
            records.push(record.clone());
        }
    }
    records.retain(|record| {
        // Cancelled instances of a series that stands are shown where the series is.
        let is_exclusion = !is_single
            && record
                .text("recurringEventId")
                .is_some_and(|series| home.events.get(series).is_some_and(|series| !series.is_cancelled()));
        (!record.is_cancelled() || shows_deleted || is_exclusion) && fits(home, call, record)
    });
    match call.parameter("orderBy") {
        Some("startTime") => {
            records.sort_by_key(|record| time(record, "start", zone).map(|at| at.instant(zone)))
        }
        _ => records.sort_by_key(|record| record.changed),
    }
    records
}

fn time(record: &EventRecord, name: &str, zone: chrono_tz::Tz) -> Option<EventTime> {
    record.members.get(name).and_then(|value| EventTime::parse(value, zone))
}

/// Returns whether a record matches the parameters of the request.
fn fits(home: &Calendar, call: &Call, record: &EventRecord) -> bool {
    let kinds: Vec<&str> =
        call.query.iter().filter(|(name, _)| name == "eventTypes").map(|(_, kind)| kind.as_str()).collect();
    let has_kind = kinds.is_empty() || kinds.contains(&record.text("eventType").unwrap_or("default"));
    let has_uid = call.parameter("iCalUID").is_none_or(|uid| record.text("iCalUID") == Some(uid));
    let has_text = call.parameter("q").is_none_or(|q| {
        let q = q.to_lowercase();
        ["summary", "description", "location"]
            .iter()
            .any(|name| record.text(name).is_some_and(|text| text.to_lowercase().contains(&q)))
    });
    let updated = record.text("updated").and_then(|text| times::parse_instant(text, None));
    let is_recent = call.instant("updatedMin").is_none_or(|least| updated.is_some_and(|at| at >= least));
    has_kind && has_uid && has_text && is_recent && is_in_range(home, call, record)
}

fn is_in_range(home: &Calendar, call: &Call, record: &EventRecord) -> bool {
    let zone = home.zone();
    let (from, to): (Option<DateTime<Utc>>, _) = (call.instant("timeMin"), call.instant("timeMax"));
    let start = time(record, "start", zone).map(|at| at.instant(zone));
    let end = time(record, "end", zone).map(|at| at.instant(zone)).or(start);
    let begins_before = to.is_none_or(|to| start.is_none_or(|start| start < to));
    // A series goes on: its first instance says nothing about its last.
    let ends_behind = from.is_none_or(|from| record.is_series() || end.is_none_or(|end| end > from));
    begins_before && ends_behind
}

/// The page of a list whose order is not that of its changes: page tokens count items.
fn by_offset(records: Vec<EventRecord>, walk: &EventWalk, size: usize) -> (Vec<EventRecord>, Option<u64>) {
    let page = walk.page.as_ref().filter(|page| !page.is_empty);
    let offset = page.map_or(0, |page| usize::try_from(page.after).unwrap_or(usize::MAX));
    let behind = offset.saturating_add(size);
    let next = (behind < records.len()).then_some(behind as u64);
    (records.into_iter().skip(offset).take(size).collect(), next)
}

/// `events.instances`
pub fn list_instances(state: &mut State, call: &Call) -> MethodResult {
    let access = call.calendar(state)?;
    let page = call.parameter("pageToken").map(PageToken::parse).transpose()?;
    let id = call.path("eventId").to_owned();
    let upper = page.as_ref().map_or(state.latest(), |page| page.upper);
    let parameters = String::new();
    let walk = EventWalk { access, sync: None, page, parameters, upper };
    let home = stored(state, &walk.access.id)?;
    let series = home.events.get(&id).ok_or_else(ApiError::not_found)?;
    if series.is_cancelled() {
        return Err(ApiError::gone());
    }
    let zone = home.zone();
    let original = call.parameter("originalStart");
    let wanted = original.and_then(|text| {
        let value = match text.len() {
            10 => json!({ "date": text }),
            _ => json!({ "dateTime": text }),
        };
        EventTime::parse(&value, zone)
    });
    if original.is_some() && wanted.is_none() {
        return Err(ApiError::invalid("Invalid value for originalStart.").at("parameter", "originalStart"));
    }
    let last = wanted.map(|wanted| wanted.instant(zone)).or_else(|| call.instant("timeMax"));
    let until = last.unwrap_or_else(|| instances::horizon(state.clock.now_ms()));
    let mut records = instances::expand(home, &id, until);
    records.retain(|record| {
        let is_wanted = wanted.is_none() || time(record, "originalStartTime", zone) == wanted;
        let is_shown = !record.is_cancelled() || call.is_set("showDeleted");
        is_wanted && is_shown && is_in_range(home, call, record)
    });
    let size = call.page_size(facts::number("pages", "events_usual"), facts::number("pages", "events_most"));
    let mut body = head(state, home, &walk);
    let (records, next) = by_offset(records, &walk, size);
    let view = EventView::new(home, call, false);
    body["items"] = records.iter().map(|record| view.show(record)).collect();
    if let Some(after) = next {
        body["nextPageToken"] = PageToken { upper, after, is_empty: false }.to_text().into();
    }
    Ok(Some(body))
}
