//! Messages by their ids, their texts and files, and what a mailbox can do.

#![expect(clippy::unwrap_used, reason = "helpers of tests; clippy takes only #[test] functions for tests")]

mod gmail;

use connector_google::Google;
use connector_sdk::{Context, Email, Outcome, code};
use model::capabilities::{EmailDelta, ThreadSource};
use model::email::EmailMessage;
use model::wire::email::{AttachmentRef, Content, MailFeatures, MessageRef, MessagesGet};
use model::wire::{Connection, Source, Sources};
use serde_json::{Value, json};

use crate::gmail::{Gmail, NOW_MS, deleted, mail, whole};

fn get(gmail: &Gmail, ids: &[&str], args: MessagesGet) -> Outcome<Sources> {
    gmail.round_trips.set(0);
    let reference = |id: &&str| MessageRef { source: (*id).to_owned(), hint: None };
    let args = MessagesGet { messages: ids.iter().map(reference).collect(), ..args };
    <Google as Email>::get_messages(&Context::new(gmail, Connection::default()), args)
}

fn with_body(max_body_bytes: u32) -> MessagesGet {
    MessagesGet { body: true, max_body_bytes, ..MessagesGet::default() }
}

fn message(source: &Source) -> EmailMessage {
    source.items[0].body.read().unwrap()
}

/// A message with a text in UTF-8 that calls itself Latin-1, a long HTML, a file, a small file and an enclosed message.
fn with_files() -> Value {
    let header = |name: &str, value: &str| json!({ "name": name, "value": value });
    let mut message = mail("file", NOW_MS, &["INBOX"]);
    message["payload"] = json!({ "partId": "", "mimeType": "multipart/mixed", "filename": "", "body": { "size": 0 },
        "headers": [header("Subject", "Files")],
        "parts": [
            { "partId": "0", "mimeType": "text/plain", "filename": "", "headers": [header("Content-Type", "text/plain; charset=iso-8859-1")],
              "body": { "size": 8, "data": "R3LDvMOfZQ==" } },
            { "partId": "1", "mimeType": "text/html", "filename": "", "body": { "size": 900, "attachmentId": "long-FRESH" } },
            { "partId": "2", "mimeType": "application/pdf", "filename": "a.pdf", "body": { "size": 9, "attachmentId": "pdf-FRESH" } },
            { "partId": "3", "mimeType": "text/calendar", "filename": "", "headers": [header("Content-Type", "text/calendar; method=REQUEST")],
              "body": { "size": 5, "data": "SGVsbG8=" } },
            { "partId": "4", "mimeType": "message/rfc822", "filename": "", "body": { "size": 30 }, "parts": [] },
        ] });
    let raw = "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n0\r\n--b\r\n\r\n1\r\n--b\r\n\r\n2\r\n--b\r\n\r\n3\r\n\
        --b\r\nContent-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\ntext\r\n--b--\r\n";
    message["raw"] = json!(base64url(raw.as_bytes()));
    message
}

fn base64url(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            let value = (bits >> (18 - 6 * digit)) & 63;
            text.push(char::from(DIGITS[value as usize]));
        }
    }
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

fn mailbox() -> Gmail {
    let gmail = Gmail::new(3);
    gmail.messages.borrow_mut().push(with_files());
    gmail
}

#[test]
fn messages_are_read_by_their_ids() {
    let gmail = mailbox();
    let found = get(&gmail, &["m1", "gone", "m0", ".."], MessagesGet::default()).unwrap();
    assert_eq!((gmail.round_trips.get(), deleted(&found.sources).len()), (1, 2));
    assert_eq!(whole(&found.sources), ["m1", "m0"]);
    let one = found.sources.iter().find(|source| source.external_id == "m1").unwrap();
    assert_eq!(message(one).subject.as_deref(), Some("No m1"));
    assert!(message(one).headers.is_empty() && message(one).body.is_none());
    let found = get(&gmail, &["m1"], MessagesGet { headers: true, ..MessagesGet::default() }).unwrap();
    assert_eq!(message(&found.sources[0]).headers[1].value, "No m1");
}

/// A message that is left out of an answer would be taken for gone.
#[test]
fn a_message_that_is_not_answered_fails_the_call() {
    let gmail = mailbox();
    gmail.with_parts(|_, id| (id == "m1").then_some(429));
    let failure = get(&gmail, &["m0", "m1"], MessagesGet::default()).unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retry_after_ms), (code::RATE_LIMITED, Some(40_000)));
    gmail.with_parts(|_, id| (id == "m1").then_some(500));
    assert_eq!(get(&gmail, &["m1"], MessagesGet::default()).unwrap_err().code, code::UNAVAILABLE);
    let found = get(&gmail, &["m0", "m1"], MessagesGet::default()).unwrap();
    assert!(found.sources[0].error.is_none() && found.sources[1].error.is_some());
}

#[test]
fn a_text_comes_with_its_message() {
    let gmail = mailbox();
    let found = get(&gmail, &["file", "m0"], with_body(1 << 20)).unwrap();
    // The long HTML is an attachment to Gmail, and one more call.
    assert_eq!(gmail.round_trips.get(), 2);
    let body = message(&found.sources[0]).body.unwrap();
    assert_eq!((body.text.as_deref(), body.html.as_deref()), (Some("Gr\u{fc}\u{df}e"), Some("a file!!?")));
    assert_eq!((body.charset.as_deref(), body.truncated), (Some("iso-8859-1"), false));
    assert_eq!(message(&found.sources[1]).body.unwrap().html, None);
    let found = get(&gmail, &["file"], with_body(3)).unwrap();
    let body = message(&found.sources[0]).body.unwrap();
    assert_eq!((body.text.as_deref(), body.html.as_deref(), body.truncated), (Some("Gr"), Some("a f"), true));
}

fn attachment(gmail: &Gmail, part: &str) -> Outcome<Content> {
    let message = MessageRef { source: "file".to_owned(), hint: None };
    let args = AttachmentRef { message, part: part.to_owned() };
    <Google as Email>::attachment(&Context::new(gmail, Connection::default()), args)
}

#[test]
fn a_file_is_read_by_its_part() {
    let gmail = mailbox();
    let read = |part: &str| {
        let content = attachment(&gmail, part).unwrap();
        let blob = gmail.blobs.borrow()[content.blob.parse::<usize>().unwrap()].clone();
        (String::from_utf8(blob).unwrap(), content.content_type.unwrap())
    };
    let found = get(&gmail, &["file"], MessagesGet::default()).unwrap();
    let told = message(&found.sources[0]);
    let ids: Vec<&str> = told.attachments.iter().map(|file| file.id.as_str()).collect();
    assert_eq!((ids, told.has_attachments), (vec!["2", "3", "4"], true));
    // Gmail's ids are others at each reading: the fake takes the newest alone.
    for _ in 0..2 {
        assert_eq!(read("2"), ("a file!!?".to_owned(), "application/pdf".to_owned()));
    }
    assert_eq!(read("3"), ("Hello".to_owned(), "text/calendar".to_owned()));
    let (enclosed, kind) = read("4");
    assert!(enclosed.starts_with("Subject: inner") && kind == "message/rfc822", "{enclosed}");
    assert_eq!(attachment(&gmail, "9").unwrap_err().code, code::NOT_FOUND);
}

#[test]
fn a_message_is_read_as_it_is_stored() {
    let gmail = mailbox();
    let context = Context::new(&gmail, Connection::default());
    let raw = |id: &str| <Google as Email>::raw(&context, MessageRef { source: id.to_owned(), hint: None });
    let content = raw("file").unwrap();
    assert_eq!(content.content_type.as_deref(), Some("message/rfc822"));
    let blob = gmail.blobs.borrow()[content.blob.parse::<usize>().unwrap()].clone();
    assert!(blob.starts_with(b"Content-Type: multipart/mixed") && blob.ends_with(b"--b--\r\n"));
    // The refusal is in the blob.
    assert_eq!(raw("gone").unwrap_err().code, code::NOT_FOUND);
}

#[test]
fn a_mailbox_tells_what_it_can_do() {
    let gmail = mailbox();
    let addresses = vec!["ada@gmail.com".to_owned()];
    let context = Context::new(&gmail, Connection { addresses, ..Connection::default() });
    let features: MailFeatures = <Google as Email>::features(&context).unwrap();
    assert_eq!((features.threads, features.delta), (ThreadSource::Server, EmailDelta::History));
    assert!(features.multi_folder && features.labels && features.importance && features.send_as_alias);
    assert!(!features.permanent_delete && !features.keywords && !features.push);
    let emails: Vec<&str> = features.aliases.iter().map(|alias| alias.email.as_str()).collect();
    assert_eq!((emails, features.aliases[0].is_default), (vec!["ada@gmail.com", "sales@example.test"], true));
    assert_eq!((features.max_recipients, features.max_send_per_day), (Some(100), Some(500)));
}
