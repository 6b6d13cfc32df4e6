//! Notifications of a write, on a server that schedules and cannot be asked not to, and on one that can: the requests that go over the
//! wire. Recorded, without a network; the mails that arrive are in the API's tests.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use std::cell::RefCell;
use std::rc::Rc;

use connector_dav::Dav;
use connector_sdk::http::Response;
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Calendar as _, Context, Failure, code};
use model::calendar::{Attendee, Event, ResponseStatus};
use model::wire::calendar::{EventDelete, EventRespond, EventTarget, EventWrite, Notify, RecurrenceScope};
use model::wire::{Connection, Mutated};
use serde_json::json;

const ID: &str = "/cal/work/a.ics";

/// A series of the account's own with a guest whom the server schedules.
const OWN: &str = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:a\nDTSTAMP:20260101T000000Z\n\
    DTSTART:20260301T090000Z\nDTEND:20260301T100000Z\nRRULE:FREQ=DAILY;COUNT=4\nSUMMARY:Own\n\
    ORGANIZER:mailto:me@example.com\nATTENDEE:mailto:guest@example.org\nEND:VEVENT\nEND:VCALENDAR\n";
/// One to which the account is invited.
const INVITED: &str = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:a\nDTSTAMP:20260101T000000Z\n\
    DTSTART:20260301T090000Z\nDTEND:20260301T100000Z\nSUMMARY:Theirs\nORGANIZER:mailto:boss@example.org\n\
    ATTENDEE;PARTSTAT=NEEDS-ACTION:mailto:me@example.com\nEND:VEVENT\nEND:VCALENDAR\n";

type Outcome = Result<Mutated, Failure>;

/// The changes that a server got: method, whether it was asked to be quiet, and the text.
type Sent = Vec<(String, bool, String)>;

/// Runs a call against a server that has this resource and schedules.
fn run(resource: &str, is_silent: bool, call: impl FnOnce(&Context) -> Outcome) -> (Outcome, Sent) {
    let sent = Rc::new(RefCell::new(Sent::new()));
    let (shared, stored) = (sent.clone(), RefCell::new(resource.to_owned()));
    let host = Recorded::answering(move |request| {
        if request.method == "REPORT" {
            return Ok(object_response(&stored.borrow()));
        }
        let quiet = request.headers.iter().any(|(name, value)| name == "scheduling-enabled" && value == "F");
        let text = String::from_utf8(body(request)).unwrap().replace("\r\n ", "");
        if request.method == "PUT" {
            stored.borrow_mut().clone_from(&text);
        }
        shared.borrow_mut().push((request.method.clone(), quiet, text));
        Ok(response(204, &[], ""))
    });
    let mut connection = Connection { addresses: vec!["me@example.com".into()], ..Connection::default() };
    connection.settings.insert("serverUrl".into(), "https://dav.example.com/".into());
    connection.settings.insert("davClasses".into(), json!(["calendar-access", "calendar-auto-schedule"]));
    connection.settings.insert("keepsSilence".into(), json!(is_silent));
    let outcome = call(&Context::new(&host, connection).keyed("k"));
    let sent = sent.borrow().clone();
    (outcome, sent)
}

fn object_response(text: &str) -> Response {
    let xml = format!(
        "<d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\"><d:response><d:href>{ID}</d:href><d:propstat>\
         <d:prop><d:getetag>\"1\"</d:getetag><c:calendar-data>{text}</c:calendar-data></d:prop>\
         <d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>"
    );
    response(207, &[("content-type", "application/xml")], &xml)
}

fn target() -> EventTarget {
    EventTarget { source: Some(ID.into()), scope: RecurrenceScope::All, ..EventTarget::default() }
}

fn change(strict: bool, guests: &[&str]) -> EventWrite {
    let guest = |email: &&str| Attendee { email: (*email).into(), ..Attendee::default() };
    EventWrite {
        collection: "/cal/work/".into(),
        target: target(),
        event: Event {
            description: Some("New".into()),
            attendees: guests.iter().map(guest).collect(),
            start: "2026-03-01T09:00:00Z".parse().unwrap(),
            end: "2026-03-01T10:00:00Z".parse().unwrap(),
            time_zone: "UTC".into(),
            ..Event::default()
        },
        changed: vec!["description".into(), "attendees".into()],
        notify: Notify::None,
        strict,
        ..EventWrite::default()
    }
}

fn codes(outcome: Outcome) -> Vec<String> {
    outcome.unwrap().warnings.into_iter().map(|warning| warning.code).collect()
}

/// The guest stays in the server's hands, so that no cancellation is sent; a new guest is never scheduled by it.
#[test]
fn nobody_is_taken_out_of_the_servers_hands() {
    for is_silent in [true, false] {
        let guests = ["guest@example.org", "new@example.org"];
        let (outcome, sent) = run(OWN, is_silent, |cx| Dav::update_event(cx, change(false, &guests)));
        let expected: &[&str] = if is_silent { &[] } else { &["notify_not_supported"] };
        assert_eq!(codes(outcome), expected);
        let [(method, quiet, text)] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!((method.as_str(), *quiet), ("PUT", true));
        assert!(text.lines().any(|line| line == "ATTENDEE:mailto:guest@example.org"), "{text}");
        let new = text.lines().find(|line| line.contains("new@example.org")).unwrap();
        assert!(new.contains("SCHEDULE-AGENT=CLIENT"), "{new}");
    }
}

/// A new event is silent on every server.
#[test]
fn a_new_event_is_silent() {
    let mut args = change(true, &["guest@example.org"]);
    args.target = EventTarget::default();
    let (outcome, sent) = run(OWN, false, |cx| Dav::create_event(cx, args));
    assert_eq!(codes(outcome), Vec::<String>::new());
    assert!(sent[0].2.contains("SCHEDULE-AGENT=CLIENT"), "{sent:?}");
}

/// A write that cannot be silent is refused where the caller is strict, before anything is sent.
#[test]
fn what_cannot_be_silent_is_refused() {
    let refused = |resource: &str, call: &dyn Fn(&Context) -> Outcome, field: &str| {
        let (outcome, sent) = run(resource, false, call);
        let failure = outcome.unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["field"]),
            (code::UNSUPPORTED, &json!(field))
        );
        assert!(sent.is_empty(), "{sent:?}");
    };
    let instance = EventTarget {
        recurrence_id: Some("2026-03-02T09:00:00".into()),
        scope: RecurrenceScope::This,
        ..target()
    };
    let split = EventTarget { scope: RecurrenceScope::ThisAndFollowing, ..instance.clone() };
    for target in [target(), instance.clone(), split.clone()] {
        let write = EventWrite { target: target.clone(), ..change(true, &["guest@example.org"]) };
        refused(OWN, &|cx| Dav::update_event(cx, write.clone()), "notify");
        let delete = EventDelete {
            collection: "/cal/work/".into(),
            target,
            notify: Notify::None,
            strict: true,
            ..EventDelete::default()
        };
        refused(OWN, &|cx| Dav::delete_event(cx, delete.clone()), "notify");
    }
    refused(INVITED, &|cx| Dav::respond(cx, answer(true)), "notifyOrganizer");
}

fn answer(strict: bool) -> EventRespond {
    EventRespond {
        collection: "/cal/work/".into(),
        target: target(),
        response: ResponseStatus::Declined,
        comment: Some("Not for the organizer".into()),
        notify_organizer: false,
        strict,
        ..EventRespond::default()
    }
}

/// An attendee's own deletion is silent on every server that schedules, and its comment is no message.
#[test]
fn an_attendee_keeps_quiet() {
    let delete = EventDelete {
        collection: "/cal/work/".into(),
        target: target(),
        notify: Notify::None,
        strict: true,
        ..EventDelete::default()
    };
    let (outcome, sent) = run(INVITED, false, |cx| Dav::delete_event(cx, delete));
    assert_eq!((codes(outcome), sent.len()), (Vec::new(), 1));
    for is_silent in [true, false] {
        let (outcome, sent) = run(INVITED, is_silent, |cx| Dav::respond(cx, answer(false)));
        assert_eq!(codes(outcome).is_empty(), is_silent);
        assert!(!sent[0].2.contains("\nCOMMENT"), "{sent:?}");
    }
}

/// One that the account accepted with a word, and of which one instance was answered with another.
const ANSWERED: &str = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:a\nDTSTAMP:20260101T000000Z\n\
    DTSTART:20260301T090000Z\nDTEND:20260301T100000Z\nRRULE:FREQ=DAILY;COUNT=4\nSUMMARY:Theirs\n\
    ORGANIZER:mailto:boss@example.org\nATTENDEE;PARTSTAT=ACCEPTED;X-RESPONSE-COMMENT=Gladly:mailto:me@example.com\n\
    COMMENT:Bring cake\nCOMMENT:Gladly\nEND:VEVENT\nBEGIN:VEVENT\nUID:a\nDTSTAMP:20260101T000000Z\n\
    RECURRENCE-ID:20260302T090000Z\nDTSTART:20260302T090000Z\nDTEND:20260302T100000Z\nSUMMARY:Theirs\n\
    ORGANIZER:mailto:boss@example.org\nATTENDEE;PARTSTAT=DECLINED;X-RESPONSE-COMMENT=Whispered:mailto:me@example.com\n\
    END:VEVENT\nEND:VCALENDAR\n";

/// To a server that schedules, an attendee's deletion is an answer: the comment of an earlier one is removed first, silently.
#[test]
fn a_deletion_does_not_repeat_an_earlier_comment() {
    let instance = EventTarget {
        recurrence_id: Some("2026-03-03T09:00:00".into()),
        scope: RecurrenceScope::This,
        ..target()
    };
    for (target, last) in [(target(), "DELETE"), (instance, "PUT")] {
        let delete = |notify| EventDelete {
            collection: "/cal/work/".into(),
            target: target.clone(),
            notify,
            ..EventDelete::default()
        };
        let (outcome, sent) = run(ANSWERED, true, |cx| Dav::delete_event(cx, delete(Notify::All)));
        assert_eq!(codes(outcome), Vec::<String>::new());
        let [(first, is_quiet, text), (second, is_second_quiet, deleted)] = &sent[..] else {
            panic!("{sent:?}")
        };
        assert_eq!((first.as_str(), *is_quiet), ("PUT", true));
        assert_eq!((second.as_str(), *is_second_quiet), (last, false));
        for text in [text, deleted] {
            assert!(!text.contains("Gladly") && !text.contains("Whispered"), "{text}");
        }
        assert!(text.contains("COMMENT:Bring cake") && text.contains("PARTSTAT=ACCEPTED"), "{text}");
        assert!(text.contains("PARTSTAT=DECLINED"), "{text}");
        // Without a notification there is no other write.
        let (_, sent) = run(ANSWERED, true, |cx| Dav::delete_event(cx, delete(Notify::None)));
        assert_eq!(sent.len(), 1, "{sent:?}");
    }
}
