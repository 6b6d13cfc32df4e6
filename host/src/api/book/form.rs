//! The booking form: its fields, and the booking built from them. Its token is signed for one event type; it must be at least two seconds
//! old, faster than anybody fills in a form, and at most an hour. The random part of the token is the idempotency key, so that a form that
//! is sent twice books once, and a program needs a new form for each booking.

use std::collections::BTreeMap;

use base::error::{Code, Detail, Error};
use model::Instant;
use model::scheduling::booking::{BookingPlace, NewBooking};
use model::scheduling::event_type::{EventType, Question, QuestionKind};
use serde_json::Value;
use service::app::App;
use service::bookings::new_booking;

use crate::api::book::subject::BookableEventType;
use crate::web::form::FormFields;

/// Time limit for filling in a form.
const LIFE_MS: i64 = 60 * 60_000;
/// Age of a form below which its sender counts as a program.
const MIN_AGE_MS: i64 = 2_000;
const KIND: &str = "booking-form";

/// Names of the fields, which are also the ids of their controls.
pub const NAME: &str = "name";
pub const EMAIL: &str = "email";
pub const PHONE: &str = "phone";
pub const NOTES: &str = "notes";
pub const PLACE: &str = "place";
pub const START: &str = "start";
pub const TOKEN: &str = "token";
/// A hidden field: only programs fill it in.
pub const TRAP: &str = "website";

/// The name of a question's field.
pub fn field_of(question: &Question) -> String {
    format!("q.{}", question.key)
}

/// The result of checking a form's token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// The form can be accepted; the text is the random part.
    Good(String),
    /// It was sent faster than anybody can fill it in.
    TooFast,
    /// It was open for too long.
    TooOld,
    /// It is not of this service, or of another event type.
    Foreign,
}

/// A new token for the form of an event type.
// The start is not in it: a visitor whose time was taken chooses another one in the same form.
pub fn token(app: &App, subject: &BookableEventType) -> String {
    token_of(app, subject, app.now())
}

/// A new token for a form that is shown again, after one with the token `sent`. A visitor who has had the form for long enough need not
/// wait again.
pub fn token_after(app: &App, subject: &BookableEventType, sent: &str) -> String {
    let has_waited = matches!(read_token(app, subject, sent), Token::Good(_) | Token::TooOld);
    token_of(app, subject, app.now() - if has_waited { MIN_AGE_MS } else { 0 })
}

fn token_of(app: &App, subject: &BookableEventType, made_at: i64) -> String {
    let nonce = hex::encode(app.entropy.bytes::<16>());
    let text = storage::json_text(&(KIND, &subject.bookable.row.id, made_at, nonce));
    app.keyring.signed(text.as_bytes())
}

/// Checks the token of a form.
pub fn read_token(app: &App, subject: &BookableEventType, token: &str) -> Token {
    let text = app.keyring.verified(token);
    let Some((kind, id, made_at, nonce)): Option<(String, String, i64, String)> =
        text.and_then(|text| serde_json::from_slice(&text).ok())
    else {
        return Token::Foreign;
    };
    if kind != KIND || id != subject.bookable.row.id {
        return Token::Foreign;
    }
    match app.now() - made_at {
        ..MIN_AGE_MS => Token::TooFast,
        MIN_AGE_MS..=LIFE_MS => Token::Good(nonce),
        _ => Token::TooOld,
    }
}

/// Builds the booking, with all errors of the form. Fields that only a form requires are checked here, everything else where bookings are
/// made.
pub fn new_booking(
    subject: &BookableEventType,
    start: Instant,
    fields: &FormFields,
) -> Result<(NewBooking, Vec<Detail>), Error> {
    let event_type = &subject.bookable.body;
    let mut faults = Vec::new();
    let name = fields.filled(NAME);
    if name.is_none() {
        let (field, code) = ("inviteeName".to_owned(), Code::MissingField);
        faults.push(Detail { field, code, message: "inviteeName is required".to_owned() });
    }
    let location = match place(event_type, fields) {
        Ok(location) => location,
        Err(fault) => {
            faults.push(fault);
            None
        }
    };
    let new = NewBooking {
        event_type_id: subject.bookable.row.id.clone(),
        start,
        // A single-use link is used up by this.
        slug: subject.bookable.link.as_ref().map(|link| link.slug.clone()),
        invitee_name: name,
        invitee_email: fields.filled(EMAIL).unwrap_or_default(),
        invitee_time_zone: subject.has_own_zone.then(|| subject.zone.name.clone()),
        invitee_phone: fields.filled(PHONE),
        duration_minutes: Some(subject.minutes),
        answers: answers(event_type, fields),
        location,
        notes: fields.filled(NOTES),
        ..NewBooking::default()
    };
    match new_booking::booking(&new, &subject.bookable.row.id, event_type) {
        Ok(_) => {}
        Err(Error::Refused(refusal)) => faults.extend(refusal.details),
        Err(internal) => return Err(internal),
    }
    Ok((new, faults))
}

/// The place with the chosen index in the event type's list.
fn place(event_type: &EventType, fields: &FormFields) -> Result<Option<BookingPlace>, Detail> {
    let Some(chosen) = fields.filled(PLACE) else { return Ok(None) };
    let number = chosen.parse::<usize>().ok();
    let found = number.and_then(|number| event_type.locations.get(number)).ok_or_else(|| Detail {
        field: "location".to_owned(),
        code: Code::InvalidParameter,
        message: "location must be one of the event type's locations".to_owned(),
    })?;
    Ok(Some(BookingPlace { kind: found.kind, value: found.value.clone(), join_url: None }))
}

/// Answers as JSON. A value that does not parse, such as an invalid number, stays text, which is then refused with its field.
fn answers(event_type: &EventType, fields: &FormFields) -> BTreeMap<String, Value> {
    let mut answers = BTreeMap::new();
    for question in &event_type.questions {
        let name = field_of(question);
        let answer = match question.kind {
            QuestionKind::Boolean => Some(Value::from(!fields.first(&name).is_empty())),
            QuestionKind::Multiselect => {
                Some(fields.all(&name)).filter(|all| !all.is_empty()).map(Value::from)
            }
            QuestionKind::Number => fields.filled(&name).map(number),
            _ => fields.filled(&name).map(Value::from),
        };
        answers.extend(answer.map(|answer| (question.key.clone(), answer)));
    }
    answers
}

fn number(text: String) -> Value {
    let whole = text.parse::<i64>().ok().map(Value::from);
    let decimal = || text.parse::<f64>().ok().and_then(serde_json::Number::from_f64).map(Value::Number);
    whole.or_else(decimal).unwrap_or_else(|| Value::from(text.as_str()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_have_the_kind_of_their_question() {
        let question = |key: &str, kind| Question { key: key.to_owned(), kind, ..Question::default() };
        let event_type = EventType {
            questions: vec![
                question("yes", QuestionKind::Boolean),
                question("no", QuestionKind::Boolean),
                question("many", QuestionKind::Multiselect),
                question("n", QuestionKind::Number),
                question("bad", QuestionKind::Number),
                question("text", QuestionKind::Textarea),
                question("empty", QuestionKind::Text),
            ],
            ..EventType::default()
        };
        let body = b"q.yes=on&q.many=a&q.many=b&q.n=1.5&q.bad=many&q.text=a%0D%0Ab%00&q.empty=+&q.other=x";
        let expected =
            json!({ "yes": true, "no": false, "many": ["a", "b"], "n": 1.5, "bad": "many", "text": "a\nb" });
        assert_eq!(json!(answers(&event_type, &FormFields::read(body))), expected);
    }
}
