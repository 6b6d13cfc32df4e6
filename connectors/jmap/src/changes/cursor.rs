//! The position in the changes of an account, as text for the host.

use connector_sdk::{Failure, Outcome, code};
use model::Instant;
use serde::{Deserialize, Serialize};

/// The initial sync and later changes have one kind of cursor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cursor {
    /// The state of `Email` up to which changes were reported.
    #[serde(rename = "e")]
    pub emails: String,
    /// The same of `Mailbox`.
    #[serde(rename = "m")]
    pub mailboxes: String,
    /// The position of the initial sync; none once it is over.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
}

/// The progress of the initial sync.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Messages after this one are not reported yet; none: no message is.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Last>,
    /// The next page waits until the changes before it are reported.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

/// The last message of a page that is sorted from new to old.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Last {
    pub id: String,
    /// When it was received, milliseconds since 1970; none where no message of the page was there any more.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
}

impl Last {
    /// A moment that is later than this message by more than the resolution of JMAP's dates.
    pub fn just_after(&self) -> Option<Instant> {
        self.at_ms.map(|ms| Instant::from_millis(ms.saturating_add(1000)))
    }
}

impl Cursor {
    /// For the host.
    pub fn print(&self) -> String {
        serde_json::to_string(self).expect("texts and numbers always serialise")
    }

    /// Parses the cursor that the host sends back. One of an older or a broken form starts over.
    pub fn read(text: &str) -> Outcome<Self> {
        serde_json::from_str(text)
            .map_err(|_| Failure::new(code::CURSOR_EXPIRED, "the cursor is from another version"))
    }
}
