//! The connector against real servers, Radicale and Cyrus, where the conformance kit does not look: taken UIDs, repeated splits, the busy
//! times of others, and resources of other clients. The kit runs on both in `tests/authoring/dav.rs`. Without servers (`PEERS_UP`,
//! `RADICALE_URL`, `CYRUS_URL`) the tests say that they did not run; with `SWITCHBOARD_REQUIRE_PEERS=1` that is a failure.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod servers;

use std::sync::atomic::{AtomicU32, Ordering};

use connector_dav::Dav;
use connector_sdk::{Calendar as _, Contacts as _, Tasks as _, code, http};
use model::calendar::{Calendar, Event};
use model::contacts::{Contact, ContactBook};
use model::tasks::{Task, TaskList};
use model::wire::calendar::{EventTarget, EventWrite, FreeBusyRequest, RecurrenceScope};
use model::wire::contacts::ContactWrite;
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, ItemWrite, Source, SourceRef};
use servers::{Session, each, servers};

const EVENT: &str = "text/calendar; charset=utf-8";
const ZONE: &str = "Europe/Berlin";

impl Session {
    fn calendar(&self, name: &str) -> String {
        let body = Calendar { name: name.into(), ..Calendar::default() };
        Dav::create_calendar(&self.cx().keyed(&key(name)), named(body)).unwrap().item.unwrap()
    }

    /// Stores a resource as another client would, and returns its id.
    fn put(&self, id: String, media_type: &str, text: &str) -> String {
        let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
        let put = http::Request::put(self.url(&id)).body(media_type, text);
        self.cx().send_ok(put, "a fixture").unwrap();
        id
    }

    /// The lines of a resource as the server has it, unfolded, without those of `written`. A server may write them in an order of its own.
    fn lines(&self, id: &str, accept: &str, written: &[&str]) -> Vec<String> {
        let get = http::Request::get(self.url(id)).header("accept", accept);
        let text = self.cx().send_ok(get, "a fixture").unwrap().text().replace("\r\n", "\n");
        let unfolded = text.replace("\n ", "");
        let kept = unfolded.lines().filter(|line| !written.iter().any(|name| line.starts_with(name)));
        let mut lines: Vec<String> = kept.map(str::to_owned).collect();
        lines.sort();
        lines
    }
}

/// An idempotency key that no other run uses.
fn key(name: &str) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{name} {} {}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// A resource that another client wrote.
fn fixture(path: &str) -> String {
    std::fs::read_to_string(format!("{}/fixtures/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn named<T: Default>(body: T) -> CollectionWrite<T> {
    CollectionWrite { body, changed: vec!["name".into()], ..CollectionWrite::default() }
}

fn whole(collection: &str) -> CollectionDelete {
    CollectionDelete { source: collection.into(), force: true, ..CollectionDelete::default() }
}

fn reference(collection: &str, id: &str) -> SourceRef {
    SourceRef { collection: collection.into(), source: id.into(), time_zone: Some(ZONE.into()) }
}

fn event(title: &str, start: &str, end: &str) -> Event {
    Event {
        title: Some(title.into()),
        start: start.parse().unwrap(),
        end: end.parse().unwrap(),
        time_zone: ZONE.into(),
        ..Event::default()
    }
}

fn write_event(calendar: &str, target: EventTarget, event: Event, changed: &[&str]) -> EventWrite {
    let changed = changed.iter().map(|name| (*name).to_owned()).collect();
    let (collection, time_zone) = (calendar.into(), Some(ZONE.into()));
    EventWrite { collection, time_zone, target, event, changed, ..EventWrite::default() }
}

/// A change of one field.
fn change<T: Default>(collection: &str, source: &Source, body: T, field: &str) -> ItemWrite<T> {
    ItemWrite {
        collection: collection.into(),
        time_zone: Some(ZONE.into()),
        source: Some(source.external_id.clone()),
        body,
        changed: vec![field.into()],
        if_match: source.etag.clone(),
        ..ItemWrite::default()
    }
}

/// A UID that the calendar has already is reported as such: Radicale answers with 409, Cyrus with 403.
#[test]
fn a_taken_uid_is_reported() {
    each("t11", |session| {
        let calendar = session.calendar("taken");
        let lunch = event("Lunch", "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z");
        let create = |key: &str, event: Event| {
            let args = write_event(&calendar, EventTarget::default(), event, &["title", "start", "end"]);
            Dav::create_event(&session.cx().keyed(key), args)
        };
        let made: Event = create("lunch", lunch.clone()).unwrap().sources[0].items[0].body.read().unwrap();
        let failure = create("other", Event { i_cal_uid: made.i_cal_uid, ..lunch }).unwrap_err();
        assert_eq!(failure.code, code::ALREADY_EXISTS, "{}: {failure:?}", session.name);
        Dav::delete_calendar(&session.cx(), whole(&calendar)).unwrap();
    });
}

/// A repeated split of a series finds both halves, and makes no third.
#[test]
fn a_repeated_split_finds_both_halves() {
    each("t11", |session| {
        let calendar = session.calendar("split");
        let mut daily = event("Stand-up", "2026-03-23T08:00:00Z", "2026-03-23T08:15:00Z");
        daily.recurrence = vec!["RRULE:FREQ=DAILY;COUNT=10".into()];
        let fields = ["title", "start", "end", "timeZone", "recurrence"];
        let args = write_event(&calendar, EventTarget::default(), daily, &fields);
        let made = Dav::create_event(&session.cx().keyed("series"), args).unwrap().sources.remove(0);
        let target = EventTarget {
            source: Some(made.external_id),
            if_match: made.etag,
            recurrence_id: Some("2026-03-28T09:00:00".into()),
            scope: RecurrenceScope::ThisAndFollowing,
            ..EventTarget::default()
        };
        let mut rest: Event = made.items[0].body.read().unwrap();
        rest.title = Some("In the afternoon".into());
        (rest.start, rest.end) =
            ("2026-03-28T13:00:00Z".parse().unwrap(), "2026-03-28T13:15:00Z".parse().unwrap());
        let args = write_event(&calendar, target, rest, &["title", "start", "end"]);
        let split = Dav::update_event(&session.cx().keyed("split"), args.clone()).unwrap();
        let again = Dav::update_event(&session.cx().keyed("split"), args).unwrap();
        assert_eq!((again.item.as_ref(), split.sources.len()), (split.item.as_ref(), 2), "{}", session.name);
        let all = ChangesRequest { collection: Some(calendar.clone()), ..ChangesRequest::default() };
        let all = <Dav as connector_sdk::Calendar>::changes(&session.cx(), all).unwrap().body.sources;
        assert_eq!(all.len(), 2, "{}", session.name);
        Dav::delete_calendar(&session.cx(), whole(&calendar)).unwrap();
    });
}

/// Another person's busy times come through the scheduling outbox; a stranger has none.
#[test]
fn busy_times_of_others_come_through_the_outbox() {
    let Some(server) = servers().into_iter().find(|server| server.name == "cyrus") else { return };
    let (asking, asked) = (Session::open(&server, "t12"), Session::open(&server, "t13"));
    assert_eq!(asking.account.email.as_deref(), Some("t12@cyrus.test"));
    let features = <Dav as connector_sdk::Calendar>::features(&asking.cx()).unwrap();
    assert!(features.scheduling && features.free_busy_by_email);
    let calendar = asked.calendar("asked");
    let busy = event("Busy", "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z");
    let args = write_event(&calendar, EventTarget::default(), busy, &["title", "start", "end"]);
    Dav::create_event(&asked.cx().keyed("busy"), args).unwrap();
    let question = FreeBusyRequest {
        email: Some("t13@cyrus.test".into()),
        start: "2026-06-01T00:00:00Z".parse().unwrap(),
        end: "2026-06-02T00:00:00Z".parse().unwrap(),
        ..FreeBusyRequest::default()
    };
    let busy = Dav::free_busy(&asking.cx(), question.clone()).unwrap().busy;
    assert!(busy.iter().any(|busy| busy.start.to_string() == "2026-06-01T10:00:00.000Z"), "{busy:?}");
    let stranger = FreeBusyRequest { email: Some("nobody@nowhere.example".into()), ..question };
    let failure = Dav::free_busy(&asking.cx(), stranger).unwrap_err();
    assert!([code::NOT_FOUND, code::FORBIDDEN].contains(&failure.code.as_str()), "{failure:?}");
    Dav::delete_calendar(&asked.cx(), whole(&calendar)).unwrap();
}

/// The lines of other clients survive a change of an event's title, on the server too.
#[test]
fn an_event_keeps_what_other_clients_wrote() {
    each("t11", |session| {
        let calendar = session.calendar("faithful");
        let id = session.put(format!("{calendar}faithful.ics"), EVENT, &fixture("faithful.ics"));
        let source = Dav::get_event(&session.cx(), reference(&calendar, &id)).unwrap().sources.remove(0);
        let mut changed: Event = source.items[0].body.read().unwrap();
        changed.title = Some("A new title".into());
        let (if_match, scope) = (source.etag.clone(), RecurrenceScope::All);
        let target = EventTarget { source: Some(id.clone()), if_match, scope, ..EventTarget::default() };
        let args = write_event(&calendar, target, changed, &["title"]);
        let mutated = Dav::update_event(&session.cx().keyed("title"), args).unwrap().sources.remove(0);
        let read: Event = mutated.items[0].body.read().unwrap();
        assert_eq!((read.title.as_deref(), mutated.items.len()), (Some("A new title"), source.items.len()));
        let lines = session.lines(&id, "*/*", &[]).join("\n");
        for kept in
            ["X-WR-NOTE", "X-EVOLUTION-ALARM-UID:alarm-1", "RELATED-TO", "X-MOZ-GENERATION:3", "CATEGORIES"]
        {
            assert!(lines.contains(kept), "{}: {kept} is gone from\n{lines}", session.name);
        }
        Dav::delete_calendar(&session.cx(), whole(&calendar)).unwrap();
    });
}

/// The same for the title of a task.
#[test]
fn a_task_keeps_what_other_clients_wrote() {
    let clients =
        ["apple", "nextcloud", "outlook", "duration", "days", "thunderbird", "tasks-org", "recurring"];
    let written = ["SUMMARY", "DTSTAMP", "LAST-MODIFIED", "SEQUENCE"];
    each("alice", |session| {
        let body = TaskList { name: "faithful".into(), ..TaskList::default() };
        let list = Dav::create_list(&session.cx().keyed(&key("list")), named(body)).unwrap().item.unwrap();
        for name in clients {
            let text = fixture(&format!("tasks/{name}.ics"));
            let id = session.put(format!("{list}{name}.ics"), EVENT, &text);
            // Compared with what the server made of it, not with what it was given.
            let stored = session.lines(&id, "*/*", &written);
            let source = Dav::get_task(&session.cx(), reference(&list, &id)).unwrap().sources.remove(0);
            let mut task: Task = source.items[0].body.read().unwrap();
            task.title = "A new title".into();
            let args = ItemWrite { strict: true, ..change(&list, &source, task.clone(), "title") };
            let changed = Dav::update_task(&session.cx(), args).unwrap().sources.remove(0);
            let read: Task = changed.items[0].body.read().unwrap();
            assert_eq!(read, task, "{}: {name}", session.name);
            assert_eq!(session.lines(&id, "*/*", &written), stored, "{}: {name}", session.name);
        }
        Dav::delete_list(&session.cx(), whole(&list)).unwrap();
    });
}

/// The same for the note of a contact, in the version of vCard that it was written in.
#[test]
fn a_contact_keeps_what_other_clients_wrote() {
    let cards = [("apple", "text/vcard"), ("office", "text/vcard"), ("nextcloud", "text/vcard; version=4.0")];
    each("t11", |session| {
        let body = ContactBook { name: "faithful".into(), ..ContactBook::default() };
        let book = Dav::create_book(&session.cx().keyed(&key("book")), named(body)).unwrap().item.unwrap();
        for (name, accept) in cards {
            let text = fixture(&format!("{name}.vcf"));
            let id = session.put(format!("{book}{name}.vcf"), "text/vcard; charset=utf-8", &text);
            let before = session.lines(&id, accept, &["NOTE", "REV"]);
            let source = Dav::get_contact(&session.cx(), reference(&book, &id)).unwrap().sources.remove(0);
            let mut contact: Contact = source.items[0].body.read().unwrap();
            contact.notes = Some("A new note".into());
            let write = change(&book, &source, contact, "notes");
            let args = ContactWrite { write, ..ContactWrite::default() };
            let changed = Dav::update_contact(&session.cx(), args).unwrap().sources.remove(0);
            let read: Contact = changed.items[0].body.read().unwrap();
            assert_eq!(read.notes.as_deref(), Some("A new note"));
            assert_eq!(session.lines(&id, accept, &["NOTE", "REV"]), before, "{}: {name}", session.name);
            assert!(session.lines(&id, accept, &[]).join("\n").contains("A new note"), "{name}");
        }
        Dav::delete_book(&session.cx(), whole(&book)).unwrap();
    });
}
