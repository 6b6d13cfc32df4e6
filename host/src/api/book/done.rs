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
    let texts = texts(visit.language);
    let [title, text] = match booked.row.status.as_str() {
        "confirmed" | "completed" => texts.confirmed,
        "pending" => texts.pending,
        _ => texts.cancelled,
    };
    let next = booked.event_type.as_ref().and_then(|e| e.success_redirect_url.as_deref());
    let mut html = Html::default();
    html.element("p", text).html(&facts(visit, &booked));
    if let Some(url) = next {
        html.raw("<p>").link(url, texts.go_on).raw("</p>\n");
    }
    html.html(&calendars::ways(visit, &booked)).html(&ways(visit, &booked, app.now())?);
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

/// What, when, where and for whom.
pub fn facts(visit: &PageRequest, booked: &BookedEvent) -> Html {
    let (texts, row, booking) = (texts(visit.language), &booked.row, &booked.body);
    let zone = Zone::named(&booking.time_zone).unwrap_or_else(Zone::utc);
    let (start, end) = (Instant::from_millis(row.start_at), Instant::from_millis(row.end_at));
    let mut html = Html::default();
    html.raw("<dl>\n").described(texts.what, booked.what());
    html.described(texts.when, &visit.span((start, end), &zone));
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
