//! The exact commands on the connection: `changes` with QRESYNC, with CONDSTORE alone and with neither, and servers that break the rules.
//! The server's bytes arrive in pieces of any size.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/scripted.rs"]
mod script;

use connector_imap::{Imap, mime};
use connector_sdk::{Answer, Email as _, Failure};
use model::email::EmailMessage;
use model::email::folders::Folder;
use model::wire::{ChangesRequest, Source, Sources};
use script::{Script, Step, answer};

const QRESYNC: &str = "IMAP4rev1;LIST-STATUS;QRESYNC;PREVIEW;ESEARCH;UIDPLUS;LITERAL+";
const CONDSTORE: &str = "IMAP4rev1;LIST-STATUS;CONDSTORE;UIDPLUS;LITERAL+";
const PLAIN: &str = "IMAP4rev1";

fn full(state: &str, snippet: &str) -> String {
    let fields = mime::FIELDS;
    format!(
        "(UID FLAGS{state} INTERNALDATE RFC822.SIZE BODYSTRUCTURE BODY.PEEK[HEADER.FIELDS ({fields})] {snippet})"
    )
}

fn listed(state: &str, counts: &str) -> Step {
    let command =
        format!("LIST \"\" \"*\" RETURN (SUBSCRIBED STATUS (MESSAGES UNSEEN UIDNEXT UIDVALIDITY{state}))");
    let said = format!(
        "* LIST (\\HasNoChildren) \".\" INBOX\n* LIST (\\Noselect) \".\" \"Box &AMQ-\"\n{counts}@ OK done\n"
    );
    answer(&command, &said)
}

fn counts(messages: u32, next: u32, validity: u32, modseq: u32) -> String {
    format!(
        "* STATUS INBOX (MESSAGES {messages} UNSEEN 1 UIDNEXT {next} UIDVALIDITY {validity} HIGHESTMODSEQ {modseq})\n"
    )
}

fn examined(exists: u32, validity: u32, modseq: u32) -> String {
    format!(
        "* {exists} EXISTS\n* OK [UIDVALIDITY {validity}]\n* OK [UIDNEXT 50]\n* OK [HIGHESTMODSEQ {modseq}]\n"
    )
}

/// A message with a header in a literal that has brackets, quotes and line breaks in it.
fn fetched(uid: u32, state: &str) -> String {
    let header = format!("Subject: ) \"{uid} {{5}}\nMessage-ID: <m{uid}@x>\n\n");
    let len = header.len() + 3;
    format!(
        "* 1 FETCH (UID {uid} FLAGS (\\Seen) {state}INTERNALDATE \"{:02}-Jan-2026 10:00:00 +0000\" RFC822.SIZE 99 \
         BODYSTRUCTURE (\"TEXT\" \"PLAIN\" NIL NIL NIL \"7BIT\" 5 1) BODY[HEADER.FIELDS (X)] {{{len}}}\n{header})\n",
        uid % 28 + 1
    )
    .replace("BODY[HEADER", if state.is_empty() { "BODY[TEXT]<0> \"hello\" BODY[HEADER" } else { "PREVIEW \"hello\" BODY[HEADER" })
}

fn changes(script: &Script, cursor: Option<String>) -> Result<Answer<Sources>, Failure> {
    Imap::changes(&script.cx().at(cursor), ChangesRequest { limit: 2, ..ChangesRequest::default() })
}

/// Sources in short: `-3` is a message that is gone, `3` one in full, `~3` a state, names are folders.
fn describe(sources: &[Source]) -> Vec<String> {
    let uid = |source: &Source| source.external_id.rsplit_once(':').unwrap().1.to_owned();
    let one = |source: &Source| match source.items.first() {
        None if source.deleted => format!("-{}", uid(source)),
        None => format!("?{}", uid(source)),
        Some(item) if item.kind.is_some() => item.body.read::<Folder>().unwrap().name,
        Some(item) if item.partial => format!("~{}", uid(source)),
        Some(item) => {
            let message: EmailMessage = item.body.read().unwrap();
            assert_eq!(message.internet_message_id, Some(format!("m{}@x", uid(source))));
            assert_eq!(message.snippet, "hello");
            uid(source)
        }
    };
    sources.iter().map(one).collect()
}

#[test]
fn with_qresync_one_selection_tells_what_is_different() {
    for seed in 0..20 {
        let preview = full(" MODSEQ", "PREVIEW");
        let script = Script::new(seed)
            .line(
                "imap",
                QRESYNC,
                [
                    listed(" HIGHESTMODSEQ", &counts(3, 4, 9, 10)),
                    answer("EXAMINE INBOX (CONDSTORE)", &format!("{}@ OK [READ-ONLY]\n", examined(3, 9, 10))),
                    answer(
                        "UID FETCH 1:* (UID INTERNALDATE)",
                        "* 1 FETCH (UID 1 INTERNALDATE \" 2-Jan-2026 10:00:00 +0000\")\n\
                         * 2 FETCH (INTERNALDATE \"03-Jan-2026 10:00:00 +0000\" UID 2)\n\
                         * 3 FETCH (UID 3 INTERNALDATE \"03-Jan-2026 10:00:00 +0000\")\n@ OK\n",
                    ),
                    answer(
                        &format!("UID FETCH 2:3 {preview}"),
                        &format!("{}{}@ OK\n", fetched(3, "MODSEQ (4) "), fetched(2, "MODSEQ (5) ")),
                    ),
                ],
            )
            .line(
                "imap",
                QRESYNC,
                [
                    // In the meantime 1 was read and 3 went; 4 came.
                    listed(" HIGHESTMODSEQ", &counts(3, 5, 9, 20)),
                    answer("EXAMINE INBOX (CONDSTORE)", &format!("{}@ OK\n", examined(3, 9, 20))),
                    answer(
                        &format!("UID FETCH 1 {preview}"),
                        &format!(
                            "* 3 EXPUNGE\n{}* 9 FETCH (FLAGS (\\Seen) UID 2)\n@ OK\n",
                            fetched(1, "MODSEQ (15) ")
                        ),
                    ),
                    answer("ENABLE QRESYNC", "* ENABLED QRESYNC\n@ OK\n"),
                    answer(
                        "EXAMINE INBOX (QRESYNC (9 10))",
                        &format!(
                            "* VANISHED 2\n* OK [CLOSED]\n{}* VANISHED (EARLIER) 3,70:4000000000\n\
                             * 1 FETCH (UID 2 FLAGS (\\Flagged) MODSEQ (14))\n\
                             * 2 FETCH (UID 4 FLAGS () MODSEQ (20))\n@ OK\n",
                            examined(3, 9, 20)
                        ),
                    ),
                    answer(
                        &format!("UID FETCH 4 {preview}"),
                        &format!("{}@ OK\n", fetched(4, "MODSEQ (20) ")),
                    ),
                ],
            );
        let first = changes(&script, None).unwrap();
        assert_eq!(describe(&first.body.sources), ["INBOX", "Box Ä", "3", "2"]);
        assert_eq!(first.body.covered_since.unwrap().to_string(), "2026-01-03T10:00:00.000Z");
        assert!(first.body.enumeration && first.more);
        let second = changes(&script, first.cursor).unwrap();
        assert_eq!(describe(&second.body.sources), ["1", "~2", "-3", "4"]);
        assert!(second.body.enumeration && !second.more);
        assert_eq!(script.log.borrow().len(), 0, "{:?}", script.log.borrow());
    }
}

#[test]
fn a_search_that_nobody_can_read_empties_no_mailbox() {
    for (said, gone) in [("* SEARCH  1 0 x (MODSEQ 30)\n", vec!["-2"]), ("* SEARCH\n", vec![]), ("", vec![])]
    {
        let script = begun(3, CONDSTORE).line(
            "imap",
            CONDSTORE,
            [
                listed(" HIGHESTMODSEQ", &counts(1, 3, 9, 30)),
                answer("EXAMINE INBOX (CONDSTORE)", &format!("{}@ OK\n", examined(1, 9, 30))),
                answer("UID FETCH 1:* (UID FLAGS) (CHANGEDSINCE 10)", "@ OK\n"),
                answer("UID SEARCH ALL", &format!("{said}@ OK\n")),
            ],
        );
        let first = changes(&script, None).unwrap();
        let second = changes(&script, first.cursor).unwrap().body.sources;
        assert_eq!(describe(&second), [vec!["INBOX"], gone].concat(), "{said}");
    }
}

/// An initial sync of messages 1 and 2 with UIDVALIDITY 9.
fn begun(seed: u64, capabilities: &str) -> Script {
    let has_condstore = capabilities != PLAIN;
    let modseq = if has_condstore { "MODSEQ (3) " } else { "" };
    let items = full(if has_condstore { " MODSEQ" } else { "" }, "BODY.PEEK[TEXT]<0.2048>");
    let dates = "* 1 FETCH (UID 1 FLAGS () INTERNALDATE \"02-Jan-2026 10:00:00 +0000\")\n\
                 * 2 FETCH (UID 2 FLAGS (\\Seen) INTERNALDATE \"03-Jan-2026 10:00:00 +0000\")\n@ OK\n";
    let messages =
        format!("{}{}@ OK\n", fetched(1, modseq), fetched(2, modseq)).replace("PREVIEW", "BODY[TEXT]<0>");
    let mut steps = Vec::new();
    if has_condstore {
        steps.push(listed(" HIGHESTMODSEQ", &counts(2, 3, 9, 10)));
        steps.push(answer("EXAMINE INBOX (CONDSTORE)", &format!("{}@ OK\n", examined(2, 9, 10))));
        steps.push(answer("UID FETCH 1:* (UID INTERNALDATE)", dates));
    } else {
        steps.extend(plain_listed(2, 3));
        steps.push(answer("EXAMINE INBOX", "* 2 EXISTS\n* OK [UIDVALIDITY 9]\n@ OK\n"));
        steps.push(answer("UID FETCH 1:* (UID INTERNALDATE FLAGS)", dates));
    }
    steps.push(answer(&format!("UID FETCH 1:2 {items}"), &messages));
    Script::new(seed).line("imap", capabilities, steps)
}

fn plain_listed(messages: u32, next: u32) -> Vec<Step> {
    vec![
        answer("LIST \"\" \"*\"", "* LIST () \"/\" inbox\n@ OK\n"),
        answer("LSUB \"\" \"*\"", "* LSUB () \"/\" INBOX\n@ OK\n"),
        answer(
            "STATUS INBOX (MESSAGES UNSEEN UIDNEXT UIDVALIDITY)",
            &format!("* STATUS INBOX (MESSAGES {messages} UNSEEN 1 UIDNEXT {next} UIDVALIDITY 9)\n@ OK\n"),
        ),
    ]
}

#[test]
fn with_condstore_what_went_is_searched_for() {
    for seed in 0..20 {
        let items = full(" MODSEQ", "BODY.PEEK[TEXT]<0.2048>");
        let script = begun(seed, CONDSTORE).line(
            "imap",
            CONDSTORE,
            [
                listed(" HIGHESTMODSEQ", &counts(2, 4, 9, 30)),
                answer("EXAMINE INBOX (CONDSTORE)", &format!("{}@ OK\n", examined(2, 9, 30))),
                answer(
                    "UID FETCH 1:* (UID FLAGS) (CHANGEDSINCE 10)",
                    "* 1 FETCH (UID 2 FLAGS (\\Answered) MODSEQ (30))\n* 2 FETCH (UID 3 FLAGS () MODSEQ (29))\n@ OK\n",
                ),
                answer("UID SEARCH ALL", "* SEARCH 2 3\n@ OK\n"),
                answer(
                    &format!("UID FETCH 3 {items}"),
                    &format!("{}@ OK\n", fetched(3, "MODSEQ (29) ").replace("PREVIEW", "BODY[TEXT]<0>")),
                ),
            ],
        );
        let first = changes(&script, None).unwrap();
        assert_eq!(describe(&first.body.sources), ["INBOX", "Box Ä", "1", "2"]);
        assert!(!first.more);
        let second = changes(&script, first.cursor).unwrap();
        assert_eq!(describe(&second.body.sources), ["~2", "-1", "3"]);
        assert!(!second.body.enumeration);
    }
}

#[test]
fn without_extensions_flags_are_compared() {
    for seed in 0..20 {
        let mut steps = plain_listed(2, 3);
        steps.push(answer("EXAMINE INBOX", "* 2 EXISTS\n* OK [UIDVALIDITY 9]\n@ OK\n"));
        let flags = "* 1 FETCH (UID 1 FLAGS (\\Recent))\n* 2 FETCH (UID 2 FLAGS (\\Seen Work))\n@ OK\n";
        steps.push(answer("UID FETCH 1:* (UID FLAGS)", flags));
        let script = begun(seed, PLAIN).line("imap", PLAIN, steps);
        let first = changes(&script, None).unwrap();
        assert_eq!(describe(&first.body.sources), ["INBOX", "1", "2"]);
        let second = changes(&script, first.cursor).unwrap();
        assert_eq!(describe(&second.body.sources), ["~2"], "the counts did not change");
        assert!(second.body.sources[0].items[0].body.as_str().contains("\"work\""));
    }
}

#[test]
fn an_unchanged_mailbox_is_one_command() {
    let script =
        begun(1, CONDSTORE).line("imap", CONDSTORE, [listed(" HIGHESTMODSEQ", &counts(2, 3, 9, 10))]);
    let first = changes(&script, None).unwrap();
    let second = changes(&script, first.cursor).unwrap();
    assert_eq!((second.body.sources.len(), second.more), (0, false));
    assert_eq!(changes(&script, Some("nonsense".into())).unwrap_err().code, "cursor-expired");
}

#[test]
fn another_uidvalidity_is_another_mailbox() {
    let items = full(" MODSEQ", "BODY.PEEK[TEXT]<0.2048>");
    let text = |uid| fetched(uid, "MODSEQ (2) ").replace("PREVIEW", "BODY[TEXT]<0>");
    let script = begun(1, CONDSTORE).line(
        "imap",
        CONDSTORE,
        [
            listed(" HIGHESTMODSEQ", &counts(2, 3, 10, 5)),
            answer("EXAMINE INBOX (CONDSTORE)", &format!("{}@ OK\n", examined(2, 10, 5))),
            answer("UID SEARCH ALL", "* SEARCH 1 2\n@ OK\n"),
            answer(&format!("UID FETCH 1:2 {items}"), &format!("{}{}@ OK\n", text(1), text(2))),
        ],
    );
    let first = changes(&script, None).unwrap();
    let old: Vec<_> = first.body.sources[2..].to_vec();
    let second = changes(&script, first.cursor).unwrap();
    assert_eq!(describe(&second.body.sources), ["-1", "-2", "1", "2"]);
    for (old, new) in old.iter().zip(&second.body.sources[2..]) {
        assert_ne!(old.external_id, new.external_id);
        assert_eq!(old.items[0].fingerprint, new.items[0].fingerprint, "the host knows it again");
    }
}

#[test]
fn a_folder_that_is_gone_goes_after_its_messages_and_one_that_cannot_be_opened_is_passed_over() {
    let script = begun(1, CONDSTORE).line(
        "imap",
        CONDSTORE,
        [
            answer(
                "LIST \"\" \"*\" RETURN (SUBSCRIBED STATUS (MESSAGES UNSEEN UIDNEXT UIDVALIDITY HIGHESTMODSEQ))",
                "* STATUS Shut (MESSAGES 1 UNSEEN 0 UIDNEXT 2 UIDVALIDITY 3 HIGHESTMODSEQ 4)\n* LIST () NIL Shut\n@ OK\n",
            ),
            answer("EXAMINE \"Shut\" (CONDSTORE)", "@ NO [NOPERM] no\n"),
            answer("UID SEARCH ALL", "@ BAD nothing is selected\n"),
        ],
    );
    let first = changes(&script, None).unwrap();
    let second = changes(&script, first.cursor).unwrap();
    assert_eq!(describe(&second.body.sources), ["Shut", "-1", "-2", "-INBOX", "-Box Ä"]);
    assert_eq!(script.log.borrow().len(), 1, "{:?}", script.log.borrow());
}

#[test]
fn a_line_that_was_closed_meanwhile_is_opened_anew() {
    let note = r#"{"c":["IMAP4REV1","LIST-STATUS","CONDSTORE"],"s":null,"e":false}"#;
    let bye = answer(
        "LIST \"\" \"*\" RETURN (SUBSCRIBED STATUS (MESSAGES UNSEEN UIDNEXT UIDVALIDITY HIGHESTMODSEQ))",
        "* BYE idle for too long\n",
    );
    let script = begun(1, CONDSTORE)
        .kept_line("imap", CONDSTORE, Some(note), [Step::Close])
        .kept_line("imap", CONDSTORE, Some(note), [bye, Step::Close])
        .line("imap", CONDSTORE, [listed(" HIGHESTMODSEQ", &counts(2, 3, 9, 10))])
        .line("imap", CONDSTORE, [Step::Close]);
    let first = changes(&script, None).unwrap();
    assert_eq!(changes(&script, first.cursor.clone()).unwrap().body.sources.len(), 0);
    assert_eq!(changes(&script, first.cursor).unwrap_err().code, "unavailable", "a new line that is closed");
    assert_eq!(script.notes.borrow().len(), 2);
    assert!(script.notes.borrow()[0].contains("\"n\":\"INBOX\""));
}

#[test]
fn what_servers_get_wrong_costs_nothing_but_itself() {
    let deep = "(".repeat(5_000);
    let items = full("", "BODY.PEEK[TEXT]<0.2048>");
    let mut steps = plain_listed(4, 5);
    steps.push(answer("EXAMINE INBOX", "* OK [UIDVALIDITY 9] {12}\n* 4 EXISTS\n\n* \n*\n@ OK\n"));
    steps.push(answer(
        "UID FETCH 1:* (UID INTERNALDATE FLAGS)",
        "* 1 FETCH (UID 1 FLAGS () INTERNALDATE \"02-Jan-2026 10:00:00 +0000\")\n\
         * 2 FETCH (UID 2 FLAGS NIL INTERNALDATE \"no date\")\n* 2 FETCH (UID 99999999999 INTERNALDATE \"x\")\n\
         * 3 FETCH (FLAGS)\n* 3 FETCH\n* x FETCH (\n* 4 FETCH (UID 4 INTERNALDATE \"03-Jan-2026 10:00:00 +0000\"\nx99 OK\n@ OK\n",
    ));
    steps.push(answer(
        &format!("UID FETCH 1,4 {items}"),
        &format!(
            "* 1 FETCH (UID 1 X-ODD {{3}}\n) (BODYSTRUCTURE {deep} FLAGS (\\Seen))\n\
             * 4 FETCH (UID 4 FLAGS (\\Seen \\*) BODYSTRUCTURE (\"TEXT\" NIL) RFC822.SIZE -1 \
             BODY[TEXT]<0> NIL BODY[HEADER.FIELDS (X)] \"Subject: x\")\n\
             * 4 FETCH (\"open\n{}@ OK\n",
            fetched(1, "")
        ),
    ));
    let script = Script::new(3).line("imap", PLAIN, steps);
    let page = changes(&script, None).unwrap();
    let uids: Vec<&str> =
        page.body.sources[1..].iter().filter_map(|s| s.external_id.rsplit(':').next()).collect();
    assert_eq!(uids, ["4", "1"]);
    assert!(!page.more);
}
