//! Messages about bookings in English.

use crate::bookings::notify::texts::fields::{Changes, Texts};

pub static ENGLISH: Texts = Texts {
    subjects: Changes {
        pending: "Waiting for confirmation",
        confirmed: "Confirmed",
        rescheduled: "New time",
        rescheduled_pending: "New time, waiting for confirmation",
        cancelled: "Cancelled",
        rejected: "Declined",
        expired: "Not confirmed",
        reminder: "Reminder",
    },
    sentences: Changes {
        pending: "Your request was received. The host has to confirm it; you will get another message then.",
        confirmed: "Your appointment is confirmed.",
        rescheduled: "Your appointment was moved to another time.",
        rescheduled_pending: "Your appointment was moved to another time, which the host has to confirm.",
        cancelled: "Your appointment was cancelled and does not take place.",
        rejected: "The host has declined this appointment. It does not take place.",
        expired: "The host did not confirm this appointment in time. It does not take place.",
        reminder: "Your appointment begins soon.",
    },
    invited: "You are invited to this appointment.",
    replaced: "This invitation is replaced by another one, which comes in a message of its own.",
    what: "What",
    when: "When",
    before: "Before",
    place: "Where",
    host: "With",
    invitee: "Invitee",
    email: "Email",
    phone: "Phone number",
    guests: "Guests",
    details: "Notes and answers",
    reason: "Reason",
    in_person: "In person",
    by_phone: "By phone",
    online: "Online",
    change: "Move or cancel this appointment",
    book_again: "Book another time",
};
