//! Messages made to cost time or memory: each is read, or refused, or written, within a bounded time.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use mail::build::{Outgoing, build};
use mail::read;
use model::email::EmailAddress;

/// Well under a second in a release build; tests are built without optimisation and share the machine.
const BOUND: Duration = Duration::from_secs(10);

fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let answer = run();
    let took = start.elapsed();
    println!("{what}: {took:?}");
    assert!(took < BOUND, "{what} took {took:?}");
    answer
}

#[test]
fn multiparts_in_multiparts_are_opaque_from_the_limit_on() {
    let mut raw = String::from("Subject: deep\r\n");
    for depth in 0..1000 {
        write!(raw, "Content-Type: multipart/mixed; boundary=b{depth}\r\n\r\n--b{depth}\r\n").unwrap();
    }
    raw.push_str("\r\nthe end");
    let mail = timed("1,000 multiparts deep", || read::message(raw.as_bytes())).unwrap();
    assert_eq!(mail.message.subject.as_deref(), Some("deep"));
    assert_eq!(mail.message.attachments.len(), 0);
    assert!(mail.text.unwrap().ends_with("the end"));
}

#[test]
fn messages_in_messages_are_one_file() {
    let raw = format!("Subject: out\r\n{}body", "Content-Type: message/rfc822\r\n\r\n".repeat(100_000));
    let mail = timed("100,000 messages deep", || read::message(raw.as_bytes())).unwrap();
    assert_eq!(mail.message.attachments.len(), 1);
    assert!(mail.message.attachments.iter().all(|file| file.is_message && file.id == "1"));
}

#[test]
fn parts_are_read_up_to_the_limit() {
    let part = "--b\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n";
    let raw = format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}--b--\r\n", part.repeat(100_000));
    let mail = timed("100,000 parts", || read::message(raw.as_bytes())).unwrap();
    assert_eq!(mail.message.attachments.len(), read::limits::PARTS - 1);
}

#[test]
fn multiparts_whose_boundary_never_comes() {
    let part = "--b\r\nContent-Type: multipart/mixed; boundary=never\r\n\r\nx\r\n";
    let raw = format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}--b--\r\n", part.repeat(9_000));
    let mail = timed("9,000 boundaries that never come", || read::message(raw.as_bytes())).unwrap();
    assert!(mail.text.unwrap().starts_with("x\nx\n"));
}

#[test]
fn lines_that_are_nearly_delimiters() {
    let mut raw = String::new();
    for depth in 0..read::limits::DEPTH {
        write!(
            raw,
            "Content-Type: multipart/mixed; boundary=boundary{depth:03}\r\n\r\n--boundary{depth:03}\r\n"
        )
        .unwrap();
    }
    raw.push_str("\r\n");
    raw.push_str(&"--boundaryNNN\r\n".repeat(1_000_000));
    let mail = timed("a million lines like delimiters", || read::message(raw.as_bytes())).unwrap();
    assert!(mail.text.unwrap().ends_with("--boundaryNNN\n"));
}

#[test]
fn a_header_of_10_mb_is_read_up_to_the_limit() {
    let raw =
        format!("Subject: first\r\n{}Subject: last\r\n\r\nbody", "X-Filler: 0123456789\r\n".repeat(500_000));
    let mail = timed("a header of 10 MB", || read::message(raw.as_bytes())).unwrap();
    assert_eq!(mail.message.subject.as_deref(), Some("first"));
    assert_eq!(mail.text.as_deref(), Some("body"));
    assert_eq!(mail.headers.len(), read::limits::HEADER_FIELDS);
}

#[test]
fn one_field_of_10_mb() {
    let raw = format!("Subject: first\r\nTo: {}\r\n\r\nbody", "a@b.example, ".repeat(800_000));
    let mail = timed("a field of 10 MB", || read::message(raw.as_bytes())).unwrap();
    assert_eq!(mail.message.to.len(), read::limits::ADDRESSES);
    assert_eq!(mail.text.as_deref(), Some("body"));
}

#[test]
fn encoded_words_without_an_end() {
    for word in ["=?ab?q?00", "=?utf-8?b?AAAA", "=?", "=?ab?q?=?ab?q?x ", "=?aaaaaaaa", "=?=?q?="] {
        let field = word.repeat((512 << 10) / word.len());
        let raw = format!(
            "Subject: {field}\r\nFrom: {field}\r\nContent-Type: text/plain; name=\"{field}\"\r\n\r\nbody"
        );
        let mail = timed(word, || read::message(raw.as_bytes())).unwrap();
        assert_eq!(mail.text.as_deref(), Some("body"));
    }
}

#[test]
fn parameters_without_number() {
    for piece in ["a*=x'y'z'w;", "name*0=x;", "name*1*=%41;", "(((", "\"\\", "'"] {
        let field = piece.repeat(4_000 / piece.len());
        let part = format!("--b\r\nContent-Type: a/b; {field}\r\n\r\n\r\n");
        let raw = format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}", part.repeat(2_000));
        let mail = timed(piece, || read::message(raw.as_bytes())).unwrap();
        assert_eq!(mail.message.attachments.len(), 2_000);
    }
}

#[test]
fn references_and_recipients_without_number() {
    let ids = "<a@b> <c@d> ".repeat(40_000);
    let raw = format!("References: <first@x> {ids}\r\nCc: {}x:;\r\n\r\n", "g:a@b;".repeat(5_000));
    let message = timed("many ids", || read::headers(raw.as_bytes()));
    assert_eq!(message.references.len(), read::limits::MESSAGE_IDS);
    assert_eq!(message.references.first().map(String::as_str), Some("first@x"));
    assert_eq!(message.cc.len(), read::limits::ADDRESSES);
}

#[test]
fn texts_and_files_that_point_at_each_other() {
    let html: String = (0..40_000).map(|n| format!("<img src=cid:{n}@x>")).collect();
    let files: String = (0..9_000)
        .map(|n| format!("--b\r\nContent-Type: image/png\r\nContent-ID: <{n}@x>\r\n\r\nx\r\n"))
        .collect();
    let raw = format!(
        "Content-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n{html}\r\n{files}--b--\r\n"
    );
    let mail = timed("many cids", || read::message(raw.as_bytes())).unwrap();
    assert_eq!(mail.message.attachments.len(), 9_000);
    assert!(!mail.message.has_attachments);
}

#[test]
fn damaged_content_is_read_as_far_as_it_goes() {
    let raw = b"Content-Transfer-Encoding: base64\r\nContent-Type: text/plain; charset=utf-8\r\n\r\naGVsbG8g\r\n!d29ybGQ";
    assert_eq!(read::message(raw).unwrap().text.as_deref(), Some("hello world"));
    let raw = b"Content-Type: text/plain; charset=x-klingon\r\n\r\nna\xefve";
    assert_eq!(read::message(raw).unwrap().text.as_deref(), Some("na\u{ef}ve"));
    let raw = b"Content-Transfer-Encoding: quoted-printable\r\n\r\n=\r\n--b=ZZ=4";
    assert!(read::message(raw).unwrap().text.unwrap().starts_with("--b="));
}

#[test]
fn dates_without_meaning_are_none() {
    let nonsense = [
        "Mon, 1 Jan 0000 00:00:00 +0000",
        "Sat, 1 Jan 0001 00:00:00 +2359",
        "Fri, 31 Dec 9999 23:59:59 -2359",
        "Fri, 31 Dec 99999 23:59:59 +0000",
        "31 Feb 2024 00:00:00 +0000",
        "1 Jan 2024 25:00:00 +0000",
        "yesterday",
        "",
        "0 0 0 0:0:0",
        "\u{feff}\u{1f600}",
    ];
    for date in nonsense {
        let sent_at = read::headers(format!("Date: {date}\r\n\r\n").as_bytes()).sent_at;
        assert_eq!(sent_at, None, "{date:?}");
    }
    let leap = read::headers(b"Date: Sat, 31 Dec 2016 23:59:60 +0000 (UTC)\r\n\r\n").sent_at.unwrap();
    assert_eq!(leap.to_string(), "2016-12-31T23:59:59.000Z");
}

#[test]
fn what_is_no_message_says_so() {
    for raw in [&b""[..], b"\r\n\r\n", b"no header at all", &[0xff; 4096], &[0; 4096]] {
        assert_eq!(read::message(raw).unwrap_err().code, "no_header");
    }
}

#[test]
fn a_text_of_a_million_lines_is_written() {
    let from = vec![EmailAddress { email: "a@b.example".to_owned(), name: None }];
    let text = Some("\n".repeat(1_000_000));
    let message = Outgoing { message_id: "1@b.example".to_owned(), from, text, ..Outgoing::default() };
    let built = timed("a million lines", || build(&message)).unwrap();
    assert!(built.bytes.len() >= 2_000_000);
}
