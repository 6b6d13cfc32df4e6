//! The subset of `$filter` that Outlook takes for messages, and its rules on filters together with an order.

use crate::graph::errors::GraphError;
use crate::graph::times;

/// Properties that no filter together with `$orderby` may have.
const UNSORTABLE: [&str; 2] = ["conversationId", "categories"];
/// Properties that comparisons may name.
const PROPERTIES: [&str; 19] = [
    "bodyPreview",
    "conversationId",
    "createdDateTime",
    "flag/flagStatus",
    "from/emailAddress/address",
    "from/emailAddress/name",
    "hasAttachments",
    "importance",
    "inferenceClassification",
    "internetMessageId",
    "isDraft",
    "isRead",
    "lastModifiedDateTime",
    "parentFolderId",
    "receivedDateTime",
    "sender/emailAddress/address",
    "sender/emailAddress/name",
    "sentDateTime",
    "subject",
];

/// A filter of messages.
#[derive(Debug)]
pub struct MessageFilter {
    node: FilterNode,
    /// Properties in the order in which they stand in the text, each once.
    pub properties: Vec<String>,
}

/// The value of a property, or the one that a filter has for it.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum FilterValue {
    Null,
    Bool(bool),
    /// Unix milliseconds.
    Time(i64),
    Text(String),
    List(Vec<String>),
}

#[derive(Debug)]
enum FilterNode {
    And(Vec<FilterNode>),
    Or(Vec<FilterNode>),
    Not(Box<FilterNode>),
    Comparison {
        property: String,
        operator: String,
        value: FilterValue,
    },
    Function {
        name: String,
        property: String,
        text: String,
    },
    /// One of a list's members equals the text.
    Any {
        property: String,
        text: String,
    },
}

impl MessageFilter {
    /// Parses a filter.
    ///
    /// # Errors
    /// It is not of the subset: 400.
    pub fn parse(text: &str) -> Result<MessageFilter, GraphError> {
        let mut parser = FilterParser { tokens: split(text)?, at: 0, properties: Vec::new() };
        let node = parser.read_or()?;
        match parser.peek() {
            "" => Ok(MessageFilter { node, properties: parser.properties }),
            rest => Err(invalid(&format!("Syntax error at '{rest}' in '{text}'."))),
        }
    }

    /// Checks the filter against the properties of `$orderby`.
    ///
    /// # Errors
    /// The properties of the order do not stand first, or one cannot be sorted: 400 InefficientFilter.
    pub fn check_order(&self, order: &[&str]) -> Result<(), GraphError> {
        if order.is_empty() {
            return Ok(());
        }
        let is_led = order.iter().enumerate().all(|(at, name)| {
            self.properties.get(at).is_some_and(|property| property.eq_ignore_ascii_case(name))
        });
        let is_sortable = !self.properties.iter().any(|name| UNSORTABLE.contains(&name.as_str()));
        if is_led && is_sortable {
            return Ok(());
        }
        let message = "The restriction or sort order is too complex for this operation.";
        Err(GraphError::new(400, "InefficientFilter", message))
    }

    /// Whether a message fits, of which `property` gives the values.
    pub fn matches(&self, property: &dyn Fn(&str) -> FilterValue) -> bool {
        self.node.holds(property)
    }
}

impl FilterNode {
    fn holds(&self, value_of: &dyn Fn(&str) -> FilterValue) -> bool {
        match self {
            FilterNode::And(all) => all.iter().all(|node| node.holds(value_of)),
            FilterNode::Or(all) => all.iter().any(|node| node.holds(value_of)),
            FilterNode::Not(node) => !node.holds(value_of),
            FilterNode::Any { property, text } => {
                matches!(value_of(property), FilterValue::List(all) if all.contains(text))
            }
            FilterNode::Function { name, property, text } => {
                let FilterValue::Text(value) = value_of(property) else { return false };
                let (value, text) = (value.to_lowercase(), text.to_lowercase());
                if name == "startswith" { value.starts_with(&text) } else { value.contains(&text) }
            }
            FilterNode::Comparison { property, operator, value } => {
                let own = value_of(property);
                let order = match (&own, value) {
                    (FilterValue::Text(own), FilterValue::Text(value)) => {
                        Some(own.to_lowercase().cmp(&value.to_lowercase()))
                    }
                    _ => own.partial_cmp(value),
                };
                match operator.as_str() {
                    "eq" => order.is_some_and(std::cmp::Ordering::is_eq),
                    "ne" => !order.is_some_and(std::cmp::Ordering::is_eq),
                    "gt" => order.is_some_and(std::cmp::Ordering::is_gt),
                    "ge" => order.is_some_and(std::cmp::Ordering::is_ge),
                    "lt" => order.is_some_and(std::cmp::Ordering::is_lt),
                    _ => order.is_some_and(std::cmp::Ordering::is_le),
                }
            }
        }
    }
}

/// The tokens of a filter and the place of the next one.
struct FilterParser {
    tokens: Vec<String>,
    at: usize,
    properties: Vec<String>,
}

impl FilterParser {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map(String::as_str).unwrap_or_default()
    }

    fn take_token(&mut self) -> String {
        let token = self.peek().to_owned();
        self.at += 1;
        token
    }

    fn expect(&mut self, token: &str) -> Result<(), GraphError> {
        match self.take_token() {
            found if found == token => Ok(()),
            found => Err(invalid(&format!("'{token}' expected, '{found}' found."))),
        }
    }

    fn read_or(&mut self) -> Result<FilterNode, GraphError> {
        let mut all = vec![self.read_and()?];
        while self.peek() == "or" {
            self.at += 1;
            all.push(self.read_and()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { FilterNode::Or(all) })
    }

    fn read_and(&mut self) -> Result<FilterNode, GraphError> {
        let mut all = vec![self.read_one()?];
        while self.peek() == "and" {
            self.at += 1;
            all.push(self.read_one()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { FilterNode::And(all) })
    }

    fn read_one(&mut self) -> Result<FilterNode, GraphError> {
        let token = self.take_token();
        match token.as_str() {
            "not" => Ok(FilterNode::Not(Box::new(self.read_one()?))),
            "(" => {
                let node = self.read_or()?;
                self.expect(")")?;
                Ok(node)
            }
            "contains" | "startswith" => {
                self.expect("(")?;
                let property = self.take_token();
                self.name(&property)?;
                self.expect(",")?;
                let FilterValue::Text(text) = read_value(&self.take_token())? else {
                    return Err(invalid("A function takes a text."));
                };
                self.expect(")")?;
                Ok(FilterNode::Function { name: token, property, text })
            }
            "categories/any" => self.read_any("categories"),
            "singleValueExtendedProperties/any" => {
                Err(invalid("The fake has no filter by extended properties."))
            }
            _ => {
                self.name(&token)?;
                let (operator, value) = (self.take_token(), self.take_token());
                if !["eq", "ne", "gt", "ge", "lt", "le"].contains(&operator.as_str()) {
                    return Err(invalid(&format!("Unknown operator '{operator}'.")));
                }
                Ok(FilterNode::Comparison { property: token, operator, value: read_value(&value)? })
            }
        }
    }

    /// Reads `(c:c eq 'x')`.
    fn read_any(&mut self, property: &str) -> Result<FilterNode, GraphError> {
        self.expect("(")?;
        let head = self.take_token();
        let (variable, first) = head.split_once(':').ok_or_else(|| invalid("'x:' expected behind any."))?;
        let first = if first.is_empty() { self.take_token() } else { first.to_owned() };
        if first != variable {
            return Err(invalid(&format!("'{variable}' expected, '{first}' found.")));
        }
        self.expect("eq")?;
        let FilterValue::Text(text) = read_value(&self.take_token())? else {
            return Err(invalid("any compares with a text."));
        };
        self.expect(")")?;
        self.note(property);
        Ok(FilterNode::Any { property: property.to_owned(), text })
    }

    /// Notes a property of a comparison.
    ///
    /// # Errors
    /// Outlook does not filter by it: 400.
    fn name(&mut self, property: &str) -> Result<(), GraphError> {
        if !PROPERTIES.contains(&property) {
            return Err(invalid(&format!(
                "The query filter contains one or more invalid nodes: '{property}'."
            )));
        }
        self.note(property);
        Ok(())
    }

    fn note(&mut self, property: &str) {
        if !self.properties.iter().any(|one| one == property) {
            self.properties.push(property.to_owned());
        }
    }
}

fn invalid(message: &str) -> GraphError {
    GraphError::new(400, "ErrorInvalidUrlQueryFilter", message)
}

fn read_value(token: &str) -> Result<FilterValue, GraphError> {
    match token {
        "null" => return Ok(FilterValue::Null),
        "true" => return Ok(FilterValue::Bool(true)),
        "false" => return Ok(FilterValue::Bool(false)),
        _ => {}
    }
    if let Some(text) = token.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        return Ok(FilterValue::Text(text.replace("''", "'")));
    }
    let time = times::parse(token).map(FilterValue::Time);
    time.ok_or_else(|| invalid(&format!("'{token}' is no value.")))
}

/// The tokens of a filter: brackets, commas, texts in quotes, and words.
fn split(text: &str) -> Result<Vec<String>, GraphError> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\'' => {
                word.push('\'');
                loop {
                    match characters.next() {
                        Some('\'') if characters.peek() == Some(&'\'') => {
                            characters.next();
                            word.push_str("''");
                        }
                        Some('\'') => break,
                        Some(other) => word.push(other),
                        None => return Err(invalid("There is an unterminated string literal.")),
                    }
                }
                word.push('\'');
            }
            '(' | ')' | ',' | ' ' => {
                if !word.is_empty() {
                    tokens.push(std::mem::take(&mut word));
                }
                if character != ' ' {
                    tokens.push(character.to_string());
                }
            }
            other => word.push(other),
        }
    }
    if !word.is_empty() {
        tokens.push(word);
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::{FilterValue, MessageFilter};

    fn value(property: &str) -> FilterValue {
        match property {
            "isRead" => FilterValue::Bool(false),
            "receivedDateTime" => FilterValue::Time(1_772_352_000_000),
            "subject" => FilterValue::Text("It's lunch (today)".to_owned()),
            "from/emailAddress/address" => FilterValue::Text("Ann@x.test".to_owned()),
            "categories" => FilterValue::List(vec!["Red".to_owned()]),
            _ => FilterValue::Null,
        }
    }

    #[test]
    fn a_filter_of_the_subset_finds_and_others_are_refused() {
        let finds = |text: &str| {
            let filter = MessageFilter::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            filter.matches(&value)
        };
        for text in [
            "isRead eq false and receivedDateTime ge 2026-03-01T08:00:00Z",
            "(isRead eq true or contains(subject,'It''s lunch (')) and not startswith(subject, 'x')",
            "from/emailAddress/address eq 'ann@x.test'",
            "categories/any(c:c eq 'Red')",
            "categories/any(c: c eq 'Red') and subject ne null",
        ] {
            assert!(finds(text), "{text}");
        }
        for text in [
            "isRead eq true",
            "receivedDateTime lt 2026-03-01T09:00:00+01:00",
            "categories/any(c:c eq 'red')",
        ] {
            assert!(!finds(text), "{text}");
        }
        for text in [
            "toRecipients/any(r:r/emailAddress/address eq 'a')",
            "isRead eq",
            "isRead is false",
            "subject eq 'open",
            "receivedDateTime ge 2026-03-01",
            "isRead eq false isDraft eq true",
        ] {
            let error = MessageFilter::parse(text).expect_err(text);
            assert_eq!((error.status, error.code.as_str()), (400, "ErrorInvalidUrlQueryFilter"), "{text}");
        }
    }

    #[test]
    fn the_properties_of_the_order_stand_first_in_the_filter() {
        let check =
            |filter: &str, order: &[&str]| MessageFilter::parse(filter).expect(filter).check_order(order);
        let led = "receivedDateTime gt 1970-01-01T00:00:00Z and isRead eq false";
        assert!(check(led, &["receivedDateTime"]).is_ok());
        assert!(check("isRead eq false", &[]).is_ok());
        for (filter, order) in [
            ("isRead eq false", "receivedDateTime"),
            ("isRead eq false and receivedDateTime gt 1970-01-01T00:00:00Z", "receivedDateTime"),
            ("receivedDateTime gt 1970-01-01T00:00:00Z and conversationId eq 'x'", "receivedDateTime"),
            ("receivedDateTime gt 1970-01-01T00:00:00Z and categories/any(c:c eq 'x')", "receivedDateTime"),
        ] {
            assert_eq!(check(filter, &[order]).expect_err(filter).code, "InefficientFilter", "{filter}");
        }
    }
}
