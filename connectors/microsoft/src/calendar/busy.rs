//! Busy times of the account's own calendars, out of their events. Graph computes none for a calendar that is not the default one.

use connector_sdk::http::Request;
use connector_sdk::rest::batch::{Part, PartOutcome};
use connector_sdk::{Context, Failure, Outcome};
use model::Instant;
use model::calendar::{BusyInterval, ShowAs};
use model::calendar_query::Period;
use model::wire::calendar::{FreeBusyAnswer, FreeBusyRequest};

use crate::api::{accepted, object};
use crate::calendar::info::MailboxInfo;
use crate::calendar::instance::utc_text;
use crate::calendar::native::{Event, EventPage};
use crate::calendar::roots::calendars;
use crate::calendar::schedule;
use crate::calendar::times::times_of;
use crate::odata::batch;
use crate::odata::page::{Token, token};

/// The members of an instance that say whether it makes busy.
const MEMBERS: &str = "id,type,start,end,showAs,isAllDay,isCancelled,responseStatus";
/// Instances of a page of a calendar.
const PAGE_SIZE: usize = 500;
/// Pages of all calendars that one call reads.
const MAX_PAGES: usize = 200;
/// The time by which the view is read beyond both ends, milliseconds: a day of the mailbox's zone begins up to 14 hours before or after the
/// day in UTC, as which Graph may take it.
const DAY_OFFSET_MS: i64 = 14 * 3_600_000;
/// The purpose of the requests, for messages.
const READING: &str = "reading the busy times";

/// Returns the busy times of the account's calendars, or of another person by address. A calendar that Graph does not tell of makes the
/// query fail: it must not look free.
pub fn free_busy(context: &Context, args: &FreeBusyRequest) -> Outcome<FreeBusyAnswer> {
    if args.end <= args.start {
        return Err(Failure::invalid("end must be after start"));
    }
    if args.email.is_none() && args.collections.is_empty() {
        return Err(Failure::invalid("collections is empty: name the calendars, or an email"));
    }
    let mut busy = Vec::new();
    if let Some(address) = &args.email {
        busy.extend(schedule::busy_times(context, address, Period { start: args.start, end: args.end })?);
    }
    if !args.collections.is_empty() {
        busy.extend(own_busy_times(context, args)?);
    }
    Ok(FreeBusyAnswer { busy })
}

/// The range of a view, as Graph writes it.
struct ViewBounds {
    start: String,
    end: String,
}

/// A page of a calendar's instances to be read.
#[derive(Clone, Debug)]
struct ViewPage {
    calendar: String,
    /// The parameter and value by which the request goes on from the page before.
    position: Option<(&'static str, String)>,
    /// Instances before this page.
    before: usize,
}

fn own_busy_times(context: &Context, args: &FreeBusyRequest) -> Outcome<Vec<BusyInterval>> {
    let mailbox = MailboxInfo::of_call(context, None);
    let moved = |at: Instant, by: i64| utc_text(Instant::from_millis(at.as_millis().saturating_add(by)));
    let bounds = ViewBounds { start: moved(args.start, -DAY_OFFSET_MS), end: moved(args.end, DAY_OFFSET_MS) };
    let first = |calendar: &String| ViewPage { calendar: calendar.clone(), position: None, before: 0 };
    let mut left: Vec<ViewPage> = args.collections.iter().map(first).collect();
    let (mut busy, mut count) = (Vec::new(), 0);
    while !left.is_empty() {
        count += left.len();
        if count > MAX_PAGES {
            return Err(Failure::invalid("this is too long a time, or too many calendars, for one query"));
        }
        let parts = left.iter().enumerate().map(|(at, page)| part_of(at, page, &bounds));
        let parts: Vec<Part> = parts.collect::<Outcome<_>>()?;
        let outcome = batch::read(context, parts, batch::MAX_PARTS, READING)?;
        if let Some(wait) = outcome.wait {
            return Err(wait);
        }
        let mut next = Vec::new();
        for (page, (_, part)) in left.iter().zip(outcome.parts) {
            let PartOutcome::Answered(response) = part else {
                return Err(Failure::unavailable("the provider does not tell of one of the calendars"));
            };
            let answer: EventPage = object(&accepted(context, response, READING)?)?;
            next.extend(next_page(page, &answer)?);
            for record in &answer.value {
                let event = serde_json::from_str::<Event>(record.get()).map_err(|_| unreadable())?;
                let interval = interval_of(&event, &mailbox)?;
                busy.extend(interval.filter(|one| one.start < args.end && args.start < one.end));
            }
        }
        left = next;
    }
    Ok(busy)
}

fn part_of(at: usize, page: &ViewPage, bounds: &ViewBounds) -> Outcome<Part> {
    let top = PAGE_SIZE.to_string();
    let mut query = vec![
        ("startDateTime", bounds.start.as_str()),
        ("endDateTime", bounds.end.as_str()),
        ("$select", MEMBERS),
        ("$top", top.as_str()),
    ];
    query.extend(page.position.as_ref().map(|(name, value)| (*name, value.as_str())));
    let url = calendars(&[&page.calendar, "calendarView"], &query)?;
    Ok(Part::new(at.to_string(), Request::get(url)))
}

fn next_page(page: &ViewPage, answer: &EventPage) -> Outcome<Option<ViewPage>> {
    let Some(link) = answer.next_link.as_deref().filter(|_| !answer.value.is_empty()) else {
        return Ok(None);
    };
    let before = page.before + answer.value.len();
    let position = match token(link)? {
        Token::Skip(value) => ("$skiptoken", value),
        Token::Offset(_) | Token::Delta(_) => ("$skip", before.to_string()),
    };
    Ok(Some(ViewPage { calendar: page.calendar.clone(), position: Some(position), before }))
}

/// The busy time of an instance; none where it leaves its time free.
fn interval_of(event: &Event, mailbox: &MailboxInfo) -> Outcome<Option<BusyInterval>> {
    let show_as = match event.show_as.as_deref() {
        Some("free" | "workingElsewhere") => return Ok(None),
        Some("tentative") => ShowAs::Tentative,
        Some("oof") => ShowAs::Oof,
        _ => ShowAs::Busy,
    };
    let response = event.response_status.as_ref().and_then(|status| status.response.as_deref());
    if event.is_cancelled == Some(true) || response == Some("declined") {
        return Ok(None);
    }
    let times = times_of(event, &mailbox.time_zone)?;
    let is_long = times.end > times.start;
    Ok(is_long.then_some(BusyInterval { start: times.start, end: times.end, show_as }))
}

fn unreadable() -> Failure {
    Failure::unavailable("the provider's page has an event that cannot be read")
}
