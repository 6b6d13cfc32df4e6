//! The lists of calendars and events and their changes, by both roads.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calendar_support;

use connector_microsoft::Microsoft;
use connector_sdk::testing::Recorded;
use connector_sdk::{Answer, Calendar, Context, Outcome, code};
use model::calendar::{AccessRole, Calendar as CalendarBody, Event};
use model::wire::{ChangesRequest, Connection, Source, SourceRef, Sources, SourcesGet};
use serde_json::{Value, json};

use crate::calendar_support::{Call, Calls, graph};

const EVENTS: &str = "/me/calendars/cal/events";
const NAMES: &str = "/me/calendars/cal/events?$select=id,changeKey,type&$top=999";

fn connection() -> Connection {
    let settings = json!({ "timeZone": "Europe/Berlin" });
    let settings = settings.as_object().unwrap().clone();
    Connection { settings, addresses: vec!["ada@example.test".to_owned()], username: None }
}

fn request() -> ChangesRequest {
    ChangesRequest { collection: Some("cal".to_owned()), names_first: true, ..ChangesRequest::default() }
}

fn page(provider: &Recorded, cursor: Option<&str>, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let context = Context::new(provider, connection()).at(cursor.map(str::to_owned));
    <Microsoft as Calendar>::changes(&context, args)
}

fn event(id: &str, more: &Value) -> Value {
    let utc = |time: &str| json!({ "dateTime": format!("2026-03-02T{time}:00.0000000"), "timeZone": "UTC" });
    let mut event = json!({
        "@odata.etag": format!("W/\"{id}-1\""), "id": id, "type": "singleInstance", "subject": id, "start": utc("09:00"),
        "end": utc("10:00"), "originalStartTimeZone": "W. Europe Standard Time",
    });
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event
}

/// A series whose second instance is an hour later, and whose third does not take place.
fn series() -> Value {
    let pattern = json!({ "type": "daily", "interval": 1 });
    let range = json!({ "type": "numbered", "numberOfOccurrences": 5, "startDate": "2026-03-02" });
    let moved = event(
        "moved",
        &json!({ "type": "exception", "seriesMasterId": "series", "originalStart": "2026-03-03T09:00:00Z" }),
    );
    event(
        "series",
        &json!({
            "type": "seriesMaster", "recurrence": { "pattern": pattern, "range": range }, "exceptionOccurrences": [moved],
            "cancelledOccurrences": ["OID.AAk.2026-03-04"],
        }),
    )
}

fn error(status: u16, name: &str) -> (u16, Value) {
    (
        status,
        json!({ "error": { "code": name, "message": "no", "innerError": { "date": "2026-03-01T00:00:00" } } }),
    )
}

fn link(name: &str, token: &str) -> String {
    format!("https://graph.microsoft.com/v1.0/me/calendars('cal')/events/delta?%24{name}={token}")
}

/// The event that a path names, of those with a content.
fn content(path: &str) -> (u16, Value) {
    let id = path.strip_prefix("/me/calendars/cal/events/").and_then(|rest| rest.split('?').next()).unwrap();
    if path.ends_with("?$select=id,iCalUId") {
        let uid = json!({ "id": id, "iCalUId": format!("uid-{id}") });
        return if id == "gone" { error(404, "ErrorItemNotFound") } else { (200, uid) };
    }
    assert!(
        path.contains("exceptionOccurrences,cancelledOccurrences&$expand=exceptionOccurrences"),
        "{path}"
    );
    match id {
        "lunch" | "tea" => (200, event(id, &json!({}))),
        "series" => (200, series()),
        "stub" => {
            (200, event(id, &json!({ "type": "occurrence", "seriesMasterId": "series", "subject": null })))
        }
        "odd" => (200, event(id, &json!({ "start": { "dateTime": "soon", "timeZone": "UTC" } }))),
        _ => error(404, "ErrorItemNotFound"),
    }
}

/// A calendar with a delta: lunch, then the series by a stub of it; later tea is new, lunch is said to be removed, another is in another
/// calendar by now, and another is gone.
fn with_delta(call: &Call) -> (u16, Value) {
    let (path, stub) = (
        call.path.as_str(),
        json!({ "@odata.type": "#microsoft.graph.event", "id": "stub", "type": "occurrence",
        "seriesMasterId": "series", "start": { "dateTime": "2026-03-02T09:00:00.0000000", "timeZone": "UTC" } }),
    );
    match path.strip_prefix("/me/calendars/cal/events/delta") {
        Some("") => {
            (200, json!({ "value": [{ "id": "lunch" }], "@odata.nextLink": link("skiptoken", "p2") }))
        }
        Some("?$skiptoken=p2") => (
            200,
            json!({ "value": [stub, { "id": "series" }], "@odata.deltaLink": link("deltatoken", "d1") }),
        ),
        Some("?$deltatoken=d1") => {
            let removed = |id: &str| json!({ "id": id, "@removed": { "reason": "deleted" } });
            let value = json!([{ "id": "tea" }, removed("lunch"), removed("away"), removed("gone")]);
            (200, json!({ "value": value, "@odata.deltaLink": link("deltatoken", "d2") }))
        }
        Some(other) => panic!("{other}"),
        None if path.starts_with("/me/calendars/cal/events?$filter=iCalUId eq 'uid-lunch'") => {
            (200, json!({ "value": [{ "id": "lunch", "iCalUId": "uid-lunch" }] }))
        }
        // It is in another calendar, and answered all the same.
        None if path.starts_with("/me/calendars/cal/events?$filter=iCalUId eq 'uid-away'") => {
            (200, json!({ "value": [] }))
        }
        None => content(path),
    }
}

/// A calendar without a delta.
fn without_delta(call: &Call) -> (u16, Value) {
    let name = |id: &str, kind: &str| json!({ "@odata.etag": format!("W/\"{id}-1\""), "id": id, "type": kind, "changeKey": "x" });
    match call.path.as_str() {
        path if path.contains("/events/delta") => error(400, "ErrorInvalidRequest"),
        NAMES => {
            let value = json!([
                name("lunch", "singleInstance"),
                name("series", "seriesMaster"),
                name("stub", "occurrence")
            ]);
            (200, json!({ "value": value }))
        }
        path if path.starts_with(&format!("{EVENTS}?$select=id,changeKey,type&$top=1")) => {
            let next = format!("https://graph.microsoft.com/v1.0{EVENTS}?$top=1&$skip=1");
            match path.ends_with("&$skip=1") {
                false => {
                    (200, json!({ "value": [name("lunch", "singleInstance")], "@odata.nextLink": next }))
                }
                true => (200, json!({ "value": [name("series", "seriesMaster")] })),
            }
        }
        path => content(path),
    }
}

fn ids(sources: &[Source]) -> Vec<(&str, bool)> {
    sources.iter().map(|source| (source.external_id.as_str(), source.deleted)).collect()
}

/// The paths of the calls without the reads of single events, and how many of those there were.
fn listed(calls: &Calls) -> (Vec<String>, usize) {
    let calls = calls.borrow();
    let (reads, lists): (Vec<&Call>, Vec<&Call>) =
        calls.iter().partition(|call| call.path.contains("$expand="));
    (lists.into_iter().map(|call| call.path.clone()).collect(), reads.len())
}

/// Attachments are a batch more, for events that say that they have some. A list that Graph refuses is a warning; one that waits for Graph
/// leaves its event for later.
#[test]
fn attachments_are_read_with_the_events_that_have_some() {
    let read = |status: u16, name: &'static str| {
        let (provider, calls) = graph(move |call| match call.path.as_str() {
            path if path.ends_with("/lunch/attachments?$select=id,name,contentType,size,isInline") => {
                match status {
                    200 => (
                        200,
                        json!({ "value": [{ "id": "f", "name": "menu.pdf", "contentType": "application/pdf" }] }),
                    ),
                    status => error(status, name),
                }
            }
            path if path.contains("/events/lunch?") => {
                (200, event("lunch", &json!({ "hasAttachments": true })))
            }
            path => content(path),
        });
        let context = Context::new(&provider, connection());
        let args = SourcesGet {
            collection: "cal".to_owned(),
            sources: vec!["lunch".to_owned(), "tea".to_owned()],
            ..SourcesGet::default()
        };
        let found = <Microsoft as Calendar>::get_events(&context, args).map(|found| found.sources);
        assert!(!calls.borrow().iter().any(|call| call.path.contains("/tea/attachments")));
        found
    };
    let titles = |source: &Source| -> Vec<Option<String>> {
        let event: Event = serde_json::from_str(source.items[0].body.as_str()).unwrap();
        event.attachments.into_iter().map(|one| one.title).collect()
    };
    let found = read(200, "").unwrap();
    assert_eq!((titles(&found[0]), titles(&found[1])), (vec![Some("menu.pdf".to_owned())], vec![]));
    let refused = read(403, "ErrorAccessDenied").unwrap();
    assert_eq!((titles(&refused[0]), refused[0].items[0].warnings.len()), (vec![], 1));
    assert_eq!(read(429, "TooManyRequests").unwrap_err().code, code::RATE_LIMITED);
}

#[test]
fn a_delta_is_read_page_by_page_and_goes_on() {
    let (provider, calls) = graph(with_delta);
    let first = page(&provider, None, ChangesRequest { limit: 2, ..request() }).unwrap();
    assert!(first.more && first.body.enumeration);
    assert_eq!(ids(&first.body.sources), [("lunch", false)]);
    let second = page(&provider, first.cursor.as_deref(), request()).unwrap();
    assert!(!second.more && second.body.enumeration);
    assert_eq!(second.cursor.as_deref(), Some(r#"m1;{"since":{"since":"d1"}}"#));
    let later = page(&provider, second.cursor.as_deref(), request()).unwrap();
    assert!(!later.more && !later.body.enumeration);
    let (lists, reads) = listed(&calls);
    assert_eq!((lists.iter().filter(|path| path.contains("/delta")).count(), reads), (3, 4));
    // The size of a page goes with each.
    let calls = calls.borrow();
    let sizes: Vec<&Call> = calls.iter().filter(|call| call.prefer.contains("odata.maxpagesize")).collect();
    assert_eq!(sizes.len(), 3);
    assert!(
        sizes[0].prefer.contains("maxpagesize=2")
            && calls.iter().all(|call| call.prefer.contains("ImmutableId"))
    );
    assert!(calls.iter().all(|call| call.method == "GET" && call.if_match.is_none() && call.body.is_null()));
}

/// An event that is said to be removed may be there, or have been moved to another calendar.
#[test]
fn a_removal_is_believed_when_the_event_is_not_found() {
    let (provider, _) = graph(with_delta);
    let later = page(&provider, Some(r#"m1;{"since":{"since":"d1"}}"#), request()).unwrap();
    assert_eq!(ids(&later.body.sources), [("away", true), ("gone", true), ("tea", false), ("lunch", false)]);
}

/// An event that was changed and then moved to another calendar is named twice, and answered by its id all the same.
#[test]
fn an_event_that_is_named_twice_is_looked_for() {
    let (provider, _) = graph(|call| match call.path.ends_with("$deltatoken=d1") {
        true => {
            let removed = json!({ "id": "away", "@removed": { "reason": "deleted" } });
            let value = json!([{ "id": "away" }, removed, { "id": "tea" }]);
            (200, json!({ "value": value, "@odata.deltaLink": link("deltatoken", "d2") }))
        }
        false => with_delta(call),
    });
    let later = page(&provider, Some(r#"m1;{"since":{"since":"d1"}}"#), request()).unwrap();
    assert_eq!(ids(&later.body.sources), [("away", true), ("tea", false)]);
}

/// The delta is believed where a list takes no filter: there is no second opinion.
#[test]
fn a_removal_is_believed_where_the_list_takes_no_filter() {
    let (provider, _) = graph(|call| match call.path.contains("$filter=") {
        true => error(400, "ErrorInvalidUrlQueryFilter"),
        false => with_delta(call),
    });
    let later = page(&provider, Some(r#"m1;{"since":{"since":"d1"}}"#), request()).unwrap();
    assert_eq!(ids(&later.body.sources), [("lunch", true), ("away", true), ("gone", true), ("tea", false)]);
}

/// A limit within a batch holds its events back: they are named for later, and of the last page they fail, because a listing is not
/// followed by changes in one walk.
#[test]
fn events_that_have_to_wait_are_named() {
    let (provider, _) = graph(|call| match call.path.strip_prefix("/me/calendars/cal/events/") {
        Some("delta") => {
            let value = json!([{ "id": "lunch" }, { "id": "tea" }]);
            (200, json!({ "value": value, "@odata.nextLink": link("skiptoken", "p2") }))
        }
        Some("delta?$skiptoken=p2") => {
            let value = json!([{ "id": "series" }, { "id": "tea" }]);
            (200, json!({ "value": value, "@odata.deltaLink": link("deltatoken", "d1") }))
        }
        Some(path) if path.starts_with("tea?") => with_delta(call),
        _ => error(429, "ApplicationThrottled"),
    });
    let first = page(&provider, None, request()).unwrap();
    assert!(first.more && first.body.enumeration);
    assert_eq!(ids(&first.body.sources), [("tea", false)]);
    assert_eq!(first.body.named[0].external_id, "lunch");
    let last = page(&provider, first.cursor.as_deref(), request()).unwrap_err();
    assert_eq!(last.code, code::RATE_LIMITED);
}

/// An empty page that is not the last one is no end: what was not listed would be deleted.
#[test]
fn a_list_that_does_not_go_on_fails() {
    let (provider, _) = graph(|call| match call.path.as_str() {
        NAMES => (200, json!({ "value": [], "@odata.nextLink": link("skiptoken", "x") })),
        _ => without_delta(call),
    });
    assert_eq!(page(&provider, None, request()).unwrap_err().code, code::UNAVAILABLE);
}

/// A stub stands for its series, which is read once; an instance is no source by itself.
#[test]
fn a_stub_is_never_an_event() {
    let (provider, _) = graph(with_delta);
    let second = page(&provider, Some(r#"m1;{"first":{"page":"p2"}}"#), request()).unwrap();
    let [series] = &second.body.sources[..] else { panic!("{:?}", second.body.sources) };
    assert_eq!(
        (series.external_id.as_str(), series.etag.as_deref(), series.items.len()),
        ("series", Some("W/\"series-1\""), 2)
    );
    assert_eq!(series.items[1].series_external_id.as_deref(), Some("series"));
    let master: Event = series.items[0].body.read().unwrap();
    assert_eq!(master.recurrence[1], "EXDATE;TZID=Europe/Berlin:20260304T100000");
    let context = Context::new(&provider, connection());
    let args = SourceRef { collection: "cal".into(), source: "stub".into(), time_zone: None };
    let failure = <Microsoft as Calendar>::get_event(&context, args).unwrap_err();
    assert_eq!(failure.code, code::NOT_FOUND);
}

#[test]
fn names_are_told_first_where_there_is_no_delta() {
    let (provider, calls) = graph(without_delta);
    let first = page(&provider, None, request()).unwrap();
    assert!(first.more && first.body.enumeration && first.body.sources.is_empty());
    let named: Vec<(&str, Option<&str>)> =
        first.body.named.iter().map(|name| (name.external_id.as_str(), name.etag.as_deref())).collect();
    assert_eq!(named, [("lunch", Some("W/\"lunch-1\"")), ("series", Some("W/\"series-1\""))]);
    let end = page(&provider, first.cursor.as_deref(), request()).unwrap();
    assert!(!end.more && end.body.enumeration && end.body.named.is_empty());
    // The delta is not tried once more.
    let again = page(&provider, end.cursor.as_deref(), request()).unwrap();
    assert_eq!(again.body.named.len(), 2);
    let (lists, _) = listed(&calls);
    assert_eq!(lists, [format!("{EVENTS}/delta"), NAMES.to_owned(), NAMES.to_owned()]);
}

/// A host that takes no names gets pages of content.
#[test]
fn content_is_paged_where_names_are_not_taken() {
    let (provider, _) = graph(without_delta);
    let args = || ChangesRequest { limit: 1, names_first: false, ..request() };
    let first = page(&provider, None, args()).unwrap();
    assert!(first.more && first.body.enumeration);
    let second = page(&provider, first.cursor.as_deref(), args()).unwrap();
    assert!(!second.more && second.body.enumeration);
    let all = [first.body.sources, second.body.sources].concat();
    assert_eq!(ids(&all), [("lunch", false), ("series", false)]);
}

#[test]
fn both_roads_give_the_same_events() {
    let (by_delta, _) = graph(with_delta);
    let first = page(&by_delta, None, request()).unwrap();
    let second = page(&by_delta, first.cursor.as_deref(), request()).unwrap();
    let (by_names, _) = graph(without_delta);
    let named = page(&by_names, None, request()).unwrap().body.named;
    let args = SourcesGet {
        collection: "cal".into(),
        sources: named.into_iter().map(|name| name.external_id).collect(),
        time_zone: None,
    };
    let read = <Microsoft as Calendar>::get_events(&Context::new(&by_names, connection()), args).unwrap();
    assert_eq!([first.body.sources, second.body.sources].concat(), read.sources);
}

/// An event that cannot be read has an error under its id, and stops no other one.
#[test]
fn many_events_are_read_each_for_itself() {
    let (provider, calls) = graph(without_delta);
    let sources: Vec<String> = ["lunch", "odd", "gone", "stub"].map(str::to_owned).to_vec();
    let many: Vec<String> = std::iter::repeat_n(sources, 6).flatten().collect();
    let args = SourcesGet { collection: "cal".into(), sources: many, time_zone: None };
    let read = <Microsoft as Calendar>::get_events(&Context::new(&provider, connection()), args).unwrap();
    assert_eq!(ids(&read.sources)[..4], [("lunch", false), ("odd", false), ("gone", true), ("stub", true)]);
    assert_eq!(read.sources[1].error.as_ref().unwrap().code, "unreadable");
    assert_eq!((read.sources.len(), calls.borrow().len()), (24, 24));
}

/// A cursor of another version or connector, and a token that Graph has forgotten: the host starts over.
#[test]
fn a_cursor_that_cannot_be_continued_is_expired() {
    for cursor in ["", "x", "g1;{\"since\":{\"since\":\"a\"}}", "m1;{", "m1;{\"later\":{}}", "d1"] {
        let (provider, calls) = graph(with_delta);
        let failure = page(&provider, Some(cursor), request()).unwrap_err();
        assert_eq!((failure.code.as_str(), calls.borrow().len()), (code::CURSOR_EXPIRED, 0), "{cursor}");
    }
    let rows = [
        (410, "SyncStateNotFound", code::CURSOR_EXPIRED),
        (400, "SyncStateInvalid", code::CURSOR_EXPIRED),
        (404, "ErrorInvalidIdMalformed", code::CURSOR_EXPIRED),
        (400, "BadRequest", code::CURSOR_EXPIRED),
        (404, "ErrorItemNotFound", code::NOT_FOUND),
        (429, "ApplicationThrottled", code::RATE_LIMITED),
    ];
    for (status, name, expected) in rows {
        let (provider, _) = graph(move |_| error(status, name));
        let failure = page(&provider, Some(r#"m1;{"since":{"since":"old"}}"#), request()).unwrap_err();
        assert_eq!(failure.code, expected, "{status} {name}");
    }
}

#[test]
fn names_without_content() {
    let (provider, _) = graph(with_delta);
    let args = || ChangesRequest { names_only: true, ..request() };
    let names = page(&provider, Some(r#"m1;{"since":{"since":"d1"}}"#), args()).unwrap();
    // The host reads each by itself, and would find the one that is in another calendar.
    let expected = [("away", true), ("gone", true), ("tea", false), ("lunch", false)];
    assert_eq!(ids(&names.body.sources), expected);
    assert!(names.body.sources.iter().all(|source| source.items.is_empty()));
}

fn calendar(id: &str, owner: Option<&str>, more: &Value) -> Value {
    let mut calendar = json!({
        "id": id, "name": id, "color": "auto", "hexColor": "", "changeKey": "k", "canEdit": true, "isRemovable": true,
        "owner": owner.map(|address| json!({ "name": "x", "address": address })),
    });
    calendar.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    calendar
}

/// Graph lists the calendars of other people and answers no events of them, without an error: they would look empty.
#[test]
fn a_shared_calendar_is_left_out() {
    let (provider, calls) = graph(|call| {
        let teams = json!({ "isDefaultCalendar": true, "isRemovable": false, "allowedOnlineMeetingProviders": ["teamsForBusiness"] });
        let value = match call.path.as_str() {
            // The owner of a personal account's calendars may be an address of no other use.
            "/me/calendars?$top=100" => json!([
                calendar("Calendar", Some("outlook_1F@outlook.test"), &teams),
                calendar("Birthdays", Some("outlook_1f@outlook.test"), &json!({ "canEdit": false })),
            ]),
            "/me/calendars?$top=100&$skip=2" => json!([
                calendar("Work", Some("Ada@example.test"), &json!({ "color": "lightRed" })),
                calendar(
                    "Bob",
                    Some("bob@example.test"),
                    &json!({ "allowedOnlineMeetingProviders": ["unknown"] })
                ),
                calendar("Nobody's", None, &json!({})),
            ]),
            other => panic!("{other}"),
        };
        let next = (value.as_array().unwrap().len() == 2)
            .then_some("https://graph.microsoft.com/v1.0/me/calendars?%24skip=2");
        (200, json!({ "value": value, "@odata.nextLink": next }))
    });
    let context = Context::new(&provider, connection());
    let list = <Microsoft as Calendar>::list_calendars(&context, ChangesRequest::default()).unwrap();
    assert!(!list.more && list.body.enumeration && calls.borrow().len() == 2);
    assert_eq!(
        ids(&list.body.sources).iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        ["Calendar", "Birthdays", "Work", "Nobody's"]
    );
    let read = |at: usize| list.body.sources[at].items[0].body.read::<CalendarBody>().unwrap();
    let (main, birthdays, work) = (read(0), read(1), read(2));
    assert!(main.is_primary && !main.read_only && main.conference_types.len() == 1);
    assert_eq!((main.time_zone.as_deref(), main.color), (Some("Europe/Berlin"), None));
    assert_eq!((birthdays.read_only, birthdays.access_role), (true, AccessRole::Reader));
    assert!(list.body.sources[1].items[0].provider_data.as_ref().unwrap()["readOnlyReason"].is_string());
    assert_eq!((work.color.as_deref(), work.conference_types.len()), (Some("#f88c9b"), 0));
}
