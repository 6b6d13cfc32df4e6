//! The names of the interfaces between host and connector: surfaces and verbs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An interface that a connector may export: one per kind of data, `lifecycle` for the account itself, and `watch` for the
/// provider's notifications. None of them is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    Email,
    Calendar,
    Contacts,
    Tasks,
    Lifecycle,
    Watch,
}

impl Surface {
    pub const ALL: [Surface; 6] = [
        Surface::Email,
        Surface::Calendar,
        Surface::Contacts,
        Surface::Tasks,
        Surface::Lifecycle,
        Surface::Watch,
    ];

    /// The interface's name in `wit/`, and in `connector.toml`.
    pub fn as_str(self) -> &'static str {
        match self {
            Surface::Email => "email",
            Surface::Calendar => "calendar",
            Surface::Contacts => "contacts",
            Surface::Tasks => "tasks",
            Surface::Lifecycle => "lifecycle",
            Surface::Watch => "watch",
        }
    }

    /// The surface with this name, if there is one.
    pub fn parse(name: &str) -> Option<Self> {
        Surface::ALL.into_iter().find(|s| s.as_str() == name)
    }

    /// Whether the interface is a kind of data of an account.
    pub fn has_data(self) -> bool {
        !matches!(self, Surface::Lifecycle | Surface::Watch)
    }

    /// The functions that the interface has in 1.0; a component that exports it exports all of them.
    pub fn verbs(self) -> &'static [Verb] {
        match self {
            Surface::Lifecycle => &[Verb::Check],
            Surface::Watch => &[Verb::Mutate],
            _ => &[Verb::Fetch, Verb::Mutate, Verb::Changes],
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A function of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// Reads; changes nothing at the provider.
    Fetch,
    /// Changes one thing at the provider.
    Mutate,
    /// Reads the changes since a cursor.
    Changes,
    /// Tries the credentials (`lifecycle` alone).
    Check,
}

impl Verb {
    /// The function's name in `wit/`.
    pub fn as_str(self) -> &'static str {
        match self {
            Verb::Fetch => "fetch",
            Verb::Mutate => "mutate",
            Verb::Changes => "changes",
            Verb::Check => "check",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
