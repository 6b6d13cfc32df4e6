//! The walk over a calendar's events, in recorded answers.

use connector_google::Google;
use connector_sdk::http::Response;
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Answer, Calendar, Context, Outcome, code};
use model::calendar::{Event, EventStatus};
use model::wire::{ChangesRequest, Connection, Sources};

const PAGE: &str = include_str!("../fixtures/events_page.json");
const EVENTS: &str = "https://www.googleapis.com/calendar/v3/calendars/work@group.calendar.google.com/events";
const FIXED: &str = "maxResults=250&singleEvents=false&showDeleted=true";

fn request() -> ChangesRequest {
    ChangesRequest {
        collection: Some("work@group.calendar.google.com".to_owned()),
        time_zone: Some("America/Sao_Paulo".to_owned()),
        ..ChangesRequest::default()
    }
}

fn page(provider: &Recorded, cursor: Option<&str>, args: ChangesRequest) -> Outcome<Answer<Sources>> {
    let context = Context::new(provider, Connection::default()).at(cursor.map(str::to_owned));
    <Google as Calendar>::changes(&context, args)
}

/// A provider that answers one request, whose query is the fixed one and this.
fn answering(more: &str, answer: Response) -> Recorded {
    Recorded::new().expect("GET", &format!("{EVENTS}?{FIXED}{more}"), answer)
}

fn json(body: &str) -> Response {
    response(200, &[("content-type", "application/json")], body)
}

#[test]
fn a_page_of_everything() {
    let page = page(&answering("", json(PAGE)), None, request()).unwrap();
    assert!(page.body.enumeration && !page.more);
    assert_eq!(page.cursor.as_deref(), Some(r#"g1;{"since":{"since":"sync-2"}}"#));
    let [series, moved, cancelled, trip, odd, newer, gone] = &page.body.sources[..] else {
        panic!("{:?}", page.body.sources)
    };
    assert_eq!((series.items.len(), series.etag.as_deref()), (1, Some("\"3300000000000001\"")));
    assert_eq!(series.items[0].series_external_id, None);
    assert_eq!(series.items[0].provider_data.as_ref().unwrap()["extendedProperties"]["private"]["k"], "v");
    // An exception is a record of its own, which names its series.
    for instance in [moved, cancelled] {
        assert_eq!(instance.items[0].external_id, instance.external_id);
        assert_eq!(instance.items[0].series_external_id.as_deref(), Some("standup00000"));
        assert!(!instance.deleted);
    }
    let event: Event = cancelled.items[0].body.read().unwrap();
    assert_eq!(event.status, EventStatus::Cancelled);
    assert_eq!(trip.items.len(), 1);
    // A record that cannot be read is known by its id, and stops no other one.
    for unreadable in [odd, newer] {
        assert_eq!(unreadable.error.as_ref().unwrap().code, "unreadable");
        assert!(unreadable.items.is_empty() && unreadable.etag.is_some() && !unreadable.deleted);
    }
    assert!(gone.deleted && gone.items.is_empty());
}

/// Each page is asked for with the same parameters; one without events is not the last.
#[test]
fn pages_go_on_until_the_token() {
    let empty = r#"{"kind":"calendar#events","timeZone":"UTC","items":[],"nextPageToken":"p2"}"#;
    let first = page(&answering("", json(empty)), None, request()).unwrap();
    assert!(first.more && first.body.enumeration && first.body.sources.is_empty());
    let second = page(&answering("&pageToken=p2", json(PAGE)), first.cursor.as_deref(), request()).unwrap();
    assert!(!second.more && second.body.enumeration);

    let since = second.cursor;
    let delta = page(&answering("&syncToken=sync-2", json(empty)), since.as_deref(), request()).unwrap();
    assert!(delta.more && !delta.body.enumeration);
    let more = "&syncToken=sync-2&pageToken=p2";
    let last = page(&answering(more, json(PAGE)), delta.cursor.as_deref(), request()).unwrap();
    assert!(!last.more && !last.body.enumeration && last.body.sources.len() == 7);
}

#[test]
fn a_page_without_any_token_is_no_page() {
    let failure = page(&answering("", json(r#"{"items":[]}"#)), None, request()).unwrap_err();
    assert_eq!(failure.code, code::UNAVAILABLE);
    for body in ["[]", "", "<html>", "null"] {
        let failure = page(&answering("", json(body)), None, request()).unwrap_err();
        assert_eq!(failure.code, code::UNAVAILABLE, "{body}");
    }
}

/// A page that is too large for an answer is read with fewer events; one event that is too large is a failure.
#[test]
fn a_page_that_is_cut_off_is_asked_for_with_fewer_events() {
    let cut = || Response { truncated: true, ..json(PAGE) };
    let sized = |size: u32| format!("{EVENTS}?{}", FIXED.replace("250", &size.to_string()));
    let provider = answering("", cut()).expect("GET", &sized(62), json(PAGE));
    assert_eq!(page(&provider, None, request()).unwrap().body.sources.len(), 7);
    let mut provider = answering("", cut());
    for size in [62, 15, 3, 1] {
        provider = provider.expect("GET", &sized(size), cut());
    }
    assert_eq!(page(&provider, None, request()).unwrap_err().code, code::UNAVAILABLE);
}

/// Birthdays: their deltas report no deletions, so that everything is read each time.
#[test]
fn a_calendar_without_deltas_is_read_whole() {
    let id = "addressbook#contacts@group.v.calendar.google.com";
    let url = "https://www.googleapis.com/calendar/v3/calendars/addressbook%23contacts@group.v.calendar.google.com/events";
    let request = || ChangesRequest { collection: Some(id.to_owned()), ..ChangesRequest::default() };
    let mut cursor = None;
    for _ in 0..2 {
        let provider = Recorded::new().expect("GET", &format!("{url}?{FIXED}"), json(PAGE));
        let page = page(&provider, cursor.as_deref(), request()).unwrap();
        assert!(page.body.enumeration && !page.more);
        cursor = page.cursor;
    }
    assert_eq!(cursor.as_deref(), Some(r#"g1;"whole""#));
}

#[test]
fn names_without_content() {
    let names =
        "&fields=nextPageToken%2CnextSyncToken%2CtimeZone%2Citems%28id%2Cetag%2Cstatus%2CrecurringEventId%29";
    let args = ChangesRequest { names_only: true, ..request() };
    let page = page(&answering(names, json(PAGE)), None, args).unwrap();
    let deleted: Vec<bool> = page.body.sources.iter().map(|source| source.deleted).collect();
    assert_eq!(deleted, [false, false, false, false, false, false, true]);
    assert!(page.body.sources.iter().all(|source| source.items.is_empty() && source.error.is_none()));
    assert!(page.body.sources.iter().all(|source| source.etag.is_some()));
}

/// A cursor of another version or connector, and a token that Google has forgotten: the host starts over.
#[test]
fn a_cursor_that_cannot_be_continued_is_expired() {
    for cursor in ["", "x", "g0;{\"since\":{\"since\":\"a\"}}", "g1;{", "g1;{\"later\":{}}", "sync-2"] {
        let failure = page(&Recorded::new(), Some(cursor), request()).unwrap_err();
        assert_eq!(failure.code, code::CURSOR_EXPIRED, "{cursor}");
    }
    let gone = r#"{"error":{"code":410,"message":"Sync token is no longer valid, a full sync is required.","errors":[{"domain":"calendar","reason":"fullSyncRequired"}]}}"#;
    let invalid = r#"{"error":{"code":400,"message":"Invalid sync token value.","errors":[{"domain":"global","reason":"invalid"}]}}"#;
    let cursor = Some(r#"g1;{"since":{"since":"old"}}"#);
    for (status, body) in [(410, gone), (400, invalid)] {
        let provider = answering("&syncToken=old", response(status, &[], body));
        assert_eq!(page(&provider, cursor, request()).unwrap_err().code, code::CURSOR_EXPIRED, "{status}");
    }
    let unknown =
        r#"{"error":{"code":404,"message":"Not Found","errors":[{"domain":"global","reason":"notFound"}]}}"#;
    let provider = answering("&syncToken=old", response(404, &[], unknown));
    assert_eq!(page(&provider, cursor, request()).unwrap_err().code, code::NOT_FOUND);
}

/// An unknown zone is a warning of the event.
#[test]
fn an_unknown_zone_is_a_warning() {
    let body = r#"{"timeZone":"Europe/Berlin","nextSyncToken":"t","items":[{"id":"abcde","start":{"dateTime":"2026-03-02T14:00:00+01:00","timeZone":"Mars/Olympus"},"end":{"dateTime":"2026-03-02T15:00:00+01:00","timeZone":"Mars/Olympus"}}]}"#;
    let page = page(&answering("", json(body)), None, request()).unwrap();
    let item = &page.body.sources[0].items[0];
    let event: Event = item.body.read().unwrap();
    assert_eq!((event.time_zone.as_str(), item.warnings.len()), ("Europe/Berlin", 1));
    assert_eq!(
        (item.warnings[0].code.as_str(), item.warnings[0].target.as_deref()),
        ("unknown_time_zone", Some("timeZone"))
    );
}
