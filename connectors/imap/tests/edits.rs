//! Changes word by word, on servers that have few extensions: moves without MOVE and UIDPLUS, literals that are waited for, files that
//! go to blobs in pieces of any size.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/scripted.rs"]
mod script;

use connector_imap::Imap;
use connector_imap::ids::{MessageId, folder_key};
use connector_imap::mime::FIELDS;
use connector_sdk::Email as _;
use model::email::EmailMessage;
use model::wire::email::{
    AttachmentRef, MessageAppend, MessageDelete, MessageRef, MessageSearch, MessageUpdate,
};
use script::{Script, Step, answer};
use serde_json::json;

const PLAIN: &str = "IMAP4rev1";

fn message(uid: u32) -> MessageRef {
    let id = MessageId { key: folder_key("F:INBOX"), uid_validity: 9, uid };
    MessageRef { source: id.to_string(), hint: Some(json!({ "f": "INBOX" })) }
}

fn selected(verb: &str, name: &str, flags: &str) -> Step {
    let said = format!("* OK [UIDVALIDITY 9]\n* OK [PERMANENTFLAGS ({flags})]\n@ OK [READ-WRITE]\n");
    let name = if name == "INBOX" { name.to_owned() } else { format!("\"{name}\"") };
    answer(&format!("{verb} {name}"), &said)
}

fn noop() -> Step {
    answer("NOOP", "@ OK\n")
}

/// The message as it is read at the end.
fn whole(uid: u32, flags: &str) -> Step {
    let items = format!(
        "(UID FLAGS INTERNALDATE RFC822.SIZE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS ({FIELDS})] BODY.PEEK[TEXT]<0.2048>)"
    );
    let said = format!(
        "* 1 FETCH (UID {uid} FLAGS ({flags}) BODYSTRUCTURE (\"TEXT\" \"PLAIN\") BODY[HEADER.FIELDS (X)] \
         \"Subject: x\" BODY[TEXT]<0> \"hi\")\n@ OK\n"
    );
    answer(&format!("UID FETCH {uid} {items}"), &said)
}

#[test]
fn flags_are_set_and_what_cannot_be_kept_is_told() {
    let script = Script::new(1).line(
        "imap",
        PLAIN,
        [
            selected("SELECT", "INBOX", "\\Seen \\Flagged work"),
            noop(),
            answer("UID STORE 3 +FLAGS.SILENT (\\Seen work)", "* 1 FETCH (FLAGS (x))\n@ OK\n"),
            answer("UID STORE 3 -FLAGS.SILENT (\\Flagged other)", "@ OK\n"),
            whole(3, "\\Seen work"),
        ],
    );
    let args = MessageUpdate {
        message: message(3),
        unread: Some(false),
        starred: Some(false),
        forwarded: Some(true),
        add_keywords: vec!["work".into(), "play".into()],
        remove_keywords: vec!["other".into()],
        ..MessageUpdate::default()
    };
    let done = Imap::update_message(&script.cx(), args).unwrap();
    let targets: Vec<_> = done.warnings.iter().filter_map(|warning| warning.target.as_deref()).collect();
    assert_eq!(targets, ["forwarded", "keywords"]);
    let message: EmailMessage = done.sources[0].items[0].body.read().unwrap();
    assert_eq!((message.unread, message.keywords), (false, vec!["work".to_owned()]));
}

#[test]
fn a_modified_message_is_a_conflict() {
    let capabilities = "IMAP4rev1;CONDSTORE";
    let script = Script::new(1).line(
        "imap",
        capabilities,
        [
            answer("SELECT INBOX (CONDSTORE)", "* OK [UIDVALIDITY 9]\n@ OK\n"),
            noop(),
            answer("UID FETCH 3 (UID FLAGS MODSEQ)", "* 1 FETCH (UID 3 FLAGS () MODSEQ (7))\n@ OK\n"),
            answer("UID STORE 3 (UNCHANGEDSINCE 7) +FLAGS.SILENT (\\Seen)", "@ OK [MODIFIED 3] no\n"),
        ],
    );
    let args = MessageUpdate {
        message: message(3),
        unread: Some(false),
        if_match: Some("m7".into()),
        ..MessageUpdate::default()
    };
    assert_eq!(Imap::update_message(&script.cx(), args).unwrap_err().code, "conflict");
}

/// A move to `Box` on a server that can only copy; what else is marked as deleted in the inbox is `deleted`.
fn copied(deleted: &str, last: Vec<Step>) -> Script {
    let mut steps = vec![
        selected("SELECT", "INBOX", "\\*"),
        noop(),
        answer(
            "UID FETCH 3 (UID BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])",
            "* 1 FETCH (UID 3 BODY[HEADER.FIELDS (MESSAGE-ID)] {23}\nMessage-ID: <m@x>\n\n\n\n)\n@ OK\n",
        ),
        answer("UID COPY 3 \"Box &AMQ-\"", "@ OK\n"),
        answer("UID STORE 3 +FLAGS.SILENT (\\Deleted)", "@ OK\n"),
        selected("SELECT", "INBOX", "\\*"),
        answer("UID SEARCH DELETED", &format!("* SEARCH {deleted}\n@ OK\n")),
    ];
    steps.extend(last);
    steps.push(answer("EXAMINE \"Box &AMQ-\"", "* OK [UIDVALIDITY 5]\n@ OK\n"));
    steps.push(answer("UID SEARCH UNDELETED HEADER Message-ID \"<m@x>\"", "* SEARCH 2 8\n@ OK\n"));
    steps.push(whole(8, ""));
    Script::new(7).line("imap", PLAIN, steps)
}

#[test]
fn without_move_and_uidplus_nothing_else_is_expunged() {
    for (deleted, last, warned) in [("3", vec![answer("EXPUNGE", "@ OK\n")], false), ("2 3", vec![], true)] {
        let script = copied(deleted, last);
        let folders = Some(vec!["F:Box Ä".to_owned()]);
        let args = MessageUpdate { message: message(3), folders, ..MessageUpdate::default() };
        let done = Imap::update_message(&script.cx(), args).unwrap();
        assert_eq!(done.warnings.iter().any(|w| w.code == "message_not_expunged"), warned);
        let moved = &done.sources[0];
        assert_eq!(moved.previous_id, Some(message(3).source));
        let id = MessageId { key: folder_key("F:Box Ä"), uid_validity: 5, uid: 8 };
        assert_eq!(moved.external_id, id.to_string());
    }
}

#[test]
fn a_message_of_another_uidvalidity_is_not_touched() {
    let script =
        Script::new(1).line("imap", PLAIN, [answer("SELECT INBOX", "* OK [UIDVALIDITY 10]\n@ OK\n"), noop()]);
    let args = MessageUpdate { message: message(3), unread: Some(true), ..MessageUpdate::default() };
    assert_eq!(Imap::update_message(&script.cx(), args).unwrap_err().code, "not-found");
    let script =
        Script::new(1).line("imap", PLAIN, [answer("SELECT INBOX", "* OK [UIDVALIDITY 10]\n@ OK\n"), noop()]);
    let args = MessageDelete { message: message(3), permanent: true, if_match: None };
    assert!(Imap::delete_message(&script.cx(), args).unwrap().sources[0].deleted);
}

#[test]
fn literals_are_sent_when_the_server_asks_for_them() {
    let script = Script::new(1).line(
        "imap",
        PLAIN,
        [
            answer(
                "APPEND \"Box\" (\\Seen) \"24-Dec-2025 18:00:00 +0000\" {5}\na\nb",
                "@ OK [APPENDUID 4 7] done\n",
            ),
            answer("EXAMINE \"Box\"", "* OK [UIDVALIDITY 4]\n@ OK\n"),
            whole(7, "\\Seen"),
        ],
    );
    let args = MessageAppend {
        blob: script.blobs.create(b"a\r\nb\n"),
        internet_message_id: "m@x".into(),
        folders: vec!["F:Box".into()],
        received_at: "2025-12-24T18:00:00Z".parse().ok(),
        ..MessageAppend::default()
    };
    let done = Imap::append(&script.cx(), args.clone()).unwrap();
    assert!(done.item.unwrap().ends_with(":4:7"));
    // A refusal of the literal ends the command.
    let refused =
        answer("APPEND \"Box\" (\\Seen) \"24-Dec-2025 18:00:00 +0000\" {5}\na\nb", "@ NO [OVERQUOTA] full\n");
    let script = Script::new(1).line("imap", PLAIN, [refused]);
    script.blobs.create(b"a\r\nb\n");
    assert_eq!(Imap::append(&script.cx(), args).unwrap_err().code, "invalid");
}

#[test]
fn a_line_is_known_to_be_open_before_a_message_is_stored_on_it() {
    let note = r#"{"c":["IMAP4REV1","LITERAL+"],"s":null,"e":false}"#;
    let script = Script::new(1).kept_line("imap", PLAIN, Some(note), [Step::Close]).line(
        "imap",
        PLAIN,
        [
            answer("NOOP", "@ OK\n"),
            answer("APPEND \"Box\" {3}\na", "* 1 EXISTS\n@ OK [APPENDUID 9 1] done\n"),
            answer("EXAMINE \"Box\"", "* OK [UIDVALIDITY 9]\n@ OK\n"),
            whole(1, ""),
        ],
    );
    let args = MessageAppend {
        blob: script.blobs.create(b"a\r\n"),
        internet_message_id: "m@x".into(),
        folders: vec!["F:Box".into()],
        unread: true,
        ..MessageAppend::default()
    };
    assert!(Imap::append(&script.cx(), args).unwrap().item.unwrap().ends_with(":9:1"));
}

#[test]
fn words_of_other_alphabets_are_searched_as_literals() {
    let program = "UID SEARCH CHARSET UTF-8 UNDELETED TEXT {6}\nGrüß TEXT \"a\\\"b\"";
    let script = Script::new(1).line(
        "imap",
        PLAIN,
        [answer("EXAMINE \"Box\"", "* OK [UIDVALIDITY 4]\n@ OK\n"), answer(program, "* SEARCH\n@ OK\n")],
    );
    let args = MessageSearch {
        text: Some("Grüß a\"b".into()),
        folder: Some("F:Box".into()),
        ..MessageSearch::default()
    };
    let page = Imap::search(&script.cx(), args).unwrap();
    assert_eq!((page.body.sources.len(), page.more), (0, false));
}

#[test]
fn files_go_to_blobs_in_whatever_pieces_they_come() {
    let structure = "(\"TEXT\" \"PLAIN\" NIL NIL NIL \"7BIT\" 1 1)(\"IMAGE\" \"PNG\" NIL NIL NIL \"BASE64\" 12) \"MIXED\"";
    for seed in 0..30 {
        for content in ["{12}\nAAEC\nAwQF\n", "\"AAECAwQF\"", "~{8}\nAAECAwQF"] {
            let script = Script::new(seed).line(
                "imap",
                PLAIN,
                [
                    answer("EXAMINE INBOX", "* OK [UIDVALIDITY 9]\n@ OK\n"),
                    answer(
                        "UID FETCH 3 (UID BODYSTRUCTURE)",
                        &format!("* 1 FETCH (UID 3 BODYSTRUCTURE ({structure}))\n@ OK\n"),
                    ),
                    answer(
                        "UID FETCH 3 (UID BODY.PEEK[2])",
                        &format!("* 2 EXISTS\n* 1 FETCH (UID 3 BODY[2] {content} FLAGS (\\Seen))\n@ OK\n"),
                    ),
                ],
            );
            let file =
                Imap::attachment(&script.cx(), AttachmentRef { message: message(3), part: "2".into() })
                    .unwrap();
            assert_eq!(script.blobs.content(&file.blob).unwrap(), [0, 1, 2, 3, 4, 5]);
            assert_eq!(file.content_type.as_deref(), Some("image/png"));
            assert_eq!(script.notes.borrow().len(), 1);
        }
    }
}

#[test]
fn a_message_is_in_one_folder() {
    let script = Script::new(1).line("imap", PLAIN, []);
    let folders = vec!["F:INBOX".to_owned(), "F:Box".to_owned()];
    let request =
        MessageUpdate { message: message(3), folders: Some(folders.clone()), ..MessageUpdate::default() };
    assert_eq!(Imap::update_message(&script.cx(), request).unwrap_err().code, "unsupported");
    let request = MessageAppend { folders, ..MessageAppend::default() };
    assert_eq!(Imap::append(&script.cx(), request).unwrap_err().code, "unsupported");
}

#[test]
fn what_the_mailbox_can_do_is_told() {
    for (capabilities, push) in [("IMAP4rev1;IDLE", true), (PLAIN, false)] {
        let script = Script::new(1)
            .line("imap", capabilities, [selected("SELECT", "INBOX", "\\Seen \\*"), noop()])
            .line("none", "", []);
        let features = Imap::features(&script.cx()).unwrap();
        assert_eq!((features.push, features.keywords, features.multi_folder), (push, true, false));
    }
}
