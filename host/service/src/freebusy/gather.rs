//! Reads busy times: of the account's own calendars from their events, of calendars that show nothing else and of other people from the
//! provider's free/busy. A target that cannot be read is an error of that target and never free.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use base::error::{Code, Error, Result, not_found};
use futures::FutureExt;
use futures::future::BoxFuture;
use futures::stream::{self, StreamExt, TryStreamExt};
use model::Instant;
use model::calendar::{AccessRole, BusyInterval, Calendar, IncludeInAvailability};
use model::calendar_query::{TargetError, TargetErrorCode};
use model::wire::calendar::{FreeBusyAnswer, FreeBusyRequest};
use runtime::Surface;
use scheduling::hours::Zone;
use scheduling::interval::Interval;
use storage::connections::Connection;
use storage::items::Item;
use tokio::sync::OnceCell;

use crate::app::App;
use crate::connections;
use crate::connections::provider_call::fetch;
use crate::connections::request_context::RequestContext;
use crate::freebusy::busy::{self, BusyStretch, Rules};
use crate::freebusy::calendars::{self, ConnectionCalendars, PreloadedConnection};
use crate::freebusy::question::BusyQuery;
use crate::freebusy::{DAY_MS, events};
use crate::resources::events::instances::too_many;
use crate::sync;

/// Targets that are read at once.
const CONCURRENT_TARGETS: usize = 8;
/// Calendars of one target that are read at once.
const CONCURRENT_CALENDARS: usize = 4;
/// Cost of merging one busy time, in units of `Compute::run` (bytes read).
const BUSY_COST: usize = 8;
/// Most busy times that one request holds, in calendars and targets together: about 100 MB.
const MAX_HELD: usize = 1_000_000;

/// The owner of busy times: calendars of a connection, or a person.
#[derive(Clone, Debug, PartialEq)]
pub enum BusyOwner {
    /// Calendars of a connection; without a list, all that count toward availability.
    Calendars { connection_id: String, calendar_ids: Option<Vec<String>> },
    /// An email address, read through a connection.
    Person { email: String, connection_id: String },
}

/// Results that one request has read, by name: a result that several targets need is read once, and a failure is not retried.
struct Readings<T>(Mutex<HashMap<String, BusyRead<T>>>);

type BusyRead<T> = Arc<OnceCell<Result<Arc<T>, TargetError>>>;

impl<T> Default for Readings<T> {
    fn default() -> Self {
        Readings(Mutex::default())
    }
}

impl<T> Readings<T> {
    /// Returns the result with this name. The first caller reads it, the others wait. `read` is boxed, because a large future would make
    /// all futures around it as large.
    async fn get(&self, name: &str, read: BoxFuture<'_, Result<T>>) -> Result<Arc<T>, TargetError> {
        let reading = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.entry(name.to_owned()).or_default().clone()
        };
        let read = async { read.await.map(Arc::new).map_err(|e| target_error(&e)) };
        reading.get_or_init(|| read).await.clone()
    }
}

/// State that the targets of one request share.
#[derive(Default)]
struct SharedTargets {
    /// Connections that were loaded together, until each is opened.
    known: Mutex<HashMap<String, PreloadedConnection>>,
    connections: Readings<ConnectionCalendars>,
    /// By calendar id.
    calendars: Readings<Vec<BusyStretch>>,
    /// Number of busy times that were read and copied.
    held: AtomicUsize,
}

impl SharedTargets {
    /// Preloads all connections of the targets.
    async fn load(
        app: &App,
        asker: &RequestContext,
        question: &BusyQuery,
        targets: &[BusyOwner],
    ) -> SharedTargets {
        let connection_id = |whose: &BusyOwner| match whose {
            BusyOwner::Calendars { connection_id, .. } => Some(connection_id.clone()),
            BusyOwner::Person { .. } => None,
        };
        let ids: BTreeSet<String> = targets.iter().filter_map(connection_id).collect();
        let ids: Vec<String> = ids.into_iter().collect();
        if ids.len() < 2 {
            return SharedTargets::default();
        }
        // If the joint read fails, each connection is read by itself, and only a failure there is an error.
        let known = calendars::open_together(app, asker, &ids, scope(question)).await.unwrap_or_else(|e| {
            tracing::warn!(error = %e, "connections could not be read together");
            HashMap::new()
        });
        SharedTargets { known: Mutex::new(known), ..SharedTargets::default() }
    }

    /// Opens a connection, using its preloaded state.
    async fn open(
        &self,
        app: &App,
        asker: &RequestContext,
        question: &BusyQuery,
        connection_id: &str,
    ) -> Result<ConnectionCalendars> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(connection_id);
        match known {
            None => calendars::open(app, asker, connection_id, scope(question)).await,
            Some(PreloadedConnection::Opened(opened)) => Ok(opened),
            Some(PreloadedConnection::Found(connection)) => {
                calendars::open_found(app, asker, connection).await
            }
            Some(PreloadedConnection::Refused(e)) => Err(e),
        }
    }

    /// Adds to the number of busy times in memory. Fails beyond the limit of a request.
    fn hold(&self, count: usize) -> Result<()> {
        let held = self.held.fetch_add(count, Ordering::Relaxed).saturating_add(count);
        if held > MAX_HELD { Err(too_many()) } else { Ok(()) }
    }
}

/// One answer for each target, in their order; unsorted, and joined if no details are requested. A calendar that several targets name is
/// read once.
pub async fn busy_of(
    app: &App,
    asker: &RequestContext,
    question: &BusyQuery,
    targets: &[BusyOwner],
) -> Vec<Result<Vec<BusyStretch>, TargetError>> {
    let shared = SharedTargets::load(app, asker, question, targets).boxed().await;
    // Collected first: a stream over a closure that borrows would not be `Send`.
    let answers: Vec<_> = targets.iter().map(|whose| one(app, asker, question, &shared, whose)).collect();
    stream::iter(answers).buffered(CONCURRENT_TARGETS).collect().await
}

/// As `busy_of`, with a deadline: a target that was not read by `until` is `provider_unavailable`.
pub async fn busy_by(
    app: &App,
    asker: &RequestContext,
    question: &BusyQuery,
    targets: &[BusyOwner],
    until: tokio::time::Instant,
) -> Vec<Result<Vec<BusyStretch>, TargetError>> {
    let shared = SharedTargets::load(app, asker, question, targets).boxed();
    // If the preload takes too long, so does everything else.
    let shared = tokio::time::timeout_at(until, shared).await.unwrap_or_default();
    let answers: Vec<_> = targets
        .iter()
        .map(|whose| tokio::time::timeout_at(until, one(app, asker, question, &shared, whose)))
        .collect();
    let answers: Vec<Result<_, _>> = stream::iter(answers).buffered(CONCURRENT_TARGETS).collect().await;
    answers.into_iter().map(|answer| answer.unwrap_or_else(|_| Err(late()))).collect()
}

fn late() -> TargetError {
    let message = "the provider did not answer in time".to_owned();
    TargetError { code: TargetErrorCode::ProviderUnavailable, message }
}

async fn one(
    app: &App,
    asker: &RequestContext,
    question: &BusyQuery,
    shared: &SharedTargets,
    whose: &BusyOwner,
) -> Result<Vec<BusyStretch>, TargetError> {
    let found = match whose {
        BusyOwner::Calendars { connection_id, calendar_ids } => {
            of_connection(app, asker, question, shared, connection_id, calendar_ids.as_deref()).await?
        }
        BusyOwner::Person { email, connection_id } => {
            let found = of_person(app, asker, question, email, connection_id).await;
            found.map_err(|e| target_error(&e))?
        }
    };
    if question.details {
        return Ok(found);
    }
    let cost = found.len().saturating_mul(BUSY_COST);
    Ok(app.compute.run(&asker.tenant.application_id, cost, || busy::joined(found)).await)
}

/// Maps an error to the target's status.
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
        | Code::AdminBlocked
        | Code::InsufficientScope
        | Code::Forbidden
        | Code::ConnectionInactive
        | Code::CapabilityNotSupported
        | Code::ProviderRejected => TargetErrorCode::NoAccess,
        _ => TargetErrorCode::ProviderUnavailable,
    };
    TargetError { code, message: refusal.message.clone() }
}

fn scope(question: &BusyQuery) -> &'static str {
    if question.details { "calendar.read" } else { "calendar.freebusy" }
}

async fn of_person(
    app: &App,
    asker: &RequestContext,
    question: &BusyQuery,
    email: &str,
    connection_id: &str,
) -> Result<Vec<BusyStretch>> {
    let connection = asker.connection(app, connection_id, scope(question)).await?;
    let request = FreeBusyRequest { email: Some(email.to_owned()), ..FreeBusyRequest::default() };
    from_provider(app, asker, &connection, question, request).await
}

async fn of_connection(
    app: &App,
    asker: &RequestContext,
    question: &BusyQuery,
    shared: &SharedTargets,
    connection_id: &str,
    calendar_ids: Option<&[String]>,
) -> Result<Vec<BusyStretch>, TargetError> {
    let open = shared.open(app, asker, question, connection_id).boxed();
    let opened = shared.connections.get(connection_id, open).await?;
    let connection = &opened.connection;
    let chosen = choose_calendars(&opened.calendars, calendar_ids).map_err(|e| target_error(&e))?;
    let (hidden, readable): (Vec<_>, Vec<_>) =
        chosen.into_iter().partition(|(_, body)| body.access_role == AccessRole::FreeBusyReader);
    let answers: Vec<_> = readable
        .into_iter()
        .map(|(item, body)| {
            let read = async move {
                let found = of_calendar(app, asker, connection, question, item, body).await?;
                shared.hold(found.len())?;
                Ok::<_, Error>(found)
            };
            shared.calendars.get(&item.id, read.boxed())
        })
        .collect();
    let read: Vec<Arc<Vec<BusyStretch>>> =
        stream::iter(answers).buffered(CONCURRENT_CALENDARS).try_collect().await?;
    let count = read.iter().map(|busy| busy.len()).sum();
    shared.hold(count).map_err(|e| target_error(&e))?;
    let mut busy: Vec<BusyStretch> = read.iter().flat_map(|busy| busy.iter().cloned()).collect();
    if !hidden.is_empty() {
        let collections = hidden.into_iter().map(|(item, _)| item.external_id.clone()).collect();
        let request = FreeBusyRequest { collections, ..FreeBusyRequest::default() };
        let found = from_provider(app, asker, connection, question, request).await;
        busy.extend(found.map_err(|e| target_error(&e))?);
    }
    Ok(busy)
}

/// The calendars that a target selects.
// Contract silent: what `includeInAvailability` means for a calendar that is named. `none` keeps it out of "all calendars" and no
// more; `attending` says which of its events count, and holds either way.
fn choose_calendars<'a>(
    all: &'a [(Item, Calendar)],
    ids: Option<&[String]>,
) -> Result<Vec<&'a (Item, Calendar)>> {
    let Some(ids) = ids else {
        let counts =
            |(_, body): &&(Item, Calendar)| body.include_in_availability != IncludeInAvailability::None;
        return Ok(all.iter().filter(counts).collect());
    };
    if ids.iter().any(|id| !all.iter().any(|(item, _)| item.id == *id)) {
        return Err(not_found("calendar in this connection"));
    }
    Ok(all.iter().filter(|(item, _)| ids.contains(&item.id)).collect())
}

async fn of_calendar(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    question: &BusyQuery,
    calendar: &Item,
    body: &Calendar,
) -> Result<Vec<BusyStretch>> {
    let rules = Rules {
        attending: body.include_in_availability == IncludeInAvailability::Attending,
        is_owned: body.is_owned,
        zone: body.time_zone.as_deref().and_then(Zone::named).unwrap_or_else(|| question.zone.clone()),
        tentative_as_busy: question.tentative_as_busy,
    };
    let asked_at = app.now();
    connections::usable(connection)?;
    let scope = crate::sync::scope::scope(calendar)?;
    // Even for a calendar with push: a delay of a minute could show a busy time as free.
    Box::pin(sync::ensure_fresh(app, connection, &scope, asker.no_cache)).await?;
    let mut found = Vec::new();
    // One day more on each side: all-day events span other instants in this zone than in the one that they were stored with.
    for near in question.ranges.widen(DAY_MS, DAY_MS).iter() {
        found.extend(events::busy_between(app, asker, calendar, question, &rules, near).await?);
    }
    calendars::must_be_fresh(app, connection, &scope, asked_at)?;
    Ok(found)
}

/// The provider's own free/busy, range by range.
async fn from_provider(
    app: &App,
    asker: &RequestContext,
    connection: &Connection,
    question: &BusyQuery,
    request: FreeBusyRequest,
) -> Result<Vec<BusyStretch>> {
    let mut found = Vec::new();
    for range in question.ranges.iter() {
        let (start, end) = (Instant::from_millis(range.start), Instant::from_millis(range.end));
        let args = FreeBusyRequest { start, end, ..request.clone() };
        let answer: FreeBusyAnswer =
            fetch(app, connection, asker, Surface::Calendar, "freebusy.query", &args).await?;
        found.extend(answer.busy.iter().filter_map(|b| of_interval(b, question.tentative_as_busy)));
    }
    Ok(found)
}

fn of_interval(busy: &BusyInterval, tentative_as_busy: bool) -> Option<BusyStretch> {
    use model::calendar::ShowAs;
    let counts = match busy.show_as {
        ShowAs::Free | ShowAs::WorkingElsewhere => false,
        ShowAs::Tentative => tentative_as_busy,
        ShowAs::Busy | ShowAs::Oof => true,
    };
    let at = Interval::new(busy.start.as_millis(), busy.end.as_millis());
    counts.then_some(BusyStretch { at, show_as: busy.show_as, event_id: None, title: None, unexpanded: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_holds_no_more_busy_times_than_it_may() {
        let shared = SharedTargets::default();
        assert!(shared.hold(MAX_HELD - 1).is_ok() && shared.hold(1).is_ok());
        let refused = shared.hold(1).err().and_then(|e| e.code());
        assert_eq!(refused, Some(Code::RangeTooLarge));
    }
}
