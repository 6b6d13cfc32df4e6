//! Large collections: listed once, read by many names at a time, also where the server cuts its answers. Recorded, native, without a
//! network.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use connector_dav::Dav;
use connector_sdk::http::{Request, Response, SendError};
use connector_sdk::testing::{Recorded, body, response};
use connector_sdk::{Answer, Calendar as _, Contacts as _, Context, Failure, Tasks as _, code};
use model::wire::{ChangesRequest, Connection, Sources, SourcesGet};

const BASE: &str = "https://dav.example.com";
/// Names that the host reads at a time.
const BATCH: usize = 200;

fn connection() -> Connection {
    let mut connection = Connection::default();
    for (name, path) in [("serverUrl", "/"), ("calendarHomeUrl", "/cal/"), ("addressbookHomeUrl", "/cal/")] {
        connection.settings.insert(name.into(), format!("{BASE}{path}").into());
    }
    connection
}

fn multistatus(inside: &str) -> Response {
    let xml = format!(
        "<d:multistatus xmlns:d=\"DAV:\" xmlns:c=\"urn:ietf:params:xml:ns:caldav\" xmlns:r=\"urn:ietf:params:xml:ns:carddav\" \
         xmlns:s=\"http://calendarserver.org/ns/\">{inside}</d:multistatus>"
    );
    response(207, &[("content-type", "application/xml")], &xml)
}

fn member(href: &str, properties: &str) -> String {
    format!(
        "<d:response><d:href>{href}</d:href><d:propstat><d:prop>{properties}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
    )
}

fn status(href: &str, status: &str) -> String {
    format!("<d:response><d:href>{href}</d:href><d:status>HTTP/1.1 {status}</d:status></d:response>")
}

fn href(n: usize) -> String {
    format!("/cal/work/{n:05}.x")
}

fn listed(range: std::ops::Range<usize>) -> String {
    range.map(|n| member(&href(n), &format!("<d:getetag>\"{n}\"</d:getetag>"))).collect()
}

/// Returns the hrefs of a multiget.
fn hrefs(text: &str) -> Vec<&str> {
    text.split("<D:href>").skip(1).map(|rest| rest.split("</D:href>").next().unwrap()).collect()
}

fn data(text: &str, uid: &str) -> String {
    if text.contains("addressbook-multiget") {
        return format!(
            "<r:address-data>BEGIN:VCARD\nVERSION:3.0\nUID:{uid}\nFN:{uid}\nEND:VCARD\n</r:address-data>"
        );
    }
    format!(
        "<c:calendar-data>BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\n\
         DTSTART:20260301T090000Z\nSUMMARY:{uid}\nEND:VEVENT\nEND:VCALENDAR\n</c:calendar-data>"
    )
}

fn objects(text: &str, hrefs: &[&str]) -> String {
    hrefs.iter().map(|at| member(at, &format!("<d:getetag>\"e\"</d:getetag>{}", data(text, at)))).collect()
}

/// The requests to a server, by kind.
#[derive(Default)]
struct Asked {
    listings: usize,
    multigets: usize,
}

type Shared = Rc<RefCell<Asked>>;

/// A server whose multigets are answered whole, and whose listings are answered so.
fn server(list: impl Fn(&Request, &str) -> Response + 'static) -> (Recorded, Shared) {
    let asked = Shared::default();
    let shared = asked.clone();
    let host = Recorded::answering(move |request| {
        let text = String::from_utf8(body(request)).unwrap();
        if text.contains("-multiget") {
            shared.borrow_mut().multigets += 1;
            return Ok(multistatus(&objects(&text, &hrefs(&text))));
        }
        shared.borrow_mut().listings += 1;
        Ok(list(request, &text))
    });
    (host, asked)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Surface {
    Calendar,
    Contacts,
    Tasks,
}

impl Surface {
    fn changes(self, host: &Recorded, cursor: Option<String>) -> Result<Answer<Sources>, Failure> {
        let args = ChangesRequest {
            collection: Some("/cal/work/".into()),
            limit: BATCH as u32,
            names_first: true,
            ..ChangesRequest::default()
        };
        let cx = Context::new(host, connection()).at(cursor);
        match self {
            Surface::Calendar => <Dav as connector_sdk::Calendar>::changes(&cx, args),
            Surface::Contacts => <Dav as connector_sdk::Contacts>::changes(&cx, args),
            Surface::Tasks => <Dav as connector_sdk::Tasks>::changes(&cx, args),
        }
    }

    fn get(self, host: &Recorded, sources: &[String]) -> Result<Sources, Failure> {
        let collection = "/cal/work/".to_owned();
        let args = SourcesGet { collection, sources: sources.to_vec(), ..SourcesGet::default() };
        let cx = Context::new(host, connection());
        match self {
            Surface::Calendar => Dav::get_events(&cx, args),
            Surface::Contacts => Dav::get_contacts(&cx, args),
            Surface::Tasks => Dav::get_tasks(&cx, args),
        }
    }
}

/// A host's copy.
#[derive(Default)]
struct Known {
    read: BTreeSet<String>,
    gone: BTreeSet<String>,
    cursor: Option<String>,
    /// Whether each answer was part of an enumeration.
    enumeration: Vec<bool>,
}

/// Acts as a host: names first, then their content, then the next page.
fn pull(surface: Surface, host: &Recorded, cursor: Option<String>) -> Known {
    let mut known = Known { cursor, ..Known::default() };
    for _ in 0..1_000 {
        let answer = surface.changes(host, known.cursor.take()).unwrap();
        known.enumeration.push(answer.body.enumeration);
        let mut sources = answer.body.sources;
        let (gone, there): (Vec<_>, Vec<_>) = answer.body.named.into_iter().partition(|name| name.deleted);
        known.gone.extend(gone.into_iter().map(|name| name.external_id));
        let there: Vec<String> = there.into_iter().map(|name| name.external_id).collect();
        for some in there.chunks(BATCH) {
            sources.extend(surface.get(host, some).unwrap().sources);
        }
        for source in sources {
            assert_eq!(source.error, None);
            let is_new = match source.deleted {
                true => known.gone.insert(source.external_id),
                false => known.read.insert(source.external_id),
            };
            assert!(is_new, "nothing is read twice");
        }
        known.cursor = answer.cursor;
        if !answer.more {
            return known;
        }
    }
    panic!("it never ends")
}

/// However large, a collection is listed once; its content is read by as many multigets as it takes.
#[test]
fn a_large_collection_is_listed_once() {
    for surface in [Surface::Calendar, Surface::Contacts, Surface::Tasks] {
        for size in [0, 1, 199, 200, 201, 1_500, 5_000] {
            let (host, asked) = server(move |_, _| {
                multistatus(&format!("{}<d:sync-token>t1</d:sync-token>", listed(0..size)))
            });
            let known = pull(surface, &host, None);
            let asked = asked.borrow();
            assert_eq!((asked.listings, asked.multigets), (1, size.div_ceil(BATCH)), "{surface:?} {size}");
            // A task list does not show the events that lie in the same collection.
            let is_empty = surface == Surface::Tasks && size <= BATCH;
            assert_eq!(known.read.len(), if is_empty { 0 } else { size }, "{surface:?}");
            assert!(known.enumeration.iter().all(|whole| *whole));
            assert!(known.cursor.unwrap().contains("t1"), "it goes on from the state that was listed");
        }
    }
}

/// The same of a server without sync-collection, which is scanned; when it changed, it is listed once more.
#[test]
fn a_scan_lists_once() {
    let (host, asked) = server(|request, _| match request.method.as_str() {
        "REPORT" => response(501, &[], ""),
        _ => multistatus(&format!(
            "{}{}",
            member("/cal/work/", "<d:resourcetype><d:collection/></d:resourcetype><s:getctag>7</s:getctag>"),
            listed(0..1_234)
        )),
    });
    let known = pull(Surface::Calendar, &host, None);
    assert_eq!((known.read.len(), asked.borrow().listings), (1_234, 2), "REPORT refused, PROPFIND");
    let again = pull(Surface::Calendar, &host, known.cursor);
    assert_eq!((again.read.len(), again.enumeration), (0, vec![false]), "its tag is as it was");
    assert_eq!(asked.borrow().listings, 3);
}

/// Many changes are named at once, too, and deletions are reported without a further request.
#[test]
fn many_changes_are_listed_once() {
    let (host, asked) = server(|_, text| {
        assert!(text.contains(">t0<"), "{text}");
        let gone: String = (0..300).map(|n| status(&href(n), "404 Not Found")).collect();
        multistatus(&format!("{gone}{}<d:sync-token>t1</d:sync-token>", listed(300..1_000)))
    });
    let known = pull(Surface::Contacts, &host, Some(r#"{"f":"t0"}"#.into()));
    assert_eq!((known.gone.len(), known.read.len()), (300, 700));
    assert_eq!((asked.borrow().listings, asked.borrow().multigets), (1, 4));
    assert!(known.enumeration.iter().all(|whole| !whole), "what it does not name is not gone");
}

/// RFC 6578 section 3.6: the server cuts its listing, and the rest is under the token of each piece. All is one enumeration.
#[test]
fn a_listing_that_is_cut_is_asked_for_piece_by_piece() {
    let (host, asked) = server(|_, text| {
        let token = text.split("<D:sync-token>").nth(1).unwrap().split('<').next().unwrap();
        let from: usize = token.parse().unwrap_or(0);
        let to = (from + 700).min(3_000);
        let cut = if to < 3_000 { status("/cal/work/", "507 Insufficient Storage") } else { String::new() };
        multistatus(&format!("{}{cut}<d:sync-token>{to}</d:sync-token>", listed(from..to)))
    });
    let known = pull(Surface::Calendar, &host, None);
    assert_eq!((known.read.len(), asked.borrow().listings), (3_000, 5));
    assert!(known.enumeration.iter().all(|whole| *whole));
    assert!(known.cursor.unwrap().contains("3000"));
}

/// A server that refuses so many at once, or whose answer is longer than what is read, is asked for less.
#[test]
fn a_listing_that_is_too_long_is_asked_for_in_smaller_pieces() {
    for is_refused in [true, false] {
        let (host, asked) = server(move |_, text| {
            let token = text.split("<D:sync-token>").nth(1).unwrap().split('<').next().unwrap();
            let from: usize = token.parse().unwrap_or(0);
            let wanted = text.split("<D:nresults>").nth(1).map(|rest| rest.split('<').next().unwrap());
            let wanted: usize = wanted.map_or(usize::MAX, |n| n.parse().unwrap());
            if wanted > 500 && is_refused {
                return response(507, &[], "");
            }
            let to = from.saturating_add(wanted).min(900);
            let cut = if to < 900 { status("/cal/work/", "507 Insufficient Storage") } else { String::new() };
            let all = multistatus(&format!("{}{cut}<d:sync-token>{to}</d:sync-token>", listed(from..to)));
            Response { truncated: wanted > 500, ..all }
        });
        let known = pull(Surface::Calendar, &host, None);
        assert_eq!(known.read.len(), 900);
        // The limit is found out once: three pieces.
        assert!(asked.borrow().listings <= 5 + 2, "{}", asked.borrow().listings);
    }
}

/// A listing of the server can be too long for one answer by its names alone: the rest is named with the next answer.
#[test]
fn long_names_are_told_in_pieces() {
    let long = |n: usize| format!("/cal/work/{n:05}{}.x", "a".repeat(1_800));
    let (host, asked) = server(move |_, _| {
        let one = |n| member(&long(n), &format!("<d:getetag>\"{n}\"</d:getetag>"));
        let all: String = (0..3_000).map(one).collect();
        multistatus(&format!("{all}<d:sync-token>t1</d:sync-token>"))
    });
    let first = Surface::Calendar.changes(&host, None).unwrap();
    assert!(first.more && serde_json::to_vec(&first.body).unwrap().len() < 5 << 20);
    let named = first.body.named.len();
    let rest = pull(Surface::Calendar, &host, first.cursor);
    assert_eq!(named + rest.read.len(), 3_000);
    assert_eq!(asked.borrow().listings, 2);
    assert!(rest.cursor.unwrap().contains("t1"), "it goes on from the state that was listed first");
}

/// A PROPFIND whose answer the server cut says nothing of what is missing: it is no enumeration, and nothing goes by it.
#[test]
fn a_scan_that_is_cut_fails() {
    let (host, _) = server(|request, _| match request.method.as_str() {
        "REPORT" => response(501, &[], ""),
        _ => multistatus(&format!("{}{}", listed(0..5), status("/cal/work/", "507 Insufficient Storage"))),
    });
    assert_eq!(Surface::Calendar.changes(&host, None).unwrap_err().code, code::UNAVAILABLE);
}

/// 507 to a multiget, as a whole or for the rest of it: all of it is read in the end, and what is too much by itself is an error of its
/// own.
#[test]
fn a_multiget_that_is_cut_is_continued() {
    let ids: Vec<String> = (0..BATCH).map(href).collect();
    for most in [0, 1, 7, 150, 199] {
        for is_whole in [true, false] {
            let host = Recorded::answering(move |request| {
                let text = String::from_utf8(body(request)).unwrap();
                let asked = hrefs(&text);
                if asked.len() <= most {
                    return Ok(multistatus(&objects(&text, &asked)));
                }
                let cut = status("/cal/work/", "507 Insufficient Storage");
                Ok(match is_whole {
                    true => response(507, &[], ""),
                    false => multistatus(&format!("{}{cut}", objects(&text, &asked[..most]))),
                })
            });
            let read = Surface::Calendar.get(&host, &ids).unwrap().sources;
            let seen: BTreeSet<&str> = read.iter().map(|source| source.external_id.as_str()).collect();
            assert_eq!((read.len(), seen.len()), (BATCH, BATCH), "{most} {is_whole}");
            assert_eq!(read.iter().all(|source| source.error.is_none()), most > 0, "{most} {is_whole}");
        }
    }
}

/// A lost connection is a failure of the call, not of the resources to read.
#[test]
fn a_connection_that_is_cut_blames_no_source() {
    let host = Recorded::answering(|_| Err(SendError::new("connection", "the connection was cut")));
    let ids: Vec<String> = (0..BATCH).map(href).collect();
    assert!(Surface::Calendar.get(&host, &ids).is_err());
    assert!(Surface::Contacts.changes(&host, None).is_err());
}
