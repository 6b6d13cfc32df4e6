//! The search language of `q`. A term that the fake does not know is refused: Google would take it for a word.

use crate::google::errors::ApiError;
use crate::google::mail::headers::MailHead;
use crate::google::mail::mailbox::{MailRecord, Mailbox};
use crate::google::mail::{invalid, mime};

/// A search.
pub struct MailQuery {
    terms: Vec<QueryTerm>,
}

struct QueryTerm {
    is_negated: bool,
    condition: TermCondition,
}

enum TermCondition {
    Label(String),
    LacksLabel(String),
    /// The message is to be sent later.
    Scheduled,
    Anywhere,
    /// Words that follow each other in one field, or in any where the field is empty.
    Words(&'static str, Vec<String>),
    After(i64),
    Before(i64),
    HasAttachment,
    MessageId(String),
    Larger(usize),
    Smaller(usize),
}

/// The fields that words are looked for in.
const FIELDS: [&str; 6] = ["from", "to", "cc", "bcc", "subject", "filename"];

impl MailQuery {
    /// Parses a search.
    ///
    /// # Errors
    /// A term is unknown, or has another form: 400.
    pub fn parse(text: &str, mailbox: &Mailbox) -> Result<MailQuery, ApiError> {
        let unknown = |term: &str| invalid(&format!("The fake does not know the term {term} of q."));
        let (mut terms, mut rest) = (Vec::new(), text.trim_start());
        while !rest.is_empty() {
            let (term, after) = next_term(rest).ok_or_else(|| unknown(rest))?;
            rest = after.trim_start();
            let (is_negated, plain) = match term.strip_prefix('-') {
                Some(plain) => (true, plain),
                None => (false, term),
            };
            let condition = read_condition(plain, mailbox).ok_or_else(|| unknown(term))?;
            terms.push(QueryTerm { is_negated, condition });
        }
        Ok(MailQuery { terms })
    }

    /// Whether the search reaches into the folder with this label, which others leave out.
    pub fn reaches(&self, label: &str) -> bool {
        self.terms.iter().any(|term| match &term.condition {
            TermCondition::Anywhere => !term.is_negated,
            TermCondition::Label(one) => !term.is_negated && one == label,
            _ => false,
        })
    }

    pub fn matches(&self, message: &MailRecord, now_ms: i64) -> bool {
        let is_of_head = |term: &QueryTerm| {
            matches!(term.condition, TermCondition::Words(..) | TermCondition::MessageId(_))
        };
        let has_head = self.terms.iter().any(is_of_head);
        let head = if has_head { MailHead::parse(&message.raw) } else { MailHead::default() };
        self.terms.iter().all(|term| term.condition.holds(message, &head, now_ms) != term.is_negated)
    }
}

/// The first term and what follows: spaces and brackets inside quotes or round brackets belong to it.
fn next_term(text: &str) -> Option<(&str, &str)> {
    let (mut is_quoted, mut depth) = (false, 0_u32);
    for (at, character) in text.char_indices() {
        match character {
            '"' => is_quoted = !is_quoted,
            '(' if !is_quoted => depth += 1,
            ')' if !is_quoted => depth = depth.checked_sub(1)?,
            _ if character.is_whitespace() && !is_quoted && depth == 0 => return text.split_at_checked(at),
            _ => {}
        }
    }
    (!is_quoted && depth == 0).then_some((text, ""))
}

fn read_condition(term: &str, mailbox: &Mailbox) -> Option<TermCondition> {
    let words = |text: &str| Some(split_words(text)).filter(|words| !words.is_empty());
    if term.starts_with('"') {
        return Some(TermCondition::Words("", words(term)?));
    }
    let Some((key, value)) = term.split_once(':') else {
        let is_operator = term == "OR" || term == "AND" || term.contains(['{', '}', '(', ')', '"', '*', '+']);
        return (!is_operator).then(|| words(term)).flatten().map(|words| TermCondition::Words("", words));
    };
    let plain = value.trim_matches(['"', '(', ')']);
    match (key.to_lowercase().as_str(), plain.to_lowercase().as_str()) {
        ("in", "anywhere") => Some(TermCondition::Anywhere),
        ("in", "scheduled") => Some(TermCondition::Scheduled),
        ("in", "draft" | "drafts") => Some(TermCondition::Label("DRAFT".to_owned())),
        ("in", "chats") => Some(TermCondition::Label("CHAT".to_owned())),
        ("in", folder @ ("inbox" | "sent" | "spam" | "trash")) => {
            Some(TermCondition::Label(folder.to_uppercase()))
        }
        ("is", "read") => Some(TermCondition::LacksLabel("UNREAD".to_owned())),
        ("is", state @ ("unread" | "starred" | "important")) => {
            Some(TermCondition::Label(state.to_uppercase()))
        }
        ("category", kind) => {
            let id = format!("CATEGORY_{}", kind.to_uppercase());
            mailbox.labels.contains_key(&id).then_some(TermCondition::Label(id))
        }
        ("label", name) => {
            let is_named =
                |label: &str| label.to_lowercase().replace([' ', '/'], "-") == name.replace([' ', '/'], "-");
            let found = mailbox.labels.iter().find(|(_, label)| is_named(&label.name));
            found.map(|(id, _)| TermCondition::Label(id.clone()))
        }
        ("has", "attachment") => Some(TermCondition::HasAttachment),
        // Days would be those of the Pacific zone.
        ("after", seconds) => seconds.parse().ok().map(TermCondition::After),
        ("before", seconds) => seconds.parse().ok().map(TermCondition::Before),
        ("larger", bytes) => bytes.parse().ok().map(TermCondition::Larger),
        ("smaller", bytes) => bytes.parse().ok().map(TermCondition::Smaller),
        ("rfc822msgid", _) => Some(TermCondition::MessageId(plain.trim_matches(['<', '>']).to_owned())),
        (key, _) => {
            let field = FIELDS.iter().find(|field| **field == key)?;
            Some(TermCondition::Words(field, words(value)?))
        }
    }
}

fn split_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether the words of a text have these among them, one after the other.
fn has_words(text: &str, wanted: &[String]) -> bool {
    split_words(text).windows(wanted.len()).any(|window| window == wanted)
}

impl TermCondition {
    fn holds(&self, message: &MailRecord, head: &MailHead, now_ms: i64) -> bool {
        match self {
            TermCondition::Label(label) => message.has_label(label),
            TermCondition::LacksLabel(label) => !message.has_label(label),
            TermCondition::Scheduled => message.internal_ms > now_ms && message.has_label("SENT"),
            TermCondition::Anywhere => true,
            TermCondition::After(seconds) => message.internal_ms / 1000 > *seconds,
            TermCondition::Before(seconds) => message.internal_ms / 1000 < *seconds,
            TermCondition::Larger(bytes) => message.raw.len() > *bytes,
            TermCondition::Smaller(bytes) => message.raw.len() < *bytes,
            TermCondition::HasAttachment => !mime::searchable_text(&message.raw).1.is_empty(),
            TermCondition::MessageId(id) => head.message_id == *id && message.indexed_ms <= now_ms,
            TermCondition::Words(field, words) => {
                let mut texts = field_texts(message, head, field).into_iter();
                texts.any(|text| has_words(&text, words))
            }
        }
    }
}

/// The texts of a field; of all fields and of the message itself where the field is empty.
fn field_texts(message: &MailRecord, head: &MailHead, field: &str) -> Vec<String> {
    // Names stand beside addresses: the field as it is written, decoded.
    let written = |name: &str| -> Vec<String> {
        let head = mime::PayloadDetail::Metadata(Some(vec![name.to_owned()]));
        let told = mime::payload(&message.raw, &head, &mut |_| String::new());
        let fields = told["headers"].as_array().into_iter().flatten();
        fields.filter_map(|field| field["value"].as_str()).map(str::to_owned).collect()
    };
    match field {
        "subject" => vec![head.subject.clone()],
        "filename" => mime::searchable_text(&message.raw).1,
        "" => {
            let (text, names) = mime::searchable_text(&message.raw);
            let fields = FIELDS.iter().filter(|field| **field != "filename").flat_map(|field| written(field));
            fields.chain([text]).chain(names).collect()
        }
        field => written(field),
    }
}

#[cfg(test)]
mod tests {
    use super::MailQuery;
    use crate::google::mail::mailbox::{Mailbox, NewMail};

    fn mailbox() -> Mailbox {
        let mut mailbox = Mailbox::default();
        let raw = b"From: Ann Lee <ann@x.test>\r\nSubject: Lunch today\r\nMessage-ID: <1@x.test>\r\n\r\nAt noon\r\n";
        let labels = vec!["INBOX".to_owned(), "UNREAD".to_owned()];
        mailbox.add(NewMail { raw: raw.to_vec(), labels, internal_ms: 5_000, ..NewMail::default() });
        mailbox
    }

    #[test]
    fn known_terms_find_and_others_are_refused() {
        let mailbox = mailbox();
        let message = mailbox.messages.values().next().expect("a message");
        let finds = |text: &str| {
            MailQuery::parse(text, &mailbox)
                .unwrap_or_else(|error| panic!("{text}: {error:?}"))
                .matches(message, 9_000)
        };
        for text in [
            "\"lunch\" \"noon\"",
            "in:inbox is:unread -is:starred -in:trash -in:chats -in:scheduled",
            "from:ann@x.test subject:\"lunch today\"",
            "after:4 before:6",
            "rfc822msgid:<1@x.test>",
        ] {
            assert!(finds(text), "{text}");
        }
        for text in ["\"unch\"", "\"today lunch\"", "is:read", "after:5", "rfc822msgid:2@x.test"] {
            assert!(!finds(text), "{text}");
        }
        for text in ["is:funny", "after:2026/03/01", "a OR b", "{a b}", "\"open", "size:5", "label:none"] {
            assert!(MailQuery::parse(text, &mailbox).is_err(), "{text}");
        }
    }
}
