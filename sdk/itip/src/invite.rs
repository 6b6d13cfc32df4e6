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
    /// The start of the meeting (DTSTART), written in UTC without milliseconds.
    pub start: Instant,
    /// The end of the meeting (DTEND), exclusive.
    pub end: Instant,
    /// The title (SUMMARY).
    pub title: String,
    /// Lines end with a line feed.
    pub description: Option<String>,
    /// The location (LOCATION); none leaves the property out.
    pub location: Option<String>,
    /// It is not certain yet that the meeting takes place.
    pub is_tentative: bool,
    /// The organizer (ORGANIZER), not written by [`entry`](crate::entry).
    pub organizer: Organizer,
    /// The attendees (ATTENDEE), not written by [`entry`](crate::entry).
    pub attendees: Vec<Attendee>,
}

/// The organizer of a meeting: only this address can change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Organizer {
    /// The display name (CN).
    pub name: Option<String>,
    /// The email address, without `mailto:`.
    pub email: String,
    /// The address that sends the message, where that is another one.
    pub sent_by: Option<String>,
}

/// A person who is invited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attendee {
    /// The display name (CN).
    pub name: Option<String>,
    /// The email address, without `mailto:`.
    pub email: String,
    /// The attendee chose the time: the answer is an acceptance, and none is requested.
    pub has_accepted: bool,
}
