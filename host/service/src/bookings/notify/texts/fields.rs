//! Every text of the messages about bookings. A language that lacks one does not compile. There are no plural forms.

use crate::bookings::notify::kind::MailKind;

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct MailTexts {
    /// The change in a few words: stands before the title and a colon in subjects.
    pub subjects: Changes,
    /// The change as a sentence, for the invitee and guests. `{host}` is the host's name, or `the_host`.
    pub sentences: Changes,
    /// For guests, for whom it is the first message about the booking.
    pub invited: &'static str,
    /// For recipients of a former organizer's invitation, which is cancelled because another one sends a new one.
    pub replaced: &'static str,
    pub what: &'static str,
    pub when: &'static str,
    pub before: &'static str,
    pub place: &'static str,
    pub host: &'static str,
    pub invitee: &'static str,
    pub email: &'static str,
    pub phone: &'static str,
    pub guests: &'static str,
    pub notes: &'static str,
    pub reason: &'static str,
    pub in_person: &'static str,
    pub by_phone: &'static str,
    pub online: &'static str,
    /// Replaces the name of a host if the event type shows none.
    pub the_host: &'static str,
    /// A link to the booking's page.
    pub change: &'static str,
    /// The same link while the booking is pending.
    pub cancel: &'static str,
    pub reschedule: &'static str,
    pub view: &'static str,
    /// The time until which the booking can be changed: `{when}` is the day and the time.
    pub until: &'static str,
    /// A button to the meeting's page.
    pub join: &'static str,
    pub add_to_calendar: &'static str,
    /// A link to the page for booking another time.
    pub book_again: &'static str,
}

/// A text for each change.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    pub pending: &'static str,
    pub confirmed: &'static str,
    pub rescheduled: &'static str,
    /// It was rescheduled, and the host has to confirm the new time.
    pub rescheduled_pending: &'static str,
    /// The link to its conference.
    pub conference: &'static str,
    /// Its event no longer has a time.
    pub all_day: &'static str,
    pub cancelled: &'static str,
    pub rejected: &'static str,
    pub expired: &'static str,
    pub reminder: &'static str,
}

impl Changes {
    /// The text for a change that leaves the booking pending, or not.
    pub fn text(&self, kind: MailKind, is_pending: bool) -> &'static str {
        match kind {
            MailKind::Pending => self.pending,
            MailKind::Confirmed => self.confirmed,
            MailKind::Rescheduled if is_pending => self.rescheduled_pending,
            MailKind::Rescheduled => self.rescheduled,
            MailKind::Conference => self.conference,
            MailKind::AllDay => self.all_day,
            MailKind::Cancelled => self.cancelled,
            MailKind::Rejected => self.rejected,
            MailKind::Expired => self.expired,
            MailKind::Reminder(_) => self.reminder,
        }
    }
}
