//! Tables of facts, each of which has its source in its file.

use std::sync::LazyLock;

/// The facts of a file.
pub struct FactTable(toml::Table);

/// The facts of `facts/google_people.toml`.
pub static PEOPLE: LazyLock<FactTable> =
    LazyLock::new(|| FactTable::parse(include_str!("../../../facts/google_people.toml")));

impl FactTable {
    /// Parses the text of a file.
    ///
    /// # Panics
    /// It is no TOML.
    pub fn parse(text: &str) -> FactTable {
        FactTable(text.parse().expect("the facts are TOML"))
    }

    fn value(&self, group: &str, name: &str) -> &toml::Value {
        let fact = self.0.get(group).and_then(|group| group.get(name));
        let fact = fact.unwrap_or_else(|| panic!("there is no fact {group}.{name}"));
        assert!(fact.get("source").is_some_and(toml::Value::is_str), "the fact {group}.{name} has no source");
        fact.get("value").unwrap_or_else(|| panic!("the fact {group}.{name} has no value"))
    }

    /// A limit.
    ///
    /// # Panics
    /// There is no such fact, or it is no number.
    pub fn number(&self, group: &str, name: &str) -> usize {
        let number = self.value(group, name).as_integer().expect("a number");
        usize::try_from(number).expect("a limit is not negative")
    }

    /// A time span in milliseconds; the fact is in seconds.
    ///
    /// # Panics
    /// There is no such fact, or it is no number.
    pub fn milliseconds(&self, group: &str, name: &str) -> i64 {
        self.value(group, name).as_integer().expect("a number").saturating_mul(1000)
    }

    /// A list of texts.
    ///
    /// # Panics
    /// There is no such fact, or it is no list.
    pub fn list(&self, group: &str, name: &str) -> Vec<&str> {
        let all = self.value(group, name).as_array().expect("a list");
        all.iter().filter_map(toml::Value::as_str).collect()
    }

    /// Whether a list of texts has this one.
    ///
    /// # Panics
    /// There is no such fact, or it is no list.
    pub fn has(&self, group: &str, name: &str, text: &str) -> bool {
        self.list(group, name).contains(&text)
    }
}
