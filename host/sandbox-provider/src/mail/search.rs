//! The query language of `q`, and the messages that match.
//!
//! Parts are separated by spaces and all must match; `-` before one negates it, `"…"` keeps words together. A part is a word
//! (somewhere in the subject, the people, the names of files or the text), or one of `from:` `to:` (cc and bcc, too) `subject:`
//! `in:<folder>` `label:<label>` `is:unread|read|starred|answered|draft` `has:file` `after:` `before:` with a day such as
//! `2026-03-01` or an instant.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use model::email::EmailAddress;

use crate::mail::types::Message;
use crate::problem::Problem;
use crate::times::{midnight_ms, parse_instant};

/// The longest query.
const MAX_QUERY: usize = 1_000;

/// One condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Word(String),
    From(String),
    To(String),
    Subject(String),
    In(String),
    Label(String),
    Unread(bool),
    Starred(bool),
    Answered,
    Draft,
    HasFile,
    /// Received at this moment or later.
    After(i64),
    Before(i64),
    MessageId(String),
}

/// A condition, perhaps negated.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    pub is_negated: bool,
    pub test: Test,
}

impl From<Test> for Term {
    fn from(test: Test) -> Self {
        Term { is_negated: false, test }
    }
}

impl Term {
    pub fn takes(&self, message: &Message) -> bool {
        self.test.holds(message) != self.is_negated
    }
}

impl Test {
    fn holds(&self, message: &Message) -> bool {
        let body = &message.body;
        match self {
            Test::Word(word) => message.search.contains(word),
            Test::From(who) => body.from.iter().any(|person| is(person, who)),
            Test::To(who) => {
                [&body.to, &body.cc, &body.bcc].into_iter().flatten().any(|person| is(person, who))
            }
            Test::Subject(word) => {
                body.subject.as_ref().is_some_and(|subject| subject.to_lowercase().contains(word))
            }
            Test::In(folder) => body.folder_ids.contains(folder),
            Test::Label(label) => body.label_ids.contains(label),
            Test::Unread(wanted) => body.unread == *wanted,
            Test::Starred(wanted) => body.starred == *wanted,
            Test::Answered => body.answered,
            Test::Draft => body.draft,
            Test::HasFile => body.has_attachments,
            Test::After(ms) => body.received_at.as_millis() >= *ms,
            Test::Before(ms) => body.received_at.as_millis() < *ms,
            Test::MessageId(id) => body.internet_message_id.as_ref() == Some(id),
        }
    }
}

fn is(person: &EmailAddress, who: &str) -> bool {
    let name = person.name.as_ref().map(|name| name.to_lowercase());
    person.email.to_lowercase().contains(who) || name.is_some_and(|name| name.contains(who))
}

/// The words of a text, without operators.
pub fn words(text: &str) -> Result<Vec<Term>, Problem> {
    ensure_bounded("text", text)?;
    Ok(text.split_whitespace().map(|word| Test::Word(word.to_lowercase()).into()).collect())
}

/// Reads `q`.
pub fn query(text: &str) -> Result<Vec<Term>, Problem> {
    ensure_bounded("q", text)?;
    parts(text).into_iter().map(|part| term(&part)).collect()
}

fn ensure_bounded(field: &str, text: &str) -> Result<(), Problem> {
    match text.len() > MAX_QUERY {
        true => Err(Problem::field(field, format!("{field} must be at most {MAX_QUERY} bytes"))),
        false => Ok(()),
    }
}

/// A part as it is written, without its quotes.
#[derive(Default)]
struct SearchPart {
    text: String,
    /// The offset of the first quote: quoted text is no operator.
    quoted_from: Option<usize>,
}

fn parts(query: &str) -> Vec<SearchPart> {
    let mut parts = vec![SearchPart::default()];
    let mut is_quoted = false;
    for c in query.chars() {
        let Some(part) = parts.last_mut() else { break };
        match c {
            '"' => {
                is_quoted = !is_quoted;
                part.quoted_from.get_or_insert(part.text.len());
            }
            c if c.is_whitespace() && !is_quoted => parts.push(SearchPart::default()),
            c => part.text.extend(c.to_lowercase()),
        }
    }
    parts.retain(|part| !part.text.is_empty());
    parts
}

fn term(part: &SearchPart) -> Result<Term, Problem> {
    let plain = part.quoted_from.unwrap_or(part.text.len());
    let (is_negated, text) = match part.text.strip_prefix('-').filter(|rest| !rest.is_empty() && plain > 0) {
        Some(rest) => (true, rest),
        None => (false, part.text.as_str()),
    };
    let plain = plain.saturating_sub(usize::from(is_negated));
    let operator = text.split_once(':').filter(|(name, _)| name.len() < plain);
    let test = match operator {
        Some((name, value)) => test(name, value)?.unwrap_or_else(|| Test::Word(text.to_owned())),
        None => Test::Word(text.to_owned()),
    };
    Ok(Term { is_negated, test })
}

/// None: the name is not an operator, and the whole part is a word.
fn test(name: &str, value: &str) -> Result<Option<Test>, Problem> {
    let text = value.to_owned();
    let wrong = |what: &str| Err(Problem::field("q", format!("{name}: {what}")));
    Ok(Some(match (name, value) {
        ("from", _) => Test::From(text),
        ("to", _) => Test::To(text),
        ("subject", _) => Test::Subject(text),
        ("in", _) => Test::In(text),
        ("label", _) => Test::Label(text),
        ("is", "unread") => Test::Unread(true),
        ("is", "read") => Test::Unread(false),
        ("is", "starred") => Test::Starred(true),
        ("is", "answered") => Test::Answered,
        ("is", "draft") => Test::Draft,
        ("is", _) => return wrong("must be unread, read, starred, answered or draft"),
        ("has", "file") => Test::HasFile,
        ("has", _) => return wrong("must be file"),
        ("after", _) => Test::After(moment(value)?),
        ("before", _) => Test::Before(moment(value)?),
        _ => return Ok(None),
    }))
}

fn moment(text: &str) -> Result<i64, Problem> {
    match text.parse::<Date>() {
        Ok(day) if text.len() == 10 => Ok(midnight_ms(day, &TimeZone::UTC)),
        // The `T` and `Z` of an instant have to be upper case.
        _ => parse_instant(&text.to_uppercase(), "q"),
    }
}

#[cfg(test)]
mod tests {
    use crate::mail::search::{Term, Test, query};

    #[test]
    fn queries() {
        let text = |text: &str| text.to_owned();
        let found = query("Budget -from:Bob subject:\"Q3 plan\" \"is:unread\" http://x is:starred").unwrap();
        let expected = [
            Test::Word(text("budget")).into(),
            Term { is_negated: true, test: Test::From(text("bob")) },
            Test::Subject(text("q3 plan")).into(),
            Test::Word(text("is:unread")).into(),
            Test::Word(text("http://x")).into(),
            Test::Starred(true).into(),
        ];
        assert_eq!(found, expected);
        assert_eq!(query("after:2026-03-01").unwrap(), [Test::After(1_772_323_200_000).into()]);
        assert_eq!(query("before:2026-03-01T00:00:00Z").unwrap(), [Test::Before(1_772_323_200_000).into()]);
        assert_eq!(query(" - \"\" ").unwrap(), [Test::Word(text("-")).into()]);
        for wrong in ["is:blue", "has:wings", "after:soon"] {
            assert_eq!(query(wrong).unwrap_err().field.as_deref(), Some("q"), "{wrong}");
        }
    }
}
