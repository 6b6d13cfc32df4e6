//! The connector against a real Cyrus, where the environment says that it is up (`PEERS_UP`, `CYRUS_URL`). Each test has a user of its
//! own and empties that mailbox first.
//!
//! Without the server the tests say that they did not run; with `SWITCHBOARD_REQUIRE_PEERS=1` that is a failure.

#![expect(clippy::string_slice, reason = "a test cuts texts that it knows: a panic is the report")]
#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod support;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use connector_jmap::Jmap;
use connector_sdk::http::{Http as _, Request};
use connector_sdk::testing::{Credentials, Live};
use connector_sdk::{Context, Email as _, Lifecycle as _, code};
use model::email::folders::{Folder, FolderRole};
use model::email::{CalendarMethod, EmailAddress, EmailMessage, Importance};
use model::wire::email::*;
use model::wire::{Connection, Source};
use serde_json::{Value, json};
use support::{Blobs, is_folder};

type Session = support::Session<Live>;

fn server() -> Option<String> {
    let up = std::env::var("PEERS_UP").unwrap_or_default();
    let url = std::env::var("CYRUS_URL").ok().filter(|_| up.split([' ', ',']).any(|peer| peer == "cyrus"));
    if url.is_none() {
        let required = std::env::var("SWITCHBOARD_REQUIRE_PEERS").is_ok_and(|value| value == "1");
        assert!(!required, "cyrus must be up for this test");
        eprintln!("not run: cyrus is not up");
    }
    url
}

fn host(user: &str, password: &str) -> Blobs<Live> {
    Blobs::around(Live::new(Credentials::Basic { username: user.into(), password: password.into() }))
}

fn connection(url: &str, user: &str) -> Connection {
    let mut connection = Connection { username: Some(user.into()), ..Connection::default() };
    connection.settings.insert("serverUrl".into(), url.into());
    connection
}

/// The user's account, empty.
fn open(user: &str) -> Option<Session> {
    let url = server()?;
    let host = host(user, "secret");
    let mut connection = connection(&url, user);
    let account = Jmap::check(&Context::new(&host, connection.clone())).unwrap();
    connection.settings.extend(account.settings);
    let session = Session { host, connection };
    session.empty();
    session.host.round_trips();
    Some(session)
}

impl Session {
    /// Calls methods as another client would; their answers in order.
    fn api(&self, calls: &[(&str, Value)]) -> Vec<Value> {
        let account = &self.connection.settings["accountId"];
        let call = |(index, (method, args)): (usize, &(&str, Value))| {
            let mut args = args.clone();
            args["accountId"] = account.clone();
            json!([method, args, format!("c{index}")])
        };
        let calls: Vec<Value> = calls.iter().enumerate().map(call).collect();
        let using = ["core", "mail", "submission"].map(|name| format!("urn:ietf:params:jmap:{name}"));
        let url = self.connection.settings["apiUrl"].as_str().unwrap();
        let request = Request::post(url).json(&json!({ "using": using, "methodCalls": calls }));
        let answer: Value = self.host.inner.send(request).unwrap().json().unwrap();
        answer["methodResponses"].as_array().unwrap().iter().map(|answer| answer[1].clone()).collect()
    }

    fn empty(&self) {
        loop {
            let found = self.api(&[("Email/query", json!({ "limit": 500 }))]);
            let ids = found[0]["ids"].as_array().unwrap().clone();
            if ids.is_empty() {
                break;
            }
            self.api(&[("Email/set", json!({ "destroy": ids }))]);
        }
        let all = self.api(&[("Mailbox/get", json!({}))]);
        let mut own: Vec<&Value> = all[0]["list"].as_array().unwrap().iter().collect();
        own.retain(|mailbox| mailbox["role"].is_null());
        own.sort_by_key(|mailbox| mailbox["parentId"].is_null());
        for mailbox in own {
            self.api(&[(
                "Mailbox/set",
                json!({ "destroy": [mailbox["id"]], "onDestroyRemoveEmails": true }),
            )]);
        }
    }

    fn mailbox(&self, role: &str) -> String {
        let all = self.api(&[("Mailbox/get", json!({}))]);
        let list = all[0]["list"].as_array().unwrap().clone();
        let found = list.into_iter().find(|mailbox| mailbox["role"] == role).unwrap();
        found["id"].as_str().unwrap().into()
    }

    fn make_mailbox(&self, name: &str, parent: Option<&str>) -> String {
        let create = json!({ "create": { "m": { "name": name, "parentId": parent } } });
        let made = self.api(&[("Mailbox/set", create)]);
        made[0]["created"]["m"]["id"].as_str().unwrap().into()
    }

    /// Stores a message as another client would; its id.
    fn put(&self, mailbox: &str, text: &str, received_at: &str) -> String {
        let upload = self.connection.settings["uploadUrl"].as_str().unwrap();
        let upload = upload.replace("{accountId}", self.connection.settings["accountId"].as_str().unwrap());
        let request = Request::post(upload).body("message/rfc822", text);
        let uploaded: Value = self.cx().send_ok(request, "a fixture").unwrap().json().unwrap();
        let email = json!({ "blobId": uploaded["blobId"], "mailboxIds": { mailbox: true }, "receivedAt": received_at });
        let made = self.api(&[("Email/import", json!({ "emails": { "m": email } }))]);
        made[0]["created"]["m"]["id"].as_str().unwrap_or_else(|| panic!("{made:?}")).into()
    }

    fn get(&self, id: &str, body: bool) -> Source {
        let messages = vec![MessageRef { source: id.into(), hint: None }];
        let args = MessagesGet { messages, body, ..MessagesGet::default() };
        let mut sources = Jmap::get_messages(&self.cx(), args).unwrap().sources;
        assert_eq!(sources.len(), 1);
        sources.remove(0)
    }

    /// All pages from a cursor on; their sources and the last cursor.
    fn drain(&self, mut cursor: Option<String>, limit: u32) -> (Vec<Source>, Option<String>) {
        let mut all = Vec::new();
        loop {
            let answer = self.changes(cursor, limit).unwrap();
            all.extend(answer.body.sources);
            cursor = answer.cursor;
            if !answer.more {
                return (all, cursor);
            }
        }
    }
}

/// A message. The server names messages by their bytes, and remembers those that it had: each run has its own.
fn text(id: &str, extra: &str) -> String {
    let run = std::process::id();
    format!(
        "From: Ann <ann@sink.test>\r\nTo: bob@sink.test\r\nSubject: {id}\r\nMessage-ID: <{id}@jmap.test>\r\n\
         X-Run: {run}\r\n{extra}\r\nText of {id}.\r\n"
    )
}

fn message(source: &Source) -> EmailMessage {
    source.items[0].body.read().unwrap()
}

fn folder(source: &Source) -> Folder {
    source.items[0].body.read().unwrap()
}

fn reference(source: &Source) -> MessageRef {
    let hint = source.items.first().and_then(|item| item.hint.clone());
    MessageRef { source: source.external_id.clone(), hint }
}

#[test]
fn an_account_is_found_and_described() {
    let Some(url) = server() else { return };
    let host = host("t11", "secret");
    for place in
        [url.clone(), format!("{url}.well-known/jmap"), format!("{url}jmap/"), format!("{url}nowhere")]
    {
        let account = Jmap::check(&Context::new(&host, connection(&place, "t11@cyrus.test"))).unwrap();
        assert_eq!(account.email.as_deref(), Some("t11@cyrus.test"), "{place}");
        assert_eq!(account.external_account_id, "127.0.0.1/t11/t11");
        assert_eq!(account.surfaces, ["email"]);
        assert_eq!(account.settings["apiUrl"], format!("{url}jmap/"));
        assert_eq!(
            account.settings["downloadUrl"],
            format!("{url}jmap/download/{{accountId}}/{{blobId}}/{{name}}?accept={{type}}")
        );
        assert_eq!(
            (account.settings["submission"].as_bool(), account.discovered_origins.as_slice()),
            (Some(true), [].as_slice())
        );
    }
    let mut known = connection(&url, "t11");
    let settings = Jmap::check(&Context::new(&host, known.clone())).unwrap().settings;
    known.settings.extend(settings);
    let features = Jmap::features(&Context::new(&host, known)).unwrap();
    assert!(features.send && features.multi_folder && features.keywords && !features.labels);
    // The server takes attachments of 10 MiB together.
    assert_eq!(features.max_message_bytes, Some(14_348_958));
}

#[test]
fn what_is_wrong_is_said() {
    let Some(url) = server() else { return };
    let refused = |url: &str, password: &str| {
        let host = host("t11", password);
        let failure = Jmap::check(&Context::new(&host, connection(url, "t11"))).unwrap_err();
        (failure.code, host.round_trips())
    };
    // The well-known URL redirects; its target is requested once, because accounts get locked.
    assert_eq!(refused(&url, "wrong"), (code::AUTH_EXPIRED.into(), 2));
    assert_eq!(refused("ftp://localhost/", "secret"), (code::INVALID.into(), 0));
    assert_eq!(refused("http://t11:secret@127.0.0.1/", "secret"), (code::INVALID.into(), 0));
}

#[test]
fn a_mailbox_is_read_page_by_page_and_followed() {
    let Some(session) = open("t11") else { return };
    let inbox = session.mailbox("inbox");
    let at = |n: usize| format!("2026-02-01T10:{:02}:00Z", n / 2);
    let mut ids: BTreeSet<String> =
        (0..25).map(|n| session.put(&inbox, &text(&format!("page{n}"), ""), &at(n))).collect();
    session.host.round_trips();
    let first = session.changes(None, 10).unwrap();
    assert_eq!(session.host.round_trips(), 1);
    assert!(first.more && first.body.enumeration);
    let folders: Vec<&Source> = first.body.sources.iter().filter(|source| is_folder(source)).collect();
    assert!(folders.iter().any(|source| folder(source).role == Some(FolderRole::Inbox)));
    assert_eq!(first.body.sources.len(), folders.len() + 10);
    let newest = message(&first.body.sources[folders.len()]);
    assert_eq!(newest.subject.as_deref(), Some("page24"));
    assert_eq!(newest.folder_ids, [format!("F:{inbox}")]);
    let told: Vec<_> =
        first.body.sources[folders.len()..].iter().map(|source| message(source).received_at).collect();
    assert!(told.is_sorted_by(|a, b| a >= b), "{told:?}");
    assert!(first.body.covered_since.unwrap() > *told.last().unwrap());
    // While it is read: one comes, one goes (the last one that was reported), one changes.
    ids.insert(session.put(&inbox, &text("arrived", ""), "2026-03-01T10:00:00Z"));
    let last = first.body.sources.last().unwrap().external_id[2..].to_owned();
    let oldest =
        session.api(&[("Email/query", json!({ "sort": [{ "property": "receivedAt" }], "limit": 1 }))]);
    let oldest = oldest[0]["ids"][0].as_str().unwrap().to_owned();
    session.api(&[(
        "Email/set",
        json!({ "destroy": [last], "update": { oldest.as_str(): { "keywords/$flagged": true } } }),
    )]);
    ids.remove(&last);
    let (rest, cursor) = session.drain(first.cursor, 10);
    let told: BTreeSet<String> =
        first.body.sources.iter().chain(&rest).map(|source| source.external_id.clone()).collect();
    assert!(ids.iter().all(|id| told.contains(&format!("M:{id}"))), "none is left out");
    assert!(rest.iter().any(|source| source.deleted && source.external_id[2..] == last));
    let oldest = rest.iter().rev().find(|source| source.external_id[2..] == oldest).unwrap();
    assert!(message(oldest).starred && !oldest.items[0].partial);
    session.host.round_trips();
    let answer = session.changes(cursor.clone(), 10).unwrap();
    assert_eq!((session.host.round_trips(), answer.more, answer.body.enumeration), (1, false, false));
    assert!(answer.body.sources.is_empty() && answer.cursor.is_some());
}

#[test]
fn changes_are_told_short_and_folders_with_their_paths() {
    let Some(session) = open("t12") else { return };
    let inbox = session.mailbox("inbox");
    let id = session.put(&inbox, &text("changing", ""), "2026-02-01T10:00:00Z");
    let moved = session.put(&inbox, &text("moving", ""), "2026-02-01T10:00:00Z");
    let (_, cursor) = session.drain(None, 0);
    session.host.round_trips();
    let parent = session.make_mailbox("Parent", None);
    let child = session.make_mailbox("Child", Some(&parent));
    let new = session.put(&inbox, &text("new", ""), "2026-02-02T10:00:00Z");
    let update = json!({
        id.as_str(): { "keywords/$seen": true, "keywords/blue": true },
        moved.as_str(): { "mailboxIds": { child.as_str(): true } },
    });
    session.api(&[("Email/set", json!({ "update": update }))]);
    let (sources, cursor) = session.drain(cursor, 0);
    let named = |id: &str| sources.iter().find(|source| source.external_id[2..] == *id).unwrap();
    assert_eq!(folder(named(&child)).path, ["Parent", "Child"]);
    assert_eq!(folder(named(&child)).parent_id, Some(format!("F:{parent}")));
    assert!(!named(&new).items[0].partial && named(&id).items[0].partial);
    let changed: Value = named(&id).items[0].body.read().unwrap();
    assert_eq!((&changed["unread"], &changed["keywords"]), (&json!(false), &json!(["blue"])));
    let placed: Value = named(&moved).items[0].body.read().unwrap();
    assert_eq!(placed["folderIds"], json!([format!("F:{child}")]));
    assert_eq!(named(&id).etag, session.get(&format!("M:{id}"), false).etag);
    let places: Vec<usize> = [&parent, &child, &id]
        .map(|id| sources.iter().position(|s| s.external_id[2..] == **id).unwrap())
        .into();
    assert!(places.is_sorted(), "folders come before what is in them: {places:?}");
    // A new name is in the path of what is below.
    session.api(&[("Mailbox/set", json!({ "update": { parent.as_str(): { "name": "Renamed" } } }))]);
    let (sources, cursor) = session.drain(cursor, 0);
    let below = sources.iter().find(|source| source.external_id[2..] == *child).unwrap();
    assert_eq!(folder(below).path, ["Renamed", "Child"]);
    // This server forgets what was in a folder that is gone.
    session.api(&[("Mailbox/set", json!({ "destroy": [child], "onDestroyRemoveEmails": true }))]);
    assert_eq!(session.changes(cursor, 0).unwrap_err().code, code::CURSOR_EXPIRED);
    let told: Vec<String> = session.drain(None, 0).0.into_iter().map(|source| source.external_id).collect();
    assert!(told.contains(&format!("M:{new}")) && !told.contains(&format!("F:{child}")), "{told:?}");
}

const INVITATION: &str = "From: =?utf-8?q?J=C3=B6rg?= <joerg@sink.test>\r\nTo: t13@cyrus.test\r\nSubject: =?utf-8?q?Caf=C3=A9?=\r\n\
    Message-ID: <invitation@jmap.test>\r\nX-Priority: 1\r\nList-Unsubscribe: <mailto:u@sink.test>,\r\n <https://sink.test/u>\r\n\
    X-Note: =?iso-8859-1?q?gr=FC=DFe?=\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n\
    --o\r\nContent-Type: multipart/alternative; boundary=i\r\n\r\n\
    --i\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nThe quick brown zebra.\r\n\
    --i\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>The <b>quick</b> brown zebra.</p>\r\n\
    --i\r\nContent-Type: text/calendar; charset=utf-8; method=REQUEST\r\n\r\nBEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n--i--\r\n\
    --o\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename*=utf-8''caf%C3%A9.pdf\r\n\
    Content-Transfer-Encoding: base64\r\n\r\nJVBERi0x\r\n--o--\r\n";

#[test]
fn messages_are_read_with_text_header_and_attachments() {
    let Some(session) = open("t13") else { return };
    let id = session.put(&session.mailbox("inbox"), INVITATION, "2026-02-01T10:00:00Z");
    let source = session.get(&format!("M:{id}"), true);
    let read = message(&source);
    let body = read.body.clone().unwrap();
    assert_eq!(body.text.as_deref().map(str::trim), Some("The quick brown zebra."));
    assert_eq!(body.html.as_deref().map(str::trim), Some("<p>The <b>quick</b> brown zebra.</p>"));
    assert_eq!((read.subject.as_deref(), read.importance), (Some("Caf\u{e9}"), Importance::High));
    assert_eq!(read.from[0].name.as_deref(), Some("J\u{f6}rg"));
    assert_eq!(read.calendar_method, Some(CalendarMethod::Request));
    assert_eq!(read.list_unsubscribe.as_deref(), Some("<mailto:u@sink.test>, <https://sink.test/u>"));
    assert!(
        read.headers.iter().any(|one| one.name == "X-Note" && one.value == "gr\u{fc}\u{df}e"),
        "{:?}",
        read.headers
    );
    assert!(read.has_attachments && read.unread && read.snippet.starts_with("The quick"));
    let pdf = read.attachments.iter().find(|one| one.content_type == "application/pdf").unwrap();
    assert_eq!((pdf.filename.as_deref(), pdf.size), (Some("caf\u{e9}.pdf"), Some(6)));
    for hint in [reference(&source).hint, None] {
        let reference = MessageRef { source: source.external_id.clone(), hint };
        let args = AttachmentRef { message: reference.clone(), part: pdf.id.clone() };
        let content = Jmap::attachment(&session.cx(), args).unwrap();
        assert_eq!(content.content_type.as_deref(), Some("application/pdf"));
        assert_eq!(session.host.content(&content.blob).unwrap(), b"%PDF-1");
        let raw = Jmap::raw(&session.cx(), reference).unwrap();
        assert_eq!(session.host.content(&raw.blob).unwrap(), INVITATION.as_bytes());
    }
    let cut = MessagesGet {
        messages: vec![reference(&source)],
        body: true,
        max_body_bytes: 9,
        ..MessagesGet::default()
    };
    let body = message(&Jmap::get_messages(&session.cx(), cut).unwrap().sources[0]).body.unwrap();
    assert_eq!((body.text.as_deref(), body.truncated), (Some("The quick"), true));
    let nowhere = MessageRef { source: "M:Mnowhere".into(), hint: None };
    assert!(session.get("M:Mnowhere", false).deleted);
    assert_eq!(Jmap::raw(&session.cx(), nowhere.clone()).unwrap_err().code, code::NOT_FOUND);
    let part = AttachmentRef { message: nowhere, part: "1:Gnowhere".into() };
    assert_eq!(Jmap::attachment(&session.cx(), part).unwrap_err().code, code::NOT_FOUND);
    searching(&session, &id);
}

fn searching(session: &Session, id: &str) {
    let archive = session.mailbox("archive");
    let others: Vec<String> = (0..5)
        .map(|n| {
            session.put(&archive, &text(&format!("zebra{n}"), ""), &format!("2026-01-0{}T10:00:00Z", n + 1))
        })
        .collect();
    session.host.round_trips();
    let search = |args: MessageSearch| -> Vec<String> {
        let args = MessageSearch { limit: 50, ..args };
        let sources = Jmap::search(&session.cx(), args).unwrap().body.sources;
        sources.into_iter().map(|source| source.external_id[2..].to_owned()).collect()
    };
    // The server's index of words comes after the messages.
    let found = |args: &MessageSearch, expected: &str| (0..5000).any(|_| search(args.clone()) == [expected]);
    assert!(found(&MessageSearch { text: Some("brown quick".into()), ..Default::default() }, id));
    let native =
        MessageSearch { native_query: Some("{\"subject\":\"zebra3\"}".into()), ..Default::default() };
    assert!(found(&native, &others[3]));
    session.host.round_trips();
    let place =
        MessageSearch { folder: Some(format!("F:{archive}")), unread: Some(true), ..Default::default() };
    assert_eq!((search(place).len(), session.host.round_trips()), (5, 1));
    let between = MessageSearch {
        received_after: "2026-01-02T10:00:00Z".parse().ok(),
        received_before: "2026-01-04T10:00:00Z".parse().ok(),
        ..Default::default()
    };
    assert_eq!(search(between), [others[2].clone(), others[1].clone()]);
    assert!(search(MessageSearch { starred: Some(true), ..Default::default() }).is_empty());
    let page = |cursor: Option<String>| {
        Jmap::search(&session.cx().at(cursor), MessageSearch { limit: 4, ..Default::default() }).unwrap()
    };
    let first = page(None);
    let second = page(first.cursor.clone());
    assert_eq!(
        (first.body.sources.len(), first.more, second.body.sources.len(), second.more),
        (4, true, 2, false)
    );
    let odd = MessageSearch { native_query: Some("{\"nonsense\":1}".into()), limit: 5, ..Default::default() };
    assert_eq!(Jmap::search(&session.cx(), odd).unwrap_err().code, code::INVALID);
    let find = |id: &str| {
        Jmap::find_message(&session.cx(), MessageFind { internet_message_id: id.into() }).unwrap().sources
    };
    assert_eq!(find("invitation@jmap.test")[0].external_id, format!("M:{id}"));
    assert!(find("invitation@jmap").is_empty() && find("").is_empty());
}

#[test]
fn messages_are_changed_moved_and_deleted() {
    let Some(session) = open("t14") else { return };
    let (inbox, archive, trash) =
        (session.mailbox("inbox"), session.mailbox("archive"), session.mailbox("trash"));
    let id = session.put(&inbox, &text("edited", ""), "2026-02-01T10:00:00Z");
    let source = session.get(&format!("M:{id}"), false);
    session.host.round_trips();
    let update = MessageUpdate {
        message: reference(&source),
        unread: Some(false),
        starred: Some(true),
        add_keywords: vec!["blue".into()],
        folders: Some(vec![format!("F:{archive}"), format!("F:{inbox}")]),
        ..MessageUpdate::default()
    };
    let answer = Jmap::update_message(&session.cx(), update).unwrap();
    assert_eq!(session.host.round_trips(), 1);
    let changed = message(&answer.sources[0]);
    assert!(!changed.unread && changed.starred && changed.folder_ids.len() == 2);
    assert_eq!(
        (changed.keywords.as_slice(), answer.item.as_deref()),
        (&["blue".to_owned()][..], Some(&*source.external_id))
    );
    let etag = answer.sources[0].etag.clone();
    let with = |etag: &Option<String>, importance| MessageUpdate {
        message: reference(&source),
        add_keywords: vec!["a/b~c".into()],
        starred: Some(false),
        importance,
        if_match: etag.clone(),
        ..MessageUpdate::default()
    };
    let stale = Jmap::update_message(&session.cx(), with(&source.etag, None)).unwrap_err();
    assert_eq!(stale.code, code::CONFLICT);
    let fresh = Jmap::update_message(&session.cx(), with(&etag, Some(Importance::High))).unwrap();
    let edited = message(&fresh.sources[0]);
    assert!(!edited.starred && !edited.unread && edited.keywords == ["a/b~c", "blue"], "{edited:?}");
    assert_eq!(fresh.warnings[0].target.as_deref(), Some("importance"));
    let nowhere = MessageUpdate {
        folders: Some(vec!["F:nowhere".into()]),
        message: reference(&source),
        ..Default::default()
    };
    assert_eq!(Jmap::update_message(&session.cx(), nowhere).unwrap_err().code, code::INVALID);
    let gone =
        MessageUpdate { message: MessageRef { source: "M:Mno".into(), hint: None }, ..Default::default() };
    assert_eq!(Jmap::update_message(&session.cx(), gone).unwrap_err().code, code::NOT_FOUND);
    let delete = |if_match: &Option<String>, permanent| {
        let args = MessageDelete { message: reference(&source), permanent, if_match: if_match.clone() };
        Jmap::delete_message(&session.cx(), args)
    };
    assert_eq!(delete(&etag, false).unwrap_err().code, code::CONFLICT);
    let moved = delete(&fresh.sources[0].etag, false).unwrap();
    assert_eq!(message(&moved.sources[0]).folder_ids, [format!("F:{trash}")]);
    assert!(delete(&moved.sources[0].etag, false).unwrap().sources[0].deleted, "it was in the trash");
    assert_eq!(delete(&None, false).unwrap_err().code, code::NOT_FOUND);
    let other = session.put(&inbox, &text("destroyed", ""), "2026-02-01T10:00:00Z");
    let args = MessageDelete {
        message: MessageRef { source: format!("M:{other}"), hint: None },
        permanent: true,
        if_match: None,
    };
    session.host.round_trips();
    assert!(Jmap::delete_message(&session.cx(), args).unwrap().sources[0].deleted);
    assert_eq!(session.host.round_trips(), 1);
    assert!(session.get(&format!("M:{other}"), false).deleted);
    drop(session);
    storing();
}

/// In the same mailbox, and so not a test of its own.
fn storing() {
    let Some(session) = open("t14") else { return };
    let (inbox, archive) = (session.mailbox("inbox"), session.mailbox("archive"));
    let append = |text: &str, folders: &[&str]| {
        let args = MessageAppend {
            blob: session.host.blob(text.as_bytes()),
            internet_message_id: "appended@jmap.test".into(),
            folders: folders.iter().map(|id| format!("F:{id}")).collect(),
            unread: true,
            starred: true,
            keywords: vec!["blue".into()],
            received_at: "2026-01-01T10:00:00Z".parse().ok(),
            ..MessageAppend::default()
        };
        Jmap::append(&session.cx().keyed("k"), args).unwrap()
    };
    let first = append(&text("appended", ""), &[]);
    let stored = message(&first.sources[0]);
    assert_eq!(stored.folder_ids, [format!("F:{inbox}")]);
    assert!(stored.unread && stored.starred && stored.keywords == ["blue"]);
    assert_eq!(stored.received_at, "2026-01-01T10:00:00Z".parse().unwrap());
    assert_eq!(append(&text("appended", ""), &[]).item, first.item, "the same append again");
    // The same bytes are one message here, in both folders.
    let both = append(&text("appended", ""), &[&archive]);
    assert_eq!(both.item, first.item);
    assert_eq!(message(&both.sources[0]).folder_ids.len(), 2);
    drafts(&session);
}

fn drafts(session: &Session) {
    let save = |body: &str, replaces: Option<&Source>, if_match: Option<String>| {
        let args = DraftSave {
            blob: session.host.blob(text("draft", &format!("X-Version: {body}\r\n")).as_bytes()),
            internet_message_id: "draft@jmap.test".into(),
            replaces: replaces.map(reference),
            if_match,
            thread: None,
        };
        Jmap::save_draft(&session.cx().keyed("k"), args)
    };
    let first = save("1", None, None).unwrap().sources.remove(0);
    let draft = message(&first);
    assert!(draft.draft && !draft.unread);
    assert_eq!(draft.folder_ids, [format!("F:{}", session.mailbox("drafts"))]);
    assert_eq!(save("1", None, None).unwrap().sources[0].external_id, first.external_id, "the same attempt");
    assert_eq!(save("2", Some(&first), Some("old".into())).unwrap_err().code, code::CONFLICT);
    let second = save("2", Some(&first), first.etag.clone()).unwrap();
    assert_eq!(second.sources.len(), 1);
    assert_eq!(second.sources[0].previous_id.as_ref(), Some(&first.external_id));
    assert!(session.get(&first.external_id, false).deleted);
    let again = save("2", Some(&first), first.etag.clone()).unwrap();
    assert_eq!(again.item, second.item, "an attempt whose answer was lost");
    assert_eq!(again.sources[0].previous_id.as_ref(), Some(&first.external_id));
    assert_eq!(save("3", Some(&first), first.etag.clone()).unwrap_err().code, code::NOT_FOUND);
    sending(session, &second.sources[0]);
}

/// Returns the delivered messages of this Message-ID, a text for each recipient. Cyrus sends through Exim, which keeps what goes to other
/// domains in files.
fn delivered(id: &str, recipients: usize) -> Vec<String> {
    let path = std::env::var("EXIM_OUTBOUND").expect("the peer Exim is up beside Cyrus");
    let start = Instant::now();
    loop {
        let files = std::fs::read_dir(format!("{path}/new")).unwrap();
        let texts = files.filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok());
        let found: Vec<String> = texts.filter(|text| text.contains(&format!("Message-ID: <{id}>"))).collect();
        if found.len() >= recipients {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{} of {recipients} arrived", found.len());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn sending(session: &Session, draft: &Source) {
    let id = format!("sent{}@jmap.test", std::process::id());
    let bytes = |bcc: &str| {
        format!(
            "From: t14@cyrus.test\r\nTo: bob@sink.test\r\n{bcc}Subject: Sent\r\nMessage-ID: <{id}>\r\n\r\nHello\r\n"
        )
    };
    let args = MessageSend {
        blob: session.host.blob(bytes("").as_bytes()),
        internet_message_id: id.clone(),
        from: EmailAddress { name: None, email: "t14@cyrus.test".into() },
        recipients: vec!["bob@sink.test".into(), "hidden@sink.test".into()],
        save_to_sent: true,
        sent_blob: Some(session.host.blob(bytes("Bcc: hidden@sink.test\r\n").as_bytes())),
        draft: Some(reference(draft)),
        thread: None,
    };
    session.host.steps.borrow_mut().clear();
    let sent = Jmap::send(&session.cx().keyed("k"), args.clone()).unwrap();
    assert_eq!(*session.host.steps.borrow(), ["handed-over", "accepted"]);
    assert!(
        sent.recipients.iter().all(|one| one.accepted)
            && sent.recipients.len() == 2
            && sent.warnings.is_empty(),
        "{sent:?}"
    );
    assert!(sent.sources[1].deleted && sent.sources[1].external_id == draft.external_id);
    let copy = message(&sent.sources[0]);
    assert_eq!(copy.folder_ids, [format!("F:{}", session.mailbox("sent"))]);
    assert!(!copy.draft && !copy.unread && copy.bcc[0].email == "hidden@sink.test", "{copy:?}");
    assert!(session.get(&draft.external_id, false).deleted);
    let all =
        Jmap::find_message(&session.cx(), MessageFind { internet_message_id: id.clone() }).unwrap().sources;
    assert_eq!(all.len(), 1, "the copy without Bcc is gone");
    let arrived = delivered(&id, 2);
    assert_eq!(arrived.len(), 2, "once for each recipient");
    assert!(arrived.iter().all(|text| !text.contains("Bcc") && text.ends_with("Hello\n")), "{arrived:?}");
    // No copy is kept, and nothing is left in the drafts.
    let id = format!("unsaved{}@jmap.test", std::process::id());
    let blob = session.host.blob(text("unsaved", "").replace("unsaved@jmap.test", &id).as_bytes());
    let unsaved = MessageSend {
        blob,
        internet_message_id: id.clone(),
        save_to_sent: false,
        sent_blob: None,
        draft: None,
        ..args.clone()
    };
    let sent = Jmap::send(&session.cx().keyed("k"), unsaved.clone()).unwrap();
    assert!(sent.recipients[0].accepted && sent.sources.is_empty());
    let refused = MessageSend { recipients: Vec::new(), ..unsaved };
    assert_eq!(Jmap::send(&session.cx().keyed("k"), refused).unwrap_err().code, code::INVALID);
    let found = Jmap::find_message(&session.cx(), MessageFind { internet_message_id: id }).unwrap().sources;
    assert!(found.is_empty(), "{found:?}");
    sending_the_draft_itself(session, args);
}

/// The same bytes are the same message here: the draft becomes the sent message.
fn sending_the_draft_itself(session: &Session, args: MessageSend) {
    let id = format!("itself{}@jmap.test", std::process::id());
    let blob = session.host.blob(text("itself", "").replace("itself@jmap.test", &id).as_bytes());
    let save = DraftSave { blob: blob.clone(), internet_message_id: id.clone(), ..DraftSave::default() };
    let draft = Jmap::save_draft(&session.cx().keyed("k"), save).unwrap().sources.remove(0);
    let send = MessageSend {
        blob,
        internet_message_id: id,
        sent_blob: None,
        draft: Some(reference(&draft)),
        ..args
    };
    let sent = Jmap::send(&session.cx().keyed("k"), send).unwrap();
    assert_eq!(sent.sources.len(), 1);
    assert_eq!(sent.sources[0].external_id, draft.external_id);
    let copy = message(&sent.sources[0]);
    assert!(!copy.draft && copy.folder_ids == [format!("F:{}", session.mailbox("sent"))], "{copy:?}");
}
