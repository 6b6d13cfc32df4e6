//! Typical messages, all of them made up, and their contents as read; and the same messages damaged in any way.

use std::fs;
use std::path::Path;

use mail::html::{Safe, safe};
use mail::read::{self, Mail};
use mail::report::delivery_report;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Name and bytes of each message; the files have bare line feeds.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).expect("the corpus is beside src").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    paths.iter().map(|path| (name(path), fs::read(path).expect("a file that was just listed"))).collect()
}

/// As it goes over the wire.
fn with_crlf(raw: &[u8]) -> Vec<u8> {
    raw.split_inclusive(|byte| *byte == b'\n')
        .flat_map(|line| match line.strip_suffix(b"\n") {
            Some(line) => [line, b"\r\n"].concat(),
            None => line.to_vec(),
        })
        .collect()
}

/// Without what every message has or most do not.
fn describe(mail: &Mail) -> Value {
    let is_usual = |value: &Value| {
        value.is_null() || *value == Value::Bool(false) || value.as_array().is_some_and(Vec::is_empty)
    };
    let mut message = json!(mail.message);
    message.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| !is_usual(value)));
    for file in message.get_mut("attachments").and_then(Value::as_array_mut).into_iter().flatten() {
        file.as_object_mut().into_iter().for_each(|fields| fields.retain(|_, value| !is_usual(value)));
    }
    json!({ "message": message, "text": mail.text, "html": mail.html, "charset": mail.charset, "headers": mail.headers.len() })
}

#[test]
fn messages_are_read() {
    let messages = corpus();
    assert!(messages.len() >= 30);
    for (name, raw) in messages {
        let raw = with_crlf(&raw);
        let mail = read::message(&raw).unwrap();
        insta::assert_json_snapshot!(name, describe(&mail));
    }
}

#[test]
fn line_ends_do_not_matter() {
    for (name, raw) in corpus() {
        let (bare, wire) = (read::message(&raw).unwrap(), read::message(&with_crlf(&raw)).unwrap());
        assert_eq!(
            (&bare.text, &bare.html, &bare.headers),
            (&wire.text, &wire.html, &wire.headers),
            "{name}"
        );
        assert_eq!(bare.message.from, wire.message.from, "{name}");
        let ids =
            |mail: &Mail| mail.message.attachments.iter().map(|file| file.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&bare), ids(&wire), "{name}");
        assert_eq!(delivery_report(&raw), delivery_report(&with_crlf(&raw)), "{name}");
    }
}

/// The header alone gives the same as the message, and each attachment can be read by its id, and by `part` as IMAP gives it.
#[test]
fn parts_of_a_message_tell_the_same_as_the_whole() {
    for (name, raw) in corpus() {
        let mail = read::message(&raw).unwrap();
        let end = raw.windows(2).position(|pair| pair == b"\n\n").unwrap() + 2;
        let header = read::headers(&raw[..end]);
        assert_eq!(header.subject, mail.message.subject, "{name}");
        assert_eq!(
            (header.to, header.sent_at, header.auto_reply),
            (mail.message.to, mail.message.sent_at, mail.message.auto_reply)
        );
        assert_eq!(read::raw_headers(&raw[..end]), mail.headers, "{name}");
        for attachment in &mail.message.attachments {
            let file = read::attachment(&raw, &attachment.id).unwrap();
            assert_eq!(file.attachment, *attachment, "{name}");
            assert_eq!(attachment.size, Some(file.bytes.len() as i64), "{name} {}", attachment.id);
        }
        assert_eq!(read::attachment(&raw, "99"), None);
    }
}

#[test]
fn reports_are_told_from_answers() {
    let reports: Vec<(String, String)> = corpus()
        .into_iter()
        .filter_map(|(name, raw)| Some((name, format!("{:#?}", delivery_report(&raw)?))))
        .collect();
    let names: Vec<&str> = reports.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["bounce-exim-old", "bounce-exim", "bounce-postfix", "bounce-qmail", "complaint"]);
    for (name, report) in reports {
        insta::assert_snapshot!(format!("report-{name}"), report);
    }
}

/// Everything that reads bytes of strangers. Answers, so that nothing is optimised away.
fn read_all(raw: &[u8]) -> usize {
    let mail = read::message(raw).unwrap_or_default();
    let cid = |id: &str| Some(format!("/{id}"));
    let html = safe(mail.html.as_deref().unwrap_or_default(), &Safe { images: false, cid: &cid });
    let half = raw.split_at(raw.len() / 2);
    let part = read::part(half.0, half.1);
    let report = delivery_report(raw).map_or(0, |report| report.recipients.len());
    let files =
        mail.message.attachments.iter().filter(|file| read::attachment(raw, &file.id).is_some()).count();
    assert_eq!(files, mail.message.attachments.len());
    assert!(mail.message.snippet.chars().count() <= read::limits::SNIPPET_CHARS);
    html.len()
        + part.bytes.len()
        + report
        + files
        + read::raw_headers(raw).len()
        + read::headers(raw).to.len()
}

#[derive(Clone, Debug)]
enum Damage {
    Set(usize, u8),
    Remove(usize, usize),
    Repeat(usize, usize, usize),
    Insert(usize, &'static [u8]),
    Splice(usize, usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let place = 0usize..4_000;
    let syntax: Vec<&'static [u8]> = vec![
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b"\xff",
        b"=",
        b"=?",
        b"?=",
        b"=?utf-8?q?",
        b"=\r\n",
        b"--",
        b"\r\n--b\r\n",
        b"--outer\n",
        b"\"",
        b"\\",
        b"<",
        b">",
        b"(",
        b")",
        b":",
        b";",
        b",",
        b"*0*=",
        b"''",
        b"%",
        b"\xc3",
        b"\x1b$B",
        b"+",
        b"\r\n\r\n",
        b"Content-Type: multipart/mixed; boundary=b\n",
        b"Content-Type: message/rfc822\n",
        b"Content-Transfer-Encoding: quoted-printable\n",
        b"charset=utf-7",
        b"<div><table><b>",
        b"<!--",
    ];
    prop_oneof![
        1 => (place.clone(), any::<u8>()).prop_map(|(at, byte)| Damage::Set(at, byte)),
        1 => (place.clone(), 1usize..80).prop_map(|(at, len)| Damage::Remove(at, len)),
        1 => (place.clone(), 1usize..60, 1usize..30).prop_map(|(at, len, times)| Damage::Repeat(at, len, times)),
        4 => (place.clone(), prop::sample::select(syntax)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        1 => (place.clone(), place).prop_map(|(from, to)| Damage::Splice(from, to)),
    ]
}

fn damaged(mut raw: Vec<u8>, damages: &[Damage], other: &[u8]) -> Vec<u8> {
    for damage in damages {
        let len = raw.len().max(1);
        match *damage {
            Damage::Set(at, byte) => raw.iter_mut().skip(at % len).take(1).for_each(|old| *old = byte),
            Damage::Remove(at, count) => {
                drop(raw.drain(at % len..(at % len + count).min(raw.len()).max(at % len)))
            }
            Damage::Repeat(at, count, times) => {
                let range = at % len..(at % len + count).min(raw.len()).max(at % len);
                let again = raw[range.clone()].repeat(times);
                raw.splice(range, again);
            }
            Damage::Insert(at, bytes) => drop(raw.splice(at % len..at % len, bytes.iter().copied())),
            Damage::Splice(from, to) => {
                raw.truncate(to % len);
                raw.extend(&other[from % other.len()..]);
            }
        }
        if raw.is_empty() {
            raw.push(b'\n');
        }
    }
    raw
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_messages_are_read_without_a_panic(
        pick in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..8),
        is_wire in any::<bool>(),
    ) {
        thread_local!(static MESSAGES: Vec<(String, Vec<u8>)> = corpus());
        let (raw, other) = MESSAGES.with(|all| (pick.get(all).1.clone(), other.get(all).1.clone()));
        let raw = damaged(if is_wire { with_crlf(&raw) } else { raw }, &damages, &other);
        read_all(&raw);
    }

    #[test]
    fn noise_is_read_without_a_panic(raw in prop::collection::vec(any::<u8>(), 0..400)) {
        read_all(&raw);
    }

    #[test]
    fn a_text_is_cut_between_characters(text in "\\PC{0,40}", max in 0usize..60) {
        let (cut, is_cut) = read::cut(text.clone(), max);
        prop_assert!(cut.len() <= max && text.starts_with(&cut) && is_cut == (cut.len() < text.len()));
        prop_assert!(!is_cut || cut.len() + 4 > max);
    }
}
