//! The header fields of a message, as the model has them.

use icu_normalizer::ComposingNormalizerBorrowed;
use jiff::civil;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use mail_parser::parsers::MessageStream;
use mail_parser::{Addr, Address, HeaderValue};
use model::Instant;
use model::email::{EmailAddress, EmailMessage, Importance};

use crate::read::field::{Field, clean, last};
use crate::read::limits::{ADDRESSES, TOKEN_BYTES};
use crate::text::cut_at;
use crate::threads::message_ids;

/// The fields of a message that its header defines. Of a field that occurs several times the last one counts (RFC 8621 4.1.3).
pub fn message(fields: &[Field<'_>]) -> EmailMessage {
    let ids = |name| last(fields, name).map(|field| message_ids(&field.raw())).unwrap_or_default();
    let people = |name| last(fields, name).map(|field| addresses(&field)).unwrap_or_default();
    EmailMessage {
        internet_message_id: last(fields, "message-id").and_then(|field| message_id(&field.raw())),
        in_reply_to: ids("in-reply-to"),
        references: ids("references"),
        subject: last(fields, "subject").map(|field| nfc(&field.text())),
        from: people("from"),
        sender: people("sender").into_iter().next(),
        to: people("to"),
        cc: people("cc"),
        bcc: people("bcc"),
        reply_to: people("reply-to"),
        sent_at: last(fields, "date").and_then(|field| date(&field)),
        importance: importance(fields),
        auto_reply: is_auto_reply(fields),
        list_unsubscribe: last(fields, "list-unsubscribe")
            .map(|field| field.raw())
            .filter(|value| !value.is_empty()),
        ..EmailMessage::default()
    }
}

fn nfc(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// One Message-ID; without brackets too, and without an `@`.
fn message_id(value: &str) -> Option<String> {
    let id = message_ids(value).into_iter().next();
    let word = || value.split(' ').next().filter(|word| !word.is_empty() && word.len() <= TOKEN_BYTES);
    id.or_else(|| word().map(str::to_owned))
}

/// Addresses of a field, groups flattened; at most 1,000. What is behind four times as many separators is not parsed: an address is held in
/// fifty times the memory of the shortest way to write one.
fn addresses(field: &Field<'_>) -> Vec<EmailAddress> {
    let end =
        memchr::memchr3_iter(b',', b';', b':', field.value).nth(4 * ADDRESSES).unwrap_or(field.value.len());
    let short = Field { name: field.name, value: field.value.get(..end).unwrap_or(field.value) };
    let value = short.utf8();
    let HeaderValue::Address(list) = MessageStream::new(&value).parse_address() else { return Vec::new() };
    let addresses: Vec<&Addr<'_>> = match &list {
        Address::List(addresses) => addresses.iter().take(ADDRESSES).collect(),
        Address::Group(groups) => groups.iter().flat_map(|group| &group.addresses).take(ADDRESSES).collect(),
    };
    addresses.into_iter().filter_map(address).collect()
}

/// A name without an address is the address, as far as there is one: `To: root`.
fn address(found: &Addr<'_>) -> Option<EmailAddress> {
    let text = |text: Option<&str>| {
        text.map(|text| cut_at(&clean(text), TOKEN_BYTES).to_owned()).filter(|t| !t.is_empty())
    };
    let name = text(found.name()).map(|name| nfc(&name));
    match (text(found.address()), name) {
        (Some(email), name) => Some(EmailAddress { name, email }),
        (None, Some(email)) => Some(EmailAddress { name: None, email }),
        (None, None) => None,
    }
}

/// None for what is no date, or none of the years 1 to 9999. RFC 5322 with a wrong weekday too; what else was written before, mail-parser
/// knows.
fn date(field: &Field<'_>) -> Option<Instant> {
    let parser = DateTimeParser::new().relaxed_weekday(true);
    let instant = parser.parse_timestamp(field.raw()).ok().or_else(|| odd_date(&field.utf8()));
    instant.filter(is_in_years).map(Instant::from)
}

fn odd_date(value: &[u8]) -> Option<Timestamp> {
    if has_odd_year(value) {
        return None;
    }
    let HeaderValue::DateTime(date) = MessageStream::new(value).parse_date() else { return None };
    let part = |part: u8| i8::try_from(part).ok();
    // A leap second is the last one of its minute.
    let second = part(date.second)?.min(if date.second == 60 { 59 } else { i8::MAX });
    let year = i16::try_from(date.year).ok()?;
    let local = civil::DateTime::new(
        year,
        part(date.month)?,
        part(date.day)?,
        part(date.hour)?,
        part(date.minute)?,
        second,
        0,
    );
    let utc = TimeZone::UTC.to_timestamp(local.ok()?).ok()?;
    if date.tz_hour > 23 || date.tz_minute > 59 {
        return None;
    }
    let offset = SignedDuration::from_mins(i64::from(date.tz_hour) * 60 + i64::from(date.tz_minute));
    let instant = if date.tz_before_gmt { utc.checked_add(offset) } else { utc.checked_sub(offset) };
    instant.ok()
}

/// Four digits that begin with 0, or more than four: mail-parser takes them for a year of two digits, or for their beginning. The zone,
/// which can be four digits too, comes after the time.
fn has_odd_year(date: &[u8]) -> bool {
    let day = date.split(|byte| *byte == b':').next().unwrap_or_default();
    day.split(|byte| !byte.is_ascii_digit())
        .any(|word| word.len() > 4 || word.len() == 4 && word.starts_with(b"0"))
}

fn is_in_years(instant: &Timestamp) -> bool {
    let year = TimeZone::UTC.to_datetime(*instant).year();
    (1..=9999).contains(&year)
}

/// Importance (RFC 2156) before the X-Priority of mail programs, 1 to 5, before Priority (RFC 2156).
fn importance(fields: &[Field<'_>]) -> Importance {
    let value = |name| last(fields, name).map(|field| field.raw().to_ascii_lowercase());
    if let Some(value) = value("importance") {
        match value.as_str() {
            "high" => return Importance::High,
            "low" => return Importance::Low,
            _ => (),
        }
    }
    if let Some(value) = value("x-priority") {
        match value.as_bytes().first() {
            Some(b'1' | b'2') => return Importance::High,
            Some(b'4' | b'5') => return Importance::Low,
            _ => (),
        }
    }
    match value("priority").as_deref() {
        Some("urgent") => Importance::High,
        Some("non-urgent") => Importance::Low,
        _ => Importance::Normal,
    }
}

/// By RFC 3834 5 (every Auto-Submitted but `no`) and by the fields that programs used before it.
/// Contract silent: a report (RFC 6522) says so of itself too, and is none: it is reported as a bounce.
fn is_auto_reply(fields: &[Field<'_>]) -> bool {
    let value = |name| last(fields, name).map(|field| field.raw().to_ascii_lowercase());
    let is_report = last(fields, "content-type")
        .and_then(|field| field.parameters())
        .is_some_and(|kind| kind.ctype() == "multipart" && kind.subtype() == Some("report"));
    if is_report {
        return false;
    }
    let is_submitted = value("auto-submitted").is_some_and(|value| {
        let keyword = value.split([';', ' ', '(']).next().unwrap_or_default();
        !keyword.is_empty() && keyword != "no"
    });
    let says_so = |name| value(name).is_some_and(|value| value != "no");
    let precedence = value("precedence");
    is_submitted
        || says_so("x-autoreply")
        || says_so("x-autorespond")
        || matches!(precedence.as_deref(), Some("auto_reply" | "auto-reply"))
}
