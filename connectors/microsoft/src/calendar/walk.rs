//! The walk over the events of a calendar, and the places in it.

use connector_sdk::rest::cursor;
use connector_sdk::{Context, Outcome};
use model::wire::ChangesRequest;
use serde::{Deserialize, Serialize};

use crate::calendar::info::MailboxInfo;

/// The version of the cursors.
const VERSION: &str = "m1";

/// A place in the changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum Place {
    /// The next page of everything.
    First { page: String },
    /// The next page of the changes since a token.
    Delta { page: String },
    /// The changes since a token.
    Since { since: String },
    /// The calendar has no delta: the names of all events, from this one on.
    Names { skip: u32 },
    /// All names of this round were told.
    Named,
}

/// Returns the cursor of a place.
pub fn cursor_at(place: &Place) -> Outcome<String> {
    cursor::write(VERSION, place)
}

/// Returns the place of a cursor. Fails with `cursor-expired` for a cursor of another version.
pub fn place_of(text: &str) -> Outcome<Place> {
    cursor::read(VERSION, text)
}

/// The calendar that is walked over, and how.
pub struct CalendarWalk<'a> {
    pub context: &'a Context<'a>,
    pub args: &'a ChangesRequest,
    pub calendar: &'a str,
    pub mailbox: MailboxInfo,
}

impl CalendarWalk<'_> {
    /// Events of a page.
    pub fn limit(&self, most: u32) -> u32 {
        if self.args.limit == 0 { most } else { self.args.limit.min(most) }
    }
}
