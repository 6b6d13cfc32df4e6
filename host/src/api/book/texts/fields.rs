//! All texts of the booking page. A language that lacks one does not compile. There are no plural forms: numbers follow a colon.

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct Texts {
    /// Follows a number of minutes.
    pub minutes: &'static str,
    pub duration: &'static str,
    pub place: &'static str,
    pub when: &'static str,
    pub times_in: &'static str,
    /// The zone is the host's, because the visitor gave none.
    pub host_zone: &'static str,
    pub change_zone: &'static str,
    pub zone: &'static str,
    pub zone_example: &'static str,
    pub show: &'static str,
    pub unknown_zone: &'static str,
    pub months: &'static str,
    pub previous_month: &'static str,
    pub next_month: &'static str,
    /// Precedes a number of times.
    pub free_times: &'static str,
    /// `{month}` is its name without the year.
    pub none_in_month: &'static str,
    pub none_ahead: &'static str,
    /// Heading and text if there are no times in the month or any other.
    pub none_at_all: [&'static str; 2],
    pub unreadable: [&'static str; 2],
    pub try_again: &'static str,
    pub details: &'static str,
    pub change_time: &'static str,
    pub name: &'static str,
    pub email: &'static str,
    pub phone: &'static str,
    pub notes: &'static str,
    /// The guests.
    pub guests: &'static str,
    /// Heading of a page for hosts only, and the warning about the texts on it.
    pub for_hosts: [&'static str; 2],
    pub optional: &'static str,
    /// In person, the host calls, the invitee is called, Google Meet, Teams, Zoom, online.
    pub places: [&'static str; 7],
    pub please_choose: &'static str,
    pub leave_empty: &'static str,
    pub book: &'static str,
    pub other_times: &'static str,
    /// Heads the list of mistakes in a form.
    pub check_fields: &'static str,
    /// Heads other reasons why a form was not accepted.
    pub not_booked: &'static str,
    pub taken: &'static str,
    pub limit_reached: &'static str,
    pub too_many_bookings: &'static str,
    pub refused: &'static str,
    pub sent_before: &'static str,
    pub in_progress: &'static str,
    pub availability_unknown: &'static str,
    pub form_expired: &'static str,
    pub sent_too_fast: &'static str,
    pub bad_email: &'static str,
    pub bad_phone: &'static str,
    pub bad_value: &'static str,
    pub enter_name: &'static str,
    pub needed: &'static str,
    pub failed: &'static str,
    pub confirmed: [&'static str; 2],
    /// Follows the text of `confirmed` if the invitee gets mail.
    pub link_in_email: &'static str,
    /// `{host}` is the host's name, or `the_host`.
    pub pending: [&'static str; 2],
    /// The text of `pending` if the invitee gets no mail.
    pub pending_unmailed: &'static str,
    pub the_host: &'static str,
    pub cancelled: [&'static str; 2],
    /// `{host}` is the host's name, or `the_host`.
    pub rejected: [&'static str; 2],
    pub expired: [&'static str; 2],
    /// The text of a link, a heading and a button.
    pub cancel_booking: &'static str,
    /// Explains a cancellation.
    pub cancel_question: &'static str,
    pub reason: &'static str,
    pub to_booking: &'static str,
    pub move_booking: &'static str,
    pub move_here: &'static str,
    /// The current time of a booking to be rescheduled.
    pub present_time: &'static str,
    pub new_time: &'static str,
    pub confirms_again: &'static str,
    pub not_changed: &'static str,
    pub not_offered: &'static str,
    pub too_late: &'static str,
    pub moved_too_often: &'static str,
    pub not_confirmed: &'static str,
    pub go_on: &'static str,
    pub not_found: [&'static str; 2],
    pub too_many: [&'static str; 2],
    pub foreign: [&'static str; 2],
    pub too_large: [&'static str; 2],
    pub broken: [&'static str; 2],
}

impl Texts {
    /// Title and text of a booking with this status.
    pub fn of_state(&self, status: &str) -> [&'static str; 2] {
        match status {
            "confirmed" | "completed" => self.confirmed,
            "pending" => self.pending,
            "rejected" => self.rejected,
            "expired" => self.expired,
            _ => self.cancelled,
        }
    }
}
