//! Tests of the description of scheduling: its bounds and patterns are those that the validators have.

use model::formats;
use model::scheduling::booking::NewBooking;
use model::scheduling::event_type::EventType;
use regex::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use service::bookings::{input, new_booking};

fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().for_deserialize().into_generator().into_root_schema_for::<T>().to_value()
}

/// The schema of the field at a JSON pointer; a number stands for the entries of a list.
fn schema_at<'s>(root: &'s Value, pointer: &str) -> &'s Value {
    pointer.split('/').skip(1).fold(root, |at, name| {
        let inside = match name.parse::<usize>() {
            Ok(_) => &at["items"],
            Err(_) => &at["properties"][name],
        };
        match inside["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
            Some(definition) => root.pointer(definition).expect("a closed schema"),
            None => inside,
        }
    })
}

/// A valid event type with an entry in each list.
fn event_type() -> Value {
    let mut body = serde_json::to_value(EventType::default()).expect("JSON");
    body["slug"] = json!("intro");
    body["title"] = json!("Intro");
    body["hosts"] = json!([{ "connectionId": "conn_1", "weight": 1, "priority": 0, "displayName": "Ada" }]);
    body["bookingWindow"] = json!({ "kind": "rolling", "days": 1 });
    body["locations"] = json!([{ "type": "inPerson", "value": "Room 1" }]);
    body["questions"] = json!([
        { "key": "topic", "label": "Topic", "type": "select", "options": ["a"] },
    ]);
    body["notifications"]["reminders"] = json!([{ "minutesBefore": 10 }]);
    body["schedule"] = json!({
        "timeZone": "UTC",
        "weekly": [],
        "overrides": [{ "date": "2026-12-24", "available": false, "windows": [] }],
    });
    body
}

/// Whether the validator accepts the valid event type with another value at this place.
fn is_accepted(pointer: &str, value: Value) -> bool {
    let mut body = event_type();
    *body.pointer_mut(pointer).expect("a field") = value;
    serde_json::from_value::<EventType>(body).is_ok_and(|body| input::check(&body).is_ok())
}

const NUMBERS: [&str; 19] = [
    "/durationMinutes",
    "/slotIntervalMinutes",
    "/slotOffsetMinutes",
    "/bufferBeforeMinutes",
    "/bufferAfterMinutes",
    "/minNoticeMinutes",
    "/seatsPerSlot",
    "/confirmationExpiresMinutes",
    "/bookingWindow/days",
    "/limits/perDay",
    "/limits/perWeek",
    "/limits/activePerInvitee",
    "/limits/minutesPerDay",
    "/cancellation/minNoticeMinutes",
    "/reschedule/minNoticeMinutes",
    "/reschedule/maxCount",
    "/notifications/reminders/0/minutesBefore",
    "/hosts/0/weight",
    "/hosts/0/priority",
];

#[test]
fn numbers_of_an_event_type_have_the_bounds_of_the_validator() {
    assert!(is_accepted("/title", json!("Intro")), "the event type is valid");
    let schema = schema_of::<EventType>();
    for pointer in NUMBERS {
        let field = schema_at(&schema, pointer);
        let bound = |keyword: &str| field[keyword].as_i64().unwrap_or_else(|| panic!("{pointer}: {keyword}"));
        let (minimum, maximum) = (bound("minimum"), bound("maximum"));
        for (number, is_good) in
            [(minimum, true), (maximum, true), (minimum - 1, false), (maximum + 1, false)]
        {
            assert_eq!(is_accepted(pointer, json!(number)), is_good, "{pointer}: {number}");
        }
    }
}

#[test]
fn texts_of_an_event_type_have_the_bounds_of_the_validator() {
    let schema = schema_of::<EventType>();
    let texts = [
        "/title",
        "/description",
        "/titleTemplate",
        "/hosts/0/displayName",
        "/locations/0/value",
        "/questions/0/label",
        "/questions/0/options/0",
    ];
    for pointer in texts {
        let maximum =
            schema_at(&schema, pointer)["maxLength"].as_u64().unwrap_or_else(|| panic!("{pointer}"));
        let maximum = usize::try_from(maximum).expect("a length");
        assert!(is_accepted(pointer, json!("\u{e9}".repeat(maximum))), "{pointer}");
        assert!(!is_accepted(pointer, json!("\u{e9}".repeat(maximum + 1))), "{pointer}");
    }
    for (pointer, good, bad) in [
        ("/questions/0/key", ["a", "A_b-1", "0"], ["", "a b", "\u{e9}"]),
        ("/slug", ["a", "intro-call", "2026"], ["", "Intro", "intro call"]),
        ("/title", ["a", "Intro \u{2713}", "\""], ["", "a\nb", "a\u{2028}b"]),
        ("/color", ["#000000", "#1a2b3c", "#ABCDEF"], ["", "red", "#1a2b3"]),
    ] {
        let field = schema_at(&schema, pointer);
        let pattern = Regex::new(field["pattern"].as_str().expect("a pattern")).expect("an expression");
        let is_described = |text: &str| {
            let shortest = field["minLength"].as_u64().unwrap_or_default();
            pattern.is_match(text) && text.chars().count() as u64 >= shortest
        };
        for text in good {
            assert!(is_described(text) && is_accepted(pointer, json!(text)), "{pointer}: {text:?}");
        }
        for text in bad {
            assert!(!is_described(text) && !is_accepted(pointer, json!(text)), "{pointer}: {text:?}");
        }
    }
}

#[test]
fn dates_of_a_schedule_are_those_of_any_year() {
    let pattern = Regex::new(formats::AnyDate::PATTERN).expect("an expression");
    let is_taken = |text: &str| is_accepted("/schedule/overrides/0/date", json!(text));
    for text in ["2026-12-24", "0001-01-01", "9999-12-31", "2024-02-29"] {
        assert!(pattern.is_match(text) && is_taken(text), "{text}");
    }
    for text in ["", "2026-13-01", "2026-12-32", "2026-1-01", "24.12.2026", "2026-12-24T00:00:00Z"] {
        assert!(!pattern.is_match(text) && !is_taken(text), "{text}");
    }
}

/// The phone number may hold fewer letters than the pattern lets through, so that the validator alone refuses some texts.
#[test]
fn phone_numbers_that_the_validator_accepts_match_the_pattern() {
    let schema = schema_of::<NewBooking>();
    let field = schema_at(&schema, "/inviteePhone");
    let pattern = Regex::new(field["pattern"].as_str().expect("a pattern")).expect("an expression");
    let is_taken = |phone: &str| {
        let new = NewBooking {
            invitee_email: "ada@example.org".to_owned(),
            invitee_phone: Some(phone.to_owned()),
            ..NewBooking::default()
        };
        new_booking::booking(&new, "evt_1", &EventType::default()).is_ok()
    };
    for phone in ["+49 30 123456", "tel:+49-30-1;ext=2", "(030) 1234 #5", "1-800-FLOWERS", "*31#030,1"] {
        assert!(is_taken(phone) && pattern.is_match(phone), "{phone}");
    }
    for phone in ["", "call me", "+49 30\n1", "\u{661}\u{662}"] {
        assert!(!is_taken(phone) && !pattern.is_match(phone), "{phone:?}");
    }
}
