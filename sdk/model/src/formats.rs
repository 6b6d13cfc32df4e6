//! Formats of texts in JSON schemas: `#[schemars(with = "formats::Date")]` on a `String` field describes what the host accepts there. Most
//! of these types exist for their schema alone.

use std::borrow::Cow;

use schemars::transform::Transform;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::json;

use crate::Instant;
use crate::bounds;

/// Declares a type for the schema of a text: its bounds, format and pattern, with an example.
macro_rules! text_format {
    ($(#[$doc:meta])* $name:ident, $pattern:expr, $example:expr $(, $keyword:literal: $value:expr)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl $name {
            /// The regular expression that all accepted texts match (ECMA-262).
            pub const PATTERN: &'static str = $pattern;
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    $($keyword: $value,)*
                    "pattern": Self::PATTERN,
                    "examples": [$example],
                })
            }
        }
    };
}

text_format!(
    /// The name of a time zone in the tz database (IANA), in any letter case.
    ZoneName, "^[A-Za-z][A-Za-z0-9_+/-]*$", "Europe/Berlin", "maxLength": bounds::MAX_ZONE_NAME
);
text_format!(
    /// A day that exists, `YYYY-MM-DD`, from 1900 to 2200.
    Date, "^(19[0-9]{2}|2[01][0-9]{2}|2200)-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", "2026-03-01", "format": "date"
);
text_format!(
    /// A day that exists, `YYYY-MM-DD`, of any year.
    AnyDate, "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$", "2026-12-24", "format": "date"
);
text_format!(
    /// A time of day, `HH:MM`, from 00:00 to 23:59.
    TimeOfDay, "^([01][0-9]|2[0-3]):[0-5][0-9]$", "09:30"
);
text_format!(
    /// The end of a stretch of the day, `HH:MM`, from 00:00 to 24:00.
    EndTimeOfDay, "^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$", "17:00"
);
text_format!(
    /// A color, `#rrggbb` in hexadecimal digits.
    Color, "^#[0-9A-Fa-f]{6}$", "#1a73e8"
);
text_format!(
    /// An email address without a name and without quotes.
    Email, "^[^\\s\"<>,;:@]+@[^\\s\"<>,;@]+$", "ada@example.com", "format": "email", "maxLength": bounds::MAX_ADDRESS
);
text_format!(
    /// An absolute http or https URL.
    WebUrl, "^[Hh][Tt][Tt][Pp][Ss]?://", "https://example.com/notes", "format": "uri", "maxLength": bounds::MAX_URL
);
text_format!(
    /// An absolute https URL.
    HttpsUrl, "^[Hh][Tt][Tt][Pp][Ss]://", "https://example.com/logo.png", "format": "uri", "maxLength": bounds::MAX_URL
);
text_format!(
    /// An absolute URL of any scheme.
    AbsoluteUrl, "^[A-Za-z][A-Za-z0-9+.-]*:", "https://example.com/", "format": "uri", "maxLength": bounds::MAX_URL
);
text_format!(
    /// The last part of a booking link: small letters, digits and hyphens.
    Slug, "^[a-z0-9-]{1,64}$", "intro-call"
);
text_format!(
    /// An id of the service. The example has no prefix, because that depends on the kind of resource.
    Id, "^[A-Za-z0-9_]{1,64}$", "01J8Z6V9C4T7R2M5N8P3K1W0X0"
);
text_format!(
    /// The name of a provider.
    ProviderName, "^[a-z0-9][a-z0-9-]{0,39}$", "google"
);

impl ProviderName {
    /// Returns whether the text has the form of a provider's name.
    #[must_use]
    pub fn is_match(text: &str) -> bool {
        (1..=40).contains(&text.len())
            && !text.starts_with('-')
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    }
}

impl Id {
    /// Returns whether the text has the form of an id.
    #[must_use]
    pub fn is_match(text: &str) -> bool {
        (1..=bounds::MAX_ID).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }
}

text_format!(
    /// The opaque position in a list, as an earlier answer has it.
    Cursor, "^[A-Za-z0-9_.=-]+$", "eyJiIjoi"
);
text_format!(
    /// A token that an earlier answer has and that is passed back as it is.
    SignedToken, "^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$", "WyJzbG90Il0.3vYk0w"
);
text_format!(
    /// The version that a change is based on: etags with their quotes, separated by commas, or `*` for any version.
    Etag, "^(\\*|\"?[^\\s\",]+\"?( *, *\"?[^\\s\",]+\"?)*)$", "\"3f2a\""
);
text_format!(
    /// A line of a recurrence rule set (RFC 5545), without DTSTART.
    RecurrenceLine, "^([Rr][Rr][Uu][Ll][Ee]|[Rr][Dd][Aa][Tt][Ee]|[Ee][Xx][Dd][Aa][Tt][Ee])[:;]", "RRULE:FREQ=WEEKLY;BYDAY=MO"
);
text_format!(
    /// Bytes in base64 (RFC 4648 section 4), with padding.
    Base64, "^[A-Za-z0-9+/]*={0,2}$", "SGVsbG8=", "contentEncoding": "base64"
);
text_format!(
    /// A country, as two capital letters (ISO 3166-1).
    CountryCode, "^[A-Z]{2}$", "DE"
);
text_format!(
    /// A text on one line, without control characters.
    OneLine, "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]*$", "Quarterly report"
);
text_format!(
    /// A text on one line, without control characters and not blank.
    FilledLine,
    "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]*[^\\s\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029][^\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]*$",
    "Introduction"
);
text_format!(
    /// The address of a sender or recipient, which may be internationalized.
    MailAddress, "^[^\\s\\x00-\\x1F\\x7F-\\x9F]+@[^\\s\\x00-\\x1F\\x7F-\\x9F@]+$", "ada@example.com", "format": "email",
    "maxLength": bounds::MAX_ADDRESS
);
text_format!(
    /// A recipient, or all recipients of a domain with `*` before the `@`.
    RecipientPattern, "^[^\\s\\x00-\\x1F\\x7F-\\x9F]+@[^\\s\\x00-\\x1F\\x7F-\\x9F@]+$", "*@example.com",
    "maxLength": bounds::MAX_ADDRESS
);
text_format!(
    /// The name of a header field that callers may set: `X-*`, `List-*` and `Auto-Submitted`, in any letter case.
    HeaderName,
    "^(([Xx]|[Ll][Ii][Ss][Tt])-[A-Za-z0-9_-]+|[Aa][Uu][Tt][Oo]-[Ss][Uu][Bb][Mm][Ii][Tt][Tt][Ee][Dd])$", "X-Case",
    "maxLength": bounds::mail::MAX_HEADER_NAME
);
text_format!(
    /// The name of a file on one line, without slashes.
    FileName, "^[^/\\\\\\x00-\\x1F\\x7F-\\x9F\\u2028\\u2029]+$", "report.pdf", "maxLength": bounds::mail::MAX_FILE_NAME
);
text_format!(
    /// A media type, which may have parameters.
    MediaType,
    "^ *[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+ *(; *[A-Za-z0-9!#$&^_.+-]+=([A-Za-z0-9!#$&^_.+-]+|\"[^\";\\\\]*\") *)*$",
    "application/pdf", "maxLength": bounds::mail::MAX_MEDIA_TYPE
);
text_format!(
    /// A Content-ID without angle brackets: printable ASCII characters.
    ContentId, "^[!-;=?-~]([ -;=?-~]*[!-;=?-~])?$", "logo@example.com", "maxLength": bounds::mail::MAX_CONTENT_ID
);
text_format!(
    /// A keyword of a message (RFC 9051 section 9), in any letter case.
    Keyword, "^[!#$&'+-\\[^-z|}~]+$", "$junk", "maxLength": bounds::mail::MAX_KEYWORD
);

/// The map of the caller's own notes, for the schema alone.
#[derive(Clone, Copy, Debug)]
pub struct Notes;

impl JsonSchema for Notes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Notes".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "maxProperties": bounds::metadata::MAX_KEYS,
            "propertyNames": { "minLength": 1, "maxLength": bounds::metadata::MAX_KEY },
            "additionalProperties": { "type": "string", "maxLength": bounds::metadata::MAX_VALUE },
        })
    }
}

/// The map of a webhook's own headers, for the schema alone.
#[derive(Clone, Copy, Debug)]
pub struct HeaderMap;

impl JsonSchema for HeaderMap {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "HeaderMap".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "maxProperties": bounds::webhook::MAX_HEADERS,
            "propertyNames": { "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
            "additionalProperties": { "type": "string", "maxLength": bounds::webhook::MAX_HEADER_BYTES },
        })
    }
}

/// A query parameter that is an instant, or a date that stands for its midnight in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstantOrDate(pub Instant);

impl InstantOrDate {
    /// The regular expression of the texts that clients should send (ECMA-262).
    pub const PATTERN: &'static str = "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,9})?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9]))?$";

    /// Milliseconds since 1970-01-01T00:00:00Z.
    pub fn as_millis(self) -> i64 {
        self.0.as_millis()
    }
}

impl<'de> Deserialize<'de> for InstantOrDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A plus sign in an offset arrives as a space unless it was escaped.
        let text = String::deserialize(deserializer)?.replace(' ', "+");
        let parsed: Result<Instant, String> = match text.len() {
            10 => format!("{text}T00:00:00Z").parse(),
            _ => text.parse(),
        };
        parsed.map(InstantOrDate).map_err(de::Error::custom)
    }
}

impl JsonSchema for InstantOrDate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "InstantOrDate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": Self::PATTERN,
            "examples": ["2026-03-01T09:00:00Z", "2026-03-01"],
        })
    }
}

/// Makes fields required in the schema of a type that occurs in requests and in answers. The schema of an answer requires all fields already
/// and stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct RequiredFields(pub &'static [&'static str]);

impl Transform for RequiredFields {
    fn transform(&mut self, schema: &mut Schema) {
        if schema.get("required").is_none() {
            schema.insert("required".to_owned(), json!(self.0));
        }
    }
}

/// Restricts a text, or the entries of a list of texts, to some words.
#[derive(Clone, Copy, Debug)]
pub struct OneOf(pub &'static [&'static str]);

impl Transform for OneOf {
    fn transform(&mut self, schema: &mut Schema) {
        let words = json!(self.0);
        match schema.get_mut("items").and_then(|items| items.as_object_mut()) {
            Some(entry) => entry.insert("enum".to_owned(), words),
            None => schema.insert("enum".to_owned(), words),
        };
    }
}
