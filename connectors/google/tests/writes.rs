//! Writes as Google gets them, in recorded answers.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use connector_google::Google;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Calendar, Context, code};
use model::Instant;
use model::calendar::{Conference, ConferenceProvider, Event, EventStatus, ResponseStatus};
use model::wire::calendar::{
    EventConference, EventDelete, EventRespond, EventTarget, EventWrite, Notify, RecurrenceScope,
};
use model::wire::{Connection, Mutated, Source};
use serde_json::{Value, json};

const EVENTS: &str = "https://www.googleapis.com/calendar/v3/calendars/work/events";
const BERLIN: &str = "Europe/Berlin";

fn at(text: &str) -> Instant {
    text.parse().unwrap()
}

fn query(send_updates: &str) -> String {
    format!("sendUpdates={send_updates}&supportsAttachments=true&conferenceDataVersion=1")
}

fn ok(value: &Value) -> Response {
    response(200, &[], &value.to_string())
}

fn refused(status: u16, reason: &str) -> Response {
    let error =
        json!({ "code": status, "message": "no", "errors": [{ "domain": "global", "reason": reason }] });
    response(status, &[], &json!({ "error": error }).to_string())
}

fn context(provider: &Recorded) -> Context<'_> {
    Context::new(provider, Connection::default()).keyed("key-1")
}

/// The JSON body of the request of this place.
fn sent(provider: &Recorded, place: usize) -> Value {
    serde_json::from_slice(&body(&provider.requests.borrow()[place])).unwrap()
}

fn if_match(provider: &Recorded, place: usize) -> Option<String> {
    let requests = provider.requests.borrow();
    requests[place].headers.iter().find(|(name, _)| name == "if-match").map(|(_, value)| value.clone())
}

/// A single event at Google.
fn single() -> Value {
    json!({
        "id": "abcde", "etag": "\"1\"", "status": "confirmed", "summary": "Plan",
        "organizer": { "email": "ada@example.test", "self": true },
        "start": { "dateTime": "2026-03-02T10:00:00+01:00", "timeZone": BERLIN },
        "end": { "dateTime": "2026-03-02T11:00:00+01:00", "timeZone": BERLIN },
    })
}

/// Mondays at 9:00 in Berlin from 2 March 2026 on, eight times, without 9 March.
fn series() -> Value {
    json!({
        "id": "series", "iCalUID": "uid-1@x", "etag": "\"5\"", "status": "confirmed", "summary": "Stand-up", "colorId": "7",
        "extendedProperties": { "private": { "k": "v" } },
        "organizer": { "email": "ada@example.test", "self": true },
        "start": { "dateTime": "2026-03-02T09:00:00+01:00", "timeZone": BERLIN },
        "end": { "dateTime": "2026-03-02T09:15:00+01:00", "timeZone": BERLIN },
        "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=8", "EXDATE;TZID=Europe/Berlin:20260309T090000"],
    })
}

/// `one` with these members instead of its own.
fn with(one: Value, other: Value) -> Value {
    let mut whole = one.as_object().unwrap().clone();
    whole.extend(other.as_object().unwrap().clone());
    Value::Object(whole)
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

fn write(source: Option<&str>, changed: &[&str]) -> EventWrite {
    EventWrite {
        collection: "work".to_owned(),
        time_zone: Some(BERLIN.to_owned()),
        target: EventTarget { source: source.map(str::to_owned), ..EventTarget::default() },
        event: event(),
        changed: changed.iter().map(ToString::to_string).collect(),
        notify: Notify::None,
        strict: false,
    }
}

/// The fifth instance of the series, after the clocks have gone forward.
fn fifth(scope: RecurrenceScope) -> EventTarget {
    EventTarget {
        source: Some("series".to_owned()),
        recurrence_id: Some("2026-03-30T09:00:00".to_owned()),
        original_start: Some(at("2026-03-30T07:00:00Z")),
        scope,
        if_match: None,
    }
}

const FIFTH: &str = "series_20260330T070000Z";

fn instance() -> Value {
    json!({
        "id": FIFTH, "etag": "\"6\"", "status": "confirmed", "summary": "New", "recurringEventId": "series",
        "originalStartTime": { "dateTime": "2026-03-30T09:00:00+02:00", "timeZone": BERLIN },
        "start": { "dateTime": "2026-03-30T09:00:00+02:00", "timeZone": BERLIN },
        "end": { "dateTime": "2026-03-30T09:15:00+02:00", "timeZone": BERLIN },
    })
}

fn read(source: &Source) -> Event {
    source.items[0].body.read().unwrap()
}

/// A provider that creates the posted event, unless the id is taken.
fn taking(is_taken: impl Fn(&str, usize) -> Option<Value> + 'static) -> Recorded {
    let count = std::cell::Cell::new(0);
    Recorded::answering(move |request: &Request| {
        if request.method == "GET" {
            let id = request.url.rsplit('/').next().unwrap();
            let found = is_taken(id, count.get()).unwrap();
            return Ok(ok(&found));
        }
        let posted: Value = serde_json::from_slice(&body(request)).unwrap();
        count.set(count.get() + 1);
        match is_taken(posted["id"].as_str().unwrap(), count.get()) {
            Some(_) => Ok(refused(409, "duplicate")),
            None => Ok(ok(&with(single(), posted))),
        }
    })
}

#[test]
fn a_new_event_has_an_id_of_ours() {
    let provider = taking(|_, _| None);
    let made = Google::create_event(&context(&provider), write(None, &["title", "start", "end"])).unwrap();
    let posted = sent(&provider, 0);
    let id = posted["id"].as_str().unwrap();
    assert!(
        (5..1024).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'v').contains(&b))
    );
    assert_eq!(made.item.as_deref(), Some(id));
    assert_eq!(provider.requests.borrow()[0].url, format!("{EVENTS}?{}", query("none")));
    assert_eq!(
        posted,
        json!({
            "id": id,
            "summary": "Plan",
            "start": { "dateTime": "2026-03-02T09:00:00.000Z", "timeZone": BERLIN },
            "end": { "dateTime": "2026-03-02T10:00:00.000Z", "timeZone": BERLIN },
        })
    );
}

/// The first attempt's answer was lost: its event is there under the same id.
#[test]
fn a_second_attempt_finds_the_first_ones_event() {
    let first = taking(|_, _| None);
    let made = Google::create_event(&context(&first), write(None, &["title"])).unwrap();
    let id = made.item.unwrap();
    let taken = id.clone();
    let second = taking(move |asked, _| (asked == taken).then(|| with(single(), json!({ "id": asked }))));
    let found = Google::create_event(&context(&second), write(None, &["title"])).unwrap();
    assert_eq!((found.item, second.requests.borrow().len()), (Some(id), 2));
}

/// The id of a deleted event stays taken.
#[test]
fn a_deleted_event_is_made_again_under_another_id() {
    let provider = taking(|asked, count| (count <= 1).then(|| json!({ "id": asked, "status": "cancelled" })));
    let made = Google::create_event(&context(&provider), write(None, &["title"])).unwrap();
    let (first, second) = (sent(&provider, 0), sent(&provider, 2));
    assert_ne!(first["id"], second["id"]);
    assert_eq!(made.item.as_deref(), second["id"].as_str());
}

/// The events with this UID.
fn by_uid() -> String {
    format!("{EVENTS}?iCalUID=uid-1@x&showDeleted=true&maxResults=250")
}

fn list_response(items: &Value) -> Response {
    ok(&json!({ "items": items }))
}

/// A uid of the caller's goes without an id of ours: what an earlier attempt made is found by it.
#[test]
fn a_callers_uid_is_looked_for_first() {
    let mut args = write(None, &["title", "iCalUid"]);
    args.event.i_cal_uid = Some("uid-1@x".to_owned());
    let deleted = with(single(), json!({ "status": "cancelled" }));
    let provider = Recorded::new().expect("GET", &by_uid(), list_response(&json!([deleted]))).expect(
        "POST",
        &format!("{EVENTS}?{}", query("none")),
        ok(&single()),
    );
    Google::create_event(&context(&provider), args.clone()).unwrap();
    assert_eq!(
        (sent(&provider, 1)["iCalUID"].as_str(), sent(&provider, 1).get("id")),
        (Some("uid-1@x"), None)
    );
    // A page without events is not the last one, and an exception has the UID of its series.
    let exception = with(instance(), json!({ "recurringEventId": "abcde" }));
    let provider = Recorded::new()
        .expect("GET", &by_uid(), ok(&json!({ "items": [], "nextPageToken": "p2" })))
        .expect("GET", &format!("{}&pageToken=p2", by_uid()), list_response(&json!([exception, single()])));
    let again = Google::create_event(&context(&provider), args.clone()).unwrap();
    assert_eq!(again.item.as_deref(), Some("abcde"));
    let other = with(single(), json!({ "summary": "Other" }));
    let provider = Recorded::new().expect("GET", &by_uid(), list_response(&json!([other])));
    let failure = Google::create_event(&context(&provider), args).unwrap_err();
    assert_eq!(failure.code, code::ALREADY_EXISTS);
}

#[test]
fn a_new_event_with_a_conference_asks_for_one() {
    let provider = taking(|_, _| None);
    let mut args = write(None, &["title", "conference"]);
    args.event.conference =
        Some(Conference { provider: ConferenceProvider::GoogleMeet, ..Conference::default() });
    Google::create_event(&context(&provider), args.clone()).unwrap();
    let request = sent(&provider, 0)["conferenceData"]["createRequest"].clone();
    assert_eq!(request["conferenceSolutionKey"]["type"], "hangoutsMeet");
    let provider = taking(|_, _| None);
    args.event.conference = Some(Conference { provider: ConferenceProvider::Zoom, ..Conference::default() });
    let made = Google::create_event(&context(&provider), args).unwrap();
    assert_eq!(made.warnings[0].target.as_deref(), Some("conference"));
    assert_eq!(sent(&provider, 0).get("conferenceData"), None);
}

/// Only what changed is sent, and a version only where the caller insists on one.
#[test]
fn a_patch_is_sent_with_the_callers_version() {
    let url = format!("{EVENTS}/abcde?{}", query("externalOnly"));
    for version in [None, Some("\"1\"")] {
        let provider = Recorded::new().expect("PATCH", &url, ok(&single()));
        let mut args = write(Some("abcde"), &["title"]);
        args.notify = Notify::ExternalOnly;
        args.target.if_match = version.map(str::to_owned);
        let changed = Google::update_event(&context(&provider), args).unwrap();
        assert_eq!(sent(&provider, 0), json!({ "summary": "Plan" }));
        assert_eq!((if_match(&provider, 0).as_deref(), changed.item.as_deref()), (version, Some("abcde")));
    }
    let provider = Recorded::new().expect("PATCH", &url, refused(412, "conditionNotMet"));
    let mut args = write(Some("abcde"), &["title"]);
    args.notify = Notify::ExternalOnly;
    assert_eq!(Google::update_event(&context(&provider), args).unwrap_err().code, code::CONFLICT);
}

/// The list of guests is written in the version in which it was read.
#[test]
fn guests_are_read_before_they_are_written() {
    let guests = json!({ "attendees": [{ "email": "g@x.test", "responseStatus": "accepted", "additionalGuests": 1 }] });
    let before = with(single(), guests.clone());
    let url = format!("{EVENTS}/abcde");
    let provider = Recorded::new().expect("GET", &url, ok(&before)).expect(
        "PATCH",
        &format!("{url}?{}", query("none")),
        ok(&before),
    );
    let mut args = write(Some("abcde"), &["attendees"]);
    args.event.attendees =
        vec![model::calendar::Attendee { email: "g@x.test".to_owned(), ..Default::default() }];
    Google::update_event(&context(&provider), args.clone()).unwrap();
    assert_eq!((sent(&provider, 1), if_match(&provider, 1).as_deref()), (guests, Some("\"1\"")));
    let hidden = with(single(), json!({ "attendeesOmitted": true }));
    let provider = Recorded::new().expect("GET", &url, ok(&hidden));
    assert_eq!(Google::update_event(&context(&provider), args).unwrap_err().code, code::UNSUPPORTED);
}

/// Google may accept a guest's change and make none.
#[test]
fn a_change_that_is_not_made_is_told() {
    let theirs = with(single(), json!({ "summary": "Theirs", "organizer": { "email": "bob@example.test" } }));
    let url = format!("{EVENTS}/abcde?{}", query("none"));
    let provider = Recorded::new().expect("PATCH", &url, ok(&theirs));
    let changed =
        Google::update_event(&context(&provider), write(Some("abcde"), &["title", "location"])).unwrap();
    let told: Vec<_> = changed.warnings.iter().map(|w| (w.code.as_str(), w.target.as_deref())).collect();
    assert_eq!(told, [("field_not_changed", Some("title"))]);
}

#[test]
fn an_instance_is_named_by_its_original_start() {
    let url = format!("{EVENTS}/{FIFTH}?{}", query("none"));
    let provider = Recorded::new().expect("PATCH", &url, ok(&instance()));
    let args = EventWrite { target: fifth(RecurrenceScope::This), ..write(None, &["title"]) };
    let changed = Google::update_event(&context(&provider), args.clone()).unwrap();
    assert_eq!(changed.item.as_deref(), Some(FIFTH));
    assert_eq!(changed.sources[0].items[0].series_external_id.as_deref(), Some("series"));

    // It is a record of its own by now.
    let mut own = args.clone();
    own.target.source = Some(FIFTH.to_owned());
    own.target.if_match = Some("\"6\"".to_owned());
    let provider = Recorded::new().expect("PATCH", &url, ok(&instance()));
    Google::update_event(&context(&provider), own).unwrap();
    assert_eq!(if_match(&provider, 0).as_deref(), Some("\"6\""));

    // Its id does not follow from the series': it is looked up.
    let lookup = format!(
        "{EVENTS}/series/instances?originalStart=2026-03-30T07:00:00.000Z&showDeleted=true&maxResults=1"
    );
    let provider = Recorded::new()
        .expect("PATCH", &url, refused(404, "notFound"))
        .expect("GET", &lookup, ok(&json!({ "items": [{ "id": "other_1" }] })))
        .expect("PATCH", &format!("{EVENTS}/other_1?{}", query("none")), ok(&instance()));
    Google::update_event(&context(&provider), args).unwrap();
}

/// An instance without a record has the version of its series.
#[test]
fn the_version_of_an_instance_is_that_of_its_series() {
    let version = format!("{EVENTS}/series?fields=id%2Cetag%2Cstatus");
    let mut args = EventWrite { target: fifth(RecurrenceScope::This), ..write(None, &["title"]) };
    args.target.if_match = Some("\"5\"".to_owned());
    let provider = Recorded::new()
        .expect("GET", &version, ok(&json!({ "id": "series", "etag": "\"5\"" })))
        .expect("PATCH", &format!("{EVENTS}/{FIFTH}?{}", query("none")), ok(&instance()));
    Google::update_event(&context(&provider), args.clone()).unwrap();
    assert_eq!(if_match(&provider, 1), None);
    let provider = Recorded::new().expect("GET", &version, ok(&json!({ "id": "series", "etag": "\"9\"" })));
    assert_eq!(Google::update_event(&context(&provider), args).unwrap_err().code, code::CONFLICT);
}

fn deletion(target: EventTarget) -> EventDelete {
    EventDelete {
        collection: "work".to_owned(),
        time_zone: Some(BERLIN.to_owned()),
        target,
        notify: Notify::All,
        strict: false,
    }
}

#[test]
fn a_deleted_event_is_gone_also_the_second_time() {
    let target = EventTarget { source: Some("abcde".to_owned()), ..EventTarget::default() };
    let url = format!("{EVENTS}/abcde?sendUpdates=all");
    for answer in [response(204, &[], ""), refused(410, "deleted"), refused(404, "notFound")] {
        let provider = Recorded::new().expect("DELETE", &url, answer);
        let deleted = Google::delete_event(&context(&provider), deletion(target.clone())).unwrap();
        assert!(deleted.sources[0].deleted && deleted.item.is_none());
    }
}

/// A front end answers 200 with a page of its own: it does not show whether Google got the request.
#[test]
fn a_page_in_the_place_of_an_answer_is_no_deletion() {
    let target = EventTarget { source: Some("abcde".to_owned()), ..EventTarget::default() };
    let url = format!("{EVENTS}/abcde?sendUpdates=all");
    let delete = |answer: &str| {
        let provider = Recorded::new().expect("DELETE", &url, response(200, &[], answer));
        Google::delete_event(&context(&provider), deletion(target.clone()))
    };
    for page in ["<!DOCTYPE html><title>Sorry...</title>", "\r\nSorry", "[]"] {
        assert_eq!(delete(page).unwrap_err().code, code::UNAVAILABLE, "{page}");
    }
    for nothing in ["", "\r\n", "{}"] {
        assert!(delete(nothing).unwrap().sources[0].deleted, "{nothing:?}");
    }
}

/// A deleted instance stays as an exception that says so.
#[test]
fn a_deleted_instance_is_cancelled() {
    let cancelled = json!({
        "id": FIFTH, "etag": "\"7\"", "status": "cancelled", "recurringEventId": "series",
        "originalStartTime": { "dateTime": "2026-03-30T09:00:00+02:00", "timeZone": BERLIN },
    });
    let url = format!("{EVENTS}/{FIFTH}?{}", query("all"));
    let is_cancelled = |deleted: &Mutated| {
        let event = read(&deleted.sources[0]);
        event.status == EventStatus::Cancelled
            && event.recurrence_id.as_deref() == Some("2026-03-30T09:00:00")
    };
    let provider = Recorded::new().expect("PATCH", &url, ok(&cancelled));
    let args = deletion(fifth(RecurrenceScope::This));
    assert!(is_cancelled(&Google::delete_event(&context(&provider), args.clone()).unwrap()));
    assert_eq!(sent(&provider, 0), json!({ "status": "cancelled" }));
    // A guest's own copy is deleted, where Google refuses the change and where it ignores it.
    for answer in [refused(403, "forbiddenForNonOrganizer"), ok(&instance())] {
        let provider = Recorded::new()
            .expect("PATCH", &url, answer)
            .expect("DELETE", &format!("{EVENTS}/{FIFTH}?sendUpdates=all"), response(204, &[], ""))
            .expect("GET", &format!("{EVENTS}/{FIFTH}"), ok(&cancelled));
        assert!(is_cancelled(&Google::delete_event(&context(&provider), args.clone()).unwrap()));
    }
}

fn split_write(changed: &[&str]) -> EventWrite {
    let mut args = EventWrite { target: fifth(RecurrenceScope::ThisAndFollowing), ..write(None, changed) };
    args.event.title = Some("New".to_owned());
    args.event.start = at("2026-03-30T07:00:00Z");
    args.event.end = at("2026-03-30T07:15:00Z");
    args
}

/// The instance of this day of April at 9:00, as a record of its own.
fn exception(day: &str, more: Value) -> Value {
    let time =
        |clock: &str| json!({ "dateTime": format!("2026-04-{day}T{clock}:00+02:00"), "timeZone": BERLIN });
    let mut one = series();
    one.as_object_mut().unwrap().remove("recurrence");
    let own = json!({
        "id": format!("series_202604{day}T070000Z"), "recurringEventId": "series",
        "originalStartTime": time("09:00"), "start": time("09:00"), "end": time("09:15"),
    });
    with(with(one, own), more)
}

/// The series that begins with the fifth instance.
fn new_series() -> Value {
    let time =
        |clock: &str| json!({ "dateTime": format!("2026-03-30T{clock}:00+02:00"), "timeZone": BERLIN });
    with(series(), json!({ "id": "new00", "start": time("09:00"), "end": time("09:15") }))
}

fn series_url() -> String {
    format!("{EVENTS}/series")
}

/// The series as it is after it was ended.
fn capped() -> Value {
    let lines = json!(["RRULE:FREQ=WEEKLY;UNTIL=20260330T065959Z"]);
    with(series(), json!({ "etag": "\"8\"", "recurrence": lines }))
}

/// The new series has what is left of COUNT and what the old one had; the old one ends the second before, in the version that was read.
/// Cancelled instances do not come back, and changed ones stay as they are.
#[test]
fn a_series_is_split() {
    let noon =
        |clock: &str| json!({ "dateTime": format!("2026-04-06T{clock}:00+02:00"), "timeZone": BERLIN });
    let lunch = json!({ "summary": "Lunch", "start": noon("12:00"), "end": noon("12:15") });
    let records =
        json!([exception("06", lunch.clone()), exception("13", json!({ "status": "cancelled" })), series(),]);
    let of_new = with(
        exception("06", lunch.clone()),
        json!({ "id": "new00_20260406T070000Z", "recurringEventId": "new00" }),
    );
    let provider = Recorded::new()
        .expect("GET", &series_url(), ok(&series()))
        .expect("GET", &by_uid(), list_response(&records))
        .expect("POST", &format!("{EVENTS}?{}", query("all")), ok(&new_series()))
        .expect("PATCH", &format!("{}?{}", series_url(), query("none")), ok(&capped()))
        .expect("PATCH", &format!("{EVENTS}/new00_20260406T070000Z?{}", query("none")), ok(&of_new))
        .expect(
            "DELETE",
            &format!("{EVENTS}/series_20260406T070000Z?sendUpdates=none"),
            response(204, &[], ""),
        );
    let args = EventWrite { notify: Notify::All, ..split_write(&["title"]) };
    let split = Google::update_event(&context(&provider), args).unwrap();
    let mut posted = sent(&provider, 2);
    assert!(posted.as_object_mut().unwrap().remove("id").is_some());
    assert_eq!(
        posted,
        json!({
            "summary": "New",
            "status": "confirmed",
            "colorId": "7",
            "extendedProperties": { "private": { "k": "v" } },
            "start": { "dateTime": "2026-03-30T07:00:00.000Z", "timeZone": BERLIN },
            "end": { "dateTime": "2026-03-30T07:15:00.000Z", "timeZone": BERLIN },
            "recurrence": ["RRULE:FREQ=WEEKLY;COUNT=4", "EXDATE;TZID=Europe/Berlin:20260413T090000"],
        })
    );
    assert_eq!(
        sent(&provider, 3),
        json!({
            "recurrence": ["RRULE:FREQ=WEEKLY;UNTIL=20260330T065959Z", "EXDATE;TZID=Europe/Berlin:20260309T090000"],
        })
    );
    assert_eq!(if_match(&provider, 3).as_deref(), Some("\"5\""));
    assert_eq!(sent(&provider, 4), lunch);
    let ids: Vec<(&str, bool)> = split.sources.iter().map(|s| (s.external_id.as_str(), s.deleted)).collect();
    assert_eq!(
        ids,
        [
            ("series", false),
            ("new00", false),
            ("new00_20260406T070000Z", false),
            ("series_20260406T070000Z", true),
        ]
    );
    assert_eq!(split.item.as_deref(), Some("new00"));
    assert!(split.warnings.is_empty());
}

/// A rest that begins at another time has its excluded days at that time; its changed instances are reported as dropped.
#[test]
fn the_rest_of_a_series_is_moved() {
    let records = json!([
        exception("06", json!({ "summary": "Lunch" })),
        exception("13", json!({ "status": "cancelled" })),
    ]);
    let mut args = split_write(&["start", "end"]);
    args.event.start = at("2026-03-30T08:00:00Z");
    args.event.end = at("2026-03-30T08:15:00Z");
    let time =
        |clock: &str| json!({ "dateTime": format!("2026-03-30T{clock}:00+02:00"), "timeZone": BERLIN });
    let new = with(new_series(), json!({ "start": time("10:00"), "end": time("10:15") }));
    let provider = Recorded::new()
        .expect("GET", &series_url(), ok(&series()))
        .expect("GET", &by_uid(), list_response(&records))
        .expect("POST", &format!("{EVENTS}?{}", query("none")), ok(&new))
        .expect("PATCH", &format!("{}?{}", series_url(), query("none")), ok(&capped()))
        .expect(
            "DELETE",
            &format!("{EVENTS}/series_20260406T070000Z?sendUpdates=none"),
            response(204, &[], ""),
        );
    let split = Google::update_event(&context(&provider), args).unwrap();
    let lines = sent(&provider, 2)["recurrence"].to_string();
    assert!(lines.contains("20260413T100000") || lines.contains("20260413T080000Z"), "{lines}");
    let told: Vec<_> = split.warnings.iter().map(|w| (w.code.as_str(), w.target.as_deref())).collect();
    assert_eq!(told, [("exception_dropped", Some("2026-04-06T09:00:00"))]);
}

/// A guest's change of the rule is ignored, and a new series would invite everybody again.
#[test]
fn a_series_of_somebody_else_is_not_divided() {
    let theirs = with(series(), json!({ "organizer": { "email": "bob@example.test" } }));
    let provider = Recorded::new().expect("GET", &series_url(), ok(&theirs));
    let failure = Google::update_event(&context(&provider), split_write(&["title"])).unwrap_err();
    assert_eq!(failure.code, code::UNSUPPORTED);
    let provider = Recorded::new().expect("GET", &series_url(), ok(&theirs));
    let args = deletion(fifth(RecurrenceScope::ThisAndFollowing));
    assert_eq!(Google::delete_event(&context(&provider), args).unwrap_err().code, code::UNSUPPORTED);
}

/// The old series was changed meanwhile: the new one is taken back.
#[test]
fn a_split_is_undone_where_the_series_cannot_be_ended() {
    let until_cap = || {
        Recorded::new()
            .expect("GET", &series_url(), ok(&series()))
            .expect("GET", &by_uid(), list_response(&json!([series()])))
            .expect("POST", &format!("{EVENTS}?{}", query("none")), ok(&new_series()))
    };
    let cap = format!("{}?{}", series_url(), query("none"));
    let provider = until_cap().expect("PATCH", &cap, refused(412, "conditionNotMet")).expect(
        "DELETE",
        &format!("{EVENTS}/new00?sendUpdates=none"),
        response(204, &[], ""),
    );
    let failure = Google::update_event(&context(&provider), split_write(&["title"])).unwrap_err();
    assert_eq!(failure.code, code::CONFLICT);
    // What may have been done is not undone: the next attempt finds the new series and goes on.
    let provider = until_cap().expect("PATCH", &cap, refused(503, "backendError"));
    let failure = Google::update_event(&context(&provider), split_write(&["title"])).unwrap_err();
    assert_eq!(failure.code, code::UNAVAILABLE);
}

fn again(provider: &Recorded) -> Context<'_> {
    context(provider).with_extra("attempt", "2")
}

/// A second attempt finds what the first one did, also where the caller insists on the version from before it. Where somebody else has changed
/// the series, what the first one made is taken back: it would double the instances.
#[test]
fn a_repeated_split_goes_on() {
    let mut args = split_write(&["title"]);
    args.target.if_match = Some("\"5\"".to_owned());
    let done = Recorded::answering(|request: &Request| {
        let is_new = !request.url.contains("/series") && !request.url.contains("iCalUID");
        Ok(match request.url.contains("iCalUID") {
            true => list_response(&json!([])),
            false => ok(&if is_new { new_series() } else { capped() }),
        })
    });
    let split = Google::update_event(&again(&done), args.clone()).unwrap();
    assert_eq!((split.item.as_deref(), split.sources.len()), (Some("new00"), 2));
    assert!(done.requests.borrow().iter().all(|request| request.method == "GET"));

    let changed = Recorded::answering(|request: &Request| {
        Ok(match request.method.as_str() {
            "DELETE" => response(204, &[], ""),
            _ => ok(&with(series(), json!({ "etag": "\"9\"" }))),
        })
    });
    assert_eq!(Google::update_event(&again(&changed), args).unwrap_err().code, code::CONFLICT);
    let methods: Vec<String> =
        changed.requests.borrow().iter().map(|request| request.method.clone()).collect();
    assert_eq!(methods, ["GET", "DELETE"]);
}

/// Google leaves a rule as it is when the start moves: Mondays would go on beside the new Tuesday.
#[test]
fn the_rule_of_a_moved_series_moves_along() {
    let mondays = json!({ "recurrence": ["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=8"] });
    let mut args = write(Some("series"), &["start", "end"]);
    args.event.start = at("2026-03-03T08:00:00Z");
    args.event.end = at("2026-03-03T08:15:00Z");
    args.event.recurrence = vec!["RRULE:FREQ=WEEKLY;BYDAY=MO;COUNT=8".to_owned()];
    let patch = format!("{}?{}", series_url(), query("none"));
    let before = with(series(), mondays);
    let provider =
        Recorded::new().expect("GET", &series_url(), ok(&before)).expect("PATCH", &patch, ok(&before));
    Google::update_event(&context(&provider), args.clone()).unwrap();
    let rule = sent(&provider, 1)["recurrence"].to_string();
    assert!(rule.contains("BYDAY=TU") && !rule.contains("MO"), "{rule}");
    assert_eq!(if_match(&provider, 1).as_deref(), Some("\"5\""));
    // A rule that does not say its day needs no change.
    args.event.recurrence = vec!["RRULE:FREQ=WEEKLY;COUNT=8".to_owned()];
    let before = with(series(), json!({ "recurrence": args.event.recurrence }));
    let provider =
        Recorded::new().expect("GET", &series_url(), ok(&before)).expect("PATCH", &patch, ok(&before));
    Google::update_event(&context(&provider), args).unwrap();
    assert_eq!(sent(&provider, 1).get("recurrence"), None);
    assert_eq!(if_match(&provider, 1), None);
}

/// The caller's own version is compared before anything is written.
#[test]
fn a_split_of_another_version_is_a_conflict() {
    let provider = Recorded::new().expect("GET", &format!("{EVENTS}/series"), ok(&series()));
    let mut args = split_write(&["title"]);
    args.target.if_match = Some("\"4\"".to_owned());
    assert_eq!(Google::update_event(&context(&provider), args).unwrap_err().code, code::CONFLICT);
}

#[test]
fn the_rest_of_a_series_is_deleted() {
    let provider = Recorded::new()
        .expect("GET", &series_url(), ok(&series()))
        .expect("PATCH", &format!("{}?{}", series_url(), query("all")), ok(&series()))
        .expect("GET", &by_uid(), list_response(&json!([series()])));
    let args = deletion(fifth(RecurrenceScope::ThisAndFollowing));
    let deleted = Google::delete_event(&context(&provider), args).unwrap();
    assert_eq!((deleted.sources.len(), deleted.sources[0].deleted, deleted.item), (1, false, None));
    assert_eq!(sent(&provider, 1)["recurrence"][0], "RRULE:FREQ=WEEKLY;UNTIL=20260330T065959Z");
}

fn guests() -> Value {
    json!({ "organizer": { "email": "bob@example.test" }, "attendees": [
        { "email": "bob@example.test", "organizer": true, "responseStatus": "accepted" },
        { "email": "alias@example.test", "self": true, "responseStatus": "needsAction", "additionalGuests": 1 },
    ] })
}

fn invitation() -> EventRespond {
    EventRespond {
        collection: "work".to_owned(),
        time_zone: Some(BERLIN.to_owned()),
        target: EventTarget { source: Some("abcde".to_owned()), ..EventTarget::default() },
        response: ResponseStatus::Accepted,
        comment: Some("fine".to_owned()),
        notify_organizer: true,
        strict: false,
    }
}

fn answered(response: &str) -> Value {
    json!({ "email": "alias@example.test", "self": true, "responseStatus": response, "additionalGuests": 1, "comment": "fine" })
}

/// The account answers under the address that it is invited under; its entry alone is sent.
#[test]
fn an_invitation_is_answered_as_the_alias() {
    let url = format!("{EVENTS}/abcde");
    let patch = format!("{url}?{}", query("all"));
    let before = with(single(), guests());
    let own = answered("accepted");
    let after = with(single(), json!({ "attendeesOmitted": true, "attendees": [own] }));
    let provider = Recorded::new().expect("GET", &url, ok(&before)).expect("PATCH", &patch, ok(&after));
    let mutated = Google::respond(&context(&provider), invitation()).unwrap();
    assert_eq!(sent(&provider, 1), json!({ "attendeesOmitted": true, "attendees": [own] }));
    let event = read(&mutated.sources[0]);
    assert_eq!((event.attendees.len(), event.my_response), (2, Some(ResponseStatus::Accepted)));
    // The other guests went with it: all of them are written again, in the version that the answer has.
    let lost = with(single(), json!({ "etag": "\"2\"", "attendees": [own] }));
    let provider = Recorded::new()
        .expect("GET", &url, ok(&before))
        .expect("PATCH", &patch, ok(&lost))
        .expect("PATCH", &patch, ok(&before));
    Google::respond(&context(&provider), invitation()).unwrap();
    assert_eq!(sent(&provider, 2)["attendees"][0]["email"], "bob@example.test");
    assert_eq!(
        (sent(&provider, 2)["attendees"][1].clone(), if_match(&provider, 2).as_deref()),
        (own, Some("\"2\""))
    );
}

#[test]
fn the_organizer_and_strangers_cannot_answer() {
    let url = format!("{EVENTS}/abcde");
    let own = json!([{ "email": "ada@example.test", "self": true, "organizer": true }]);
    for (attendees, reason) in [(json!([]), "not_an_attendee"), (own, "organizer_cannot_rsvp")] {
        let before = with(single(), json!({ "attendees": attendees }));
        let provider = Recorded::new().expect("GET", &url, ok(&before));
        let failure = Google::respond(&context(&provider), invitation()).unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["reason"]),
            (code::CONFLICT, &json!(reason))
        );
    }
}

/// A conference that is still being made is read three times, and left to the calendar's changes then.
#[test]
fn a_conference_is_asked_for_once_and_read_three_times() {
    let data = |status: &str| {
        let key = json!({ "type": "hangoutsMeet" });
        let request =
            json!({ "requestId": "abcde", "conferenceSolutionKey": key, "status": { "statusCode": status } });
        with(single(), json!({ "conferenceData": { "createRequest": request } }))
    };
    let url = format!("{EVENTS}/abcde");
    let args = EventConference {
        collection: "work".to_owned(),
        time_zone: Some(BERLIN.to_owned()),
        target: EventTarget { source: Some("abcde".to_owned()), ..EventTarget::default() },
        provider: None,
    };
    let mut provider =
        Recorded::new().expect("PATCH", &format!("{url}?{}", query("none")), ok(&data("pending")));
    for _ in 0..3 {
        provider = provider.expect("GET", &url, ok(&data("pending")));
    }
    let made = Google::conference(&context(&provider), args.clone()).unwrap();
    let conference = read(&made.sources[0]).conference.unwrap();
    assert_eq!(conference.status, model::calendar::ConferenceStatus::Pending);
    let asked = sent(&provider, 0)["conferenceData"]["createRequest"].clone();
    assert_eq!(asked["conferenceSolutionKey"]["type"], "hangoutsMeet");
    // A repeated attempt asks under the same id; another request, perhaps after the conference was removed, under another one.
    for (key, is_same) in [("key-1", true), ("key-2", false)] {
        let url = format!("{url}?{}", query("none"));
        let provider = Recorded::new().expect("PATCH", &url, ok(&data("success")));
        let context = Context::new(&provider, Connection::default()).keyed(key);
        Google::conference(&context, args.clone()).unwrap();
        let again = sent(&provider, 0)["conferenceData"]["createRequest"]["requestId"].clone();
        assert_eq!(again == asked["requestId"], is_same, "{key}");
    }
    let zoom = EventConference { provider: Some(ConferenceProvider::Zoom), ..args };
    assert_eq!(Google::conference(&context(&Recorded::new()), zoom).unwrap_err().code, code::UNSUPPORTED);
}
