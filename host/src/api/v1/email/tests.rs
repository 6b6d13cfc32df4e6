//! Tests of the description of mail: its patterns and bounds are those that the validators have.

use mail::check;
use model::bounds;
use model::email::send::{DraftPatch, NewAttachment, SendMessage};
use model::formats;
use regex::Regex;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use service::resources::mail::write::keywords;

/// Asserts that the pattern and the validator accept the same texts.
fn agree(pattern: &str, accepts: impl Fn(&str) -> bool, good: &[&str], bad: &[&str]) {
    let pattern = Regex::new(pattern).expect("a regular expression");
    for text in good {
        assert!(accepts(text), "the validator refuses {text:?}");
        assert!(pattern.is_match(text), "{pattern} refuses {text:?}");
    }
    for text in bad {
        assert!(!accepts(text), "the validator accepts {text:?}");
        assert!(!pattern.is_match(text), "{pattern} accepts {text:?}");
    }
}

#[test]
fn formats_are_those_of_the_validators() {
    agree(
        formats::OneLine::PATTERN,
        |text| check::header_value(text).is_ok(),
        &["", "Minutes of the meeting", "Übersicht ✓"],
        &["a\rb", "a\nb", "a\n", "a\0b", "a\tb", "a\u{7f}b", "a\u{85}b", "a\u{2028}b", "a\u{2029}b"],
    );
    agree(
        formats::MailAddress::PATTERN,
        |text| check::email(text).is_ok(),
        &[
            "ada@example.org",
            "o'neil+x@b-c.example",
            "root@localhost",
            "jörg@münchen.example",
            "\"a@b\"@c.org",
        ],
        &["", "ada", "@example.org", "ada@", "Ada <ada@example.org>", "a@b.org\r\nBcc: x@y.org"],
    );
    agree(
        formats::HeaderName::PATTERN,
        |text| check::header_name(text).is_ok(),
        &["X-Tag", "x-1", "List-Unsubscribe", "LIST-ID", "Auto-Submitted", "auto-submitted"],
        &["", "X-", "List-", "Bcc", "From", "X:", "X-A B", "X-Ä", "Auto-Submitted2", "Received"],
    );
    agree(
        formats::FileName::PATTERN,
        |text| check::file_name(text).is_ok(),
        &["a", "Übersicht (2).pdf"],
        &["", "a/b", "a\\b", "a\nb", "a\u{2028}b"],
    );
    agree(
        formats::MediaType::PATTERN,
        |text| check::content_type(text).is_ok(),
        &[
            "text/plain",
            "text/calendar; method=REQUEST; charset=utf-8",
            "application/vnd.a+xml",
            "a/b; c=\"d e\"",
        ],
        &[
            "",
            "text",
            "text/",
            "/plain",
            "a b/c",
            "a/b;",
            "a/b; c",
            "a/b; c=",
            "a/b; c=\"d\"e\"",
            "a/b\r\nBcc: x",
        ],
    );
    agree(
        formats::ContentId::PATTERN,
        |text| check::content_id(text).is_ok(),
        &["a", "a.b+c@example.org", "2026.11@[192.0.2.7]", "\"x y\"@x", "a,b;c\\d"],
        &["", "<a>", "a>b", "ü@x", " a", "a ", "a\nb"],
    );
    agree(
        formats::Keyword::PATTERN,
        |text| keywords("keywords", vec![text.to_owned()]).is_ok(),
        &["$junk", "Kept", "a[b", "x|}~", "!#&'+,-./:;<=>?@^_`"],
        &["", "a b", "(", ")", "{", "%", "*", "\"", "\\", "]", "ü"],
    );
}

fn properties<T: JsonSchema>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_deserialize().into_generator();
    T::json_schema(&mut generator).to_value()["properties"].clone()
}

#[test]
fn requests_have_the_bounds_of_the_validators() {
    let send = properties::<SendMessage>();
    assert_eq!(send["to"]["maxItems"], bounds::mail::MAX_RECIPIENTS);
    assert_eq!(send["from"]["maxItems"], bounds::mail::MAX_FROM);
    assert_eq!(send["to"]["type"], "array");
    assert_eq!(send["subject"]["maxLength"], bounds::mail::MAX_SUBJECT);
    assert_eq!(send["connectionId"]["pattern"], formats::Id::PATTERN);
    let attachment = properties::<NewAttachment>();
    assert_eq!(attachment["filename"]["maxLength"], bounds::mail::MAX_FILE_NAME);
    assert!(attachment["contentBase64"]["maxLength"].as_u64() > Some(bounds::mail::MAX_FILE_BYTES as u64));
    // A draft is changed by a merge patch: null clears.
    let draft = properties::<DraftPatch>();
    for list in ["from", "to", "cc", "bcc", "replyTo", "headers", "attachments"] {
        assert_eq!(draft[list]["type"], json!(["array", "null"]), "{list}");
    }
}
