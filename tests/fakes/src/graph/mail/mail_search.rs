//! The subset of KQL that `$search` of messages takes. A property that the fake does not know is refused: Exchange would take it for a
//! word.

use chrono::{Duration, NaiveDate};

use crate::graph::errors::GraphError;

/// Properties that hold words.
const WORD_PROPERTIES: [&str; 9] =
    ["from", "to", "cc", "bcc", "participants", "recipients", "subject", "body", "attachment"];

/// A search of messages.
#[derive(Debug)]
pub struct MailSearch(SearchNode);

/// The texts and values of a message that a search looks into.
#[derive(Clone, Debug, Default)]
pub struct SearchSubject {
    /// Texts by their property: `from`, `to`, `cc`, `bcc`, `subject`, `body`, `attachment`.
    pub texts: Vec<SearchText>,
    pub received: NaiveDate,
    pub sent: NaiveDate,
    pub is_read: bool,
    pub has_attachments: bool,
    pub importance: String,
    pub categories: Vec<String>,
    pub bytes: usize,
}

/// A text of a message.
#[derive(Clone, Debug)]
pub struct SearchText {
    pub property: &'static str,
    pub text: String,
}

#[derive(Debug)]
enum SearchNode {
    And(Vec<SearchNode>),
    Or(Vec<SearchNode>),
    Not(Box<SearchNode>),
    /// Words that follow each other; the last one may be the beginning of a word. In any text where the property is empty.
    Words {
        property: String,
        words: Vec<String>,
        is_prefix: bool,
    },
    /// Whole days, the last one with them.
    Days {
        property: String,
        first: NaiveDate,
        last: NaiveDate,
    },
    IsRead(bool),
    HasAttachments(bool),
    Importance(String),
    Category(String),
    Larger(usize),
}

impl MailSearch {
    /// Parses the value of `$search`, which stands in quotes.
    ///
    /// # Errors
    /// There are no quotes, or the query is not of the subset: 400.
    pub fn parse(text: &str) -> Result<MailSearch, GraphError> {
        let inside =
            text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).filter(|_| text.len() > 1);
        let inside = inside.ok_or_else(|| invalid(&format!("The query {text} does not stand in quotes.")))?;
        let plain = unescaped(inside).ok_or_else(|| invalid("An unescaped quote ends the query."))?;
        let mut parser = SearchParser { tokens: split(&plain)?, at: 0 };
        let node = parser.read_or()?;
        match parser.peek() {
            None => Ok(MailSearch(node)),
            Some(rest) => Err(invalid(&format!("Unexpected '{rest}'."))),
        }
    }

    pub fn matches(&self, subject: &SearchSubject) -> bool {
        self.0.holds(subject)
    }
}

impl SearchNode {
    fn holds(&self, of: &SearchSubject) -> bool {
        match self {
            SearchNode::And(all) => all.iter().all(|node| node.holds(of)),
            SearchNode::Or(all) => all.iter().any(|node| node.holds(of)),
            SearchNode::Not(node) => !node.holds(of),
            SearchNode::Days { property, first, last } => {
                let day = if property == "sent" { of.sent } else { of.received };
                (*first..=*last).contains(&day)
            }
            SearchNode::IsRead(is_read) => of.is_read == *is_read,
            SearchNode::HasAttachments(has) => of.has_attachments == *has,
            SearchNode::Importance(word) => of.importance == *word,
            SearchNode::Category(name) => of.categories.iter().any(|one| one.eq_ignore_ascii_case(name)),
            SearchNode::Larger(bytes) => of.bytes > *bytes,
            SearchNode::Words { property, words, is_prefix } => {
                let mut texts = of.texts.iter().filter(|text| is_of(text.property, property));
                texts.any(|text| has_words(&text.text, words, *is_prefix))
            }
        }
    }
}

/// Whether a search in `wanted` looks into the texts of a property.
fn is_of(property: &str, wanted: &str) -> bool {
    match wanted {
        "" => true,
        "recipients" => ["to", "cc", "bcc"].contains(&property),
        "participants" => ["from", "to", "cc", "bcc"].contains(&property),
        wanted => property == wanted,
    }
}

fn words_of(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether the words of a text have these among them, one after the other.
fn has_words(text: &str, wanted: &[String], is_prefix: bool) -> bool {
    words_of(text).windows(wanted.len()).any(|window| {
        let last = wanted.len() - 1;
        let mut pairs = window.iter().zip(wanted).enumerate();
        pairs.all(|(at, (own, word))| own == word || (is_prefix && at == last && own.starts_with(word)))
    })
}

/// The tokens of a query and the place of the next one.
struct SearchParser {
    tokens: Vec<String>,
    at: usize,
}

impl SearchParser {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn read_or(&mut self) -> Result<SearchNode, GraphError> {
        let mut all = vec![self.read_and()?];
        while self.peek() == Some("OR") {
            self.at += 1;
            all.push(self.read_and()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { SearchNode::Or(all) })
    }

    /// Terms that stand side by side must all hold.
    fn read_and(&mut self) -> Result<SearchNode, GraphError> {
        let mut all = Vec::new();
        loop {
            match self.peek() {
                None | Some("OR" | ")") => break,
                Some("AND") => self.at += 1,
                Some(_) => all.push(self.read_one()?),
            }
        }
        match all.len() {
            0 => Err(invalid("A term is missing.")),
            1 => Ok(all.remove(0)),
            _ => Ok(SearchNode::And(all)),
        }
    }

    fn read_one(&mut self) -> Result<SearchNode, GraphError> {
        let token = self.peek().unwrap_or_default().to_owned();
        self.at += 1;
        match token.as_str() {
            "" => Err(invalid("A term is missing.")),
            "NOT" => Ok(SearchNode::Not(Box::new(self.read_one()?))),
            "(" => {
                let node = self.read_or()?;
                self.at += 1;
                match self.tokens.get(self.at - 1).map(String::as_str) {
                    Some(")") => Ok(node),
                    _ => Err(invalid("')' is missing.")),
                }
            }
            _ => match token.strip_prefix('-') {
                Some(term) => Ok(SearchNode::Not(Box::new(read_term(term)?))),
                None => read_term(&token),
            },
        }
    }
}

fn read_term(term: &str) -> Result<SearchNode, GraphError> {
    let unknown = || invalid(&format!("The fake does not know the term {term} of $search."));
    if term.starts_with('"') {
        return read_words("", term).ok_or_else(unknown);
    }
    let Some(at) = term.find([':', '<', '>', '=']) else {
        return read_words("", term).ok_or_else(unknown);
    };
    let (name, rest) = term.split_at_checked(at).ok_or_else(unknown)?;
    let name = name.to_lowercase();
    let operator = ["<=", ">=", "<>", "<", ">", "=", ":"].into_iter().find(|one| rest.starts_with(one));
    let operator = operator.ok_or_else(unknown)?;
    let value = rest.strip_prefix(operator).unwrap_or_default();
    let plain = value.trim_matches('"').to_lowercase();
    let is_true = || match plain.as_str() {
        "true" | "1" | "yes" => Some(true),
        "false" | "0" | "no" => Some(false),
        _ => None,
    };
    let node = match (name.as_str(), operator) {
        ("received" | "sent", operator) => read_days(&name, operator, &plain),
        ("isread", ":" | "=") => is_true().map(SearchNode::IsRead),
        ("hasattachment" | "hasattachments", ":" | "=") => is_true().map(SearchNode::HasAttachments),
        ("importance", ":" | "=") => Some(SearchNode::Importance(plain.clone())),
        ("category", ":" | "=") => Some(SearchNode::Category(plain.clone())),
        ("kind", ":" | "=") if plain == "email" => Some(SearchNode::And(Vec::new())),
        ("size", ">") => plain.parse().ok().map(SearchNode::Larger),
        (property, ":" | "=") if WORD_PROPERTIES.contains(&property) => read_words(property, value),
        _ => None,
    };
    node.ok_or_else(unknown)
}

fn read_words(property: &str, text: &str) -> Option<SearchNode> {
    let is_prefix = text.trim_end_matches('"').ends_with('*');
    let words = words_of(text);
    (!words.is_empty()).then(|| SearchNode::Words { property: property.to_owned(), words, is_prefix })
}

/// Days in the form of the United States; times of the day are refused, because Exchange does not heed them.
fn read_days(property: &str, operator: &str, value: &str) -> Option<SearchNode> {
    let parse = |text: &str| NaiveDate::parse_from_str(text, "%m/%d/%Y").ok();
    let (first, last) = match (operator, value.split_once("..")) {
        (":" | "=", Some((first, last))) => (parse(first)?, parse(last)?),
        (":" | "=", None) => (parse(value)?, parse(value)?),
        (">=", None) => (parse(value)?, NaiveDate::MAX),
        (">", None) => (parse(value)? + Duration::days(1), NaiveDate::MAX),
        ("<=", None) => (NaiveDate::MIN, parse(value)?),
        ("<", None) => (NaiveDate::MIN, parse(value)? - Duration::days(1)),
        _ => return None,
    };
    Some(SearchNode::Days { property: property.to_owned(), first, last })
}

fn invalid(message: &str) -> GraphError {
    GraphError::new(400, "BadRequest", &format!("Syntax error: {message}"))
}

/// The query without backslashes before quotes and backslashes; none where a quote has no backslash.
fn unescaped(text: &str) -> Option<String> {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => plain.push(characters.next()?),
            '"' => return None,
            other => plain.push(other),
        }
    }
    Some(plain)
}

/// The tokens of a query: brackets, and terms in which quoted texts have spaces.
fn split(text: &str) -> Result<Vec<String>, GraphError> {
    let mut tokens: Vec<String> = Vec::new();
    let mut term = String::new();
    let mut is_quoted = false;
    for character in text.chars() {
        let is_end = !is_quoted && (character.is_whitespace() || character == '(' || character == ')');
        if !is_end {
            is_quoted ^= character == '"';
            term.push(character);
            continue;
        }
        if !term.is_empty() {
            tokens.push(std::mem::take(&mut term));
        }
        if !character.is_whitespace() {
            tokens.push(character.to_string());
        }
    }
    if is_quoted {
        return Err(invalid("A phrase has no end."));
    }
    if !term.is_empty() {
        tokens.push(term);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use chrono::NaiveDate;

    use super::{MailSearch, SearchSubject, SearchText};

    fn subject() -> SearchSubject {
        let text = |property: &'static str, text: &str| SearchText { property, text: text.to_owned() };
        let day = NaiveDate::from_ymd_opt(2026, 3, 1).expect("a day");
        SearchSubject {
            texts: vec![
                text("from", "Ann Lee ann@x.test"),
                text("to", "bob@x.test"),
                text("subject", "Lunch today"),
                text("body", "At noon, say \"hi\""),
            ],
            received: day,
            sent: day,
            has_attachments: true,
            importance: "normal".to_owned(),
            categories: vec!["Red".to_owned()],
            ..SearchSubject::default()
        }
    }

    #[test]
    fn known_terms_find_and_others_are_refused() {
        let finds = |text: &str| {
            let search = MailSearch::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            search.matches(&subject())
        };
        for text in [
            r#""lunch noon""#,
            r#""\"lunch today\" AND from:ann@x.test""#,
            r#""subject:lun* (to:nobody OR participants:bob@x.test)""#,
            r#""received>=03/01/2026 received<=03/01/2026 hasattachments:true""#,
            r#""received:2/27/2026..3/2/2026 NOT isread:true -subject:dinner""#,
            r#""category:\"red\" kind:email""#,
        ] {
            assert!(finds(text), "{text}");
        }
        for text in [
            r#""lun""#,
            r#""\"today lunch\"""#,
            r#""to:ann@x.test""#,
            r#""received>03/01/2026""#,
            r#""body:lunch""#,
        ] {
            assert!(!finds(text), "{text}");
        }
        for text in [
            "lunch",
            r#""say "hi"""#,
            r#""received>=2026-03-01T08:00:00Z""#,
            r#""colour:red""#,
            r#""(lunch""#,
            r#""""#,
        ] {
            assert_eq!(MailSearch::parse(text).expect_err(text).status, 400, "{text}");
        }
    }
}
