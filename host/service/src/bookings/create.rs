//! Creates a booking. Calendars are read first, of as few hosts as possible; everything else is decided and written in one transaction
//! (`decide`), under locks that let exactly one of several requests for the same time succeed. A database constraint also prevents
//! overlapping reservations of a host.

use std::collections::BTreeSet;
use std::time::Duration;

use base::error::{Code, Error, Result, invalid, refuse};
use base::ids::Kind;
use model::scheduling::booking::{BookingSource, NewBooking};
use model::scheduling::event_type::{Assignment, EventType, HostRole};
use scheduling::assign;
use scheduling::interval::Intervals;
use scheduling::oracle::{Oracle, Refusal, Slot};
use scheduling::rules::{Question, Rules};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::app::App;
use crate::app::sold_out_slots::SoldOutVersion;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::change::Viewer;
use crate::bookings::decide::{self, BookingDecision, BookingRefusal};
use crate::bookings::engine_input::{self, HostBusyTimes, SlotRange};
use crate::bookings::links::{self, Bookable};
use crate::bookings::locked_meeting::unavailable;
use crate::bookings::notify::sender;
use crate::bookings::{invitee_limit, new_booking, rotation, rules, view};

/// Deadline of calendar reads; calendars that were not read by then are unknown.
const DEADLINE: Duration = Duration::from_secs(8);
/// Time that a request waits for earlier requests for the same slot before it reads calendars itself.
const IN_LINE: Duration = Duration::from_millis(50);
/// Attempts after concurrent changes, in addition to one for each host.
const MAX_EXTRA_ATTEMPTS: usize = 3;
/// Hosts of a rotation whose calendars are read first. The others' are read only if none of them is free.
const FIRST_CANDIDATES: usize = 3;

/// The kind of client that books.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Booker {
    /// The form of a booking page.
    Page,
    /// A key that can only create bookings: it is embedded in pages, where anybody can read it.
    BrowserKey,
    /// Any other key.
    ServerKey,
}

impl Booker {
    /// Most bookings of an email address in the application within an hour; none: no limit.
    fn most_an_hour(self) -> Option<u32> {
        match self {
            Booker::Page | Booker::BrowserKey => Some(invitee_limit::MAX_BOOKINGS_PER_INVITEE),
            Booker::ServerKey => None,
        }
    }

    /// Refuses fields that this client may not set. `metadata` is the application's own record, and anybody can use a browser key.
    fn check(self, new: &NewBooking) -> Result<()> {
        if self == Booker::BrowserKey && !new.metadata.is_empty() {
            let message = "metadata needs a key with scheduling.read: leave it out, or book from your server";
            return Err(invalid(Code::InvalidParameter, "metadata", message));
        }
        Ok(())
    }

    fn source(self) -> BookingSource {
        match self {
            Booker::Page => BookingSource::Widget,
            Booker::BrowserKey | Booker::ServerKey => BookingSource::Api,
        }
    }
}

/// State that retries carry over from earlier attempts.
struct RetryState {
    /// Whether the calendars of all hosts must be read.
    reads_all: bool,
    /// Hosts whose accounts were disconnected.
    gone: BTreeSet<String>,
    /// Deadline of calendar reads.
    until: Instant,
}

/// Books a slot.
///
/// # Errors
/// 400 `invalid_parameter` for `metadata` with a browser key, 409 `slot_unavailable` if the search offers no such slot, 409
/// `booking_limit_reached` for an invitee with as many future bookings as the event type allows, 503 `availability_unknown` if it is
/// unknown whether the slot is free, 404 `not_found` for an event type that cannot be booked, 429 `rate_limited` for `inviteeEmail`, or a
/// guest's `email`, if the address has reached its hourly limit of bookings by a page or a browser key.
pub async fn create(
    app: &App,
    viewer: &Viewer<'_>,
    new: &NewBooking,
    by: Booker,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    by.check(new)?;
    let came = app.sold_out.moment();
    let mut lessons =
        RetryState { reads_all: false, gone: BTreeSet::new(), until: Instant::now() + DEADLINE };
    let mut tries = 0;
    loop {
        let most_an_hour = by.most_an_hour();
        let prepared = prepare(app, viewer, new, &lessons, came).await?;
        let mut wanted = BookingDecision { most_an_hour, ..prepared };
        wanted.booking.source = by.source();
        let most = MAX_EXTRA_ATTEMPTS + wanted.bookable.body.hosts.len();
        // Requests for the same slot queue here, and not at the database.
        let start_ms = new.start.as_millis();
        let _one = app.locks.lock(&format!("book:{}:{start_ms}", wanted.bookable.row.id)).await;
        let slot = slot_name(&wanted.bookable, &wanted.rules, start_ms);
        refuse_sold_out(app, &slot, came)?;
        let asked = app.sold_out.moment();
        let (held, attempt) = (app.clone(), attempt.clone());
        let booked: Result<StoredResponse, BookingRefusal> = app
            .db
            .write(move |tx| Box::pin(async move { decide::book(tx, &held, wanted, &attempt).await }))
            .await;
        tries += 1;
        let stop = match booked {
            Ok(answer) => return Ok(answer),
            Err(stop) => stop,
        };
        match stop {
            BookingRefusal::Refused(e) => return Err(e),
            BookingRefusal::Unread => lessons.reads_all = true,
            BookingRefusal::Gone(host) => {
                lessons.gone.insert(host);
            }
            BookingRefusal::SoldOut(refusal) => {
                let refused = decide::refused(&refusal);
                app.sold_out.keep(slot, asked, refusal, app.now());
                return Err(refused);
            }
            BookingRefusal::Taken if tries >= most => return Err(unavailable("this time is taken")),
            BookingRefusal::Changed if tries >= most => return Err(too_busy()),
            BookingRefusal::Taken | BookingRefusal::Changed => {}
        }
    }
}

fn too_busy() -> Error {
    refuse(Code::Overloaded, "the event type is being changed all the time; try again")
}

/// Returns the name of a slot in the cache of full slots (`sold_out`): the current version of an event type, a start and a length. Seats
/// and pools need no more, because the cache records that there is no room for another booking, not that there is a booking.
fn slot_name(bookable: &Bookable, rules: &Rules, start_ms: i64) -> String {
    format!("{}:{}:{start_ms}:{}", bookable.row.id, bookable.row.version, rules.duration_ms)
}

/// Refuses a slot that was found full after the request arrived.
fn refuse_sold_out(app: &App, slot: &str, came: SoldOutVersion) -> Result<()> {
    match app.sold_out.refusal(slot, came, app.now()) {
        Some(refusal) => Err(decide::refused(&refusal)),
        None => Ok(()),
    }
}

/// Validates the input, and reads the calendars of the candidate hosts.
async fn prepare(
    app: &App,
    viewer: &Viewer<'_>,
    new: &NewBooking,
    lessons: &RetryState,
    came: SoldOutVersion,
) -> Result<BookingDecision> {
    let asker = viewer.asker;
    let bookable = match &new.slug {
        Some(slug) => links::by_slug_of(app, asker, &new.event_type_id, slug).await?,
        None => links::by_id(app, asker, &new.event_type_id).await?,
    };
    let (booking, minutes) = new_booking::booking(new, &bookable.row.id, &bookable.body)?;
    let start_ms = new.start.as_millis();
    if let Some(token) = &new.slot_token
        && !view::is_slot_current(&app.keyring, token, &bookable.row, start_ms, minutes)?
    {
        return Err(unavailable("the event type was changed after this slot was offered"));
    }
    let rules = rules::for_event_type(&bookable.body, minutes)?;
    let name = slot_name(&bookable, &rules, start_ms);
    // Of many requests for one slot the first ones read calendars, and the others use their result.
    let _line = timeout(IN_LINE, app.locks.lock(&format!("look:{name}"))).await.ok();
    refuse_sold_out(app, &name, came)?;
    let (question, slot) = evaluate_slot(app, &bookable, &rules, &name, start_ms).await?;
    let asked = hosts_to_read(&bookable.body, &question, &slot, lessons);
    let is_partial = (0..bookable.body.hosts.len()).any(|index| is_left_out(&bookable.body, &asked, index));
    let ignored = engine_input::unwanted(app, &bookable.body).await?;
    let range = decide::starting_at(start_ms);
    let of = SlotRange { event_type: &bookable.body, rules: &rules, range };
    let busy = engine_input::busy_of(app, asker, of, ignored, &asked, lessons.until).await;
    let mut warnings = viewer.warnings.clone();
    let is_told = bookable.body.notifications.invitee;
    if is_told && !sender::is_there_one(app, &bookable.row.tenant, &bookable.body).await? {
        let message =
            "no mail is sent: neither a host's account nor notifications.connectionId was granted email.send";
        warnings.push(
            json!({ "code": "notification_unavailable", "message": message, "target": "inviteeEmail" }),
        );
    }
    Ok(BookingDecision {
        id: app.new_id(Kind::Booking),
        metadata: serde_json::to_string(&new.metadata)?,
        clock_hours: new.invitee_clock_hours,
        // Hosts with disconnected accounts are left out.
        is_partial: is_partial && !lessons.reads_all,
        bookable,
        booking,
        rules,
        busy,
        sees_hosts: viewer.sees_hosts,
        most_an_hour: None,
        warnings,
    })
}

/// Evaluates the slot as if all calendars were empty. A refusal here holds whatever the calendars contain, so they are not read. A full
/// slot is cached by its name.
async fn evaluate_slot(
    app: &App,
    bookable: &Bookable,
    rules: &Rules,
    name: &str,
    start_ms: i64,
) -> Result<(Question, Slot)> {
    let began = app.sold_out.moment();
    let (reader, body, range) = (app.db.reader(), &bookable.body, decide::starting_at(start_ms));
    let nothing: HostBusyTimes = body.hosts.iter().map(|_| Ok(Intervals::default())).collect();
    let of = SlotRange { event_type: body, rules, range };
    let stored = engine_input::stored(reader, &bookable.row.id, of).await?;
    let mut question = engine_input::question(body, rules.clone(), range, &nothing, &stored, app.now())?;
    rotation::count(reader, &bookable.row, &mut question, start_ms).await?;
    let found = Oracle::new(&question).at(start_ms);
    match found {
        Ok(slot) => Ok((question, slot)),
        Err(refusal) => {
            let refused = decide::refused(&refusal);
            if matches!(refusal, Refusal::Taken | Refusal::LimitReached(_)) {
                app.sold_out.keep(name.to_owned(), began, refusal, app.now());
            }
            Err(refused)
        }
    }
}

/// The indices of the hosts whose calendars are read: in a rotation the required hosts, and those who are next. None for a seat in an
/// existing meeting: its hosts' time is already reserved.
fn hosts_to_read(body: &EventType, question: &Question, slot: &Slot, lessons: &RetryState) -> Vec<usize> {
    let is_there = |index: &usize| {
        body.hosts.get(*index).is_some_and(|host| !lessons.gone.contains(&host.connection_id))
    };
    let all = (0..body.hosts.len()).filter(is_there);
    if lessons.reads_all {
        return all.collect();
    }
    if slot.joins.is_some() {
        return Vec::new();
    }
    if !matches!(body.assignment, Assignment::RoundRobin | Assignment::Priority) {
        return all.collect();
    }
    let is_free = |index: &usize| u16::try_from(*index).is_ok_and(|index| slot.hosts.contains(&index));
    let first = assign::turns(question).into_iter().filter(is_free).filter(is_there).take(FIRST_CANDIDATES);
    let required =
        all.filter(|index| body.hosts.get(*index).is_some_and(|host| host.role == HostRole::Required));
    required.chain(first).collect()
}

/// Whether a candidate host's calendars are not read.
fn is_left_out(body: &EventType, asked: &[usize], index: usize) -> bool {
    let can_be_chosen = body.hosts.get(index).is_some_and(|host| host.role != HostRole::Optional);
    can_be_chosen && !asked.contains(&index)
}

#[cfg(test)]
mod tests {
    use model::scheduling::event_type::{Host, RoundRobinStrategy};
    use scheduling::interval::Interval;

    use super::*;

    fn pool() -> EventType {
        let host = |(n, role): (usize, HostRole)| Host {
            connection_id: format!("conn_{n}"),
            role,
            // The last host comes first.
            priority: -i64::try_from(n).unwrap(),
            ..Host::default()
        };
        let roles = [HostRole::Required, HostRole::Optional].into_iter();
        let roles = roles.chain(std::iter::repeat_n(HostRole::Rotation, 6));
        EventType {
            hosts: roles.enumerate().map(host).collect(),
            assignment: Assignment::RoundRobin,
            round_robin_strategy: RoundRobinStrategy::LeastLoaded,
            ..EventType::default()
        }
    }

    fn question(body: &EventType) -> Question {
        let rules = rules::for_event_type(body, 30).unwrap();
        let busy: HostBusyTimes = body.hosts.iter().map(|_| Ok(Intervals::default())).collect();
        engine_input::question(
            body,
            rules,
            Interval::new(0, 1),
            &busy,
            &engine_input::StoredReservations::default(),
            0,
        )
        .unwrap()
    }

    fn lessons(reads_all: bool, gone: &[&str]) -> RetryState {
        let gone = gone.iter().map(|id| (*id).to_owned()).collect();
        RetryState { reads_all, gone, until: Instant::now() }
    }

    #[test]
    fn of_a_pool_those_are_asked_whose_turn_comes_first() {
        let body = pool();
        let question = question(&body);
        let slot =
            Slot { at: Interval::new(0, 1), hosts: vec![0, 2, 3, 4, 5, 7], seats_left: 1, joins: None };
        assert_eq!(hosts_to_read(&body, &question, &slot, &lessons(false, &[])), [0, 7, 5, 4]);
        assert_eq!(hosts_to_read(&body, &question, &slot, &lessons(false, &["conn_5"])), [0, 7, 4, 3]);
        assert_eq!(
            hosts_to_read(&body, &question, &slot, &lessons(true, &["conn_5"])),
            [0, 1, 2, 3, 4, 6, 7]
        );
        let seat = Slot { joins: Some("mtg_1".to_owned()), ..slot.clone() };
        assert!(hosts_to_read(&body, &question, &seat, &lessons(false, &[])).is_empty());
    }
}
