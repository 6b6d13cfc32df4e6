//! Submission word by word: replies of every class, with and without PIPELINING, and lines that break.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

#[path = "support/blobs.rs"]
mod blobs;
#[path = "support/scripted.rs"]
mod script;

use connector_imap::Imap;
use connector_sdk::{Email as _, Failure, Lifecycle as _};
use model::email::EmailAddress;
use model::wire::email::{MessageSend, Sent};
use script::{Script, Step, answer};

fn send(script: &Script, recipients: &[&str], content: &str) -> Result<Sent, Failure> {
    let args = MessageSend {
        blob: script.blobs.create(content.as_bytes()),
        internet_message_id: "m@x".into(),
        from: EmailAddress { name: None, email: "ann@x".into() },
        recipients: recipients.iter().map(|email| (*email).to_owned()).collect(),
        ..MessageSend::default()
    };
    Imap::send(&script.cx().keyed("k"), args)
}

fn outcomes(sent: &Sent) -> Vec<(bool, bool, &str)> {
    let told = sent.recipients.iter();
    told.map(|r| (r.accepted, r.temporary, r.reply.as_deref().unwrap_or_default())).collect()
}

#[test]
fn every_recipient_has_an_answer_of_its_own() {
    for (seed, extensions) in
        [(1, "PIPELINING;SIZE 1000;8BITMIME"), (2, "SIZE 0;8BITMIME"), (3, "pipelining;size;8bitmime")]
    {
        let script = Script::new(seed).line(
            "smtp",
            extensions,
            [
                answer("MAIL FROM:<ann@x> SIZE=13 BODY=8BITMIME", "250 2.1.0 ok\n"),
                answer("RCPT TO:<a@x>", "250-2.1.5 fine\n250 2.1.5 indeed\n"),
                answer("RCPT TO:<b@x>", "550-5.1.1 no such\n550 5.1.1 user\n"),
                answer("RCPT TO:<c@x>", "451 later\n"),
                answer("DATA", "354 go on\n"),
                answer("a", ""),
                answer("..b", ""),
                answer("no end", ""),
                answer(".", "250 2.0.0 queued\n"),
            ],
        );
        let sent = send(&script, &["a@x", "b@x", "c@x"], "a\r\n.b\r\nno end").unwrap();
        assert_eq!(
            outcomes(&sent),
            [
                (true, false, "250 2.0.0 queued"),
                (false, false, "550 5.1.1 no such user"),
                (false, true, "451 later")
            ]
        );
        assert_eq!(sent.recipients[1].enhanced_status.as_deref(), Some("5.1.1"));
        assert_eq!(*script.reached.borrow(), ["handed-over", "accepted"]);
        assert_eq!(script.notes.borrow().len(), 1, "the line is kept");
    }
}

#[test]
fn what_the_server_says_at_the_end_is_said_of_all() {
    for (reply, temporary) in [("452 4.3.1 full\n", true), ("554 5.7.1 spam\n", false)] {
        let script = Script::new(1).line(
            "smtp",
            "PIPELINING",
            [
                answer("MAIL FROM:<ann@x>", "250 ok\n"),
                answer("RCPT TO:<a@x>", "250 ok\n"),
                answer("DATA", "354 go on\n"),
                answer("x", ""),
                answer(".", reply),
            ],
        );
        let sent = send(&script, &["a@x"], "x\r\n").unwrap();
        assert_eq!(outcomes(&sent), [(false, temporary, reply.trim())]);
        assert_eq!(*script.reached.borrow(), ["handed-over"], "nobody was accepted");
    }
}

#[test]
fn where_nobody_is_accepted_nothing_is_handed_over() {
    let refused = |steps: Vec<Step>| {
        let script = Script::new(1).line("smtp", "PIPELINING", steps);
        let sent = send(&script, &["a@x"], "x\r\n").unwrap();
        assert!(script.reached.borrow().is_empty());
        sent
    };
    let mail = |reply| answer("MAIL FROM:<ann@x>", reply);
    let sent = refused(vec![
        mail("550 no\n"),
        answer("RCPT TO:<a@x>", "503 first MAIL\n"),
        answer("RSET", "250 ok\n"),
    ]);
    assert_eq!(outcomes(&sent), [(false, false, "550 no")], "the sender's refusal is the reason");
    let sent =
        refused(vec![mail("250 ok\n"), answer("RCPT TO:<a@x>", "450 busy\n"), answer("RSET", "250 ok\n")]);
    assert_eq!(outcomes(&sent), [(false, true, "450 busy")]);
    let sent = refused(vec![
        mail("250 ok\n"),
        answer("RCPT TO:<a@x>", "250 ok\n"),
        answer("DATA", "554 no valid recipients\n"),
        answer("RSET", "250 ok\n"),
    ]);
    assert_eq!(outcomes(&sent), [(false, false, "554 no valid recipients")]);
}

#[test]
fn a_line_that_breaks_is_told_by_how_far_it_got() {
    let mail = || answer("MAIL FROM:<ann@x>", "250 ok\n");
    let rcpt = || answer("RCPT TO:<a@x>", "250 ok\n");
    let before =
        Script::new(1).line("smtp", "", [mail(), answer("RCPT TO:<a@x>", "421 going down\n"), Step::Close]);
    let failure = send(&before, &["a@x"], "x\r\n").unwrap_err();
    assert_eq!((failure.code.as_str(), failure.detail), ("unavailable", None));
    assert!(before.reached.borrow().is_empty());
    for last in [answer(".", ""), answer(".", "421 bye\n"), answer(".", "what?\n")] {
        let after = Script::new(1).line(
            "smtp",
            "",
            [mail(), rcpt(), answer("DATA", "354 go on\n"), answer("x", ""), last, Step::Close],
        );
        let failure = send(&after, &["a@x"], "x\r\n").unwrap_err();
        assert_eq!(failure.code, "unavailable");
        assert_eq!(failure.detail.unwrap()["handedOver"], true);
        assert_eq!(*after.reached.borrow(), ["handed-over"]);
    }
    // A connection that was kept too long is opened again.
    let steps = [mail(), rcpt(), answer("DATA", "354 go on\n"), answer("x", ""), answer(".", "250 ok\n")];
    let late = answer("MAIL FROM:<ann@x>", "421 idle for too long\n");
    let kept = Script::new(1)
        .kept_line("smtp", "", Some("{}"), [Step::Close])
        .kept_line("smtp", "", Some("{}"), [late, Step::Close])
        .line("smtp", "", steps);
    assert!(send(&kept, &["a@x"], "x\r\n").unwrap().recipients[0].accepted);
}

#[test]
fn addresses_cannot_carry_commands_and_other_alphabets_need_an_extension() {
    let script = Script::new(1).line("smtp", "", []).line("smtp", "", []).line(
        "smtp",
        "SMTPUTF8",
        [
            answer("MAIL FROM:<ann@x> SMTPUTF8", "250 ok\n"),
            answer("RCPT TO:<jürgen@x>", "550 no\n"),
            answer("RSET", "250 ok\n"),
        ],
    );
    assert_eq!(send(&script, &["a@x>\r\nRCPT TO:<b@x"], "x").unwrap_err().code, "invalid");
    assert_eq!(send(&script, &["jürgen@x"], "x").unwrap_err().code, "unsupported");
    assert!(!send(&script, &["jürgen@x"], "x").unwrap().recipients[0].accepted);
    assert_eq!(send(&script, &[], "x").unwrap_err().code, "invalid");
}

#[test]
fn a_copy_that_cannot_be_stored_is_a_warning() {
    let steps = [
        answer("MAIL FROM:<ann@x>", "250 ok\n"),
        answer("RCPT TO:<a@x>", "250 ok\n"),
        answer("DATA", "354 go on\n"),
        answer("x", ""),
        answer(".", "250 ok\n"),
    ];
    let script = Script::new(1).line("smtp", "", steps).line("none", "", []);
    let args = MessageSend {
        blob: script.blobs.create(b"x\r\n"),
        internet_message_id: "m@x".into(),
        from: EmailAddress { name: None, email: "ann@x".into() },
        recipients: vec!["a@x".into()],
        save_to_sent: true,
        ..MessageSend::default()
    };
    let sent = Imap::send(&script.cx(), args).unwrap();
    assert!(sent.recipients[0].accepted);
    assert_eq!(sent.warnings[0].code, "sent_copy_not_stored");
}

#[test]
fn a_check_says_which_server_it_was() {
    let script = Script::new(1).line("none", "", []);
    let failure = Imap::check(&script.cx()).unwrap_err();
    assert_eq!(failure.detail.unwrap()["leg"], "imap");
    let script = Script::new(1)
        .line("imap", "", [answer("CAPABILITY", "* CAPABILITY IMAP4rev1\n@ OK\n")])
        .line("none", "", []);
    let failure = Imap::check(&script.cx()).unwrap_err();
    assert_eq!(failure.detail.unwrap()["leg"], "smtp");
    assert_eq!(failure.message, "the SMTP server cannot be used: the server does not answer");
}
