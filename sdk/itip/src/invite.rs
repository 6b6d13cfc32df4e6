//! What an invitation says.

use model::Instant;

/// What a meeting is, and who is in it.
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

/// Whose meeting it is: only this address can change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Organizer {
    pub name: Option<String>,
    pub email: String,
    /// The address that sends the message, where that is another one.
    pub sent_by: Option<String>,
}

/// Somebody who is invited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attendee {
    pub name: Option<String>,
    pub email: String,
    /// They chose the time themselves: they take part, and are not asked for an answer.
    pub has_accepted: bool,
}
