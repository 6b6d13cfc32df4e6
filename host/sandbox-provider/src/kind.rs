//! The kinds of records, and the names of each and of its folder.

use serde::{Deserialize, Serialize};

/// The kind of a record; the journal, sync tokens and stored answers name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Kind {
    #[default]
    Event,
    Card,
    Todo,
    Mail,
}

impl Kind {
    /// The record's name in responses and messages.
    pub fn record(self) -> &'static str {
        match self {
            Kind::Event => "event",
            Kind::Card => "card",
            Kind::Todo => "todo",
            Kind::Mail => "entry",
        }
    }

    /// The plural of the record's name.
    pub fn records(self) -> &'static str {
        match self {
            Kind::Event => "events",
            Kind::Card => "cards",
            Kind::Todo => "todos",
            Kind::Mail => "entries",
        }
    }

    /// The kind of folder that contains it.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Event => "calendar",
            Kind::Card => "book",
            Kind::Todo => "list",
            Kind::Mail => "mailbox",
        }
    }

    /// The plural of the folder's name.
    pub fn folders(self) -> &'static str {
        match self {
            Kind::Event => "calendars",
            Kind::Card => "books",
            Kind::Todo => "lists",
            Kind::Mail => "mailboxes",
        }
    }
}
