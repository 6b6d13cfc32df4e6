//! Deserializer errors rephrased for clients: what was sent and what is allowed, without the names of Rust types.

use std::borrow::Cow;

/// Characters of the input that an error repeats.
const MAX_SHOWN_CHARS: usize = 100;

/// Request objects by the name of their Rust type, each with an example of its required fields.
const EXAMPLES: [(&str, &str); 18] = [
    ("Attendee", r#"{"email": "ada@example.com"}"#),
    ("AttachmentRef", r#"{"messageId": "msg_…", "attachmentId": "att_…"}"#),
    ("ContactEmail", r#"{"value": "ada@example.com"}"#),
    ("ContactPhone", r#"{"value": "+44 20 7946 0018"}"#),
    ("DateOverride", r#"{"date": "2026-12-24", "available": false}"#),
    ("EmailAddress", r#"{"email": "ada@example.com"}"#),
    ("EmailHeader", r#"{"name": "X-Case", "value": "17"}"#),
    ("FreeBusyTarget", r#"{"connectionId": "conn_…"}"#),
    ("GivenCredentials", r#"{"username": "ada@example.com", "password": "…"}"#),
    ("Guest", r#"{"email": "ada@example.com"}"#),
    ("Host", r#"{"connectionId": "conn_…"}"#),
    ("MailServer", r#"{"host": "imap.example.com", "port": 993, "tls": "implicit"}"#),
    ("NewAttachment", r#"{"filename": "note.txt", "contentBase64": "SGVsbG8="}"#),
    ("NewBody", r#"{"text": "Hello"}"#),
    ("Reminder", r#"{"method": "popup", "minutesBefore": 10}"#),
    ("Reminders", r#"{"useDefault": true}"#),
    ("TimeWindow", r#"{"start": "09:00", "end": "17:00"}"#),
    ("WeeklyHours", r#"{"days": [1, 2], "start": "09:00", "end": "17:00"}"#),
];

/// Returns the rest of a sentence about a field, such as `must be a list; got "x"`. None: the error is not one of serde's own.
pub fn rephrased(cause: &str) -> Option<String> {
    if let Some(rest) = cause.strip_prefix("unknown variant `") {
        let (got, words) = rest.rsplit_once("`, expected ")?;
        return Some(format!("{}; got {}", one_of(words), shortened(&format!("{got:?}"))));
    }
    if cause.starts_with("data did not match any variant of untagged enum") {
        return Some("has none of the forms that the documentation shows".to_owned());
    }
    if let Some(rest) = cause.strip_prefix("invalid length ") {
        let (length, expected) = rest.rsplit_once(", expected ")?;
        return Some(format!("must be {}; got {length} entries", allowed(expected)));
    }
    let rest = cause.strip_prefix("invalid type: ").or_else(|| cause.strip_prefix("invalid value: "))?;
    let (got, expected) = rest.rsplit_once(", expected ")?;
    Some(format!("must be {}; got {}", allowed(expected), received(got)))
}

/// Lists the allowed values of a text such as "one of `a`, `b`".
fn one_of(words: &str) -> String {
    let words: Vec<&str> = words.split('`').skip(1).step_by(2).collect();
    match words.as_slice() {
        [one] => format!("must be {one}"),
        all => format!("must be one of {}", all.join(", ")),
    }
}

/// Describes the kind of value that serde expected.
fn allowed(expected: &str) -> Cow<'_, str> {
    let fixed = match expected {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "an integer, such as 30",
        "u8" => "an integer from 0 to 255, such as 30",
        "u16" | "u32" | "u64" | "u128" | "usize" => "an integer from 0, such as 30",
        "f32" | "f64" => "a number, such as 1.5",
        "a boolean" => "true or false",
        "a string" | "a borrowed string" | "string or map" | "variant identifier" => "a string",
        "a sequence" => "a list, in square brackets",
        "a map" => r#"an object, such as {"name": "value"}"#,
        "unit" => "null",
        _ if expected.starts_with("a tuple of") || expected.starts_with("tuple ") => {
            "a list, in square brackets"
        }
        _ if expected.contains("enum ") => "an object",
        _ => return expected.strip_prefix("struct ").map_or(Cow::Borrowed(expected), object),
    };
    Cow::Borrowed(fixed)
}

fn object(name: &str) -> Cow<'_, str> {
    // "struct Attendee with 9 elements"
    let name = name.split(' ').next().unwrap_or(name);
    match EXAMPLES.iter().find(|(known, _)| *known == name) {
        Some((_, example)) => Cow::Owned(format!("an object such as {example}")),
        None => Cow::Borrowed("an object"),
    }
}

/// Describes the received value. Texts keep their quotes and numbers their backticks: by these the request log finds the values to hide.
fn received(got: &str) -> Cow<'_, str> {
    match got {
        "map" => return Cow::Borrowed("an object"),
        "sequence" => return Cow::Borrowed("a list"),
        "null" | "unit value" => return Cow::Borrowed("null"),
        _ => {}
    }
    let kinds = ["string ", "character ", "integer ", "floating point ", "boolean "];
    match kinds.iter().find_map(|kind| got.strip_prefix(kind)) {
        Some(value) => shortened(value),
        None => shortened(got),
    }
}

fn shortened(value: &str) -> Cow<'_, str> {
    match value.char_indices().nth(MAX_SHOWN_CHARS) {
        None => Cow::Borrowed(value),
        Some(_) => Cow::Owned(value.chars().take(MAX_SHOWN_CHARS).chain("…\"".chars()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_type_of_rust_is_named() {
        let rows = [
            (
                "invalid type: string \"bob@x\", expected struct EmailAddress",
                r#"must be an object such as {"email": "ada@example.com"}; got "bob@x""#,
            ),
            ("invalid type: map, expected a sequence", "must be a list, in square brackets; got an object"),
            ("invalid type: floating point `1.5`, expected i64", "must be an integer, such as 30; got `1.5`"),
            ("invalid value: integer `-1`, expected u32", "must be an integer from 0, such as 30; got `-1`"),
            ("invalid type: sequence, expected a string", "must be a string; got a list"),
            ("invalid type: integer `5`, expected string or map", "must be a string; got `5`"),
            ("invalid type: null, expected a boolean", "must be true or false; got null"),
            ("unknown variant `bogus`, expected `a` or `b`", "must be one of a, b; got \"bogus\""),
            (
                "unknown variant `x`, y`, expected one of `a`, `b`, `c`",
                "must be one of a, b, c; got \"x`, y\"",
            ),
            (
                "invalid type: string \"a, expected b\", expected i64",
                "must be an integer, such as 30; got \"a, expected b\"",
            ),
            ("invalid type: integer `1`, expected struct Unlisted", "must be an object; got `1`"),
        ];
        for (cause, wanted) in rows {
            assert_eq!(rephrased(cause).as_deref(), Some(wanted), "{cause}");
        }
        assert_eq!(rephrased("\"soon\" is not an instant"), None);
    }

    #[test]
    fn a_long_text_is_shortened() {
        let cause = format!("invalid type: string \"{}\", expected i64", "é".repeat(500));
        let text = rephrased(&cause).expect("a sentence");
        assert!(text.ends_with("éé…\"") && text.chars().count() < 150, "{text}");
    }
}
