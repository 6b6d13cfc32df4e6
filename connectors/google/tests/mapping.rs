//! Google's events as the model's, and back.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use connector_google::{CalendarInfo, NativeEvent, Palette, WrittenFields, event_from, event_to};
use model::Instant;
use model::calendar::{
    Attendee, AttendeeKind, AttendeeRole, ConferenceProvider, ConferenceStatus, Event, EventAttachment,
    EventKind, EventStatus, EventType, Reminder, ReminderMethod, Reminders, ResponseStatus, ShowAs,
    Visibility,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn calendar() -> CalendarInfo {
    CalendarInfo { time_zone: "America/Sao_Paulo".to_owned(), palette: Palette::default() }
}

/// The event of this place in the recorded page.
fn recorded(place: usize) -> NativeEvent {
    let page: Value = serde_json::from_str(include_str!("../fixtures/events_page.json")).unwrap();
    serde_json::from_value(page["items"][place].clone()).unwrap()
}

fn read(place: usize) -> Event {
    event_from(&recorded(place), &calendar()).unwrap()
}

fn names(fields: &[&str]) -> Vec<String> {
    fields.iter().map(ToString::to_string).collect()
}

/// The JSON of a patch of these fields.
fn patch(event: &Event, fields: &[&str]) -> Value {
    let names = names(fields);
    Value::Object(event_to(event, WrittenFields::Patch(&names), None, &calendar()).0)
}

#[test]
fn a_series_with_guests_and_a_conference() {
    let series = read(0);
    assert_eq!((series.event_type, series.sequence), (EventType::Series, 2));
    assert_eq!(series.start.to_string(), "2026-03-02T17:00:00.000Z");
    assert_eq!((series.time_zone.as_str(), series.end_time_zone.as_deref()), ("America/Los_Angeles", None));
    assert_eq!(series.recurrence[0], "EXDATE;TZID=America/Los_Angeles:20260309T090000");
    assert_eq!(series.color.as_deref(), Some("#5484ed"));
    assert_eq!(series.description.as_deref(), Some("Bring notes\nand coffee"));
    assert_eq!(series.description_html.as_deref(), Some("Bring <b>notes</b><br>and coffee"));
    assert!(series.hide_attendees && !series.guests_can_invite && !series.guests_can_modify && series.busy);
    let [ada, grace, room] = &series.attendees[..] else { panic!("{:?}", series.attendees) };
    assert_eq!((ada.is_self, ada.organizer, ada.name.as_deref()), (true, true, Some("Ada")));
    assert_eq!((grace.role, grace.response_status), (AttendeeRole::Optional, ResponseStatus::Tentative));
    assert_eq!((room.kind, series.my_response), (AttendeeKind::Resource, Some(ResponseStatus::Accepted)));
    let meet = series.conference.unwrap();
    assert_eq!((meet.provider, meet.status), (ConferenceProvider::GoogleMeet, ConferenceStatus::Ready));
    assert_eq!(meet.meeting_id.as_deref(), Some("abc-defg-hij"));
    assert_eq!(
        (meet.phones[0].number.as_str(), meet.phones[0].pin.as_deref()),
        ("+1-555-0100", Some("123456789"))
    );
    assert_eq!(series.reminders.overrides[0].method, ReminderMethod::Email);
    assert_eq!(series.attachments[0].title.as_deref(), Some("Notes"));
}

/// The original start is given in the zone of the series, not in that of its offset.
#[test]
fn an_exception_names_its_original_start() {
    let moved = read(1);
    assert_eq!((moved.event_type, moved.status), (EventType::Exception, EventStatus::Confirmed));
    assert_eq!(moved.recurrence_id.as_deref(), Some("2026-03-16T09:00:00"));
    assert_eq!(moved.original_start.unwrap().to_string(), "2026-03-16T16:00:00.000Z");
    assert_eq!(moved.start.to_string(), "2026-03-16T18:00:00.000Z");
    assert!(moved.reminders.use_default);
}

/// A cancelled instance may come with ids alone.
#[test]
fn a_cancelled_instance_stands_at_its_original_start() {
    let cancelled = read(2);
    assert_eq!((cancelled.event_type, cancelled.status), (EventType::Exception, EventStatus::Cancelled));
    assert_eq!(cancelled.recurrence_id.as_deref(), Some("2026-03-23T09:00:00"));
    assert_eq!((cancelled.start, cancelled.end), (cancelled.original_start.unwrap(), cancelled.start));
    assert!(!cancelled.busy);
}

#[test]
fn days_kinds_and_words() {
    let trip = read(3);
    assert_eq!((trip.show_as, trip.visibility, trip.busy), (ShowAs::Free, Visibility::Private, false));
    assert_eq!(
        (trip.start_date.as_deref(), trip.end_date.as_deref()),
        (Some("2026-03-29"), Some("2026-03-31"))
    );
    let kinds = [
        ("outOfOffice", "opaque", EventKind::OutOfOffice, ShowAs::Oof, false),
        ("workingLocation", "transparent", EventKind::WorkingLocation, ShowAs::WorkingElsewhere, false),
        ("focusTime", "opaque", EventKind::FocusTime, ShowAs::Busy, false),
        ("birthday", "transparent", EventKind::Default, ShowAs::Free, true),
        ("fromGmail", "opaque", EventKind::Default, ShowAs::Busy, true),
    ];
    for (kind, transparency, expected, show_as, read_only) in kinds {
        let event = json!({
            "id": "x", "eventType": kind, "transparency": transparency, "start": { "date": "2026-03-01" },
        });
        let event = event_from(&serde_json::from_value(event).unwrap(), &calendar()).unwrap();
        assert_eq!(
            (event.event_kind, event.show_as, event.read_only),
            (expected, show_as, read_only),
            "{kind}"
        );
    }
}

#[test]
fn conferences_of_others_are_told_by_name_and_address() {
    let provider = |data: Value| {
        let event = json!({ "id": "x", "start": { "date": "2026-03-01" }, "conferenceData": data });
        let event: NativeEvent = serde_json::from_value(event).unwrap();
        let conference = event_from(&event, &calendar()).unwrap().conference.unwrap();
        (conference.provider, conference.status)
    };
    let video = |uri: &str| json!([{ "entryPointType": "video", "uri": uri }]);
    let add_on = |name: &str| json!({ "key": { "type": "addOn" }, "name": name });
    for (data, expected) in [
        (json!({ "conferenceSolution": add_on("Zoom Meeting") }), ConferenceProvider::Zoom),
        (json!({ "entryPoints": video("https://us02web.zoom.us/j/1") }), ConferenceProvider::Zoom),
        (json!({ "entryPoints": video("https://notzoom.us/j/1") }), ConferenceProvider::Other),
        (json!({ "entryPoints": video("https://teams.microsoft.com/l/1") }), ConferenceProvider::Teams),
        (json!({ "conferenceSolution": add_on("Webex") }), ConferenceProvider::Webex),
    ] {
        assert_eq!(provider(data.clone()), (expected, ConferenceStatus::Ready), "{data}");
    }
    for (code, expected) in [("pending", ConferenceStatus::Pending), ("failure", ConferenceStatus::Failed)] {
        let request = json!({
            "conferenceSolutionKey": { "type": "hangoutsMeet" }, "status": { "statusCode": code },
        });
        let data = json!({ "createRequest": request });
        assert_eq!(provider(data), (ConferenceProvider::GoogleMeet, expected));
    }
}

/// A patch has the members of the fields that changed, and no others.
#[test]
fn a_patch_is_what_changed() {
    let event = Event { title: Some("New".to_owned()), color: Some("#dc2127".to_owned()), ..read(0) };
    assert_eq!(patch(&event, &["title"]), json!({ "summary": "New" }));
    assert_eq!(patch(&event, &["color", "showAs"]), json!({ "colorId": "11", "transparency": "opaque" }));
    let cleared = Event { description: None, location: None, color: None, ..event.clone() };
    assert_eq!(
        patch(&cleared, &["description", "location", "color"]),
        json!({ "description": null, "location": null, "colorId": null })
    );
    assert_eq!(
        patch(&event, &["descriptionHtml"]),
        json!({ "description": "Bring <b>notes</b><br>and coffee" })
    );
    assert_eq!(
        patch(&event, &["reminders"]),
        json!({
            "reminders": { "useDefault": false, "overrides": [{ "method": "email", "minutes": 30 }] },
        })
    );
    assert_eq!(patch(&event, &["hideAttendees"]), json!({ "guestsCanSeeOtherGuests": false }));
    assert_eq!(patch(&event, &[]), json!({}));
}

/// Start and end go together; a change between times and days takes the other members away.
#[test]
fn a_patch_of_times() {
    let timed = read(0);
    let times = json!({
        "start": { "dateTime": "2026-03-02T17:00:00.000Z", "timeZone": "America/Los_Angeles" },
        "end": { "dateTime": "2026-03-02T17:15:00.000Z", "timeZone": "America/Los_Angeles" },
    });
    assert_eq!(patch(&timed, &["start"]), times);
    assert_eq!(patch(&timed, &["end", "timeZone"]), times);
    assert_eq!(patch(&timed, &["allDay"])["start"]["date"], Value::Null);
    let start = patch(&timed, &["allDay"])["start"].clone();
    assert!(start.as_object().unwrap().contains_key("date"));
    let days = read(3);
    assert_eq!(
        patch(&days, &["startDate"]),
        json!({
            "start": { "date": "2026-03-29" }, "end": { "date": "2026-03-31" },
        })
    );
    assert_eq!(
        patch(&days, &["allDay"])["end"],
        json!({
            "date": "2026-03-31", "dateTime": null, "timeZone": null,
        })
    );
}

/// A list of guests is replaced as a whole: those who are there keep their answers and companions.
#[test]
fn guests_keep_what_the_caller_does_not_say() {
    let guest = |email: &str| Attendee { email: email.to_owned(), ..Attendee::default() };
    let attendees = vec![guest("GRACE@example.test"), guest("new@example.test")];
    let event = Event { attendees, ..read(0) };
    let names = names(&["attendees"]);
    let (body, warnings) = event_to(&event, WrittenFields::Patch(&names), Some(&recorded(0)), &calendar());
    assert!(warnings.is_empty());
    assert_eq!(
        body["attendees"],
        json!([
            { "email": "GRACE@example.test", "responseStatus": "tentative", "comment": "late", "additionalGuests": 2 },
            { "email": "new@example.test", "responseStatus": "needsAction" },
        ])
    );
}

/// Fields that Google cannot keep are warnings, and the rest is written.
#[test]
fn lost_fields_are_told() {
    let event = Event {
        capacity: Some(3),
        show_as: ShowAs::Tentative,
        color: Some("#123456".to_owned()),
        event_kind: EventKind::FocusTime,
        attachments: vec![EventAttachment::default()],
        ..read(0)
    };
    let names = names(&["capacity", "showAs", "color", "eventKind", "attachments", "title"]);
    let (body, warnings) = event_to(&event, WrittenFields::Patch(&names), None, &calendar());
    let told: Vec<&str> = warnings.iter().filter_map(|warning| warning.target.as_deref()).collect();
    assert_eq!(told, ["showAs", "color", "eventKind", "attachments", "capacity"]);
    assert_eq!((&body["summary"], &body["transparency"]), (&json!("Stand-up"), &json!("opaque")));
    assert!(!body.contains_key("eventType"));
}

/// All fields that a new event can have.
const ALL: [&str; 16] = [
    "title",
    "description",
    "location",
    "color",
    "status",
    "showAs",
    "visibility",
    "attendees",
    "hideAttendees",
    "guestsCanModify",
    "guestsCanInvite",
    "recurrence",
    "reminders",
    "attachments",
    "eventKind",
    "start",
];

fn attendee() -> impl Strategy<Value = Attendee> {
    let answers = prop::sample::select(vec![
        ResponseStatus::NeedsAction,
        ResponseStatus::Accepted,
        ResponseStatus::Declined,
        ResponseStatus::Tentative,
    ]);
    let name = prop::option::of("[A-Z][a-z]{1,8}");
    ("[a-z]{1,8}@example\\.test", name, answers, any::<bool>(), any::<bool>()).prop_map(
        |(email, name, response_status, is_optional, is_room)| Attendee {
            email,
            name,
            response_status,
            role: if is_optional { AttendeeRole::Optional } else { AttendeeRole::Required },
            kind: if is_room { AttendeeKind::Resource } else { AttendeeKind::Individual },
            ..Attendee::default()
        },
    )
}

fn reminders() -> impl Strategy<Value = Reminders> {
    let one = (any::<bool>(), 0..40_320_i64).prop_map(|(is_email, minutes_before)| Reminder {
        method: if is_email { ReminderMethod::Email } else { ReminderMethod::Popup },
        minutes_before,
    });
    prop::option::of(prop::collection::vec(one, 0..5)).prop_map(|overrides| match overrides {
        Some(overrides) => Reminders { use_default: false, overrides },
        None => Reminders::default(),
    })
}

/// The start in seconds, the length in minutes, and whether the event has days instead of times.
fn times() -> impl Strategy<Value = Event> {
    let zone = prop::sample::select(vec!["America/Los_Angeles", "Europe/Berlin", "America/Sao_Paulo", "UTC"]);
    (0..2_000_000_000_i64, 0..10_000_i64, zone, prop::option::of((0..20_000_i32, 1..40_i32))).prop_map(
        |(start, minutes, zone, days)| {
            if let Some((first, count)) = days {
                let day = |at: i32| {
                    let epoch: jiff::civil::Date = "1990-01-01".parse().unwrap();
                    epoch.checked_add(jiff::Span::new().days(at)).unwrap().to_string()
                };
                let (first, after) = (day(first), day(first + count));
                let native = json!({ "id": "x", "start": { "date": first }, "end": { "date": after } });
                return event_from(&serde_json::from_value(native).unwrap(), &calendar()).unwrap();
            }
            Event {
                start: Instant::from_millis(start * 1000),
                end: Instant::from_millis((start + minutes * 60) * 1000),
                time_zone: zone.to_owned(),
                ..Event::default()
            }
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let words = (
        prop::sample::select(vec![EventStatus::Confirmed, EventStatus::Tentative]),
        prop::sample::select(vec![ShowAs::Busy, ShowAs::Free]),
        prop::sample::select(vec![Visibility::Default, Visibility::Public, Visibility::Private]),
        prop::sample::select(vec![None, Some("#dc2127"), Some("#a4bdfc")]),
    );
    let texts = (prop::option::of("[A-Za-z0-9 &<.]{1,20}"), prop::option::of("[A-Za-z0-9 ]{1,20}"));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let lists = (prop::collection::vec(attendee(), 0..4), reminders(), any::<bool>());
    (times(), words, texts, flags, lists).prop_map(
        |(times, (status, show_as, visibility, color), (title, text), (hides, modify, invite), lists)| {
            let (attendees, reminders, repeats) = lists;
            let mut event = Event {
                title,
                description: text.clone(),
                location: text,
                status,
                show_as,
                visibility,
                color: color.map(str::to_owned),
                attendees,
                hide_attendees: hides,
                guests_can_modify: modify,
                guests_can_invite: invite,
                reminders,
                ..times
            };
            if repeats {
                event.recurrence = vec!["RRULE:FREQ=WEEKLY;COUNT=5".to_owned()];
                event.event_type = EventType::Series;
            }
            event.busy = event.derived_busy();
            event
        },
    )
}

proptest! {
    /// Everything that the capabilities claim comes back as it went.
    #[test]
    fn an_event_comes_back_as_it_went(event in event()) {
        let (body, warnings) = event_to(&event, WrittenFields::New(&names(&ALL)), None, &calendar());
        prop_assert!(warnings.is_empty(), "{warnings:?}");
        let mut body: Map<String, Value> = body;
        body.insert("id".to_owned(), json!("x"));
        let native: NativeEvent = serde_json::from_value(Value::Object(body)).unwrap();
        prop_assert_eq!(event_from(&native, &calendar()).unwrap(), event);
    }

    /// Any JSON of the right shape is read or refused, and never more than that.
    #[test]
    fn any_times_are_read_or_refused(start in ".{0,30}", end in ".{0,30}", zone in ".{0,30}") {
        let time = |text: &str| json!({ "dateTime": text, "timeZone": zone });
        let native = json!({ "id": "x", "start": time(&start), "end": time(&end), "recurrence": [start, end] });
        let native: NativeEvent = serde_json::from_value(native).unwrap();
        if let Ok(event) = event_from(&native, &calendar()) {
            prop_assert!(event.end >= event.start);
        }
    }
}
