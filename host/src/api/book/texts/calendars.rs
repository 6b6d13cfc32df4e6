//! Texts for adding a booking to the visitor's own calendar. Product names are not translated.

use service::locale::Language;

/// The texts of one language.
#[derive(Clone, Copy, Debug)]
pub struct Calendars {
    /// Precedes the links.
    pub add: &'static str,
    /// The link to the file, for all other calendars.
    pub file: &'static str,
}

/// The texts of a language.
pub fn calendars(language: Language) -> Calendars {
    let [add, file] = match language {
        Language::English | Language::AmericanEnglish => ["Add to your calendar", "Calendar file (.ics)"],
        Language::German => ["In den eigenen Kalender", "Kalenderdatei (.ics)"],
        Language::Spanish => ["Añadir a su calendario", "Archivo de calendario (.ics)"],
        Language::French => ["Ajouter à votre agenda", "Fichier d’agenda (.ics)"],
        Language::Japanese => ["カレンダーに追加", "カレンダーファイル (.ics)"],
        Language::Arabic => ["الإضافة إلى تقويمك", "ملف تقويم (\u{2066}.ics\u{2069})"],
    };
    Calendars { add, file }
}
