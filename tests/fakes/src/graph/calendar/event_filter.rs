//! `$filter` and `$orderby` of events: the clauses that calendars' clients usually send.

use std::cmp::Ordering;

use serde_json::Value;

use crate::graph::calendar::zones;
use crate::graph::errors::GraphError;
use crate::graph::facts;

/// A filter: all of its clauses hold.
pub struct EventFilter(Vec<FilterClause>);

enum FilterClause {
    /// A member, an operator and a value.
    Compare { path: String, operator: String, value: String },
    /// `startswith(subject,'…')` and `contains(subject,'…')`
    Text { function: String, path: String, text: String },
    /// `categories/any(c:c eq '…')`
    Category(String),
}

impl EventFilter {
    /// Parses a filter; none has no clauses.
    ///
    /// # Errors
    /// A clause is none that the fake knows: 400.
    pub fn parse(text: Option<&str>) -> Result<EventFilter, GraphError> {
        let clauses = text.map(split_and).unwrap_or_default();
        clauses.iter().map(|clause| parse_clause(clause)).collect::<Result<_, _>>().map(EventFilter)
    }

    pub fn fits(&self, event: &Value) -> bool {
        self.0.iter().all(|clause| match clause {
            FilterClause::Compare { path, operator, value } => {
                let ordering = compare(member(event, path), value);
                match operator.as_str() {
                    "eq" => ordering == Some(Ordering::Equal),
                    "ne" => ordering != Some(Ordering::Equal),
                    "gt" => ordering == Some(Ordering::Greater),
                    "ge" => matches!(ordering, Some(Ordering::Greater | Ordering::Equal)),
                    "lt" => ordering == Some(Ordering::Less),
                    _ => matches!(ordering, Some(Ordering::Less | Ordering::Equal)),
                }
            }
            FilterClause::Text { function, path, text } => {
                let found = member(event, path).as_str().unwrap_or_default().to_lowercase();
                let text = text.to_lowercase();
                if function == "startswith" { found.starts_with(&text) } else { found.contains(&text) }
            }
            FilterClause::Category(name) => {
                event["categories"].as_array().is_some_and(|all| all.iter().any(|one| one == name.as_str()))
            }
        })
    }
}

/// The clauses between ` and `, which may stand inside quotes too.
fn split_and(text: &str) -> Vec<String> {
    let mut clauses: Vec<String> = Vec::new();
    let mut open = false;
    for part in text.split(" and ") {
        match clauses.last_mut().filter(|_| open) {
            Some(last) => {
                last.push_str(" and ");
                last.push_str(part);
            }
            None => clauses.push(part.to_owned()),
        }
        let quotes = part.matches('\'').count();
        open ^= quotes % 2 == 1;
    }
    clauses
}

fn parse_clause(clause: &str) -> Result<FilterClause, GraphError> {
    let unknown = || GraphError::bad_request(&format!("Invalid filter clause: {clause}."));
    let clause = clause.trim();
    if let Some((function, inside)) = clause.strip_suffix(')').and_then(|text| text.split_once('(')) {
        if function == "categories/any" {
            let name = inside.split_once(" eq ").map(|(_, name)| unquoted(name)).ok_or_else(unknown)?;
            return Ok(FilterClause::Category(name));
        }
        let (path, text) = inside.split_once(',').ok_or_else(unknown)?;
        return match function {
            "startswith" | "contains" if path.trim() == "subject" => Ok(FilterClause::Text {
                function: function.to_owned(),
                path: path.trim().to_owned(),
                text: unquoted(text),
            }),
            _ => Err(unknown()),
        };
    }
    let mut words = clause.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some(path), Some(operator @ ("eq" | "ne" | "gt" | "ge" | "lt" | "le")), Some(value))
            if facts::has("calendar_values", "filterable", path) =>
        {
            Ok(FilterClause::Compare {
                path: path.to_owned(),
                operator: operator.to_owned(),
                value: unquoted(value),
            })
        }
        _ => Err(unknown()),
    }
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    inside.map_or_else(|| text.to_owned(), |inside| inside.replace("''", "'"))
}

fn member<'v>(event: &'v Value, path: &str) -> &'v Value {
    path.split('/').fold(event, |value, name| &value[name])
}

/// The order of a member and a text: as times where both are, else as texts.
fn compare(member: &Value, text: &str) -> Option<Ordering> {
    match member {
        Value::String(own) => match (zones::parse_bound(own), zones::parse_bound(text)) {
            (Some(own), Some(other)) => Some(own.cmp(&other)),
            _ => Some(own.as_str().cmp(text)),
        },
        Value::Bool(own) => text.parse::<bool>().ok().map(|other| own.cmp(&other)),
        Value::Null => (text == "null").then_some(Ordering::Equal),
        _ => None,
    }
}

/// Sorts events by `$orderby`.
///
/// # Errors
/// Events cannot be ordered by it: 400.
pub fn sort(events: &mut [Value], order: Option<&str>) -> Result<(), GraphError> {
    let Some(order) = order else { return Ok(()) };
    for one in order.split(',').rev() {
        let (path, direction) = one.trim().split_once(' ').unwrap_or((one.trim(), "asc"));
        if !facts::has("calendar_values", "filterable", path) {
            return Err(GraphError::bad_request(&format!("Invalid order: {order}.")));
        }
        events.sort_by(|left, right| {
            let ordering = match member(right, path).as_str() {
                Some(text) => compare(member(left, path), text).unwrap_or(Ordering::Equal),
                None => Ordering::Equal,
            };
            if direction == "desc" { ordering.reverse() } else { ordering }
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{EventFilter, sort};

    fn event(subject: &str, start: &str) -> Value {
        json!({
            "subject": subject, "start": { "dateTime": start }, "type": "singleInstance", "isCancelled": false,
            "categories": ["Red"],
        })
    }

    fn fits(filter: &str) -> bool {
        let event = event("This and that", "2026-03-02T09:00:00.0000000");
        EventFilter::parse(Some(filter)).expect("a filter").fits(&event)
    }

    #[test]
    fn clauses_hold_together() {
        assert!(fits("start/dateTime ge '2026-03-02T09:00:00' and start/dateTime le '2026-03-02T09:00:00'"));
        assert!(!fits("start/dateTime gt '2026-03-02T09:00:00'"));
        assert!(fits("subject eq 'This and that' and isCancelled eq false"));
        assert!(fits("startswith(subject,'this') and categories/any(c:c eq 'Red')"));
        assert!(!fits("contains(subject,'other')"));
    }

    #[test]
    fn clauses_of_other_members_are_refused() {
        for filter in ["bodyPreview eq 'x'", "subject like 'x'", "endswith(subject,'x')", "subject"] {
            assert!(EventFilter::parse(Some(filter)).is_err(), "{filter}");
        }
    }

    #[test]
    fn events_are_ordered_by_their_start() {
        let mut events = vec![event("B", "2026-03-03T09:00:00"), event("A", "2026-03-02T09:00:00")];
        sort(&mut events, Some("start/dateTime")).expect("an order");
        assert_eq!(events[0]["subject"], "A");
        sort(&mut events, Some("start/dateTime desc")).expect("an order");
        assert_eq!(events[0]["subject"], "B");
        assert!(sort(&mut events, Some("body")).is_err());
    }
}
