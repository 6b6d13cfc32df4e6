//! The page that shows hosts what the invitee wrote into a booking. The addresses of a booking are not verified, so an event that invites
//! people says none of it and leads here. Whoever has the page's address reads it, and changes nothing: it holds no link but the booking's own.

use base::error::Result;

use crate::api::book::booked::BookedEvent;
use crate::api::book::done;
use crate::api::book::layout::HtmlPage;
use crate::api::book::subject::PageRequest;
use crate::api::book::texts::texts;
use crate::app::App;
use crate::bookings::event_body;
use crate::locale::html::Html;

/// The page of a host's token; none where it is not of this service, or where the booking's people were forgotten.
pub async fn page(app: &App, visit: &PageRequest, token: &str) -> Result<Option<HtmlPage>> {
    let Some(booked) = BookedEvent::find_for_hosts(app, token).await? else { return Ok(None) };
    let [title, warning] = texts(visit.language).for_hosts;
    let mut html = Html::default();
    html.html(&done::facts(visit, &booked)).element("p", warning).html(&words(visit, &booked));
    Ok(Some(HtmlPage::new(title, html).unframed()))
}

/// Number, answers, notes and guests, each as plain text.
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
    html.raw("<dl>\n");
    if let Some(phone) = &booking.invitee.phone {
        row(&mut html, texts.phone, phone);
    }
    for (label, answer) in &answers {
        row(&mut html, label, answer);
    }
    if let Some(notes) = &booking.notes {
        row(&mut html, texts.notes, notes);
    }
    if !guests.is_empty() {
        row(&mut html, texts.guests, &guests.join("\n"));
    }
    html.raw("</dl>\n");
    html
}

/// Adds a term with its text, which keeps its lines.
fn row(html: &mut Html, term: &str, text: &str) {
    html.raw("<dt dir=\"auto\">").text(term).raw("</dt><dd class=\"about\">").text(text).raw("</dd>\n");
}
