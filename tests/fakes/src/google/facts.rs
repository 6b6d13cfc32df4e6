//! The facts of `facts/google_calendar.toml`, each of which has its source there.

use std::sync::LazyLock;

static FACTS: LazyLock<toml::Table> =
    LazyLock::new(|| include_str!("../../facts/google_calendar.toml").parse().expect("the facts are TOML"));

fn value(group: &str, name: &str) -> &'static toml::Value {
    let fact = FACTS.get(group).and_then(|group| group.get(name));
    let fact = fact.unwrap_or_else(|| panic!("there is no fact {group}.{name}"));
    assert!(fact.get("source").is_some_and(toml::Value::is_str), "the fact {group}.{name} has no source");
    fact.get("value").unwrap_or_else(|| panic!("the fact {group}.{name} has no value"))
}

/// A limit.
///
/// # Panics
/// There is no such fact, or it is no number.
pub fn number(group: &str, name: &str) -> usize {
    let number = value(group, name).as_integer().expect("a number");
    usize::try_from(number).expect("a limit is not negative")
}

/// A text.
///
/// # Panics
/// There is no such fact, or it is no text.
pub fn text(group: &str, name: &str) -> &'static str {
    value(group, name).as_str().expect("a text")
}

/// Whether a list of texts has this one.
///
/// # Panics
/// There is no such fact, or it is no list.
pub fn has(group: &str, name: &str, text: &str) -> bool {
    value(group, name).as_array().expect("a list").iter().any(|one| one.as_str() == Some(text))
}
