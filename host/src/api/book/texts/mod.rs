//! The texts of the booking page in English, German, Spanish, French, Japanese and Arabic.

mod arabic;
pub mod calendars;
pub mod controls;
pub mod decision;
mod english;
pub mod fields;
mod french;
mod german;
mod japanese;
pub mod outcomes;
mod spanish;

use crate::api::book::texts::arabic::ARABIC;
use crate::api::book::texts::english::ENGLISH;
use crate::api::book::texts::fields::Texts;
use crate::api::book::texts::french::FRENCH;
use crate::api::book::texts::german::GERMAN;
use crate::api::book::texts::japanese::JAPANESE;
use crate::api::book::texts::spanish::SPANISH;
use service::locale::Language;

/// The texts of a language.
pub fn texts(language: Language) -> &'static Texts {
    match language {
        Language::English | Language::AmericanEnglish => &ENGLISH,
        Language::German => &GERMAN,
        Language::Spanish => &SPANISH,
        Language::French => &FRENCH,
        Language::Japanese => &JAPANESE,
        Language::Arabic => &ARABIC,
    }
}
