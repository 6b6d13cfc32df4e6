//! The name of a connector, and its forms in a project's files.

use std::fmt;
use std::str::FromStr;

use crate::fault::Fault;

/// A connector's name: 1 to 40 lower-case letters, digits and `-`, as in connections and URLs. It begins with a letter because it becomes
/// part of a package name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectorName(String);

/// Placeholders in the templates for the connector's name.
const PLACEHOLDERS: [&str; 3] = ["my-connector", "my_connector", "MyConnector"];

impl ConnectorName {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name as in compiled files and modules: `my_connector`.
    pub fn snake(&self) -> String {
        self.0.replace('-', "_")
    }

    /// Returns the name as in types: `MyConnector`.
    pub fn pascal(&self) -> String {
        let capital = |word: &str| {
            let mut chars = word.chars();
            let first = chars.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(chars).collect::<String>()
        };
        self.0.split('-').map(capital).collect()
    }

    /// Returns the text of a template with this name in it.
    pub(crate) fn put_into(&self, text: &str) -> String {
        let own = [self.0.clone(), self.snake(), self.pascal()];
        PLACEHOLDERS.iter().zip(own).fold(text.to_owned(), |text, (from, to)| text.replace(from, &to))
    }
}

impl fmt::Display for ConnectorName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ConnectorName {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let help = "use 1 to 40 lower-case letters, digits and \"-\", beginning with a letter, for example \"my-tasks\"";
        let refused =
            |why: String| Err(Fault::new(format!("\"{text}\" cannot be a connector's name: {why}"), help));
        if text.is_empty() || text.len() > 40 {
            return refused(format!("it has {} characters", text.chars().count()));
        }
        let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if let Some(unknown) = text.chars().find(|c| !known(*c)) {
            return refused(format!("it has {unknown:?} in it"));
        }
        if !text.starts_with(|c: char| c.is_ascii_lowercase()) {
            return refused("it does not begin with a letter".to_owned());
        }
        if text.ends_with('-') || text.contains("--") {
            return refused("a \"-\" stands between two words".to_owned());
        }
        // The package of the SDK is called connector-sdk, and a project's connector-<name>.
        if text == "sdk" {
            return refused("the SDK has it".to_owned());
        }
        Ok(ConnectorName(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_spelt_as_each_place_wants_it() {
        let name: ConnectorName = "my-own-2".parse().unwrap();
        assert_eq!((name.snake().as_str(), name.pascal().as_str()), ("my_own_2", "MyOwn2"));
        assert_eq!(
            name.put_into("my-connector my_connector MyConnector mine"),
            "my-own-2 my_own_2 MyOwn2 mine"
        );
    }

    #[test]
    fn a_name_that_cannot_be_one_is_refused_with_the_reason() {
        for (name, why) in [
            ("", "it has 0 characters"),
            (&*"a".repeat(41), "it has 41 characters"),
            ("Notes", "it has 'N' in it"),
            ("my notes", "it has ' ' in it"),
            ("../evil", "it has '.' in it"),
            ("1st", "it does not begin with a letter"),
            ("-a", "it does not begin with a letter"),
            ("a-", "a \"-\" stands between two words"),
            ("a--b", "a \"-\" stands between two words"),
            ("sdk", "the SDK has it"),
        ] {
            let fault = name.parse::<ConnectorName>().unwrap_err();
            assert_eq!(fault.said, format!("\"{name}\" cannot be a connector's name: {why}"));
            assert!(fault.help.contains("my-tasks"));
        }
    }
}
