//! What can be booked: an event type by its id or by its public name, as long as it is open to be booked. What is not there, inactive,
//! expired, used up or somebody else's has one answer.

use base::error::{Result, not_found};
use base::ids::Kind;
use model::Instant;
use model::scheduling::event_type::EventType;
use model::scheduling::slots::{BookingLink, Branding, PublicHost, PublicPlace};
use storage::scheduling::event_types::EventTypeRow;
use storage::scheduling::links::{self as table, LinkRow};

use crate::app::App;
use crate::bookings::{event_types, input, rules};
use crate::resources::Asker;

/// An event type that can be booked.
#[derive(Clone)]
pub struct Bookable {
    pub row: EventTypeRow,
    pub body: EventType,
    /// The link that led to it.
    pub link: Option<LinkRow>,
}

/// An event type that can be booked, by its id.
pub async fn by_id(app: &App, asker: &Asker, id: &str) -> Result<Bookable> {
    let found = event_types::find(app, asker, id).await?;
    if !found.body.active {
        return Err(not_found("event type"));
    }
    Ok(Bookable { row: found.row, body: found.body, link: None })
}

/// An event type that can be booked, by its public name.
pub async fn by_slug(app: &App, asker: &Asker, slug: &str) -> Result<Bookable> {
    let none = || not_found("booking link");
    if !input::is_slug(slug) {
        return Err(none());
    }
    let link = table::find(app.db.reader(), &asker.tenant, slug).await?.ok_or_else(none)?;
    let is_over = link.expires_at.is_some_and(|at| at <= app.now()) || link.uses_left == Some(0);
    // An error of the event type would tell that there is one.
    let found = match event_types::find(app, asker, &link.event_type_id).await {
        Ok(found) if found.body.active && !is_over => found,
        Err(e) if e.code().is_none() => return Err(e),
        _ => return Err(none()),
    };
    Ok(Bookable { row: found.row, body: found.body, link: Some(link) })
}

/// The application in the addresses of its booking pages: its id without the prefix, in lower case.
pub fn handle_of(application_id: &str) -> String {
    let unique = application_id.split_once('_').map_or(application_id, |(_, unique)| unique);
    unique.to_ascii_lowercase()
}

/// The id of the application that a handle of `handle_of` stands for; none for what is no such handle.
pub fn application_of(handle: &str) -> Option<String> {
    let is_unique = handle.len() == 26 && handle.bytes().all(|b| b.is_ascii_alphanumeric());
    is_unique.then(|| format!("{}_{}", Kind::Application.prefix(), handle.to_ascii_uppercase()))
}

/// What a booking page shows: nothing of a host but what the event type says for invitees.
pub fn view(app: &App, bookable: &Bookable) -> BookingLink {
    let Bookable { row, body, link } = bookable;
    let slug = link.as_ref().map_or(&body.slug, |link| &link.slug);
    let uses_remaining = link.as_ref().and_then(|link| link.uses_left);
    let host = |host: &model::scheduling::event_type::Host| PublicHost {
        name: host.display_name.clone(),
        avatar_url: host.avatar_url.clone(),
    };
    BookingLink {
        slug: slug.clone(),
        url: format!("{}/book/{}/{slug}", app.config.public_address(), handle_of(&row.tenant.application_id)),
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
        active: true,
        single_use: link.as_ref().is_some_and(|link| !link.is_primary) && uses_remaining.is_some(),
        uses_remaining,
        expires_at: link.as_ref().and_then(|link| link.expires_at).map(Instant::from_millis),
    }
}
