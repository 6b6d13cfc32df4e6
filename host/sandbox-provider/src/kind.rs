//! The kinds of records, and what each and its folder are called.

use serde::{Deserialize, Serialize};

/// What a record is; the journal, sync tokens and remembered answers name it.
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
    /// The record in answers and messages.
    pub fn record(self) -> &'static str {
        match self {
            Kind::Event => "event",
            Kind::Card => "card",
            Kind::Todo => "todo",
            Kind::Mail => "entry",
        }
    }

    /// Many of them.
    pub fn records(self) -> &'static str {
        match self {
            Kind::Event => "events",
            Kind::Card => "cards",
            Kind::Todo => "todos",
            Kind::Mail => "entries",
        }
    }

    /// What it lies in.
    pub fn folder(self) -> &'static str {
        match self {
            Kind::Event => "calendar",
            Kind::Card => "book",
            Kind::Todo => "list",
            Kind::Mail => "mailbox",
        }
    }

    /// Many of those.
    pub fn folders(self) -> &'static str {
        match self {
            Kind::Event => "calendars",
            Kind::Card => "books",
            Kind::Todo => "lists",
            Kind::Mail => "mailboxes",
        }
    }
}
