//! The connector against real servers: Dovecot with its submission service, and Cyrus with Exim.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/live.rs"]
mod connection;

use std::collections::BTreeMap;

use connection::{Live, Wire, alone, servers};
use connector_imap::Imap;
use connector_sdk::{Answer, Email as _};
use model::email::folders::{Folder, FolderRole};
use model::email::{EmailAddress, EmailMessage};
use model::wire::email::{
    AttachmentRef, DraftSave, MessageAppend, MessageDelete, MessageFind, MessageRef, MessageSearch,
    MessageSend, MessageUpdate, MessagesGet,
};
use model::wire::{ChangesRequest, Item, Source, Sources};

/// Runs a test against every server that is up, on an emptied account.
fn each(user: &str, test: impl Fn(&Live)) {
    let _alone = alone(user);
    for server in servers() {
        eprintln!("against {}", server.name);
        let live = Live::open(&server, user);
        empty(&live);
        test(&live);
    }
}

/// Takes away all messages, and makes the folders that the tests use. None is deleted: Cyrus keeps what is deleted under its name and
/// the second, so two of one name cannot be deleted in one second.
fn empty(live: &Live) {
    let mut client = live.other_client();
    for name in ["Trash", "Sent", "Drafts", "Offers", "&AMQ-rger"] {
        client.run_maybe(&format!("CREATE {name}")).ok();
    }
    for line in client.run("LIST \"\" \"*\"") {
        let name = line.rsplit_once(' ').unwrap().1.trim_matches('"').to_owned();
        client.run(&format!("SELECT \"{name}\""));
        if client.run("UID SEARCH ALL").iter().any(|line| line.len() > "* SEARCH".len()) {
            client.run("UID STORE 1:* +FLAGS.SILENT (\\Deleted)");
            client.run("EXPUNGE");
        }
    }
}

fn message(number: usize) -> String {
    format!(
        "From: Ann <ann@example.test>\nTo: bob@example.test\nSubject: Number {number}\nMessage-ID: <n{number}@x>\n\
         Date: Thu, 01 Jan 2026 10:00:00 +0000\n\nHello, this is {number}.\n"
    )
}

const MIXED: &str = "From: =?utf-8?Q?J=C3=BCrgen?= <j@example.test>\nTo: bob@example.test\nSubject: =?utf-8?B?R3LDvMOfZQ==?=\n\
    Message-ID: <mixed@x>\nDate: Thu, 01 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n\
    Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/alternative; boundary=c\n\n\
    --c\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nGr=C3=BC=C3=9Fe!\n\
    --c\nContent-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\nPHA+R3LDvMOfZSE8L3A+\n--c--\n\
    --b\nContent-Type: application/pdf; name=\"a.pdf\"\nContent-Disposition: attachment; filename*=utf-8''%E2%82%AC.pdf\n\
    Content-Transfer-Encoding: base64\n\nAAECAwQF\n--b--\n";

fn body(item: &Item) -> EmailMessage {
    item.body.read().unwrap()
}

fn changes(live: &Live, cursor: Option<String>, limit: u32) -> Answer<Sources> {
    Imap::changes(&live.cx().at(cursor), ChangesRequest { limit, ..ChangesRequest::default() }).unwrap()
}

/// All pages from a cursor on, and the last cursor.
fn drain(live: &Live, mut cursor: Option<String>, limit: u32) -> (Vec<Answer<Sources>>, String) {
    let mut pages = Vec::new();
    loop {
        let page = changes(live, cursor, limit);
        cursor = page.cursor.clone();
        let more = page.more;
        pages.push(page);
        if !more {
            return (pages, cursor.unwrap());
        }
        assert!(pages.len() < 1000, "the end never comes");
    }
}

fn sources(pages: &[Answer<Sources>]) -> Vec<&Source> {
    pages.iter().flat_map(|page| &page.body.sources).collect()
}

fn messages(pages: &[Answer<Sources>]) -> Vec<(String, Item)> {
    let all = sources(pages).into_iter().flat_map(|source| &source.items);
    all.filter(|item| item.kind.is_none()).map(|item| (item.external_id.clone(), item.clone())).collect()
}

fn folders(pages: &[Answer<Sources>]) -> BTreeMap<String, (String, Folder)> {
    let all = sources(pages).into_iter().flat_map(|source| &source.items);
    let all = all.filter(|item| item.kind.as_deref() == Some("email_folder"));
    all.map(|item| {
        let folder: Folder = item.body.read().unwrap();
        (folder.path.join("/"), (item.external_id.clone(), folder))
    })
    .collect()
}

fn reference(item: &Item) -> MessageRef {
    MessageRef { source: item.external_id.clone(), hint: item.hint.clone() }
}

/// A folder is deleted with its messages, another is created under its name.
fn a_folder_is_remade(live: &Live, client: &mut Wire, cursor: String) {
    client.run("DELETE Offers");
    client.run("CREATE Offers");
    client.append("Offers", "", "01-Mar-2026 10:00:00 +0000", &message(101));
    let (pages, cursor) = drain(live, Some(cursor), 10);
    assert_eq!(sources(&pages).iter().filter(|s| s.deleted && s.external_id.starts_with("M:")).count(), 6);
    assert_eq!(messages(&pages).len(), 1);
    let (pages, _) = drain(live, Some(cursor), 10);
    assert_eq!(sources(&pages).len(), 0);
}

/// Each page of an initial sync goes further back than the one before, and has no message older than it declares.
fn assert_complete(pages: &[Answer<Sources>]) {
    let since: Vec<_> = pages.iter().map(|page| page.body.covered_since.unwrap()).collect();
    assert_eq!(since.len(), 3);
    assert!(since.is_sorted_by(|a, b| a > b));
    for (page, since) in pages.iter().zip(since) {
        assert!(page.body.enumeration);
        let told = messages(std::slice::from_ref(page));
        assert!(!told.is_empty() && told.iter().all(|(_, item)| body(item).received_at >= since));
    }
}

#[test]
fn everything_is_told_newest_first_and_then_what_is_different() {
    each("t15", |live| {
        let mut client = live.other_client();
        for number in 0..25 {
            let folder = if number % 5 == 0 { "Offers" } else { "INBOX" };
            client.append(
                folder,
                "",
                &format!("{:02}-Jan-2026 10:00:00 +0000", number + 1),
                &message(number),
            );
        }
        let (pages, cursor) = drain(live, None, 10);
        let told = messages(&pages);
        assert_eq!(told.len(), 25);
        assert_complete(&pages);
        assert!(told.iter().all(|(_, item)| body(item).unread && !body(item).snippet.is_empty()));
        assert!(told.iter().any(|(_, item)| body(item).snippet == "Hello, this is 24."));
        let all = folders(&pages);
        assert_eq!(all["INBOX"].1.role, Some(FolderRole::Inbox));
        assert_eq!(all["Trash"].1.role, Some(FolderRole::Trash));
        assert_eq!(all["Offers"].1.total_count, Some(5));

        // Nothing changed: nothing is reported.
        let (pages, cursor) = drain(live, Some(cursor), 10);
        assert_eq!((pages.len(), sources(&pages).len()), (1, 0));
        assert!(!pages[0].body.enumeration);

        // One is new, one is read, one is deleted, one moves.
        client.append("INBOX", "\\Flagged", "01-Feb-2026 10:00:00 +0000", &message(100));
        client.run("SELECT INBOX");
        client.run("STORE 1 +FLAGS (\\Seen $Junk)");
        client.run("STORE 2 +FLAGS (\\Deleted)");
        client.run("EXPUNGE");
        client.run("MOVE 2 Offers");
        let (pages, cursor) = drain(live, Some(cursor), 10);
        let told = messages(&pages);
        let partial: Vec<_> = told.iter().filter(|(_, item)| item.partial).collect();
        assert_eq!(partial.len(), 1, "{}", live.server.name);
        assert!(partial[0].1.body.as_str().contains("\"unread\":false"));
        assert!(partial[0].1.body.as_str().contains("$junk"));
        let full: Vec<_> =
            told.iter().filter(|(_, item)| !item.partial).map(|(_, item)| body(item)).collect();
        assert_eq!(full.len(), 2, "{told:?}");
        assert!(
            full.iter().any(|message| message.starred && message.subject.as_deref() == Some("Number 100"))
        );
        assert!(full.iter().any(|message| message.subject.as_deref() == Some("Number 3")));
        let all = sources(&pages);
        let gone: Vec<_> = all.iter().filter(|source| source.deleted).map(|s| &s.external_id).collect();
        assert_eq!(gone.len(), 2, "{gone:?}");
        let last_gone = all.iter().rposition(|source| source.deleted).unwrap();
        let first_full =
            all.iter().position(|s| s.items.iter().any(|i| i.kind.is_none() && !i.partial)).unwrap();
        assert!(last_gone < first_full, "deletions come first");

        a_folder_is_remade(live, &mut client, cursor);
        assert_eq!(live.lines.borrow().len(), 0, "{:?}", live.lines.borrow());
    });
}

#[test]
fn what_changes_during_the_first_reading_is_told_too() {
    each("t16", |live| {
        let mut client = live.other_client();
        for number in 0..12 {
            client.append(
                "INBOX",
                "",
                &format!("{:02}-Jan-2026 10:00:00 +0000", number + 1),
                &message(number),
            );
        }
        let first = changes(live, None, 4);
        assert!(first.more);
        client.append("INBOX", "", "01-Feb-2026 10:00:00 +0000", &message(50));
        client.run("SELECT INBOX");
        let oldest = client.run("UID SEARCH SUBJECT \"Number 0\"");
        let oldest = oldest[0].rsplit_once(' ').unwrap().1.to_owned();
        client.run(&format!("UID STORE {oldest} +FLAGS (\\Deleted)"));
        client.run("EXPUNGE");
        // Kept connections are closed by the server meanwhile: calls do not fail.
        live.close_kept();
        let (pages, cursor) = drain(live, first.cursor.clone(), 4);
        let mut subjects: Vec<_> = messages(std::slice::from_ref(&first))
            .iter()
            .chain(&messages(&pages))
            .map(|(_, item)| body(item).subject.unwrap())
            .collect();
        subjects.sort();
        subjects.dedup();
        assert_eq!(subjects.len(), 12);
        assert!(subjects.contains(&"Number 50".to_owned()) && !subjects.contains(&"Number 0".to_owned()));
        assert_eq!(sources(&drain(live, Some(cursor), 4).0).len(), 0);

        // Only names.
        let args = ChangesRequest { limit: 5, names_only: true, ..ChangesRequest::default() };
        let named = Imap::changes(&live.cx(), args).unwrap().body.sources;
        let named: Vec<_> = named.iter().filter(|source| source.external_id.starts_with("M:")).collect();
        assert_eq!(named.len(), 5);
        assert!(named.iter().all(|source| source.items.is_empty() && !source.deleted));
    });
}

#[test]
fn messages_are_read_with_text_and_files() {
    each("t17", |live| {
        let mut client = live.other_client();
        client.append("INBOX", "\\Seen", "05-Jan-2026 10:00:00 +0000", MIXED);
        client.append("INBOX", "", "04-Jan-2026 10:00:00 +0000", &message(1));
        let (pages, _) = drain(live, None, 0);
        let told = messages(&pages);
        let item = &told[0].1;
        let listed = body(item);
        assert_eq!(listed.subject.as_deref(), Some("Grüße"));
        assert_eq!(listed.from[0].name.as_deref(), Some("Jürgen"));
        assert!(listed.has_attachments && !listed.unread && listed.body.is_none());
        assert!(listed.snippet.starts_with("Grüße!"), "{}", listed.snippet);
        assert_eq!(listed.attachments[0].filename.as_deref(), Some("€.pdf"));
        assert_eq!(listed.attachments[0].id, "2");

        let get = |messages: Vec<MessageRef>| {
            let args = MessagesGet { messages, headers: true, body: true, max_body_bytes: 1000 };
            Imap::get_messages(&live.cx(), args).unwrap().sources
        };
        for reference in [reference(item), MessageRef { hint: None, ..reference(item) }] {
            let read = get(vec![reference]);
            let message = body(&read[0].items[0]);
            let text = message.body.clone().unwrap();
            assert_eq!(text.text.unwrap().trim_end(), "Grüße!");
            assert_eq!(text.html.unwrap().trim_end(), "<p>Grüße!</p>");
            assert!(!text.truncated);
            assert!(message.headers.iter().any(|header| header.name.eq_ignore_ascii_case("mime-version")));
            assert_eq!(read[0].external_id, item.external_id);
            assert_eq!(read[0].items[0].fingerprint, item.fingerprint);
        }
        let args =
            MessagesGet { messages: vec![reference(item)], body: true, max_body_bytes: 3, headers: false };
        let cut = body(&Imap::get_messages(&live.cx(), args).unwrap().sources[0].items[0]).body.unwrap();
        assert_eq!((cut.text.as_deref(), cut.truncated), (Some("Gr"), true));

        // Unknown ones: gone, or no name of ours at all.
        let nobody = item.external_id.rsplit_once(':').unwrap().0.to_owned() + ":4000";
        let unknown = MessageRef { source: nobody.clone(), hint: item.hint.clone() };
        let read = get(vec![unknown, MessageRef { source: "x".into(), hint: None }, reference(&told[1].1)]);
        assert_eq!(read.iter().filter(|source| source.deleted).count(), 1);
        assert_eq!(read.iter().filter(|source| !source.deleted).count(), 1);

        let raw = Imap::raw(&live.cx(), reference(item)).unwrap();
        assert_eq!(live.blobs.content(&raw.blob).unwrap(), MIXED.replace('\n', "\r\n").into_bytes());
        let args = AttachmentRef { message: reference(item), part: "2".into() };
        let file = Imap::attachment(&live.cx(), args.clone()).unwrap();
        assert_eq!(live.blobs.content(&file.blob).unwrap(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(file.content_type.as_deref(), Some("application/pdf"));
        for part in ["9", "", "1] UID"] {
            let missing = AttachmentRef { part: part.into(), ..args.clone() };
            assert_eq!(Imap::attachment(&live.cx(), missing).unwrap_err().code, "not-found", "{part}");
        }
        let gone = MessageRef { source: nobody, hint: item.hint.clone() };
        assert_eq!(Imap::raw(&live.cx(), gone).unwrap_err().code, "not-found");
        assert_eq!(live.opened.get(), 2, "one line for reading and one for sending do");
    });
}

/// To the trash, and out of it. Returns the item as it was in the trash.
fn to_the_trash_and_out(live: &Live, moved: &Source, trash: &str, cursor: String) -> Item {
    let delete = |message: MessageRef, permanent: bool| {
        let args = MessageDelete { message, permanent, if_match: None };
        Imap::delete_message(&live.cx().keyed("d"), args).unwrap()
    };
    let trashed = delete(reference(&moved.items[0]), false);
    let in_trash = trashed.sources[0].items[0].clone();
    assert_eq!(body(&in_trash).folder_ids, [trash.to_owned()]);
    assert_eq!(trashed.sources[0].previous_id.as_deref(), Some(moved.external_id.as_str()));
    let gone = delete(reference(&in_trash), false);
    assert!(gone.sources[0].deleted && gone.item.is_none());
    assert!(delete(reference(&in_trash), false).sources[0].deleted, "twice is once");
    let (pages, _) = drain(live, Some(cursor), 0);
    assert_eq!(messages(&pages).len(), 0);
    in_trash
}

#[test]
fn messages_are_changed_moved_and_deleted() {
    each("t15", |live| {
        let mut client = live.other_client();
        client.append("INBOX", "", "05-Jan-2026 10:00:00 +0000", &message(1));
        let (pages, cursor) = drain(live, None, 0);
        let all = folders(&pages);
        let source =
            sources(&pages).into_iter().find(|source| source.external_id.starts_with("M:")).unwrap().clone();
        let item = source.items[0].clone();
        let update = |args: MessageUpdate| Imap::update_message(&live.cx().keyed("k"), args);

        let args = MessageUpdate {
            message: reference(&item),
            unread: Some(false),
            starred: Some(true),
            forwarded: Some(true),
            add_keywords: vec!["work".into()],
            if_match: source.etag.clone(),
            ..MessageUpdate::default()
        };
        let done = update(args.clone()).unwrap();
        let changed = body(&done.sources[0].items[0]);
        assert!(!changed.unread && changed.starred && changed.forwarded);
        assert_eq!(changed.keywords, ["work"]);
        assert_eq!(done.item.as_deref(), Some(item.external_id.as_str()));
        assert_eq!(done.sources[0].previous_id, None);
        assert_eq!(update(args).unwrap_err().code, "conflict", "the etag is the old one");
        let add_keywords = vec!["a b".into()];
        let bad = MessageUpdate { message: reference(&item), add_keywords, ..Default::default() };
        assert_eq!(update(bad).unwrap_err().code, "invalid");

        // It goes to a folder with an umlaut.
        let target = all["Ärger"].0.clone();
        let args = MessageUpdate {
            message: reference(&item),
            unread: Some(true),
            folders: Some(vec![target.clone()]),
            ..MessageUpdate::default()
        };
        let done = update(args).unwrap();
        let moved = &done.sources[0];
        assert_eq!(moved.previous_id.as_deref(), Some(item.external_id.as_str()));
        assert_eq!(moved.items[0].fingerprint, item.fingerprint);
        assert_eq!(body(&moved.items[0]).folder_ids, [target]);
        assert!(body(&moved.items[0]).unread);
        let two = MessageUpdate {
            message: reference(&item),
            folders: Some(vec!["F:a".into(), "F:b".into()]),
            ..MessageUpdate::default()
        };
        assert_eq!(update(two).unwrap_err().code, "unsupported");

        // The next pull reports the move too, under the same names.
        let (pages, cursor) = drain(live, Some(cursor), 0);
        let told = messages(&pages);
        assert_eq!(told.len(), 1);
        assert_eq!(
            (&told[0].0, told[0].1.fingerprint.as_ref()),
            (&moved.external_id, item.fingerprint.as_ref())
        );
        assert!(sources(&pages).iter().any(|s| s.deleted && s.external_id == item.external_id));

        let in_trash = to_the_trash_and_out(live, moved, &all["Trash"].0, cursor);
        let missing =
            MessageUpdate { message: reference(&in_trash), unread: Some(true), ..Default::default() };
        assert_eq!(update(missing).unwrap_err().code, "not-found");
    });
}

/// Sent to a good, a bad and a busy address, and then to refused ones only.
fn sent_and_found(live: &Live, draft: MessageRef) {
    let blob = |text: &str| live.blobs.create(text.replace('\n', "\r\n").as_bytes());
    let find = |id: &str| {
        let args = MessageFind { internet_message_id: id.into() };
        Imap::find_message(&live.cx(), args).unwrap().sources
    };
    assert_eq!(find("n8@x").len(), 1);
    assert_eq!(find("n8").len(), 0);
    let sending = MessageSend {
        blob: blob(&format!("{}.dot\n..dots\nno end", message(8))),
        internet_message_id: "n8@x".into(),
        from: EmailAddress { name: None, email: "t16@example.test".into() },
        recipients: vec![
            "t16@example.test".into(),
            "reject@example.test".into(),
            "tempfail@example.test".into(),
        ],
        save_to_sent: true,
        sent_blob: None,
        draft: Some(draft),
        thread: None,
    };
    let sent = Imap::send(&live.cx().keyed("s"), sending.clone()).unwrap();
    let states: Vec<_> = sent.recipients.iter().map(|r| (r.accepted, r.temporary)).collect();
    assert_eq!(states, [(true, false), (false, false), (false, true)], "{:?}", sent.recipients);
    assert!(sent.recipients[1].reply.as_deref().unwrap().starts_with("550"));
    assert_eq!(sent.warnings, []);
    assert_eq!(*live.reached.borrow(), ["handed-over", "accepted"]);
    let copy = sent.sources.iter().find(|source| !source.deleted).unwrap();
    assert!(!body(&copy.items[0]).unread);
    assert!(sent.sources.iter().any(|source| source.deleted), "the draft is gone");
    let found = find("n8@x");
    assert_eq!((found.len(), &found[0].external_id), (1, &copy.external_id));

    // All recipients are refused: nothing is handed over, nothing kept.
    let refused = MessageSend { recipients: vec!["reject@example.test".into()], draft: None, ..sending };
    let sent = Imap::send(&live.cx().keyed("r"), refused).unwrap();
    assert!(!sent.recipients[0].accepted && sent.sources.is_empty());
    assert_eq!(live.reached.borrow().len(), 2);
}

#[test]
fn messages_are_stored_sent_and_found() {
    each("t16", |live| {
        let mut client = live.other_client();
        let blob = |text: &str| live.blobs.create(text.replace('\n', "\r\n").as_bytes());
        let received_at = "2025-12-24T18:00:00Z".parse().ok();
        let args = MessageAppend {
            blob: blob(&message(7)),
            internet_message_id: "n7@x".into(),
            starred: true,
            received_at,
            keywords: vec!["later".into()],
            ..MessageAppend::default()
        };
        let append = || Imap::append(&live.cx().keyed("a"), args.clone()).unwrap();
        let stored = append();
        let item = &stored.sources[0].items[0];
        assert_eq!(stored.warnings, []);
        assert_eq!((Some(body(item).received_at), body(item).starred), (received_at, true));
        assert!(!body(item).unread);
        assert_eq!(append().item, stored.item, "a repeated call finds what is there");

        // A draft, and a newer version of it.
        let draft = |text: &str, replaces: Option<(MessageRef, Option<String>)>| {
            let (replaces, if_match) = replaces.map_or((None, None), |(message, etag)| (Some(message), etag));
            let (blob, internet_message_id) = (blob(text), "n8@x".into());
            let args = DraftSave { blob, internet_message_id, replaces, if_match, thread: None };
            Imap::save_draft(&live.cx().keyed("d"), args)
        };
        let first = draft(&message(8), None).unwrap();
        let source = first.sources[0].clone();
        assert!(body(&source.items[0]).draft && !body(&source.items[0]).unread);
        let newer = message(8) + "More.\n";
        let replaced = Some((reference(&source.items[0]), source.etag.clone()));
        let second = draft(&newer, replaced.clone()).unwrap();
        assert_eq!(second.sources[0].previous_id.as_deref(), Some(source.external_id.as_str()));
        assert_eq!(draft(&newer, replaced.clone()).unwrap().item, second.item, "a repeated call");
        assert_eq!(draft(&(newer + "Yet more.\n"), replaced).unwrap_err().code, "conflict");

        sent_and_found(live, reference(&second.sources[0].items[0]));
        client.run("SELECT Drafts");
        assert_eq!(client.run("UID SEARCH ALL"), ["* SEARCH"]);
    });
}

#[test]
fn the_server_is_searched() {
    each("t17", |live| {
        let mut client = live.other_client();
        for number in 0..9 {
            let folder = if number % 2 == 0 { "Offers" } else { "INBOX" };
            client.append(
                folder,
                "",
                &format!("{:02}-Jan-2026 10:00:00 +0000", number + 1),
                &message(number),
            );
        }
        client.append("INBOX", "\\Seen", "20-Jan-2026 10:00:00 +0000", MIXED);
        let subjects = |args: MessageSearch| {
            let mut found = Vec::new();
            let mut cursor = None;
            loop {
                let page = Imap::search(&live.cx().at(cursor), args.clone()).unwrap();
                let items = page.body.sources.iter().flat_map(|source| &source.items);
                found.extend(items.map(|item| body(item).subject.unwrap()));
                cursor = page.cursor;
                if !page.more {
                    return found;
                }
            }
        };
        let text =
            |text: &str| MessageSearch { text: Some(text.into()), limit: 4, ..MessageSearch::default() };
        let expected: Vec<String> = (0..9).rev().map(|number| format!("Number {number}")).collect();
        assert_eq!(subjects(text("hello ann")), expected);
        assert_eq!(subjects(text("Grüße")), ["Grüße"]);
        assert_eq!(subjects(text("nowhere")), [""; 0]);
        let days = MessageSearch {
            received_after: "2026-01-03T10:00:00Z".parse().ok(),
            received_before: "2026-01-05T10:00:00Z".parse().ok(),
            ..MessageSearch::default()
        };
        assert_eq!(subjects(days), ["Number 3", "Number 2"]);
        let native =
            |query: &str| MessageSearch { native_query: Some(query.into()), ..MessageSearch::default() };
        assert_eq!(subjects(native("OR SUBJECT \"Number 3\" SEEN")), ["Grüße", "Number 3"]);
        assert_eq!(subjects(MessageSearch { unread: Some(false), ..MessageSearch::default() }), ["Grüße"]);
        for query in ["SUBJECT", "NONSENSE x", "x\r\ny"] {
            assert_eq!(Imap::search(&live.cx(), native(query)).unwrap_err().code, "invalid", "{query}");
        }
        let (pages, _) = drain(live, None, 0);
        let folder = Some(folders(&pages)["Offers"].0.clone());
        assert_eq!(subjects(MessageSearch { folder, ..text("hello") }).len(), 5);
        let features = Imap::features(&live.cx()).unwrap();
        assert!(features.search && features.keywords && !features.labels);
        assert!(live.account.external_account_id.ends_with("@127.0.0.1"));
    });
}

/// Another client removes a message that we just moved, before the next pull, and one that a kept connection has seen.
#[test]
fn what_others_take_away_is_told() {
    each("t17", |live| {
        let mut client = live.other_client();
        for number in [1, 2] {
            client.append("INBOX", "", "05-Jan-2026 10:00:00 +0000", &message(number));
        }
        let (pages, cursor) = drain(live, None, 0);
        let target = folders(&pages)["Ärger"].0.clone();
        let [(_, first), (_, second)] = &messages(&pages)[..] else { panic!("two messages") };
        let args = MessageUpdate {
            message: reference(first),
            folders: Some(vec![target]),
            ..MessageUpdate::default()
        };
        let moved = Imap::update_message(&live.cx(), args).unwrap().item.unwrap();
        let get = || {
            let args = MessagesGet { messages: vec![reference(second)], body: true, ..Default::default() };
            Imap::get_messages(&live.cx(), args).unwrap().sources.remove(0)
        };
        assert!(!get().deleted);
        for mailbox in ["&AMQ-rger", "INBOX"] {
            client.run(&format!("SELECT {mailbox}"));
            client.run("UID STORE 1:* +FLAGS.SILENT (\\Deleted)");
            client.run("EXPUNGE");
        }
        assert!(get().deleted, "on the line that has the inbox selected");
        assert_eq!(Imap::raw(&live.cx(), reference(second)).unwrap_err().code, "not-found");
        let (pages, cursor) = drain(live, Some(cursor), 0);
        let gone: Vec<&String> = sources(&pages)
            .into_iter()
            .filter(|source| source.deleted)
            .map(|source| &source.external_id)
            .collect();
        assert_eq!(gone.len(), 3);
        assert!(gone.contains(&&moved), "nobody else ever knew of it");
        assert!(messages(&drain(live, Some(cursor), 0).0).is_empty());
    });
}
