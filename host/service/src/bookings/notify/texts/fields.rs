//! Every text of the messages about bookings. A language that lacks one does not compile. There are no plural forms.

use crate::bookings::notify::kind::MailKind;

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct MailTexts {
    /// What happened, in a few words: stands before the title and a colon in subjects.
    pub subjects: Changes,
    /// The same as a sentence, to the invitee and to guests. `{host}` is the host's name, or `the_host`.
    pub sentences: Changes,
    /// To guests, who hear of a booking for the first time.
    pub invited: &'static str,
    /// To whom the invitation of an organizer is taken back, because another one sends one.
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
    /// Stands for the name of a host whom the event type does not name.
    pub the_host: &'static str,
    /// A link to the booking's page.
    pub change: &'static str,
    /// The same while the booking waits for its host.
    pub cancel: &'static str,
    pub reschedule: &'static str,
    pub view: &'static str,
    /// Until when the booking can be changed: `{when}` is the day and the time.
    pub until: &'static str,
    /// A button to the page on which people meet.
    pub join: &'static str,
    pub add_to_calendar: &'static str,
    /// A link to the page on which another time can be booked.
    pub book_again: &'static str,
}

/// A text for each change.
#[derive(Clone, Copy, Debug)]
pub struct Changes {
    pub pending: &'static str,
    pub confirmed: &'static str,
    pub rescheduled: &'static str,
    /// It was moved, and the host has to confirm the new time.
    pub rescheduled_pending: &'static str,
    /// Where its conference is.
    pub conference: &'static str,
    /// Its event has no time any more.
    pub all_day: &'static str,
    pub cancelled: &'static str,
    pub rejected: &'static str,
    pub expired: &'static str,
    pub reminder: &'static str,
}

impl Changes {
    /// The text for a change, after which the booking waits for its host or does not.
    pub fn of(&self, kind: MailKind, is_pending: bool) -> &'static str {
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
