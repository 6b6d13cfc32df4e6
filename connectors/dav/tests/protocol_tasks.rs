//! The tasks surface against servers that behave in ways that the real ones here do not: recorded, without a network.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use std::cell::Cell;

use connector_dav::Dav;
use connector_sdk::http::{Request, Response};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Context, Failure, Tasks, code};
use model::tasks::{Task, TaskList, TaskListRole, TaskStatus};
use model::wire::{
    ChangesRequest, CollectionDelete, CollectionWrite, Connection, ItemDelete, ItemWrite, Source, SourceRef,
};

const BASE: &str = "https://dav.example.com";

fn connection() -> Connection {
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), format!("{BASE}/").into());
    connection.settings.insert("calendarHomeUrl".into(), format!("{BASE}/cal/").into());
    connection.settings.insert("principalUrl".into(), format!("{BASE}/me/").into());
    connection
}

fn multistatus(inside: &str) -> Response {
    let xml = format!(
        "<d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\" xmlns:s=\"http://calendarserver.org/ns/\" \
         xmlns:a=\"http://apple.com/ns/ical/\">{inside}</d:multistatus>"
    );
    response(207, &[("content-type", "application/xml")], &xml)
}

fn member(href: &str, properties: &str) -> String {
    format!(
        "<d:response><d:href>{href}</d:href><d:propstat><d:prop>{properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )
}

/// A collection with these kinds of components (none: the server does not say) and more properties.
fn collection(name: &str, kinds: &[&str], more: &str) -> String {
    let kinds: String = kinds.iter().map(|kind| format!("<c:comp name=\"{kind}\"/>")).collect();
    let kinds = if kinds.is_empty() {
        String::new()
    } else {
        format!("<c:supported-calendar-component-set>{kinds}</c:supported-calendar-component-set>")
    };
    let kind = "<d:resourcetype><d:collection/><c:calendar/></d:resourcetype>";
    member(&format!("/cal/{name}/"), &format!("{kind}{kinds}{more}"))
}

fn todo(uid: &str, lines: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VTODO\nUID:{uid}\nDTSTAMP:20260101T000000Z\n{lines}END:VTODO\nEND:VCALENDAR\n"
    )
}

fn data(etag: &str, text: &str) -> String {
    format!("<d:getetag>\"{etag}\"</d:getetag><c:calendar-data>{text}</c:calendar-data>")
}

fn sent(request: &Request) -> String {
    String::from_utf8(body(request)).unwrap()
}

fn write(source: Option<&str>, task: Task, changed: &[&str]) -> ItemWrite<Task> {
    ItemWrite {
        collection: "/cal/tasks/".into(),
        source: source.map(str::to_owned),
        body: task,
        changed: changed.iter().map(|name| (*name).to_owned()).collect(),
        ..ItemWrite::default()
    }
}

fn lists(answer: &str) -> Vec<(String, TaskList)> {
    let answer = answer.to_owned();
    let host = Recorded::answering(move |_| Ok(multistatus(&answer)));
    let listed = Dav::list_lists(&Context::new(&host, connection()), ChangesRequest::default()).unwrap().body;
    listed.sources.into_iter().map(|s| (s.external_id, s.items[0].body.read().unwrap())).collect()
}

/// Lists are what holds VTODO, or does not say what it holds; colour, order and rights are the collection's.
#[test]
fn lists_are_what_holds_tasks() {
    let owner = |name: &str| format!("<d:owner><d:href>/{name}/</d:href></d:owner>");
    let may = |what: &str| {
        format!(
            "<d:current-user-privilege-set><d:privilege><d:{what}/></d:privilege></d:current-user-privilege-set>"
        )
    };
    let look = "<d:displayname>Chores</d:displayname><a:calendar-color>#FF2968FF</a:calendar-color><a:calendar-order>3</a:calendar-order>";
    let found = lists(
        &[
            member("/cal/", "<d:resourcetype><d:collection/></d:resourcetype>"),
            collection("events", &["VEVENT"], ""),
            collection("chores", &["VTODO"], &format!("{look}{}{}", owner("me"), may("all"))),
            collection(
                "both",
                &["vevent", "vtodo"],
                &format!("<a:calendar-order>first</a:calendar-order>{}", owner("me")),
            ),
            collection("silent", &[], ""),
            collection("theirs", &["VTODO"], &format!("{}{}", owner("you"), may("read"))),
            member("/cal/books/", "<d:resourcetype><d:collection/></d:resourcetype>"),
        ]
        .concat(),
    );
    let told: Vec<_> = found
        .iter()
        .map(|(id, l)| (id.as_str(), l.name.as_str(), l.sort_order, l.is_owner, l.is_shared, l.read_only))
        .collect();
    assert_eq!(
        told,
        [
            ("/cal/chores/", "Chores", 3, true, false, false),
            ("/cal/both/", "both", 0, true, false, false),
            ("/cal/silent/", "silent", 0, true, false, false),
            ("/cal/theirs/", "theirs", 0, false, true, true),
        ]
    );
    assert_eq!(found[0].1.color.as_deref(), Some("#ff2968"));
    assert!(found.iter().all(|(_, list)| list.role.is_none()), "of several, none is the default");
}

/// The default is what the server names, else a list that is called so; no other is guessed, not even the only one.
#[test]
fn a_default_is_never_guessed() {
    let default = |found: Vec<(String, TaskList)>| {
        let default = found.into_iter().find(|(_, list)| list.role == Some(TaskListRole::Default));
        default.map(|(id, _)| id)
    };
    let list = |name: &str| collection(name, &["VTODO"], "");
    assert_eq!(default(lists(&list("a"))), None);
    assert_eq!(default(lists(&[list("a"), list("b")].concat())), None);
    assert_eq!(default(lists(&[list("a"), list("Tasks")].concat())).as_deref(), Some("/cal/Tasks/"));

    // CalendarServer's namespace and iCloud's.
    for prefix in ["s", "c"] {
        let host = Recorded::answering(move |request| {
            Ok(if request.url.ends_with("/inbox/") {
                let name = format!("{prefix}:schedule-default-tasks-URL");
                multistatus(&member("/inbox/", &format!("<{name}><d:href>/cal/b/</d:href></{name}>")))
            } else {
                multistatus(&["a", "b", "tasks"].map(|name| collection(name, &["VTODO"], "")).concat())
            })
        });
        let mut connection = connection();
        connection.settings.insert("scheduleInboxUrl".into(), format!("{BASE}/inbox/").into());
        let cx = Context::new(&host, connection);
        let listed = Dav::list_lists(&cx, ChangesRequest::default()).unwrap().body;
        let lists = listed.sources.into_iter().map(|s| (s.external_id, s.items[0].body.read().unwrap()));
        assert_eq!(default(lists.collect()).as_deref(), Some("/cal/b/"));
    }
}

/// A new list says what it is for; what a list does not have is removed, in one request.
#[test]
fn lists_are_written_as_properties() {
    let host = Recorded::answering(|request| {
        Ok(match request.method.as_str() {
            "MKCALENDAR" => {
                let text = sent(request);
                assert!(text.contains("<C:supported-calendar-component-set><C:comp name=\"VTODO\"/></C:supported-calendar-component-set>"), "{text}");
                assert!(text.contains("<A:calendar-order>5</A:calendar-order>"), "{text}");
                response(201, &[], "")
            }
            "PROPPATCH" => {
                let text = sent(request);
                assert!(text.contains("<D:remove><D:prop><A:calendar-color/></D:prop></D:remove>"), "{text}");
                assert!(!text.contains("displayname"), "{text}");
                response(200, &[], "")
            }
            _ => multistatus(&collection("x", &["VTODO"], "")),
        })
    });
    let cx = || Context::new(&host, connection()).keyed("k");
    let write = |source: Option<&str>, changed: &[&str]| CollectionWrite {
        source: source.map(str::to_owned),
        body: TaskList { name: "X".into(), sort_order: 5, ..TaskList::default() },
        changed: changed.iter().map(|name| (*name).to_owned()).collect(),
        if_match: None,
    };
    let changed = Dav::update_list(&cx(), write(Some("/cal/x/"), &["color"])).unwrap();
    assert_eq!(changed.item.as_deref(), Some("/cal/x/"));
    // The fake does not list what was made, so it is not found; that it was asked for rightly is what counts here.
    let made = Dav::create_list(&cx(), write(None, &["name", "sortOrder"]));
    assert_eq!(made.unwrap_err().code, code::NOT_FOUND);
}

/// A calendar is not deleted as a list; one that is gone counts as deleted.
#[test]
fn a_calendar_is_not_deleted_as_a_list() {
    let host = Recorded::answering(|request| {
        assert_eq!(
            request.method,
            if request.url.ends_with("/both/") { "PROPFIND" } else { &request.method }
        );
        Ok(match (request.method.as_str(), request.url.rsplit('/').nth(1).unwrap()) {
            ("PROPFIND", "both") => multistatus(&collection("both", &["VEVENT", "VTODO"], "")),
            ("PROPFIND", "silent") => multistatus(&collection("silent", &[], "")),
            ("PROPFIND", "tasks") => multistatus(&collection("tasks", &["VTODO"], "")),
            ("DELETE", "tasks") => response(204, &[], ""),
            _ => response(404, &[], ""),
        })
    });
    let delete = |name: &str| {
        let args = CollectionDelete { source: format!("/cal/{name}/"), ..CollectionDelete::default() };
        Dav::delete_list(&Context::new(&host, connection()), args)
    };
    for name in ["both", "silent"] {
        let failure = delete(name).unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["reason"]),
            (code::CONFLICT, &"invalid_state".into())
        );
    }
    assert!(delete("tasks").unwrap().sources[0].deleted);
    assert!(delete("gone").unwrap().sources[0].deleted);
}

/// Events beside the tasks are left out, a broken resource is reported and stops nothing.
#[test]
fn a_page_holds_tasks_and_what_is_broken() {
    let event = todo("e", "").replace("VTODO", "VEVENT");
    let host = Recorded::answering(move |request| {
        if !sent(request).contains("calendar-multiget") {
            let listed: String = ["a", "b", "c", "d"]
                .map(|n| member(&format!("/cal/tasks/{n}.ics"), "<d:getetag>\"1\"</d:getetag>"))
                .concat();
            return Ok(multistatus(&format!("{listed}<d:sync-token>t</d:sync-token>")));
        }
        Ok(multistatus(
            &[
                member("/cal/tasks/a.ics", &data("1", &todo("a", "SUMMARY:A\n"))),
                member("/cal/tasks/b.ics", &data("1", &event)),
                member("/cal/tasks/c.ics", &data("1", "BEGIN:VCALENDAR\nBEGIN:VTODO\nUID:c\n")),
                member("/cal/tasks/d.ics", &data("1", &todo("d", "DUE:20269999\n"))),
            ]
            .concat(),
        ))
    });
    let args = ChangesRequest { collection: Some("/cal/tasks/".into()), ..ChangesRequest::default() };
    let answer = Dav::changes(&Context::new(&host, connection()), args).unwrap();
    let told: Vec<_> = answer
        .body
        .sources
        .iter()
        .map(|s| (s.external_id.as_str(), s.error.as_ref().map(|error| error.code.as_str()), s.items.len()))
        .collect();
    assert_eq!(
        told,
        [
            ("/cal/tasks/a.ics", None, 1),
            ("/cal/tasks/c.ics", Some("unreadable"), 0),
            ("/cal/tasks/d.ics", None, 1)
        ]
    );
    assert!(answer.body.enumeration && !answer.more);
}

/// A change is sent under the version that it is based on; a server that has another by then says so.
#[test]
fn a_change_is_sent_under_its_version() {
    let update =
        |status: u16, if_match: Option<&str>, after: &'static str| -> Result<Vec<Request>, Failure> {
            let etag = Cell::new("7");
            let host = Recorded::answering(move |request| {
                Ok(match request.method.as_str() {
                    "PUT" => {
                        etag.set(after);
                        response(status, &[], "")
                    }
                    _ => multistatus(&member(
                        "/cal/tasks/a.ics",
                        &data(etag.get(), &todo("a", "SUMMARY:A\nX-KEPT:1\n")),
                    )),
                })
            });
            let mut args =
                write(Some("/cal/tasks/a.ics"), Task { title: "B".into(), ..Task::default() }, &["title"]);
            args.if_match = if_match.map(str::to_owned);
            Dav::update_task(&Context::new(&host, connection()), args)?;
            Ok(host.requests.take())
        };
    let requests = update(204, Some("\"7\""), "8").unwrap();
    let put = requests.iter().find(|request| request.method == "PUT").unwrap();
    assert!(
        put.headers.iter().any(|(name, value)| name.eq_ignore_ascii_case("if-match") && value == "\"7\"")
    );
    assert!(sent(put).contains("SUMMARY:B\r\nX-KEPT:1\r\n"), "{}", sent(put));
    assert_eq!(update(412, Some("\"7\""), "8").unwrap_err().code, code::CONFLICT);
    assert_eq!(update(204, Some("\"6\""), "7").unwrap_err().code, code::CONFLICT);
    assert_eq!(update(507, None, "7").unwrap_err().code, code::UNAVAILABLE);
}

/// Radicale says 412 also of what is too large, or repeats too often: that is neither a conflict nor a name that is taken.
#[test]
fn a_refused_content_is_no_conflict() {
    let host = Recorded::answering(|request| {
        let is_there = sent(request).contains("/cal/tasks/a.ics");
        Ok(match request.method.as_str() {
            "PUT" => response(412, &[], "Precondition failed."),
            _ if is_there => multistatus(&member("/cal/tasks/a.ics", &data("7", &todo("a", "SUMMARY:A\n")))),
            _ => multistatus(""),
        })
    });
    let cx = || Context::new(&host, connection()).keyed("the key");
    let task = || Task { title: "B".into(), ..Task::default() };
    let made = Dav::create_task(&cx(), write(None, task(), &["title"]));
    let changed = Dav::update_task(&cx(), write(Some("/cal/tasks/a.ics"), task(), &["title"]));
    for failure in [made.unwrap_err(), changed.unwrap_err()] {
        let told = (failure.code.as_str(), failure.http_status);
        assert_eq!(told, (code::INVALID, Some(412)), "{}", failure.message);
    }
}

/// A page of a proxy or of a login proves nothing about a write, with any status. Servers have pages of their own for what they have made,
/// and answers of XML to deletions.
#[test]
fn a_web_page_is_no_answer_to_a_write() {
    const PAGE: &str = "\u{feff}<?xml version=\"1.0\"?>\n<!DOCTYPE HTML><HTML><title>Sign in</title></HTML>";
    const DELETED: &str = "<d:multistatus xmlns:d=\"DAV:\"><d:response><d:href>/cal/tasks/a.ics</d:href></d:response></d:multistatus>";
    let write_all = |status: u16, page: &'static str| {
        let host = Recorded::answering(move |request| {
            let is_write = ["PUT", "DELETE", "MKCALENDAR"].contains(&request.method.as_str());
            let tasks = collection("tasks", &["VTODO"], "");
            let there = member("/cal/tasks/a.ics", &data("7", &todo("a", "SUMMARY:A\n")));
            Ok(match is_write {
                true => response(status, &[("content-type", "text/html")], page),
                false if request.method == "PROPFIND" => multistatus(&tasks),
                false => multistatus(&there),
            })
        });
        let cx = || Context::new(&host, connection()).keyed("the key");
        let task = || Task { title: "B".into(), ..Task::default() };
        let (collection, source) = ("/cal/tasks/".to_owned(), "/cal/tasks/a.ics".to_owned());
        let list = CollectionDelete { source: collection.clone(), ..CollectionDelete::default() };
        [
            Dav::delete_task(&cx(), ItemDelete { collection, source, if_match: None }),
            Dav::delete_list(&cx(), list),
            Dav::update_task(&cx(), write(Some("/cal/tasks/a.ics"), task(), &["title"])),
            Dav::create_task(&cx(), write(None, task(), &["title"])),
        ]
        .map(|outcome| outcome.err().map(|failure| failure.code))
    };
    assert!(write_all(200, PAGE).iter().all(|failure| failure.as_deref() == Some(code::UNAVAILABLE)));
    for (status, page) in [(201, PAGE), (200, ""), (200, DELETED), (200, "OK")] {
        let failures = write_all(status, page);
        assert!(failures.iter().all(Option::is_none), "{status} {page}: {failures:?}");
    }
}

/// A server that stores something else than it was sent: the task is what it made of it, and the caller hears of the fields.
#[test]
fn what_a_server_makes_of_a_task_is_told() {
    let host = Recorded::answering(|request| {
        Ok(match request.method.as_str() {
            "PUT" => response(201, &[("etag", "\"1\"")], ""),
            _ => {
                let href = sent(request)
                    .split("<D:href>")
                    .nth(1)
                    .unwrap()
                    .split("</D:href>")
                    .next()
                    .unwrap()
                    .to_owned();
                let stored = todo("x", "SUMMARY:Shorter\nSTATUS:NEEDS-ACTION\nPRIORITY:5\n");
                multistatus(&member(&href, &data("2", &stored)))
            }
        })
    });
    let task =
        Task { title: "Shorter than it was".into(), due_date: Some("2026-05-01".into()), ..Task::default() };
    let cx = Context::new(&host, connection()).keyed("k");
    let made = Dav::create_task(&cx, write(None, task, &["title", "dueDate"])).unwrap();
    let told: Vec<_> =
        made.warnings.iter().map(|w| (w.code.as_str(), w.target.as_deref().unwrap())).collect();
    assert_eq!(told, [("field_changed", "title"), ("field_changed", "dueDate")]);
    let stored: Task = made.sources[0].items[0].body.read().unwrap();
    assert_eq!((stored.title.as_str(), stored.due_date), ("Shorter", None));
}

/// A strict write that CalDAV cannot keep is refused before anything is sent.
#[test]
fn strict_writes_send_nothing_that_is_less() {
    let host = Recorded::answering(|request| {
        assert_ne!(request.method, "PUT");
        Ok(multistatus(&member("/cal/tasks/a.ics", &data("7", &todo("a", "SUMMARY:A\n")))))
    });
    let waiting = Task { title: "A".into(), status: TaskStatus::Waiting, ..Task::default() };
    for source in [None, Some("/cal/tasks/a.ics")] {
        let args = ItemWrite { strict: true, ..write(source, waiting.clone(), &["title", "status"]) };
        let cx = Context::new(&host, connection()).keyed("k");
        let outcome =
            if source.is_some() { Dav::update_task(&cx, args) } else { Dav::create_task(&cx, args) };
        let failure = outcome.unwrap_err();
        assert_eq!(
            (failure.code.as_str(), &failure.detail.unwrap()["field"]),
            (code::UNSUPPORTED, &"status".into())
        );
    }
}

/// A task that is gone: not found where it is read, fine where it shall go. Ids stay on the server.
#[test]
fn what_is_gone_is_gone() {
    let host = Recorded::answering(|request| {
        assert!(request.url.starts_with(BASE), "{}", request.url);
        let gone = "<d:response><d:href>/cal/tasks/a.ics</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>";
        Ok(if request.method == "DELETE" { response(410, &[], "") } else { multistatus(gone) })
    });
    let cx = || Context::new(&host, connection());
    let at =
        |source: &str| ItemDelete { collection: "/cal/tasks/".into(), source: source.into(), if_match: None };
    let deleted = Dav::delete_task(&cx(), at("/cal/tasks/a.ics")).unwrap();
    let expected = Source { external_id: "/cal/tasks/a.ics".into(), deleted: true, ..Source::default() };
    assert_eq!((deleted.sources, deleted.item), (vec![expected], None));
    assert_eq!(Dav::delete_task(&cx(), at("https://evil.example/a.ics")).unwrap_err().code, code::NOT_FOUND);
    let read =
        SourceRef { collection: "/cal/tasks/".into(), source: "/cal/tasks/a.ics".into(), time_zone: None };
    assert_eq!(Dav::get_task(&cx(), read).unwrap_err().code, code::NOT_FOUND);
}

/// Steps and links are not supported, and the capabilities say so.
#[test]
fn steps_and_links_are_unsupported() {
    let host = Recorded::new();
    let cx = Context::new(&host, connection());
    let features = <Dav as Tasks>::features(&cx).unwrap();
    assert!(features.subtasks && features.ordering && !features.checklist_items && !features.links);
    assert_eq!(Dav::create_step(&cx, Default::default()).unwrap_err().code, code::UNSUPPORTED);
    assert_eq!(Dav::create_link(&cx, Default::default()).unwrap_err().code, code::UNSUPPORTED);
}
