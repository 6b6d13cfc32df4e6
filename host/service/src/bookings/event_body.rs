//! The event that a booking writes into a host's calendar, in the API's fields. Pure.

use std::collections::BTreeSet;

use model::Instant;
use model::calendar::{ConferenceProvider, Event};
use model::scheduling::booking::{Booking, BookingPlace, BookingStatus};
use model::scheduling::event_type::{EventType, MeetingPlaceKind, Question};
use serde_json::{Map, Value, json};
use storage::scheduling::meetings::MeetingRow;

use crate::bookings::invitee_words::shown_name;

/// Precedes, in an event, the address of the page that shows hosts what the invitee wrote. Texts for hosts are in English.
const FOR_HOSTS: &str = "For the host, the details that the invitee gave:";

/// The facts that determine the texts of an event.
#[derive(Clone, Debug)]
pub struct EventSubject<'e> {
    pub event_type: &'e EventType,
    /// Whether the event has the people who booked as attendees, and so invites them.
    pub invites: bool,
    /// The page on which hosts read what the invitee wrote, for an event that invites people, now or later. None: it never does, and
    /// contains that text itself.
    pub details_url: Option<String>,
}

/// The fields of a new event. `bookings` are those with a seat, oldest first.
pub fn created(
    meeting: &MeetingRow,
    i_cal_uid: &str,
    subject: &EventSubject<'_>,
    bookings: &[Booking],
) -> Map<String, Value> {
    let mut event = moved(meeting, bookings);
    let is_shared = meeting.seats > 1;
    // Invitees who share a meeting must not learn who the others are.
    let first = bookings.first().filter(|_| !is_shared);
    let title = first.map(|booking| booking.title.as_str()).filter(|title| !title.is_empty());
    event.insert("title".to_owned(), json!(title.unwrap_or(&subject.event_type.title)));
    event.insert("iCalUid".to_owned(), json!(i_cal_uid));
    event.insert("location".to_owned(), json!(bookings.first().and_then(place)));
    event.insert(
        "description".to_owned(),
        json!(first.and_then(|booking| event_description(booking, subject))),
    );
    let attendees = if subject.invites { invited(meeting, bookings) } else { json!([]) };
    event.insert("attendees".to_owned(), attendees);
    event
}

/// The description of a booking's event. The addresses of a booking are not verified: the provider sends an event's text to any address
/// that the invitee gave, from the host's account. So an event that invites people contains none of the invitee's words.
// Contract silent: whether the provider of the calendar sends invitations. Where it does not, a program of the host's that reads the event
// may, so each event that names people is without those words.
fn event_description(booking: &Booking, subject: &EventSubject<'_>) -> Option<String> {
    let words = words(booking, &subject.event_type.questions)?;
    Some(subject.details_url.as_ref().map_or(words, |url| link_of_hosts(url)))
}

fn link_of_hosts(url: &str) -> String {
    format!("{FOR_HOSTS}\n{url}")
}

/// The invitee's words, for an event that only hosts see: number, notes and answers, a line each. None: there are none.
fn words(booking: &Booking, questions: &[Question]) -> Option<String> {
    let lines: Vec<String> = phone(booking).into_iter().chain(description(booking, questions)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The phone number at which the invitee is called.
fn phone(booking: &Booking) -> Option<String> {
    let is_called = |place: &&BookingPlace| place.kind == MeetingPlaceKind::PhoneInvitee;
    booking.location.as_ref().filter(is_called).and(booking.invitee.phone.clone())
}

/// The fields of an event without the invitee's words, which former versions wrote into events that invite people. Empty: it has none of
/// them. Lines that the host added stay.
pub fn without_words(event: &Event, subject: &EventSubject<'_>, bookings: &[Booking]) -> Map<String, Value> {
    let mut change = Map::new();
    let (Some(booking), Some(url)) = (bookings.first(), &subject.details_url) else { return change };
    let plain = |text: String| text.replace("\r\n", "\n");
    let described = plain(event.description.clone().unwrap_or_default());
    let written = description(booking, &subject.event_type.questions).map(plain);
    let written = written.filter(|text| !text.trim().is_empty() && !described.contains(url.as_str()));
    // Whole lines only, because the words can be a single letter.
    let lines = format!("\n{described}\n");
    let found = written.map(|text| format!("\n{text}\n"));
    if let Some((before, after)) = found.and_then(|text| lines.split_once(&text)) {
        let link = link_of_hosts(url);
        let without = format!("{before}\n{link}\n{after}");
        change.insert("description".to_owned(), json!(without.trim_matches('\n')));
    }
    if event.location.is_some() && event.location == phone(booking) {
        change.insert("location".to_owned(), Value::Null);
    }
    change
}

/// The attendees of the event. Invitees who share a meeting must not learn who the others are.
pub fn invited(meeting: &MeetingRow, bookings: &[Booking]) -> Value {
    bookings.first().filter(|_| meeting.seats <= 1).map_or_else(|| json!([]), attendees)
}

/// The fields to update when the meeting was rescheduled. All others stay as the host may have changed them.
pub fn moved(meeting: &MeetingRow, bookings: &[Booking]) -> Map<String, Value> {
    let is_confirmed = bookings.iter().any(|booking| booking.status != BookingStatus::Pending);
    let mut event = Map::new();
    event.insert("start".to_owned(), json!(Instant::from_millis(meeting.start_at).to_string()));
    event.insert("end".to_owned(), json!(Instant::from_millis(meeting.end_at).to_string()));
    event.insert("status".to_owned(), json!(if is_confirmed { "confirmed" } else { "tentative" }));
    event
}

/// The kind of conference to request from the calendar's provider. None if there is a fixed link.
pub fn conference(bookings: &[Booking]) -> Option<ConferenceProvider> {
    let place = bookings.first()?.location.as_ref().filter(|place| place.value.is_none())?;
    provider_of(place.kind)
}

/// The provider of conferences for a place that a calendar creates. None: no calendar creates one for such a place.
pub fn provider_of(kind: MeetingPlaceKind) -> Option<ConferenceProvider> {
    match kind {
        MeetingPlaceKind::GoogleMeet => Some(ConferenceProvider::GoogleMeet),
        MeetingPlaceKind::Teams => Some(ConferenceProvider::Teams),
        _ => None,
    }
}

/// The invitee and the guests, without duplicate addresses.
fn attendees(booking: &Booking) -> Value {
    let invitee = (&booking.invitee.email, &booking.invitee.name);
    let guests = booking.guests.iter().map(|guest| (&guest.email, &guest.name));
    let mut known = BTreeSet::new();
    let people = std::iter::once(invitee).chain(guests);
    let new = people.filter(|(email, _)| known.insert(::mail::address::folded(email)));
    new.map(|(email, name)| json!({ "email": email, "name": shown_name(name.as_deref()) })).collect()
}

/// The place of a booking as the event type gives it: an address, the host's number or a link. None: only its kind is known. The invitee's
/// number is for hosts only.
pub fn place(booking: &Booking) -> Option<String> {
    let BookingPlace { value, join_url, .. } = booking.location.as_ref()?;
    value.clone().or_else(|| join_url.clone())
}

/// Notes and answers, a line each. None: there are none.
pub fn description(booking: &Booking, questions: &[Question]) -> Option<String> {
    let answers = answers(booking, questions).into_iter().map(|(label, answer)| format!("{label}: {answer}"));
    let lines: Vec<String> = booking.notes.clone().into_iter().chain(answers).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The answers as people read them, each with the label of its question.
pub fn answers(booking: &Booking, questions: &[Question]) -> Vec<(String, String)> {
    let answers = booking.answers.iter().map(|(key, answer)| {
        let question = questions.iter().find(|question| question.key == *key);
        let label = question.map_or(key.as_str(), |question| question.label.as_str());
        (label.to_owned(), render_answer(answer))
    });
    answers.collect()
}

/// An answer as readable text.
fn render_answer(answer: &Value) -> String {
    match answer {
        Value::Null => String::new(),
        Value::Bool(is_so) => (if *is_so { "yes" } else { "no" }).to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(render_answer).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use base::tenant::Tenant;
    use model::scheduling::booking::{Guest, Invitee};

    use super::*;

    fn meeting(seats: i64) -> MeetingRow {
        MeetingRow {
            id: "mtg_1".to_owned(),
            tenant: Tenant { organization_id: "org_1".to_owned(), application_id: "app_1".to_owned() },
            event_type_id: "et_1".to_owned(),
            start_at: 0,
            end_at: 1_800_000,
            buffer_before_ms: 0,
            buffer_after_ms: 0,
            hosts: vec!["conn_1".to_owned()],
            seats,
            seats_taken: 1,
            i_cal_uid: "bk_1@example.org".to_owned(),
            sequence: 0,
            released_at: None,
            created_at: 0,
            updated_at: 0,
        }
    }

    fn booking() -> Booking {
        Booking {
            title: "Intro with Ada".to_owned(),
            invitee: Invitee { email: "ada@example.org".to_owned(), ..Invitee::default() },
            guests: vec![Guest { email: "ADA@example.org".to_owned(), name: None }],
            notes: Some("Bring a pen".to_owned()),
            answers: [("topic".to_owned(), json!(["a", true]))].into(),
            ..Booking::default()
        }
    }

    #[test]
    fn an_address_is_invited_once_and_answers_are_read_by_their_labels() {
        let question = Question { key: "topic".to_owned(), label: "Topic".to_owned(), ..Question::default() };
        let event_type = EventType { questions: vec![question], ..EventType::default() };
        let event = created(&meeting(1), "u", &inviting(&event_type), &[booking()]);
        assert_eq!(event["attendees"], json!([{ "email": "ada@example.org", "name": null }]));
        let of_hosts = EventSubject { invites: false, details_url: None, ..inviting(&event_type) };
        let theirs = created(&meeting(1), "u", &of_hosts, &[booking()]);
        assert_eq!(theirs["description"], "Bring a pen\nTopic: a, yes");
        assert_eq!((&event["title"], &event["status"]), (&json!("Intro with Ada"), &json!("confirmed")));
    }

    fn inviting(event_type: &EventType) -> EventSubject<'_> {
        EventSubject { event_type, invites: true, details_url: Some("https://x.test/h".to_owned()) }
    }

    /// A booking whose hosts call the invitee.
    fn called() -> Booking {
        let place = BookingPlace { kind: MeetingPlaceKind::PhoneInvitee, value: None, join_url: None };
        let mut booking = Booking { location: Some(place), ..booking() };
        booking.invitee.phone = Some("+1 900 555".to_owned());
        booking
    }

    #[test]
    fn an_event_that_invites_has_a_link_in_the_place_of_the_invitees_words() {
        let event_type = EventType::default();
        let undecided = EventSubject { invites: false, ..inviting(&event_type) };
        for subject in [inviting(&event_type), undecided] {
            let event = created(&meeting(1), "u", &subject, &[called()]);
            assert_eq!(event["description"], format!("{FOR_HOSTS}\nhttps://x.test/h"));
            assert_eq!(event["location"], Value::Null, "the number is the invitee's");
        }
        let silent = Booking { notes: None, answers: [].into(), ..booking() };
        let event = created(&meeting(1), "u", &inviting(&event_type), &[silent]);
        assert_eq!(event["description"], Value::Null, "there is nothing to be read");
        let of_hosts = EventSubject { invites: false, details_url: None, ..inviting(&event_type) };
        let event = created(&meeting(1), "u", &of_hosts, &[called()]);
        assert_eq!(event["description"], "+1 900 555\nBring a pen\ntopic: a, yes");
    }

    #[test]
    fn a_name_that_reads_as_a_link_names_nobody() {
        let name = |name: &str| Some(name.to_owned());
        let mut booking = booking();
        booking.invitee.name = name("Reset at evil.example");
        booking.guests = vec![Guest { email: "bob@example.org".to_owned(), name: name("Bob") }];
        let event_type = EventType::default();
        let event = created(&meeting(1), "u", &inviting(&event_type), &[booking]);
        let people = json!([{ "email": "ada@example.org", "name": null }, { "email": "bob@example.org", "name": "Bob" }]);
        assert_eq!(event["attendees"], people);
    }

    #[test]
    fn an_event_of_before_loses_the_invitees_words_alone() {
        let event_type = EventType::default();
        let of = |description: &str, location: Option<&str>| Event {
            description: Some(description.to_owned()),
            location: location.map(str::to_owned),
            ..Event::default()
        };
        let subject = inviting(&event_type);
        let old = of("Mine\r\nBring a pen\r\ntopic: a, yes\r\nMine too", Some("+1 900 555"));
        let change = without_words(&old, &subject, &[called()]);
        let expected = format!("Mine\n{FOR_HOSTS}\nhttps://x.test/h\nMine too");
        assert_eq!((&change["description"], &change["location"]), (&json!(expected), &Value::Null));
        let short = Booking { notes: Some("e".to_owned()), answers: [].into(), ..called() };
        assert_eq!(without_words(&of("Mine\nMine", None), &subject, &[short]), Map::new());
        let own = of("Mine", Some("Room 1"));
        assert_eq!(without_words(&own, &subject, &[called()]), Map::new());
        let of_hosts = EventSubject { details_url: None, ..subject };
        assert_eq!(without_words(&old, &of_hosts, &[called()]), Map::new(), "hosts alone see it");
    }

    #[test]
    fn an_event_that_invites_nobody_has_its_title() {
        let event_type = EventType::default();
        let subject = EventSubject { invites: false, details_url: None, ..inviting(&event_type) };
        let event = created(&meeting(1), "u", &subject, &[booking()]);
        assert_eq!((&event["title"], &event["attendees"]), (&json!("Intro with Ada"), &json!([])));
    }

    #[test]
    fn an_event_with_several_seats_names_nobody() {
        let event_type = EventType { title: "Class".to_owned(), ..EventType::default() };
        let event = created(&meeting(5), "u", &inviting(&event_type), &[booking()]);
        assert_eq!((&event["title"], &event["attendees"]), (&json!("Class"), &json!([])));
        assert_eq!(event["description"], Value::Null);
    }
}
