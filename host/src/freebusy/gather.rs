//! Reads busy times: of the connections' own calendars from their events, of calendars that show nothing else and of other
//! people from the provider's own answer. What cannot be read is an error of that one target and never free.

use std::collections::HashSet;

use base::error::{Code, Error, Result, not_found, refuse};
use futures::stream::{self, StreamExt, TryStreamExt};
use model::Instant;
use model::calendar::{AccessRole, BusyInterval, Calendar, IncludeInAvailability};
use model::calendar_query::{TargetError, TargetErrorCode};
use model::wire::calendar::{FreeBusyAnswer, FreeBusyRequest};
use runtime::Surface;
use scheduling::hours::Zone;
use scheduling::interval::{Interval, Intervals};
use storage::connections::Connection;
use storage::items::{self, Item};

use crate::app::App;
use crate::connections;
use crate::freebusy::DAY_MS;
use crate::freebusy::busy::{Busy, Rules};
use crate::freebusy::events;
use crate::resources::{Asker, Kind, collections, fetch};
use crate::sync::{self, Scope};

/// Targets that are read at once.
const CONCURRENT_TARGETS: usize = 8;
/// Calendars of one target that are read at once.
const CONCURRENT_CALENDARS: usize = 4;
/// Calendars read from the database at a time.
const PAGE: i64 = 200;

/// Whose time.
#[derive(Clone, Debug, PartialEq)]
pub enum Whose {
    /// Calendars of a connection; without a list, all that count as busy.
    Calendars { connection_id: String, calendar_ids: Option<Vec<String>> },
    /// Somebody's address, seen through a connection.
    Person { email: String, connection_id: String },
}

/// What is asked of every target.
#[derive(Clone, Debug)]
pub struct Question {
    /// Busy times that overlap these are read; some beside them are found too.
    pub ranges: Intervals,
    /// The zone of all-day events in calendars without one.
    pub zone: Zone,
    pub tentative_as_busy: bool,
    /// Ids and titles of the events too.
    pub details: bool,
    /// Ids of events, series or instances that do not count.
    pub ignored: HashSet<String>,
}

/// One answer per target, in their order; neither sorted nor merged.
pub async fn busy_of(
    app: &App,
    asker: &Asker,
    question: &Question,
    targets: &[Whose],
) -> Vec<Result<Vec<Busy>, TargetError>> {
    // Collected first: a stream over a closure that borrows would not be `Send`.
    let answers: Vec<_> = targets.iter().map(|whose| one(app, asker, question, whose)).collect();
    stream::iter(answers).buffered(CONCURRENT_TARGETS).collect().await
}

async fn one(app: &App, asker: &Asker, question: &Question, whose: &Whose) -> Result<Vec<Busy>, TargetError> {
    let found = match whose {
        Whose::Calendars { connection_id, calendar_ids } => {
            of_connection(app, asker, question, connection_id, calendar_ids.as_deref()).await
        }
        Whose::Person { email, connection_id } => of_person(app, asker, question, email, connection_id).await,
    };
    found.map_err(|e| target_error(&e))
}

/// An error as the target's status.
fn target_error(e: &Error) -> TargetError {
    let Error::Refused(refusal) = e else {
        tracing::error!(error = %e, "busy times could not be read");
        let message = "busy times could not be read".to_owned();
        return TargetError { code: TargetErrorCode::ProviderUnavailable, message };
    };
    let code = match refusal.code {
        Code::NotFound => TargetErrorCode::NotFound,
        Code::ReauthRequired => TargetErrorCode::ReauthRequired,
        Code::ScopeNotGranted
        | Code::InsufficientScope
        | Code::Forbidden
        | Code::ConnectionInactive
        | Code::CapabilityNotSupported
        | Code::ProviderRejected => TargetErrorCode::NoAccess,
        _ => TargetErrorCode::ProviderUnavailable,
    };
    TargetError { code, message: refusal.message.clone() }
}

fn scope(question: &Question) -> &'static str {
    if question.details { "calendar.read" } else { "calendar.freebusy" }
}

async fn of_person(
    app: &App,
    asker: &Asker,
    question: &Question,
    email: &str,
    connection_id: &str,
) -> Result<Vec<Busy>> {
    let connection = asker.connection(app, connection_id, scope(question)).await?;
    let request = FreeBusyRequest { email: Some(email.to_owned()), ..FreeBusyRequest::default() };
    from_provider(app, asker, &connection, question, request).await
}

async fn of_connection(
    app: &App,
    asker: &Asker,
    question: &Question,
    connection_id: &str,
    calendar_ids: Option<&[String]>,
) -> Result<Vec<Busy>> {
    let connection = asker.connection(app, connection_id, scope(question)).await?;
    let asked_at = app.now();
    let list = Scope::collections(Kind::Calendar);
    sync::ensure_fresh(app, &connection, &list, asker.no_cache).await?;
    must_be_fresh(app, &connection, &list, asked_at)?;
    let chosen = chosen(all_calendars(app, asker, &connection).await?, calendar_ids)?;
    let (hidden, readable): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|(_, body)| body.access_role == AccessRole::FreeBusyReader);
    let answers: Vec<_> = readable
        .iter()
        .map(|(item, body)| of_calendar(app, asker, &connection, question, item, body))
        .collect();
    let mut busy: Vec<Busy> =
        stream::iter(answers).buffered(CONCURRENT_CALENDARS).try_collect::<Vec<_>>().await?.concat();
    if !hidden.is_empty() {
        let collections = hidden.into_iter().map(|(item, _)| item.external_id).collect();
        let request = FreeBusyRequest { collections, ..FreeBusyRequest::default() };
        busy.extend(from_provider(app, asker, &connection, question, request).await?);
    }
    Ok(busy)
}

/// An older copy serves readers while the provider is down; here it could tell a time as free that is not.
// Contract silent: how old busy times may be. As fresh as any read; a copy that could not be brought up to date is no answer.
fn must_be_fresh(app: &App, connection: &Connection, scope: &Scope, asked_at: i64) -> Result<()> {
    let read_at = app.freshness.get(&scope.lock_name(connection));
    if read_at.is_some_and(|at| at >= asked_at - app.config.freshness_ms) {
        return Ok(());
    }
    Err(refuse(
        Code::ProviderUnavailable,
        "the provider does not answer, so it is not known whether this time is free",
    ))
}

async fn all_calendars(app: &App, asker: &Asker, connection: &Connection) -> Result<Vec<(Item, Calendar)>> {
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let (reader, kind) = (app.db.reader(), Kind::Calendar.as_str());
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

/// The calendars that are meant.
// Contract silent: what `includeInAvailability` means for a calendar that is named. `none` keeps it out of "all calendars" and no
// more; `attending` says which of its events count, and holds either way.
fn chosen(all: Vec<(Item, Calendar)>, ids: Option<&[String]>) -> Result<Vec<(Item, Calendar)>> {
    let Some(ids) = ids else {
        let counts =
            |(_, body): &(Item, Calendar)| body.include_in_availability != IncludeInAvailability::None;
        return Ok(all.into_iter().filter(counts).collect());
    };
    if ids.iter().any(|id| !all.iter().any(|(item, _)| item.id == *id)) {
        return Err(not_found("calendar in this connection"));
    }
    Ok(all.into_iter().filter(|(item, _)| ids.contains(&item.id)).collect())
}

async fn of_calendar(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    question: &Question,
    calendar: &Item,
    body: &Calendar,
) -> Result<Vec<Busy>> {
    let rules = Rules {
        attending: body.include_in_availability == IncludeInAvailability::Attending,
        is_owned: body.is_owned,
        zone: body.time_zone.as_deref().and_then(Zone::named).unwrap_or_else(|| question.zone.clone()),
        tentative_as_busy: question.tentative_as_busy,
    };
    let asked_at = app.now();
    connections::usable(connection)?;
    collections::freshen(app, asker, connection, calendar).await?;
    let mut found = Vec::new();
    // A day to each side: days of the zone of an all-day event begin and end somewhere else than those it was stored with.
    for near in question.ranges.widen(DAY_MS, DAY_MS).iter() {
        let range = (near.start, near.end);
        found.extend(events::busy_between(app, asker, calendar, (question, &rules), range).await?);
    }
    must_be_fresh(app, connection, &collections::scope(calendar)?, asked_at)?;
    Ok(found)
}

/// The provider's own free/busy, range by range.
async fn from_provider(
    app: &App,
    asker: &Asker,
    connection: &Connection,
    question: &Question,
    request: FreeBusyRequest,
) -> Result<Vec<Busy>> {
    let mut found = Vec::new();
    for range in question.ranges.iter() {
        let (start, end) = (Instant::from_millis(range.start), Instant::from_millis(range.end));
        let args = FreeBusyRequest { start, end, ..request.clone() };
        let answer: FreeBusyAnswer =
            fetch(app, connection, asker, (Surface::Calendar, "freebusy.query"), &args).await?;
        found.extend(answer.busy.iter().filter_map(|b| of_interval(b, question.tentative_as_busy)));
    }
    Ok(found)
}

fn of_interval(busy: &BusyInterval, tentative_as_busy: bool) -> Option<Busy> {
    use model::calendar::ShowAs;
    let counts = match busy.show_as {
        ShowAs::Free => false,
        ShowAs::Tentative => tentative_as_busy,
        ShowAs::Busy | ShowAs::Oof | ShowAs::WorkingElsewhere => true,
    };
    let at = Interval::new(busy.start.as_millis(), busy.end.as_millis());
    counts.then_some(Busy { at, show_as: busy.show_as, event_id: None, title: None, unexpanded: None })
}
