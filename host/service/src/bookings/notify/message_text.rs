//! The text of a message about a booking, as plain text and as HTML with the same content. User input is escaped in both. Pure.

use model::Instant;
use model::scheduling::booking::{Booking, Party};
use model::scheduling::event_type::{MeetingPlaceKind, QuestionKind};
use scheduling::hours::Zone;
use url::form_urlencoded::byte_serialize;

use crate::bookings::brand::{Color, MailColors, USUAL_BRAND};
use crate::bookings::notify::content::{
    ButtonWeight, MessageButton, MessageFact, MessageLink, NoticeContent, plain,
};
use crate::bookings::notify::context::MessageContext;
use crate::bookings::notify::kind::{MailKey, MailKind, MailRole};
use crate::bookings::notify::texts::fields::MailTexts;
use crate::bookings::notify::texts::{
    ASKS, CONFIRM, DECLINE, EXPIRES, OPENS_PAGE, TO_HOSTS, UNANSWERED, UNVERIFIED, WAITS_FOR_YOU, texts,
};
use crate::bookings::notify::{html, plain_text};
use crate::bookings::{event_body, policy, rules, titles};
use crate::locale::Language;
use crate::locale::meeting_time::{self, meeting_time};

/// A message, ready to be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageText {
    pub subject: String,
    pub text: String,
    pub html: String,
}

/// The message about a change. `is_invitation`: it carries one that calendars can accept.
pub fn of_change(facts: &MessageContext, key: &MailKey, is_invitation: bool) -> MessageText {
    let texts = texts(facts.language);
    let is_pending = facts.is_pending();
    let sentence = match key.role {
        MailRole::Hosts => TO_HOSTS.text(key.kind, is_pending),
        MailRole::Guests if key.kind == MailKind::Confirmed => texts.invited,
        MailRole::Invitee | MailRole::Guests => texts.sentences.text(key.kind, is_pending),
    };
    let asks = facts.decision.is_some() && facts.asks_hosts(key);
    let (state, begins) = match asks {
        true => (WAITS_FOR_YOU, ASKS),
        false => (texts.subjects.text(key.kind, is_pending), texts.subjects.text(key.kind, is_pending)),
    };
    let title = facts.title(key.role);
    let subject = match is_invitation {
        // Some mail programs make the subject of an invitation the title of the calendar entry.
        true => title.clone(),
        false if asks => format!("{begins}: {title}"),
        false => begun(facts.language, begins, &title),
    };
    let mut content = NoticeContent {
        language: facts.language,
        colors: colors(facts),
        state,
        sentence: with_names(facts, key, sentence),
        title,
        asks,
        preview: preview(facts, key),
        facts: times(facts, key, texts),
        buttons: buttons(facts, key, texts, is_invitation),
        remarks: Vec::new(),
        words: Vec::new(),
        links: Vec::new(),
        deadline: None,
    };
    content.facts.extend(place(&facts.booking, texts));
    match key.role {
        MailRole::Hosts => add_for_hosts(&mut content, facts, key, texts),
        MailRole::Invitee | MailRole::Guests => add_for_invitee(&mut content, facts, key, texts),
    }
    message(&content, texts, &subject)
}

/// The message that cancels the invitation of an organizer who was replaced.
pub fn of_replacement(facts: &MessageContext, role: MailRole) -> MessageText {
    let texts = texts(facts.language);
    let title = facts.title(role);
    let subject = begun(facts.language, texts.subjects.cancelled, &title);
    let content = NoticeContent {
        language: facts.language,
        colors: colors(facts),
        state: texts.subjects.cancelled,
        sentence: texts.replaced.to_owned(),
        title,
        asks: false,
        preview: texts.replaced.to_owned(),
        facts: Vec::new(),
        buttons: Vec::new(),
        remarks: Vec::new(),
        words: Vec::new(),
        links: Vec::new(),
        deadline: None,
    };
    message(&content, texts, &subject)
}

/// A subject: the change, a colon and the title. French has a non-breaking space before the colon.
fn begun(language: Language, begins: &str, title: &str) -> String {
    match language {
        Language::French => format!("{begins}\u{a0}: {title}"),
        _ => format!("{begins}: {title}"),
    }
}

fn message(content: &NoticeContent, texts: &MailTexts, subject: &str) -> MessageText {
    let subject = ::mail::foreign::subject(subject);
    MessageText {
        text: plain_text::render(content, texts.what),
        html: html::render(content, texts.what, &subject).as_str().to_owned(),
        subject,
    }
}

/// The colours of the event type.
fn colors(facts: &MessageContext) -> MailColors {
    let brand = facts.event_type.color.as_deref().and_then(Color::read);
    brand.unwrap_or(USUAL_BRAND).mail_colors()
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
                // With an API key anybody may have declined it.
                MailKind::Rejected => {
                    facts.row.decided_by.as_deref().and_then(|id| titles::name_of(id, &facts.event_type))
                }
                _ => titles::awaited_name(&facts.booking, &facts.event_type),
            };
            sentence.replace("{host}", host.unwrap_or(texts(facts.language).the_host))
        }
    }
}

/// The link with which the invitee continues.
pub fn link_of_invitee(facts: &MessageContext) -> (&'static str, &str) {
    let texts = texts(facts.language);
    // Until the host has confirmed, the booking cannot be rescheduled.
    let label = if facts.is_pending() { texts.cancel } else { texts.change };
    (label, &facts.manage_url)
}

/// The zone of the reader: for hosts that of the event type.
fn zone(facts: &MessageContext, role: MailRole) -> Zone {
    match role {
        MailRole::Hosts => rules::zone(&facts.event_type),
        MailRole::Invitee | MailRole::Guests => {
            Zone::named(&facts.booking.time_zone).unwrap_or_else(Zone::utc)
        }
    }
}

fn moment(facts: &MessageContext, role: MailRole, at: Instant) -> String {
    meeting_time::moment(at, &zone(facts, role), facts.language, facts.hours)
}

/// The preview line of mail programs.
fn preview(facts: &MessageContext, key: &MailKey) -> String {
    moment(facts, key.role, facts.booking.start)
}

/// The time of the meeting, and the one before a move.
fn times(facts: &MessageContext, key: &MailKey, texts: &MailTexts) -> Vec<MessageFact> {
    let booking = &facts.booking;
    let zone = zone(facts, key.role);
    let time = meeting_time(booking.start, booking.end, &zone, facts.language, facts.hours);
    let comma = if facts.language.is_right_to_left() { "،" } else { "," };
    let lines = [time.day, format!("{}{comma} {}", time.times, time.zone)];
    let mut all = vec![MessageFact::new(texts.when, lines)];
    if let Some(before) = booking.previous_start.filter(|_| key.kind == MailKind::Rescheduled) {
        all.push(MessageFact::new(texts.before, [moment(facts, key.role, before)]));
    }
    all
}

fn place(booking: &Booking, texts: &MailTexts) -> Option<MessageFact> {
    let place = booking.location.as_ref()?;
    let kind = match place.kind {
        MeetingPlaceKind::InPerson => texts.in_person,
        MeetingPlaceKind::PhoneHost | MeetingPlaceKind::PhoneInvitee => texts.by_phone,
        MeetingPlaceKind::GoogleMeet => "Google Meet",
        MeetingPlaceKind::Teams => "Microsoft Teams",
        MeetingPlaceKind::Zoom => "Zoom",
        MeetingPlaceKind::Link => texts.online,
    };
    let fact = MessageFact::new(texts.place, [kind.to_owned()]);
    Some(match (address_of_meeting(booking), event_body::place(booking)) {
        (Some(url), _) => fact.linked(url, url.to_owned()),
        (None, Some(value)) => MessageFact::new(texts.place, [kind.to_owned(), value]),
        (None, None) => fact,
    })
}

/// The address of the meeting, if that is a page.
fn address_of_meeting(booking: &Booking) -> Option<&str> {
    let url = booking.location.as_ref()?.join_url.as_deref()?;
    (url.starts_with("https://") || url.starts_with("http://")).then_some(url)
}

/// The reader's buttons. Guests have none: the invitee's would let them cancel.
fn buttons(
    facts: &MessageContext,
    key: &MailKey,
    texts: &MailTexts,
    is_invitation: bool,
) -> Vec<MessageButton> {
    let button =
        |label: &'static str, url: &str, weight| MessageButton { label, url: url.to_owned(), weight };
    let join = address_of_meeting(&facts.booking).map(|url| button(texts.join, url, ButtonWeight::Main));
    match (key.role, key.kind) {
        (MailRole::Hosts, _) => match facts.decision.as_ref().filter(|_| facts.asks_hosts(key)) {
            Some(urls) => vec![
                button(CONFIRM, &urls.confirm, ButtonWeight::Main),
                button(DECLINE, &urls.decline, ButtonWeight::Danger),
            ],
            None => Vec::new(),
        },
        (MailRole::Guests, _) => Vec::new(),
        (MailRole::Invitee, MailKind::Cancelled | MailKind::Rejected | MailKind::Expired) => {
            let is_open = !facts.is_closed;
            let again = is_open.then(|| button(texts.book_again, &facts.booking_url, ButtonWeight::Main));
            again.into_iter().collect()
        }
        (MailRole::Invitee, _) if facts.is_pending() => Vec::new(),
        (MailRole::Invitee, _) => {
            // An invitation is in the calendar already.
            let file = facts.page_of_invitee("invite.ics");
            let add = (!is_invitation).then(|| button(texts.add_to_calendar, &file, ButtonWeight::Plain));
            join.into_iter().chain(add).collect()
        }
    }
}

/// The attendees, the host's own buttons and, after them, what the invitee wrote.
fn add_for_hosts(content: &mut NoticeContent, facts: &MessageContext, key: &MailKey, texts: &MailTexts) {
    let booking = &facts.booking;
    content.facts.extend(of_invitee(booking, texts));
    if content.asks {
        content.remarks.push(OPENS_PAGE.to_owned());
        if let Some(at) = booking.confirm_by {
            content.remarks.push(EXPIRES.replace("{when}", &moment(facts, key.role, at)));
        }
        content.remarks.push(UNANSWERED.to_owned());
    }
    let is_of_invitee = is_cancelled_by_invitee(key, booking);
    let reason = reason(key, booking);
    let answers = event_body::answers(booking, &facts.event_type.questions);
    let notes = booking.notes.as_deref().filter(|notes| !notes.trim().is_empty());
    if notes.is_some() || !answers.is_empty() || (is_of_invitee && reason.is_some()) {
        content.remarks.push(UNVERIFIED.to_owned());
    }
    content.words.extend(notes.map(|notes| MessageFact::quoted(texts.notes, notes)));
    content.words.extend(answers.iter().map(|(label, answer)| MessageFact::quoted(label.as_str(), answer)));
    content.words.extend(reason.map(|reason| MessageFact::quoted(texts.reason, reason)));
}

/// The host, what the invitee chose, and the links to change the booking.
fn add_for_invitee(content: &mut NoticeContent, facts: &MessageContext, key: &MailKey, texts: &MailTexts) {
    let booking = &facts.booking;
    let host = titles::host_name(booking, &facts.event_type);
    content.facts.extend(host.map(|name| MessageFact::new(texts.host, [name.to_owned()])));
    // The addresses of a booking are not verified: the invitee's own text goes to the hosts only.
    let reason = reason(key, booking).filter(|_| !is_cancelled_by_invitee(key, booking));
    content.facts.extend(reason.map(|reason| MessageFact::quoted(texts.reason, reason)));
    if key.role == MailRole::Guests {
        return;
    }
    content.facts.extend(chosen_answers(facts));
    let has_ended = matches!(key.kind, MailKind::Cancelled | MailKind::Rejected | MailKind::Expired);
    if !has_ended {
        add_ways(content, facts, texts);
    }
}

/// The answers that are not the invitee's own words, such as options that the host offers. Free text goes to the hosts only.
fn chosen_answers(facts: &MessageContext) -> Vec<MessageFact> {
    let questions = &facts.event_type.questions;
    let is_chosen = |kind: QuestionKind| {
        matches!(kind, QuestionKind::Select | QuestionKind::Multiselect | QuestionKind::Number)
    };
    let offered: Vec<_> = questions.iter().filter(|question| is_chosen(question.kind)).cloned().collect();
    let mut booking = facts.booking.clone();
    booking.answers.retain(|key, _| offered.iter().any(|question| question.key == *key));
    let answers = event_body::answers(&booking, &offered);
    answers.into_iter().map(|(label, answer)| MessageFact::new(label, [plain(&answer)])).collect()
}

/// The booking's page, and the links to reschedule and to cancel as far as they are allowed, with their deadline.
fn add_ways(content: &mut NoticeContent, facts: &MessageContext, texts: &MailTexts) {
    let (booking, event_type) = (&facts.booking, &facts.event_type);
    let start_at = booking.start.as_millis();
    let count = booking.reschedule_count;
    let moves = policy::allows_moving(&event_type.reschedule, count, start_at, facts.now).is_ok()
        && !facts.is_pending()
        && !facts.is_closed;
    let cancels = policy::allows_cancelling(&event_type.cancellation, start_at, facts.now).is_ok();
    content.links.push(MessageLink { label: texts.view, url: facts.manage_url.clone() });
    let mut notices = Vec::new();
    for (is_open, label, page, notice) in [
        (moves, texts.reschedule, "move", event_type.reschedule.min_notice_minutes),
        (cancels, texts.cancel, "cancel", event_type.cancellation.min_notice_minutes),
    ] {
        if is_open {
            content.links.push(MessageLink { label, url: facts.page_of_invitee(page) });
            notices.push(notice);
        }
    }
    // With two different deadlines, only the booking's page shows them.
    if let [notice] | [notice, _] = notices.as_slice()
        && *notice > 0
        && notices.iter().all(|other| other == notice)
    {
        let until = start_at.saturating_sub(notice.saturating_mul(rules::MINUTE_MS));
        let until = moment(facts, MailRole::Invitee, Instant::from_millis(until));
        content.deadline = Some(texts.until.replace("{when}", &until));
    }
}

fn is_cancelled_by_invitee(key: &MailKey, booking: &Booking) -> bool {
    key.kind == MailKind::Cancelled && booking.cancelled_by == Some(Party::Invitee)
}

/// The reason that was given for the booking's end.
fn reason<'b>(key: &MailKey, booking: &'b Booking) -> Option<&'b str> {
    match key.kind {
        MailKind::Cancelled => booking.cancellation_reason.as_deref(),
        MailKind::Rejected => booking.rejection_reason.as_deref(),
        _ => None,
    }
}

/// The attendees. A message to the invitee is a new one: an answer to this one would quote it.
fn of_invitee(booking: &Booking, texts: &MailTexts) -> Vec<MessageFact> {
    let invitee = &booking.invitee;
    let guests: Vec<&str> = booking.guests.iter().map(|guest| guest.email.as_str()).collect();
    let guests = (!guests.is_empty()).then(|| guests.join(", "));
    let fact = |label: &'static str, text: Option<String>| text.map(|text| MessageFact::new(label, [text]));
    let email = MessageFact::new(texts.email, None::<String>).linked(&invitee.email, mailto(&invitee.email));
    let facts = [
        fact(texts.invitee, invitee.name.clone()),
        Some(email),
        fact(texts.phone, invitee.phone.clone()),
        fact(texts.guests, guests),
    ];
    facts.into_iter().flatten().collect()
}

/// The `mailto:` link of this address, without any prefilled fields (RFC 6068).
fn mailto(email: &str) -> String {
    let (local, domain) = email.rsplit_once('@').unwrap_or((email, ""));
    let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    format!("mailto:{}@{}", encoded(local), encoded(domain))
}
