//! The texts of messages about bookings in English, German, Spanish, French, Japanese and Arabic; those to hosts in English alone.

mod arabic;
mod english;
pub mod fields;
mod french;
mod german;
mod japanese;
mod spanish;

use crate::bookings::notify::texts::arabic::ARABIC;
use crate::bookings::notify::texts::english::ENGLISH;
use crate::bookings::notify::texts::fields::{Changes, MailTexts};
use crate::bookings::notify::texts::french::FRENCH;
use crate::bookings::notify::texts::german::GERMAN;
use crate::bookings::notify::texts::japanese::JAPANESE;
use crate::bookings::notify::texts::spanish::SPANISH;
use crate::locale::Language;

/// The texts of a language.
pub fn texts(language: Language) -> &'static MailTexts {
    match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
        Language::Spanish => &SPANISH,
        Language::French => &FRENCH,
        Language::Japanese => &JAPANESE,
        Language::Arabic => &ARABIC,
    }
}

/// What hosts read of a change, as a sentence.
// Contract silent: the language of hosts, who name none. English.
pub static TO_HOSTS: Changes = Changes {
    pending: "Somebody asks for this appointment. Please confirm or decline it.",
    confirmed: "This appointment is booked.",
    rescheduled: "This appointment was moved to another time.",
    rescheduled_pending: "The invitee moved this appointment to another time. Please confirm or decline it.",
    conference: "Here is the link to this appointment.",
    all_day: "This appointment is now an all-day event in the organizer's calendar. The booking keeps its time. To reschedule it, give the event a time again; to cancel it, delete the event.",
    cancelled: "This appointment was cancelled and does not take place.",
    rejected: "This appointment was declined and does not take place.",
    expired: "Nobody confirmed this appointment in time. It does not take place.",
    reminder: "This appointment begins soon.",
};
