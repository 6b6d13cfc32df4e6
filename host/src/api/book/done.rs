//! A booking as its invitee sees it. The address holds a signed token; whoever opens it changes nothing.

use base::error::Result;
use model::Instant;
use model::scheduling::booking::{Booking, BookingPlace};
use scheduling::hours::Zone;
use storage::scheduling::bookings::{self, BookingRow};
use storage::scheduling::{applications, event_types};

use crate::api::book::about;
use crate::api::book::dates;
use crate::api::book::html::Html;
use crate::api::book::layout::Page;
use crate::api::book::subject::Visit;
use crate::api::book::texts::fields::Texts;
use crate::api::book::texts::texts;
use crate::app::App;

const KIND: &str = "booking-page";
/// The version of a new booking's addresses.
const FIRST_VERSION: i64 = 1;

/// The token of a new booking's page.
pub fn token(app: &App, application_id: &str, booking_id: &str) -> String {
    let text = storage::json_text(&(KIND, application_id, booking_id, FIRST_VERSION));
    app.keyring.signed(text.as_bytes())
}

/// The page of a token; none where it is not of this service, or where the booking is not there any more.
/// `is_new`: the visitor comes from the form.
pub async fn page(app: &App, visit: &Visit, token: &str, is_new: bool) -> Result<Option<Page>> {
    let Some(row) = row(app, token).await? else { return Ok(None) };
    let booking: Booking = serde_json::from_str(&row.body)?;
    let stored = event_types::find(app.db.reader(), &row.tenant, &row.event_type_id).await?;
    let event_type: Option<model::scheduling::event_type::EventType> =
        stored.map(|stored| serde_json::from_str(&stored.body)).transpose()?;
    let texts = texts(visit.language);
    let [title, text] = match row.status.as_str() {
        "confirmed" | "completed" => texts.confirmed,
        "pending" => texts.pending,
        _ => texts.cancelled,
    };
    let next = event_type.as_ref().and_then(|e| e.success_redirect_url.as_deref());
    let what = event_type.as_ref().map_or(booking.title.as_str(), |e| e.title.as_str());
    let mut html = Html::default();
    html.element("p", text).html(&facts(visit, &row, &booking, what));
    if let Some(url) = next {
        html.raw("<p>").link(url, texts.go_on).raw("</p>\n");
    }
    let mut page = Page::new(title, html);
    if let Some(event_type) = &event_type {
        page = page.of(event_type);
    }
    if let Some(url) = next.filter(|_| is_new) {
        page = page.leave_for(url);
    }
    Ok(Some(page))
}

/// The booking of a token.
async fn row(app: &App, token: &str) -> Result<Option<BookingRow>> {
    let read = app.keyring.verified(token).and_then(|text| serde_json::from_slice(&text).ok());
    let Some((kind, application_id, booking_id, version)): Option<(String, String, String, i64)> = read
    else {
        return Ok(None);
    };
    let reader = app.db.reader();
    let Some(tenant) = applications::by_id(reader, &application_id).await? else { return Ok(None) };
    let found = bookings::find(reader, &tenant, &booking_id).await?;
    // What was erased, or whose addresses were renewed, has another version.
    Ok(found.filter(|row| kind == KIND && row.manage_version == version))
}

fn facts(visit: &Visit, row: &BookingRow, booking: &Booking, what: &str) -> Html {
    let texts = texts(visit.language);
    let zone = Zone::named(&booking.time_zone).unwrap_or_else(Zone::utc);
    let (start, end) = (Instant::from_millis(row.start_at), Instant::from_millis(row.end_at));
    let mut html = Html::default();
    html.raw("<dl>\n").described(texts.what, what);
    html.described(texts.when, &dates::span(start, end, &zone, visit.language));
    if let Some(place) = &booking.location {
        html.html(&place_of(place, texts));
    }
    html.described(texts.name, booking.invitee.name.as_deref().unwrap_or_default());
    html.described(texts.email, &booking.invitee.email).raw("</dl>\n");
    html
}

/// The place with its address, number or link.
fn place_of(place: &BookingPlace, texts: &Texts) -> Html {
    let mut html = Html::default();
    html.raw("<dt>").text(texts.place).raw("</dt><dd>").text(about::place(place.kind, texts));
    let is_web = |url: &&str| url.starts_with("https://") || url.starts_with("http://");
    if let Some(url) = place.join_url.as_deref().filter(is_web) {
        html.raw(": ").link(url, url);
    } else if let Some(value) = &place.value {
        html.raw(": ").text(value);
    }
    html.raw("</dd>\n");
    html
}
