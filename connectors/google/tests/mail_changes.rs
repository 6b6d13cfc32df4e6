//! The initial sync of a mailbox, and its changes.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod gmail;

use connector_google::Google;
use connector_sdk::{Answer, Context, Email, Outcome, code};
use model::email::folders::{Folder, FolderRole};
use model::wire::{ChangesRequest, Connection, Source, Sources};
use serde_json::{Value, json};

use crate::gmail::{Gmail, LOST, NOW_MS, deleted, mail, whole};

const HOUR_MS: i64 = 3_600_000;

impl Gmail {
    /// Adds a record to the history: `kind` is such as `messagesAdded`.
    fn record(&self, kind: &str, id: &str, labels: Option<&[&str]>) {
        self.history_id.set(self.history_id.get() + 1);
        let mut message = json!({ "id": id, "threadId": format!("t{id}") });
        if let Some(labels) = labels {
            message["labelIds"] = json!(labels);
        }
        let record = json!({ "id": self.history_id.get().to_string(), "messages": [message], kind: [{ "message": message }] });
        self.records.borrow_mut().push(record);
    }

    /// Puts a message on top of the mailbox, with a history record.
    fn deliver(&self, id: &str, labels: &[&str]) {
        self.messages.borrow_mut().insert(0, mail(id, self.now_ms.get(), labels));
        self.record("messagesAdded", id, Some(labels));
    }

    fn remove(&self, id: &str) {
        self.messages.borrow_mut().retain(|message| message["id"] != id);
    }

    /// A page of changes, and the wait that it notes.
    fn page_with(
        &self,
        cursor: Option<&str>,
        args: ChangesRequest,
    ) -> (Outcome<Answer<Sources>>, Option<u32>) {
        self.round_trips.set(0);
        let context = Context::new(self, Connection::default()).at(cursor.map(str::to_owned));
        let page = <Google as Email>::changes(&context, args);
        let extra = context.response_extra();
        let wait = extra.iter().find(|(name, _)| name == "wait-ms").and_then(|(_, ms)| ms.parse().ok());
        (page, wait)
    }

    fn page(&self, cursor: Option<&str>) -> Answer<Sources> {
        self.page_with(cursor, ChangesRequest::default()).0.expect("a page")
    }

    /// Reads pages until the last one; returns its cursor, and all reported sources.
    fn read_all(&self, cursor: Option<&str>) -> (String, Vec<Source>) {
        let mut told = Vec::new();
        let mut cursor = cursor.map(str::to_owned);
        for _ in 0..50 {
            let page = self.page(cursor.as_deref());
            told.extend(page.body.sources);
            cursor = page.cursor;
            if !page.more {
                return (cursor.expect("a cursor"), told);
            }
        }
        panic!("the pages do not end");
    }
}

fn kinds<'s>(sources: &'s [Source], kind: &str) -> Vec<&'s str> {
    let is_kind = |source: &&Source| source.items.iter().any(|item| item.kind.as_deref() == Some(kind));
    sources.iter().filter(is_kind).map(|source| source.external_id.as_str()).collect()
}

fn partials(sources: &[Source]) -> Vec<(&str, Value)> {
    let partial = |source: &Source| source.items.first().filter(|item| item.partial)?.body.read().ok();
    sources.iter().filter_map(|source| Some((source.external_id.as_str(), partial(source)?))).collect()
}

/// A mailbox that is read, and the cursor behind it.
fn read_mailbox(count: i64) -> (Gmail, String) {
    let gmail = Gmail::new(count);
    let (cursor, _) = gmail.read_all(None);
    (gmail, cursor)
}

#[test]
fn a_mailbox_is_read_from_new_to_old() {
    let gmail = Gmail::new(60);
    let page = gmail.page(None);
    let sources = &page.body.sources;
    assert_eq!(kinds(sources, "email_folder"), ["INBOX", "DRAFT", "SENT", "ARCHIVE", "SPAM", "TRASH"]);
    assert_eq!(kinds(sources, "email_label"), ["CATEGORY_SOCIAL"]);
    assert_eq!((whole(sources).len(), sources.len()), (50, 57));
    let inbox: Folder = sources[0].items[0].body.read().unwrap();
    assert_eq!(inbox.role, Some(FolderRole::Inbox));
    assert!(page.body.enumeration && page.more);
    assert_eq!(page.body.covered_since.map(|at| at.as_millis()), Some(NOW_MS - 50_000 + 1));
    // Profile with labels, the listing, and two batches of 25.
    assert_eq!(gmail.round_trips.get(), 4);
    let first: Vec<String> = gmail.requests.borrow().iter().map(|request| request.url.clone()).collect();
    assert!(
        first[0].ends_with("/profile") && first[1].ends_with("/labels"),
        "the history begins before the listing"
    );
    let listing = gmail::parameter(&first[2], "q");
    assert_eq!(listing.as_deref(), Some("-in:chats -in:scheduled"));
    let units: Vec<(String, String)> = gmail.requests.borrow()[3].extra.clone();
    assert_eq!(units, [("units".to_owned(), "500".to_owned())]);

    let page = gmail.page(page.cursor.as_deref());
    assert_eq!((whole(&page.body.sources).len(), page.body.sources.len()), (10, 10));
    assert!(page.body.enumeration && !page.more);
    assert_eq!(gmail.round_trips.get(), 2);
    // Nothing new is one round trip.
    let page = gmail.page(page.cursor.as_deref());
    assert!(!page.body.enumeration && !page.more && page.body.sources.is_empty());
    assert_eq!(gmail.round_trips.get(), 1);
}

#[test]
fn an_empty_mailbox_is_read_at_once() {
    let page = Gmail::new(0).page(None);
    assert!(page.body.enumeration && !page.more);
    assert_eq!(page.body.sources.len(), 7);
}

/// Google refuses parts of the second batch of two: they are read later, and nothing looks as if it were gone.
#[test]
fn a_second_batch_of_429_is_not_a_deletion() {
    let gmail = Gmail::new(50);
    gmail.with_parts(|batch, id| (batch > 0 && id != "m30").then_some(429));
    let (page, wait) = gmail.page_with(None, ChangesRequest::default());
    let page = page.unwrap();
    // The parts that failed went once more, in a batch of their own.
    assert_eq!(gmail.batches.get(), 3);
    assert_eq!((whole(&page.body.sources).len(), deleted(&page.body.sources).len()), (26, 0));
    assert!(page.more && page.body.covered_since.is_none());
    assert_eq!(wait, Some(40_000), "to the limit's next minute");
    gmail.with_parts(|_, _| None);
    let page = gmail.page(page.cursor.as_deref());
    let told = whole(&page.body.sources);
    assert_eq!((told.len(), told[0], page.more), (24, "m25", false));
    assert_eq!(page.body.covered_since.map(|at| at.as_millis()), Some(0));
}

#[test]
fn with_nothing_answered_the_call_fails() {
    let gmail = Gmail::new(5);
    gmail.with_parts(|_, _| Some(429));
    let failure = gmail.page_with(None, ChangesRequest::default()).0.unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retry_after_ms), (code::RATE_LIMITED, Some(40_000)));
    gmail.with_parts(|_, _| Some(LOST));
    assert_eq!(gmail.page_with(None, ChangesRequest::default()).0.unwrap_err().code, code::UNAVAILABLE);
    gmail.with_parts(|_, _| Some(503));
    assert_eq!(gmail.page_with(None, ChangesRequest::default()).0.unwrap_err().code, code::UNAVAILABLE);
}

#[test]
fn a_part_with_401_has_the_token_renewed() {
    let gmail = Gmail::new(5);
    gmail.with_parts(|batch, _| (batch == 0).then_some(401));
    assert_eq!(whole(&gmail.page(None).body.sources).len(), 5);
    let renewed = ("credentials".to_owned(), "renewed".to_owned());
    assert!(gmail.requests.borrow().last().unwrap().extra.contains(&renewed));
    gmail.with_parts(|_, _| Some(401));
    assert_eq!(gmail.page_with(None, ChangesRequest::default()).0.unwrap_err().code, code::AUTH_EXPIRED);
}

/// A message that the provider fails at, or whose description makes no sense, costs its neighbours nothing.
#[test]
fn a_broken_message_is_told_as_such() {
    let gmail = Gmail::new(4);
    gmail.messages.borrow_mut()[1]["labelIds"] = json!("odd");
    // HTML of a front end is no word on the message.
    gmail.with_parts(|_, id| match id {
        "m0" => Some(500),
        "m2" => Some(404),
        _ => None,
    });
    let page = gmail.page(None);
    let sources = &page.body.sources;
    let broken: Vec<&str> = sources
        .iter()
        .filter(|source| source.error.is_some())
        .map(|source| source.external_id.as_str())
        .collect();
    assert_eq!((broken, whole(sources)), (vec!["m0", "m1", "m2"], vec!["m3"]));
    assert!(deleted(sources).is_empty() && !page.more);
}

#[test]
fn labels_alone_are_told_short() {
    let (gmail, cursor) = read_mailbox(3);
    gmail.record("labelsAdded", "m1", Some(&["INBOX", "TRASH"]));
    gmail.record("labelsRemoved", "m1", Some(&["TRASH"]));
    let page = gmail.page(Some(&cursor));
    let told = partials(&page.body.sources);
    assert_eq!((told.len(), told[0].0, &told[0].1["folderIds"]), (1, "m1", &json!(["TRASH"])));
    assert_eq!(page.body.sources[0].etag.as_deref(), Some("102"));
    assert_eq!(gmail.round_trips.get(), 1);
    // Archived and read: a record without labels, and a look tells that there are none.
    gmail.messages.borrow_mut()[2] = mail("m2", NOW_MS, &[]);
    gmail.record("labelsRemoved", "m2", None);
    let page = gmail.page(page.cursor.as_deref());
    assert_eq!(whole(&page.body.sources), ["m2"]);
    assert_eq!(gmail.round_trips.get(), 2);
}

#[test]
fn what_changes_during_the_first_reading_is_told() {
    let gmail = Gmail::new(120);
    let page = gmail.page(None);
    gmail.deliver("new", &["INBOX"]);
    gmail.remove("m3");
    gmail.record("messagesDeleted", "m3", None);
    let page = gmail.page(page.cursor.as_deref());
    assert!(page.body.enumeration && page.more);
    assert_eq!((whole(&page.body.sources)[0], deleted(&page.body.sources)), ("new", vec!["m3"]));
    let (cursor, told) = gmail.read_all(page.cursor.as_deref());
    assert!(deleted(&told).is_empty());
    assert!(gmail.page(Some(&cursor)).body.sources.is_empty());
}

#[test]
fn a_long_history_is_told_page_by_page() {
    let (gmail, cursor) = read_mailbox(1);
    gmail.records_per_page.set(2);
    for number in 0..5 {
        gmail.deliver(&format!("n{number}"), &["INBOX"]);
    }
    gmail.record("messages", "n0", None);
    let page = gmail.page(Some(&cursor));
    assert_eq!((whole(&page.body.sources), page.more), (vec!["n0", "n1"], true));
    let (cursor, told) = gmail.read_all(page.cursor.as_deref());
    assert_eq!(whole(&told), ["n2", "n3", "n4"]);
    assert!(gmail.page(Some(&cursor)).body.sources.is_empty());
}

/// Each saving gives the message of a draft another id; the draft's own stays.
#[test]
fn a_draft_is_known_again() {
    let (gmail, cursor) = read_mailbox(1);
    gmail.drafts.borrow_mut().push(("r7".to_owned(), "d1".to_owned()));
    gmail.deliver("d1", &["DRAFT"]);
    let page = gmail.page(Some(&cursor));
    let item = &page.body.sources[0].items[0];
    assert_eq!((item.fingerprint.as_deref(), &item.hint), (Some("r7"), &Some(json!({ "d": "r7" }))));
    gmail.remove("d1");
    gmail.record("messagesDeleted", "d1", None);
    gmail.drafts.borrow_mut()[0].1 = "d2".to_owned();
    gmail.deliver("d2", &["DRAFT"]);
    // The part fails: the end of the old version waits for the new one, so that both are on one page.
    gmail.deliver("mail", &["INBOX"]);
    gmail.with_parts(|_, id| (id == "d2").then_some(429));
    let page = gmail.page(page.cursor.as_deref());
    assert_eq!(
        (whole(&page.body.sources), deleted(&page.body.sources).len(), page.more),
        (vec!["mail"], 0, true)
    );
    gmail.with_parts(|_, _| None);
    let page = gmail.page(page.cursor.as_deref());
    assert_eq!((whole(&page.body.sources), deleted(&page.body.sources)), (vec!["d2"], vec!["d1"]));
    assert_eq!(page.body.sources[0].items[0].fingerprint.as_deref(), Some("r7"));
    assert!(!page.more);
}

/// Gmail reports some messages seconds before they can be read, and no later record names them.
#[test]
fn a_message_that_is_late_is_told() {
    let (gmail, mut cursor) = read_mailbox(1);
    gmail.record("messagesAdded", "late", Some(&["INBOX"]));
    gmail.record("messagesAdded", "never", Some(&["INBOX"]));
    gmail.record("messagesAdded", "gone", Some(&["INBOX"]));
    for _ in 0..2 {
        let page = gmail.page(Some(&cursor));
        assert!(page.body.sources.is_empty() && !page.more);
        cursor = page.cursor.unwrap();
    }
    gmail.messages.borrow_mut().insert(0, mail("late", NOW_MS, &["INBOX"]));
    gmail.record("messagesDeleted", "gone", None);
    let page = gmail.page(Some(&cursor));
    assert_eq!((whole(&page.body.sources), deleted(&page.body.sources)), (vec!["late"], vec!["gone"]));
    // The third try is the last, a minute after the first one.
    gmail.now_ms.set(NOW_MS + 60_000);
    let page = gmail.page(page.cursor.as_deref());
    let page = gmail.page(page.cursor.as_deref());
    assert_eq!(gmail.round_trips.get(), 1);
    assert!(!page.cursor.unwrap().contains("never"));
}

/// Everything is read again once. Where the history is lost again soon, new mail is found without it, and the state shows why.
#[test]
fn a_lost_history_is_read_in_full_once() {
    let (gmail, cursor) = read_mailbox(2);
    gmail.now_ms.set(NOW_MS + 7 * HOUR_MS);
    gmail.oldest.set(200);
    gmail.history_id.set(300);
    let expired = gmail.page_with(Some(&cursor), ChangesRequest::default()).0.unwrap_err();
    assert_eq!(expired.code, code::CURSOR_EXPIRED);
    let (cursor, told) = gmail.read_all(None);
    assert_eq!(whole(&told), ["m0", "m1"]);
    gmail.oldest.set(400);
    gmail.history_id.set(500);
    gmail.now_ms.set(NOW_MS + 8 * HOUR_MS);
    gmail.messages.borrow_mut().insert(0, mail("new", NOW_MS + 8 * HOUR_MS, &["INBOX"]));
    let page = gmail.page(Some(&cursor));
    assert!(whole(&page.body.sources).contains(&"new") && page.more && !page.body.enumeration);
    let cursor = page.cursor.unwrap();
    let failure = gmail.page_with(Some(&cursor), ChangesRequest::default()).0.unwrap_err();
    assert_eq!(failure.code, code::UNAVAILABLE);
    // Tried again later: new mail first, once more.
    gmail.now_ms.set(NOW_MS + 9 * HOUR_MS);
    assert!(gmail.page(Some(&cursor)).more);
    gmail.now_ms.set(NOW_MS + 14 * HOUR_MS);
    let failure = gmail.page_with(Some(&cursor), ChangesRequest::default()).0.unwrap_err();
    assert_eq!(failure.code, code::CURSOR_EXPIRED);
}

/// The history is lost while the mailbox is read: that goes on to its end.
#[test]
fn a_first_reading_survives_a_lost_history() {
    let gmail = Gmail::new(120);
    let page = gmail.page(None);
    gmail.oldest.set(200);
    let (cursor, told) = gmail.read_all(page.cursor.as_deref());
    assert_eq!(whole(&told).len(), 70);
    assert!(gmail.page(Some(&cursor)).more, "new mail is looked for");
}

#[test]
fn labels_are_told_where_they_change() {
    let (gmail, cursor) = read_mailbox(1);
    gmail.labels.borrow_mut().push(json!({ "id": "Label_1", "name": "Work/Travel", "type": "user" }));
    let page = gmail.page(Some(&cursor));
    assert_eq!(kinds(&page.body.sources, "email_label"), ["CATEGORY_SOCIAL", "Label_1"]);
    let cursor = page.cursor.unwrap();
    assert!(gmail.page(Some(&cursor)).body.sources.is_empty());
    gmail.labels.borrow_mut().pop();
    let page = gmail.page(Some(&cursor));
    assert_eq!(deleted(&page.body.sources), ["Label_1"]);
}

/// A page that stopped the connector is requested by its names, and messages that it did not report are reported later.
#[test]
fn a_page_can_be_told_by_its_names() {
    let gmail = Gmail::new(3);
    let names = ChangesRequest { names_only: true, limit: 50, ..ChangesRequest::default() };
    let page = gmail.page_with(None, names.clone()).0.unwrap();
    let told: Vec<&str> = page.body.sources.iter().map(|source| source.external_id.as_str()).collect();
    assert_eq!((told, gmail.batches.get()), (vec!["m0", "m1", "m2"], 0));
    assert!(page.body.sources.iter().all(|source| source.items.is_empty()));
    gmail.deliver("new", &["INBOX"]);
    gmail.record("labelsAdded", "m1", Some(&["INBOX", "STARRED"]));
    gmail.record("messagesDeleted", "m2", None);
    let page = gmail.page_with(page.cursor.as_deref(), names).0.unwrap();
    let told: Vec<(&str, bool)> =
        page.body.sources.iter().map(|source| (source.external_id.as_str(), source.deleted)).collect();
    assert_eq!(told, [("new", false), ("m1", false), ("m2", true)]);
    let page = gmail.page(page.cursor.as_deref());
    assert_eq!(kinds(&page.body.sources, "email_folder").len(), 6);
}

#[test]
fn a_cursor_of_something_else_is_expired() {
    for cursor in ["", "x", "g1;{\"since\":{\"since\":\"a\"}}", "m1;{", "m1;{\"h\":-1}"] {
        let failure = Gmail::new(1).page_with(Some(cursor), ChangesRequest::default()).0.unwrap_err();
        assert_eq!(failure.code, code::CURSOR_EXPIRED, "{cursor}");
    }
}
