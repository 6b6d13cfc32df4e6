//! The text of a message about a booking, as plain text and as HTML that says the same. What people wrote stays text in both. Pure.

use model::scheduling::booking::{Booking, Party};
use model::scheduling::event_type::MeetingPlaceKind;
use scheduling::hours::Zone;
use url::form_urlencoded::byte_serialize;

use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::kind::{MailKey, MailKind, MailRole};
use crate::bookings::notify::texts::fields::MailTexts;
use crate::bookings::notify::texts::{CONFIRM, DECLINE, TO_HOSTS, UNANSWERED, UNVERIFIED, texts};
use crate::bookings::{event_body, rules, titles};
use crate::locale::dates;
use crate::locale::html::Html;

/// Begins a link that looks like a button; its address follows.
const BUTTON: &str = "<a style=\"display:inline-block;padding:8px 16px;border:1px solid #1257c4;border-radius:8px;\
                      color:#1257c4;text-decoration:none\" href=\"";

/// What a message says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageText {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// A line of a message.
struct LabelledLine {
    label: &'static str,
    text: String,
    form: LineForm,
}

/// The form in which a line shows its label and its text.
enum LineForm {
    /// The text follows its label.
    Plain,
    /// The same, and the text leads to this address.
    Linked(String),
    /// The label itself is the link, and the text its address.
    Action,
    /// The text is somebody's own, of any number of lines. None of them looks like a line of the message.
    Quoted,
    /// A sentence without a label.
    Sentence,
}

impl LabelledLine {
    fn new(label: &'static str, text: impl Into<String>) -> LabelledLine {
        LabelledLine { label, text: text.into(), form: LineForm::Plain }
    }

    /// A link under its name.
    fn action(label: &'static str, url: &str) -> LabelledLine {
        LabelledLine { form: LineForm::Action, ..LabelledLine::new(label, url) }
    }

    /// A person's own words.
    fn quoted(label: &'static str, text: impl Into<String>) -> LabelledLine {
        LabelledLine { form: LineForm::Quoted, ..LabelledLine::new(label, text) }
    }

    fn sentence(text: &'static str) -> LabelledLine {
        LabelledLine { form: LineForm::Sentence, ..LabelledLine::new("", text) }
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
    let title = facts.title(key.role);
    let subject = match is_invitation {
        // Some mail programs make the subject of an invitation the title of what they put into the calendar.
        true => title,
        false => format!("{}: {title}", texts.subjects.of(key.kind, is_pending)),
    };
    let (mut lines, links, details) =
        (times(facts, key, texts), links(facts, key, texts), details(facts, key, texts));
    match key.role {
        // Nothing that the invitee wrote comes before the host's own links.
        MailRole::Hosts => lines.extend(links.into_iter().chain(details)),
        MailRole::Invitee | MailRole::Guests => lines.extend(details.into_iter().chain(links)),
    }
    letter(facts, &subject, &with_names(facts, key, sentence), &lines)
}

/// The message that takes back the invitation of an organizer whose place another one takes.
pub fn of_replacement(facts: &MessageContext, role: MailRole) -> MessageText {
    let texts = texts(facts.language);
    let title = facts.title(role);
    let subject = format!("{}: {title}", texts.subjects.cancelled);
    letter(facts, &subject, texts.replaced, &[LabelledLine::new(texts.what, title)])
}

/// A sentence with the name of the other side in place of `{invitee}` or `{host}`.
fn with_names(facts: &MessageContext, key: &MailKey, sentence: &str) -> String {
    let invitee = &facts.booking.invitee;
    match key.role {
        MailRole::Hosts => {
            let name = invitee.name.as_deref().filter(|name| !name.trim().is_empty());
            sentence.replace("{invitee}", name.unwrap_or(&invitee.email))
        }
        MailRole::Invitee | MailRole::Guests => {
            let host = match key.kind {
                // By a key of the API anybody may have declined it.
                MailKind::Rejected => {
                    facts.row.decided_by.as_deref().and_then(|id| titles::name_of(id, &facts.event_type))
                }
                _ => titles::awaited_name(&facts.booking, &facts.event_type),
            };
            sentence.replace("{host}", host.unwrap_or(texts(facts.language).the_host))
        }
    }
}

/// The link by which the invitee goes on.
pub fn link_of_invitee(facts: &MessageContext) -> (&'static str, &str) {
    let texts = texts(facts.language);
    // Until the host has confirmed, the booking cannot be moved.
    let label = if facts.is_pending() { texts.cancel } else { texts.change };
    (label, &facts.manage_url)
}

/// The booking's title and its times.
fn times(facts: &MessageContext, key: &MailKey, texts: &MailTexts) -> Vec<LabelledLine> {
    let booking = &facts.booking;
    let zone = match key.role {
        MailRole::Hosts => rules::zone(&facts.event_type),
        MailRole::Invitee | MailRole::Guests => Zone::named(&booking.time_zone).unwrap_or_else(Zone::utc),
    };
    let when = dates::span(booking.start, booking.end, &zone, facts.language, facts.hours);
    let title = facts.title(key.role);
    let mut lines = vec![LabelledLine::new(texts.what, title), LabelledLine::new(texts.when, when)];
    if let Some(before) = booking.previous_start.filter(|_| key.kind == MailKind::Rescheduled) {
        let before = dates::moment(before, &zone, facts.language, facts.hours);
        lines.push(LabelledLine::new(texts.before, before));
    }
    lines
}

/// The place and the other side, with what people wrote.
fn details(facts: &MessageContext, key: &MailKey, texts: &MailTexts) -> Vec<LabelledLine> {
    let booking = &facts.booking;
    let is_of_invitee = key.kind == MailKind::Cancelled && booking.cancelled_by == Some(Party::Invitee);
    let reason = match key.kind {
        // Nobody has verified the addresses of a booking: what its invitee writes goes to the hosts alone.
        MailKind::Cancelled if key.role != MailRole::Hosts && is_of_invitee => None,
        MailKind::Cancelled => booking.cancellation_reason.as_deref(),
        MailKind::Rejected => booking.rejection_reason.as_deref(),
        _ => None,
    };
    let mut lines: Vec<LabelledLine> = place(booking, texts).into_iter().collect();
    match key.role {
        MailRole::Hosts => {
            lines.extend(of_invitee(booking, texts));
            let written = event_body::description(booking, &facts.event_type.questions);
            if written.is_some() || (is_of_invitee && reason.is_some()) {
                lines.push(LabelledLine::sentence(UNVERIFIED));
            }
            lines.extend(written.map(|text| LabelledLine::quoted(texts.details, text)));
        }
        MailRole::Invitee | MailRole::Guests => {
            let host = titles::host_name(booking, &facts.event_type);
            lines.extend(host.map(|name| LabelledLine::new(texts.host, name)));
        }
    }
    lines.extend(reason.map(|reason| LabelledLine::quoted(texts.reason, reason)));
    lines
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
    let form = url.map_or(LineForm::Plain, LineForm::Linked);
    Some(LabelledLine { form, ..LabelledLine::new(texts.place, text) })
}

/// The people who come. A message to the invitee is a new one: an answer to this one would quote it.
fn of_invitee(booking: &Booking, texts: &MailTexts) -> Vec<LabelledLine> {
    let email = &booking.invitee.email;
    let email =
        LabelledLine { form: LineForm::Linked(mailto(email)), ..LabelledLine::new(texts.email, email) };
    let guests: Vec<&str> = booking.guests.iter().map(|guest| guest.email.as_str()).collect();
    let guests = (!guests.is_empty()).then(|| guests.join(", "));
    let line = |label: &'static str, text: Option<String>| text.map(|text| LabelledLine::new(label, text));
    let lines = [
        line(texts.invitee, booking.invitee.name.clone()),
        Some(email),
        line(texts.phone, booking.invitee.phone.clone()),
        line(texts.guests, guests),
    ];
    lines.into_iter().flatten().collect()
}

/// The address of a link by which mail is written to this address, and nothing else is filled in (RFC 6068).
fn mailto(email: &str) -> String {
    let (local, domain) = email.rsplit_once('@').unwrap_or((email, ""));
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    format!("mailto:{}@{}", encoded(local), encoded(domain))
}

/// The links by which the reader goes on. Guests have none: the invitee's would let them cancel.
fn links(facts: &MessageContext, key: &MailKey, texts: &MailTexts) -> Vec<LabelledLine> {
    let decision = facts.decision.as_ref().filter(|_| facts.asks_hosts(key));
    match (key.role, key.kind) {
        (MailRole::Hosts, _) => decision.map_or_else(Vec::new, |urls| {
            vec![
                LabelledLine::action(CONFIRM, &urls.confirm),
                LabelledLine::action(DECLINE, &urls.decline),
                LabelledLine::sentence(UNANSWERED),
            ]
        }),
        (MailRole::Guests, _) => Vec::new(),
        (MailRole::Invitee, MailKind::Cancelled | MailKind::Rejected | MailKind::Expired) => {
            match facts.is_closed {
                true => Vec::new(),
                false => vec![LabelledLine::action(texts.book_again, &facts.booking_url)],
            }
        }
        (MailRole::Invitee, _) => {
            let (label, url) = link_of_invitee(facts);
            vec![LabelledLine::action(label, url)]
        }
    }
}

fn letter(facts: &MessageContext, subject: &str, sentence: &str, lines: &[LabelledLine]) -> MessageText {
    let sentence = plain(sentence);
    let (mut text, mut html) = (format!("{sentence}\n\n"), Html::default());
    html.raw("<!doctype html>\n<html lang=\"").text(facts.language.tag());
    html.raw(if facts.language.is_right_to_left() { "\" dir=\"rtl\">" } else { "\">" });
    html.raw("\n<head><meta charset=\"utf-8\"></head>\n<body>\n").element("p", &sentence);
    for line in lines {
        text.push_str(&as_text(line));
        html.html(&as_html(line));
    }
    html.raw("</body>\n</html>\n");
    MessageText { subject: ::mail::foreign::subject(subject), text, html: html.as_str().to_owned() }
}

fn as_text(line: &LabelledLine) -> String {
    let (label, plain) = (line.label, plain(&line.text));
    match &line.form {
        LineForm::Sentence => format!("\n{plain}\n"),
        LineForm::Quoted => {
            let mark = |line: &str| if line.is_empty() { ">" } else { "> " };
            let quoted: String = plain.lines().flat_map(|line| [mark(line), line, "\n"]).collect();
            format!("{label}:\n{quoted}")
        }
        // A text of several lines begins on one of its own.
        _ if plain.contains('\n') => format!("{label}:\n{plain}\n"),
        _ => format!("{label}: {plain}\n"),
    }
}

fn as_html(line: &LabelledLine) -> Html {
    let (mut html, plain) = (Html::default(), plain(&line.text));
    match &line.form {
        LineForm::Sentence => html.element("p", &plain),
        LineForm::Action => {
            html.raw("<p>").raw(BUTTON).text(&plain).raw("\">").text(line.label).raw("</a></p>\n")
        }
        LineForm::Quoted => {
            html.raw("<p><strong>").text(line.label).raw("</strong></p>\n<blockquote>\n");
            written(&mut html, &plain);
            html.raw("\n</blockquote>\n")
        }
        LineForm::Linked(url) => {
            html.raw("<p><strong>").text(line.label).raw("</strong><br>\n").link(url, &plain).raw("</p>\n")
        }
        LineForm::Plain => {
            html.raw("<p><strong>").text(line.label).raw("</strong><br>\n");
            written(&mut html, &plain);
            html.raw("</p>\n")
        }
    };
    html
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

/// Without control characters other than those that lay a text out; all its lines end with line feeds.
fn plain(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\u{2028}', '\u{2029}'], "\n");
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect()
}
