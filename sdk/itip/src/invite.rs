//! The content of an invitation.

use model::Instant;

/// A meeting, its organizer and its attendees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invite {
    /// RFC 5545 UID: the meeting keeps it while its organizer stays.
    pub uid: String,
    /// RFC 5545 SEQUENCE: goes up with every move. Of two messages with the same one the later `stamp` counts.
    pub sequence: i64,
    /// When this message is made; written without milliseconds.
    pub stamp: Instant,
    pub start: Instant,
    pub end: Instant,
    pub title: String,
    /// Lines end with a line feed.
    pub description: Option<String>,
    pub location: Option<String>,
    /// It is not certain yet that the meeting takes place.
    pub is_tentative: bool,
    pub organizer: Organizer,
    pub attendees: Vec<Attendee>,
}

/// The organizer of a meeting: only this address can change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Organizer {
    pub name: Option<String>,
    pub email: String,
    /// The address that sends the message, where that is another one.
    pub sent_by: Option<String>,
}

/// A person who is invited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attendee {
    pub name: Option<String>,
    pub email: String,
    /// The attendee chose the time: the answer is an acceptance, and none is requested.
    pub has_accepted: bool,
}
