//! Changes of a mailbox: the initial sync over all folders, and the rounds after it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use connector_microsoft::Microsoft;
use connector_sdk::http::{Response, SendError};
use connector_sdk::{Answer, Email as _, Outcome, code};
use model::email::folders::{Folder, FolderRole};
use model::wire::{ChangesRequest, Source, Sources};
use serde_json::{Value, json};

use crate::desk::{Asked, Desk, gone, ok, page, refused, whole};

/// Pages of a folder's delta, one for each request, the last one with a delta link.
type Pages = Vec<Vec<Value>>;
/// Pages of a later round, with their folder and token.
type LaterPages = Vec<(&'static str, Vec<Value>)>;
/// A refusal of a folder's token: status and error code.
type Refusal = (&'static str, u16, &'static str);

/// The number of the color with which the list of categories is empty.
const NO_CATEGORIES: u8 = 99;

/// A mailbox of the folders `f1` and `f2`, whose deltas have these pages.
#[derive(Clone, Default)]
struct Mailbox {
    first: Pages,
    second: Pages,
    /// Pages of the rounds after the initial sync, by the folder and the number of the token.
    later: Rc<RefCell<LaterPages>>,
    /// The next request with a token of this folder is answered so.
    refusal: Rc<RefCell<Option<Refusal>>>,
    /// Messages that are there, with their folders.
    there: Rc<RefCell<Vec<(&'static str, &'static str)>>>,
    /// Messages among the recoverable items; none: that folder cannot be read.
    recoverable: Rc<RefCell<Option<Vec<&'static str>>>>,
    categories: Rc<Cell<u8>>,
    removed_folder: Rc<Cell<bool>>,
}

fn link(kind: &str, token: &str) -> (String, Value) {
    let name = if kind == "$deltatoken" { "@odata.deltaLink" } else { "@odata.nextLink" };
    (
        name.to_owned(),
        json!(format!("https://graph.microsoft.com/v1.0/me/mailFolders('x')/messages/delta?{kind}={token}")),
    )
}

impl Mailbox {
    fn desk(&self) -> Desk {
        let mailbox = self.clone();
        Desk::new(move |asked| mailbox.answer(asked))
    }

    fn answer(&self, asked: &Asked) -> Result<Response, SendError> {
        let path: Vec<&str> = asked.path.split('/').collect();
        match path.as_slice() {
            ["mailFolders", "delta"] => self.tree(asked),
            ["outlook", "masterCategories"] if self.categories.get() == NO_CATEGORIES => ok(&page(&[])),
            ["outlook", "masterCategories"] => ok(&page(&[
                json!({ "displayName": "Red", "color": format!("preset{}", self.categories.get()) }),
            ])),
            ["mailFolders", "inbox"] => ok(&json!({ "id": "f1" })),
            ["mailFolders", _] => gone(),
            ["mailFolders", folder, "messages", "delta"] => self.delta(asked, folder),
            ["mailFolders", "recoverableitemsdeletions", "messages"] => match &*self.recoverable.borrow() {
                Some(ids) => ok(&page(&ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>())),
                None => gone(),
            },
            ["messages", id] => match self.there.borrow().iter().find(|(there, _)| there == id) {
                Some((id, folder)) => ok(&whole(id, "2026-03-01T00:00:00Z", folder)),
                None => gone(),
            },
            path => panic!("unexpected: {path:?}"),
        }
    }

    fn tree(&self, asked: &Asked) -> Result<Response, SendError> {
        let folder = |id: &str, name: &str| json!({ "id": id, "displayName": name, "parentFolderId": "root", "totalItemCount": 3 });
        let mut value = match asked.parameter("$deltatoken") {
            None => page(&[folder("f1", "Inbox"), folder("f2", "Projects")]),
            Some(_) if self.removed_folder.get() => {
                page(&[json!({ "id": "f2", "@removed": { "reason": "deleted" } })])
            }
            Some(_) => page(&[]),
        };
        let (name, link) = link("$deltatoken", "tree1");
        value[name] = link;
        ok(&value)
    }

    fn delta(&self, asked: &Asked, folder: &str) -> Result<Response, SendError> {
        assert!(asked.header("prefer").unwrap().contains("odata.maxpagesize="));
        let pages = if folder == "f1" { &self.first } else { &self.second };
        let token = asked.parameter("$skiptoken").or(asked.parameter("$deltatoken"));
        if token.is_some()
            && let Some((_, status, code)) = self.refusal.borrow_mut().take_if(|(of, ..)| *of == folder)
        {
            return refused(status, code);
        }
        if asked.parameter("$deltatoken").is_some() {
            let mut later = self.later.borrow_mut();
            let at = later.iter().position(|(of, _)| *of == folder);
            let mut value = page(&at.map(|at| later.remove(at).1).unwrap_or_default());
            let (name, link) = link("$deltatoken", "d2");
            value[name] = link;
            return ok(&value);
        }
        let at: usize = token.map_or(0, |token| token.trim_start_matches("p").parse().unwrap());
        let mut value = page(pages.get(at).map_or(&[][..], Vec::as_slice));
        let (name, link) = match at + 1 < pages.len() {
            true => link("$skiptoken", &format!("p{}", at + 1)),
            false => link("$deltatoken", "d1"),
        };
        value[name] = link;
        ok(&value)
    }
}

fn pull(desk: &Desk, cursor: Option<&str>) -> Outcome<Answer<Sources>> {
    let context = desk.context().at(cursor.map(str::to_owned));
    Microsoft::changes(&context, ChangesRequest { limit: 200, ..ChangesRequest::default() })
}

/// Pulls until there is no more; the pages.
fn pull_all(desk: &Desk, cursor: Option<String>) -> (Vec<Sources>, String) {
    let (mut pages, mut cursor) = (Vec::new(), cursor);
    loop {
        let answer = pull(desk, cursor.as_deref()).unwrap();
        pages.push(answer.body);
        cursor = answer.cursor;
        if !answer.more {
            return (pages, cursor.unwrap());
        }
        assert!(pages.len() < 20, "it ends");
    }
}

fn is_message(source: &&Source) -> bool {
    source.items.iter().any(|item| item.kind.is_none())
}

/// The messages of a page: whole, in part (with the folder), or gone.
fn told(page: &Sources) -> Vec<String> {
    let shown = |source: &Source| -> Option<String> {
        let id = &source.external_id;
        let Some(item) = source.items.first() else {
            return source.deleted.then(|| format!("-{id}"));
        };
        let body: Value = item.body.read().unwrap();
        match (item.kind.is_some(), item.partial) {
            (true, _) => None,
            (false, false) => Some(id.clone()),
            (false, true) => Some(format!("~{id} {}", body["folderIds"][0].as_str().unwrap_or_default())),
        }
    };
    page.sources.iter().filter_map(shown).collect()
}

fn mails(folder: &str, list: &[(&str, &str)]) -> Vec<Value> {
    list.iter().map(|(id, at)| whole(id, at, folder)).collect()
}

/// Two folders, the second one with a page more.
fn mailbox() -> Mailbox {
    Mailbox {
        first: vec![mails("f1", &[("a", "2026-03-02T08:00:00Z"), ("b", "2026-02-20T00:00:00Z")])],
        second: vec![
            mails("f2", &[("c", "2026-03-02T09:00:00Z"), ("d", "2026-03-01T00:00:00Z")]),
            mails("f2", &[("e", "2026-02-01T00:00:00Z")]),
        ],
        ..Mailbox::default()
    }
}

/// Folders, roles and categories are one batch, the first pages of all folders another; each page is from new to old and says how far
/// back it is complete.
#[test]
fn the_initial_sync_is_newest_first() {
    let desk = mailbox().desk();
    let first = pull(&desk, None).unwrap();
    let steps = desk.take_steps();
    assert_eq!(steps.len(), 2, "{steps:?}");
    assert!(
        steps[0].starts_with(
            "batch of GET mailFolders/delta, GET outlook/masterCategories, GET mailFolders/inbox"
        )
    );
    assert_eq!(steps[1], "batch of GET mailFolders/f1/messages/delta, GET mailFolders/f2/messages/delta");
    assert!(first.body.enumeration && first.more);
    assert_eq!(told(&first.body), ["c", "a", "d", "b"]);
    // The second folder is read down to this message.
    assert_eq!(first.body.covered_since.unwrap().to_string(), "2026-03-01T00:00:00.001Z");
    let places: Vec<&Source> = first.body.sources.iter().filter(|source| !is_message(source)).collect();
    let folder: Folder = places[1].items[0].body.read().unwrap();
    assert_eq!((folder.name.as_str(), folder.role, places.len()), ("Inbox", Some(FolderRole::Inbox), 3));
    assert_eq!(places[0].external_id, "category:Red");
    let second = pull(&desk, first.cursor.as_deref()).unwrap();
    assert_eq!(desk.take_steps(), ["batch of GET mailFolders/f2/messages/delta"]);
    assert_eq!(
        (told(&second.body), second.body.enumeration, second.more),
        (vec!["e".to_owned()], true, false)
    );
    assert_eq!(second.body.covered_since, None);
    // A round with nothing new is one round trip.
    let quiet = pull(&desk, second.cursor.as_deref()).unwrap();
    assert_eq!(desk.take_steps().len(), 1);
    assert_eq!((quiet.body.sources.len(), quiet.body.enumeration, quiet.more), (0, false, false));
}

/// The pages of the initial sync name all messages, or the host would delete one: what moves meanwhile into a folder that was read already
/// is in its last page.
#[test]
fn a_message_that_moves_during_the_initial_sync_is_named() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let first = pull(&desk, None).unwrap();
    mailbox.later.borrow_mut().push(("f1", mails("f1", &[("m", "2026-01-01T00:00:00Z")])));
    desk.advance(10_000);
    let second = pull(&desk, first.cursor.as_deref()).unwrap();
    assert_eq!((told(&second.body), second.more), (vec!["e".to_owned()], true));
    let last = pull(&desk, second.cursor.as_deref()).unwrap();
    assert_eq!((told(&last.body), last.body.enumeration), (vec!["m".to_owned()], true));
    assert!(!last.more);
    assert!(!pull(&desk, last.cursor.as_deref()).unwrap().body.enumeration);
}

/// A message that a folder says is gone is looked for: only 404 is a deletion.
#[test]
fn what_is_removed_is_looked_for() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    let removed = |id: &str| json!({ "id": id, "@removed": { "reason": "deleted" } });
    mailbox.there.borrow_mut().push(("a", "f1"));
    mailbox.later.borrow_mut().extend([
        ("f1", vec![removed("a"), removed("b"), removed("x")]),
        ("f2", vec![json!({ "id": "x", "parentFolderId": "f2", "isRead": true })]),
    ]);
    desk.take_steps();
    let answer = pull(&desk, Some(&cursor)).unwrap();
    // `a` was moved away and back, `b` is deleted, and `x` is shown by the other folder.
    assert_eq!(told(&answer.body), ["~x f2", "~a f1", "-b"]);
    assert_eq!(desk.take_steps()[1], "batch of GET messages/a, GET messages/b");
}

/// By an id that stays Graph may answer for what was deleted too: it is in a folder that is in no tree.
#[test]
fn what_lies_among_the_recoverable_items_is_gone() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    mailbox.there.borrow_mut().push(("a", "recoverable"));
    let removed = json!({ "id": "a", "@removed": { "reason": "deleted" } });
    mailbox.later.borrow_mut().push(("f1", vec![removed]));
    assert_eq!(told(&pull(&desk, Some(&cursor)).unwrap().body), ["-a"]);
}

/// A call looks for as many messages as it has time for; the next ones look for the rest before they read on.
#[test]
fn many_removals_are_looked_for_in_several_calls() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    let removed = |number: usize| json!({ "id": format!("x{number}"), "@removed": { "reason": "deleted" } });
    mailbox.later.borrow_mut().push(("f1", (0..450).map(removed).collect()));
    desk.take_steps();
    let (pages, cursor) = pull_all(&desk, Some(cursor));
    let counts: Vec<usize> = pages.iter().map(|page| told(page).len()).collect();
    assert_eq!(counts, [200, 200, 50]);
    assert_eq!(desk.take_steps().len(), 1 + 10 + 10 + 1 + 3);
    assert!(!cursor.contains("x449"));
}

/// One folder that Graph cannot read does not keep the others back; where none can be read the call fails.
#[test]
fn a_folder_that_cannot_be_read_is_left() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    let broken = |paths: &'static [&'static str]| {
        let inner = mailbox.clone();
        Desk::new(move |asked| match paths.iter().any(|path| asked.path.starts_with(path)) {
            true => refused(500, "ErrorInternalServerError"),
            false => inner.answer(asked),
        })
    };
    mailbox.later.borrow_mut().push(("f1", vec![json!({ "id": "a", "isRead": true })]));
    let half = broken(&["mailFolders/f2/messages"]);
    let answer = pull(&half, Some(&cursor)).unwrap();
    assert_eq!((told(&answer.body), answer.more), (vec!["~a f1".to_owned()], false));
    let all = broken(&["mailFolders/f1/messages", "mailFolders/f2/messages"]);
    assert_eq!(pull(&all, answer.cursor.as_deref()).unwrap_err().code, code::UNAVAILABLE);
}

/// A category that has left the list is gone, but for one that a message has.
#[test]
fn a_category_without_a_place_in_the_list_is_a_label_where_a_message_has_it() {
    for has_message in [false, true] {
        let mailbox = mailbox();
        let desk = mailbox.desk();
        let (_, cursor) = pull_all(&desk, None);
        mailbox.categories.set(NO_CATEGORIES);
        if has_message {
            let change = json!({ "id": "a", "categories": ["Red"] });
            mailbox.later.borrow_mut().push(("f1", vec![change]));
        }
        let answer = pull(&desk, Some(&cursor)).unwrap();
        let labels = answer.body.sources.iter().filter(|one| one.external_id == "category:Red");
        assert_eq!(labels.map(|label| label.deleted).collect::<Vec<_>>(), [!has_message]);
    }
}

/// Messages of other kinds, without a time, a sender or a subject, and one of which the description makes no sense: each is there or has an
/// error, and the folder goes on. Categories whose names differ by their case alone are two.
#[test]
fn odd_messages_do_not_keep_their_neighbours_back() {
    let with = |id: &str, members: Value| {
        let mut message = whole(id, "2026-03-02T08:00:00Z", "f1");
        for (name, value) in members.as_object().unwrap() {
            message[name.as_str()] = value.clone();
        }
        message
    };
    let nobody = json!({
        "@odata.type": "#microsoft.graph.eventMessage", "from": null, "sender": null, "toRecipients": [], "subject": null,
        "body": null, "bodyPreview": null, "conversationId": null, "internetMessageId": null, "categories": null,
    });
    let no_time = "0001-01-01T00:00:00Z";
    let times = json!({ "receivedDateTime": no_time, "sentDateTime": no_time, "createdDateTime": no_time });
    let page = vec![
        with("request", json!({ "@odata.type": "#microsoft.graph.eventMessageRequest" })),
        with("report", nobody),
        with("year-one", times),
        with("odd", json!({ "isRead": "perhaps" })),
        with("twice", json!({ "categories": ["\u{dc}bung", "\u{fc}bung"] })),
        with("last", json!({})),
    ];
    let mailbox = Mailbox { first: vec![page], second: vec![Vec::new()], ..Mailbox::default() };
    let desk = mailbox.desk();
    let (pages, cursor) = pull_all(&desk, None);
    let mut shown: Vec<String> = pages.iter().flat_map(told).collect();
    shown.sort();
    assert_eq!(shown, ["last", "report", "request", "twice", "year-one"]);
    let sources = || pages.iter().flat_map(|page| &page.sources);
    let quarantined: Vec<&str> =
        sources().filter(|source| source.error.is_some()).map(|source| source.external_id.as_str()).collect();
    assert_eq!(quarantined, ["odd"]);
    let mut labels: Vec<&str> = sources().map(|source| source.external_id.as_str()).collect();
    labels.retain(|id| id.ends_with("bung"));
    labels.sort_unstable();
    assert_eq!(labels, ["category:\u{dc}bung", "category:\u{fc}bung"]);

    mailbox.later.borrow_mut().push(("f1", mails("f1", &[("new", "2026-03-02T10:00:00Z")])));
    assert_eq!(told(&pull(&desk, Some(&cursor)).unwrap().body), ["new"]);
}

/// A page may have the changed members alone, and of a known message nothing else is told.
#[test]
fn a_change_is_told_in_short_form() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    let mut old = whole("a", "2026-03-02T08:00:00Z", "f1");
    old["isRead"] = json!(true);
    let mut draft = whole("t", "2026-03-01T08:00:00Z", "f1");
    draft["isDraft"] = json!(true);
    let mut new = whole("n", "2026-03-02T10:00:00Z", "f1");
    new["categories"] = json!(["Unlisted"]);
    mailbox.later.borrow_mut().push((
        "f1",
        vec![
            old,
            draft,
            new,
            json!({ "id": "b", "flag": { "flagStatus": "flagged" } }),
            json!({ "id": "odd", "isRead": 7 }),
        ],
    ));
    mailbox.categories.set(7);
    let answer = pull(&desk, Some(&cursor)).unwrap();
    assert_eq!(told(&answer.body), ["n", "~a f1", "t", "~b f1"]);
    let fields: Value =
        answer.body.sources.iter().find(|one| one.external_id == "b").unwrap().items[0].body.read().unwrap();
    assert_eq!(fields, json!({ "starred": true, "folderIds": ["f1"] }));
    let labels: Vec<&str> = answer
        .body
        .sources
        .iter()
        .map(|source| source.external_id.as_str())
        .filter(|id| id.starts_with("category:"))
        .collect();
    assert_eq!(labels, ["category:Red", "category:Unlisted"], "another color, and a name that is in no list");
    assert!(answer.body.sources.iter().any(|source| source.external_id == "odd" && source.error.is_some()));
}

/// A token that counts no more begins its folder again, and no other one.
#[test]
fn an_expired_token_restarts_its_folder_alone() {
    for (status, reason) in [
        (410, "SyncStateNotFound"),
        (404, "SyncStateNotFound"),
        (400, "SyncStateInvalid"),
        (410, "resyncRequired"),
        (400, "InvalidSyncStateData"),
        (400, "ErrorInvalidIdMalformed"),
    ] {
        let mailbox = mailbox();
        let desk = mailbox.desk();
        let (_, cursor) = pull_all(&desk, None);
        *mailbox.refusal.borrow_mut() = Some(("f2", status, reason));
        desk.take_steps();
        let (pages, cursor) = pull_all(&desk, Some(cursor));
        let told: Vec<String> = pages.iter().flat_map(told).collect();
        assert_eq!(told, ["~c f2", "~d f2", "~e f2"], "{status} {reason}");
        assert!(pages.iter().all(|page| !page.enumeration));
        let begun: Vec<Asked> = desk
            .asked_for("GET mailFolders/")
            .into_iter()
            .filter(|one| one.parameter("$orderby").is_some())
            .collect();
        assert_eq!(begun.iter().map(Asked::line).collect::<Vec<_>>(), ["GET mailFolders/f2/messages/delta"]);
        assert!(!pull(&desk, Some(&cursor)).unwrap().more);
    }
}

/// A message that was destroyed before the token of its folder expired is in no change of the folder: once that is read again, it is found
/// among the recoverable items, by one request. One that a page has is there.
#[test]
fn a_message_that_was_destroyed_before_a_token_expired_is_gone() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    *mailbox.recoverable.borrow_mut() = Some(vec!["z", "e"]);
    let expire = || *mailbox.refusal.borrow_mut() = Some(("f2", 410, "SyncStateNotFound"));
    let looks = || desk.asked_for("GET mailFolders/recoverableitemsdeletions/messages").len();
    expire();
    let (pages, cursor) = pull_all(&desk, Some(cursor));
    let told_by_all = |pages: &[Sources]| pages.iter().flat_map(told).collect::<Vec<String>>();
    assert_eq!(told_by_all(&pages), ["~c f2", "~d f2", "~e f2", "-z"]);
    assert_eq!(looks(), 1);

    // A provider that does not answer is asked once more in the next round.
    let inner = mailbox.clone();
    let slow = Desk::new(move |asked| match asked.path.contains("recoverableitemsdeletions") {
        true => refused(503, "UnknownError"),
        false => inner.answer(asked),
    });
    expire();
    let (pages, cursor) = pull_all(&slow, Some(cursor));
    assert_eq!(told_by_all(&pages), ["~c f2", "~d f2", "~e f2"]);
    let (pages, cursor) = pull_all(&desk, Some(cursor));
    assert_eq!(told_by_all(&pages), ["-z", "-e"]);
    let (_, cursor) = pull_all(&desk, Some(cursor));
    assert_eq!(looks(), 2, "nothing was lost since");

    // One that was restored while the list was made is in a folder again.
    let inner = mailbox.clone();
    let restored = Desk::new(move |asked| match asked.path.contains("recoverableitemsdeletions") {
        true => ok(&page(&[json!({ "id": "w", "parentFolderId": "f1" })])),
        false => inner.answer(asked),
    });
    expire();
    let (pages, _) = pull_all(&restored, Some(cursor));
    assert_eq!(told_by_all(&pages), ["~c f2", "~d f2", "~e f2"]);
}

/// A link that has expired within the initial sync.
#[test]
fn an_expired_next_link_does_not_end_the_initial_sync() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let first = pull(&desk, None).unwrap();
    *mailbox.refusal.borrow_mut() = Some(("f2", 410, "SyncStateNotFound"));
    let (pages, _) = pull_all(&desk, first.cursor);
    let told: Vec<String> = pages.iter().flat_map(told).collect();
    assert_eq!(told, ["c", "d", "e"]);
    assert!(pages.iter().all(|page| page.enumeration));
    // Until the folder is read again, nobody knows how far back.
    assert_eq!(pages[0].covered_since, None);
}

/// Pages that take too long are halved.
#[test]
fn a_page_that_takes_too_long_is_halved() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    let inner = mailbox.clone();
    let slow =
        Desk::new(move |asked| match asked.header("prefer").unwrap().contains("odata.maxpagesize=100") {
            true if asked.path.starts_with("mailFolders/f1") => refused(504, "UnknownError"),
            _ => inner.answer(asked),
        });
    mailbox.later.borrow_mut().push(("f1", vec![json!({ "id": "a", "isRead": true })]));
    let first = pull(&slow, Some(&cursor)).unwrap();
    assert!(first.more && told(&first.body).is_empty());
    let second = pull(&slow, first.cursor.as_deref()).unwrap();
    assert_eq!((told(&second.body), second.more), (vec!["~a f1".to_owned()], false));
}

/// The messages of a folder that is gone are reported nowhere: everything is read again.
#[test]
fn a_folder_that_is_gone_with_its_messages_is_a_new_reading() {
    let mailbox = mailbox();
    let desk = mailbox.desk();
    let (_, cursor) = pull_all(&desk, None);
    mailbox.removed_folder.set(true);
    let answer = pull(&desk, Some(&cursor)).unwrap();
    assert!(
        answer.more && answer.body.sources.iter().any(|source| source.external_id == "f2" && source.deleted)
    );
    assert_eq!(pull(&desk, answer.cursor.as_deref()).unwrap_err().code, code::CURSOR_EXPIRED);
    assert_eq!(pull(&desk, Some("m0;{}")).unwrap_err().code, code::CURSOR_EXPIRED);
    // A count of none says nothing of a folder whose messages were read.
    mailbox.removed_folder.set(false);
    let inner = mailbox.clone();
    let miscounting = Desk::new(move |asked| {
        let answer = inner.answer(asked)?;
        let text = answer.text().replace("\"totalItemCount\":3", "\"totalItemCount\":0");
        Ok(Response { body: text.into_bytes(), ..answer })
    });
    let (_, cursor) = pull_all(&miscounting, None);
    mailbox.removed_folder.set(true);
    let answer = pull(&miscounting, Some(&cursor)).unwrap();
    assert_eq!(pull(&miscounting, answer.cursor.as_deref()).unwrap_err().code, code::CURSOR_EXPIRED);
}
