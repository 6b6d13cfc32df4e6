//! The page that shows hosts what the invitee wrote into a booking. The addresses of a booking are not verified, so an event that invites
//! people contains none of it and links here. The address is read-only: the page contains no link but the booking's own.

use base::error::Result;
use service::app::App;
use service::bookings::event_body;
use service::locale::html::Html;

use crate::api::book::booked::BookedEvent;
use crate::api::book::icon::{PageIcon, icon};
use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::texts;
use crate::api::book::{facts, outcome};

/// The page of a host's token; none if it is not of this service, or if the booking's people were purged.
pub async fn page(app: &App, visit: &PageRequest, token: &str) -> Result<Option<HtmlPage>> {
    let Some(booked) = BookedEvent::find_for_hosts(app, token).await? else { return Ok(None) };
    let [title, warning] = texts(visit.language).for_hosts;
    let facts = facts::of_host(visit, &booked, &facts::zone_of_invitee(&booked), &words(visit, &booked));
    let mut html = outcome::headed(title, "");
    html.html(&warning_note(warning)).html(&outcome::boxed(Some(booked.what()), &facts));
    Ok(Some(outcome::page(title, &html, &booked).unframed()))
}

/// The note that the texts on a page are not verified.
pub fn warning_note(warning: &str) -> Html {
    let mut html = Html::default();
    html.raw("<div class=\"note\">").html(&icon(PageIcon::Alert)).raw("<div>").element("p", warning);
    html.raw("</div></div>\n");
    html
}

/// Number, answers, notes and guests as facts, all in plain text.
pub fn words(visit: &PageRequest, booked: &BookedEvent) -> Html {
    let (texts, booking) = (texts(visit.language), &booked.body);
    let questions = booked.event_type.as_ref().map(|event_type| event_type.questions.as_slice());
    let answers = event_body::answers(booking, questions.unwrap_or_default());
    let guests = booking.guests.iter().map(|guest| match &guest.name {
        Some(name) => format!("{name} ({})", guest.email),
        None => guest.email.clone(),
    });
    let guests: Vec<String> = guests.collect();
    let mut html = Html::default();
    if let Some(phone) = &booking.invitee.phone {
        html.html(&facts::written(texts.phone, phone));
    }
    for (label, answer) in &answers {
        html.html(&facts::written(label, answer));
    }
    if let Some(notes) = &booking.notes {
        html.html(&facts::written(texts.notes, notes));
    }
    if !guests.is_empty() {
        html.html(&facts::written(texts.guests, &guests.join("\n")));
    }
    html
}
