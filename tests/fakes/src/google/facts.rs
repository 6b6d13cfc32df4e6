//! The facts of `facts/google_*.toml`, each of which has its source there. No group is in two of the files.

use std::sync::LazyLock;

static FACTS: LazyLock<toml::Table> = LazyLock::new(|| {
    let files =
        [include_str!("../../facts/google_calendar.toml"), include_str!("../../facts/google_mail.toml")];
    let mut all = toml::Table::new();
    for file in files {
        let facts: toml::Table = file.parse().expect("the facts are TOML");
        for (group, facts) in facts {
            assert!(all.insert(group.clone(), facts).is_none(), "two files have the group {group}");
        }
    }
    all
});

/// Whether there is such a fact.
pub fn is_known(group: &str, name: &str) -> bool {
    FACTS.get(group).is_some_and(|group| group.get(name).is_some())
}

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
