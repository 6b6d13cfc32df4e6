//! The connector against a server in memory: what a real one does seldom, late or wrong.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]
#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod fake;
mod support;

use std::collections::{BTreeMap, BTreeSet};

use connector_jmap::Jmap;
use connector_sdk::http::SendError;
use connector_sdk::testing::{Recorded, response};
use connector_sdk::{Answer, Context, Email as _, Lifecycle as _, code};
use fake::{Shared, URL, open};
use model::email::EmailAddress;
use model::wire::email::*;
use model::wire::{ChangesRequest, Connection, Source, Sources};
use proptest::prelude::*;
use serde_json::{Value, json};
use support::{Blobs, is_folder};

type Session = support::Session<Recorded>;

/// A host's copy after it read the answers.
#[derive(Default)]
struct Known {
    mails: BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)>,
    told: Vec<String>,
}

impl Known {
    fn read(&mut self, session: &Session, sources: Vec<Source>) {
        for source in sources.into_iter().filter(|source| !is_folder(source)) {
            let id = source.external_id[2..].to_owned();
            self.told.push(id.clone());
            if source.deleted {
                self.mails.remove(&id);
            } else if source.items[0].partial && !self.mails.contains_key(&id) {
                // The host asks for a message that it does not know.
                let messages = vec![MessageRef { source: source.external_id, hint: None }];
                let asked = MessagesGet { messages, ..MessagesGet::default() };
                self.read(session, Jmap::get_messages(&session.cx(), asked).unwrap().sources);
            } else {
                self.mails.insert(id, state(&source));
            }
        }
    }
}

/// Keywords and folders.
fn state(source: &Source) -> (BTreeSet<String>, BTreeSet<String>) {
    let body: Value = source.items[0].body.read().unwrap();
    let texts = |name: &str| -> BTreeSet<String> {
        body[name].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
    };
    let folders = texts("folderIds").iter().map(|id| id[2..].to_owned()).collect();
    (texts("keywords"), folders)
}

/// The same of the server.
fn truth(server: &Shared) -> BTreeMap<String, (BTreeSet<String>, BTreeSet<String>)> {
    let server = server.borrow();
    server
        .mails
        .iter()
        .map(|(id, mail)| (id.clone(), (mail.keywords.clone(), mail.mailboxes.clone())))
        .collect()
}

/// All messages that the page declares as reported, were reported.
fn check_covered(server: &Shared, known: &Known, answer: &Answer<Sources>) {
    if let Some(since) = answer.body.covered_since {
        for (id, mail) in &server.borrow().mails {
            assert!(
                mail.at * 1000 < since.as_millis() || known.told.contains(id),
                "{id} at {} since {since}",
                mail.at
            );
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Put(i64),
    Flag(usize),
    Destroy(usize),
    /// The last message of the page that was read last: the next page's anchor.
    DestroyLast,
    Read,
    /// A mail comes before this method of the next request, and was received then.
    Arrive(usize, i64),
    /// The mail that came last.
    DestroyNewest,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    // Few different times: ties.
    let step = prop_oneof![
        3 => (0..6i64).prop_map(Step::Put),
        2 => (0..40usize).prop_map(Step::Flag),
        2 => (0..40usize).prop_map(Step::Destroy),
        1 => Just(Step::DestroyLast),
        4 => Just(Step::Read),
        2 => (0..7usize, 0..6i64).prop_map(|(before, at)| Step::Arrive(before, at)),
        1 => Just(Step::DestroyNewest),
    ];
    proptest::collection::vec(step, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// After any events between the pages, and in the middle of them, the host ends with the server's state.
    #[test]
    fn pages_and_changes_add_up(start in 0..40i64, limit in 1..9u32, steps in steps()) {
        Reader::new(start, limit).run(steps);
    }
}

/// A host that reads while others write.
struct Reader {
    server: Shared,
    session: Session,
    known: Known,
    cursor: Option<String>,
    limit: u32,
    is_read: bool,
}

impl Reader {
    fn new(start: i64, limit: u32) -> Self {
        let (server, session) = open();
        (0..start).for_each(|n| drop(server.borrow_mut().put(n / 5)));
        Reader { server, session, known: Known::default(), cursor: None, limit, is_read: false }
    }

    fn run(mut self, steps: Vec<Step>) {
        for step in steps {
            self.step(step);
        }
        let mut pages = 0;
        loop {
            let is_raced = !self.server.borrow().arrivals.is_empty();
            if !self.read() && !is_raced {
                break;
            }
            pages += 1;
            assert!(pages < 200, "the pages never end");
        }
        assert_eq!(self.known.mails, truth(&self.server));
        let last = self.session.changes(self.cursor, self.limit).unwrap();
        assert!(last.body.sources.is_empty() && !last.more && !last.body.enumeration);
    }

    fn step(&mut self, step: Step) {
        let server = self.server.clone();
        let nth = |n: usize| server.borrow().mails.keys().nth(n).cloned().unwrap_or_default();
        match step {
            Step::Put(at) => drop(server.borrow_mut().put(at)),
            Step::Flag(n) => {
                let id = nth(n);
                server.borrow_mut().flag(&id, "x");
            }
            Step::Destroy(n) => {
                let id = nth(n);
                server.borrow_mut().destroy(&id);
            }
            Step::DestroyLast => {
                let last = self.known.told.last().cloned().unwrap_or_default();
                server.borrow_mut().destroy(&last);
            }
            Step::DestroyNewest => {
                let newest = server.borrow().mails.keys().last().cloned().unwrap_or_default();
                server.borrow_mut().destroy(&newest);
            }
            Step::Arrive(before, at) => server.borrow_mut().arrivals.push((before, at)),
            Step::Read => drop(self.read()),
        }
    }

    /// Whether there is more to read now.
    fn read(&mut self) -> bool {
        let before = self.server.borrow().requests;
        let is_raced = !self.server.borrow().arrivals.is_empty();
        let answer = self.session.changes(self.cursor.take(), self.limit).unwrap();
        let requests = self.server.borrow().requests - before;
        assert!(requests <= 2, "one request, and one more where the anchor is gone");
        assert_eq!(answer.body.enumeration, !self.is_read, "until the last page of the first reading");
        self.known.read(&self.session, answer.body.sources.clone());
        if !is_raced {
            check_covered(&self.server, &self.known, &answer);
        }
        self.is_read |= !answer.more;
        self.cursor = answer.cursor;
        answer.more
    }
}

#[test]
fn messages_of_one_second_are_not_promised_before_all_were_told() {
    let (server, session) = open();
    (0..7).for_each(|_| drop(server.borrow_mut().put(100)));
    let first = session.changes(None, 3).unwrap();
    assert_eq!(first.body.covered_since.unwrap().as_millis(), 101_000);
    let second = session.changes(first.cursor, 3).unwrap();
    let third = session.changes(second.cursor, 3).unwrap();
    assert_eq!((third.more, third.body.covered_since.unwrap().as_millis()), (false, 100_000));
}

#[test]
fn a_page_waits_until_a_flood_of_changes_is_told_and_is_not_read_meanwhile() {
    let (server, session) = open();
    let ids: Vec<String> = (0..12).map(|n| server.borrow_mut().put(100 - n)).collect();
    let mut cursor = session.changes(None, 3).unwrap().cursor;
    ids.iter().for_each(|id| server.borrow_mut().flag(id, "x"));
    let mut shapes = Vec::new();
    server.borrow_mut().calls.clear();
    loop {
        let answer = session.changes(cursor, 3).unwrap();
        assert!(answer.body.enumeration);
        let whole = answer.body.sources.iter().filter(|source| !source.items[0].partial).count();
        shapes.push((answer.body.sources.len() - whole, whole));
        cursor = answer.cursor;
        if !answer.more {
            break;
        }
    }
    assert_eq!(shapes, [(3, 0), (3, 0), (3, 0), (3, 0), (0, 3), (0, 3), (0, 3), (0, 0)]);
    let queries =
        server.borrow().calls.iter().filter(|calls| calls.contains(&"Email/query".to_owned())).count();
    assert_eq!(queries, 5);
}

#[test]
fn an_anchor_that_is_gone_costs_one_more_request() {
    let (server, session) = open();
    let ids: Vec<String> = (0..6).map(|n| server.borrow_mut().put(100 - n)).collect();
    let first = session.changes(None, 2).unwrap();
    server.borrow_mut().destroy(&ids[1]);
    session.host.round_trips();
    let second = session.changes(first.cursor, 2).unwrap();
    assert_eq!(session.host.round_trips(), 2);
    let told: Vec<&str> = second.body.sources.iter().map(|source| source.external_id.as_str()).collect();
    assert_eq!(told, [format!("M:{}", ids[2]), format!("M:{}", ids[3]), format!("M:{}", ids[1])]);
    assert!(second.body.sources[2].deleted);
}

#[test]
fn a_state_that_the_server_forgot_starts_over() {
    let (server, session) = open();
    server.borrow_mut().put(1);
    let read = session.changes(None, 10).unwrap();
    let id = server.borrow_mut().put(2);
    server.borrow_mut().oldest_state = 2;
    assert_eq!(session.changes(read.cursor, 10).unwrap_err().code, code::CURSOR_EXPIRED);
    assert_eq!(
        session.changes(Some("of another version".into()), 10).unwrap_err().code,
        code::CURSOR_EXPIRED
    );
    let again = session.changes(None, 10).unwrap();
    assert!(again.body.sources.iter().any(|source| source.external_id == format!("M:{id}")));
}

#[test]
fn names_alone_are_told_where_that_is_asked() {
    let (server, session) = open();
    server.borrow_mut().put(5);
    server.borrow_mut().put(4);
    let names = |cursor: Option<String>| {
        let args = ChangesRequest { limit: 1, names_only: true, ..ChangesRequest::default() };
        Jmap::changes(&session.cx().at(cursor), args).unwrap()
    };
    let (first, whole) = (names(None), session.changes(None, 1).unwrap());
    assert_eq!((&first.cursor, first.body.covered_since), (&whole.cursor, whole.body.covered_since));
    let mails: Vec<&Source> = first.body.sources.iter().filter(|source| !is_folder(source)).collect();
    assert!(mails.len() == 1 && mails[0].items.is_empty() && mails[0].etag.is_some());
    // Folders cannot be read one by one: they are reported as always.
    assert_eq!(
        first.body.sources.iter().filter(|source| is_folder(source) && source.items.len() == 1).count(),
        4
    );
    server.borrow_mut().flag("e0001", "x");
    let second = names(first.cursor);
    assert!(
        second.body.sources.iter().all(|source| source.items.is_empty()) && second.body.sources.len() == 2
    );
}

#[test]
fn a_message_that_cannot_be_read_does_not_stop_the_others() {
    let (server, session) = open();
    server.borrow_mut().put(5);
    server.borrow_mut().instead = Some(Box::new(|method, args| {
        let ids = args["ids"].as_array().filter(|ids| method == "Email/get" && !ids.is_empty())?;
        let broken = json!({ "id": "broken", "keywords": [7] });
        let list: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).chain([broken]).collect();
        Some((method.into(), json!({ "state": "1", "list": list })))
    }));
    let sources = session.changes(None, 5).unwrap().body.sources;
    let broken = sources.iter().find(|source| source.external_id == "M:broken").unwrap();
    assert!(broken.error.is_some() && broken.items.is_empty());
    assert!(sources.iter().any(|source| source.external_id == "M:e0001" && source.items.len() == 1));
}

#[test]
fn an_answer_that_is_cut_off_is_asked_for_in_smaller_pages() {
    let (server, session) = open();
    (0..30).for_each(|n| drop(server.borrow_mut().put(n)));
    let mut cut = response(200, &[], "{\"methodResponses\":[[\"Email/g");
    cut.truncated = true;
    server.borrow_mut().answers = vec![cut.clone()];
    let first = session.changes(None, 24).unwrap();
    assert_eq!(first.body.sources.iter().filter(|source| !is_folder(source)).count(), 3);
    server.borrow_mut().answers = vec![cut.clone(), cut];
    assert_eq!(
        session.changes(first.cursor, 8).unwrap_err().code,
        code::UNAVAILABLE,
        "one message that is too large"
    );
}

#[test]
fn changes_that_are_more_than_a_get_may_have_are_read_in_pieces() {
    let (server, session) = open();
    let read = session.changes(None, 10).unwrap();
    (0..5).for_each(|n| drop(server.borrow_mut().put(n)));
    server.borrow_mut().instead = Some(Box::new(|method, args| {
        let is_large = args["ids"].as_array().is_some_and(|ids| ids.len() > 2);
        (method == "Email/get" && is_large).then(|| ("error".into(), json!({ "type": "requestTooLarge" })))
    }));
    let mut session = session;
    session.connection.settings.insert("maxObjectsInGet".into(), json!(2));
    server.borrow_mut().ignores_max_changes = true;
    let all = session.changes(read.cursor, 10).unwrap();
    assert_eq!((all.body.sources.len(), all.more), (5, false));
}

fn update(etag: Option<String>) -> MessageUpdate {
    let message = MessageRef { source: "M:e0001".into(), hint: None };
    MessageUpdate { message, starred: Some(true), if_match: etag, ..MessageUpdate::default() }
}

#[test]
fn a_change_elsewhere_is_no_conflict_and_one_of_the_message_is() {
    let (server, session) = open();
    server.borrow_mut().put(1);
    let etag = session.changes(None, 10).unwrap().body.sources.last().unwrap().etag.clone();
    // Something else arrives between reading and writing, once.
    let start = server.borrow().requests;
    server.borrow_mut().before_request = Some(Box::new(move |server, number| {
        if number == start + 2 {
            server.put(2);
        }
    }));
    session.host.round_trips();
    let changed = Jmap::update_message(&session.cx(), update(etag)).unwrap();
    assert_eq!(session.host.round_trips(), 4, "read, refused, read, written");
    let etag = changed.sources[0].etag.clone();
    // The message itself changes between reading and writing.
    let start = server.borrow().requests;
    server.borrow_mut().before_request = Some(Box::new(move |server, number| {
        if number == start + 2 {
            server.flag("e0001", "other");
        }
    }));
    assert_eq!(Jmap::update_message(&session.cx(), update(etag)).unwrap_err().code, code::CONFLICT);
    // A mailbox that never rests.
    server.borrow_mut().before_request = Some(Box::new(|server, _| drop(server.put(3))));
    session.host.round_trips();
    let etag = session
        .changes(None, 10)
        .unwrap()
        .body
        .sources
        .iter()
        .find(|s| s.external_id == "M:e0001")
        .unwrap()
        .etag
        .clone();
    session.host.round_trips();
    assert_eq!(Jmap::update_message(&session.cx(), update(etag.clone())).unwrap_err().code, code::CONFLICT);
    assert_eq!(session.host.round_trips(), 6, "three attempts");
    let delete = MessageDelete { message: update(None).message, permanent: true, if_match: etag };
    assert_eq!(Jmap::delete_message(&session.cx(), delete).unwrap_err().code, code::CONFLICT);
    assert_eq!(session.host.round_trips(), 6);
}

#[test]
fn errors_of_the_server_are_told_apart() {
    let (server, session) = open();
    let told = |kind: &'static str| {
        server.borrow_mut().instead = Some(Box::new(move |method, _| {
            (method == "Email/query").then(|| ("error".into(), json!({ "type": kind })))
        }));
        session.changes(None, 10).unwrap_err().code
    };
    assert_eq!(told("serverFail"), code::UNAVAILABLE);
    assert_eq!(told("accountNotFound"), code::NOT_FOUND);
    assert_eq!(told("forbidden"), code::FORBIDDEN);
    server.borrow_mut().instead = None;
    let refused = |status: u16, body: &str| {
        server.borrow_mut().answers = vec![response(status, &[("retry-after", "3")], body)];
        session.changes(None, 10).unwrap_err()
    };
    let limit =
        json!({ "type": "urn:ietf:params:jmap:error:limit", "limit": "maxConcurrentRequests" }).to_string();
    let busy = refused(400, &limit);
    assert_eq!((busy.code.as_str(), busy.retry_after_ms), (code::RATE_LIMITED, Some(3000)));
    assert_eq!(refused(429, "").code, code::RATE_LIMITED);
    assert_eq!(refused(401, "").code, code::AUTH_EXPIRED);
    assert_eq!(refused(500, "<html>").code, code::UNAVAILABLE);
    assert_eq!(refused(200, "<html>").code, code::UNAVAILABLE);
    assert_eq!(refused(200, "{\"methodResponses\":[]}").code, code::UNAVAILABLE);
}

#[test]
fn a_session_that_moved_is_read_again_once() {
    let (server, session) = open();
    server.borrow_mut().put(1);
    let mut session = session;
    session.connection.settings.insert("apiUrl".into(), format!("{URL}/old").into());
    session.host.round_trips();
    assert!(session.changes(None, 10).is_ok());
    assert_eq!(
        *session.host.requests.borrow(),
        [format!("POST {URL}/old"), format!("GET {URL}/session"), format!("POST {URL}/api")]
    );
    session.host.round_trips();
    server.borrow_mut().answers = vec![
        response(404, &[], ""),
        response(200, &[], &fake::session().to_string()),
        response(404, &[], ""),
    ];
    assert_eq!(session.changes(None, 10).unwrap_err().code, code::NOT_FOUND);
    assert_eq!(session.host.round_trips(), 3);
}

fn check(
    server_url: &str,
    answers: Vec<(&str, connector_sdk::http::Response)>,
) -> Result<model::wire::Account, connector_sdk::Failure> {
    let recorded = answers.into_iter().fold(Recorded::new(), |host, (url, answer)| {
        let is_api = answer.text().contains("methodResponses");
        host.expect(if is_api { "POST" } else { "GET" }, url, answer)
    });
    let host = Blobs::around(recorded);
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), server_url.into());
    Jmap::check(&Context::new(&host, connection))
}

fn identities(list: Value) -> connector_sdk::http::Response {
    response(
        200,
        &[],
        &json!({ "methodResponses": [["Identity/get", { "list": list }, "c0"]], "sessionState": "0" })
            .to_string(),
    )
}

#[test]
fn a_session_is_found_over_redirects_and_its_relative_urls_are_resolved() {
    let list = json!([
        { "id": "1", "name": "", "email": "*@jmap.test" }, { "id": "2", "name": "Ann Doe", "email": "Second@jmap.test" },
        { "id": "3", "name": "", "email": "ann@jmap.test" },
    ]);
    let account = check(
        "https://jmap.test/",
        vec![
            ("https://jmap.test/.well-known/jmap", response(302, &[("location", "/jmap/session")], "")),
            ("https://jmap.test/jmap/session", response(200, &[], &fake::session().to_string())),
            ("https://jmap.test/api", identities(list)),
        ],
    )
    .unwrap();
    assert_eq!(account.email.as_deref(), Some("ann@jmap.test"));
    assert_eq!(account.aliases, ["second@jmap.test"]);
    assert_eq!(account.display_name.as_deref(), Some("Ann Doe"));
    assert_eq!(account.external_account_id, "jmap.test/a/ann@jmap.test");
    assert_eq!(account.settings["uploadUrl"], "https://jmap.test/jmap/upload");
    assert_eq!(account.settings["downloadUrl"], "https://jmap.test/download/{blobId}");
    assert_eq!(account.settings["sessionUrl"], "https://jmap.test/jmap/session");
    assert_eq!(account.settings["submission"], true);
}

#[test]
fn a_recorded_session_of_a_real_server_is_read() {
    let session = include_str!("../fixtures/cyrus_session.json");
    let identity = json!([{ "id": "alice", "name": "", "email": "", "mayDelete": false }]);
    let account = check(
        "https://cyrus.test/jmap/",
        vec![
            ("https://cyrus.test/jmap/", response(200, &[], session)),
            ("https://cyrus.test/jmap/", identities(identity)),
        ],
    )
    .unwrap();
    assert_eq!((account.email, account.display_name.as_deref()), (None, Some("alice")));
    let settings = json!({
        "sessionUrl": "https://cyrus.test/jmap/", "apiUrl": "https://cyrus.test/jmap/",
        "downloadUrl": "https://cyrus.test/jmap/download/{accountId}/{blobId}/{name}?accept={type}",
        "uploadUrl": "https://cyrus.test/jmap/upload/{accountId}/", "accountId": "alice",
        "eventSourceUrl": "https://cyrus.test/jmap/eventsource/?types={types}&closeafter={closeafter}&ping={ping}",
        "submission": true, "readOnly": false, "maxObjectsInGet": 4096, "maxSizeUpload": 1_073_741_824,
        "maxSizeAttachmentsPerEmail": 10_485_760,
    });
    assert_eq!(json!(account.settings), settings);
}

/// The host waits for news where the session says so, if that is a place where the account is anyway: to no other one do its credentials
/// go for that.
#[test]
fn the_event_source_is_kept_where_the_account_is() {
    let found = |api: &str, source: Value| {
        let mut session = fake::session();
        session["apiUrl"] = json!(format!("{api}/api"));
        session["eventSourceUrl"] = source;
        let answers = vec![
            ("https://jmap.test/s", response(200, &[], &session.to_string())),
            (
                if api.is_empty() { "https://jmap.test/api" } else { "https://api.jmap.test/api" },
                identities(json!([])),
            ),
        ];
        let account = check("https://jmap.test/s", answers).unwrap();
        (account.settings["eventSourceUrl"].clone(), account.discovered_origins)
    };
    let template = "events/{accountId}?types={types}&closeafter={closeafter}&ping={ping}";
    let (kept, origins) = found("", json!(format!("/{template}")));
    assert_eq!((kept, origins.len()), (json!(format!("https://jmap.test/{template}")), 0));
    let beside = json!(format!("https://api.jmap.test/{template}"));
    let (kept, origins) = found("https://api.jmap.test", beside.clone());
    assert_eq!((kept, origins), (beside.clone(), vec!["https://api.jmap.test".to_owned()]));
    // No reason to refuse the account.
    for source in
        [beside, json!("https://jmap.test.evil/{types}"), json!("data:x"), json!(""), json!(null), json!(7)]
    {
        assert_eq!(found("", source.clone()), (Value::Null, Vec::new()), "{source}");
    }
}

/// Whether there is push is what the session says.
#[test]
fn an_event_source_is_push() {
    let (_, mut session) = open();
    assert!(!Jmap::features(&session.cx()).unwrap().push);
    let url = format!("{URL}/events?types={{types}}");
    session.connection.settings.insert("eventSourceUrl".into(), url.into());
    assert!(Jmap::features(&session.cx()).unwrap().push);
}

#[test]
fn a_session_at_another_origin_names_it() {
    let mut elsewhere = fake::session();
    elsewhere["apiUrl"] = json!("https://api.jmap.test/api");
    elsewhere["downloadUrl"] = json!("https://www.jmap.test/{blobId}");
    let account = check(
        "https://jmap.test/s?x=1",
        vec![
            ("https://jmap.test/s?x=1", response(200, &[], &elsewhere.to_string())),
            ("https://api.jmap.test/api", identities(json!([]))),
        ],
    )
    .unwrap();
    assert_eq!(account.discovered_origins, ["https://api.jmap.test", "https://www.jmap.test"]);
    assert_eq!(account.email.as_deref(), Some("ann@jmap.test"), "the login name is an address");
}

/// The server sends to a host of its API, as Fastmail does: that one is named, and once the host has accepted it the session is read.
#[test]
fn a_session_at_another_host_is_read_once_that_is_accepted() {
    let answer = |request: &connector_sdk::http::Request| {
        let accepted = request.headers.iter().any(|(_, value)| value == "accepted");
        Ok(match request.url.as_str() {
            "https://jmap.test/.well-known/jmap" => {
                response(301, &[("location", "https://api.jmap.test/session")], "")
            }
            _ if !accepted => return Err(SendError::new("denied", "the manifest does not allow this place")),
            "https://api.jmap.test/session" => response(200, &[], &fake::session().to_string()),
            "https://api.jmap.test/api" => identities(json!([])),
            other => panic!("{other}"),
        })
    };
    let mut connection = Connection::default();
    connection.settings.insert("serverUrl".into(), "https://jmap.test/".into());
    let first = Blobs::around(Recorded::answering(answer));
    let account = Jmap::check(&Context::new(&first, connection.clone())).unwrap();
    assert_eq!(account.discovered_origins, ["https://api.jmap.test"]);
    assert_eq!(account.external_account_id, "", "nothing more is known yet");

    connection.settings.insert("discoveredOrigins".into(), json!(account.discovered_origins));
    // Accepted, and still denied: the address is not public. To name it again would lead nowhere.
    let failure = Jmap::check(&Context::new(&first, connection.clone())).unwrap_err();
    assert!(failure.message.contains("https://api.jmap.test"), "{}", failure.message);
    let second = Blobs::around(Recorded::answering(move |request| {
        let mut request = request.clone();
        request.headers.push(("x-host".into(), "accepted".into()));
        answer(&request)
    }));
    let account = Jmap::check(&Context::new(&second, connection)).unwrap();
    assert_eq!(account.discovered_origins, ["https://api.jmap.test"]);
    assert_eq!(account.settings["apiUrl"], "https://api.jmap.test/api");
}

#[test]
fn what_is_no_mail_account_is_refused_with_the_reason() {
    let html = || response(200, &[], "<html>");
    let none = check(
        "https://jmap.test/",
        vec![("https://jmap.test/.well-known/jmap", html()), ("https://jmap.test/", html())],
    );
    assert!(none.unwrap_err().message.contains("no JMAP server"));
    let mut calendars = fake::session();
    calendars["accounts"]["a"]["accountCapabilities"] = json!({});
    calendars["primaryAccounts"] = json!({});
    let no_mail = check(
        "https://jmap.test/",
        vec![("https://jmap.test/.well-known/jmap", response(200, &[], &calendars.to_string()))],
    );
    assert!(no_mail.unwrap_err().message.contains("no mail"));
    let plain = response(301, &[("location", "http://elsewhere.test/jmap")], "");
    let plain = check(
        "https://jmap.test/",
        vec![("https://jmap.test/.well-known/jmap", plain), ("https://jmap.test/", response(404, &[], ""))],
    );
    assert_eq!(plain.unwrap_err().code, code::INVALID);
    let refused =
        check("https://jmap.test/", vec![("https://jmap.test/.well-known/jmap", response(401, &[], ""))]);
    assert_eq!(refused.unwrap_err().code, code::AUTH_EXPIRED);
}

fn send(session: &Session, recipients: &[&str], save_to_sent: bool) -> Result<Sent, connector_sdk::Failure> {
    let args = MessageSend {
        blob: session.host.blob(b"Subject: x\r\n\r\ny\r\n"),
        from: EmailAddress { name: None, email: "ann@jmap.test".into() },
        recipients: recipients.iter().map(|one| (*one).to_owned()).collect(),
        save_to_sent,
        ..MessageSend::default()
    };
    Jmap::send(&session.cx(), args)
}

#[test]
fn recipients_that_the_server_refuses_do_not_stop_the_others() {
    let (server, session) = open();
    server.borrow_mut().refuses =
        Some(json!({ "type": "invalidRecipients", "invalidRecipients": ["bad@x.test"] }));
    let sent = send(&session, &["good@x.test", "bad@x.test"], true).unwrap();
    let accepted: Vec<bool> = sent.recipients.iter().map(|one| one.accepted).collect();
    assert_eq!(accepted, [true, false]);
    assert_eq!(server.borrow().submissions, [["good@x.test"]]);
    assert_eq!(server.borrow().mails.len(), 1, "imported once");
    assert_eq!(state(&sent.sources[0]).1, ["sent".to_owned()].into());
    server.borrow_mut().mails.clear();
    server.borrow_mut().refuses = Some(json!({ "type": "invalidRecipients" }));
    let sent = send(&session, &["bad@x.test"], true).unwrap();
    assert!(!sent.recipients[0].accepted && sent.sources.is_empty());
    assert!(server.borrow().mails.is_empty(), "nothing is left in the drafts");
}

#[test]
fn a_message_that_was_not_sent_leaves_nothing() {
    let (server, session) = open();
    for (kind, expected) in [
        ("forbiddenFrom", code::FORBIDDEN),
        ("tooManyRecipients", code::INVALID),
        ("rateLimit", code::RATE_LIMITED),
        ("tooLarge", code::INVALID),
        ("ofItsOwn", code::UNAVAILABLE),
    ] {
        server.borrow_mut().refuses = Some(json!({ "type": kind }));
        assert_eq!(send(&session, &["a@x.test"], true).unwrap_err().code, expected, "{kind}");
        assert!(server.borrow().mails.is_empty(), "{kind}");
    }
    let mut session = session;
    session.connection.settings.insert("submission".into(), false.into());
    session.host.round_trips();
    assert_eq!(send(&session, &["a@x.test"], true).unwrap_err().code, code::UNSUPPORTED);
    assert_eq!(session.host.round_trips(), 0);
}

#[test]
fn the_host_is_told_right_before_the_message_is_handed_over() {
    let (server, session) = open();
    send(&session, &["a@x.test"], true).unwrap();
    assert_eq!(*session.host.steps.borrow(), ["handed-over", "accepted"]);
    let calls = server.borrow().calls.clone();
    assert_eq!(
        calls,
        [
            vec!["Identity/get", "Mailbox/get"],
            vec!["Email/import", "EmailSubmission/set"],
            vec!["EmailSubmission/get", "Email/get"],
        ]
    );
    // A server that forgets what to do after it.
    server.borrow_mut().ignores_on_success = true;
    let sent = send(&session, &["a@x.test"], true).unwrap();
    assert_eq!(state(&sent.sources[0]).1, ["sent".to_owned()].into());
    assert!(send(&session, &["a@x.test"], false).unwrap().sources.is_empty());
    let server = server.borrow();
    assert!(
        server
            .mails
            .values()
            .all(|mail| mail.mailboxes == ["sent".to_owned()].into() && !mail.keywords.contains("$draft"))
    );
    assert_eq!(server.mails.len(), 2);
}

#[test]
fn a_draft_is_kept_until_the_new_version_is_there() {
    let (server, session) = open();
    let old = server.borrow_mut().put(1);
    server.borrow_mut().instead = Some(Box::new(|method, _| {
        let refusal = json!({ "notCreated": { "message": { "type": "overQuota" } } });
        (method == "Email/import").then(|| (method.into(), refusal))
    }));
    let save = || {
        let args = DraftSave {
            blob: session.host.blob(b"Subject: x\r\n\r\ny\r\n"),
            internet_message_id: "d@jmap.test".into(),
            replaces: Some(MessageRef { source: format!("M:{old}"), hint: None }),
            ..DraftSave::default()
        };
        Jmap::save_draft(&session.cx(), args)
    };
    assert_eq!(save().unwrap_err().code, code::FORBIDDEN);
    assert!(server.borrow().mails.contains_key(&old));
    server.borrow_mut().instead = None;
    let saved = save().unwrap();
    assert!(!server.borrow().mails.contains_key(&old));
    assert_eq!(saved.sources[0].previous_id, Some(format!("M:{old}")));
}
