//! The content of an invitation.

use model::Instant;

/// A meeting, its organizer and its attendees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invite {
    /// The UID (RFC 5545), constant as long as the meeting has the same organizer.
    pub uid: String,
    /// The SEQUENCE (RFC 5545), incremented whenever the meeting is rescheduled. Of two messages with the same sequence, the one with the
    /// later `stamp` applies.
    pub sequence: i64,
    /// The time at which this message is created (DTSTAMP), written without milliseconds.
    pub stamp: Instant,
    /// The start of the meeting (DTSTART), written in UTC without milliseconds.
    pub start: Instant,
    /// The end of the meeting (DTEND), exclusive.
    pub end: Instant,
    /// The title (SUMMARY).
    pub title: String,
    /// The description (DESCRIPTION), with line feeds as line ends.
    pub description: Option<String>,
    /// The location (LOCATION); if none, the property is left out.
    pub location: Option<String>,
    /// Whether the meeting is not confirmed yet (STATUS:TENTATIVE).
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
    /// The address that sends the message, if it differs from the organizer's (SENT-BY).
    pub sent_by: Option<String>,
}

/// A person who is invited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attendee {
    /// The display name (CN).
    pub name: Option<String>,
    /// The email address, without `mailto:`.
    pub email: String,
    /// Whether the attendee has accepted already, having chosen the time; no reply is requested then.
    pub has_accepted: bool,
}
