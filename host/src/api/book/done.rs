//! The page of a booking for its invitee. The address contains a signed token; opening it changes nothing.

use base::error::Result;
use http::StatusCode;
use model::Instant;
use service::app::App;
use service::bookings::notify::sender;
use service::bookings::{handle, titles};
use service::locale::html::Html;
use service::locale::meeting_time;

use crate::api::book::booked::{BookedEvent, InviteeAction};
use crate::api::book::choice::Choice;
use crate::api::book::icon::PageIcon;
use crate::api::book::layout::HtmlPage;
use crate::api::book::outcome::{self, Tone};
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::outcomes::outcomes;
use crate::api::book::texts::texts;
use crate::api::book::{calendars, facts};

const DECOY: &str = "no-booking";

/// The page from which the invitee comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The form by which the booking was made.
    Booked,
    /// The form by which the booking was rescheduled.
    Moved,
    /// Any other.
    Later,
}

impl Arrival {
    /// Reads the query of the page's address.
    pub fn of_query(query: &str) -> Arrival {
        let has = |flag: &str| query.split('&').any(|part| part == flag);
        match (has("new=1"), has("moved=1")) {
            (true, _) => Arrival::Booked,
            (false, true) => Arrival::Moved,
            (false, false) => Arrival::Later,
        }
    }
}

/// The token of a page that looks like a booking, for programs that fill in hidden fields.
pub fn decoy_token(app: &App) -> String {
    let text = storage::json_text(&(DECOY, hex::encode(app.entropy.bytes::<30>())));
    app.keyring.signed(text.as_bytes())
}

fn is_decoy(app: &App, token: &str) -> bool {
    let text = app.keyring.verified(token);
    let read: Option<(String, String)> = text.and_then(|text| serde_json::from_slice(&text).ok());
    read.is_some_and(|(kind, _)| kind == DECOY)
}

/// The page of a token; none if it is not of this service, or if the booking was purged.
pub async fn page(app: &App, visit: &PageRequest, token: &str, arrival: Arrival) -> Result<Option<HtmlPage>> {
    if is_decoy(app, token) {
        return Ok(Some(HtmlPage::message(StatusCode::OK, texts(visit.language).confirmed)));
    }
    let Some(booked) = BookedEvent::find(app, token).await? else { return Ok(None) };
    let visit = &visit.with_clock_of(&booked.row);
    let now = app.now();
    let is_mailed = is_mailed(app, &booked).await?;
    let next = booked.event_type.as_ref().and_then(|e| e.success_redirect_url.as_deref());
    let (title, mut html) = match booked.row.status.as_str() {
        "pending" => waiting(visit, &booked, now, is_mailed)?,
        "confirmed" | "completed" if arrival != Arrival::Later => {
            news(visit, &booked, now, arrival, is_mailed)?
        }
        "confirmed" | "completed" => standing(visit, &booked, now)?,
        _ => {
            let again = book_again(app, &booked).await?;
            ended(visit, &booked, again.as_deref())
        }
    };
    if let Some(url) = next {
        html.raw("<p class=\"actions\"><a href=\"").text(url).raw("\" class=\"button plain\">");
        html.text(texts(visit.language).go_on).raw("</a></p>\n");
    }
    let mut page = outcome::page(&title, &html, &booked);
    if arrival == Arrival::Booked {
        let row = &booked.row;
        let time = |ms: i64| Instant::from_millis(ms).to_string();
        page = page.with_fact("page", "booked").with_fact("booking-id", row.id.clone());
        page = page.with_fact("status", row.status.clone()).with_fact("start", time(row.start_at));
        page = page.with_fact("end", time(row.end_at)).with_fact("time-zone", booked.body.time_zone.clone());
        if let Some(url) = next {
            page = page.leave_for(url);
        }
    }
    Ok(Some(page))
}

/// A pending booking: it can be cancelled, and is in no calendar yet.
fn waiting(visit: &PageRequest, booked: &BookedEvent, now: i64, is_mailed: bool) -> Result<(String, Html)> {
    let (texts, own) = (texts(visit.language), outcomes(visit.language));
    let [title, text] = texts.pending;
    let text = if is_mailed { text } else { texts.pending_unmailed };
    let mut sentence = Html::default();
    sentence.text(&text.replace("{host}", facts::awaited_host(visit, booked)));
    let mut html = outcome::sealed(Tone::Warn, PageIcon::Clock, title, &sentence);
    html.html(&outcome::boxed(Some(booked.what()), &facts::of_invitee(visit, booked, true)));
    html.raw("<div class=\"foot\">");
    if let Some(at) = booked.row.confirm_by {
        let is_held = booked.event_type.as_ref().is_some_and(|e| e.pending_blocks_slot);
        let text = if is_held { own.held_until } else { own.unanswered };
        html.raw("<p class=\"soft\">").text(&text.replace("{when}", &moment(visit, booked, at)));
        html.raw("</p>");
    }
    html.html(&actions(visit, booked, now, "button plain")?).raw("</div>\n");
    Ok((title.to_owned(), html))
}

/// A booking that was just made or rescheduled.
fn news(
    visit: &PageRequest,
    booked: &BookedEvent,
    now: i64,
    arrival: Arrival,
    is_mailed: bool,
) -> Result<(String, Html)> {
    let (texts, own) = (texts(visit.language), outcomes(visit.language));
    let [made, keep_page] = texts.confirmed;
    let title = if arrival == Arrival::Moved { own.is_moved } else { made };
    let sentence = match is_mailed {
        true => with_address(own.sent_details, &booked.body.invitee.email),
        false => Html::default(),
    };
    let mut html = outcome::sealed(Tone::Good, PageIcon::Check, title, &sentence);
    html.html(&outcome::boxed(Some(booked.what()), &facts::of_invitee(visit, booked, true)));
    html.html(&calendars::ways(visit, booked, false));
    let actions = actions(visit, booked, now, "button plain")?;
    if !actions.as_str().is_empty() {
        html.raw("<div class=\"foot\"><p class=\"soft\">").text(keep_page);
        if is_mailed {
            html.raw(" ").text(texts.link_in_email);
        }
        html.raw("</p>").html(&actions).raw("</div>\n");
    }
    Ok((title.to_owned(), html))
}

/// A confirmed or completed booking, for an invitee who comes back to its page.
fn standing(visit: &PageRequest, booked: &BookedEvent, now: i64) -> Result<(String, Html)> {
    let own = outcomes(visit.language);
    let (tone, word) = match booked.row.status.as_str() {
        "confirmed" => (Tone::Good, own.confirmed),
        _ => (Tone::Plain, own.completed),
    };
    let mut name = Html::default();
    name.text(booked.what());
    let mut html = outcome::badged(tone, PageIcon::Dot, word, &name);
    html.html(&outcome::boxed(None, &facts::of_invitee(visit, booked, true)));
    html.html(&actions(visit, booked, now, "button")?).html(&calendars::ways(visit, booked, true));
    html.html(&deadlines(visit, booked, now)?);
    Ok((booked.what().to_owned(), html))
}

/// A booking that does not take place. `again`: the address to book again, relative to `/book/`.
fn ended(visit: &PageRequest, booked: &BookedEvent, again: Option<&str>) -> (String, Html) {
    let (title, mut html) = ended_heading(visit, booked);
    html.html(&outcome::boxed(Some(booked.what()), &facts::of_invitee(visit, booked, false)));
    if let Some(again) = again {
        let link = format!("../{again}{}", visit.choice.spoken().query());
        html.raw("<div class=\"actions\"><a href=\"").text(&link).raw("\" class=\"button\">");
        html.text(outcomes(visit.language).book_again).raw("</a></div>\n");
    }
    (title.to_owned(), html)
}

/// The heading of a booking that was cancelled, declined or has expired.
pub fn ended_heading(visit: &PageRequest, booked: &BookedEvent) -> (&'static str, Html) {
    let texts = texts(visit.language);
    let [title, text] = texts.of_state(&booked.row.status);
    // With an API key anybody may have declined it.
    let decided_by = booked.row.decided_by.as_deref();
    let host = decided_by.zip(booked.event_type.as_ref()).and_then(|(id, e)| titles::name_of(id, e));
    let mut sentence = Html::default();
    sentence.text(&text.replace("{host}", host.unwrap_or(texts.the_host)));
    let drawing = if booked.row.status == "expired" { PageIcon::Clock } else { PageIcon::Cross };
    (title, outcome::sealed(Tone::Plain, drawing, title, &sentence))
}

/// The address to book another time, relative to `/book/`; none if the event type can no longer be booked.
async fn book_again(app: &App, booked: &BookedEvent) -> Result<Option<String>> {
    match booked.event_type.as_ref().filter(|event_type| event_type.active) {
        Some(event_type) => {
            let handle = handle::for_application(app, &booked.row.tenant.application_id).await?;
            Ok(Some(format!("{handle}/{}", event_type.slug)))
        }
        None => Ok(None),
    }
}

/// A sentence with an email address in place of `{email}`.
fn with_address(sentence: &str, email: &str) -> Html {
    let (before, after) = sentence.split_once("{email}").unwrap_or((sentence, ""));
    let mut html = Html::default();
    html.text(before).raw("<bdi dir=\"ltr\">").text(email).raw("</bdi>").text(after);
    html
}

/// Whether the invitee gets mail about the booking.
async fn is_mailed(app: &App, booked: &BookedEvent) -> Result<bool> {
    let Some(event_type) = booked.event_type.as_ref().filter(|e| e.notifications.invitee) else {
        return Ok(false);
    };
    let organizer = booked.body.organizer_connection_id.as_deref();
    Ok(sender::find_sender(app, &booked.row.tenant, organizer, event_type).await?.is_some())
}

/// A moment in the invitee's zone.
fn moment(visit: &PageRequest, booked: &BookedEvent, at: i64) -> String {
    let zone = facts::zone_of_invitee(booked);
    meeting_time::moment(Instant::from_millis(at), &zone, visit.language, visit.hours)
}

/// The links to the invitee's actions; the first one has the class `of_move`. They leave a frame, because those pages cannot be framed: to
/// a new tab if the page around the frame stays open.
fn actions(visit: &PageRequest, booked: &BookedEvent, now: i64, of_move: &'static str) -> Result<Html> {
    let (texts, own) = (texts(visit.language), outcomes(visit.language));
    let cancel = if booked.row.status == "pending" { own.cancel_request } else { texts.cancel_booking };
    let mut links = Html::default();
    for (deed, folder, class, name) in [
        (InviteeAction::Move, "move", of_move, texts.move_booking),
        (InviteeAction::Cancel, "cancel", "button danger", cancel),
    ] {
        if booked.refusal(deed, now)?.is_none() {
            let look = Choice { is_embedded: false, ..visit.choice.spoken() };
            let link = format!("{}/{folder}{}", booked.token, look.query());
            links.raw("<a href=\"").text(&link).raw("\" class=\"").raw(class);
            links.raw(match visit.choice.is_embedded {
                true => "\" target=\"_blank\" rel=\"noopener\">",
                false => "\" target=\"_top\">",
            });
            links.text(name).raw("</a>");
        }
    }
    let mut html = Html::default();
    if !links.as_str().is_empty() {
        html.raw("<div class=\"actions\">").html(&links).raw("</div>\n");
    }
    Ok(html)
}

/// The deadlines of the invitee's actions; empty if they are the booking's start.
fn deadlines(visit: &PageRequest, booked: &BookedEvent, now: i64) -> Result<Html> {
    let own = outcomes(visit.language);
    let until = |deed: InviteeAction| -> Result<Option<i64>> {
        let may = booked.refusal(deed, now)?.is_none();
        Ok(booked.deadline(deed).filter(|_| may))
    };
    let (to_move, to_cancel) = (until(InviteeAction::Move)?, until(InviteeAction::Cancel)?);
    let mut html = Html::default();
    let lines = match (to_move, to_cancel) {
        (Some(at), Some(same)) if at == same => vec![(own.change_until, at)],
        _ => {
            let to_move = to_move.map(|at| (own.move_until, at));
            to_move.into_iter().chain(to_cancel.map(|at| (own.cancel_until, at))).collect()
        }
    };
    for (text, at) in lines {
        html.raw("<p class=\"hint\">").text(&text.replace("{when}", &moment(visit, booked, at)));
        html.raw("</p>\n");
    }
    Ok(html)
}
