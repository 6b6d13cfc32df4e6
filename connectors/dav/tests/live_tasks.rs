//! The tasks surface against real servers (`servers`). Each test makes a list of its own and deletes it.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod servers;

use std::sync::atomic::{AtomicU32, Ordering};

use connector_dav::Dav;
use connector_sdk::testing::{Credentials, Live};
use connector_sdk::{Answer, Calendar as _, Context, Failure, Lifecycle as _, Tasks as _, code, http};
use model::tasks::{Assignee, Task, TaskList, TaskPriority, TaskStatus};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, ItemDelete, ItemWrite, Mutated, Source, SourceRef,
    Sources,
};

use servers::{Session, servers};

fn each(test: impl Fn(&Session)) {
    servers::each("alice", test);
}

fn names(changed: &[&str]) -> Vec<String> {
    changed.iter().map(|name| (*name).to_owned()).collect()
}

impl Session {
    fn list(&self, name: &str) -> String {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let key = format!("{name} {} {}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let body = TaskList { name: name.into(), ..TaskList::default() };
        let args = CollectionWrite { body, changed: names(&["name"]), ..CollectionWrite::default() };
        Dav::create_list(&self.cx().keyed(&key), args).unwrap().item.unwrap()
    }

    fn delete_list(&self, list: &str) -> Result<Mutated, Failure> {
        Dav::delete_list(&self.cx(), CollectionDelete { source: list.into(), ..CollectionDelete::default() })
    }

    fn write(&self, list: &str, source: Option<&Source>, task: &Task, changed: &[&str]) -> ItemWrite<Task> {
        ItemWrite {
            collection: list.into(),
            time_zone: Some("Europe/Berlin".into()),
            source: source.map(|source| source.external_id.clone()),
            body: task.clone(),
            changed: names(changed),
            if_match: source.and_then(|source| source.etag.clone()),
            strict: true,
        }
    }

    fn create(&self, list: &str, key: &str, task: &Task, changed: &[&str]) -> Source {
        let args = self.write(list, None, task, changed);
        let mut mutated = Dav::create_task(&self.cx().keyed(key), args).unwrap();
        assert!(mutated.warnings.is_empty(), "{}: {:?}", self.name, mutated.warnings);
        assert_eq!(mutated.item.as_ref(), Some(&mutated.sources[0].external_id));
        mutated.sources.remove(0)
    }

    fn update(&self, list: &str, source: &Source, task: &Task, changed: &[&str]) -> Result<Source, Failure> {
        Dav::update_task(&self.cx(), self.write(list, Some(source), task, changed))
            .map(|mut mutated| mutated.sources.remove(0))
    }

    fn delete(&self, list: &str, source: &Source) -> Result<Mutated, Failure> {
        let args = ItemDelete {
            collection: list.into(),
            source: source.external_id.clone(),
            if_match: source.etag.clone(),
        };
        Dav::delete_task(&self.cx(), args)
    }

    fn get(&self, list: &str, id: &str) -> Result<Source, Failure> {
        let args =
            SourceRef { collection: list.into(), source: id.into(), time_zone: Some("Europe/Berlin".into()) };
        Dav::get_task(&self.cx(), args).map(|mut sources| sources.sources.remove(0))
    }

    fn changes(&self, list: &str, cursor: Option<String>, limit: u32) -> Result<Answer<Sources>, Failure> {
        let args = ChangesRequest { collection: Some(list.into()), limit, ..ChangesRequest::default() };
        <Dav as connector_sdk::Tasks>::changes(&self.cx().at(cursor), args)
    }

    /// All pages from a cursor on; their number, their sources, the last cursor, and whether they are an enumeration.
    fn drain(
        &self,
        list: &str,
        mut cursor: Option<String>,
        limit: u32,
    ) -> (usize, Vec<Source>, String, bool) {
        let (mut pages, mut all, mut enumeration) = (0, Vec::new(), false);
        loop {
            let answer = self.changes(list, cursor, limit).unwrap();
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

    /// Stores a resource as another client would.
    fn put(&self, list: &str, name: &str, text: &str) -> String {
        let id = format!("{list}{name}");
        let put = http::Request::put(self.url(&id)).body("text/calendar; charset=utf-8", text);
        self.cx().send_ok(put, "a fixture").unwrap();
        id
    }

    /// A resource as the server has it, with lines unfolded.
    fn raw(&self, id: &str) -> String {
        let raw = self.cx().send_ok(http::Request::get(self.url(id)), "a fixture").unwrap();
        raw.text().replace("\r\n ", "").replace("\n ", "")
    }

    fn lists(&self) -> Vec<(String, TaskList)> {
        let listed = Dav::list_lists(&self.cx(), ChangesRequest::default()).unwrap().body;
        assert!(listed.enumeration);
        listed.sources.into_iter().map(|s| (s.external_id, s.items[0].body.read().unwrap())).collect()
    }
}

fn read(source: &Source) -> Task {
    assert_eq!(source.error, None);
    source.items[0].body.read().unwrap()
}

fn titled(title: &str) -> Task {
    Task { title: title.into(), ..Task::default() }
}

/// A list is made, found among the others, changed and deleted; making it again under the same key finds the first.
#[test]
fn lists_are_made_changed_and_deleted() {
    each(|session| {
        assert!(session.account.surfaces.iter().any(|surface| surface == "tasks"));
        let key = format!("lists {}", std::process::id());
        let body = TaskList {
            name: "Errands & <more>".into(),
            color: Some("#1e90ff".into()),
            sort_order: 7,
            ..TaskList::default()
        };
        let changed = names(&["name", "color", "sortOrder"]);
        let args = CollectionWrite { body, changed, ..CollectionWrite::default() };
        let made = Dav::create_list(&session.cx().keyed(&key), args.clone()).unwrap();
        assert!(made.warnings.is_empty(), "{}: {:?}", session.name, made.warnings);
        let id = made.item.unwrap();
        let again = Dav::create_list(&session.cx().keyed(&key), args).unwrap().item;
        assert_eq!(again.as_ref(), Some(&id));

        let find = || session.lists().into_iter().find(|(found, _)| *found == id).map(|(_, list)| list);
        let found = find().unwrap();
        assert_eq!((found.name.as_str(), found.color.as_deref()), ("Errands & <more>", Some("#1e90ff")));
        assert_eq!(
            (found.sort_order, found.is_owner, found.is_shared, found.read_only),
            (7, true, false, false)
        );
        let calendars = Dav::list_calendars(&session.cx(), ChangesRequest::default()).unwrap().body;
        assert!(
            calendars.sources.iter().all(|source| source.external_id != id),
            "a list of tasks is no calendar"
        );

        let body = TaskList { name: "Errands".into(), color: None, ..TaskList::default() };
        let args = CollectionWrite {
            source: Some(id.clone()),
            body,
            changed: names(&["name", "color"]),
            if_match: None,
        };
        let mutated = Dav::update_list(&session.cx(), args).unwrap();
        let changed: TaskList = mutated.sources[0].items[0].body.read().unwrap();
        assert_eq!((changed.name.as_str(), changed.color, changed.sort_order), ("Errands", None, 7));

        assert!(session.delete_list(&id).unwrap().sources[0].deleted);
        session.delete_list(&id).unwrap();
        assert_eq!(find(), None);
    });
}

/// A collection for events and tasks is a calendar and a task list; each surface sees its own, and deleting the list is refused.
#[test]
fn a_collection_for_both_is_shown_as_both() {
    each(|session| {
        let home = session.connection.settings["calendarHomeUrl"].as_str().unwrap().trim_end_matches('/');
        let url = format!("{home}/both-{}/", std::process::id());
        let body = "<?xml version=\"1.0\"?><C:mkcalendar xmlns:D=\"DAV:\" xmlns:C=\"urn:ietf:params:xml:ns:caldav\"><D:set><D:prop>\
            <D:displayname>Both</D:displayname><C:supported-calendar-component-set><C:comp name=\"VEVENT\"/><C:comp name=\"VTODO\"/>\
            </C:supported-calendar-component-set></D:prop></D:set></C:mkcalendar>";
        let make = http::Request::new("MKCALENDAR", &url).body("application/xml; charset=utf-8", body);
        session.cx().send_ok(make, "a fixture").unwrap();
        let (id, _) = session.lists().into_iter().find(|(_, list)| list.name == "Both").unwrap();
        let calendars = Dav::list_calendars(&session.cx(), ChangesRequest::default()).unwrap().body;
        assert!(calendars.sources.iter().any(|source| source.external_id == id), "{}", session.name);

        let event = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:e1\r\nDTSTAMP:20260101T000000Z\r\n\
            DTSTART:20260603T100000Z\r\nDTEND:20260603T110000Z\r\nSUMMARY:Event\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let event = session.put(&id, "e1.ics", event);
        let task = session.create(&id, "k", &titled("Task"), &["title"]);
        let (_, tasks, _, _) = session.drain(&id, None, 0);
        let told: Vec<_> = tasks.iter().map(|source| source.external_id.as_str()).collect();
        assert_eq!(told, [task.external_id.as_str()], "{}", session.name);
        let args = ChangesRequest { collection: Some(id.clone()), ..ChangesRequest::default() };
        let events = <Dav as connector_sdk::Calendar>::changes(&session.cx(), args).unwrap().body.sources;
        assert_eq!(events.iter().map(|s| s.external_id.as_str()).collect::<Vec<_>>(), [event.as_str()]);

        let failure = session.delete_list(&id).unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["reason"]),
            (code::CONFLICT, &"invalid_state".into())
        );
        let args = CollectionDelete { source: id, ..CollectionDelete::default() };
        Dav::delete_calendar(&session.cx(), args).unwrap();
    });
}

/// A task comes back as it was sent; a repeated create finds the first attempt.
#[test]
fn a_task_is_created_once_and_reads_back() {
    each(|session| {
        let list = session.list("create");
        let wanted = Task {
            title: "Buy, with; \"all\" & <more>".into(),
            notes: Some("First line\nsecond \\ line".into()),
            status: TaskStatus::InProgress,
            priority: Some(TaskPriority::High),
            percent_complete: Some(40),
            start_date: Some("2026-06-01".into()),
            due_date: Some("2026-06-02".into()),
            due_time: Some("17:30".into()),
            time_zone: Some("America/New_York".into()),
            reminder_at: Some("2026-06-02T20:00:00Z".parse().unwrap()),
            categories: vec!["Haus; Hof".into(), "Übersee".into()],
            assignees: vec![Assignee {
                email: Some("guest@example.test".into()),
                name: Some("Guest; One".into()),
            }],
            position: Some("0000000000000000042".into()),
            ..Task::default()
        };
        let fields = [
            "title",
            "notes",
            "status",
            "priority",
            "percentComplete",
            "startDate",
            "dueDate",
            "dueTime",
            "timeZone",
            "reminderAt",
            "categories",
            "assignees",
            "position",
        ];
        let first = session.create(&list, "k1", &wanted, &fields);
        assert_eq!(read(&first), wanted, "{}", session.name);
        assert!(first.etag.is_some() && first.items[0].uid.is_some());
        let again = session.create(&list, "k1", &wanted, &fields);
        assert_eq!((&again.external_id, &again.etag), (&first.external_id, &first.etag));
        assert_eq!(session.drain(&list, None, 0).1.len(), 1);

        // Cyrus takes the comma inside a category for one between two, and the caller hears of it.
        let commas = Task { categories: vec!["Haus, Hof".into()], ..titled("Commas") };
        let args = session.write(&list, None, &commas, &["title", "categories"]);
        let made = Dav::create_task(&session.cx().keyed("k3"), args).unwrap();
        let told: Vec<_> =
            made.warnings.iter().map(|w| (w.code.as_str(), w.target.as_deref().unwrap())).collect();
        let expected = [("field_changed", "categories")];
        assert_eq!(told, if session.name == "cyrus" { &expected[..] } else { &[] });

        let day = Task { due_date: Some("2026-06-02".into()), ..titled("Day") };
        let source = session.create(&list, "k2", &day, &["title", "dueDate"]);
        assert_eq!(read(&source), day);
        session.delete_list(&list).unwrap();
    });
}

/// A stale version is a conflict, for changes and for deleting; a deleted task is not found, and deleted again without a failure.
#[test]
fn versions_are_kept_apart() {
    each(|session| {
        let list = session.list("versions");
        let old = session.create(&list, "k", &titled("A"), &["title"]);
        let new = session.update(&list, &old, &titled("B"), &["title"]).unwrap();
        assert_ne!(old.etag, new.etag);
        assert_eq!(session.update(&list, &old, &titled("C"), &["title"]).unwrap_err().code, code::CONFLICT);
        assert_eq!(session.delete(&list, &old).unwrap_err().code, code::CONFLICT);
        assert_eq!(read(&session.get(&list, &new.external_id).unwrap()).title, "B");
        assert!(session.delete(&list, &new).unwrap().sources[0].deleted);
        assert_eq!(session.get(&list, &new.external_id).unwrap_err().code, code::NOT_FOUND);
        let gone = Source { etag: None, ..new.clone() };
        assert!(session.delete(&list, &gone).unwrap().sources[0].deleted);
        assert_eq!(session.update(&list, &new, &titled("D"), &["title"]).unwrap_err().code, code::NOT_FOUND);

        let deferred = Task { status: TaskStatus::Deferred, ..titled("Later") };
        let args = session.write(&list, None, &deferred, &["title", "status"]);
        let failure = Dav::create_task(&session.cx().keyed("strict"), args).unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["field"]),
            (code::UNSUPPORTED, &"status".into())
        );
        assert_eq!(session.drain(&list, None, 0).1, [], "nothing was written");
        session.delete_list(&list).unwrap();
    });
}

/// Completing stamps, reopening takes the stamp away.
#[test]
fn a_task_is_completed_and_reopened() {
    each(|session| {
        let list = session.list("complete");
        let open = session.create(&list, "k", &titled("A"), &["title"]);
        let mut done = read(&open);
        done.status = TaskStatus::Completed;
        let closed = session.update(&list, &open, &done, &["status"]).unwrap();
        let mut closed_task = read(&closed);
        assert_eq!(closed_task.percent_complete, Some(100));
        assert!(closed_task.completed_at.is_some());
        closed_task.status = TaskStatus::NeedsAction;
        let reopened = read(&session.update(&list, &closed, &closed_task, &["status"]).unwrap());
        assert_eq!((reopened.status, reopened.completed_at), (TaskStatus::NeedsAction, None));
        assert_eq!(reopened.percent_complete, None);
        session.delete_list(&list).unwrap();
    });
}

/// A part names its whole by UID, moves elsewhere and becomes a task of its own.
#[test]
fn tasks_have_parts() {
    each(|session| {
        let list = session.list("parts");
        let parent = session.create(&list, "p", &titled("Whole"), &["title"]);
        let uid = parent.items[0].uid.clone();
        let part = Task { parent_id: uid.clone(), ..titled("Part") };
        let source = session.create(&list, "c", &part, &["title", "parentId"]);
        assert_eq!(read(&source).parent_id, uid);
        let (_, all, _, _) = session.drain(&list, None, 0);
        let found = all.iter().find(|found| found.external_id == source.external_id).unwrap();
        assert_eq!(read(found).parent_id, uid);
        let alone = session.update(&list, &source, &titled("Part"), &["parentId"]).unwrap();
        assert_eq!(read(&alone), titled("Part"));
        session.delete_list(&list).unwrap();
    });
}

/// Due dates change between days and times; what recurs begins somewhere.
#[test]
fn due_dates_and_rules_change() {
    each(|session| {
        let list = session.list("due");
        let mut task = Task { due_date: Some("2026-05-01".into()), ..titled("Due") };
        let mut source = session.create(&list, "k", &task, &["title", "dueDate"]);
        for (time, zone) in
            [(Some("09:00"), Some("Europe/Berlin")), (Some("09:00"), Some("UTC")), (None, None)]
        {
            task.due_time = time.map(str::to_owned);
            task.time_zone = zone.map(str::to_owned);
            source = session.update(&list, &source, &task, &["dueTime", "timeZone"]).unwrap();
            assert_eq!(read(&source), task, "{}", session.name);
        }
        task.start_date = Some("2026-05-01".into());
        task.recurrence = vec!["RRULE:FREQ=WEEKLY;BYDAY=FR".into()];
        source = session.update(&list, &source, &task, &["startDate", "recurrence"]).unwrap();
        assert_eq!(read(&source), task, "{}", session.name);
        task.recurrence.push("EXDATE;VALUE=DATE:20260508".into());
        source = session.update(&list, &source, &task, &["recurrence"]).unwrap();
        assert_eq!(read(&source), task);
        task.recurrence.clear();
        assert_eq!(read(&session.update(&list, &source, &task, &["recurrence"]).unwrap()), task);
        session.delete_list(&list).unwrap();
    });
}

/// Changes are reported once, deletions too, in pages; a cursor that the server forgot is reported as such.
#[test]
fn changes_are_told_in_pages_and_deletions_with_them() {
    each(|session| {
        let list = session.list("sync");
        let made: Vec<Source> = (0..7)
            .map(|n| session.create(&list, &format!("k{n}"), &titled(&format!("T{n}")), &["title"]))
            .collect();
        let (pages, all, cursor, enumeration) = session.drain(&list, None, 3);
        assert!(pages >= 3 && enumeration, "{}: {pages} pages", session.name);
        let mut titles: Vec<_> = all.iter().map(|source| read(source).title).collect();
        titles.sort();
        titles.dedup();
        assert_eq!(titles, ["T0", "T1", "T2", "T3", "T4", "T5", "T6"]);
        let (_, none, cursor, enumeration) = session.drain(&list, Some(cursor), 3);
        assert!(none.is_empty() && !enumeration);

        for source in &made[..4] {
            session.delete(&list, source).unwrap();
        }
        session.update(&list, &made[5], &titled("T5 again"), &["title"]).unwrap();
        let (pages, all, _, enumeration) = session.drain(&list, Some(cursor), 2);
        assert!(pages >= 3 && !enumeration, "{}: {pages} pages", session.name);
        let (gone, there): (Vec<&Source>, Vec<&Source>) = all.iter().partition(|source| source.deleted);
        let mut gone: Vec<_> = gone.iter().map(|source| source.external_id.as_str()).collect();
        let mut expected: Vec<_> = made[..4].iter().map(|source| source.external_id.as_str()).collect();
        gone.sort_unstable();
        expected.sort_unstable();
        assert_eq!(gone, expected, "{}", session.name);
        assert_eq!(there.iter().map(|source| read(source).title).collect::<Vec<_>>(), ["T5 again"]);

        let unknown = r#"{"f":"data:,nonsense"}"#.to_owned();
        assert_eq!(session.changes(&list, Some(unknown), 0).unwrap_err().code, code::CURSOR_EXPIRED);
        session.delete_list(&list).unwrap();
        assert_eq!(session.changes(&list, None, 0).unwrap_err().code, code::NOT_FOUND);
    });
}

/// The bytes of another client survive a change of the title, on the server too.
#[test]
fn a_change_keeps_what_other_clients_wrote() {
    let fixtures = [
        ("apple", include_str!("../fixtures/tasks/apple.ics")),
        ("nextcloud", include_str!("../fixtures/tasks/nextcloud.ics")),
        ("outlook", include_str!("../fixtures/tasks/outlook.ics")),
        ("duration", include_str!("../fixtures/tasks/duration.ics")),
        ("days", include_str!("../fixtures/tasks/days.ics")),
        ("thunderbird", include_str!("../fixtures/tasks/thunderbird.ics")),
        ("tasks-org", include_str!("../fixtures/tasks/tasks-org.ics")),
        ("recurring", include_str!("../fixtures/tasks/recurring.ics")),
    ];
    each(|session| {
        let list = session.list("faithful");
        for (name, text) in fixtures {
            let text = text.replace("\r\n", "\n").replace('\n', "\r\n");
            let id = session.put(&list, &format!("{name}.ics"), &text);
            // Compared with what the server made of it, not with what it was given.
            let stored = session.raw(&id);
            let source = session.get(&list, &id).unwrap();
            let mut task = read(&source);
            task.title = "A new title".into();
            let changed = session.update(&list, &source, &task, &["title"]).unwrap();
            assert_eq!(read(&changed), task, "{}: {name}", session.name);
            let lines = |text: &str| -> Vec<String> {
                let own = ["SUMMARY", "DTSTAMP", "LAST-MODIFIED", "SEQUENCE"];
                let kept = text.lines().filter(|line| !own.iter().any(|name| line.starts_with(name)));
                let mut all: Vec<String> = kept.map(str::to_owned).collect();
                all.sort();
                all
            };
            assert_eq!(lines(&session.raw(&id)), lines(&stored), "{}: {name}", session.name);
        }
        session.delete_list(&list).unwrap();
    });
}

/// Wrong passwords have their own failure, on this surface too.
#[test]
fn wrong_credentials_are_told() {
    for server in servers() {
        let session = Session::open(&server, "alice");
        let wrong = Live::new(Credentials::Basic { username: "alice".into(), password: "wrong".into() });
        let cx = Context::new(&wrong, session.connection.clone());
        let failure = Dav::list_lists(&cx, ChangesRequest::default()).unwrap_err();
        assert_eq!(failure.code, code::AUTH_EXPIRED, "{}: {failure:?}", server.name);
        assert!(Dav::check(&cx).is_err());
    }
}
