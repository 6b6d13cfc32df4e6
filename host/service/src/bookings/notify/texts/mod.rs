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
        Language::English | Language::AmericanEnglish => &ENGLISH,
        Language::German => &GERMAN,
        Language::Spanish => &SPANISH,
        Language::French => &FRENCH,
        Language::Japanese => &JAPANESE,
        Language::Arabic => &ARABIC,
    }
}

/// Begins the subject of a message that asks a host to decide.
pub const ASKS: &str = "Please confirm or decline";
/// Stands above the heading of such a message.
pub const WAITS_FOR_YOU: &str = "Waiting for you";
/// Explains the buttons for the host's decision.
pub const OPENS_PAGE: &str = "Each button opens a page where you confirm your choice.";
/// `{when}` is the day and the time.
pub const EXPIRES: &str = "Without an answer the request expires on {when}.";
/// Buttons for the host's decision.
pub const CONFIRM: &str = "Confirm";
pub const DECLINE: &str = "Decline";

/// Precedes the invitee's own words, as on the page for hosts.
pub const UNVERIFIED: &str = "The person who booked wrote this, and it is not verified. Don't open web addresses that you don't expect.";
/// Follows the decision links: quoting them in an answer gives them away.
pub const UNANSWERED: &str =
    "Replies to this message don't reach the person who booked. Write to their email address instead.";

/// Sentences to hosts about a change. `{invitee}` is the invitee's name, or the email address.
// Contract silent: the language of hosts, who name none. English.
pub static TO_HOSTS: Changes = Changes {
    pending: "{invitee} would like to book this time.",
    confirmed: "{invitee} booked this time.",
    rescheduled: "This booking was rescheduled.",
    rescheduled_pending: "This booking was rescheduled. The new time still needs your confirmation.",
    conference: "Here is the link to join.",
    all_day: "This booking is now an all-day event in the organizer's calendar. The booking keeps its time. To reschedule it, give the event a time again; to cancel it, delete the event.",
    cancelled: "This booking was cancelled.",
    rejected: "This booking was declined.",
    expired: "This booking expired because no one confirmed it in time.",
    reminder: "This booking starts soon.",
};
