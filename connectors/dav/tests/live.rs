//! The connector against real servers: Radicale and Cyrus, where the environment says that they are up (`PEERS_UP`,
//! `RADICALE_URL`, `CYRUS_URL`). Each test makes a calendar of its own and deletes it.
//!
//! Without servers the tests say that they did not run; with `SWITCHBOARD_REQUIRE_PEERS=1` that is a failure.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod servers;

use std::sync::atomic::{AtomicU32, Ordering};

use connector_dav::Dav;
use connector_sdk::testing::{Credentials, Live};
use connector_sdk::{Answer, Calendar as _, Context, Failure, Lifecycle as _, code, http};
use model::calendar::{
    Attendee, Calendar, Event, EventStatus, EventType, Reminder, ReminderMethod, Reminders, ResponseStatus,
    ShowAs,
};
use model::wire::calendar::*;
use model::wire::{ChangesRequest, CollectionDelete, CollectionWrite, Mutated, Source, SourceRef, Sources};
use servers::{Session, servers};

impl Session {
    fn calendar(&self, name: &str) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let key = format!("{name} {} {}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let calendar = Calendar { name: name.into(), ..Calendar::default() };
        let args =
            CollectionWrite { body: calendar, changed: vec!["name".into()], ..CollectionWrite::default() };
        Dav::create_calendar(&self.cx().keyed(&key), args).unwrap().item.unwrap()
    }

    fn drop_calendar(&self, calendar: &str) {
        let args = CollectionDelete { source: calendar.into(), ..CollectionDelete::default() };
        Dav::delete_calendar(&self.cx(), args).unwrap();
    }

    /// Stores a resource as another client would.
    fn put(&self, calendar: &str, name: &str, text: &str) -> String {
        let id = format!("{calendar}{name}");
        let put = http::Request::put(self.url(&id)).body("text/calendar; charset=utf-8", text);
        self.cx().send_ok(put, "a fixture").unwrap();
        id
    }

    fn create(&self, calendar: &str, key: &str, event: Event, changed: &[&str]) -> Mutated {
        Dav::create_event(&self.cx().keyed(key), write(calendar, EventTarget::default(), event, changed))
            .unwrap()
    }

    fn update(
        &self,
        calendar: &str,
        target: EventTarget,
        event: Event,
        changed: &[&str],
    ) -> Result<Mutated, Failure> {
        Dav::update_event(&self.cx().keyed("update"), write(calendar, target, event, changed))
    }

    fn delete(&self, calendar: &str, target: EventTarget) -> Result<Mutated, Failure> {
        let args =
            EventDelete { collection: calendar.into(), time_zone: zone(), target, ..EventDelete::default() };
        Dav::delete_event(&self.cx(), args)
    }

    fn changes(
        &self,
        calendar: &str,
        cursor: Option<String>,
        limit: u32,
    ) -> Result<Answer<Sources>, Failure> {
        let args = ChangesRequest {
            collection: Some(calendar.into()),
            time_zone: zone(),
            limit,
            ..ChangesRequest::default()
        };
        Dav::changes(&self.cx().at(cursor), args)
    }

    /// All pages from a cursor on; their number, their sources, and the last cursor.
    fn drain(
        &self,
        calendar: &str,
        cursor: Option<String>,
        limit: u32,
    ) -> (usize, Vec<Source>, String, bool) {
        let (mut pages, mut all, mut cursor, mut enumeration) = (0, Vec::new(), cursor, false);
        loop {
            let answer = self.changes(calendar, cursor, limit).unwrap();
            pages += 1;
            assert!(pages < 100, "{}: the pages never end", self.name);
            enumeration |= answer.body.enumeration;
            all.extend(answer.body.sources);
            cursor = answer.cursor;
            if !answer.more {
                return (pages, all, cursor.unwrap(), enumeration);
            }
        }
    }
}

fn zone() -> Option<String> {
    Some("Europe/Berlin".into())
}

fn write(calendar: &str, target: EventTarget, event: Event, changed: &[&str]) -> EventWrite {
    let changed = changed.iter().map(|name| (*name).to_owned()).collect();
    EventWrite {
        collection: calendar.into(),
        time_zone: zone(),
        target,
        event,
        changed,
        ..EventWrite::default()
    }
}

fn event(title: &str, start: &str, end: &str) -> Event {
    Event {
        title: Some(title.into()),
        start: start.parse().unwrap(),
        end: end.parse().unwrap(),
        time_zone: "Europe/Berlin".into(),
        ..Event::default()
    }
}

fn target(source: &Source) -> EventTarget {
    EventTarget {
        source: Some(source.external_id.clone()),
        if_match: source.etag.clone(),
        scope: RecurrenceScope::All,
        ..EventTarget::default()
    }
}

fn instance(source: &Source, recurrence_id: &str, scope: RecurrenceScope) -> EventTarget {
    EventTarget { recurrence_id: Some(recurrence_id.into()), scope, ..target(source) }
}

fn body(source: &Source, at: usize) -> Event {
    assert_eq!(source.error, None);
    source.items[at].body.read().unwrap()
}

fn series(session: &Session, calendar: &str, key: &str) -> Source {
    let mut daily = event("Stand-up", "2026-03-23T08:00:00Z", "2026-03-23T08:15:00Z");
    daily.recurrence = vec!["RRULE:FREQ=DAILY;COUNT=10".into()];
    let fields = ["title", "start", "end", "timeZone", "recurrence"];
    session.create(calendar, key, daily, &fields).sources.remove(0)
}

fn each(test: impl Fn(&Session)) {
    servers::each("t11", test);
}

/// From a bare server URL to the account, its home and what the server can do; wrong passwords have their own failure.
#[test]
fn an_account_is_found_from_the_servers_url() {
    for server in servers() {
        let session = Session::open(&server, "t11");
        assert!(session.account.external_account_id.contains("t11"), "{:?}", session.account);
        assert_eq!(session.account.surfaces, ["calendar", "contacts", "tasks"]);
        let scheduling = Dav::features(&session.cx()).unwrap().scheduling;
        assert_eq!(scheduling, server.name == "cyrus");
        let expected = (server.name == "cyrus").then_some("t11@cyrus.test");
        assert_eq!(session.account.email.as_deref(), expected);

        let wrong = Live::new(Credentials::Basic { username: "t11".into(), password: "wrong".into() });
        let failure = Dav::check(&Context::new(&wrong, session.connection.clone())).unwrap_err();
        assert_eq!(failure.code, code::AUTH_EXPIRED, "{}: {failure:?}", server.name);
    }
}

/// A calendar is made, found among the others, changed and deleted; making it again under the same key finds the first.
#[test]
fn calendars_are_made_changed_and_deleted() {
    each(|session| {
        let key = format!("calendars {}", std::process::id());
        let calendar = Calendar {
            name: "Trips & <tours>".into(),
            description: Some("Away".into()),
            time_zone: Some("America/New_York".into()),
            color: Some("#1e90ff".into()),
            ..Calendar::default()
        };
        let changed: Vec<String> = ["name", "description", "timeZone", "color"].map(String::from).to_vec();
        let args = CollectionWrite { body: calendar.clone(), changed, ..CollectionWrite::default() };
        let id = Dav::create_calendar(&session.cx().keyed(&key), args.clone()).unwrap().item.unwrap();
        assert_eq!(
            Dav::create_calendar(&session.cx().keyed(&key), args.clone()).unwrap().item.as_ref(),
            Some(&id)
        );

        let listed = Dav::list_calendars(&session.cx(), ChangesRequest::default()).unwrap().body;
        assert!(listed.enumeration);
        let find = |listed: &Sources| -> Option<Calendar> {
            let source = listed.sources.iter().find(|source| source.external_id == id)?;
            Some(source.items[0].body.read().unwrap())
        };
        let found = find(&listed).unwrap();
        assert_eq!((found.name, found.description), (calendar.name, calendar.description));
        assert_eq!((found.time_zone, found.color), (calendar.time_zone, calendar.color));
        assert!(found.is_owned && !found.read_only);
        let primary = listed
            .sources
            .iter()
            .filter(|source| source.items[0].body.read::<serde_json::Value>().unwrap()["isPrimary"] == true)
            .count();
        assert_eq!(primary, 1, "exactly one calendar is the default");

        let renamed = Calendar { name: "Tours".into(), description: None, ..Calendar::default() };
        let changed = vec!["name".into(), "description".into()];
        let args = CollectionWrite { source: Some(id.clone()), body: renamed, changed, if_match: None };
        let mutated = Dav::update_calendar(&session.cx(), args).unwrap();
        assert_eq!(mutated.sources[0].items[0].body.read::<serde_json::Value>().unwrap()["name"], "Tours");
        assert_eq!(
            mutated.sources[0].items[0].body.read::<serde_json::Value>().unwrap()["description"],
            serde_json::Value::Null
        );

        session.drop_calendar(&id);
        session.drop_calendar(&id);
        let listed = Dav::list_calendars(&session.cx(), ChangesRequest::default()).unwrap().body;
        assert!(find(&listed).is_none());
    });
}

/// An event comes back as it was sent; a repeated create finds the first attempt; a taken UID is reported.
#[test]
fn an_event_is_created_once_and_reads_back() {
    each(|session| {
        let calendar = session.calendar("create");
        let mut lunch =
            event("Lunch, with; \"all\" & <more>", "2026-06-01T10:00:00Z", "2026-06-01T11:30:00Z");
        lunch.description = Some("First line\nsecond \\ line".into());
        lunch.location = Some("Café Übersee".into());
        lunch.show_as = ShowAs::Free;
        lunch.status = EventStatus::Tentative;
        lunch.reminders = Reminders {
            use_default: false,
            overrides: vec![Reminder { method: ReminderMethod::Popup, minutes_before: 15 }],
        };
        let fields =
            ["title", "start", "end", "timeZone", "description", "location", "showAs", "status", "reminders"];
        let first = session.create(&calendar, "k1", lunch.clone(), &fields);
        let source = &first.sources[0];
        let read = body(source, 0);
        assert_eq!(
            (&read.title, &read.description, &read.location),
            (&lunch.title, &lunch.description, &lunch.location)
        );
        assert_eq!(
            (read.start, read.end, read.time_zone.as_str()),
            (lunch.start, lunch.end, "Europe/Berlin")
        );
        assert_eq!(
            (read.show_as, read.status, &read.reminders),
            (lunch.show_as, lunch.status, &lunch.reminders)
        );
        assert_eq!((read.event_type, read.busy), (EventType::Single, false));
        assert!(source.etag.is_some());

        let again = session.create(&calendar, "k1", lunch.clone(), &fields);
        assert_eq!(again.item, first.item);
        assert_eq!(session.drain(&calendar, None, 0).1.len(), 1);

        let taken = Event { i_cal_uid: read.i_cal_uid, ..lunch };
        let failure = Dav::create_event(
            &session.cx().keyed("k2"),
            write(&calendar, EventTarget::default(), taken, &fields),
        );
        assert_eq!(failure.unwrap_err().code, code::ALREADY_EXISTS, "{}", session.name);
        session.drop_calendar(&calendar);
    });
}

/// All-day events, events without length and UTC times keep their kind.
#[test]
fn days_moments_and_utc_times_keep_their_kind() {
    each(|session| {
        let calendar = session.calendar("kinds");
        let day = Event {
            title: Some("Holiday".into()),
            all_day: true,
            start_date: Some("2026-05-01".into()),
            end_date: Some("2026-05-03".into()),
            ..Event::default()
        };
        let read = body(
            &session.create(&calendar, "day", day, &["title", "allDay", "startDate", "endDate"]).sources[0],
            0,
        );
        assert_eq!(
            (read.all_day, read.start_date.as_deref(), read.end_date.as_deref()),
            (true, Some("2026-05-01"), Some("2026-05-03"))
        );
        assert_eq!(read.start.to_string(), "2026-04-30T22:00:00.000Z");

        let moment = event("Call", "2026-05-01T10:00:00Z", "2026-05-01T10:00:00Z");
        let args = write(&calendar, EventTarget::default(), moment, &["title", "start", "end"]);
        match (session.name, Dav::create_event(&session.cx().keyed("moment"), args)) {
            // Cyrus requires a duration of every event; the caller gets a failure of the provider.
            ("cyrus", refused) => assert_eq!(refused.unwrap_err().code, code::INVALID),
            (_, made) => {
                let read = body(&made.unwrap().sources[0], 0);
                assert_eq!(read.start, read.end);
            }
        }

        let mut utc = event("Launch", "2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z");
        utc.time_zone = "UTC".into();
        let read = body(
            &session.create(&calendar, "utc", utc, &["title", "start", "end", "timeZone"]).sources[0],
            0,
        );
        assert_eq!(
            (read.time_zone.as_str(), read.start.to_string()),
            ("UTC", "2026-05-01T10:00:00.000Z".into())
        );
        session.drop_calendar(&calendar);
    });
}

/// A change needs the etag it is based on; a stale one is a conflict, and nothing is written.
#[test]
fn a_stale_etag_is_a_conflict() {
    each(|session| {
        let calendar = session.calendar("etag");
        let fields = ["title", "start", "end", "timeZone"];
        let old = session
            .create(&calendar, "k", event("A", "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z"), &fields)
            .sources
            .remove(0);
        let changed = event("B", "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z");
        let new =
            session.update(&calendar, target(&old), changed.clone(), &["title"]).unwrap().sources.remove(0);
        assert_ne!(old.etag, new.etag);
        assert_eq!(
            session.update(&calendar, target(&old), changed, &["title"]).unwrap_err().code,
            code::CONFLICT
        );
        assert_eq!(session.delete(&calendar, target(&old)).unwrap_err().code, code::CONFLICT);
        let read =
            SourceRef { collection: calendar.clone(), source: new.external_id.clone(), time_zone: zone() };
        assert_eq!(
            body(&Dav::get_event(&session.cx(), read.clone()).unwrap().sources[0], 0).title.as_deref(),
            Some("B")
        );
        session.delete(&calendar, target(&new)).unwrap();
        assert_eq!(Dav::get_event(&session.cx(), read).unwrap_err().code, code::NOT_FOUND);
        session.drop_calendar(&calendar);
    });
}

/// One instance moves, one goes; the rest of the series stays.
#[test]
fn instances_are_changed_and_taken_out() {
    each(|session| {
        let calendar = session.calendar("instances");
        let source = series(session, &calendar, "k");
        // After the clocks went forward on the 29th: 09:00 local is 07:00Z.
        let mut moved = body(&source, 0);
        moved.title = Some("Stand-up, later".into());
        moved.start = "2026-03-30T09:00:00Z".parse().unwrap();
        moved.end = "2026-03-30T09:15:00Z".parse().unwrap();
        let at = instance(&source, "2026-03-30T09:00:00", RecurrenceScope::This);
        let mutated = session.update(&calendar, at, moved, &["title", "start", "end"]).unwrap();
        let source = &mutated.sources[0];
        assert_eq!(source.items.len(), 2);
        assert_eq!(mutated.item.as_ref(), Some(&source.items[1].external_id));
        let exception = body(source, 1);
        assert_eq!(exception.event_type, EventType::Exception);
        assert_eq!(exception.recurrence_id.as_deref(), Some("2026-03-30T09:00:00"));
        assert_eq!(exception.original_start.unwrap().to_string(), "2026-03-30T07:00:00.000Z");
        assert_eq!(exception.start.to_string(), "2026-03-30T09:00:00.000Z");
        assert_eq!(source.items[1].series_external_id.as_ref(), Some(&source.external_id));

        let at = instance(source, "2026-03-24T09:00:00", RecurrenceScope::This);
        let source = session.delete(&calendar, at).unwrap().sources.remove(0);
        assert_eq!(
            body(&source, 0).recurrence,
            ["RRULE:FREQ=DAILY;COUNT=10", "EXDATE;TZID=Europe/Berlin:20260324T090000"]
        );
        let at = instance(&source, "2026-03-30T09:00:00", RecurrenceScope::This);
        let source = session.delete(&calendar, at).unwrap().sources.remove(0);
        assert_eq!(source.items.len(), 1, "the changed instance goes with its VEVENT");

        let missing = instance(&source, "2026-03-24T09:00:00", RecurrenceScope::This);
        assert_eq!(session.delete(&calendar, missing).unwrap_err().code, code::NOT_FOUND);
        session.drop_calendar(&calendar);
    });
}

/// A series is cut in two, and a repeated attempt finds both halves.
#[test]
fn this_and_following_makes_a_series_of_its_own() {
    each(|session| {
        let calendar = session.calendar("split");
        let source = series(session, &calendar, "k");
        let mut kept = body(&source, 0);
        kept.title = Some("kept".into());
        let at = instance(&source, "2026-03-31T09:00:00", RecurrenceScope::This);
        let source = session.update(&calendar, at, kept, &["title"]).unwrap().sources.remove(0);

        let mut rest = body(&source, 0);
        rest.title = Some("Stand-up in the afternoon".into());
        rest.start = "2026-03-28T13:00:00Z".parse().unwrap();
        rest.end = "2026-03-28T13:15:00Z".parse().unwrap();
        let at = instance(&source, "2026-03-28T09:00:00", RecurrenceScope::ThisAndFollowing);
        let fields = ["title", "start", "end"];
        let mutated = session.update(&calendar, at.clone(), rest.clone(), &fields).unwrap();
        assert_eq!(mutated.sources.len(), 2);
        let (old, new) = (body(&mutated.sources[0], 0), body(&mutated.sources[1], 0));
        assert_eq!(old.recurrence, ["RRULE:FREQ=DAILY;UNTIL=20260328T075959Z"]);
        assert_eq!(new.recurrence, ["RRULE:FREQ=DAILY;COUNT=5"]);
        assert_eq!(
            (new.title.as_deref(), new.start.to_string()),
            (Some("Stand-up in the afternoon"), "2026-03-28T13:00:00.000Z".into())
        );
        assert_ne!(old.i_cal_uid, new.i_cal_uid);
        assert_eq!(mutated.item.as_ref(), Some(&mutated.sources[1].external_id));
        // The changed instance goes along.
        assert!(mutated.warnings.is_empty(), "{:?}", mutated.warnings);
        let kept = body(&mutated.sources[1], 1);
        assert_eq!(
            (kept.title.as_deref(), kept.recurrence_id.as_deref()),
            (Some("kept"), Some("2026-03-31T14:00:00"))
        );

        let again = session.update(&calendar, at, rest, &fields).unwrap();
        assert_eq!(again.item, mutated.item);
        assert_eq!(session.drain(&calendar, None, 0).1.len(), 2);

        let at = instance(&mutated.sources[1], "2026-03-30T15:00:00", RecurrenceScope::ThisAndFollowing);
        let capped = session.delete(&calendar, at).unwrap();
        assert_eq!(body(&capped.sources[0], 0).recurrence.len(), 1);
        let at = instance(&capped.sources[0], "2026-03-28T14:00:00", RecurrenceScope::ThisAndFollowing);
        assert!(session.delete(&calendar, at).unwrap().sources[0].deleted);
        session.drop_calendar(&calendar);
    });
}

/// Changes are reported once, deletions too, in pages; a cursor that the server forgot is reported as such.
#[test]
fn changes_are_told_in_pages_and_deletions_with_them() {
    each(|session| {
        let calendar = session.calendar("sync");
        let fields = ["title", "start", "end"];
        let made: Vec<Source> = (0..7)
            .map(|n| {
                let one = event(&format!("E{n}"), "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z");
                session.create(&calendar, &format!("k{n}"), one, &fields).sources.remove(0)
            })
            .collect();
        let (pages, all, cursor, enumeration) = session.drain(&calendar, None, 3);
        assert!(pages >= 3 && enumeration, "{}: {pages} pages", session.name);
        let mut titles: Vec<_> = all.iter().map(|source| body(source, 0).title.unwrap()).collect();
        titles.sort();
        titles.dedup();
        assert_eq!(titles, ["E0", "E1", "E2", "E3", "E4", "E5", "E6"]);

        let (_, none, cursor, enumeration) = session.drain(&calendar, Some(cursor), 3);
        assert!(none.is_empty() && !enumeration);

        for source in &made[..4] {
            session.delete(&calendar, target(source)).unwrap();
        }
        session
            .update(
                &calendar,
                target(&made[5]),
                event("E5 again", "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z"),
                &["title"],
            )
            .unwrap();
        let (pages, all, _, enumeration) = session.drain(&calendar, Some(cursor), 2);
        assert!(pages >= 3 && !enumeration, "{}: {pages} pages", session.name);
        let mut gone: Vec<_> =
            all.iter().filter(|source| source.deleted).map(|source| source.external_id.clone()).collect();
        let mut expected: Vec<_> = made[..4].iter().map(|source| source.external_id.clone()).collect();
        gone.sort();
        expected.sort();
        assert_eq!(gone, expected, "{}", session.name);
        let there: Vec<_> = all
            .iter()
            .filter(|source| !source.deleted)
            .map(|source| body(source, 0).title.unwrap())
            .collect();
        assert_eq!(there, ["E5 again"]);

        let unknown = r#"{"f":"data:,nonsense"}"#.to_owned();
        assert_eq!(session.changes(&calendar, Some(unknown), 0).unwrap_err().code, code::CURSOR_EXPIRED);
        assert_eq!(
            session.changes(&calendar, Some("nonsense".into()), 0).unwrap_err().code,
            code::CURSOR_EXPIRED
        );
        session.drop_calendar(&calendar);
        assert_eq!(session.changes(&calendar, None, 0).unwrap_err().code, code::NOT_FOUND);
    });
}

/// The server itself tells when an own calendar is busy.
#[test]
fn busy_times_come_from_the_server() {
    each(|session| {
        let calendar = session.calendar("busy");
        series(session, &calendar, "series");
        let mut free = event("Free", "2026-03-25T12:00:00Z", "2026-03-25T13:00:00Z");
        free.show_as = ShowAs::Free;
        session.create(&calendar, "free", free, &["title", "start", "end", "showAs"]);
        let args = FreeBusyRequest {
            collections: vec![calendar.clone()],
            start: "2026-03-25T00:00:00Z".parse().unwrap(),
            end: "2026-03-27T00:00:00Z".parse().unwrap(),
            email: None,
        };
        let mut busy: Vec<_> = Dav::free_busy(&session.cx(), args)
            .unwrap()
            .busy
            .iter()
            .map(|b| format!("{} {}", b.start, b.end))
            .collect();
        busy.sort();
        let expected = [
            "2026-03-25T08:00:00.000Z 2026-03-25T08:15:00.000Z",
            "2026-03-26T08:00:00.000Z 2026-03-26T08:15:00.000Z",
        ];
        assert_eq!(busy, expected, "{}", session.name);
        session.drop_calendar(&calendar);
    });
}

/// Invitations: the organizer cannot answer, an attendee's answer is written, a stranger gets a failure.
#[test]
fn an_attendee_answers_and_others_cannot() {
    each(|session| {
        let calendar = session.calendar("rsvp");
        let mut session_cx = session.connection.clone();
        session_cx.addresses = vec!["t11@cyrus.test".into()];
        let cx = || Context::new(&session.host, session_cx.clone()).keyed("k");
        let person = |email: &str| Attendee { email: email.into(), ..Attendee::default() };
        let mut meeting = event("Meeting", "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z");
        meeting.attendees = vec![person("t12@cyrus.test"), person("guest@example.test")];
        let fields = ["title", "start", "end", "attendees"];
        let mut args = write(&calendar, EventTarget::default(), meeting, &fields);
        args.notify = Notify::None;
        let source = Dav::create_event(&cx(), args).unwrap().sources.remove(0);
        let read = body(&source, 0);
        assert!(read.organizer.as_ref().is_some_and(|person| person.is_self), "{read:?}");
        let answer = |source: &Source| EventRespond {
            collection: calendar.clone(),
            time_zone: zone(),
            target: target(source),
            response: ResponseStatus::Accepted,
            comment: None,
            notify_organizer: false,
            strict: false,
        };
        let failure = Dav::respond(&cx(), answer(&source)).unwrap_err();
        assert_eq!(failure.detail.unwrap()["reason"], "organizer_cannot_rsvp");

        let stranger = event("Alone", "2026-06-02T10:00:00Z", "2026-06-02T11:00:00Z");
        let args = write(&calendar, EventTarget::default(), stranger, &["title", "start", "end"]);
        let source = Dav::create_event(&cx().keyed("k2"), args).unwrap().sources.remove(0);
        let failure = Dav::respond(&cx(), answer(&source)).unwrap_err();
        assert_eq!(failure.detail.unwrap()["reason"], "not_an_attendee");

        let invitation = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:invitation\r\n\
            DTSTAMP:20260101T000000Z\r\nDTSTART:20260603T100000Z\r\nDTEND:20260603T110000Z\r\nSUMMARY:Invited\r\n\
            ORGANIZER:mailto:boss@example.test\r\nATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE:mailto:t11@cyrus.test\r\n\
            ATTENDEE;PARTSTAT=ACCEPTED:mailto:boss@example.test\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let id = session.put(&calendar, "invitation.ics", invitation);
        let read = SourceRef { collection: calendar.clone(), source: id, time_zone: zone() };
        let source = Dav::get_event(&cx(), read).unwrap().sources.remove(0);
        assert_eq!(body(&source, 0).my_response, Some(ResponseStatus::NeedsAction));
        let answered = Dav::respond(&cx(), answer(&source)).unwrap();
        assert_eq!(
            body(&answered.sources[0], 0).my_response,
            Some(ResponseStatus::Accepted),
            "{}",
            session.name
        );
        session.drop_calendar(&calendar);
    });
}

/// Another person's busy times come through the scheduling outbox; a stranger has none.
#[test]
fn busy_times_of_others_come_through_the_outbox() {
    let Some(server) = servers().into_iter().find(|server| server.name == "cyrus") else { return };
    let (asking, asked) = (Session::open(&server, "t12"), Session::open(&server, "t13"));
    assert!(Dav::features(&asking.cx()).unwrap().free_busy_by_email);
    let calendar = asked.calendar("asked");
    asked.create(
        &calendar,
        "k",
        event("Busy", "2026-06-01T10:00:00Z", "2026-06-01T11:00:00Z"),
        &["title", "start", "end"],
    );
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
    asked.drop_calendar(&calendar);
}

/// The bytes of another client survive a change of the title, on the server too.
#[test]
fn a_change_keeps_what_other_clients_wrote() {
    each(|session| {
        let calendar = session.calendar("faithful");
        let text = include_str!("../fixtures/faithful.ics").replace("\r\n", "\n").replace('\n', "\r\n");
        let id = session.put(&calendar, "faithful.ics", &text);
        let (_, sources, _, _) = session.drain(&calendar, None, 0);
        let mut changed = body(&sources[0], 0);
        changed.title = Some("A new title".into());
        let mutated = session.update(&calendar, target(&sources[0]), changed.clone(), &["title"]).unwrap();
        assert_eq!(body(&mutated.sources[0], 0).title.as_deref(), Some("A new title"));
        assert_eq!(mutated.sources[0].items.len(), sources[0].items.len());
        let raw = session.cx().send_ok(http::Request::get(session.url(&id)), "a fixture").unwrap();
        let unfolded = raw.text().replace("\r\n ", "").replace("\n ", "");
        for kept in
            ["X-WR-NOTE", "X-EVOLUTION-ALARM-UID:alarm-1", "RELATED-TO", "X-MOZ-GENERATION:3", "CATEGORIES"]
        {
            assert!(unfolded.contains(kept), "{}: {kept} is gone from\n{}", session.name, raw.text());
        }
        session.drop_calendar(&calendar);
    });
}
