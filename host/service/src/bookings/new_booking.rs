//! Input of a new booking, and the booking built from it. Pure. Errors name their field.

use std::collections::{BTreeMap, BTreeSet};

use base::error::{Code, Result, invalid};
use base::input::metadata;
use base::input::validate::{self, fault};
use model::Instant;
use model::bounds::scheduling::{MAX_ANSWER, MAX_ANSWERS_BYTES, MAX_GUESTS, MAX_NAME, MAX_NOTES, MAX_PHONE};
use model::scheduling::booking::{
    Booking, BookingPlace, BookingSource, BookingStatus, Guest, Invitee, NewBooking,
};
use model::scheduling::event_type::{EventType, MeetingPlaceKind, Question, QuestionKind};
use serde_json::{Map, Value};

use crate::bookings::faults::Faults;
use crate::bookings::input::{line, missing};
use crate::bookings::invitee_words::{local_part_names_page, names_page, resembles_link, shown_name};
use crate::bookings::rules::{self, MINUTE_MS};

/// Most characters of a name in the title of an event, which is the subject of mail.
const MAX_NAME_IN_TITLE: usize = 100;
/// Most letters of a phone number: those of `extension` and one more.
const MAX_PHONE_LETTERS: usize = 10;
/// Most characters of a title.
const MAX_TITLE: usize = 1_000;
/// The default title template of an event type.
const TITLE: &str = "{title} with {invitee}";

/// Fails if a required field is missing. Values are checked when they are parsed.
pub fn require_fields(body: &Map<String, Value>) -> Result<()> {
    let absent = |field: &&str| matches!(body.get(*field), None | Some(Value::Null));
    let mut faults = Faults::default();
    for field in ["eventTypeId", "start", "inviteeEmail"].into_iter().filter(absent) {
        faults.check::<()>(Err(missing(field)))?;
    }
    faults.into_result()
}

/// Builds the booking, without the UID and hosts that are known only later, and returns it with its length in minutes.
///
/// # Errors
/// The first fault, with all of them in the details.
pub fn booking(new: &NewBooking, event_type_id: &str, e: &EventType) -> Result<(Booking, i64)> {
    let mut faults = Faults::default();
    let minutes = faults.check(rules::duration(e, new.duration_minutes))?;
    faults.check(validate::year_of("start", new.start))?;
    faults.check(address_of("inviteeEmail", &new.invitee_email))?;
    if let Some(name) = &new.invitee_name {
        faults.check(name_of("inviteeName", name))?;
    }
    let named = new.invitee_time_zone.as_deref().map(|zone| validate::zone_name("inviteeTimeZone", zone));
    let time_zone = faults.check(named.transpose())?.flatten();
    if let Some(phone) = &new.invitee_phone {
        faults.check(phone_of("inviteePhone", phone))?;
    }
    guests(&new.guests, &mut faults)?;
    faults.check(validate::text("notes", new.notes.as_deref(), MAX_NOTES))?;
    faults.check(metadata::check("metadata", &new.metadata))?;
    answers(&e.questions, &new.answers, &mut faults)?;
    let location = faults.check(place(new, e))?.flatten();
    faults.into_result()?;
    let minutes = minutes.ok_or_else(|| anyhow::anyhow!("a duration without a fault has no minutes"))?;
    let invitee = Invitee {
        name: new.invitee_name.clone().filter(|name| !name.trim().is_empty()),
        email: new.invitee_email.clone(),
        phone: new.invitee_phone.clone(),
        locale: new.invitee_locale.clone(),
        time_zone: time_zone.clone(),
    };
    let booking = Booking {
        event_type_id: event_type_id.to_owned(),
        slug: e.slug.clone(),
        status: if e.requires_confirmation { BookingStatus::Pending } else { BookingStatus::Confirmed },
        start: new.start,
        end: Instant::from_millis(new.start.as_millis() + minutes * MINUTE_MS),
        time_zone: time_zone.unwrap_or_else(|| rules::zone(e).name),
        title: title(e, &invitee, None),
        invitee,
        guests: new.guests.clone(),
        answers: new.answers.clone(),
        notes: new.notes.clone(),
        location,
        seats: 1,
        source: BookingSource::Api,
        ..Booking::default()
    };
    Ok((booking, minutes))
}

/// Checks an email address, and refuses one that reads as a link: it replaces a missing name in titles.
fn address_of(field: &str, email: &str) -> Result<()> {
    validate::address(field, email)?;
    match email.rsplit_once('@').is_some_and(|(local, _)| local_part_names_page(local)) {
        true => Err(fault(field, "must be an email address without a web address in it")),
        false => Ok(()),
    }
}

fn name_of(field: &str, name: &str) -> Result<()> {
    validate::text(field, Some(name), MAX_NAME)?;
    line(field, name)?;
    // It is part of the subject of mail to unverified addresses.
    match names_page(name) {
        true => Err(fault(field, "must be a name without a web address in it")),
        false => Ok(()),
    }
}

/// Checks a phone number: it has few letters, so that it cannot carry a message.
fn phone_of(field: &str, phone: &str) -> Result<()> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+-(). #*/;=:,".contains(c);
    let letters = phone.chars().filter(char::is_ascii_alphabetic).count();
    let fits = phone.len() <= MAX_PHONE && letters <= MAX_PHONE_LETTERS && phone.chars().all(is_part);
    match fits && !resembles_link(phone) && phone.chars().any(|c| c.is_ascii_digit()) {
        true => Ok(()),
        false => Err(fault(field, "must be a telephone number such as +49 30 123456")),
    }
}

fn guests(guests: &[Guest], faults: &mut Faults) -> Result<()> {
    faults.check(validate::length("guests", guests.len(), MAX_GUESTS))?;
    for (i, guest) in guests.iter().enumerate().take(MAX_GUESTS) {
        faults.check(address_of(&format!("guests[{i}].email"), &guest.email))?;
        if let Some(name) = &guest.name {
            faults.check(name_of(&format!("guests[{i}].name"), name))?;
        }
    }
    Ok(())
}

/// The location of the meeting: the one that was chosen, else the first one.
fn place(new: &NewBooking, e: &EventType) -> Result<Option<BookingPlace>> {
    let fits = |chosen: &BookingPlace| {
        let same = |text: &Option<String>| chosen.value.is_none() || chosen.value == *text;
        e.locations.iter().find(|place| place.kind == chosen.kind && same(&place.value))
    };
    let found = match &new.location {
        None => e.locations.first(),
        Some(chosen) => {
            let none = || fault("location", "must be one of the event type's locations");
            Some(fits(chosen).ok_or_else(none)?)
        }
    };
    let Some(found) = found else { return Ok(None) };
    if found.kind == MeetingPlaceKind::PhoneInvitee && new.invitee_phone.is_none() {
        return Err(missing("inviteePhone"));
    }
    let is_link = !matches!(
        found.kind,
        MeetingPlaceKind::InPerson | MeetingPlaceKind::PhoneHost | MeetingPlaceKind::PhoneInvitee
    );
    let join_url = found.value.clone().filter(|_| is_link);
    Ok(Some(BookingPlace { kind: found.kind, value: found.value.clone(), join_url }))
}

fn answers(questions: &[Question], answers: &BTreeMap<String, Value>, faults: &mut Faults) -> Result<()> {
    if serde_json::to_vec(answers)?.len() > MAX_ANSWERS_BYTES {
        let message = format!("may have at most {MAX_ANSWERS_BYTES} bytes");
        faults.check::<()>(Err(fault("answers", &message)))?;
        return Ok(());
    }
    for key in answers.keys().filter(|key| !questions.iter().any(|q| q.key == **key)) {
        faults.check::<()>(Err(fault(&format!("answers.{key}"), "is no question of this event type")))?;
    }
    for question in questions {
        let field = format!("answers.{}", question.key);
        let given = answers.get(&question.key).filter(|answer| !is_empty(answer));
        match given {
            Some(given) => faults.check(answer(&field, question, given))?,
            None if question.required => faults.check(Err(missing(&field)))?,
            None => None,
        };
    }
    Ok(())
}

/// Whether an answer is empty.
fn is_empty(answer: &Value) -> bool {
    match answer {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(chosen) => chosen.is_empty(),
        _ => false,
    }
}

fn answer(field: &str, question: &Question, given: &Value) -> Result<()> {
    let is_option = |value: &Value| value.as_str().is_some_and(|v| question.options.iter().any(|o| o == v));
    match (question.kind, given) {
        (QuestionKind::Text, Value::String(text)) => {
            validate::text(field, Some(text), MAX_ANSWER)?;
            line(field, text)
        }
        (QuestionKind::Textarea, Value::String(text)) => validate::text(field, Some(text), MAX_ANSWER),
        (QuestionKind::Phone, Value::String(text)) => phone_of(field, text),
        (QuestionKind::Email, Value::String(text)) => validate::address(field, text),
        (QuestionKind::Boolean, Value::Bool(_)) | (QuestionKind::Number, Value::Number(_)) => Ok(()),
        (QuestionKind::Select, one) if is_option(one) => Ok(()),
        (QuestionKind::Multiselect, Value::Array(several)) if several.iter().all(is_option) => {
            let each: BTreeSet<&str> = several.iter().filter_map(Value::as_str).collect();
            match each.len() == several.len() {
                true => Ok(()),
                false => Err(fault(field, "names an option twice")),
            }
        }
        (QuestionKind::Select, _) => Err(fault(field, "must be one of the question's options")),
        (QuestionKind::Multiselect, _) => Err(fault(field, "must be a list of the question's options")),
        (QuestionKind::Boolean, _) => Err(fault(field, "must be true or false")),
        (QuestionKind::Number, _) => Err(fault(field, "must be a number")),
        _ => Err(invalid(Code::InvalidParameter, field, format!("{field} must be a text"))),
    }
}

/// The title of the event, whose organizer is a host of this connection; none: the first host.
pub fn title(e: &EventType, invitee: &Invitee, organizer: Option<&str>) -> String {
    let organizer = organizer.and_then(|id| e.hosts.iter().find(|host| host.connection_id == id));
    let organizer = organizer.or_else(|| e.hosts.first());
    let host = organizer.and_then(|host| host.display_name.as_deref()).unwrap_or_default();
    let name = shown_name(invitee.name.as_deref()).map(in_title);
    let name = name.as_deref().unwrap_or(&invitee.email);
    let template = e.title_template.as_deref().filter(|t| !t.trim().is_empty()).unwrap_or(TITLE);
    // The invitee last: placeholders in the invitee's name are not expanded.
    let title = template.replace("{title}", &e.title).replace("{host}", host).replace("{invitee}", name);
    title.chars().take(MAX_TITLE).collect()
}

/// A name, shortened for a title.
fn in_title(name: &str) -> String {
    let mut cut: String = name.chars().take(MAX_NAME_IN_TITLE).collect();
    if cut.len() < name.len() {
        cut.push('\u{2026}');
    }
    cut
}

#[cfg(test)]
mod tests {
    use base::error::Error;
    use serde_json::json;

    use super::*;

    fn ask(kind: QuestionKind, given: Value) -> bool {
        let options = vec!["a".to_owned(), "b".to_owned()];
        let question = Question { key: "q".to_owned(), kind, required: true, options, ..Question::default() };
        let mut faults = Faults::default();
        answers(&[question], &[("q".to_owned(), given)].into(), &mut faults).unwrap();
        faults.into_result().is_ok()
    }

    #[test]
    fn an_answer_is_of_its_questions_kind() {
        assert!(ask(QuestionKind::Text, json!("x")) && !ask(QuestionKind::Text, json!("x\ny")));
        assert!(ask(QuestionKind::Textarea, json!("x\ny")) && !ask(QuestionKind::Textarea, json!(" ")));
        assert!(ask(QuestionKind::Select, json!("a")) && !ask(QuestionKind::Select, json!("c")));
        assert!(ask(QuestionKind::Multiselect, json!(["a", "b"])));
        assert!(!ask(QuestionKind::Multiselect, json!(["a", "a"])));
        assert!(ask(QuestionKind::Boolean, json!(false)) && !ask(QuestionKind::Boolean, json!("no")));
        assert!(ask(QuestionKind::Number, json!(1.5)) && !ask(QuestionKind::Number, json!(null)));
        assert!(ask(QuestionKind::Phone, json!("+49 30 1")) && !ask(QuestionKind::Phone, json!("call me")));
        assert!(ask(QuestionKind::Email, json!("a@b.c")) && !ask(QuestionKind::Email, json!("a")));
    }

    #[test]
    fn all_faults_are_told_at_once() {
        let question = Question { key: "topic".to_owned(), required: true, ..Question::default() };
        let event_type = EventType { questions: vec![question], ..EventType::default() };
        let new = NewBooking {
            invitee_email: "nobody".to_owned(),
            invitee_phone: Some("call me".to_owned()),
            ..NewBooking::default()
        };
        let Err(Error::Refused(refusal)) = booking(&new, "et_1", &event_type) else {
            panic!("it has faults")
        };
        let fields: Vec<&str> = refusal.details.iter().map(|detail| detail.field.as_str()).collect();
        assert_eq!(fields, ["inviteeEmail", "inviteePhone", "answers.topic"]);
        assert_eq!(refusal.param.as_deref(), Some("inviteeEmail"));
        let many = NewBooking { answers: (0..99).map(|n| (n.to_string(), json!(n))).collect(), ..new };
        let Err(Error::Refused(refusal)) = booking(&many, "et_1", &event_type) else {
            panic!("it has faults")
        };
        assert_eq!(refusal.details.len(), 20);
    }

    #[test]
    fn names_and_numbers_are_no_addresses_of_pages() {
        for name in ["Ada", "Ada / Countess", "J. R. Smith", "Awww"] {
            assert!(name_of("inviteeName", name).is_ok(), "{name}");
        }
        for name in
            ["https://evil.example", "see //evil.example", "WWW.evil.example", "evil.example/x", "a\u{2028}b"]
        {
            assert!(name_of("inviteeName", name).is_err(), "{name}");
        }
        for phone in ["tel:+49-30-1;ext=2", "+49.30.1234", "1-800-FLOWERS", "030 1234, extension 5"] {
            assert!(phone_of("inviteePhone", phone).is_ok(), "{phone}");
        }
        for phone in
            ["https://evil.example/1", "www.evil.example/1", "1.evil.org", "Account locked: call 1 900 555"]
        {
            assert!(phone_of("inviteePhone", phone).is_err(), "{phone}");
        }
    }

    #[test]
    fn a_title_has_no_name_that_leads_somewhere_and_little_of_a_long_one() {
        let event_type = EventType { title: "Intro".to_owned(), ..EventType::default() };
        let of = |name: &str| {
            let name = Some(name.to_owned());
            let invitee = Invitee { name, email: "ada@example.org".to_owned(), ..Invitee::default() };
            title(&event_type, &invitee, None)
        };
        assert_eq!(of("Reset at evil.example"), "Intro with ada@example.org");
        assert_eq!(of(&"a".repeat(100)), format!("Intro with {}", "a".repeat(100)));
        assert_eq!(of(&"\u{e4}".repeat(256)), format!("Intro with {}\u{2026}", "\u{e4}".repeat(100)));
    }

    #[test]
    fn a_name_is_not_taken_for_a_template() {
        let event_type = EventType { title: "Intro".to_owned(), ..EventType::default() };
        let invitee = Invitee { name: Some("{title}".to_owned()), ..Invitee::default() };
        assert_eq!(title(&event_type, &invitee, None), "Intro with {title}");
    }
}
