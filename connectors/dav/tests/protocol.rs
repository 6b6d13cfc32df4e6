//! The protocol against servers that behave in ways that the real ones here do not: recorded, native, without a network.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use std::cell::RefCell;
use std::rc::Rc;

use connector_dav::Dav;
use connector_sdk::http::{Request, Response, SendError};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Calendar as _, Context, Lifecycle as _, code};
use model::calendar::Event;
use model::wire::calendar::{EventTarget, EventWrite, FreeBusyRequest};
use model::wire::{ChangesRequest, Connection, SourceRef};

const BASE: &str = "https://dav.example.com";

fn connection() -> Connection {
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), format!("{BASE}/").into());
    connection.settings.insert("calendarHomeUrl".into(), format!("{BASE}/cal/").into());
    connection
}

fn multistatus(inside: &str) -> Response {
    let xml = format!(
        "<d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\" xmlns:s=\"http://calendarserver.org/ns/\">{inside}</d:multistatus>"
    );
    response(207, &[("content-type", "application/xml")], &xml)
}

fn member(href: &str, properties: &str) -> String {
    format!(
        "<d:response><d:href>{href}</d:href><d:propstat><d:prop>{properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )
}

fn event_data(uid: &str) -> String {
    format!(
        "<d:getetag>\"{uid}\"</d:getetag><c:calendar-data>BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:{uid}\n\
         DTSTAMP:20260101T000000Z\nDTSTART:20260301T090000Z\nSUMMARY:{uid}\nEND:VEVENT\nEND:VCALENDAR\n</c:calendar-data>"
    )
}

/// Answers a calendar-multiget with an event for every href.
fn multiget(request: &Request) -> Response {
    let text = String::from_utf8(body(request)).unwrap();
    let hrefs = text.split("<D:href>").skip(1).map(|rest| rest.split("</D:href>").next().unwrap());
    multistatus(
        &hrefs.map(|href| member(href, &event_data(href.trim_end_matches(".ics")))).collect::<String>(),
    )
}

fn is_multiget(request: &Request) -> bool {
    String::from_utf8_lossy(&body(request)).contains("calendar-multiget")
}

fn changes(
    host: &Recorded,
    cursor: Option<String>,
    limit: u32,
) -> Result<connector_sdk::Answer<model::wire::Sources>, connector_sdk::Failure> {
    let args = ChangesRequest { collection: Some("/cal/work/".into()), limit, ..ChangesRequest::default() };
    Dav::changes(&Context::new(host, connection()).at(cursor), args)
}

/// A server without sync-collection is scanned: everything once, nothing while its ctag stays, everything when it moved.
#[test]
fn a_server_without_sync_is_scanned() {
    let tag = Rc::new(RefCell::new("1".to_owned()));
    let shared = tag.clone();
    let host = Recorded::answering(move |request| {
        Ok(match request.method.as_str() {
            "REPORT" if is_multiget(request) => multiget(request),
            "REPORT" => response(501, &[], ""),
            _ => {
                let own = member(
                    "/cal/work/",
                    &format!(
                        "<d:resourcetype><d:collection/></d:resourcetype><s:getctag>{}</s:getctag>",
                        shared.borrow()
                    ),
                );
                let inside: String = (0..3)
                    .map(|n| member(&format!("/cal/work/{n}.ics"), "<d:getetag>\"1\"</d:getetag>"))
                    .collect();
                multistatus(&(own + &inside))
            }
        })
    });
    let first = changes(&host, None, 2).unwrap();
    assert_eq!((first.body.sources.len(), first.body.enumeration, first.more), (2, true, true));
    let second = changes(&host, first.cursor, 2).unwrap();
    assert_eq!((second.body.sources.len(), second.body.enumeration, second.more), (1, true, false));
    let third = changes(&host, second.cursor, 2).unwrap();
    assert_eq!((third.body.sources.len(), third.body.enumeration, third.more), (0, false, false));
    *tag.borrow_mut() = "2".into();
    let fourth = changes(&host, third.cursor, 0).unwrap();
    assert_eq!((fourth.body.sources.len(), fourth.body.enumeration, fourth.more), (3, true, false));
}

/// The server cuts its answer (507 for the collection): the rest follows under the new token, as one enumeration.
#[test]
fn a_truncated_answer_is_continued() {
    let host = Recorded::answering(|request| {
        if is_multiget(request) {
            return Ok(multiget(request));
        }
        let text = String::from_utf8(body(request)).unwrap();
        let cut = "<d:response><d:href>/cal/work/</d:href><d:status>HTTP/1.1 507 Insufficient Storage</d:status></d:response>";
        let one = |n: u32| member(&format!("/cal/work/{n}.ics"), "<d:getetag>\"1\"</d:getetag>");
        Ok(if text.contains("<D:sync-token></D:sync-token>") {
            multistatus(&format!("{}{cut}<d:sync-token>t1</d:sync-token>", one(1)))
        } else if text.contains(">t1<") {
            multistatus(&format!("{}<d:sync-token>t2</d:sync-token>", one(2)))
        } else {
            multistatus("<d:sync-token>t2</d:sync-token>")
        })
    });
    let first = changes(&host, None, 0).unwrap();
    assert_eq!((first.body.sources.len(), first.body.enumeration, first.more), (1, true, true));
    let second = changes(&host, first.cursor, 0).unwrap();
    assert_eq!((second.body.sources.len(), second.body.enumeration, second.more), (1, true, false));
    let third = changes(&host, second.cursor, 0).unwrap();
    assert_eq!((third.body.sources.len(), third.body.enumeration, third.more), (0, false, false));
}

/// A server that refuses a limit outright is asked without one.
#[test]
fn a_refused_limit_is_left_out() {
    let host = Recorded::answering(|request| {
        let text = String::from_utf8(body(request)).unwrap();
        Ok(match text.contains("nresults") {
            true => {
                response(507, &[], "<d:error xmlns:d=\"DAV:\"><d:number-of-matches-within-limits/></d:error>")
            }
            false => multistatus("<d:sync-token>t</d:sync-token>"),
        })
    });
    assert!(!changes(&host, None, 5).unwrap().more);
}

/// One unreadable, one refused and one vanished resource do not hide the good one.
#[test]
fn a_bad_resource_is_an_error_of_its_own() {
    let host = Recorded::answering(|request| {
        let listed: String = ["bad", "gone", "good", "secret"]
            .iter()
            .map(|n| member(&format!("/cal/work/{n}.ics"), "<d:getetag>\"1\"</d:getetag>"))
            .collect();
        if !is_multiget(request) {
            return Ok(multistatus(&format!("{listed}<d:sync-token>t</d:sync-token>")));
        }
        let status = |name: &str, status: &str| {
            format!(
                "<d:response><d:href>/cal/work/{name}.ics</d:href><d:status>HTTP/1.1 {status}</d:status></d:response>"
            )
        };
        Ok(multistatus(
            &[
                member(
                    "/cal/work/bad.ics",
                    "<c:calendar-data>BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:1</c:calendar-data>",
                ),
                status("gone", "404 Not Found"),
                member("/cal/work/good.ics", &event_data("good")),
                status("secret", "403 Forbidden"),
            ]
            .concat(),
        ))
    });
    let answer = changes(&host, Some(r#"{"f":"t0"}"#.into()), 0).unwrap();
    let seen: Vec<_> = answer
        .body
        .sources
        .iter()
        .map(|s| {
            (s.external_id.as_str(), s.error.as_ref().map(|e| e.code.as_str()), s.deleted, s.items.len())
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("/cal/work/bad.ics", Some("unreadable"), false, 0),
            ("/cal/work/gone.ics", None, true, 0),
            ("/cal/work/good.ics", None, false, 1),
            ("/cal/work/secret.ics", Some("refused"), false, 0),
        ]
    );
}

/// The answer to a write got lost: the repeated create finds the event, and the write that did happen is never a failure.
#[test]
fn a_lost_answer_is_found_again() {
    let stored: Rc<RefCell<Option<String>>> = Rc::default();
    let shared = stored.clone();
    let host = Recorded::answering(move |request| {
        let mut stored = shared.borrow_mut();
        match (request.method.as_str(), stored.is_some()) {
            ("PUT", false) => {
                *stored = Some(String::from_utf8(body(request)).unwrap());
                Err(SendError::new("timeout", "the provider did not answer in time"))
            }
            ("PUT", true) => Ok(response(412, &[], "")),
            _ => {
                let text = String::from_utf8(body(request)).unwrap();
                let href = text.split("<D:href>").nth(1).unwrap().split("</D:href>").next().unwrap();
                let data = stored.clone().unwrap();
                Ok(multistatus(&member(
                    href,
                    &format!("<d:getetag>\"9\"</d:getetag><c:calendar-data>{data}</c:calendar-data>"),
                )))
            }
        }
    });
    let event = Event {
        title: Some("Once".into()),
        start: "2026-03-01T09:00:00Z".parse().unwrap(),
        end: "2026-03-01T10:00:00Z".parse().unwrap(),
        time_zone: "UTC".into(),
        ..Event::default()
    };
    let args = EventWrite {
        collection: "/cal/work/".into(),
        event,
        changed: vec!["title".into()],
        ..EventWrite::default()
    };
    let cx = || Context::new(&host, connection()).keyed("the key");
    assert_eq!(Dav::create_event(&cx(), args.clone()).unwrap_err().code, code::TIMEOUT);
    let found = Dav::create_event(&cx(), args).unwrap();
    assert_eq!(found.sources[0].etag.as_deref(), Some("\"9\""));
    assert_eq!(found.sources[0].items[0].body.read::<Event>().unwrap().title.as_deref(), Some("Once"));
}

/// Ids never lead to another server, and an etag that moved stops a write before it is sent.
#[test]
fn ids_stay_on_the_server_and_etags_hold() {
    let host = Recorded::answering(|request| {
        assert!(request.url.starts_with(BASE), "{}", request.url);
        Ok(multiget(request))
    });
    let write = |source: &str, etag: &str| EventWrite {
        collection: "/cal/work/".into(),
        target: EventTarget {
            source: Some(source.into()),
            if_match: Some(etag.into()),
            ..EventTarget::default()
        },
        changed: vec!["title".into()],
        ..EventWrite::default()
    };
    let cx = Context::new(&host, connection());
    assert_eq!(
        Dav::update_event(&cx, write("/cal/work/a.ics", "\"other\"")).unwrap_err().code,
        code::CONFLICT
    );
    let elsewhere = EventWrite { collection: "https://evil.example.com/cal/".into(), ..write("a", "b") };
    assert_eq!(Dav::update_event(&cx, elsewhere).unwrap_err().code, code::NOT_FOUND);
}

/// An id is a path: one with a step, a query or a fragment leads to nothing, and nothing is requested for it.
#[test]
fn ids_with_steps_or_a_query_are_not_found() {
    let host = Recorded::answering(|_| Ok(response(500, &[], "")));
    for id in [
        "../user",
        "..",
        "/cal/work/../other/",
        "/cal/%2e%2E/other/",
        "/cal\\..\\other/",
        "/cal/a?b",
        "a/b?c#d",
        "/cal/#a",
    ] {
        let args = ChangesRequest { collection: Some(id.into()), ..ChangesRequest::default() };
        let failure = Dav::changes(&Context::new(&host, connection()), args).unwrap_err();
        assert_eq!(failure.code, code::NOT_FOUND, "{id}");
    }
}

/// A server that redirects to its login page has not deleted the requested resource.
#[test]
fn a_redirect_does_not_say_that_something_is_gone() {
    let login = [("location", "https://login.example.com/")];
    let host = Recorded::answering(move |_| Ok(response(302, &login, "")));
    let cx = || Context::new(&host, connection());
    let args = ChangesRequest { collection: Some("/cal/work/".into()), ..ChangesRequest::default() };
    assert_eq!(Dav::changes(&cx(), args).unwrap_err().code, code::UNAVAILABLE);
    let (collection, source) = ("/cal/work/".into(), "/cal/work/a.ics".into());
    let event = SourceRef { collection, source, ..SourceRef::default() };
    assert_eq!(Dav::get_event(&cx(), event).unwrap_err().code, code::UNAVAILABLE);
}

/// Discovery: five redirects are followed, six are not; a home on another server is named, and not visited before the host accepts it.
#[test]
fn discovery_ends() {
    let host = Recorded::answering(|_| Ok(response(302, &[("location", "/again")], "")));
    let failure = Dav::check(&Context::new(&host, only_url(&format!("{BASE}/")))).unwrap_err();
    assert_eq!(failure.code, code::UNAVAILABLE);

    let host = Recorded::answering(|request| {
        assert!(request.url.starts_with(BASE), "{}", request.url);
        Ok(match request.url.as_str() {
            url if url.ends_with("/principal/") => multistatus(&member(
                "/principal/",
                "<c:calendar-home-set><d:href>https://p34.example.net/home/</d:href></c:calendar-home-set>",
            )),
            _ => multistatus(&member(
                "/",
                "<d:current-user-principal><d:href>/principal/</d:href></d:current-user-principal>",
            )),
        })
    });
    let account = Dav::check(&Context::new(&host, only_url(BASE))).unwrap();
    assert_eq!(account.discovered_origins, ["https://p34.example.net"], "the host decides");
    assert_eq!(account.external_account_id, "");

    for (url, part) in
        [("ftp://x/", "absolute http"), ("nonsense", "absolute http"), ("https://a:b@x/", "user name")]
    {
        let failure = Dav::check(&Context::new(&host, only_url(url))).unwrap_err();
        assert!(failure.code == code::INVALID && failure.message.contains(part), "{failure:?}");
    }
    let page = Recorded::answering(|_| Ok(response(200, &[], "<html>hello</html>")));
    assert_eq!(Dav::check(&Context::new(&page, only_url(BASE))).unwrap_err().code, code::INVALID);
}

/// As iCloud does: the principal is on the server that the user gave, the calendars are on one of the account's own. Once the host has
/// accepted that, they are read there, and a write goes there.
#[test]
fn calendars_on_an_accepted_server_are_used() {
    const HOME: &str = "https://p12-caldav.icloud.test";
    let host = Recorded::answering(|request| {
        let home =
            format!("<c:calendar-home-set><d:href>{HOME}:443/1/calendars/</d:href></c:calendar-home-set>");
        Ok(match (request.method.as_str(), request.url.as_str()) {
            ("OPTIONS", url) if url == format!("{HOME}/1/calendars/") => {
                response(200, &[("dav", "1, calendar-access")], "")
            }
            (_, url) if url.starts_with(HOME) => multiget(request),
            (_, url) if url.ends_with("/principal/") => multistatus(&member("/principal/", &home)),
            _ => multistatus(&member(
                "/",
                "<d:current-user-principal><d:href>/principal/</d:href></d:current-user-principal>",
            )),
        })
    });
    let mut connection = only_url(BASE);
    connection.settings.insert("discoveredOrigins".into(), serde_json::json!([HOME]));
    let account = Dav::check(&Context::new(&host, connection.clone())).unwrap();
    assert_eq!(account.discovered_origins, [HOME]);
    assert_eq!(account.settings["calendarHomeUrl"], format!("{HOME}/1/calendars/"));
    connection.settings.extend(account.settings);
    let write = EventWrite {
        collection: format!("{HOME}/1/calendars/work/"),
        target: EventTarget {
            source: Some(format!("{HOME}/1/calendars/work/a.ics")),
            if_match: Some("\"other\"".into()),
            ..EventTarget::default()
        },
        changed: vec!["title".into()],
        ..EventWrite::default()
    };
    let read = Dav::update_event(&Context::new(&host, connection.clone()), write.clone()).unwrap_err();
    assert_eq!(read.code, code::CONFLICT, "it was read there");
    connection.settings.remove("discoveredOrigins");
    assert_eq!(Dav::update_event(&Context::new(&host, connection), write).unwrap_err().code, code::NOT_FOUND);
}

fn only_url(url: &str) -> Connection {
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), url.into());
    connection
}

/// A server without the report says "unsupported", so that the caller can compute from events.
#[test]
fn busy_times_may_be_unsupported() {
    let host = Recorded::answering(|_| Ok(response(501, &[], "")));
    let args = FreeBusyRequest {
        collections: vec!["/cal/work/".into()],
        start: "2026-03-01T00:00:00Z".parse().unwrap(),
        end: "2026-03-02T00:00:00Z".parse().unwrap(),
        ..FreeBusyRequest::default()
    };
    assert_eq!(
        Dav::free_busy(&Context::new(&host, connection()), args.clone()).unwrap_err().code,
        code::UNSUPPORTED
    );
    let by_email = FreeBusyRequest { collections: Vec::new(), email: Some("a@example.com".into()), ..args };
    assert_eq!(
        Dav::free_busy(&Context::new(&host, connection()), by_email).unwrap_err().code,
        code::UNSUPPORTED
    );
}

/// An answer that is too long is asked for in halves; a single resource that is too long is an error of its own.
#[test]
fn long_answers_are_asked_for_in_halves() {
    let host = Recorded::answering(|request| {
        if !is_multiget(request) {
            let listed: String = (0..9)
                .map(|n| member(&format!("/cal/work/{n}.ics"), "<d:getetag>\"1\"</d:getetag>"))
                .collect();
            return Ok(multistatus(&format!("{listed}<d:sync-token>t</d:sync-token>")));
        }
        let text = String::from_utf8(body(request)).unwrap();
        let long = text.matches("<D:href>").count() > 2 || text.contains("/4.ics");
        Ok(if long { Response { truncated: true, ..multiget(request) } } else { multiget(request) })
    });
    let answer = changes(&host, None, 0).unwrap();
    assert_eq!(answer.body.sources.len(), 9);
    let errors: Vec<_> =
        answer.body.sources.iter().filter(|s| s.error.is_some()).map(|s| s.external_id.as_str()).collect();
    assert_eq!(errors, ["/cal/work/4.ics"]);
}

/// Names alone: no object is read, the page is cut as it would be otherwise, and the next one goes on behind it.
#[test]
fn a_page_of_names_reads_nothing() {
    let read = Rc::new(RefCell::new(0));
    let reads = read.clone();
    let host = Recorded::answering(move |request| {
        if is_multiget(request) {
            *reads.borrow_mut() += 1;
            return Ok(multiget(request));
        }
        let gone = "<d:response><d:href>/cal/work/0.ics</d:href><d:status>HTTP/1.1 404 Not Found</d:status></d:response>";
        let there =
            |n: u32| member(&format!("/cal/work/{n}.ics"), &format!("<d:getetag>\"{n}\"</d:getetag>"));
        let text = String::from_utf8(body(request)).unwrap();
        let gone = if text.contains(">t0<") { gone } else { "" };
        Ok(multistatus(&format!("{gone}{}{}<d:sync-token>t1</d:sync-token>", there(1), there(2))))
    });
    let first = changes(&host, None, 0).unwrap();
    let at = first.cursor.unwrap().replace("t1", "t0");
    let args = ChangesRequest {
        collection: Some("/cal/work/".into()),
        limit: 2,
        names_only: true,
        ..ChangesRequest::default()
    };
    *read.borrow_mut() = 0;
    let named = Dav::changes(&Context::new(&host, connection()).at(Some(at)), args).unwrap();
    assert_eq!(*read.borrow(), 0);
    let told: Vec<_> =
        named.body.sources.iter().map(|s| (s.external_id.as_str(), s.etag.as_deref(), s.deleted)).collect();
    assert_eq!(told, [("/cal/work/0.ics", None, true), ("/cal/work/1.ics", Some("\"1\""), false)]);
    assert!(named.more);
    let rest = changes(&host, named.cursor, 2).unwrap();
    assert_eq!((rest.body.sources.len(), rest.body.sources[0].items.len(), rest.more), (1, 1, false));
}
