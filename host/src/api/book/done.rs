//! A booking as its invitee sees it. The address holds a signed token; whoever opens it changes nothing.

use base::error::Result;
use http::StatusCode;
use model::Instant;
use model::scheduling::booking::BookingPlace;
use scheduling::hours::Zone;

use crate::api::book::booked::{BookedEvent, InviteeAction};
use crate::api::book::choice::Choice;
use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::fields::Texts;
use crate::api::book::texts::texts;
use crate::api::book::{about, calendars};
use crate::app::App;
use crate::bookings::notify::sender;
use crate::bookings::titles;
use crate::locale::html::Html;

const DECOY: &str = "no-booking";

/// The token of a page that looks as if there were a booking, for programs that fill in what people do not see.
pub fn decoy_token(app: &App) -> String {
    let text = storage::json_text(&(DECOY, hex::encode(app.entropy.bytes::<30>())));
    app.keyring.signed(text.as_bytes())
}

fn is_decoy(app: &App, token: &str) -> bool {
    let text = app.keyring.verified(token);
    let read: Option<(String, String)> = text.and_then(|text| serde_json::from_slice(&text).ok());
    read.is_some_and(|(kind, _)| kind == DECOY)
}

/// The page of a token; none where it is not of this service, or where the booking is not there any more.
/// `is_new`: the visitor comes from the form.
pub async fn page(app: &App, visit: &PageRequest, token: &str, is_new: bool) -> Result<Option<HtmlPage>> {
    if is_decoy(app, token) {
        return Ok(Some(HtmlPage::message(StatusCode::OK, texts(visit.language).confirmed)));
    }
    let Some(booked) = BookedEvent::find(app, token).await? else { return Ok(None) };
    let visit = &visit.with_clock_of(&booked.row);
    let texts = texts(visit.language);
    let ways = ways(visit, &booked, app.now())?;
    let has_ways = !ways.as_str().is_empty();
    let (title, text) = said(visit, &booked, has_ways, is_mailed(app, &booked).await?);
    let next = booked.event_type.as_ref().and_then(|e| e.success_redirect_url.as_deref());
    let mut html = Html::default();
    if !text.is_empty() {
        html.element("p", &text);
    }
    html.html(&facts(visit, &booked));
    if let Some(url) = next {
        html.raw("<p>").link(url, texts.go_on).raw("</p>\n");
    }
    html.html(&calendars::ways(visit, &booked)).html(&ways);
    let mut page = HtmlPage::new(title, html);
    if let Some(event_type) = &booked.event_type {
        page = page.of(event_type);
    }
    if is_new {
        let row = &booked.row;
        let time = |ms: i64| Instant::from_millis(ms).to_string();
        page = page.with_fact("page", "booked").with_fact("booking-id", row.id.clone());
        page = page.with_fact("status", row.status.clone()).with_fact("start", time(row.start_at));
        page = page.with_fact("end", time(row.end_at)).with_fact("time-zone", booked.body.time_zone.clone());
    }
    if let Some(url) = next.filter(|_| is_new) {
        page = page.leave_for(url);
    }
    Ok(Some(page))
}

/// Title and text about the state of a booking. `has_ways`: the invitee can do something with it; `is_mailed`: its invitee gets mail about it.
fn said(
    visit: &PageRequest,
    booked: &BookedEvent,
    has_ways: bool,
    is_mailed: bool,
) -> (&'static str, String) {
    let texts = texts(visit.language);
    let [title, text] = texts.of_state(&booked.row.status);
    match booked.row.status.as_str() {
        "confirmed" | "completed" if !has_ways => (title, String::new()),
        "confirmed" | "completed" if is_mailed => (title, format!("{text} {}", texts.link_in_email)),
        "pending" => {
            let event_type = booked.event_type.as_ref();
            let host = event_type.and_then(|event_type| titles::awaited_name(&booked.body, event_type));
            let text = if is_mailed { text } else { texts.pending_unmailed };
            (title, text.replace("{host}", host.unwrap_or(texts.the_host)))
        }
        _ => (title, text.to_owned()),
    }
}

/// Whether the invitee gets mail about the booking.
async fn is_mailed(app: &App, booked: &BookedEvent) -> Result<bool> {
    let Some(event_type) = booked.event_type.as_ref().filter(|e| e.notifications.invitee) else {
        return Ok(false);
    };
    let organizer = booked.body.organizer_connection_id.as_deref();
    Ok(sender::of(app, &booked.row.tenant, organizer, event_type).await?.is_some())
}

/// The ways to what the invitee may do now. They leave a frame, because those pages are shown in none: to a tab of their own where the page
/// around the frame goes on.
fn ways(visit: &PageRequest, booked: &BookedEvent, now: i64) -> Result<Html> {
    let texts = texts(visit.language);
    let mut html = Html::default();
    for (deed, folder, name) in [
        (InviteeAction::Move, "move", texts.move_booking),
        (InviteeAction::Cancel, "cancel", texts.cancel_booking),
    ] {
        if booked.refusal(deed, now)?.is_none() {
            let look = Choice { is_embedded: false, ..visit.choice.spoken() };
            let link = format!("{}/{folder}{}", booked.token, look.query());
            html.raw("<p><a href=\"").text(&link);
            html.raw(match visit.choice.is_embedded {
                true => "\" target=\"_blank\" rel=\"noopener\">",
                false => "\" target=\"_top\">",
            });
            html.text(name).raw("</a></p>\n");
        }
    }
    Ok(html)
}

/// The event type, the time in the invitee's zone, the place, and the invitee.
pub fn facts(visit: &PageRequest, booked: &BookedEvent) -> Html {
    facts_in(visit, booked, &Zone::named(&booked.body.time_zone).unwrap_or_else(Zone::utc))
}

/// The same with the time in this zone.
pub fn facts_in(visit: &PageRequest, booked: &BookedEvent, zone: &Zone) -> Html {
    let (texts, row, booking) = (texts(visit.language), &booked.row, &booked.body);
    let (start, end) = (Instant::from_millis(row.start_at), Instant::from_millis(row.end_at));
    let mut html = Html::default();
    html.raw("<dl>\n").described(texts.what, booked.what());
    html.described(texts.when, &visit.span(start, end, zone));
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
