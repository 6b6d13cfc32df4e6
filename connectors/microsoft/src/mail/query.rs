//! Searches in Graph's terms: words in its query language (KQL), or conditions as a filter. Graph takes one or the other, never both.

use connector_sdk::{Failure, Outcome};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use model::Instant;
use model::wire::email::MessageSearch;

use crate::mail::categories::{label_id, name_of};
use crate::mail::message::received_at;
use crate::mail::native::Message;
use crate::odata::filter::quoted;

/// Words of a text that are looked for.
const MAX_WORDS: usize = 50;
/// Bytes of a query.
const MAX_QUERY_BYTES: usize = 2_000;
/// Words of the query language. In quotation marks they are words as others.
const OPERATORS: [&str; 7] = ["AND", "OR", "NOT", "NEAR", "ONEAR", "WORDS", "XRANK"];
/// A time before all messages: the property of the order has to be in the filter, before the others.
const BEGIN: &str = "receivedDateTime gt 1970-01-01T00:00:00Z";

/// A search as Graph takes it.
#[derive(Clone, Debug, PartialEq)]
pub enum MailQuery {
    /// A value of `$search`. Its answer is in the order of relevance or of time, and each condition is checked here once more.
    Words(String),
    /// A value of `$filter`, with the order from new to old.
    Ordered(String),
    /// A value of `$filter` that Graph takes with no order.
    Unordered(String),
}

/// Returns the query. `until`: only messages of this time and before, for the next page of an ordered list.
pub fn build(args: &MessageSearch, until: Option<Instant>) -> Outcome<MailQuery> {
    let native = args.native_query.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let text = args.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
    if native.or(text).is_some_and(|text| text.len() > MAX_QUERY_BYTES) {
        return Err(Failure::invalid(format!("the query is longer than {MAX_QUERY_BYTES} bytes")));
    }
    let label = args.label.as_deref().map(name_of).transpose()?;
    if let Some(words) = native.map(str::to_owned).or_else(|| text.map(words)) {
        return Ok(MailQuery::Words(search_value(&words, args)));
    }
    let mut conditions = vec![match args.received_after {
        Some(at) => format!("receivedDateTime ge {at}"),
        None => BEGIN.to_owned(),
    }];
    match (until, args.received_before) {
        (Some(until), Some(before)) if until < before => {
            conditions.push(format!("receivedDateTime le {until}"))
        }
        (_, Some(before)) => conditions.push(format!("receivedDateTime lt {before}")),
        (Some(until), None) => conditions.push(format!("receivedDateTime le {until}")),
        (None, None) => {}
    }
    conditions.extend(args.unread.map(|is_unread| format!("isRead eq {}", !is_unread)));
    conditions.extend(args.starred.map(|is_starred| {
        let operator = if is_starred { "eq" } else { "ne" };
        format!("flag/flagStatus {operator} 'flagged'")
    }));
    let Some(label) = label else { return Ok(MailQuery::Ordered(conditions.join(" and "))) };
    conditions.push(format!("categories/any(c:c eq {})", quoted(label)));
    Ok(MailQuery::Unordered(conditions.join(" and ")))
}

/// Words that all must occur. What is no plain word is in quotation marks: it could be an operator or a property.
fn words(text: &str) -> String {
    let word = |word: &str| -> Option<String> {
        let is_plain = word.chars().all(char::is_alphanumeric) && !OPERATORS.contains(&word);
        let bare: String = word.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        match is_plain {
            true => Some(bare),
            false => Some(format!("\"{bare}\"")).filter(|_| bare.chars().any(char::is_alphanumeric)),
        }
    };
    let words: Vec<String> = text.split_whitespace().take(MAX_WORDS).filter_map(word).collect();
    words.join(" ")
}

/// The value of `$search`: in quotation marks, with those inside escaped. Days of the query language are days of a zone that is not known:
/// one more on both sides.
fn search_value(words: &str, args: &MessageSearch) -> String {
    let mut terms = vec![words.to_owned()];
    terms.extend(args.received_after.and_then(|at| us_day(at, -1)).map(|day| format!("received>={day}")));
    terms.extend(args.received_before.and_then(|at| us_day(at, 1)).map(|day| format!("received<={day}")));
    if terms.len() > 1 {
        // The words may have an operator among them.
        terms[0] = format!("({words})");
    }
    let escaped = terms.join(" ").replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{escaped}\"")
}

/// The day that is this many days after that of a time, as `MM/DD/YYYY`.
fn us_day(at: Instant, days: i64) -> Option<String> {
    let at: Timestamp = at.timestamp();
    let day = at.to_zoned(TimeZone::UTC).date().checked_add(Span::new().days(days)).ok()?;
    Some(format!("{:02}/{:02}/{:04}", day.month(), day.day(), day.year()))
}

/// Whether a message fits the conditions beside the words.
pub fn is_match(message: &Message, args: &MessageSearch) -> bool {
    let received = received_at(message);
    let has_label = |label: &String| message.categories.iter().flatten().any(|name| label_id(name) == *label);
    let is_starred = message.flag.as_ref().and_then(|flag| flag.flag_status.as_deref()) == Some("flagged");
    received.is_none_or(|at| {
        args.received_after.is_none_or(|after| at >= after)
            && args.received_before.is_none_or(|before| at < before)
    }) && args.unread.is_none_or(|is_unread| message.is_read == Some(!is_unread))
        && args.starred.is_none_or(|wanted| wanted == is_starred)
        && args.label.as_ref().is_none_or(has_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Option<Instant> {
        Some(text.parse().unwrap())
    }

    fn of_text(text: &str) -> MessageSearch {
        MessageSearch { text: Some(text.to_owned()), ..MessageSearch::default() }
    }

    fn searched(args: &MessageSearch) -> String {
        match build(args, None).unwrap() {
            MailQuery::Words(value) => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn words_are_no_operators() {
        assert_eq!(searched(&of_text("lunch  Gr\u{fc}\u{df}e")), "\"lunch Gr\u{fc}\u{df}e\"");
        let odd = searched(&of_text("this OR from:boss \"x\\y\" ()"));
        assert_eq!(odd, r#""this \"OR\" \"from:boss\" \"xy\"""#);
        let native =
            MessageSearch { native_query: Some("from:\"Ann B\" OR a\\b".to_owned()), ..of_text("unused") };
        assert_eq!(searched(&native), r#""from:\"Ann B\" OR a\\b""#);
        assert!(build(&of_text(&"long ".repeat(500)), None).is_err());
    }

    /// Days in a zone that nobody names: one more on both sides.
    #[test]
    fn days_of_a_search_are_wider_than_the_times() {
        let args = MessageSearch {
            received_after: at("2026-03-01T00:30:00Z"),
            received_before: at("2026-12-31T23:00:00Z"),
            ..of_text("a")
        };
        assert_eq!(searched(&args), "\"(a) received>=02/28/2026 received<=01/01/2027\"");
    }

    #[test]
    fn conditions_are_a_filter_led_by_the_property_of_the_order() {
        let filter = |args: &MessageSearch, until| match build(args, until).unwrap() {
            MailQuery::Ordered(filter) | MailQuery::Unordered(filter) => filter,
            MailQuery::Words(words) => panic!("{words}"),
        };
        let args = MessageSearch { unread: Some(true), starred: Some(false), ..MessageSearch::default() };
        let expected = format!("{BEGIN} and isRead eq false and flag/flagStatus ne 'flagged'");
        assert_eq!(filter(&args, None), expected);
        let between = MessageSearch {
            received_after: at("2026-03-01T00:00:00Z"),
            received_before: at("2026-03-02T00:00:00Z"),
            ..MessageSearch::default()
        };
        let start = "receivedDateTime ge 2026-03-01T00:00:00.000Z and receivedDateTime";
        assert_eq!(filter(&between, None), format!("{start} lt 2026-03-02T00:00:00.000Z"));
        let until = filter(&between, at("2026-03-01T12:00:00Z"));
        assert_eq!(until, format!("{start} le 2026-03-01T12:00:00.000Z"));
        let labelled =
            MessageSearch { label: Some("category:O'Hara".to_owned()), ..MessageSearch::default() };
        assert_eq!(
            build(&labelled, None).unwrap(),
            MailQuery::Unordered(format!("{BEGIN} and categories/any(c:c eq 'O''Hara')"))
        );
        let foreign = MessageSearch { label: Some("Label_1".to_owned()), ..MessageSearch::default() };
        assert!(build(&foreign, None).is_err());
    }
}
