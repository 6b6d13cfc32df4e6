//! The text of a message about a booking, as plain text and as HTML that says the same. What people wrote stays text in both. Pure.

use model::scheduling::booking::{Booking, Party};
use model::scheduling::event_type::MeetingPlaceKind;
use scheduling::hours::Zone;

use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::kind::{MailKey, MailKind, MailRole};
use crate::bookings::notify::texts::fields::MailTexts;
use crate::bookings::notify::texts::{TO_HOSTS, texts};
use crate::bookings::{event_body, rules};
use crate::locale::dates;
use crate::locale::html::Html;

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageText {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// Something that is told under a label.
struct LabelledLine {
    label: &'static str,
    text: String,
    /// The page that the text leads to.
    url: Option<String>,
}

impl LabelledLine {
    fn new(label: &'static str, text: impl Into<String>) -> LabelledLine {
        LabelledLine { label, text: text.into(), url: None }
    }
}

/// The message that tells of a change. `is_invitation`: it carries one that asks calendars to take the booking in.
pub fn of_change(facts: &MessageContext, key: &MailKey, is_invitation: bool) -> MessageText {
    let texts = texts(facts.language);
    let is_pending = facts.is_pending();
    let sentence = match key.role {
        MailRole::Hosts => TO_HOSTS.of(key.kind, is_pending),
        MailRole::Guests if key.kind == MailKind::Confirmed => texts.invited,
        MailRole::Invitee | MailRole::Guests => texts.sentences.of(key.kind, is_pending),
    };
    let subject = match is_invitation {
        // Some mail programs make the subject of an invitation the title of what they put into the calendar.
        true => facts.title().to_owned(),
        false => format!("{}: {}", texts.subjects.of(key.kind, is_pending), facts.title()),
    };
    let mut lines = lines(facts, key, texts);
    lines.extend(link(facts, key, texts));
    letter(facts, &subject, sentence, &lines)
}

/// The message that takes back the invitation of an organizer whose place another one takes.
pub fn of_replacement(facts: &MessageContext) -> MessageText {
    let texts = texts(facts.language);
    let subject = format!("{}: {}", texts.subjects.cancelled, facts.title());
    letter(facts, &subject, texts.replaced, &[LabelledLine::new(texts.what, facts.title())])
}

/// The link by which the invitee goes on.
pub fn link_of_invitee(facts: &MessageContext) -> (&'static str, &str) {
    (texts(facts.language).change, &facts.manage_url)
}

fn lines(facts: &MessageContext, key: &MailKey, texts: &MailTexts) -> Vec<LabelledLine> {
    let booking = &facts.booking;
    let zone = match key.role {
        MailRole::Hosts => rules::zone(&facts.event_type),
        MailRole::Invitee | MailRole::Guests => Zone::named(&booking.time_zone).unwrap_or_else(Zone::utc),
    };
    let when = dates::span(booking.start, booking.end, &zone, facts.language);
    let mut lines = vec![LabelledLine::new(texts.what, facts.title()), LabelledLine::new(texts.when, when)];
    if let Some(before) = booking.previous_start.filter(|_| key.kind == MailKind::Rescheduled) {
        lines.push(LabelledLine::new(texts.before, dates::moment(before, &zone, facts.language)));
    }
    lines.extend(place(booking, texts));
    match key.role {
        MailRole::Hosts => lines.extend(of_invitee(facts, texts)),
        MailRole::Invitee | MailRole::Guests => {
            lines.extend(host(facts).map(|name| LabelledLine::new(texts.host, name)));
        }
    }
    let reason = match key.kind {
        // Nobody has verified the addresses of a booking: what its invitee writes goes to the hosts alone.
        MailKind::Cancelled
            if key.role != MailRole::Hosts && booking.cancelled_by == Some(Party::Invitee) =>
        {
            None
        }
        MailKind::Cancelled => booking.cancellation_reason.as_deref(),
        MailKind::Rejected => booking.rejection_reason.as_deref(),
        _ => None,
    };
    lines.extend(reason.map(|reason| LabelledLine::new(texts.reason, reason)));
    lines
}

/// What the organizer is called, as the event type says for invitees.
fn host(facts: &MessageContext) -> Option<&str> {
    let organizer = facts.booking.organizer_connection_id.as_ref()?;
    let host = facts.event_type.hosts.iter().find(|host| host.connection_id == *organizer)?;
    host.display_name.as_deref()
}

fn place(booking: &Booking, texts: &MailTexts) -> Option<LabelledLine> {
    let place = booking.location.as_ref()?;
    let kind = match place.kind {
        MeetingPlaceKind::InPerson => texts.in_person,
        MeetingPlaceKind::PhoneHost | MeetingPlaceKind::PhoneInvitee => texts.by_phone,
        MeetingPlaceKind::GoogleMeet => "Google Meet",
        MeetingPlaceKind::Teams => "Microsoft Teams",
        MeetingPlaceKind::Zoom => "Zoom",
        MeetingPlaceKind::Link => texts.online,
    };
    let text = match event_body::place(booking) {
        Some(value) => format!("{kind}: {value}"),
        None => kind.to_owned(),
    };
    let is_web = |url: &&String| url.starts_with("https://") || url.starts_with("http://");
    let url = place.join_url.as_ref().filter(is_web).cloned();
    Some(LabelledLine { label: texts.place, text, url })
}

/// Who comes, and what they wrote.
fn of_invitee(facts: &MessageContext, texts: &MailTexts) -> Vec<LabelledLine> {
    let booking = &facts.booking;
    let guests: Vec<&str> = booking.guests.iter().map(|guest| guest.email.as_str()).collect();
    let guests = (!guests.is_empty()).then(|| guests.join(", "));
    [
        (texts.invitee, booking.invitee.name.clone()),
        (texts.email, Some(booking.invitee.email.clone())),
        (texts.phone, booking.invitee.phone.clone()),
        (texts.guests, guests),
        (texts.details, event_body::description(booking, &facts.event_type.questions)),
    ]
    .into_iter()
    .filter_map(|(label, text)| Some(LabelledLine::new(label, text?)))
    .collect()
}

/// What the invitee can do next. Guests have no link: it would let them cancel.
fn link(facts: &MessageContext, key: &MailKey, texts: &MailTexts) -> Option<LabelledLine> {
    if key.role != MailRole::Invitee {
        return None;
    }
    let (label, url) = match key.kind {
        MailKind::Cancelled | MailKind::Rejected | MailKind::Expired if facts.is_closed => return None,
        MailKind::Cancelled | MailKind::Rejected | MailKind::Expired => {
            (texts.book_again, &facts.booking_url)
        }
        _ => (texts.change, &facts.manage_url),
    };
    Some(LabelledLine { label, text: url.clone(), url: Some(url.clone()) })
}

fn letter(facts: &MessageContext, subject: &str, sentence: &str, lines: &[LabelledLine]) -> MessageText {
    let (mut text, mut html) = (format!("{sentence}\n\n"), Html::default());
    html.raw("<!doctype html>\n<html lang=\"").text(facts.language.tag());
    html.raw(if facts.language.is_right_to_left() { "\" dir=\"rtl\">" } else { "\">" });
    html.raw("\n<head><meta charset=\"utf-8\"></head>\n<body>\n").element("p", sentence);
    for line in lines {
        let plain = plain(&line.text);
        // A text of several lines begins on one of its own.
        let space = if plain.contains('\n') { "\n" } else { " " };
        text.push_str(&format!("{}:{space}{plain}\n", line.label));
        html.raw("<p><strong>").text(line.label).raw("</strong><br>\n");
        match &line.url {
            Some(url) => {
                html.link(url, &plain);
            }
            None => written(&mut html, &plain),
        }
        html.raw("</p>\n");
    }
    html.raw("</body>\n</html>\n");
    MessageText { subject: ::mail::foreign::subject(subject), text, html: html.as_str().to_owned() }
}

/// Text of several lines, which HTML does not show as such by itself.
fn written(html: &mut Html, text: &str) {
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            html.raw("<br>\n");
        }
        html.text(line);
    }
}

/// Without control characters other than those that lay a text out; its lines end with line feeds.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}
