//! `$filter` and `$orderby` of contacts and tasks: the clauses that clients usually send.

use std::cmp::Ordering;

use serde_json::Value;

use crate::graph::errors::GraphError;
use crate::graph::times;

/// A filter of items: all of its clauses hold.
pub struct ItemFilter(Vec<ItemClause>);

enum ItemClause {
    /// A member, an operator and a value.
    Compare { name: String, operator: String, value: String },
    /// `startswith(displayName,'…')`
    Beginning { name: String, text: String },
    /// `emailAddresses/any(a:a/address eq '…')`
    Address(String),
    /// `categories/any(c:c eq '…')`
    Category(String),
}

impl ItemFilter {
    /// Parses a filter of items that can be filtered by these members; none has no clauses.
    ///
    /// # Errors
    /// A clause is none that the fake knows: 400.
    pub fn parse(text: Option<&str>, names: &[&str]) -> Result<ItemFilter, GraphError> {
        let clauses = text.into_iter().flat_map(|text| text.split(" and "));
        clauses.map(|clause| parse_clause(clause, names)).collect::<Result<_, _>>().map(ItemFilter)
    }

    pub fn fits(&self, item: &Value) -> bool {
        self.0.iter().all(|clause| match clause {
            ItemClause::Compare { name, operator, value } => {
                let ordering = compare(item[name.as_str()].as_str().unwrap_or_default(), value);
                match operator.as_str() {
                    "eq" => ordering == Ordering::Equal,
                    "ne" => ordering != Ordering::Equal,
                    "gt" => ordering == Ordering::Greater,
                    "ge" => ordering != Ordering::Less,
                    "lt" => ordering == Ordering::Less,
                    _ => ordering != Ordering::Greater,
                }
            }
            ItemClause::Beginning { name, text } => {
                let own = item[name.as_str()].as_str().unwrap_or_default();
                own.to_lowercase().starts_with(&text.to_lowercase())
            }
            ItemClause::Address(address) => {
                let mut all = item["emailAddresses"].as_array().into_iter().flatten();
                all.any(|one| one["address"].as_str().is_some_and(|text| text.eq_ignore_ascii_case(address)))
            }
            ItemClause::Category(name) => {
                item["categories"].as_array().is_some_and(|all| all.iter().any(|one| one == name.as_str()))
            }
        })
    }
}

fn parse_clause(clause: &str, names: &[&str]) -> Result<ItemClause, GraphError> {
    let unknown = || GraphError::bad_request(&format!("Invalid filter clause: {clause}."));
    let clause = clause.trim();
    if let Some((function, inside)) = clause.strip_suffix(')').and_then(|text| text.split_once('(')) {
        let compared = inside.split_once(" eq ").map(|(_, text)| unquoted(text));
        return match function {
            "emailAddresses/any" => compared.map(ItemClause::Address).ok_or_else(unknown),
            "categories/any" => compared.map(ItemClause::Category).ok_or_else(unknown),
            "startswith" => {
                let (name, text) = inside.split_once(',').ok_or_else(unknown)?;
                let name = known_name(name.trim(), names).ok_or_else(unknown)?;
                Ok(ItemClause::Beginning { name, text: unquoted(text) })
            }
            _ => Err(unknown()),
        };
    }
    let mut words = clause.splitn(3, ' ');
    match (words.next(), words.next(), words.next()) {
        (Some(name), Some(operator @ ("eq" | "ne" | "gt" | "ge" | "lt" | "le")), Some(value)) => {
            Ok(ItemClause::Compare {
                name: known_name(name, names).ok_or_else(unknown)?,
                operator: operator.to_owned(),
                value: unquoted(value),
            })
        }
        _ => Err(unknown()),
    }
}

fn known_name(name: &str, names: &[&str]) -> Option<String> {
    names.contains(&name).then(|| name.to_owned())
}

fn unquoted(text: &str) -> String {
    let text = text.trim();
    let inside = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    inside.map_or_else(|| text.to_owned(), |inside| inside.replace("''", "'"))
}

/// The order of two texts: as instants where both are.
fn compare(own: &str, other: &str) -> Ordering {
    match (times::parse(own), times::parse(other)) {
        (Some(own), Some(other)) => own.cmp(&other),
        _ => own.to_lowercase().cmp(&other.to_lowercase()),
    }
}

/// Sorts items by `$orderby`, which is one of these members.
///
/// # Errors
/// They cannot be ordered by it: 400.
pub fn sort(items: &mut [Value], order: Option<&str>, names: &[&str]) -> Result<(), GraphError> {
    let Some(order) = order else { return Ok(()) };
    let (name, direction) = order.trim().split_once(' ').unwrap_or((order.trim(), "asc"));
    let name = known_name(name, names)
        .ok_or_else(|| GraphError::bad_request(&format!("Invalid order: {order}.")))?;
    let text = |item: &Value| item[name.as_str()].as_str().unwrap_or_default().to_owned();
    items.sort_by(|left, right| {
        let ordering = compare(&text(left), &text(right));
        if direction == "desc" { ordering.reverse() } else { ordering }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ItemFilter, sort};

    const NAMES: [&str; 2] = ["displayName", "lastModifiedDateTime"];

    #[test]
    fn clauses_hold_together() {
        let contact = json!({
            "displayName": "Ada King", "emailAddresses": [{ "address": "ada@x.test" }], "categories": ["Red"],
            "lastModifiedDateTime": "2026-03-01T08:00:00Z",
        });
        let fits = |filter: &str| ItemFilter::parse(Some(filter), &NAMES).expect("a filter").fits(&contact);
        assert!(fits("emailAddresses/any(a:a/address eq 'ADA@x.test') and startswith(displayName,'ada')"));
        assert!(fits("categories/any(c:c eq 'Red') and displayName eq 'Ada King'"));
        assert!(fits("lastModifiedDateTime ge 2026-03-01T08:00:00.0000000Z"));
        assert!(!fits("lastModifiedDateTime gt 2026-03-01T08:00:00Z"));
        assert!(!fits("emailAddresses/any(a:a/address eq 'eve@x.test')"));
        for wrong in ["personalNotes eq 'x'", "endswith(displayName,'x')", "displayName"] {
            assert!(ItemFilter::parse(Some(wrong), &NAMES).is_err(), "{wrong}");
        }
    }

    #[test]
    fn contacts_are_ordered_by_a_name() {
        let mut contacts = vec![json!({ "displayName": "b" }), json!({ "displayName": "A" })];
        sort(&mut contacts, Some("displayName"), &NAMES).expect("an order");
        assert_eq!(contacts[0]["displayName"], "A");
        sort(&mut contacts, Some("displayName desc"), &NAMES).expect("an order");
        assert_eq!(contacts[0]["displayName"], "b");
        assert!(sort(&mut contacts, Some("photo"), &NAMES).is_err());
    }
}
