//! The facts of `facts/graph*.toml`, each of which has its source there. No group is in two of the files.

use std::sync::LazyLock;

static GRAPH_FACTS: LazyLock<toml::Table> = LazyLock::new(|| {
    let files = [
        include_str!("../../facts/graph.toml"),
        include_str!("../../facts/graph_calendar.toml"),
        include_str!("../../facts/graph_contacts.toml"),
        include_str!("../../facts/graph_mail.toml"),
        include_str!("../../facts/graph_todo.toml"),
    ];
    let mut all = toml::Table::new();
    for file in files {
        let facts: toml::Table = file.parse().expect("the facts are TOML");
        for (group, facts) in facts {
            assert!(all.insert(group.clone(), facts).is_none(), "two files have the group {group}");
        }
    }
    all
});

fn value(group: &str, name: &str) -> &'static toml::Value {
    let fact = GRAPH_FACTS.get(group).and_then(|group| group.get(name));
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

/// A time span in milliseconds; the fact is in seconds.
///
/// # Panics
/// There is no such fact, or it is no number.
pub fn milliseconds(group: &str, name: &str) -> i64 {
    value(group, name).as_integer().expect("a number").saturating_mul(1000)
}

/// A list of texts.
///
/// # Panics
/// There is no such fact, or it is no list.
pub fn list(group: &str, name: &str) -> Vec<&'static str> {
    let all = value(group, name).as_array().expect("a list");
    all.iter().filter_map(toml::Value::as_str).collect()
}

/// Whether a list of texts has this one.
///
/// # Panics
/// There is no such fact, or it is no list.
pub fn has(group: &str, name: &str, text: &str) -> bool {
    list(group, name).contains(&text)
}
