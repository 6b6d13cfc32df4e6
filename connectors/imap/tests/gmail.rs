//! Gmail, word by word: every label is a mailbox, and each message is read and named once: in the mailbox of all mail, the trash or spam.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/scripted.rs"]
mod script;

use connector_imap::ids::{MessageId, folder_key};
use connector_imap::{Imap, mime};
use connector_sdk::Email as _;
use model::email::EmailAddress;
use model::wire::email::{MessageDelete, MessageRef, MessageSearch, MessageSend, MessageUpdate, MessagesGet};
use model::wire::{ChangesRequest, Source};
use script::{Script, Step, answer};
use serde_json::{Value, json};

const GMAIL: &str = "IMAP4rev1;LIST-STATUS;SPECIAL-USE;CONDSTORE;UIDPLUS;MOVE;X-GM-EXT-1";
const ALL: &str = "[Gmail]/All Mail";
const TRASH: &str = "[Gmail]/Trash";

const LIST: &str = "LIST \"\" \"*\" RETURN (SUBSCRIBED SPECIAL-USE STATUS (MESSAGES UNSEEN UIDNEXT UIDVALIDITY HIGHESTMODSEQ))";

/// The answer to the selection of a mailbox.
fn mailbox(attribute: &str, name: &str, messages: u32, modseq: u32) -> String {
    format!(
        "* LIST (\\HasNoChildren{attribute}) \"/\" \"{name}\"\n\
         * STATUS \"{name}\" (MESSAGES {messages} UNSEEN 0 UIDNEXT 9 UIDVALIDITY 9 HIGHESTMODSEQ {modseq})\n"
    )
}

/// All mailboxes with their counts. `modseq` is that of all mail, `more` further lines.
fn listed(modseq: u32, more: &str) -> Step {
    let mut said = String::from("* LIST (\\HasChildren \\Noselect) \"/\" \"[Gmail]\"\n");
    for (attribute, name, messages) in [
        ("", "INBOX", 2),
        ("", "Work", 1),
        (" \\All", ALL, 3),
        (" \\Drafts", "[Gmail]/Drafts", 0),
        (" \\Sent", "[Gmail]/Sent Mail", 1),
        (" \\Junk", "[Gmail]/Spam", 0),
        (" \\Flagged", "[Gmail]/Starred", 1),
        (" \\Trash", TRASH, 1),
    ] {
        said.push_str(&mailbox(attribute, name, messages, if name == ALL { modseq } else { 5 }));
    }
    answer(LIST, &format!("{said}{more}@ OK done\n"))
}

fn opened(verb: &str, name: &str, exists: u32, modseq: u32) -> Step {
    let said = format!("* {exists} EXISTS\n* OK [UIDVALIDITY 9]\n* OK [HIGHESTMODSEQ {modseq}]\n@ OK done\n");
    answer(&format!("{verb} \"{name}\" (CONDSTORE)"), &said)
}

/// Messages are read as lists show them.
fn read(uids: &str, messages: &[(u32, &str)]) -> Step {
    let items = format!(
        "UID FLAGS MODSEQ INTERNALDATE RFC822.SIZE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS ({})] \
         BODY.PEEK[TEXT]<0.2048> X-GM-LABELS X-GM-MSGID",
        mime::FIELDS
    );
    let message = |(uid, labels): &(u32, &str)| {
        format!(
            "* {uid} FETCH (X-GM-MSGID 12784553442303348{uid} X-GM-LABELS ({labels}) UID {uid} FLAGS (\\Seen) MODSEQ (4) \
             INTERNALDATE \"0{uid}-Jan-2026 10:00:00 +0000\" RFC822.SIZE 9 \
             BODYSTRUCTURE (\"TEXT\" \"PLAIN\" NIL NIL NIL \"7BIT\" 5 1) BODY[HEADER.FIELDS (X)] \"Subject: x\" \
             BODY[TEXT]<0> \"hi\")\n"
        )
    };
    let said: String = messages.iter().map(message).collect();
    answer(&format!("UID FETCH {uids} ({items})"), &format!("{said}@ OK done\n"))
}

fn dated(uids: &str, found: &[u32]) -> Step {
    let said = found
        .iter()
        .map(|uid| format!("* {uid} FETCH (UID {uid} INTERNALDATE \"0{uid}-Jan-2026 10:00:00 +0000\")\n"));
    answer(
        &format!("UID FETCH {uids} (UID INTERNALDATE)"),
        &format!("{}@ OK done\n", said.collect::<String>()),
    )
}

fn message(uid: u32) -> MessageRef {
    let id = MessageId { key: folder_key(&format!("F:{ALL}")), uid_validity: 9, uid };
    MessageRef { source: id.to_string(), hint: Some(json!({ "f": ALL })) }
}

/// Folders of each message among the sources, by its UID; those that are gone have none.
fn folders_by_uid(sources: &[Source]) -> Vec<(u32, Vec<String>)> {
    let one = |source: &Source| {
        let id = source.external_id.strip_prefix("M:")?;
        let uid = id.rsplit(':').next()?.parse().ok()?;
        let body = source.items.first().map(|item| item.body.read::<Value>().unwrap()).unwrap_or_default();
        let folders = body["folderIds"].as_array().cloned().unwrap_or_default();
        let folders = folders.iter().filter_map(Value::as_str).map(|folder| folder.replace("F:", ""));
        Some((uid, folders.collect()))
    };
    sources.iter().filter_map(one).collect()
}

fn in_folders(uid: u32, folders: &[&str]) -> (u32, Vec<String>) {
    (uid, folders.iter().map(|folder| (*folder).to_owned()).collect())
}

#[test]
fn labels_are_folders_and_all_mail_is_read_once() {
    // 1 is in two folders, 2 was sent to oneself, 3 is archived and gets a label, 7 is in the trash.
    let first = [
        listed(10, ""),
        opened("EXAMINE", ALL, 3, 10),
        dated("1:*", &[1, 2, 3]),
        opened("EXAMINE", TRASH, 1, 5),
        dated("1:*", &[7]),
        opened("EXAMINE", ALL, 3, 10),
        read("1:3", &[(1, "\"\\\\Inbox\" Work"), (2, "\"\\\\Sent\" \"\\\\Inbox\" \"\\\\Starred\""), (3, "")]),
        opened("EXAMINE", TRASH, 1, 5),
        read("7", &[(7, "Work")]),
    ];
    let later = [
        listed(20, ""),
        opened("EXAMINE", ALL, 3, 20),
        answer(
            "UID FETCH 1:* (UID FLAGS X-GM-LABELS) (CHANGEDSINCE 10)",
            "* 3 FETCH (UID 3 X-GM-LABELS (Work \"\\\\Muted\") FLAGS (\\Seen) MODSEQ (15))\n\
             * 2 FETCH (UID 2 FLAGS (\\Seen) MODSEQ (16))\n@ OK done\n",
        ),
        answer("UID SEARCH ALL", "* SEARCH 1 2 3\n@ OK done\n"),
    ];
    let script = Script::new(3).line("imap", GMAIL, first).line("imap", GMAIL, later);
    let page = Imap::changes(&script.cx(), ChangesRequest::default()).unwrap();
    let mut all = folders_by_uid(&page.body.sources);
    all.sort();
    let expected = [
        in_folders(1, &["INBOX", "Work", ALL]),
        in_folders(2, &["INBOX", ALL, "[Gmail]/Sent Mail", "[Gmail]/Starred"]),
        in_folders(3, &[ALL]),
        in_folders(7, &[TRASH]),
    ];
    assert_eq!(all, expected);
    let folders = page.body.sources.iter().filter(|source| source.external_id.starts_with("F:"));
    assert_eq!((folders.count(), page.more), (9, false));
    let fingerprints = page.body.sources.iter().filter(|source| source.external_id.starts_with("M:"));
    let fingerprints: Vec<_> =
        fingerprints.map(|source| source.items[0].fingerprint.clone().unwrap()).collect();
    assert!(fingerprints.contains(&"E:127845534423033481".to_owned()), "{fingerprints:?}");

    let page = Imap::changes(&script.cx().at(page.cursor), ChangesRequest::default()).unwrap();
    // Of 2 the server did not say the labels: what is known of its folders stays.
    assert_eq!(folders_by_uid(&page.body.sources), [in_folders(3, &["Work", ALL]), in_folders(2, &[])]);
    let body: Value = page.body.sources[1].items[0].body.read().unwrap();
    assert!(page.body.sources[1].items[0].partial && body.get("folderIds").is_none(), "{body}");
}

#[test]
fn messages_with_a_label_of_another_name_are_told_again() {
    let first = [
        listed(10, ""),
        opened("EXAMINE", ALL, 3, 10),
        dated("1:*", &[1, 2, 3]),
        opened("EXAMINE", TRASH, 1, 5),
        dated("1:*", &[7]),
    ];
    let later = [
        listed(10, &mailbox("", "Plans", 1, 5)),
        opened("EXAMINE", ALL, 3, 10),
        answer("UID SEARCH ALL X-GM-LABELS \"Plans\"", "* SEARCH 2\n@ OK done\n"),
        answer(
            "UID FETCH 2 (UID FLAGS MODSEQ X-GM-LABELS)",
            "* 2 FETCH (UID 2 FLAGS () MODSEQ (4) X-GM-LABELS (Plans))\n@ OK done\n",
        ),
    ];
    let script = Script::new(5).line("imap", GMAIL, first).line("imap", GMAIL, later);
    let names = ChangesRequest { names_only: true, ..ChangesRequest::default() };
    let page = Imap::changes(&script.cx(), names).unwrap();
    assert_eq!(folders_by_uid(&page.body.sources).len(), 4);
    let page = Imap::changes(&script.cx().at(page.cursor), ChangesRequest::default()).unwrap();
    assert_eq!(folders_by_uid(&page.body.sources), [in_folders(2, &["Plans", ALL])]);
}

/// A parent label with another name gives all labels below it other names.
#[test]
fn with_too_many_new_labels_all_messages_are_told_again() {
    let first = [
        listed(10, ""),
        opened("EXAMINE", ALL, 3, 10),
        dated("1:*", &[1, 2, 3]),
        opened("EXAMINE", TRASH, 1, 5),
        dated("1:*", &[7]),
    ];
    let more: String = (0..51).map(|at| mailbox("", &format!("Plans/{at}"), 1, 5)).collect();
    let later = [
        listed(10, &more),
        opened("EXAMINE", ALL, 3, 10),
        answer(
            "UID FETCH 1:3 (UID FLAGS MODSEQ X-GM-LABELS)",
            "* 2 FETCH (UID 2 FLAGS () MODSEQ (4) X-GM-LABELS (Plans/50))\n@ OK done\n",
        ),
    ];
    let script = Script::new(5).line("imap", GMAIL, first).line("imap", GMAIL, later);
    let names = ChangesRequest { names_only: true, ..ChangesRequest::default() };
    let page = Imap::changes(&script.cx(), names).unwrap();
    let page = Imap::changes(&script.cx().at(page.cursor), ChangesRequest::default()).unwrap();
    assert_eq!(folders_by_uid(&page.body.sources), [in_folders(2, &["Plans/50", ALL])]);
}

/// The account hides Gmail's own folders for sent messages and the trash, and the user has labels of these names.
#[test]
fn labels_that_are_named_like_gmails_folders_are_labels() {
    let list = [(" \\All", ALL), ("", "INBOX"), ("", "Sent"), ("", "Trash"), ("", "Archive")];
    let list: String = list.map(|(attribute, name)| mailbox(attribute, name, 1, 5)).concat();
    let steps = [
        answer(LIST, &format!("{list}@ OK done\n")),
        opened("EXAMINE", ALL, 1, 5),
        dated("1:*", &[1]),
        read("1", &[(1, "\"\\\\Sent\" Trash")]),
    ];
    let script = Script::new(2).line("imap", GMAIL, steps);
    let page = Imap::changes(&script.cx(), ChangesRequest::default()).unwrap();
    assert_eq!(folders_by_uid(&page.body.sources), [in_folders(1, &["Trash", ALL])]);
    let role = |source: &Source| {
        let folder: Value = source.items[0].body.read().unwrap();
        folder["role"].as_str().map(|role| (source.external_id.clone(), role.to_owned()))
    };
    let folders = page.body.sources.iter().filter(|source| source.external_id.starts_with("F:"));
    let mut roles: Vec<_> = folders.filter_map(role).collect();
    roles.sort();
    let expected = [("Archive", "archive"), ("INBOX", "inbox"), (ALL, "all")];
    assert_eq!(roles, expected.map(|(name, role)| (format!("F:{name}"), role.to_owned())));
}

#[test]
fn a_label_is_read_however_it_is_written() {
    let labels = format!(
        "\"\\\\Inbox\" \\Sent \"a\\\"b c\" \"B&APw-ro\" {{4}}\nR&-D NIL (x) {} Plans/[x",
        "y".repeat(1001)
    );
    let steps = [
        listed(10, ""),
        opened("EXAMINE", ALL, 3, 10),
        answer("UID SEARCH UNDELETED X-GM-LABELS \"a\\\"b c\"", "* SEARCH 1\n@ OK done\n"),
        dated("1", &[1]),
        read("1", &[(1, labels.as_str())]),
    ];
    let script = Script::new(7).line("imap", GMAIL, steps);
    let args = MessageSearch { folder: Some("F:a\"b c".into()), ..MessageSearch::default() };
    let found = Imap::search(&script.cx(), args).unwrap();
    let folders = ["Büro", "INBOX", "Plans/[x", "R&D", ALL, "[Gmail]/Sent Mail", "a\"b c"];
    assert_eq!(folders_by_uid(&found.body.sources), [in_folders(1, &folders)]);
}

#[test]
fn a_list_that_fails_hides_no_message() {
    let script = Script::new(1).line("imap", GMAIL, [answer(LIST, "@ NO [UNAVAILABLE] later\n")]);
    let request = MessagesGet { messages: vec![message(1)], ..MessagesGet::default() };
    assert_eq!(Imap::get_messages(&script.cx(), request).unwrap_err().code, "unavailable");
}

/// Without a mailbox of all mail the messages of the labels are read; to know that, the mailboxes are listed once for each line.
#[test]
fn what_an_account_hides_is_not_asked_for_again() {
    let read_one = |lists: bool| {
        let list = lists.then(|| answer(LIST, &format!("{}@ OK done\n", mailbox("", "INBOX", 1, 5))));
        let examined = "* 1 EXISTS\n* OK [UIDVALIDITY 9]\n* OK [HIGHESTMODSEQ 5]\n@ OK done\n";
        let selection = lists.then(|| answer("EXAMINE INBOX (CONDSTORE)", examined));
        list.into_iter().chain(selection).chain([read("1", &[(1, "")])])
    };
    let script = Script::new(1).line("imap", GMAIL, read_one(true));
    let get = |script: &Script| {
        let id = MessageId { key: folder_key("F:INBOX"), uid_validity: 9, uid: 1 };
        let message = MessageRef { source: id.to_string(), hint: Some(json!({ "f": "INBOX" })) };
        let request = MessagesGet { messages: vec![message], ..MessagesGet::default() };
        folders_by_uid(&Imap::get_messages(&script.cx(), request).unwrap().sources)
    };
    assert_eq!(get(&script), [in_folders(1, &["INBOX"])]);
    let note = script.notes.borrow()[0].clone();
    let script = Script::new(1).kept_line("imap", GMAIL, Some(&note), read_one(false));
    assert_eq!(get(&script), [in_folders(1, &["INBOX"])]);
}

/// Gmail keeps what it sends; where the account hides the folder from IMAP, a folder made for it would be a label of the user's.
#[test]
fn no_folder_is_made_for_sent_messages_that_gmail_hides() {
    let smtp = [
        answer("MAIL FROM:<ann@x>", "250 ok\n"),
        answer("RCPT TO:<a@x>", "250 ok\n"),
        answer("DATA", "354 go on\n"),
        answer("x", ""),
        answer(".", "250 ok\n"),
    ];
    let list = format!("{}{}@ OK done\n", mailbox(" \\All", ALL, 1, 5), mailbox("", "INBOX", 1, 5));
    let script = Script::new(1).line("smtp", "PIPELINING", smtp).line("imap", GMAIL, [answer(LIST, &list)]);
    let args = MessageSend {
        blob: script.blobs.create(b"x\r\n"),
        internet_message_id: "m@x".into(),
        from: EmailAddress { name: None, email: "ann@x".into() },
        recipients: vec!["a@x".into()],
        save_to_sent: true,
        ..MessageSend::default()
    };
    let mut cx = script.cx().keyed("k");
    cx.connection.settings.insert("smtp".into(), json!({ "host": "smtp.gmail.com" }));
    let sent = Imap::send(&cx, args).unwrap();
    assert!(sent.recipients[0].accepted && sent.warnings.is_empty() && sent.sources.is_empty(), "{sent:?}");
}

#[test]
fn a_label_is_searched_among_all_mail() {
    for (folder, key) in [("F:Work", "X-GM-LABELS \"Work\""), ("F:INBOX", "X-GM-RAW \"in:inbox\"")] {
        let steps = [
            listed(10, ""),
            opened("EXAMINE", ALL, 3, 10),
            answer(&format!("UID SEARCH UNDELETED {key}"), "* SEARCH 1\n@ OK done\n"),
            dated("1", &[1]),
            read("1", &[(1, "Work \"\\\\Inbox\"")]),
        ];
        let script = Script::new(1).line("imap", GMAIL, steps);
        let args = MessageSearch { folder: Some(folder.into()), ..MessageSearch::default() };
        let found = Imap::search(&script.cx(), args).unwrap();
        assert_eq!(folders_by_uid(&found.body.sources), [in_folders(1, &["INBOX", "Work", ALL])], "{folder}");
        assert_eq!(found.body.sources[0].external_id, message(1).source);
    }
}

#[test]
fn folders_are_set_by_labels() {
    let steps = [
        listed(10, ""),
        opened("SELECT", ALL, 3, 10),
        answer("NOOP", "@ OK done\n"),
        answer(
            "UID FETCH 1 (UID FLAGS X-GM-LABELS)",
            "* 1 FETCH (UID 1 FLAGS () X-GM-LABELS (\"\\\\Inbox\" \"\\\\Sent\" Hidden))\n@ OK done\n",
        ),
        answer("UID STORE 1 +X-GM-LABELS (\"Work\")", "@ OK done\n"),
        answer("UID STORE 1 -X-GM-LABELS (\\Inbox)", "@ OK done\n"),
        read("1", &[(1, "Work \"\\\\Sent\" Hidden")]),
    ];
    let script = Script::new(1).line("imap", GMAIL, steps);
    let folders = Some(vec!["F:Work".to_owned(), format!("F:{ALL}")]);
    let args = MessageUpdate { message: message(1), folders, ..MessageUpdate::default() };
    let done = Imap::update_message(&script.cx(), args).unwrap();
    // What is sent stays in the folder of sent messages, and labels that are hidden from IMAP stay too.
    let folders = ["Hidden", "Work", ALL, "[Gmail]/Sent Mail"];
    assert_eq!(folders_by_uid(&done.sources), [in_folders(1, &folders)]);
    assert_eq!(done.sources[0].previous_id, None);
}

#[test]
fn a_message_is_deleted_in_the_trash() {
    let steps = [
        listed(10, ""),
        opened("SELECT", ALL, 3, 10),
        answer("NOOP", "@ OK done\n"),
        answer(&format!("UID MOVE 1 \"{TRASH}\""), "* OK [COPYUID 9 1 8] moved\n@ OK done\n"),
        opened("SELECT", TRASH, 2, 6),
        answer("UID STORE 8 +FLAGS.SILENT (\\Deleted)", "@ OK done\n"),
        answer("UID EXPUNGE 8", "@ OK done\n"),
        Step::Close,
    ];
    let script = Script::new(1).line("imap", GMAIL, steps);
    let args = MessageDelete { message: message(1), permanent: true, ..MessageDelete::default() };
    let done = Imap::delete_message(&script.cx(), args).unwrap();
    assert!(done.sources.len() == 1 && done.sources[0].deleted, "{done:?}");
    assert_eq!(done.sources[0].external_id, message(1).source);
}
