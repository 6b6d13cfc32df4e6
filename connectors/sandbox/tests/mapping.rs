//! Recorded answers of the provider, and their resources. The connector against the running provider is tested by the API
//! tests, where the provider is at hand.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use connector_sandbox::Sandbox;
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Calendar, Contacts, Context, Tasks, code};
use model::calendar::{Event, EventStatus, EventType, ResponseStatus, ShowAs};
use model::contacts::{Contact, ContactGroup, ContactSource, GroupKind, PhoneKind};
use model::tasks::{LinkedType, NotesFormat, Task, TaskPriority, TaskStatus};
use model::wire::SourceRef;
use model::wire::{ChangesRequest, Connection, Source};
use serde_json::json;

const PAGE: &str = include_str!("../fixtures/calendar_page.json");

fn connection() -> Connection {
    let settings = json!({ "serverUrl": "http://h/sandbox/" });
    Connection { settings: settings.as_object().unwrap().clone(), ..Connection::default() }
}

fn work() -> ChangesRequest {
    ChangesRequest { collection: Some("work".to_owned()), ..ChangesRequest::default() }
}

fn sources() -> Vec<Source> {
    let url = "http://h/sandbox/v1/calendars/work/events?limit=250&syncToken=b2xk";
    let provider = Recorded::new().expect("GET", url, response(200, &[], PAGE));
    let page = <Sandbox as Calendar>::changes(
        &Context::new(&provider, connection()).at(Some("sb2xk".to_owned())),
        work(),
    )
    .unwrap();
    assert!(!page.more && !page.body.enumeration);
    assert_eq!(page.cursor.as_deref(), Some("sc3luYw"));
    page.body.sources
}

fn event(source: &Source, item: usize) -> Event {
    source.items[item].body.read().unwrap()
}

/// A series and its changed instances are one source with one etag.
#[test]
fn a_series_with_an_exception() {
    let source = sources().remove(0);
    assert_eq!((source.external_id.as_str(), source.etag.as_deref()), ("standup", Some("\"12\"")));
    let (series, exception) = (event(&source, 0), event(&source, 1));
    assert_eq!(
        (series.event_type, series.show_as, series.sequence),
        (EventType::Series, ShowAs::WorkingElsewhere, 2)
    );
    assert_eq!((series.my_response, series.end_time_zone), (Some(ResponseStatus::Tentative), None));
    assert_eq!(source.items[1].series_external_id.as_deref(), Some("standup"));
    assert_eq!((exception.event_type, exception.status), (EventType::Exception, EventStatus::Cancelled));
    assert_eq!(exception.recurrence_id.as_deref(), Some("2026-03-04T09:15:00"));
    assert!(!exception.busy);
}

#[test]
fn an_all_day_event() {
    let trip = event(&sources()[1], 0);
    assert_eq!(
        (trip.all_day, trip.start_date.as_deref(), trip.end_date.as_deref()),
        (true, Some("2026-03-29"), Some("2026-03-30"))
    );
    assert_eq!(trip.start.to_string(), "2026-03-28T23:00:00.000Z");
}

/// An unreadable event is reported by itself and stops nothing; a deleted one is deleted.
#[test]
fn odd_and_deleted_events() {
    let sources = sources();
    assert_eq!((sources[2].external_id.as_str(), sources[2].items.len()), ("odd", 0));
    assert_eq!(sources[2].error.as_ref().unwrap().code, "unreadable");
    assert!(sources[3].deleted && sources[3].items.is_empty());
}

/// Names alone: what an event holds is not looked at.
#[test]
fn names_without_content() {
    let url = "http://h/sandbox/v1/calendars/work/events?limit=250";
    let provider = Recorded::new().expect("GET", url, response(200, &[], PAGE));
    let names = ChangesRequest { names_only: true, ..work() };
    let page = <Sandbox as Calendar>::changes(&Context::new(&provider, connection()), names).unwrap();
    let read = sources();
    assert_eq!(page.body.sources.len(), read.len());
    for (named, read) in page.body.sources.iter().zip(read) {
        assert!(named.items.is_empty() && named.error.is_none());
        assert_eq!((&named.external_id, &named.etag), (&read.external_id, &read.etag));
        assert_eq!(named.deleted, read.deleted);
    }
}

/// An id cannot lead to another place of the provider.
#[test]
fn ids_are_escaped() {
    let url = "http://h/sandbox/v1/calendars/..%20/events/a%2F..%3Fx";
    let refusal = r#"{"error":{"code":"notFound","message":"there is no event"}}"#;
    let provider = Recorded::new().expect("GET", url, response(404, &[], refusal));
    let context = Context::new(&provider, connection());
    let get = |collection: &str, source: &str| {
        let (collection, source) = (collection.to_owned(), source.to_owned());
        Sandbox::get_event(&context, SourceRef { collection, source, time_zone: None }).unwrap_err()
    };
    let failure = get(".. ", "a/..?x");
    assert_eq!((failure.code.as_str(), failure.http_status), (code::NOT_FOUND, Some(404)));
    // A step in a path has no escaped form: such an id is never requested.
    let failure = get("..", "a");
    assert_eq!((failure.code.as_str(), failure.http_status), (code::NOT_FOUND, None));
}

fn page_of(collection: &str) -> ChangesRequest {
    ChangesRequest { collection: Some(collection.to_owned()), limit: 9, ..ChangesRequest::default() }
}

/// Persons and circles of a book come in one list; an unknown field is ignored, an unreadable card is an error of its own.
#[test]
fn cards() {
    let url = "http://h/sandbox/v1/books/contacts/cards?limit=9";
    let page = include_str!("../fixtures/cards_page.json");
    let provider = Recorded::new().expect("GET", url, response(200, &[], page));
    let page =
        <Sandbox as Contacts>::changes(&Context::new(&provider, connection()), page_of("contacts")).unwrap();
    assert!(page.more && page.body.enumeration);
    assert_eq!(page.cursor.as_deref(), Some("fbW9yZQ"));
    let [ada, friends, odd, gone] = &page.body.sources[..] else { panic!("{:?}", page.body) };
    let contact: Contact = ada.items[0].body.read().unwrap();
    assert_eq!((contact.source, contact.phones[0].kind), (ContactSource::Suggested, PhoneKind::WorkFax));
    let photo = contact.photo.unwrap();
    assert_eq!((photo.url, photo.etag.as_deref()), (None, Some("4f1c2a")));
    assert_eq!(ada.items[0].provider_data.as_ref().unwrap()["createdAt"], "2026-03-01T08:00:00.000Z");
    let group: ContactGroup = friends.items[0].body.read().unwrap();
    assert_eq!((group.kind, group.member_count, group.read_only), (GroupKind::System, 2, true));
    assert_eq!(group.contact_ids.unwrap(), ["ada", "bob"]);
    let error = odd.error.as_ref().unwrap();
    assert_eq!((error.code.as_str(), odd.items.len()), ("unreadable", 0));
    let place = error.message.strip_prefix("the provider's contact cannot be read at line ");
    assert!(place.is_some_and(|place| !place.contains("none")), "the position, without the value: {error:?}");
    assert!(gone.deleted && gone.items.is_empty());
}

/// A task is one source with its steps and links.
#[test]
fn todos() {
    let url = "http://h/sandbox/v1/lists/tasks/todos?limit=9&pageToken=bW9yZQ";
    let page = include_str!("../fixtures/todos_page.json");
    let provider = Recorded::new().expect("GET", url, response(200, &[], page));
    let context = Context::new(&provider, connection()).at(Some("fbW9yZQ".to_owned()));
    let page = <Sandbox as Tasks>::changes(&context, page_of("tasks")).unwrap();
    assert_eq!((page.cursor.as_deref(), page.more, page.body.enumeration), (Some("sc3luYw"), false, true));
    let [paint, odd, gone] = &page.body.sources[..] else { panic!("{:?}", page.body) };
    let task: Task = paint.items[0].body.read().unwrap();
    assert_eq!((task.status, task.priority), (TaskStatus::Waiting, Some(TaskPriority::High)));
    assert_eq!((task.notes_format, task.has_attachments), (NotesFormat::Html, true));
    assert_eq!((task.checklist_items[0].etag.as_str(), task.checklist_items[0].checked), ("\"31\"", true));
    assert_eq!(task.links[0].resource_type, LinkedType::EmailMessage);
    assert_eq!(odd.error.as_ref().unwrap().code, "unreadable");
    assert!(gone.deleted);
}
