//! A message of arbitrary bytes: parsed whole, its header, one part, its files, and as a delivery report.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mail::read::{self, Mail, limits};
use mail::report;
use model::email::EmailMessage;

/// Maximum files read of one message: each read parses the message again.
const FILES: usize = 8;

fuzz_target!(|raw: &[u8]| {
    one_line_each(&read::raw_headers(raw));
    read_back(&read::headers(raw));
    part(raw);
    if let Some(report) = report::delivery_report(raw) {
        assert!(report.recipients.len() <= report::RECIPIENTS);
        let diagnostics = report.recipients.iter().filter_map(|recipient| recipient.diagnostic.as_ref());
        assert!(diagnostics.into_iter().all(|text| text.len() <= report::DIAGNOSTIC_BYTES));
    }
    if let Ok(mail) = read::message(raw) {
        message(raw, &mail);
    }
});

fn message(raw: &[u8], mail: &Mail) {
    read_back(&mail.message);
    one_line_each(&mail.headers);
    let texts = [&mail.text, &mail.html, &mail.charset];
    assert!(!texts.into_iter().flatten().any(|text| text.contains('\0')), "a NUL in a text");
    assert_eq!(usize::try_from(mail.message.size), Ok(raw.len()));
    assert!(mail.message.attachments.len() <= limits::PARTS);
    assert!(!mail.message.has_attachments || !mail.message.attachments.is_empty());
    for listed in mail.message.attachments.iter().take(FILES) {
        let file = read::attachment(raw, &listed.id).expect("what is listed can be read");
        assert_eq!(file.attachment.id, listed.id);
        if let Some(name) = &listed.filename {
            assert!(!name.contains(['/', '\\']) && !name.contains(char::is_control), "{name:?}");
        }
    }
}

/// One part, cut where its header ends.
fn part(raw: &[u8]) {
    let end = raw.windows(2).position(|two| two == b"\n\n").unwrap_or(raw.len());
    let (header, body) = raw.split_at(end);
    let part = read::part(header, body);
    assert!(part.text.is_none() || part.bytes.is_empty());
}

fn one_line_each(headers: &[model::email::EmailHeader]) {
    assert!(headers.len() <= limits::HEADER_FIELDS);
    assert!(
        headers.iter().all(|header| !header.name.is_empty() && !header.value.contains(['\r', '\n', '\0']))
    );
}

/// The host gets it as JSON, and stores it where no text may contain a NUL.
fn read_back(message: &EmailMessage) {
    let text = serde_json::to_string(message).expect("a message is JSON");
    assert!(!text.replace("\\\\", "").contains("\\u0000"), "{text}");
    let again: EmailMessage = serde_json::from_str(&text).expect("its JSON is a message");
    assert_eq!(*message, again);
}
