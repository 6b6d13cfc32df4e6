//! The facts of a booking on its pages: time, people and place, each with an icon and a label.

use model::Instant;
use model::scheduling::booking::BookingPlace;
use model::scheduling::event_type::MeetingPlaceKind;
use scheduling::hours::Zone;
use service::bookings::titles;
use service::locale::html::Html;
use service::locale::meeting_time::meeting_time;

use crate::api::book::about;
use crate::api::book::booked::BookedEvent;
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::outcomes::outcomes;
use crate::api::book::texts::texts;

/// The zone of the invitee.
pub fn zone_of_invitee(booked: &BookedEvent) -> Zone {
    Zone::named(&booked.body.time_zone).unwrap_or_else(Zone::utc)
}

/// The name of the host who has to confirm, or a generic word.
pub fn awaited_host<'b>(visit: &PageRequest, booked: &'b BookedEvent) -> &'b str {
    let event_type = booked.event_type.as_ref();
    let host = event_type.and_then(|event_type| titles::awaited_name(&booked.body, event_type));
    host.unwrap_or(texts(visit.language).the_host)
}

/// The facts for the invitee. `takes_place`: the time is not crossed out.
pub fn of_invitee(visit: &PageRequest, booked: &BookedEvent, takes_place: bool) -> Html {
    let (language, invitee) = (visit.language, &booked.body.invitee);
    let mut html = Html::default();
    html.raw("<dl class=\"facts\">").html(&when(visit, booked, &zone_of_invitee(booked), takes_place));
    let host = booked.event_type.as_ref().and_then(|event_type| titles::host_name(&booked.body, event_type));
    if let Some(host) = host {
        let mut name = Html::default();
        name.raw("<bdi>").text(host).raw("</bdi>");
        html.html(&fact(PageIcon::User, outcomes(language).with, &name));
    }
    if takes_place {
        html.html(&place(visit, booked, outcomes(language).link_later));
    }
    let you = person(invitee.name.as_deref(), &invitee.email);
    html.html(&fact(PageIcon::Mail, outcomes(language).you, &you));
    // The invitee's own reason is shown to the hosts only.
    if let Some(reason) = booked.reason_of_hosts() {
        html.html(&written(texts(language).reason, reason));
    }
    html.raw("</dl>\n");
    html
}

/// The facts for a host, with the time in this zone. `more`: facts that follow.
pub fn of_host(visit: &PageRequest, booked: &BookedEvent, zone: &Zone, more: &Html) -> Html {
    let invitee = &booked.body.invitee;
    let takes_place = !matches!(booked.row.status.as_str(), "rejected" | "cancelled" | "expired");
    let who = person(invitee.name.as_deref(), &invitee.email);
    let mut html = Html::default();
    html.raw("<dl class=\"facts\">").html(&when(visit, booked, zone, takes_place));
    html.html(&fact(PageIcon::User, outcomes(visit.language).who, &who));
    html.html(&place(visit, booked, "")).html(more).raw("</dl>\n");
    html
}

/// A text by another person, with its line breaks, below its label, which can be a question.
pub fn written(term: &str, text: &str) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"answer\"><dt>").html(&icon(PageIcon::Text)).raw("<bdi>").text(term);
    html.raw("</bdi></dt><dd class=\"about\" dir=\"auto\">").text(text).raw("</dd></div>");
    html
}

/// An icon with its label, and the value.
fn fact(drawing: PageIcon, term: &str, value: &Html) -> Html {
    let mut html = Html::default();
    html.raw("<div><dt>").html(&icon(drawing)).raw("<span>").text(term).raw("</span></dt><dd>");
    html.html(value).raw("</dd></div>");
    html
}

fn when(visit: &PageRequest, booked: &BookedEvent, zone: &Zone, takes_place: bool) -> Html {
    let row = &booked.row;
    let (start, end) = (Instant::from_millis(row.start_at), Instant::from_millis(row.end_at));
    let mut time = Html::default();
    time.raw(if takes_place { "" } else { "<s>" }).html(&lines_of_time(visit, start, end, zone));
    time.raw(if takes_place { "" } else { "</s>" });
    fact(PageIcon::Calendar, texts(visit.language).when, &time)
}

/// The day, and below it both times and the zone.
pub fn lines_of_time(visit: &PageRequest, start: Instant, end: Instant, zone: &Zone) -> Html {
    let time = meeting_time(start, end, zone, visit.language, visit.hours);
    let mut html = Html::default();
    html.raw("<strong>").text(&time.day).raw("</strong> <span>").text(&time.times).raw(" · ");
    html.text(&time.zone).raw("</span>");
    html
}

/// The name, and below it the email address.
fn person(name: Option<&str>, email: &str) -> Html {
    let mut html = Html::default();
    if let Some(name) = name.filter(|name| !name.trim().is_empty()) {
        html.raw("<bdi>").text(name).raw("</bdi><br>");
    }
    html.raw("<span dir=\"ltr\" class=\"soft\">").html(&breakable(email, &['@', '.'])).raw("</span>");
    html
}

/// The place with its address, number or link; `later` follows if the link is not known yet.
fn place(visit: &PageRequest, booked: &BookedEvent, later: &str) -> Html {
    let Some(place) = &booked.body.location else { return Html::default() };
    let mut html = Html::default();
    html.text(about::place(place.kind, texts(visit.language)));
    match (address_of(place), &place.value) {
        (Some(url), _) => {
            html.raw("<br><a href=\"").text(url).raw("\" dir=\"ltr\">");
            let shown = url.strip_prefix("https://").unwrap_or(url);
            html.html(&breakable(shown, &['/'])).raw("</a>");
        }
        (None, Some(value)) => {
            html.raw("<br><bdi>").text(value).raw("</bdi>");
        }
        (None, None) if has_link(place.kind) && booked.row.status == "pending" && !later.is_empty() => {
            html.raw("<br><span class=\"soft\">").text(later).raw("</span>");
        }
        (None, None) => {}
    }
    fact(about::icon_of(place.kind), texts(visit.language).place, &html)
}

fn address_of(place: &BookingPlace) -> Option<&str> {
    let is_web = |url: &&str| url.starts_with("https://") || url.starts_with("http://");
    place.join_url.as_deref().filter(is_web)
}

/// Whether people meet by a link.
fn has_link(kind: MeetingPlaceKind) -> bool {
    matches!(
        kind,
        MeetingPlaceKind::GoogleMeet
            | MeetingPlaceKind::Teams
            | MeetingPlaceKind::Zoom
            | MeetingPlaceKind::Link
    )
}

/// A text without blanks, with break opportunities after these characters.
fn breakable(text: &str, ends: &[char]) -> Html {
    let mut html = Html::default();
    for part in text.split_inclusive(ends) {
        html.text(part).raw(if part.ends_with(ends) { "<wbr>" } else { "" });
    }
    html
}
