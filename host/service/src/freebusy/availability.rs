//! The availability query: checks it, gathers the members' busy times, and lets the engine search.

use base::error::{Code, Error, Result, invalid};
use model::Instant;
use model::bounds::free_busy::{
    MAX_AVAILABILITY_DAYS, MAX_HOURS, MAX_IGNORED, MAX_LIMIT, MAX_MEMBERS, MAX_PERIODS,
};
use model::bounds::{DAY_MINUTES, YEAR_MINUTES};
use model::calendar_query::{
    AvailabilityAnswer, AvailabilityFormat, AvailabilityQuery, AvailableTime, Member, OpenHours,
    ParticipantGroup, RequiredMembers, TargetError, UnavailableMember,
};
use model::formats;
use model::wire::Warning;
use scheduling::grid::Grid;
use scheduling::hours::{Fault, FaultKind, Hours, Zone, windows};
use scheduling::interval::{Interval, Intervals};
use scheduling::slots::{self, Group, Layout, Search, Time};
use serde_json::{Map, Value};

use crate::app::App;
use crate::connections::request_context::RequestContext;
use crate::freebusy::busy::BusyStretch;
use crate::freebusy::gather::{self, BusyOwner};
use crate::freebusy::question::BusyQuery;
use crate::freebusy::{DAY_MS, check_calendar_ids, missing, range, require, unexpanded, zone};

const MINUTE_MS: i64 = 60_000;
/// Cost of one busy time in a search; one start of one member costs 1.
const BUSY_COST: usize = 8;

/// Fails if a required field is missing. Values are checked when they are parsed.
pub fn require_fields(body: &Map<String, Value>) -> Result<()> {
    require(body, "", &["durationMinutes", "participants"])?;
    let periods = body.get("queryPeriods").and_then(Value::as_array);
    for (i, period) in periods.into_iter().flatten().enumerate() {
        if let Value::Object(period) = period {
            require(period, &format!("queryPeriods[{i}]."), &["start", "end"])?;
        }
    }
    Ok(())
}

/// Answers a query.
pub async fn answer(
    app: &App,
    asker: &RequestContext,
    query: &AvailabilityQuery,
) -> Result<AvailabilityAnswer> {
    let plan = Plan::from_query(query)?;
    let reach = plan.buffers.0.max(plan.buffers.1);
    let question = BusyQuery {
        ranges: plan.periods.widen(reach, reach),
        zone: plan.zone.clone(),
        // Contract silent: this query has no `tentativeAsBusy`. What may take place is not offered to others.
        tentative_as_busy: true,
        details: false,
        ignored: query.ignore_event_ids.iter().cloned().collect(),
    };
    let targets = plan.targets();
    let answers = gather::busy_of(app, asker, &question, &targets).await;
    let now = app.now();
    let busy_count = answers.iter().flatten().map(Vec::len).sum();
    let find = || {
        let busy_of = |whose: &BusyOwner| {
            targets.iter().position(|t| t == whose).and_then(|i| answers[i].as_ref().ok())
        };
        let search = plan.search(now, busy_of);
        let times = match query.response_format {
            AvailabilityFormat::Slots => slots::slots(&search, Layout::Apart),
            AvailabilityFormat::OverlappingSlots => slots::slots(&search, Layout::Overlapping),
            AvailabilityFormat::Periods => slots::stretches(&search),
        };
        (times, slots::order(&search))
    };
    let (times, order) = app.compute.run(&asker.tenant.application_id, plan.cost(busy_count), find).await;
    let unavailable = unavailable(&targets, &answers);
    Ok(AvailabilityAnswer {
        data: times.into_iter().map(available).collect(),
        order,
        complete: unavailable.is_empty(),
        unavailable,
        warnings: warnings(&targets, &answers, &question.ranges),
    })
}

fn available(time: Time) -> AvailableTime {
    AvailableTime {
        start: Instant::from_millis(time.at.start),
        end: Instant::from_millis(time.at.end),
        participants: time.members,
    }
}

fn unavailable(
    targets: &[BusyOwner],
    answers: &[Result<Vec<BusyStretch>, TargetError>],
) -> Vec<UnavailableMember> {
    let mut out: Vec<UnavailableMember> = Vec::new();
    for (target, answer) in targets.iter().zip(answers) {
        if let (BusyOwner::Calendars { connection_id, .. }, Err(e)) = (target, answer)
            && !out.iter().any(|u| u.connection_id == *connection_id)
        {
            out.push(UnavailableMember { connection_id: connection_id.clone(), code: e.code });
        }
    }
    out
}

/// Returns the warnings about series that cannot be expanded, at most one for each connection.
fn warnings(
    targets: &[BusyOwner],
    answers: &[Result<Vec<BusyStretch>, TargetError>],
    ranges: &Intervals,
) -> Vec<Warning> {
    let mut out: Vec<Warning> = Vec::new();
    for (target, answer) in targets.iter().zip(answers) {
        if let (BusyOwner::Calendars { connection_id, .. }, Ok(found)) = (target, answer) {
            for warning in unexpanded(found, ranges, connection_id) {
                if !out.contains(&warning) {
                    out.push(warning);
                }
            }
        }
    }
    out
}

/// A validated query.
#[derive(Debug)]
struct Plan {
    periods: Intervals,
    zone: Zone,
    duration_ms: i64,
    step_ms: i64,
    /// Milliseconds before and after a meeting.
    buffers: (i64, i64),
    notice_ms: i64,
    groups: Vec<(Vec<Person>, usize)>,
    limit: usize,
}

#[derive(Debug)]
struct Person {
    whose: BusyOwner,
    connection_id: String,
    /// None: open at all times.
    hours: Option<Vec<Hours>>,
}

impl Plan {
    fn from_query(query: &AvailabilityQuery) -> Result<Plan> {
        let duration = within("durationMinutes", query.duration_minutes, 1, DAY_MINUTES)?;
        let step = query.slot_interval_minutes.unwrap_or(duration);
        let step = within("slotIntervalMinutes", step, 1, DAY_MINUTES)?;
        let before = within("bufferBeforeMinutes", query.buffer_before_minutes, 0, DAY_MINUTES)?;
        let after = within("bufferAfterMinutes", query.buffer_after_minutes, 0, DAY_MINUTES)?;
        let notice = within("minNoticeMinutes", query.min_notice_minutes, 0, YEAR_MINUTES)?;
        for (field, ids) in
            [("ignoreEventIds", &query.ignore_event_ids), ("ignoreBookingIds", &query.ignore_booking_ids)]
        {
            if ids.len() > MAX_IGNORED {
                return Err(invalid(
                    Code::InvalidParameter,
                    field,
                    format!("{field} has at most {MAX_IGNORED} ids"),
                ));
            }
            if let Some(i) = ids.iter().position(|id| !formats::Id::is_match(id)) {
                let message = format!("{field}[{i}] must be an id; got {:?}", ids[i]);
                return Err(invalid(Code::InvalidParameter, format!("{field}[{i}]"), message));
            }
        }
        let limit = query.limit.unwrap_or(MAX_LIMIT);
        if limit < 1 {
            return Err(invalid(Code::InvalidParameter, "limit", format!("limit is from 1 to {MAX_LIMIT}")));
        }
        // Contract silent: the zone of hours that name none, in a query that names none. UTC, for all members alike.
        let zone = zone("timeZone", query.time_zone.as_deref())?.unwrap_or_else(Zone::utc);
        Ok(Plan {
            periods: periods(query)?,
            groups: groups(query, &zone)?,
            zone,
            duration_ms: duration * MINUTE_MS,
            step_ms: step * MINUTE_MS,
            buffers: (before * MINUTE_MS, after * MINUTE_MS),
            notice_ms: notice * MINUTE_MS,
            limit: usize::try_from(limit.min(MAX_LIMIT)).unwrap_or(usize::MAX),
        })
    }

    /// The cost of the search, in units of `Compute::run`: each start for each member, and each busy time.
    fn cost(&self, busy_count: usize) -> usize {
        let starts = usize::try_from(self.periods.len_ms() / self.step_ms.max(1)).unwrap_or(usize::MAX);
        let members: usize = self.groups.iter().map(|(people, _)| people.len()).sum();
        starts.saturating_mul(members).saturating_add(busy_count.saturating_mul(BUSY_COST))
    }

    /// The calendars and people to read, without duplicates.
    fn targets(&self) -> Vec<BusyOwner> {
        let mut out: Vec<BusyOwner> = Vec::new();
        for person in self.groups.iter().flat_map(|(people, _)| people) {
            if !out.contains(&person.whose) {
                out.push(person.whose.clone());
            }
        }
        out
    }

    fn search<'a>(
        &self,
        now_ms: i64,
        busy_of: impl Fn(&BusyOwner) -> Option<&'a Vec<BusyStretch>>,
    ) -> Search {
        let mut hours: Vec<Interval> = Vec::new();
        let mut group = |(people, required): &(Vec<Person>, usize)| {
            let mut member = |person: &Person| {
                let open = person.hours.as_ref().map(|hours| self.windows(hours));
                hours.extend(open.iter().flatten());
                slots::Member {
                    id: person.connection_id.clone(),
                    open: open.map(|o| o.into_iter().collect()),
                    busy: busy_of(&person.whose).map(|b| b.iter().map(|b| b.at).collect()),
                }
            };
            Group { members: people.iter().map(&mut member).collect(), required: *required }
        };
        let groups = self.groups.iter().map(&mut group).collect();
        Search {
            periods: self.periods.clone(),
            duration_ms: self.duration_ms,
            step_ms: self.step_ms,
            buffer_before_ms: self.buffers.0,
            buffer_after_ms: self.buffers.1,
            // Contract silent: whether times that are over are offered. Without a notice the periods are taken as they are.
            earliest_ms: if self.notice_ms == 0 { i64::MIN } else { now_ms + self.notice_ms },
            grid: self.grid(&hours),
            groups,
            limit: self.limit,
        }
    }

    // Contract silent: whose grid it is. In open hours it is that of the hours, of every member who has some: a start that is
    // round for one of them. Elsewhere, where only members without hours can meet, it is that of whole days in the query's
    // zone, so that the range itself never moves the grid.
    fn grid(&self, hours: &[Interval]) -> Vec<Grid> {
        let covered: Intervals = hours.iter().copied().collect();
        let mut grid: Vec<Grid> = hours.iter().copied().map(Grid::from).collect();
        for day in self.windows(&[Hours::whole_days(self.zone.clone())]) {
            let rest = Intervals::from(day).subtract(&covered);
            grid.extend(rest.iter().map(|at| Grid { at, origin: day.start }));
        }
        grid.sort_unstable();
        grid.dedup();
        grid
    }

    /// The windows of open hours that overlap the periods. Periods can be years apart, so each is handled by itself.
    fn windows(&self, hours: &[Hours]) -> Vec<Interval> {
        let mut out: Vec<Interval> = self.periods.iter().flat_map(|period| windows(hours, period)).collect();
        out.sort_unstable();
        out.dedup();
        out
    }
}

fn within(field: &str, value: i64, least: i64, most: i64) -> Result<i64> {
    if (least..=most).contains(&value) {
        return Ok(value);
    }
    Err(invalid(Code::InvalidParameter, field, format!("{field} must be from {least} to {most}")))
}

fn periods(query: &AvailabilityQuery) -> Result<Intervals> {
    let found: Intervals = match (query.start, query.end) {
        (None, None) if query.query_periods.is_empty() => {
            let message = "start and end are required, or queryPeriods";
            return Err(invalid(Code::MissingField, "start", message));
        }
        (None, None) => {
            if query.query_periods.len() > MAX_PERIODS {
                let message = format!("queryPeriods has at most {MAX_PERIODS} periods");
                return Err(invalid(Code::InvalidParameter, "queryPeriods", message));
            }
            let of = |(i, p): (usize, &model::calendar_query::Period)| {
                let (start, end) = (format!("queryPeriods[{i}].start"), format!("queryPeriods[{i}].end"));
                range([&start, &end], p.start, p.end)
            };
            query.query_periods.iter().enumerate().map(of).collect::<Result<_>>()?
        }
        _ if !query.query_periods.is_empty() => {
            let message = "send either start and end, or queryPeriods";
            return Err(invalid(Code::ConflictingFields, "queryPeriods", message));
        }
        (Some(start), Some(end)) => Intervals::from(range(["start", "end"], start, end)?),
        (None, Some(_)) => return Err(missing("start".into())),
        (Some(_), None) => return Err(missing("end".into())),
    };
    if found.len_ms() > MAX_AVAILABILITY_DAYS * DAY_MS {
        let field = if query.query_periods.is_empty() { "end" } else { "queryPeriods" };
        let message =
            format!("{field}: at most {MAX_AVAILABILITY_DAYS} days in all; ask for a shorter range");
        return Err(invalid(Code::RangeTooLarge, field, message));
    }
    Ok(found)
}

fn groups(query: &AvailabilityQuery, zone: &Zone) -> Result<Vec<(Vec<Person>, usize)>> {
    let count: usize = query.participants.iter().map(|g| g.members.len()).sum();
    if query.participants.is_empty() || count > MAX_MEMBERS {
        let code = if count == 0 { Code::MissingField } else { Code::InvalidParameter };
        let message = format!("participants names groups with 1 to {MAX_MEMBERS} members in all");
        return Err(invalid(code, "participants", message));
    }
    let shared = hours("openHours", &query.open_hours, zone)?;
    let of =
        |(i, g): (usize, &ParticipantGroup)| group(&format!("participants[{i}]"), g, shared.as_deref(), zone);
    query.participants.iter().enumerate().map(of).collect()
}

fn group(
    path: &str,
    group: &ParticipantGroup,
    shared: Option<&[Hours]>,
    zone: &Zone,
) -> Result<(Vec<Person>, usize)> {
    if group.members.is_empty() {
        return Err(missing(format!("{path}.members")));
    }
    let size = group.members.len();
    let required = match group.required {
        RequiredMembers::Word(_) => Some(size),
        RequiredMembers::Count(n) => usize::try_from(n).ok().filter(|n| (1..=size).contains(n)),
    };
    let Some(required) = required else {
        let field = format!("{path}.required");
        let message = format!("{field} must be \"all\" or from 1 to {size}, the number of members");
        return Err(invalid(Code::InvalidParameter, field, message));
    };
    let mut people: Vec<Person> = Vec::with_capacity(size);
    for (i, member) in group.members.iter().enumerate() {
        let path = format!("{path}.members[{i}]");
        if people.iter().any(|p| p.connection_id == member.connection_id) {
            let field = format!("{path}.connectionId");
            let message = format!("{field} is in this group already; name all its calendars in one member");
            return Err(invalid(Code::InvalidParameter, field, message));
        }
        people.push(person(&path, member, shared, zone)?);
    }
    Ok((people, required))
}

fn person(path: &str, member: &Member, shared: Option<&[Hours]>, zone: &Zone) -> Result<Person> {
    if member.connection_id.is_empty() {
        return Err(missing(format!("{path}.connectionId")));
    }
    check_calendar_ids(&format!("{path}.calendarIds"), member.calendar_ids.as_deref())?;
    if member.schedule_id.is_some() {
        let field = format!("{path}.scheduleId");
        let (code, message) = match member.open_hours {
            Some(_) => (Code::ConflictingFields, format!("{field}: send either openHours or scheduleId")),
            None => (Code::InvalidParameter, format!("{field}: there is no such schedule; send openHours")),
        };
        return Err(invalid(code, field, message));
    }
    let own = match &member.open_hours {
        Some(rows) => hours(&format!("{path}.openHours"), rows, zone)?,
        None => shared.map(<[Hours]>::to_vec),
    };
    let whose = BusyOwner::Calendars {
        connection_id: member.connection_id.clone(),
        calendar_ids: member.calendar_ids.clone(),
    };
    Ok(Person { whose, connection_id: member.connection_id.clone(), hours: own })
}

/// Rows of open hours; none for an empty list, which is no restriction.
fn hours(path: &str, rows: &[OpenHours], zone: &Zone) -> Result<Option<Vec<Hours>>> {
    if rows.len() > MAX_HOURS {
        return Err(invalid(Code::InvalidParameter, path, format!("{path} has at most {MAX_HOURS} rows")));
    }
    let read =
        |(i, row)| Hours::read(row, zone).map_err(|fault| hours_error(&format!("{path}[{i}]"), &fault));
    let read: Vec<Hours> = rows.iter().enumerate().map(read).collect::<Result<_>>()?;
    Ok(Some(read).filter(|rows| !rows.is_empty()))
}

fn hours_error(path: &str, fault: &Fault) -> Error {
    let code = match fault.kind {
        FaultKind::Missing => Code::MissingField,
        FaultKind::Invalid => Code::InvalidParameter,
        FaultKind::TimeZone => Code::InvalidTimeZone,
    };
    let field = format!("{path}.{}", fault.field);
    invalid(code, field, format!("{path}: {}", fault.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(query: serde_json::Value) -> Plan {
        Plan::from_query(&serde_json::from_value(query).unwrap()).unwrap()
    }

    fn starts(plan: &Plan) -> Vec<String> {
        let free = Vec::new();
        let found = slots::slots(&plan.search(0, |_| Some(&free)), Layout::Overlapping);
        let time = |t: i64| Instant::from_millis(t).to_string().chars().skip(11).take(5).collect();
        found.iter().map(|t| time(t.at.start)).collect()
    }

    #[test]
    fn outside_the_open_hours_of_some_the_others_meet_on_the_grid_of_the_day() {
        let hours = serde_json::json!([{ "days": [2], "start": "09:15", "end": "11:15" }]);
        let plan = plan(serde_json::json!({
            "durationMinutes": 60,
            "start": "2026-03-10T07:00:00Z",
            "end": "2026-03-10T13:30:00Z",
            "participants": [{
                "members": [{ "connectionId": "conn_1", "openHours": hours }, { "connectionId": "conn_2" }],
                "required": 1
            }]
        }));
        assert_eq!(starts(&plan), ["07:00", "08:00", "09:00", "09:15", "10:15", "12:00"]);
    }

    #[test]
    fn periods_years_apart_are_looked_at_one_by_one() {
        let plan = plan(serde_json::json!({
            "durationMinutes": 60,
            "queryPeriods": [
                { "start": "2026-03-10T07:00:00Z", "end": "2026-03-10T09:00:00Z" },
                { "start": "2126-03-10T10:30:00Z", "end": "2126-03-10T12:00:00Z" }
            ],
            "participants": [{ "members": [{ "connectionId": "conn_1" }] }]
        }));
        assert_eq!(starts(&plan), ["07:00", "08:00", "11:00"]);
    }

    #[test]
    fn a_calendar_list_is_asked_for_once() {
        let member = serde_json::json!({ "connectionId": "conn_1", "calendarIds": ["cal_1"] });
        let all = serde_json::json!({ "connectionId": "conn_1" });
        let plan = plan(serde_json::json!({
            "durationMinutes": 60,
            "start": "2026-03-10T07:00:00Z",
            "end": "2026-03-10T09:00:00Z",
            "participants": [{ "members": [member] }, { "members": [all] }, { "members": [member] }]
        }));
        assert_eq!(plan.targets().len(), 2);
    }
}
