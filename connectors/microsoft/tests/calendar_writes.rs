//! Writes as Graph gets them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::Recorded;
use connector_sdk::{Calendar, Context, Outcome, code};
use model::Instant;
use model::calendar::{Attendee, Conference, ConferenceProvider, Event, ResponseStatus};
use model::wire::calendar::{
    EventConference, EventDelete, EventRespond, EventTarget, EventWrite, Notify, RecurrenceScope,
};
use model::wire::{CollectionDelete, CollectionWrite, Connection, Mutated, Source};
use serde_json::{Value, json};

use crate::calendar_support::{Call, Calls, graph};

const BERLIN: &str = "Europe/Berlin";
const WEST_EUROPE: &str = "W. Europe Standard Time";
const EVENTS: &str = "/me/calendars/work/events";

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn context(provider: &Recorded) -> Context<'_> {
    let connection = Connection { addresses: vec!["ada@example.test".to_owned()], ..Connection::default() };
    Context::new(provider, connection).keyed("key-1")
}

fn error(status: u16, name: &str) -> (u16, Value) {
    (status, json!({ "error": { "code": name, "message": "no" } }))
}

/// `one` with these members instead of its own.
fn with(mut one: Value, other: &Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

fn utc(text: &str) -> Value {
    json!({ "dateTime": format!("{text}.0000000"), "timeZone": "UTC" })
}

/// A single event at Graph.
fn single() -> Value {
    json!({
        "@odata.etag": "W/\"1\"", "id": "single", "type": "singleInstance", "subject": "Plan", "isOrganizer": true,
        "start": utc("2026-03-02T09:00:00"), "end": utc("2026-03-02T10:00:00"), "originalStartTimeZone": WEST_EUROPE,
        "originalEndTimeZone": WEST_EUROPE, "body": { "contentType": "html", "content": "<html><body>Agenda</body></html>" },
    })
}

/// Mondays at ten in Berlin from 2 March 2026 on, eight times, without 9 March.
fn series() -> Value {
    let pattern =
        json!({ "type": "weekly", "interval": 1, "daysOfWeek": ["monday"], "firstDayOfWeek": "monday" });
    let range = json!({ "type": "numbered", "numberOfOccurrences": 8, "startDate": "2026-03-02", "recurrenceTimeZone": WEST_EUROPE });
    with(
        single(),
        &json!({
            "@odata.etag": "W/\"5\"", "id": "series", "type": "seriesMaster", "categories": ["Blue"],
            "recurrence": { "pattern": pattern, "range": range }, "cancelledOccurrences": ["OID.AAk.2026-03-09"],
        }),
    )
}

/// The fifth instance of the series, after the clocks have gone forward; it has an id of its own.
fn instance(more: &Value) -> Value {
    let own = json!({
        "@odata.etag": "W/\"6\"", "id": "fifth", "type": "occurrence", "seriesMasterId": "series", "cancelledOccurrences": null,
        "recurrence": null, "originalStart": "2026-03-30T08:00:00Z", "start": utc("2026-03-30T08:00:00"), "end": utc("2026-03-30T09:00:00"),
    });
    with(with(single(), &own), more)
}

fn fifth(scope: RecurrenceScope) -> EventTarget {
    EventTarget {
        source: Some("series".to_owned()),
        recurrence_id: Some("2026-03-30T10:00:00".to_owned()),
        original_start: Some(at("2026-03-30T08:00:00Z")),
        scope,
        if_match: None,
    }
}

fn whole(source: &str, if_match: Option<&str>) -> EventTarget {
    EventTarget {
        source: Some(source.to_owned()),
        scope: RecurrenceScope::All,
        if_match: if_match.map(str::to_owned),
        ..EventTarget::default()
    }
}

fn event() -> Event {
    Event {
        title: Some("Plan".to_owned()),
        start: at("2026-03-02T09:00:00Z"),
        end: at("2026-03-02T10:00:00Z"),
        time_zone: BERLIN.to_owned(),
        ..Event::default()
    }
}

fn write(target: EventTarget, changed: &[&str]) -> EventWrite {
    EventWrite {
        collection: "work".to_owned(),
        time_zone: Some(BERLIN.to_owned()),
        target,
        event: event(),
        changed: changed.iter().map(ToString::to_string).collect(),
        notify: Notify::All,
        strict: false,
    }
}

fn guest() -> Attendee {
    Attendee { email: "bob@example.test".to_owned(), ..Attendee::default() }
}

/// The event that a path ends with, before its query.
fn id_of(path: &str) -> &str {
    let path = path.split('?').next().unwrap();
    path.strip_prefix(EVENTS).unwrap().trim_start_matches('/')
}

/// The method and the place of each request, as `PATCH single`; reads left out.
fn writes(calls: &Calls) -> Vec<String> {
    let calls = calls.borrow();
    let writes = calls.iter().filter(|call| call.method != "GET");
    writes.map(|call| format!("{} {}", call.method, id_of(&call.path)).trim_end().to_owned()).collect()
}

/// The first request that writes.
fn written(calls: &Calls) -> Call {
    calls.borrow().iter().find(|call| call.method != "GET").unwrap().clone()
}

fn read(source: &Source) -> Event {
    source.items[0].body.read().unwrap()
}

fn update(provider: &Recorded, args: EventWrite) -> Outcome<Mutated> {
    <Microsoft as Calendar>::update_event(&context(provider), args)
}

fn codes(mutated: &Mutated) -> Vec<&str> {
    mutated.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

#[test]
fn a_new_event_is_one_request_with_a_transaction_id() {
    let (provider, calls) =
        graph(|call| (201, with(single(), &json!({ "transactionId": call.body["transactionId"] }))));
    let args = || write(EventTarget::default(), &["title", "start", "end"]);
    let made = <Microsoft as Calendar>::create_event(&context(&provider), args()).unwrap();
    assert_eq!((made.item.as_deref(), made.sources[0].etag.as_deref()), (Some("single"), Some("W/\"1\"")));
    <Microsoft as Calendar>::create_event(&context(&provider), args()).unwrap();
    let calls = calls.borrow();
    assert_eq!((calls.len(), calls[0].path.as_str()), (2, EVENTS));
    let body = &calls[0].body;
    assert_eq!(body["start"], json!({ "dateTime": "2026-03-02T10:00:00", "timeZone": WEST_EUROPE }));
    assert_eq!(
        (&body["subject"], &body["isReminderOn"], &body["isAllDay"]),
        (&json!("Plan"), &json!(false), &json!(false))
    );
    let id = body["transactionId"].as_str().unwrap();
    assert_eq!((id.len(), &calls[1].body), (32, body), "a second attempt is the same request");
}

/// Graph may refuse what it has made already, or the connector looks for it: nothing is made twice.
#[test]
fn a_lost_create_is_not_doubled() {
    for is_refused in [true, false] {
        let (provider, calls) = graph(move |call| {
            match (call.method.as_str(), call.path.as_str()) {
            ("POST", _) => error(409, "ErrorDuplicateTransactionId"),
            ("GET", path) if path.contains("$filter=start/dateTime ge '2026-03-01T10:00:00' and start/dateTime le '2026-03-03T10:00:00'") => {
                let other = json!({ "id": "other", "type": "singleInstance", "transactionId": "x" });
                let own = json!({ "id": "single", "type": "singleInstance", "transactionId": transaction_id() });
                (200, json!({ "value": [other, own] }))
            }
            ("GET", path) if id_of(path) == "single" => (200, single()),
            other => panic!("{other:?}"),
        }
        });
        let attempt = if is_refused { "1" } else { "2" };
        let context = context(&provider).with_extra("attempt", attempt);
        let made = <Microsoft as Calendar>::create_event(&context, write(EventTarget::default(), &["title"]))
            .unwrap();
        assert_eq!(made.item.as_deref(), Some("single"));
        assert_eq!(writes(&calls).len(), usize::from(is_refused));
    }
}

/// The transaction id of the tests' key.
fn transaction_id() -> String {
    let (provider, calls) = graph(|_| (201, single()));
    <Microsoft as Calendar>::create_event(&context(&provider), write(EventTarget::default(), &["title"]))
        .unwrap();
    calls.borrow()[0].body["transactionId"].as_str().unwrap().to_owned()
}

/// Mail to attendees cannot be suppressed: a strict caller gets a refusal before anything is written, others a warning.
#[test]
fn mail_that_is_not_wanted_is_refused() {
    let (provider, calls) = graph(|call| match call.method.as_str() {
        "GET" => (
            200,
            json!({ "id": "single", "isOrganizer": true, "attendees": [{ "emailAddress": { "address": "bob@example.test" } }] }),
        ),
        _ => (201, single()),
    });
    let create = |notify: Notify, strict: bool, attendees: Vec<Attendee>| {
        let mut args =
            EventWrite { notify, strict, ..write(EventTarget::default(), &["title", "attendees"]) };
        args.event.attendees = attendees;
        <Microsoft as Calendar>::create_event(&context(&provider), args)
    };
    for refused in
        [create(Notify::None, true, vec![guest()]), create(Notify::ExternalOnly, true, vec![guest()])]
    {
        let failure = refused.unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["field"]),
            (code::UNSUPPORTED, &json!("notify"))
        );
    }
    let args = EventDelete {
        collection: "work".into(),
        target: whole("single", None),
        notify: Notify::None,
        strict: true,
        ..EventDelete::default()
    };
    let failure = <Microsoft as Calendar>::delete_event(&context(&provider), args).unwrap_err();
    assert_eq!((failure.code.as_str(), writes(&calls).len()), (code::UNSUPPORTED, 0));
    for notify in [Notify::None, Notify::ExternalOnly] {
        let made = create(notify, false, vec![guest()]).unwrap();
        assert_eq!(codes(&made), ["notify_not_supported"]);
    }
    assert!(create(Notify::None, true, Vec::new()).unwrap().warnings.is_empty());
}

#[test]
fn a_patch_has_the_changed_members_and_the_version() {
    let (provider, calls) =
        graph(|_| (200, with(single(), &json!({ "@odata.etag": "W/\"2\"", "subject": "New" }))));
    let mut args = write(whole("single", Some("W/\"1\"")), &["title"]);
    args.event.title = Some("New".to_owned());
    let changed = update(&provider, args).unwrap();
    assert_eq!(
        (changed.sources[0].etag.as_deref(), read(&changed.sources[0]).title.as_deref()),
        (Some("W/\"2\""), Some("New"))
    );
    let calls = calls.borrow();
    let [call] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((call.method.as_str(), call.if_match.as_deref()), ("PATCH", Some("W/\"1\"")));
    assert_eq!(call.body, json!({ "subject": "New" }));
}

/// Graph refuses a version now and then though it is the present one.
#[test]
fn a_refused_version_is_tried_once_more_where_it_is_the_present_one() {
    for (present, tries) in [("W/\"1\"", 2), ("W/\"9\"", 1)] {
        let tried = std::cell::Cell::new(0);
        let (provider, calls) = graph(move |call| {
            if call.method == "GET" {
                return (200, with(single(), &json!({ "@odata.etag": present })));
            }
            tried.set(tried.get() + 1);
            if tried.get() == 1 { error(412, "ErrorIrresolvableConflict") } else { (200, single()) }
        });
        let answer = update(&provider, write(whole("single", Some("W/\"1\"")), &["title"]));
        assert_eq!(writes(&calls).len(), tries, "{present}");
        match answer {
            Ok(_) => assert_eq!(tries, 2),
            Err(failure) => assert_eq!((failure.code.as_str(), tries), (code::CONFLICT, 1)),
        }
    }
}

/// The event changes between its read and its write: a caller who gave no version gets no conflict.
#[test]
fn a_caller_without_a_version_meets_no_conflict() {
    let tried = std::cell::Cell::new(0);
    let (provider, calls) = graph(move |call| match call.method.as_str() {
        "GET" => (200, with(single(), &json!({ "@odata.etag": format!("W/\"{}\"", tried.get()) }))),
        _ => {
            tried.set(tried.get() + 1);
            if tried.get() == 1 { error(412, "ErrorIrresolvableConflict") } else { (200, single()) }
        }
    });
    let mut args = write(whole("single", None), &["attendees"]);
    args.event.attendees = vec![guest()];
    update(&provider, args).unwrap();
    let calls = calls.borrow();
    let versions: Vec<Option<&str>> =
        calls.iter().filter(|call| call.method == "PATCH").map(|call| call.if_match.as_deref()).collect();
    assert_eq!(versions, [Some("W/\"0\""), Some("W/\"1\"")]);
}

/// A body that is sent unchanged would take the meeting's link with it.
#[test]
fn an_unchanged_body_is_not_sent() {
    let (provider, calls) = graph(|_| (200, single()));
    let mut args = write(whole("single", None), &["description"]);
    args.event.description = Some("Agenda".to_owned());
    let same = update(&provider, args.clone()).unwrap();
    assert_eq!((same.item.as_deref(), writes(&calls).len()), (Some("single"), 0));
    args.event.description = Some("Other".to_owned());
    args.changed.push("title".to_owned());
    update(&provider, args).unwrap();
    let call = written(&calls);
    assert_eq!(
        call.body,
        json!({ "subject": "Plan", "body": { "contentType": "text", "content": "Other" } })
    );
    assert_eq!(call.if_match.as_deref(), Some("W/\"1\""), "what was read is replaced in that version alone");
}

/// A provider with the series, whose instances lie around one that was asked for.
fn with_series(call: &Call) -> (u16, Value) {
    let (method, id) = (call.method.as_str(), id_of(&call.path));
    match (method, id) {
        ("GET", "series/instances") => {
            assert!(
                call.path.contains("startDateTime=2026-03-28T08:00:00Z&endDateTime=2026-04-01T08:00:00Z"),
                "{}",
                call.path
            );
            // Another instance is on the day too: it was moved there.
            let moved = json!({ "id": "fourth", "type": "exception", "originalStart": "2026-03-23T09:00:00Z", "start": utc("2026-03-30T06:00:00") });
            (200, json!({ "value": [moved, instance(&json!({}))] }))
        }
        ("GET", "series") => (200, series()),
        ("GET", "fifth") => (200, instance(&json!({}))),
        ("PATCH", "fifth") => (200, instance(&json!({ "type": "exception", "subject": "New" }))),
        ("DELETE", "fifth") => (204, Value::Null),
        other => panic!("{other:?}"),
    }
}

/// An instance is found by its exact original start, written under its own id, and answered with its series.
#[test]
fn one_instance_is_changed_and_deleted() {
    let (provider, calls) = graph(with_series);
    let mut args = write(fifth(RecurrenceScope::This), &["title"]);
    args.event.title = Some("New".to_owned());
    let changed = update(&provider, args).unwrap();
    assert_eq!((writes(&calls), changed.item.as_deref()), (vec!["PATCH fifth".to_owned()], Some("fifth")));
    let source = &changed.sources[0];
    assert_eq!((source.external_id.as_str(), source.items.len()), ("series", 2));
    let exception: Event = source.items[1].body.read().unwrap();
    assert_eq!(
        (exception.recurrence_id.as_deref(), exception.title.as_deref()),
        (Some("2026-03-30T10:00:00"), Some("New"))
    );

    let args = EventDelete {
        collection: "work".into(),
        target: fifth(RecurrenceScope::This),
        ..EventDelete::default()
    };
    let deleted = <Microsoft as Calendar>::delete_event(&context(&provider), args).unwrap();
    assert_eq!(writes(&calls), ["PATCH fifth", "DELETE fifth"]);
    assert_eq!((deleted.item, deleted.sources[0].external_id.as_str()), (None, "series"));

    let stale = EventTarget { if_match: Some("W/\"4\"".to_owned()), ..fifth(RecurrenceScope::This) };
    let failure = update(&provider, write(stale, &["title"])).unwrap_err();
    assert_eq!((failure.code.as_str(), writes(&calls).len()), (code::CONFLICT, 2));
}

/// One that was moved far away is known to its series alone; one that there is not is not found.
#[test]
fn a_moved_instance_is_found_by_its_series() {
    for is_known in [true, false] {
        let (provider, calls) = graph(move |call| match (call.method.as_str(), id_of(&call.path)) {
            ("GET", "series/instances") => (200, json!({ "value": [] })),
            ("GET", _) if is_known => (
                200,
                with(
                    series(),
                    &json!({ "exceptionOccurrences": [instance(&json!({ "type": "exception" }))] }),
                ),
            ),
            ("GET", _) => (200, series()),
            (_, id) => (200, instance(&json!({ "id": id, "type": "exception" }))),
        });
        let changed = update(&provider, write(fifth(RecurrenceScope::This), &["title"]));
        assert_eq!(writes(&calls).len(), usize::from(is_known));
        match changed {
            Ok(changed) => assert_eq!(changed.item.as_deref(), Some("fifth")),
            Err(failure) => assert_eq!((failure.code.as_str(), is_known), (code::NOT_FOUND, false)),
        }
    }
}

fn following() -> EventWrite {
    let mut args = write(fifth(RecurrenceScope::ThisAndFollowing), &["title"]);
    args.event.title = Some("Rest".to_owned());
    args.event.start = at("2026-03-30T08:00:00Z");
    args.event.end = at("2026-03-30T09:00:00Z");
    args.event.recurrence = vec!["RRULE:FREQ=WEEKLY;COUNT=8;BYDAY=MO".to_owned()];
    args
}

/// Another series goes on from the instance, then the old one is ended before it.
#[test]
fn this_and_following_is_another_series() {
    let (provider, calls) = graph(|call| match (call.method.as_str(), id_of(&call.path)) {
        ("POST", "") => (201, with(series(), &json!({ "id": "rest", "cancelledOccurrences": null }))),
        ("PATCH", "series") | ("GET", "series") => (200, series()),
        other => panic!("{other:?}"),
    });
    let split = update(&provider, following()).unwrap();
    assert_eq!(writes(&calls), ["POST", "PATCH series"]);
    assert_eq!(split.item.as_deref(), Some("rest"));
    let ids: Vec<&str> = split.sources.iter().map(|source| source.external_id.as_str()).collect();
    assert_eq!(ids, ["series", "rest"]);
    let made = written(&calls).body;
    let range = &made["recurrence"]["range"];
    assert_eq!(
        (&range["type"], &range["numberOfOccurrences"], &range["startDate"]),
        (&json!("numbered"), &json!(4), &json!("2026-03-30"))
    );
    assert_eq!((&made["subject"], &made["categories"]), (&json!("Rest"), &json!(["Blue"])));
    assert_eq!(made["transactionId"].as_str().map(str::len), Some(32));
    let calls = calls.borrow();
    let ended = calls.iter().find(|call| call.method == "PATCH").unwrap();
    let range = &ended.body["recurrence"]["range"];
    assert_eq!((&range["type"], ended.if_match.as_deref()), (&json!("endDate"), Some("W/\"5\"")));
    assert!(
        range["endDate"].as_str().is_some_and(|end| ("2026-03-23".."2026-03-30").contains(&end)),
        "{range}"
    );
}

#[test]
fn a_split_that_cannot_end_the_series_is_undone() {
    let (provider, calls) = graph(|call| match (call.method.as_str(), id_of(&call.path)) {
        ("POST", "") => (201, with(series(), &json!({ "id": "rest" }))),
        ("PATCH", "series") => error(403, "ErrorAccessDenied"),
        ("GET", "series") => (200, series()),
        ("DELETE", "rest") => (204, Value::Null),
        other => panic!("{other:?}"),
    });
    assert_eq!(update(&provider, following()).unwrap_err().code, code::FORBIDDEN);
    assert_eq!(writes(&calls), ["POST", "PATCH series", "DELETE rest"]);
}

/// A rule that Graph has no pattern for is refused before anything is written.
#[test]
fn dates_of_a_series_are_deleted_one_by_one() {
    let (provider, calls) = graph(|call| match (call.method.as_str(), id_of(&call.path)) {
        ("POST", "") => (201, with(series(), &json!({ "cancelledOccurrences": null }))),
        _ => with_series(call),
    });
    let mut args = write(EventTarget::default(), &["title", "recurrence"]);
    args.event.recurrence =
        vec!["RRULE:FREQ=WEEKLY;BYDAY=MO".to_owned(), "EXDATE;TZID=Europe/Berlin:20260330T100000".to_owned()];
    <Microsoft as Calendar>::create_event(&context(&provider), args.clone()).unwrap();
    assert_eq!(writes(&calls), ["POST", "DELETE fifth"]);
    assert!(!written(&calls).body["recurrence"].to_string().contains("EXDATE"));
    args.event.recurrence.push("RDATE:20260401T080000Z".to_owned());
    let failure = <Microsoft as Calendar>::create_event(&context(&provider), args).unwrap_err();
    assert_eq!((failure.code.as_str(), writes(&calls).len()), (code::UNSUPPORTED, 2));
}

/// A series that moves takes its rule along, and tells which changed instances Outlook has dropped.
#[test]
fn a_moved_series_has_its_rule_written() {
    let moved = |id: &str| instance(&json!({ "id": id, "type": "exception" }));
    let patched = std::cell::Cell::new(false);
    let (provider, calls) = graph(move |call| {
        patched.set(patched.get() || call.method == "PATCH");
        let exceptions = if patched.get() { json!([]) } else { json!([moved("fifth")]) };
        (200, with(series(), &json!({ "exceptionOccurrences": exceptions, "cancelledOccurrences": null })))
    });
    let mut args = write(whole("series", None), &["start", "end"]);
    args.event.start = at("2026-03-03T09:00:00Z");
    args.event.end = at("2026-03-03T10:00:00Z");
    args.event.recurrence = vec!["RRULE:FREQ=WEEKLY;COUNT=8;BYDAY=MO".to_owned()];
    let changed = update(&provider, args).unwrap();
    let body = written(&calls).body;
    assert_eq!(body["recurrence"]["pattern"]["daysOfWeek"], json!(["tuesday"]));
    assert_eq!(body["recurrence"]["range"]["startDate"], "2026-03-03");
    assert_eq!(codes(&changed), ["exception_dropped"]);
    assert_eq!(changed.warnings[0].target.as_deref(), Some("2026-03-30T10:00:00"));
}

/// A series whose time of day alone changes keeps its rule: writing it would drop the changed instances.
#[test]
fn a_series_that_keeps_its_days_keeps_its_rule() {
    let (provider, calls) = graph(|_| (200, series()));
    let mut args = write(whole("series", None), &["start", "end"]);
    args.event.start = at("2026-03-02T13:00:00Z");
    args.event.end = at("2026-03-02T14:00:00Z");
    args.event.recurrence = vec!["RRULE:FREQ=WEEKLY;COUNT=8;BYDAY=MO".to_owned()];
    let changed = update(&provider, args).unwrap();
    assert_eq!((writes(&calls), codes(&changed)), (vec!["PATCH series".to_owned()], Vec::new()));
    let body = written(&calls).body;
    let start = json!({ "dateTime": "2026-03-02T14:00:00", "timeZone": WEST_EUROPE });
    assert_eq!((&body["start"], body.get("recurrence")), (&start, None));
}

fn invitation(more: &Value) -> Value {
    let own = json!({
        "isOrganizer": false, "responseRequested": true, "responseStatus": { "response": "notResponded" },
        "organizer": { "emailAddress": { "address": "bob@example.test" } },
        "attendees": [{ "type": "required", "status": { "response": "none" }, "emailAddress": { "address": "ada@example.test" } }],
    });
    with(with(single(), &own), more)
}

fn answer(response: ResponseStatus, notify_organizer: bool) -> EventRespond {
    EventRespond {
        collection: "work".into(),
        target: whole("single", None),
        response,
        comment: Some("gladly".to_owned()),
        notify_organizer,
        ..EventRespond::default()
    }
}

#[test]
fn an_invitation_is_answered() {
    let given = std::cell::Cell::new(false);
    let (provider, calls) = graph(move |call| {
        if call.method == "POST" {
            given.set(true);
            return (202, Value::Null);
        }
        let response = if given.get() { "tentativelyAccepted" } else { "notResponded" };
        (200, invitation(&json!({ "responseStatus": { "response": response } })))
    });
    let answered =
        <Microsoft as Calendar>::respond(&context(&provider), answer(ResponseStatus::Tentative, true))
            .unwrap();
    assert_eq!(read(&answered.sources[0]).my_response, Some(ResponseStatus::Tentative));
    assert_eq!(writes(&calls), ["POST single/tentativelyAccept"]);
    assert_eq!(written(&calls).body, json!({ "comment": "gladly", "sendResponse": true }));
}

/// Outlook deletes what was declined: that it is not found afterwards is success.
#[test]
fn a_declined_event_is_answered_as_it_was() {
    let given = std::cell::Cell::new(false);
    let (provider, _) = graph(move |call| match call.method.as_str() {
        "POST" => {
            given.set(true);
            (202, Value::Null)
        }
        _ if given.get() => error(404, "ErrorItemNotFound"),
        _ => (200, invitation(&json!({}))),
    });
    let declined =
        <Microsoft as Calendar>::respond(&context(&provider), answer(ResponseStatus::Declined, true))
            .unwrap();
    let event = read(&declined.sources[0]);
    assert_eq!(
        (event.my_response, event.attendees[0].response_status),
        (Some(ResponseStatus::Declined), ResponseStatus::Declined)
    );
    assert!(!event.busy && declined.item.as_deref() == Some("single"));
}

#[test]
fn answers_that_cannot_be_given_are_refused() {
    let (provider, calls) = graph(|_| {
        (
            200,
            with(single(), &json!({ "attendees": [{ "emailAddress": { "address": "bob@example.test" } }] })),
        )
    });
    let failure =
        <Microsoft as Calendar>::respond(&context(&provider), answer(ResponseStatus::Accepted, true))
            .unwrap_err();
    assert_eq!(
        (failure.code.as_str(), &failure.detail.unwrap()["reason"]),
        (code::CONFLICT, &json!("organizer_cannot_rsvp"))
    );
    assert!(writes(&calls).is_empty());
    // The organizer has asked for no answers: Graph refuses to send one.
    let (provider, calls) = graph(|_| {
        (
            200,
            invitation(&json!({ "responseRequested": false, "responseStatus": { "response": "accepted" } })),
        )
    });
    let given = <Microsoft as Calendar>::respond(&context(&provider), answer(ResponseStatus::Accepted, true))
        .unwrap();
    assert_eq!(
        (codes(&given), &written(&calls).body["sendResponse"]),
        (vec!["organizer_not_notified"], &json!(false))
    );
    let strict = EventRespond { strict: true, ..answer(ResponseStatus::Accepted, true) };
    assert_eq!(
        <Microsoft as Calendar>::respond(&context(&provider), strict).unwrap_err().code,
        code::UNSUPPORTED
    );
}

/// The link to a meeting comes a little later than the meeting, and nothing but the wish for it is sent.
#[test]
fn a_meeting_of_teams_is_added() {
    let reads = std::cell::Cell::new(0);
    let (provider, calls) = graph(move |call| {
        reads.set(reads.get() + u32::from(call.method == "GET"));
        let url = (reads.get() >= 2).then_some("https://teams.microsoft.com/l/1");
        let meeting = json!({ "isOnlineMeeting": true, "onlineMeetingProvider": "teamsForBusiness", "onlineMeeting": { "joinUrl": url } });
        (200, with(single(), &meeting))
    });
    let args = EventConference {
        collection: "work".into(),
        target: whole("single", None),
        ..EventConference::default()
    };
    let added = <Microsoft as Calendar>::conference(&context(&provider), args.clone()).unwrap();
    assert_eq!(
        read(&added.sources[0]).conference.unwrap().join_url.as_deref(),
        Some("https://teams.microsoft.com/l/1")
    );
    assert_eq!(written(&calls).body, json!({ "isOnlineMeeting": true }));
    let zoom = EventConference { provider: Some(ConferenceProvider::Zoom), ..args };
    assert_eq!(
        <Microsoft as Calendar>::conference(&context(&provider), zoom).unwrap_err().code,
        code::UNSUPPORTED
    );
    let mut args = write(EventTarget::default(), &["title", "conference"]);
    args.event.conference = Some(Conference { provider: ConferenceProvider::Teams, ..Conference::default() });
    <Microsoft as Calendar>::create_event(&context(&provider), args).unwrap();
    assert_eq!(calls.borrow().last().unwrap().body["isOnlineMeeting"], true);
}

#[test]
fn calendars_are_made_changed_and_deleted() {
    let (provider, calls) = graph(|call| match (call.method.as_str(), call.path.as_str()) {
        ("GET", path) => (
            200,
            json!({ "id": "c", "name": "Old", "changeKey": "k", "isDefaultCalendar": path.ends_with("/main") }),
        ),
        ("DELETE", _) => (204, Value::Null),
        _ => (
            201,
            json!({ "id": "c", "name": call.body["name"], "color": call.body["color"], "changeKey": "k2" }),
        ),
    });
    let context = context(&provider);
    let body = model::calendar::Calendar {
        name: "Trips".into(),
        color: Some("#f88c9c".into()),
        ..model::calendar::Calendar::default()
    };
    let changed = vec!["name".to_owned(), "color".to_owned()];
    let write = CollectionWrite { source: None, body, changed, if_match: None };
    let made = <Microsoft as Calendar>::create_calendar(&context, write.clone()).unwrap();
    assert_eq!(
        (codes(&made), made.sources[0].etag.as_deref()),
        (vec!["field_not_supported"], Some("W/\"k2\""))
    );
    let stale = CollectionWrite { source: Some("c".into()), if_match: Some("W/\"x\"".into()), ..write };
    assert_eq!(<Microsoft as Calendar>::update_calendar(&context, stale).unwrap_err().code, code::CONFLICT);
    let delete =
        |id: &str| CollectionDelete { source: id.into(), if_match: Some("W/\"k\"".into()), force: true };
    assert!(<Microsoft as Calendar>::delete_calendar(&context, delete("c")).unwrap().sources[0].deleted);
    assert_eq!(
        <Microsoft as Calendar>::delete_calendar(&context, delete("main")).unwrap_err().code,
        code::UNSUPPORTED
    );
    let calls = calls.borrow();
    let bodies: Vec<(&str, &Value)> = calls
        .iter()
        .filter(|call| call.method != "GET")
        .map(|call| (call.method.as_str(), &call.body))
        .collect();
    assert_eq!(
        bodies,
        [("POST", &json!({ "name": "Trips", "color": "lightRed" })), ("DELETE", &Value::Null)]
    );
}
