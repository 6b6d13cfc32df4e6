//! Adding a booking to its invitee's own calendar: a file for any calendar, and links to calendar web sites. Using them changes nothing
//! here.

use axum::body::Body;
use axum::response::Response;
use base::error::{Result, not_found};
use http::{HeaderValue, header};
use itip::Invite;
use model::Instant;
use service::app::App;
use service::bookings::{event_body, titles};
use service::locale::Language;
use service::locale::html::Html;
use url::form_urlencoded;

use crate::api::book::booked::BookedEvent;
use crate::api::book::choice::Choice;
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::calendars::calendars;
use crate::api::book::texts::texts;
use crate::web::request_id::X_REQUEST_ID;

/// The path of a link to Microsoft's calendars, and their sites: for private accounts, and for organizations.
const OUTLOOK_PATH: &str = "/calendar/0/deeplink/compose?";
const OUTLOOK_SITES: [(&str, &str); 2] =
    [("Outlook.com", "https://outlook.live.com"), ("Microsoft 365", "https://outlook.office.com")];
const GOOGLE: &str = "https://calendar.google.com/calendar/render?";

/// The fields of a booking for a calendar.
struct CalendarEntry {
    title: String,
    start: Instant,
    end: Instant,
    location: Option<String>,
}

impl CalendarEntry {
    fn from_booked(booked: &BookedEvent, language: Language) -> CalendarEntry {
        CalendarEntry {
            // As in invitations.
            title: match &booked.event_type {
                Some(event_type) => titles::for_invitee(&booked.body, event_type, language),
                None => booked.body.title.clone(),
            },
            start: Instant::from_millis(booked.row.start_at),
            end: Instant::from_millis(booked.row.end_at),
            location: event_body::place(&booked.body),
        }
    }

    fn google(&self) -> String {
        let compact = |at: Instant| at.timestamp().strftime("%Y%m%dT%H%M%SZ").to_string();
        let dates = format!("{}/{}", compact(self.start), compact(self.end));
        let fields = [("action", "TEMPLATE"), ("text", self.title.as_str()), ("dates", dates.as_str())];
        format!("{GOOGLE}{}", query(&fields, self.location.as_deref()))
    }

    fn outlook(&self, site: &str) -> String {
        let written = |at: Instant| at.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let (start, end) = (written(self.start), written(self.end));
        let fields = [
            ("path", "/calendar/action/compose"),
            ("rru", "addevent"),
            ("subject", self.title.as_str()),
            ("startdt", start.as_str()),
            ("enddt", end.as_str()),
        ];
        format!("{site}{OUTLOOK_PATH}{}", query(&fields, self.location.as_deref()))
    }
}

/// The query of a link. Blanks are `%20`: some of the sites show a `+` as it is.
// Contract silent: whether the link by which the invitee changes the booking goes along. It is a right, and no other site gets it.
fn query(fields: &[(&str, &str)], location: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields).extend_pairs(location.map(|location| ("location", location)));
    query.finish().replace('+', "%20")
}

/// The links; empty for a booking that is not confirmed. `is_folded`: in a part of the page that a click opens. Other sites open in a new
/// tab.
pub fn ways(visit: &PageRequest, booked: &BookedEvent, is_folded: bool) -> Html {
    let mut html = Html::default();
    if booked.row.status != "confirmed" {
        return html;
    }
    let (texts, entry) = (calendars(visit.language), CalendarEntry::from_booked(booked, visit.language));
    match is_folded {
        true => {
            html.raw("<details class=\"foot\"><summary>").html(&icon(PageIcon::Calendar)).text(texts.add);
            html.raw("</summary>\n")
        }
        false => html.raw("<div class=\"stack\">").element("h2", texts.add),
    };
    html.raw("<ul class=\"calendars\">\n");
    let google = ("Google Calendar", entry.google());
    let sites = OUTLOOK_SITES.map(|(name, site)| (name, entry.outlook(site)));
    for (name, url) in std::iter::once(google).chain(sites) {
        html.raw("<li><a href=\"").text(&url);
        html.raw("\" class=\"button plain\" target=\"_blank\" rel=\"noopener\">");
        html.text(name).raw("</a></li>\n");
    }
    let look = Choice { is_embedded: false, ..visit.choice.spoken() };
    html.raw("<li><a href=\"").text(&format!("{}/invite.ics{}", booked.token, look.query()));
    // With a target the page's script leaves the click to the browser, which stays on the page.
    html.raw(match visit.choice.is_embedded {
        true => "\" class=\"button plain\" target=\"_blank\" rel=\"noopener\">",
        false => "\" class=\"button plain\" target=\"_top\">",
    });
    html.text(texts.file).raw("</a></li>\n</ul>");
    html.raw(if is_folded { "</details>\n" } else { "</div>\n" });
    html
}

/// The booking of a token as a file. None: it does not take place.
///
/// # Errors
/// `not_found` if the token names no booking.
pub async fn file(app: &App, visit: &PageRequest, token: &str) -> Result<Option<Response>> {
    let booked = BookedEvent::find(app, token).await?.ok_or_else(|| not_found("booking"))?;
    if !matches!(booked.row.status.as_str(), "pending" | "confirmed" | "completed") {
        return Ok(None);
    }
    let visit = &visit.with_clock_of(&booked.row);
    let (texts, entry) = (texts(visit.language), CalendarEntry::from_booked(&booked, visit.language));
    let address = app.config.public_address();
    let look = Choice { language: Some(visit.language), hours: visit.choice.hours, ..Choice::default() };
    let what_can_be_done = format!("{} / {}", texts.move_booking, texts.cancel_booking);
    let invite = Invite {
        uid: booked.body.i_cal_uid.clone(),
        sequence: booked.body.sequence,
        stamp: Instant::from_millis(app.now()),
        start: entry.start,
        end: entry.end,
        title: entry.title,
        description: Some(format!("{what_can_be_done}:\n{address}/book/b/{token}{}", look.query())),
        location: entry.location,
        is_tentative: booked.row.status == "pending",
        ..Invite::default()
    };
    Ok(Some(response(visit, itip::entry(&invite))))
}

fn response(visit: &PageRequest, text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, "text/calendar; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"invite.ics\""),
        (header::CACHE_CONTROL, "private, no-store"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(value) = HeaderValue::from_str(&visit.request_id) {
        headers.insert(X_REQUEST_ID, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: &str) -> CalendarEntry {
        let at = |text: &str| text.parse::<Instant>().expect("an instant");
        let (start, end) = (at("2026-03-10T09:00:00Z"), at("2026-03-10T09:30:00Z"));
        CalendarEntry { title: title.to_owned(), start, end, location: Some("Room 7 & 8".to_owned()) }
    }

    #[test]
    fn a_link_fills_in_the_form_of_another_calendar() {
        assert_eq!(
            entry("Intro call").google(),
            "https://calendar.google.com/calendar/render?action=TEMPLATE&text=Intro%20call\
             &dates=20260310T090000Z%2F20260310T093000Z&location=Room%207%20%26%208"
        );
        assert_eq!(
            entry("Intro call").outlook("https://outlook.live.com"),
            "https://outlook.live.com/calendar/0/deeplink/compose?path=%2Fcalendar%2Faction%2Fcompose&rru=addevent\
             &subject=Intro%20call&startdt=2026-03-10T09%3A00%3A00Z&enddt=2026-03-10T09%3A30%3A00Z\
             &location=Room%207%20%26%208"
        );
    }

    #[test]
    fn a_title_adds_no_field_to_a_link() {
        let url = entry("1+1=2&add=eve@x.test#\"'").google();
        assert!(url.contains("&text=1%2B1%3D2%26add%3Deve%40x.test%23%22%27&dates="), "{url}");
    }
}
