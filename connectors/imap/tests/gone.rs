//! Messages that came and went between pulls: UIDs that were never seen, messages that a kept connection still shows, and mailboxes whose
//! id a server garbles.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/scripted.rs"]
mod script;

use connector_imap::ids::{MessageId, folder_key};
use connector_imap::{Imap, mime};
use connector_sdk::Email as _;
use model::wire::email::{MessageRef, MessagesGet};
use model::wire::{ChangesRequest, Source};
use script::{Script, Step, answer};
use serde_json::json;

const PLAIN: &str = "IMAP4rev1";
const QRESYNC: &str = "IMAP4rev1;LIST-STATUS;QRESYNC";
const CONDSTORE: &str = "IMAP4rev1;LIST-STATUS;CONDSTORE";

/// The inbox is listed, with this many messages and this UIDNEXT.
fn listed(capabilities: &str, messages: u32, next: u32) -> Vec<Step> {
    let modseq = if capabilities == PLAIN { "" } else { " HIGHESTMODSEQ" };
    let value = if capabilities == PLAIN { String::new() } else { format!(" HIGHESTMODSEQ {}", 10 * next) };
    let status =
        format!("* STATUS INBOX (MESSAGES {messages} UNSEEN 0 UIDNEXT {next} UIDVALIDITY 9{value})\n@ OK\n");
    let items = format!("MESSAGES UNSEEN UIDNEXT UIDVALIDITY{modseq}");
    let list = "* LIST () \"/\" INBOX\n";
    if capabilities == PLAIN {
        vec![
            answer("LIST \"\" \"*\"", &format!("{list}@ OK\n")),
            answer("LSUB \"\" \"*\"", "@ OK\n"),
            answer(&format!("STATUS INBOX ({items})"), &status),
        ]
    } else {
        vec![answer(
            &format!("LIST \"\" \"*\" RETURN (SUBSCRIBED STATUS ({items}))"),
            &format!("{list}{status}"),
        )]
    }
}

fn examined(parameter: &str, exists: u32, modseq: u32, more: &str) -> Step {
    let said =
        format!("* {exists} EXISTS\n* OK [UIDVALIDITY 9]\n* OK [HIGHESTMODSEQ {modseq}]\n{more}@ OK\n");
    answer(&format!("EXAMINE INBOX{parameter}"), &said)
}

/// First the inbox has the message 1; then 4 is there too, and UIDNEXT is 6.
fn script(capabilities: &str) -> Script {
    let mut first = listed(capabilities, 1, 2);
    let mut later = listed(capabilities, 2, 6);
    let date = "INTERNALDATE \"02-Jan-2026 10:00:00 +0000\"";
    let flags = "* 2 FETCH (UID 4 FLAGS () MODSEQ (50))\n";
    match capabilities {
        PLAIN => {
            first.push(answer("EXAMINE INBOX", "* OK [UIDVALIDITY 9]\n@ OK\n"));
            first.push(answer(
                "UID FETCH 1:* (UID INTERNALDATE FLAGS)",
                &format!("* 1 FETCH (UID 1 {date} FLAGS ())\n@ OK\n"),
            ));
            later.push(answer("EXAMINE INBOX", "* OK [UIDVALIDITY 9]\n@ OK\n"));
            let all = "* 1 FETCH (UID 1 FLAGS ())\n* 2 FETCH (UID 4 FLAGS ())\n@ OK\n";
            later.push(answer("UID FETCH 1:* (UID FLAGS)", all));
        }
        _ => {
            first.push(examined(" (CONDSTORE)", 1, 20, ""));
            let dates = format!("* 1 FETCH (UID 1 {date})\n@ OK\n");
            first.push(answer("UID FETCH 1:* (UID INTERNALDATE)", &dates));
            if capabilities == QRESYNC {
                later.push(answer("ENABLE QRESYNC", "* ENABLED QRESYNC\n@ OK\n"));
                later.push(examined(" (QRESYNC (9 20))", 2, 60, flags));
            } else {
                later.push(examined(" (CONDSTORE)", 2, 60, ""));
                let since = "UID FETCH 1:* (UID FLAGS) (CHANGEDSINCE 20)";
                later.push(answer(since, &format!("{flags}@ OK\n")));
                later.push(answer("UID SEARCH ALL", "* SEARCH 1 4\n@ OK\n"));
            }
        }
    }
    Script::new(1).line("imap", capabilities, first).line("imap", capabilities, later)
}

/// Names in short: `-3` is a message that is gone, `3` one that is there.
fn describe(sources: &[Source]) -> Vec<String> {
    let short = |source: &Source| {
        let sign = if source.deleted { "-" } else { "" };
        Some(format!("{sign}{}", source.external_id.strip_prefix("M:")?.rsplit(':').next()?))
    };
    sources.iter().filter_map(short).collect()
}

#[test]
fn a_uid_that_came_and_went_between_two_looks_is_told_as_gone() {
    for capabilities in [PLAIN, QRESYNC, CONDSTORE] {
        let script = script(capabilities).line("imap", capabilities, listed(capabilities, 0, 8)).line(
            "imap",
            capabilities,
            listed(capabilities, 0, 100_000),
        );
        let mut cursor = None;
        for expected in [vec!["1"], vec!["-2", "-3", "-5", "4"], vec!["-1", "-4", "-6", "-7"], vec![]] {
            let request = ChangesRequest { names_only: true, ..ChangesRequest::default() };
            let page = Imap::changes(&script.cx().at(cursor), request).unwrap();
            assert_eq!(describe(&page.body.sources), expected, "{capabilities}");
            cursor = page.cursor;
        }
    }
}

/// A connection that was kept with the inbox selected.
const KEPT: &str = r#"{"c":["IMAP4REV1"],"s":{"n":"INBOX","v":9,"r":true,"p":[]},"e":false}"#;

fn message(uid: u32) -> MessageRef {
    let id = MessageId { key: folder_key("F:INBOX"), uid_validity: 9, uid };
    MessageRef { source: id.to_string(), hint: Some(json!({ "f": "INBOX" })) }
}

fn fetch(uids: &str, said: &str) -> Step {
    let fields = mime::FIELDS;
    let items = format!(
        "UID FLAGS INTERNALDATE RFC822.SIZE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS ({fields})] BODY.PEEK[TEXT]<0.2048>"
    );
    answer(&format!("UID FETCH {uids} ({items})"), said)
}

fn there(uid: u32, header: &str) -> String {
    format!(
        "* {uid} FETCH (UID {uid} FLAGS (\\Seen) INTERNALDATE \"02-Jan-2026 10:00:00 +0000\" RFC822.SIZE 9 \
         BODYSTRUCTURE (\"TEXT\" \"PLAIN\" NIL NIL NIL \"7BIT\" 5 1) BODY[HEADER.FIELDS (X)] {header} BODY[TEXT]<0> \"a\")\n"
    )
}

#[test]
fn what_a_kept_line_still_shows_is_looked_at_again() {
    let examined = || answer("EXAMINE INBOX", "* OK [UIDVALIDITY 9]\n@ OK\n");
    let expunged = "@ NO [EXPUNGEISSUED] Some of the requested messages no longer exist.\n";
    let subject = "\"Subject: x\"";
    let cases = [
        // Gone meanwhile: NIL in place of the texts, or nothing at all.
        (
            format!("{}{}{expunged}", there(3, "NIL"), there(4, subject)),
            format!("{}@ OK\n", there(4, subject)),
        ),
        (format!("{}{}@ OK\n", there(3, "NIL"), there(4, subject)), format!("{}@ OK\n", there(4, subject))),
        (format!("{}@ OK\n", there(4, subject)), format!("{}@ OK\n", there(4, subject))),
        (expunged.to_owned(), format!("{}{expunged}", there(4, subject))),
    ];
    for (first, second) in cases {
        let steps = [fetch("3:4", &first), examined(), fetch("3:4", &second)];
        let script = Script::new(2).kept_line("imap", PLAIN, Some(KEPT), steps);
        let request = MessagesGet { messages: vec![message(3), message(4)], ..MessagesGet::default() };
        let got = Imap::get_messages(&script.cx(), request).unwrap();
        assert_eq!(describe(&got.sources), ["4", "-3"], "{first}");
    }
    // Come meanwhile.
    let steps = [fetch("3", "@ OK\n"), examined(), fetch("3", &format!("{}@ OK\n", there(3, subject)))];
    let script = Script::new(2).kept_line("imap", PLAIN, Some(KEPT), [Step::Close]).kept_line(
        "imap",
        PLAIN,
        Some(KEPT),
        steps,
    );
    let request = MessagesGet { messages: vec![message(3)], ..MessagesGet::default() };
    assert_eq!(describe(&Imap::get_messages(&script.cx(), request).unwrap().sources), ["3"]);
}

#[test]
fn a_raw_message_that_a_kept_line_still_shows_is_not_found() {
    let fetch = |said: &str| answer("UID FETCH 3 (UID BODY.PEEK[])", said);
    let steps = [
        fetch("* 1 FETCH (UID 3 BODY[] NIL)\n@ NO [EXPUNGEISSUED] gone\n"),
        answer("LIST \"\" \"*\"", "* LIST () \"/\" INBOX\n@ OK\n"),
        answer("LSUB \"\" \"*\"", "@ OK\n"),
        answer("STATUS INBOX (MESSAGES UNSEEN UIDNEXT UIDVALIDITY)", "@ OK\n"),
        answer("EXAMINE INBOX", "* OK [UIDVALIDITY 9]\n@ OK\n"),
        fetch("@ OK\n"),
    ];
    let note = KEPT.replace("IMAP4REV1\"", "IMAP4REV1\",\"UNSELECT\"");
    let mut steps = steps.to_vec();
    steps.insert(1, answer("UNSELECT", "@ OK\n"));
    let script = Script::new(2).kept_line("imap", PLAIN, Some(&note), steps);
    assert_eq!(Imap::raw(&script.cx(), message(3)).unwrap_err().code, "not-found");
}

#[test]
fn a_garbled_mailbox_id_is_asked_for_again() {
    let counts = "MESSAGES UNSEEN UIDNEXT UIDVALIDITY";
    let list = |items: &str| format!("LIST \"\" \"*\" RETURN (SUBSCRIBED STATUS ({items}))");
    let empty = "(MESSAGES 0 UNSEEN 0 UIDNEXT 1 UIDVALIDITY 9)";
    let names =
        "* LIST () \"/\" INBOX\n* LIST () \"/\" Box\n* LIST () \"/\" Odd\n* LIST (\\Noselect) \"/\" None\n";
    let steps = [
        answer(&list(counts), &format!("{names}* STATUS INBOX {empty}\n* STATUS Box {empty}\n@ OK\n")),
        answer(
            &list("MAILBOXID"),
            "* STATUS INBOX (MAILBOXID (\u{1}\u{fffd}x y))\n* STATUS Odd (MAILBOXID (a/b))\n\
             * STATUS Box (MAILBOXID (aB-1_))\n@ OK\n",
        ),
        answer("STATUS INBOX (MAILBOXID)", "* STATUS INBOX (MAILBOXID (F7))\n@ OK\n"),
        answer("STATUS \"Odd\" (MAILBOXID)", "* STATUS Odd (MAILBOXID (a/b))\n@ OK\n"),
    ];
    let script = Script::new(4).line("imap", "IMAP4rev1;LIST-STATUS;OBJECTID", steps);
    let page = Imap::changes(&script.cx(), ChangesRequest::default()).unwrap();
    let ids: Vec<&str> = page.body.sources.iter().map(|source| source.external_id.as_str()).collect();
    assert_eq!(ids, ["F#F7", "F#aB-1_", "F:Odd", "F:None"]);
}
