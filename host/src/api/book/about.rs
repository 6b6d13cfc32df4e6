//! What every view of the page says of the event type. Nothing of a host but what the event type shows to invitees.

use model::scheduling::event_type::{EventType, MeetingPlaceKind};

use crate::api::book::hosts;
use crate::api::book::subject::{BookableEventType, BookingToMove, PageRequest};
use crate::api::book::texts::fields::Texts;
use crate::api::book::texts::texts;
use crate::locale::Language;
use crate::locale::html::Html;

/// The kind of a place, without its address, link or number.
pub fn place(kind: MeetingPlaceKind, texts: &Texts) -> &'static str {
    let [in_person, phone_host, phone_invitee, google_meet, teams, zoom, link] = texts.places;
    match kind {
        MeetingPlaceKind::InPerson => in_person,
        MeetingPlaceKind::PhoneHost => phone_host,
        MeetingPlaceKind::PhoneInvitee => phone_invitee,
        MeetingPlaceKind::GoogleMeet => google_meet,
        MeetingPlaceKind::Teams => teams,
        MeetingPlaceKind::Zoom => zoom,
        MeetingPlaceKind::Link => link,
    }
}

/// A number of minutes.
pub fn minutes(minutes: i64, texts: &Texts) -> String {
    format!("{minutes}{}", texts.minutes)
}

/// The booking that is to be moved, and when it takes place now; rows of a description list.
pub fn moved(visit: &PageRequest, subject: &BookableEventType, moved: &BookingToMove) -> Html {
    let texts = texts(visit.language);
    let mut html = Html::default();
    html.described(texts.what, &subject.bookable.body.title);
    html.described(texts.present_time, &visit.span(moved.start, moved.end, &subject.zone));
    html
}

/// Description, hosts and places.
pub fn event_type(event_type: &EventType, language: Language) -> Html {
    let texts = texts(language);
    let mut html = Html::default();
    if let Some(description) = event_type.description.as_deref().filter(|text| !text.trim().is_empty()) {
        html.raw("<p class=\"about\" dir=\"auto\">").text(description).raw("</p>\n");
    }
    let mut places: Vec<&str> = event_type.locations.iter().map(|found| place(found.kind, texts)).collect();
    places.dedup();
    html.raw("<dl>\n").html(&hosts::row(event_type, language));
    if !places.is_empty() {
        html.described(texts.place, &places.join(", "));
    }
    if event_type.duration_options.is_empty() {
        html.described(texts.duration, &minutes(event_type.duration_minutes, texts));
    }
    html.raw("</dl>\n");
    html
}
