//! Lookup of event types for booking, by id or slug, as long as they can be booked. Unknown, inactive, expired, used-up and foreign ones
//! have the same answer. Besides its own slug an event type has links that are created and deleted one by one.

use base::error::{Code, Result, not_found, refuse};
use base::input::validate::{self, fault};
use model::Instant;
use model::scheduling::event_type::EventType;
use model::scheduling::slots::{BookingLink, Branding, NewBookingLink, PublicHost, PublicPlace};
use serde_json::Value;
use storage::Tx;
use storage::scheduling::event_types::EventTypeRow;
use storage::scheduling::links::LinkRow;
use storage::scheduling::{event_types as event_type_rows, links as table};

use crate::app::App;
use crate::app::stored_response::{IdempotentAttempt, StoredResponse};
use crate::bookings::event_types::{self, StoredEventType};
use crate::bookings::{handle, input, rules, schedules};
use crate::connections::request_context::RequestContext;

/// An event type that can be booked.
#[derive(Clone)]
pub struct Bookable {
    pub row: EventTypeRow,
    pub body: EventType,
    /// The link that was used.
    pub link: Option<LinkRow>,
    /// The etag of the shared schedule whose hours are in the body; none if the event type uses none.
    pub schedule_etag: Option<String>,
}

impl Bookable {
    /// Resolves the hours of an event type.
    async fn from_stored(app: &App, found: StoredEventType, link: Option<LinkRow>) -> Result<Bookable> {
        let StoredEventType { row, mut body } = found;
        let schedule_etag = schedules::resolve(app.db.reader(), &row.tenant, &mut body).await?;
        Ok(Bookable { row, body, link, schedule_etag })
    }

    /// Whether the link that was used has expired.
    pub fn is_over(&self, now: i64) -> bool {
        self.link.as_ref().is_some_and(|link| is_over(link, now))
    }
}

/// An event type that can be booked, by its id.
pub async fn by_id(app: &App, asker: &RequestContext, id: &str) -> Result<Bookable> {
    let found = event_types::find_to_book(app, asker, id).await?;
    if !found.body.active {
        return Err(not_found("event type"));
    }
    Bookable::from_stored(app, found, None).await
}

/// An event type that can be booked, by its slug.
pub async fn by_slug(app: &App, asker: &RequestContext, slug: &str) -> Result<Bookable> {
    let found = by_any_slug(app, asker, slug).await?;
    match found.is_over(app.now()) {
        true => Err(not_found("booking link")),
        false => Ok(found),
    }
}

/// As `by_slug`, but accepts expired links: for people who booked by one and look up their booking.
pub async fn by_any_slug(app: &App, asker: &RequestContext, slug: &str) -> Result<Bookable> {
    let none = || not_found("booking link");
    if !input::is_slug(slug) {
        return Err(none());
    }
    let link = table::find(app.db.reader(), &asker.tenant, slug).await?.ok_or_else(none)?;
    // An error about the event type would reveal that it exists.
    let found = match event_types::find_to_book(app, asker, &link.event_type_id).await {
        Ok(found) if found.body.active => found,
        Err(e) if e.code().is_none_or(|code| code == Code::Overloaded || code.is_outage()) => return Err(e),
        _ => return Err(none()),
    };
    Bookable::from_stored(app, found, Some(link)).await
}

/// An event type that can be booked, by its id and one of its slugs.
pub async fn by_slug_of(app: &App, asker: &RequestContext, id: &str, slug: &str) -> Result<Bookable> {
    let found = by_slug(app, asker, slug).await?;
    if found.row.id != id {
        return Err(not_found("booking link"));
    }
    Ok(found)
}

/// Whether a link has expired or is used up.
fn is_over(link: &LinkRow, now: i64) -> bool {
    link.expires_at.is_some_and(|at| at <= now) || link.uses_left.is_some_and(|uses| uses <= 0)
}

/// At most `limit` links of an event type by slug, after a slug; expired ones included.
pub async fn list(
    app: &App,
    asker: &RequestContext,
    event_type_id: &str,
    after: &str,
    limit: usize,
) -> Result<Vec<BookingLink>> {
    let found = event_types::find(app, asker, event_type_id).await?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = table::list(app.db.reader(), &found.row.id, after, limit).await?;
    let mut of = Bookable::from_stored(app, found, None).await?;
    let handle = handle::for_application(app, &of.row.tenant.application_id).await?;
    let mut links = Vec::with_capacity(rows.len());
    for row in rows {
        of.link = Some(row);
        links.push(view_with_handle(app, &of, &handle));
    }
    Ok(links)
}

/// Creates another link to an event type.
pub async fn create(
    app: &App,
    asker: &RequestContext,
    event_type_id: &str,
    new: &NewBookingLink,
    warnings: Vec<Value>,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let found = event_types::find(app, asker, event_type_id).await?;
    let now = app.now();
    if let Some(at) = new.expires_at {
        validate::year_of("expiresAt", at)?;
        if at.as_millis() <= now {
            return Err(fault("expiresAt", "must be in the future"));
        }
    }
    let link = LinkRow {
        // 96 random bits: unguessable and unique.
        slug: hex::encode(app.entropy.bytes::<12>()),
        tenant: found.row.tenant.clone(),
        event_type_id: found.row.id.clone(),
        is_primary: false,
        uses_left: new.single_use.then_some(1),
        expires_at: new.expires_at.map(Instant::as_millis),
        created_at: now,
    };
    let made = Bookable::from_stored(app, found, Some(link.clone())).await?;
    let mut printed = serde_json::to_value(view(app, &made).await?)?;
    printed["warnings"] = Value::from(warnings);
    let answer = StoredResponse::created(printed.to_string())
        .header("location", format!("/v1/scheduling/booking-links/{}", link.slug));
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db.write(move |tx| Box::pin(async move { insert(tx, &held, &link, answer, &attempt).await })).await
}

async fn insert(
    tx: &mut Tx,
    app: &App,
    link: &LinkRow,
    answer: StoredResponse,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    // Deleting the event type ends its links.
    if event_type_rows::lock(tx, &link.tenant, &link.event_type_id).await?.is_none() {
        return Err(not_found("event type"));
    }
    if !table::insert(tx, link).await? {
        return Err(anyhow::anyhow!("a random slug was there already").into());
    }
    attempt.store(tx, &app.keyring, &answer, app.now()).await?;
    Ok(answer)
}

/// Deletes a link of an event type, so that it can no longer be used to book.
///
/// # Errors
/// 409 `invalid_state` for the event type's own slug.
pub async fn delete(
    app: &App,
    asker: &RequestContext,
    event_type_id: &str,
    slug: &str,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    let found = event_types::find(app, asker, event_type_id).await?;
    if !input::is_slug(slug) {
        return Err(not_found("booking link"));
    }
    let (row, slug) = (found.row, slug.to_owned());
    let (held, attempt) = (app.clone(), attempt.clone());
    app.db.write(move |tx| Box::pin(async move { remove(tx, &held, &row, &slug, &attempt).await })).await
}

async fn remove(
    tx: &mut Tx,
    app: &App,
    event_type: &EventTypeRow,
    slug: &str,
    attempt: &IdempotentAttempt,
) -> Result<StoredResponse> {
    // Bookings by a link lock the event type.
    if event_type_rows::lock(tx, &event_type.tenant, &event_type.id).await?.is_none() {
        return Err(not_found("event type"));
    }
    let link = table::find(&mut *tx, &event_type.tenant, slug).await?;
    let link = link.filter(|link| link.event_type_id == event_type.id);
    let link = link.ok_or_else(|| not_found("booking link"))?;
    if link.is_primary {
        let message = "this is the event type's own slug; change its slug, or set active to false";
        return Err(refuse(Code::InvalidState, message));
    }
    table::delete(tx, &link).await?;
    let answer = StoredResponse::no_content();
    attempt.store(tx, &app.keyring, &answer, app.now()).await?;
    Ok(answer)
}

/// The data of a booking page: of a host only what the event type publishes for invitees.
pub async fn view(app: &App, bookable: &Bookable) -> Result<BookingLink> {
    let handle = handle::for_application(app, &bookable.row.tenant.application_id).await?;
    Ok(view_with_handle(app, bookable, &handle))
}

/// As `view`, with the handle of the application.
fn view_with_handle(app: &App, bookable: &Bookable, handle: &str) -> BookingLink {
    let Bookable { row, body, link, .. } = bookable;
    let slug = link.as_ref().map_or(&body.slug, |link| &link.slug);
    let uses_remaining = link.as_ref().and_then(|link| link.uses_left);
    let host = |host: &model::scheduling::event_type::Host| PublicHost {
        name: host.display_name.clone().filter(|name| !name.trim().is_empty()),
        avatar_url: host.avatar_url.clone(),
    };
    BookingLink {
        slug: slug.clone(),
        url: format!("{}/book/{handle}/{slug}", app.config.public_address()),
        event_type_id: row.id.clone(),
        title: body.title.clone(),
        description: body.description.clone(),
        duration_minutes: body.duration_minutes,
        duration_options: body.duration_options.clone(),
        locations: body.locations.iter().map(|place| PublicPlace { kind: place.kind }).collect(),
        hosts: body.hosts.iter().map(host).collect(),
        time_zone: rules::zone(body).name,
        questions: body.questions.clone(),
        booking_window: body.booking_window.clone(),
        requires_confirmation: body.requires_confirmation,
        seats_per_slot: body.seats_per_slot,
        branding: Branding { logo_url: body.link.logo_url.clone(), color: body.color.clone() },
        active: body.active && !link.as_ref().is_some_and(|link| is_over(link, app.now())),
        single_use: link.as_ref().is_some_and(|link| !link.is_primary) && uses_remaining.is_some(),
        uses_remaining,
        expires_at: link.as_ref().and_then(|link| link.expires_at).map(Instant::from_millis),
    }
}
