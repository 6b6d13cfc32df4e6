//! The mailbox through the sandbox connector.

use std::cell::RefCell;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use connector_sandbox::Sandbox;
use connector_sdk::http::{BlobInfo, Http, Request, Response, Segment, SendError};
use connector_sdk::testing::Live;
use connector_sdk::{Answer, Context, Email as _, Host, Level, Outcome, code};
use model::email::{CalendarMethod, EmailAddress, EmailMessage, Importance};
use model::wire::email::{
    AttachmentRef, DraftSave, MessageAppend, MessageDelete, MessageFind, MessageRef, MessageSearch,
    MessageSend, MessageUpdate, MessagesGet, Sent,
};
use model::wire::{ChangesRequest, Mutated, Source, Sources};
use serde_json::{Value, json};

use crate::sandbox_connector::{Api, at, refused};

/// A host with blobs, which also knows in which order things happened.
struct Desk<'a> {
    live: &'a Live,
    blobs: RefCell<Vec<Vec<u8>>>,
    steps: RefCell<Vec<String>>,
}

impl Desk<'_> {
    fn blob(&self, bytes: impl Into<Vec<u8>>) -> String {
        self.blobs.borrow_mut().push(bytes.into());
        (self.blobs.borrow().len() - 1).to_string()
    }

    fn bytes(&self, id: &str) -> Vec<u8> {
        self.blobs.borrow()[id.parse::<usize>().unwrap()].clone()
    }
}

impl Http for Desk<'_> {
    fn send(&self, request: Request) -> Result<Response, SendError> {
        let path = request.url.split("/v1").nth(1).unwrap_or_default();
        let path = path.split('?').next().unwrap_or_default();
        self.steps.borrow_mut().push(format!("{} {path}", request.method));
        let filled = |segment: &Segment| match segment {
            Segment::Blob(id) => Segment::Bytes(self.bytes(id)),
            Segment::BlobBase64(id) => Segment::Bytes(STANDARD.encode(self.bytes(id)).into_bytes()),
            other => other.clone(),
        };
        let body = request.body.iter().map(filled).collect();
        self.live.send(Request { body, ..request })
    }

    fn send_to_blob(&self, request: Request, _: &str, _: u64) -> Result<BlobInfo, SendError> {
        let response = self.live.send(request)?;
        let content_type = response.header("content-type").map(str::to_owned);
        let size = u64::try_from(response.body.len()).ok();
        let id = self.blob(response.body);
        Ok(BlobInfo { id, size, content_type, status: response.status, headers: response.headers })
    }
}

impl Host for Desk<'_> {
    fn now_ms(&self) -> i64 {
        self.live.now_ms()
    }

    fn random_bytes(&self, len: u32) -> Vec<u8> {
        self.live.random_bytes(len)
    }

    fn log(&self, level: Level, message: &str, fields: &[(&str, String)]) {
        self.live.log(level, message, fields);
    }

    fn read_blob(&self, id: &str, offset: u64, len: u32) -> Option<Vec<u8>> {
        let blobs = self.blobs.borrow();
        let rest = blobs.get(id.parse::<usize>().ok()?)?.get(usize::try_from(offset).ok()?..)?;
        Some(rest.iter().take(usize::try_from(len).ok()?).copied().collect())
    }

    fn reached(&self, step: &str) {
        self.steps.borrow_mut().push(step.to_owned());
    }
}

impl Api {
    fn desk(&self) -> Desk<'_> {
        Desk { live: &self.live, blobs: RefCell::default(), steps: RefCell::default() }
    }

    fn at_desk<'a>(&self, desk: &'a Desk<'a>) -> Context<'a> {
        Context::new(desk, self.context().connection)
    }

    fn mail(&self, cursor: Option<String>, args: ChangesRequest) -> Outcome<Answer<Sources>> {
        <Sandbox as connector_sdk::Email>::changes(&self.context().at(cursor), args)
    }

    /// Reads the initial sync to its end; returns the sources, and the cursor of changes.
    fn read_mail(&self) -> (Vec<Source>, String) {
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.mail(cursor, ChangesRequest::default()).unwrap();
            all.extend(page.body.sources);
            if !page.more {
                return (all, page.cursor.unwrap());
            }
            cursor = page.cursor;
        }
    }

    /// The differences since, in one page.
    fn changed_mail(&self, cursor: String) -> (Vec<Source>, String) {
        let page = self.mail(Some(cursor), ChangesRequest::default()).unwrap();
        assert!(!page.more && !page.body.enumeration && page.body.covered_since.is_none());
        (page.body.sources, page.cursor.unwrap())
    }

    fn message(&self, id: &str) -> Source {
        let args = MessagesGet { messages: vec![named(id)], ..MessagesGet::default() };
        Sandbox::get_messages(&self.context(), args).unwrap().sources.remove(0)
    }

    fn update(&self, id: &str, args: MessageUpdate) -> Outcome<Mutated> {
        Sandbox::update_message(&self.context(), MessageUpdate { message: named(id), ..args })
    }

    fn append(&self, subject: &str, key: &str, args: MessageAppend) -> Outcome<Mutated> {
        let desk = self.desk();
        let blob = desk.blob(raw_message(subject, key));
        Sandbox::append(&self.at_desk(&desk).keyed(key), MessageAppend { blob, ..args })
    }
}

fn named(id: &str) -> MessageRef {
    MessageRef { source: id.to_owned(), hint: None }
}

fn raw_message(subject: &str, id: &str) -> String {
    format!(
        "From: alice@sandbox.test\r\nTo: bob@sandbox.test\r\nSubject: {subject}\r\nMessage-ID: <{id}@x.test>\r\n\r\nHi!\r\n"
    )
}

fn message(source: &Source) -> EmailMessage {
    assert!(!source.items[0].partial);
    source.items[0].body.read().unwrap()
}

fn ids(sources: &[Source]) -> Vec<&str> {
    sources.iter().map(|source| source.external_id.as_str()).collect()
}

fn is_message(source: &&Source) -> bool {
    source.items.first().is_some_and(|item| item.kind.is_none())
}

/// Folders and labels first, then messages from new to old; each page says how far back it goes, and changes in between are reported.
#[test]
fn first_reading() {
    let api = Api::start();
    let args = || ChangesRequest { limit: 10, ..ChangesRequest::default() };
    let first = api.mail(None, args()).unwrap();
    let kinds =
        |kind: &str| first.body.sources.iter().filter(|s| s.items[0].kind.as_deref() == Some(kind)).count();
    assert_eq!((kinds("email_folder"), kinds("email_label")), (8, 3));
    let told: Vec<Source> = first.body.sources.iter().filter(is_message).cloned().collect();
    assert_eq!(told.len(), 10);
    let received = |source: &Source| message(source).received_at;
    assert!(told.is_sorted_by(|a, b| received(a) >= received(b)));
    let covered = first.body.covered_since.unwrap();
    assert_eq!(covered.as_millis(), received(&told[9]).as_millis() + 1);
    assert!(first.body.enumeration && first.more);

    // A new message, a listed one, one not listed yet, and a folder.
    api.append("New", "new", MessageAppend { unread: true, ..MessageAppend::default() }).unwrap();
    let star = || MessageUpdate { starred: Some(true), ..MessageUpdate::default() };
    api.update("msg-welcome-1", star()).unwrap();
    let gone = MessageDelete { message: named(&told[0].external_id), permanent: true, if_match: None };
    Sandbox::delete_message(&api.context(), gone).unwrap();
    let second = api.mail(first.cursor.clone(), args()).unwrap();
    assert!(second.body.enumeration && second.body.covered_since.unwrap() < covered);
    let ahead = &second.body.sources[..3];
    assert_eq!(message(&ahead[0]).subject.as_deref(), Some("New"));
    assert!(
        ahead[1].external_id == "msg-welcome-1" && message(&ahead[1]).starred,
        "whole: it may not be here yet"
    );
    assert!(ahead[2].deleted && ahead[2].external_id == told[0].external_id);
    assert_eq!(second.body.sources.len(), 13);

    let mut seen: HashSet<String> = ids(&told).into_iter().map(str::to_owned).collect();
    let mut page = second;
    loop {
        seen.extend(page.body.sources.iter().filter(is_message).map(|s| s.external_id.clone()));
        if !page.more {
            break;
        }
        let next = api.mail(page.cursor.clone(), args()).unwrap();
        assert!(next.body.enumeration && next.body.covered_since <= page.body.covered_since);
        page = next;
    }
    let all =
        Sandbox::search(&api.context(), MessageSearch { limit: 250, ..MessageSearch::default() }).unwrap();
    assert_eq!(seen.len(), all.body.sources.len() + 1, "all of them, and the one that went");
    assert_eq!(api.changed_mail(page.cursor.unwrap()).0, []);
}

/// An initial sync during which so many messages change that the changes end after the last message.
#[test]
fn changes_outlast_the_messages() {
    let api = Api::start();
    let page =
        |cursor, limit| api.mail(cursor, ChangesRequest { limit, ..ChangesRequest::default() }).unwrap();
    let first = page(None, 60);
    let unread = || MessageUpdate { unread: Some(true), starred: Some(true), ..MessageUpdate::default() };
    for id in ["msg-cake-1", "msg-junk-1", "msg-badge-1", "msg-welcome-1"] {
        api.update(id, unread()).unwrap();
    }
    let second = page(first.cursor, 1);
    let mut cursor = second.cursor;
    let (mut told, mut turns) = (ids(&second.body.sources).len(), 0);
    loop {
        let next = page(cursor, 2);
        assert!(next.body.enumeration && next.body.covered_since.is_some());
        (told, turns) = (told + next.body.sources.len(), turns + 1);
        cursor = next.cursor;
        if !next.more {
            break;
        }
    }
    assert!(told >= 4 && turns < 20);
    assert_eq!(api.changed_mail(cursor.unwrap()).0, []);
}

/// A change of a known message is reported as a difference, a new message whole.
#[test]
fn differences() {
    let api = Api::start();
    let (_, cursor) = api.read_mail();
    let change = MessageUpdate {
        unread: Some(false),
        importance: Some(Importance::Low),
        add_keywords: vec!["$todo".to_owned()],
        folders: Some(vec!["projects".to_owned(), "inbox".to_owned()]),
        add_labels: vec!["label-later".to_owned()],
        ..MessageUpdate::default()
    };
    api.update("msg-quote-5", change).unwrap();
    let new = api.append("New", "new", MessageAppend::default()).unwrap();
    let gone = MessageDelete { message: named("msg-cake-1"), permanent: true, if_match: None };
    Sandbox::delete_message(&api.context(), gone).unwrap();
    let (sources, cursor) = api.changed_mail(cursor);
    assert_eq!(ids(&sources), ["msg-quote-5", new.item.as_deref().unwrap(), "msg-cake-1"]);
    let short = &sources[0].items[0];
    assert!(short.partial && short.provider_data.is_none());
    let fields: Value = short.body.read().unwrap();
    let expected = json!({
        "unread": false, "starred": false, "answered": false, "forwarded": false, "draft": false,
        "keywords": ["$todo"], "importance": "low",
        "folderIds": ["projects", "inbox"], "labelIds": ["label-customers", "label-later"],
    });
    assert_eq!(fields, expected);
    assert_eq!((&sources[1], sources[2].deleted), (&new.sources[0], true));
    assert_eq!(sources[0].etag, api.message("msg-quote-5").etag);

    api.now_ms.fetch_add(8 * 24 * 3_600_000, Ordering::Relaxed);
    for cursor in [cursor.as_str(), "é", "x", "fx", ""] {
        refused(api.mail(Some(cursor.to_owned()), ChangesRequest::default()), code::CURSOR_EXPIRED);
    }
}

#[test]
fn one_message() {
    let api = Api::start();
    let quote = message(&api.message("msg-quote-3"));
    assert_eq!(
        quote.from,
        [EmailAddress { name: Some("Alice Berger".to_owned()), email: "alice@sandbox.test".to_owned() }]
    );
    assert_eq!(quote.in_reply_to, ["alice-quote-2@customer.example"]);
    assert_eq!(quote.references, ["alice-quote-1@sandbox.test", "alice-quote-2@customer.example"]);
    assert_eq!((quote.folder_ids, quote.answered), (vec!["sent".to_owned()], false));
    assert_eq!(
        (quote.received_at, quote.sent_at),
        (at("2026-01-31T12:05:00Z"), Some(at("2026-01-31T12:05:00Z")))
    );
    assert!(quote.has_attachments && quote.body.is_none() && quote.headers.is_empty());
    let file = &quote.attachments[0];
    assert_eq!(
        (file.filename.as_deref(), file.content_type.as_str()),
        (Some("quote-2026-118.pdf"), "application/pdf")
    );
    let sketch = message(&api.message("msg-sketch-1"));
    assert!(!sketch.has_attachments && sketch.attachments[0].inline);
    assert_eq!(message(&api.message("msg-invitation-1")).calendar_method, Some(CalendarMethod::Request));
    assert!(message(&api.message("msg-away-1")).auto_reply);
    let weekly = message(&api.message("msg-weekly-9"));
    assert_eq!(
        weekly.list_unsubscribe.unwrap(),
        "<mailto:leave@protocols.example?subject=leave>, <https://protocols.example/leave?who=alice>"
    );
    assert!(weekly.unread && !weekly.draft);
    assert!(message(&api.message("msg-forward-1")).attachments[0].is_message);
    assert_eq!(message(&api.message("msg-junk-1")).keywords, ["$junk"]);
    assert!(message(&api.message("msg-draft-1")).draft);
}

/// Messages with headers and text, up to their maximum length; a missing one is reported as deleted.
#[test]
fn whole_messages() {
    let api = Api::start();
    let args = |max_body_bytes| MessagesGet {
        messages: vec![named("msg-sketch-1"), named("nowhere"), named("msg-badge-1")],
        headers: true,
        body: true,
        max_body_bytes,
    };
    for (max, is_cut) in [(100_000, false), (12, true), (u32::MAX, false)] {
        let found = Sandbox::get_messages(&api.context(), args(max)).unwrap().sources;
        let gone = found.iter().find(|source| source.external_id == "nowhere").unwrap();
        assert!(gone.deleted && found.len() == 3);
        let sketch = message(found.iter().find(|source| source.external_id == "msg-sketch-1").unwrap());
        let body = sketch.body.unwrap();
        assert_eq!((body.truncated, body.charset.as_deref()), (is_cut, Some("utf-8")));
        assert_eq!(body.html.unwrap().contains("cid:picture@sandbox.test"), !is_cut);
        let header =
            |name: &str| sketch.headers.iter().find(|header| header.name == name).unwrap().value.clone();
        assert_eq!(header("Message-ID"), "<alice-sketch-1@lefevre.example>");
    }
    let desk = api.desk();
    let raw = Sandbox::raw(&api.at_desk(&desk), named("msg-quote-3")).unwrap();
    assert_eq!(raw.content_type.as_deref(), Some("message/rfc822"));
    assert!(desk.bytes(&raw.blob).starts_with(b"Date: "));
    let part = message(&api.message("msg-quote-3")).attachments[0].id.clone();
    let file = AttachmentRef { message: named("msg-quote-3"), part };
    let content = Sandbox::attachment(&api.at_desk(&desk), file.clone()).unwrap();
    assert_eq!(content.content_type.as_deref(), Some("application/pdf"));
    assert!(desk.bytes(&content.blob).starts_with(b"%PDF"));
    let none = AttachmentRef { part: "77".to_owned(), ..file };
    refused(Sandbox::attachment(&api.at_desk(&desk), none), code::NOT_FOUND);
    refused(Sandbox::raw(&api.at_desk(&desk), named("nowhere")), code::NOT_FOUND);
    api.fault(json!({ "status": 429, "retryAfterS": 3 }));
    let failure = refused(Sandbox::raw(&api.at_desk(&desk), named("msg-quote-3")), code::RATE_LIMITED);
    assert_eq!(failure.retry_after_ms, Some(3000));
}

#[test]
fn searches() {
    let api = Api::start();
    let found = |args: MessageSearch| {
        let page = Sandbox::search(&api.context(), args).unwrap();
        assert!(!page.more && !page.body.enumeration);
        ids(&page.body.sources).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        found(MessageSearch { text: text("lisbon Bengaluru"), ..MessageSearch::default() }),
        ["msg-team-offsite-2"]
    );
    assert_eq!(found(MessageSearch { text: text("is:draft"), ..MessageSearch::default() }), [""; 0]);
    let native = MessageSearch { native_query: text("is:draft to:dana"), ..MessageSearch::default() };
    assert_eq!(found(native), ["msg-draft-1"]);
    let all = MessageSearch {
        folder: text("inbox"),
        label: text("label-customers"),
        starred: Some(false),
        unread: Some(true),
        received_after: Some(at("2026-03-01T00:00:00Z")),
        received_before: Some(at("2026-03-10T00:00:00Z")),
        ..MessageSearch::default()
    };
    assert_eq!(found(all), ["msg-quote-5"]);
    let wrong = MessageSearch { native_query: text("is:blue"), ..MessageSearch::default() };
    refused(Sandbox::search(&api.context(), wrong), code::INVALID);

    let args = || MessageSearch { folder: text("junk"), limit: 2, ..MessageSearch::default() };
    let first = Sandbox::search(&api.context(), args()).unwrap();
    assert!(first.more);
    let second = Sandbox::search(&api.context().at(first.cursor), args()).unwrap();
    assert_eq!(
        (ids(&first.body.sources), ids(&second.body.sources)),
        (vec!["msg-junk-2", "msg-junk-1"], vec!["msg-junk-3"])
    );
    assert!(!second.more && second.cursor.is_none());
}

#[test]
fn updates() {
    let api = Api::start();
    let old = api.message("msg-quote-4");
    let args = MessageUpdate {
        unread: Some(true),
        starred: Some(false),
        answered: Some(true),
        forwarded: Some(true),
        importance: Some(Importance::High),
        add_keywords: vec!["$a".to_owned(), "$b".to_owned()],
        folders: Some(vec!["archive".to_owned()]),
        add_labels: vec!["label-later".to_owned()],
        remove_labels: vec!["label-finance".to_owned()],
        if_match: old.etag.clone(),
        ..MessageUpdate::default()
    };
    let changed = api.update("msg-quote-4", args.clone()).unwrap();
    assert_eq!(changed.item.as_deref(), Some("msg-quote-4"));
    let expected = EmailMessage {
        unread: true,
        starred: false,
        answered: true,
        forwarded: true,
        importance: Importance::High,
        keywords: vec!["$a".to_owned(), "$b".to_owned()],
        folder_ids: vec!["archive".to_owned()],
        label_ids: vec!["label-customers".to_owned(), "label-later".to_owned()],
        ..message(&old)
    };
    assert_eq!(message(&changed.sources[0]), expected);
    assert_eq!(api.message("msg-quote-4"), changed.sources[0]);
    refused(api.update("msg-quote-4", args), code::CONFLICT);
    let less = MessageUpdate { remove_keywords: vec!["$a".to_owned()], ..MessageUpdate::default() };
    assert_eq!(message(&api.update("msg-quote-4", less).unwrap().sources[0]).keywords, ["$b"]);
    let nowhere = MessageUpdate { folders: Some(vec!["nowhere".to_owned()]), ..MessageUpdate::default() };
    refused(api.update("msg-quote-4", nowhere), code::INVALID);
    refused(api.update("nowhere", MessageUpdate::default()), code::NOT_FOUND);
}

#[test]
fn deletions() {
    let api = Api::start();
    let delete = |permanent, if_match: Option<&str>| {
        let if_match = if_match.map(str::to_owned);
        let args = MessageDelete { message: named("msg-quote-5"), permanent, if_match };
        Sandbox::delete_message(&api.context(), args)
    };
    refused(delete(false, Some("\"1\"")), code::CONFLICT);
    let trashed = delete(false, None).unwrap();
    assert_eq!(message(&trashed.sources[0]).folder_ids, ["trash"]);
    assert_eq!(trashed.item, None);
    // A message in the trash is destroyed, with and without `permanent`.
    for permanent in [false, true] {
        let gone = delete(permanent, None).unwrap();
        assert!(gone.sources[0].deleted && gone.sources[0].external_id == "msg-quote-5", "gone is gone");
    }
    assert!(delete(false, None).unwrap().sources[0].deleted);
}

/// A repeated append finds the message of the first one.
#[test]
fn appends() {
    let api = Api::start();
    let args = || MessageAppend {
        folders: vec!["projects".to_owned(), "archive".to_owned()],
        labels: vec!["label-later".to_owned()],
        unread: true,
        starred: true,
        keywords: vec!["$old".to_owned()],
        received_at: Some(at("2019-05-06T07:08:09.123Z")),
        ..MessageAppend::default()
    };
    let made = api.append("Old", "a1", args()).unwrap();
    let old = message(&made.sources[0]);
    assert_eq!(
        (old.internet_message_id.as_deref(), old.received_at),
        (Some("a1@x.test"), at("2019-05-06T07:08:09.123Z"))
    );
    assert_eq!((old.folder_ids.len(), old.label_ids.len(), old.keywords.len()), (2, 1, 1));
    assert!(old.unread && old.starred && !old.draft);
    assert_eq!(api.append("Old", "a1", args()).unwrap(), made);
    let other = MessageAppend { starred: false, ..args() };
    refused(api.append("Old", "a1", other), code::INVALID);
    api.fault(json!({ "lostAnswer": true, "method": "POST" }));
    refused(api.append("Lost", "a2", MessageAppend::default()), code::UNAVAILABLE);
    let found = api.append("Lost", "a2", MessageAppend::default()).unwrap();
    assert_eq!(message(&found.sources[0]).folder_ids, ["inbox"]);
    assert!(!message(&found.sources[0]).unread);
    // The key is forgotten after a day; the message is still found.
    api.now_ms.fetch_add(48 * 3_600_000, Ordering::Relaxed);
    assert_eq!(api.append("Lost", "a2", MessageAppend::default()).unwrap(), found);
    refused(api.append("[sandbox:forbidden]", "a3", MessageAppend::default()), code::FORBIDDEN);
    let comma = MessageAppend { keywords: vec!["a,b".to_owned()], ..MessageAppend::default() };
    refused(api.append("Comma", "a4", comma), code::INVALID);
}

#[test]
fn drafts() {
    let api = Api::start();
    let (_, cursor) = api.read_mail();
    let save = |subject: &str, key: &str, replaces: Option<&Source>| {
        let desk = api.desk();
        let args = DraftSave {
            blob: desk.blob(raw_message(subject, "draft")),
            internet_message_id: "draft@x.test".to_owned(),
            replaces: replaces.map(|source| named(&source.external_id)),
            if_match: replaces.and_then(|source| source.etag.clone()),
            thread: None,
        };
        Sandbox::save_draft(&api.at_desk(&desk).keyed(key), args)
    };
    let first = save("Draft", "d1", None).unwrap().sources.remove(0);
    let draft = message(&first);
    assert!(draft.draft && !draft.unread && first.previous_id.is_none());
    assert_eq!(draft.folder_ids, ["drafts"]);
    assert_eq!(save("Draft", "d1", None).unwrap().sources[0], first);
    let (_, cursor) = api.changed_mail(cursor);
    let second = save("Draft, longer", "d2", Some(&first)).unwrap().sources.remove(0);
    assert_eq!(second.previous_id.as_ref(), Some(&first.external_id));
    assert_eq!(save("Draft, longer", "d2", Some(&first)).unwrap().sources[0], second);
    assert_eq!(api.changed_mail(cursor).0, std::slice::from_ref(&second), "the version before goes on as it");
    refused(save("Draft, other", "d3", Some(&first)), code::NOT_FOUND);
    let star = MessageUpdate { starred: Some(true), ..MessageUpdate::default() };
    api.update(&second.external_id, star).unwrap();
    refused(save("Draft, stale", "d4", Some(&second)), code::CONFLICT);
}

/// The provider gets a message right after the host records it; after a lost answer the message can be found.
#[test]
fn sends() {
    let api = Api::start();
    let draft = api.append(
        "Sent",
        "s1",
        MessageAppend { draft: true, folders: vec!["drafts".to_owned()], ..MessageAppend::default() },
    );
    let draft = draft.unwrap().sources.remove(0);
    let post = |key: &str, recipients: &[&str], draft: Option<&Source>| -> (Outcome<Sent>, Vec<String>) {
        let desk = api.desk();
        let args = MessageSend {
            blob: desk.blob(raw_message("Sent", key)),
            internet_message_id: format!("{key}@x.test"),
            from: EmailAddress { name: None, email: "alice@sandbox.test".to_owned() },
            recipients: recipients.iter().map(|mail| (*mail).to_owned()).collect(),
            save_to_sent: true,
            sent_blob: Some(
                desk.blob(raw_message("Sent", key).replace("Subject", "Bcc: hidden@x.test\r\nSubject")),
            ),
            draft: draft.map(|source| named(&source.external_id)),
            thread: None,
        };
        let sent = Sandbox::send(&api.at_desk(&desk).keyed(key), args);
        (sent, desk.steps.into_inner())
    };
    let (sent, steps) = post("s2", &["Bob@sandbox.test", "reject@x.test", "defer@x.test"], Some(&draft));
    let sent = sent.unwrap();
    assert_eq!(steps, ["handed-over", "POST /mail/send", "accepted"]);
    let outcomes: Vec<_> = sent
        .recipients
        .iter()
        .map(|r| (r.email.as_str(), r.accepted, r.temporary, r.enhanced_status.as_deref()))
        .collect();
    assert_eq!(
        outcomes,
        [
            ("Bob@sandbox.test", true, false, Some("2.1.5")),
            ("reject@x.test", false, false, Some("5.1.1")),
            ("defer@x.test", false, true, Some("4.3.0"))
        ]
    );
    assert_eq!(sent.recipients[1].reply.as_deref(), Some("550 5.1.1 no such user"));
    let copy = message(&sent.sources[0]);
    assert_eq!((copy.folder_ids, copy.bcc[0].email.as_str()), (vec!["sent".to_owned()], "hidden@x.test"));
    assert!(sent.sources[1].deleted && sent.sources[1].external_id == draft.external_id);
    let find = |person: &Api, id: &str| {
        let args = MessageFind { internet_message_id: id.to_owned() };
        Sandbox::find_message(&person.context(), args).unwrap().sources
    };
    assert_eq!(find(&api, "s2@x.test"), [sent.sources[0].clone()]);
    let bob = api.as_person("bob");
    assert_eq!(find(&bob, "s2@x.test"), [], "the inbox is not where sent mail goes");
    let inbox = MessageSearch {
        folder: Some("inbox".to_owned()),
        text: Some("sent".to_owned()),
        ..MessageSearch::default()
    };
    let got = Sandbox::search(&bob.context(), inbox).unwrap().body.sources;
    assert!(got.iter().any(|source| message(source).internet_message_id.as_deref() == Some("s2@x.test")
        && message(source).unread));

    let (nobody, steps) = post("s3", &["reject@x.test"], None);
    assert!(nobody.unwrap().sources.is_empty());
    assert_eq!(steps, ["handed-over", "POST /mail/send"], "nobody was accepted");
    api.fault(json!({ "lostAnswer": true, "method": "POST" }));
    refused(post("s4", &["bob@sandbox.test"], None).0, code::UNAVAILABLE);
    let left = find(&api, "s4@x.test");
    let (again, _) = post("s4", &["bob@sandbox.test"], None);
    assert_eq!(again.unwrap().sources, left);
    api.fault(json!({ "status": 403 }));
    refused(post("s5", &["bob@sandbox.test"], None).0, code::FORBIDDEN);
}

/// Each fault of the provider becomes one defined failure.
#[test]
fn faults() {
    let api = Api::start();
    let (_, cursor) = api.read_mail();
    for (fault, expected) in [
        (json!({ "status": 429 }), code::RATE_LIMITED),
        (json!({ "status": 401 }), code::AUTH_EXPIRED),
        (json!({ "status": 410, "syncTokenOnly": true }), code::CURSOR_EXPIRED),
        (json!({ "lostAnswer": true }), code::UNAVAILABLE),
    ] {
        api.fault(fault);
        refused(api.mail(Some(cursor.clone()), ChangesRequest::default()), expected);
    }
    api.update("msg-quote-5", MessageUpdate { starred: Some(true), ..MessageUpdate::default() }).unwrap();
    api.fault(json!({ "garbled": true }));
    let (garbled, _) = api.changed_mail(cursor.clone());
    let error = garbled[0].error.as_ref().unwrap();
    assert_eq!(error.code, "unreadable");
    let position = error.message.strip_prefix("the provider's mail cannot be read at line ");
    assert!(position.is_some_and(|text| !text.contains("integer")), "without the value: {error:?}");
    assert_eq!((garbled[0].external_id.as_str(), garbled[0].items.len()), ("msg-quote-5", 0));

    // One that the connector does not survive is named, and the others can be read.
    let bad = api.append("Odd", "odd", MessageAppend::default()).unwrap().item.unwrap();
    let desk = api.desk();
    let blob = desk.blob(raw_message("[sandbox:crash]", "crash"));
    let crash = catch_unwind(AssertUnwindSafe(|| {
        Sandbox::append(
            &api.at_desk(&desk).keyed("crash"),
            MessageAppend { blob, ..MessageAppend::default() },
        )
    }));
    assert!(crash.is_err());
    let whole = catch_unwind(AssertUnwindSafe(|| api.mail(Some(cursor.clone()), ChangesRequest::default())));
    assert!(whole.is_err());
    let names = ChangesRequest { names_only: true, ..ChangesRequest::default() };
    let named = api.mail(Some(cursor), names.clone()).unwrap().body.sources;
    assert_eq!(named.len(), 3);
    assert!(named.iter().all(|source| source.items.is_empty() && source.etag.is_some()));
    assert_eq!(message(&api.message(&bad)).subject.as_deref(), Some("Odd"));
    assert!(api.mail(None, names).unwrap().body.sources.iter().all(|source| source.items.is_empty()));
}

#[test]
fn features() {
    let api = Api::start();
    let features = Sandbox::features(&api.context());
    let features: model::wire::email::MailFeatures = features.unwrap();
    assert!(features.multi_folder && features.labels && features.send && features.native_search);
    assert_eq!(features.aliases[0].email, "alice@sandbox.test");
}
