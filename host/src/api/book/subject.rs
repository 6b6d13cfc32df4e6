//! The visitor of a request to the page, and the event type of its address.

use std::net::IpAddr;

use axum::extract::Request;
use base::error::{Result, not_found};
use base::tenant::Tenant;
use http::header;
use model::Instant;
use scheduling::hours::Zone;
use service::app::App;
use service::bookings::handle;
use service::bookings::links::{self, Bookable};
use service::bookings::rules::{self, MINUTE_MS};
use service::connections::request_context::RequestContext;
use service::locale::Language;
use service::locale::dates::Hours;
use storage::scheduling::applications;
use storage::scheduling::bookings::BookingRow;

use crate::api::book::booked::BookedEvent;
use crate::api::book::choice::Choice;
use crate::web::client_ip::{client_ip, peer};
use crate::web::request_id;

/// Characters of a `User-Agent` that are read.
const MAX_USER_AGENT: usize = 512;

/// The request for a page: the visitor's choices, language and clock.
#[derive(Clone)]
pub struct PageRequest {
    pub choice: Choice,
    pub language: Language,
    pub hours: Hours,
    /// The relative path from the current address to `/book/`, because a proxy can have moved the pages below another path.
    pub up: String,
    pub ip: IpAddr,
    /// The header `User-Agent`, cut.
    pub user_agent: String,
    pub request_id: String,
}

impl PageRequest {
    pub fn from_request(app: &App, request: &Request) -> PageRequest {
        let choice = Choice::read(request.uri().query().unwrap_or_default());
        let accepted = request.headers().get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let preferred = || Language::preferred(accepted.unwrap_or_default());
        let agent = request.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        PageRequest {
            language: choice.language.unwrap_or_else(preferred),
            hours: choice.hours.unwrap_or_default(),
            up: "../".repeat(request.uri().path().matches('/').count().saturating_sub(2)),
            choice,
            ip: client_ip(peer(request), request.headers(), &app.config.trusted_proxies),
            user_agent: agent.unwrap_or_default().chars().take(MAX_USER_AGENT).collect(),
            request_id: request_id::new(&app.clock, &app.entropy),
        }
    }
}

impl PageRequest {
    /// The same request with the clock that was chosen for a booking, unless the address names one.
    pub fn with_clock_of(&self, row: &BookingRow) -> PageRequest {
        let chosen = self.choice.hours.or(row.clock_hours.and_then(Hours::of_number));
        let choice = Choice { hours: chosen, ..self.choice.clone() };
        PageRequest { choice, hours: chosen.unwrap_or_default(), ..self.clone() }
    }
}

/// The application and event type in an address.
pub struct Address {
    /// The application; none: the one that addresses without an application belong to.
    pub handle: Option<String>,
    pub slug: String,
}

/// An event type that can be booked by this visitor.
pub struct BookableEventType {
    pub asker: RequestContext,
    pub bookable: Bookable,
    /// The visitor's zone, or the host's if the visitor gave no valid one.
    pub zone: Zone,
    /// Whether the visitor gave a valid zone.
    pub has_own_zone: bool,
    /// Length of the meeting: the chosen one, if the event type has it.
    pub minutes: i64,
    /// The booking to be rescheduled; none: a new one is made.
    pub moved: Option<BookingToMove>,
}

/// A booking to be rescheduled.
pub struct BookingToMove {
    pub id: String,
    /// The token in its addresses.
    pub token: String,
    /// Its current start.
    pub start: Instant,
    pub end: Instant,
}

impl BookableEventType {
    /// Finds the event type of an address. `may_be_over`: accepts expired links.
    ///
    /// # Errors
    /// `not_found` for everything else that cannot be booked.
    pub async fn find(
        app: &App,
        visit: &PageRequest,
        address: &Address,
        may_be_over: bool,
    ) -> Result<BookableEventType> {
        let tenant = match &address.handle {
            Some(handle) => tenant_of_handle(app, handle).await?,
            None => default_tenant(app).await?,
        };
        let asker = asker(tenant.ok_or_else(|| not_found("booking link"))?, visit);
        let bookable = match may_be_over {
            true => links::by_any_slug(app, &asker, &address.slug).await?,
            false => links::by_slug(app, &asker, &address.slug).await?,
        };
        let own = visit.choice.zone.as_deref().and_then(Zone::named);
        let has_duration = |minutes: &i64| rules::duration(&bookable.body, Some(*minutes)).is_ok();
        let minutes = visit.choice.minutes.filter(has_duration).unwrap_or(bookable.body.duration_minutes);
        Ok(BookableEventType {
            has_own_zone: own.is_some(),
            zone: own.unwrap_or_else(|| rules::zone(&bookable.body)),
            asker,
            minutes,
            bookable,
            moved: None,
        })
    }

    /// The event type of a booking to be rescheduled: with the invitee's zone and the current length, unless the visitor chose others.
    ///
    /// # Errors
    /// `not_found` if the event type can no longer be booked.
    pub async fn of_booking(
        app: &App,
        visit: &PageRequest,
        booked: &BookedEvent,
    ) -> Result<BookableEventType> {
        let (row, body) = (&booked.row, &booked.body);
        let asker = asker(row.tenant.clone(), visit);
        let bookable = links::by_id(app, &asker, &row.event_type_id).await?;
        let own = visit.choice.zone.as_deref().and_then(Zone::named);
        let of_invitee = body.invitee.time_zone.as_deref().and_then(Zone::named);
        let has_duration = |minutes: &i64| rules::duration(&bookable.body, Some(*minutes)).is_ok();
        let before = (row.end_at - row.start_at) / MINUTE_MS;
        let minutes = visit.choice.minutes.filter(has_duration).or(Some(before).filter(has_duration));
        Ok(BookableEventType {
            has_own_zone: own.is_some() || (visit.choice.zone.is_none() && of_invitee.is_some()),
            zone: own.or(of_invitee).unwrap_or_else(|| rules::zone(&bookable.body)),
            asker,
            minutes: minutes.unwrap_or(bookable.body.duration_minutes),
            moved: Some(BookingToMove {
                id: row.id.clone(),
                token: booked.token.clone(),
                start: Instant::from_millis(row.start_at),
                end: Instant::from_millis(row.end_at),
            }),
            bookable,
        })
    }

    /// Whether this is the current start of the booking to be rescheduled.
    pub fn is_now(&self, start: Instant) -> bool {
        self.moved.as_ref().is_some_and(|moved| (moved.start, moved.end) == (start, self.end(start)))
    }

    /// The end of a meeting that begins at `start`.
    pub fn end(&self, start: Instant) -> Instant {
        Instant::from_millis(start.as_millis().saturating_add(self.minutes * MINUTE_MS))
    }
}

/// The request context of a visitor with a booking link.
pub fn asker(tenant: Tenant, visit: &PageRequest) -> RequestContext {
    RequestContext::for_visitor(tenant, visit.request_id.clone())
}

/// The application of a handle: its id without the prefix, or its booking name.
async fn tenant_of_handle(app: &App, name: &str) -> Result<Option<Tenant>> {
    let reader = app.db.reader();
    if let Some(id) = handle::application_of(name)
        && let Some(tenant) = applications::by_id(reader, &id).await?
    {
        return Ok(Some(tenant));
    }
    Ok(applications::by_handle(reader, name).await?)
}

/// The application of addresses without one.
async fn default_tenant(app: &App) -> Result<Option<Tenant>> {
    let reader = app.db.reader();
    Ok(match &app.config.booking_application {
        Some(id) => applications::by_id(reader, id).await?,
        None => applications::oldest(reader).await?,
    })
}
