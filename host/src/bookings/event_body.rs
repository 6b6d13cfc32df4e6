//! What a booking writes into a host's calendar: fields of an event as a client of the API would send them. Pure.

use std::collections::BTreeSet;

use model::Instant;
use model::calendar::ConferenceProvider;
use model::scheduling::booking::{Booking, BookingPlace, BookingStatus};
use model::scheduling::event_type::{EventType, MeetingPlaceKind, Question};
use serde_json::{Map, Value, json};
use storage::scheduling::meetings::MeetingRow;

/// The fields of a new event. `bookings` are those that hold a seat, the oldest first; `invites`: the event invites who booked.
pub fn created(
    meeting: &MeetingRow,
    i_cal_uid: &str,
    (event_type, invites): (&EventType, bool),
    bookings: &[Booking],
) -> Map<String, Value> {
    let mut event = moved(meeting, bookings);
    let is_shared = meeting.seats > 1;
    // Who has a seat beside others must not learn who they are.
    let first = bookings.first().filter(|_| !is_shared);
    let title = first.map(|booking| booking.title.as_str()).filter(|title| !title.is_empty());
    event.insert("title".to_owned(), json!(title.unwrap_or(&event_type.title)));
    event.insert("iCalUid".to_owned(), json!(i_cal_uid));
    event.insert("location".to_owned(), json!(bookings.first().and_then(place)));
    event.insert("description".to_owned(), json!(first.and_then(|b| description(b, &event_type.questions))));
    event.insert("attendees".to_owned(), if invites { invited(meeting, bookings) } else { json!([]) });
    event
}

/// Who is invited by the event. Who has a seat beside others must not learn who they are.
pub fn invited(meeting: &MeetingRow, bookings: &[Booking]) -> Value {
    bookings.first().filter(|_| meeting.seats <= 1).map_or_else(|| json!([]), attendees)
}

/// What an event gets when the meeting was moved. Everything else stays as the host may have changed it.
pub fn moved(meeting: &MeetingRow, bookings: &[Booking]) -> Map<String, Value> {
    let is_confirmed = bookings.iter().any(|booking| booking.status != BookingStatus::Pending);
    let mut event = Map::new();
    event.insert("start".to_owned(), json!(Instant::from_millis(meeting.start_at).to_string()));
    event.insert("end".to_owned(), json!(Instant::from_millis(meeting.end_at).to_string()));
    event.insert("status".to_owned(), json!(if is_confirmed { "confirmed" } else { "tentative" }));
    event
}

/// The conference that the provider of the calendar is to be asked for. None where there is a fixed link.
pub fn conference(bookings: &[Booking]) -> Option<ConferenceProvider> {
    let place = bookings.first()?.location.as_ref().filter(|place| place.value.is_none())?;
    provider_of(place.kind)
}

/// Whose conferences these places are, which a calendar makes. None: no calendar makes any for such a place.
pub fn provider_of(kind: MeetingPlaceKind) -> Option<ConferenceProvider> {
    match kind {
        MeetingPlaceKind::GoogleMeet => Some(ConferenceProvider::GoogleMeet),
        MeetingPlaceKind::Teams => Some(ConferenceProvider::Teams),
        _ => None,
    }
}

/// The invitee and the guests, each address once.
fn attendees(booking: &Booking) -> Value {
    let invitee = (&booking.invitee.email, &booking.invitee.name);
    let guests = booking.guests.iter().map(|guest| (&guest.email, &guest.name));
    let mut known = BTreeSet::new();
    let people = std::iter::once(invitee).chain(guests);
    let new = people.filter(|(email, _)| known.insert(email.to_ascii_lowercase()));
    new.map(|(email, name)| json!({ "email": email, "name": name })).collect()
}

/// Where the booking takes place: the address, the number or the link. None: only the kind of the place is known.
pub fn place(booking: &Booking) -> Option<String> {
    let BookingPlace { kind, value, join_url } = booking.location.as_ref()?;
    let of_invitee = || booking.invitee.phone.clone().filter(|_| *kind == MeetingPlaceKind::PhoneInvitee);
    value.clone().or_else(of_invitee).or_else(|| join_url.clone())
}

/// Notes and answers, a line each. None: there are none.
pub fn description(booking: &Booking, questions: &[Question]) -> Option<String> {
    let answers = booking.answers.iter().map(|(key, answer)| {
        let question = questions.iter().find(|question| question.key == *key);
        let label = question.map_or(key.as_str(), |question| question.label.as_str());
        format!("{label}: {}", said(answer))
    });
    let lines: Vec<String> = booking.notes.clone().into_iter().chain(answers).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// An answer as a person reads it.
fn said(answer: &Value) -> String {
    match answer {
        Value::Null => String::new(),
        Value::Bool(is_so) => (if *is_so { "yes" } else { "no" }).to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(several) => several.iter().map(said).collect::<Vec<_>>().join(", "),
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
        let event = created(&meeting(1), "u", (&event_type, true), &[booking()]);
        assert_eq!(event["attendees"], json!([{ "email": "ada@example.org", "name": null }]));
        assert_eq!(event["description"], "Bring a pen\nTopic: a, yes");
        assert_eq!((&event["title"], &event["status"]), (&json!("Intro with Ada"), &json!("confirmed")));
    }

    #[test]
    fn an_event_that_invites_nobody_has_its_title() {
        let event = created(&meeting(1), "u", (&EventType::default(), false), &[booking()]);
        assert_eq!((&event["title"], &event["attendees"]), (&json!("Intro with Ada"), &json!([])));
    }

    #[test]
    fn an_event_with_several_seats_names_nobody() {
        let event_type = EventType { title: "Class".to_owned(), ..EventType::default() };
        let event = created(&meeting(5), "u", (&event_type, true), &[booking()]);
        assert_eq!((&event["title"], &event["attendees"]), (&json!("Class"), &json!([])));
        assert_eq!(event["description"], Value::Null);
    }
}
