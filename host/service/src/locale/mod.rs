//! The languages of pages and mail, and how each of them writes dates and times.

pub mod dates;
pub mod html;
pub mod meeting_time;
pub mod zones;

/// A language that pages and mail are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    English,
    /// English as it is written in the United States: the month stands before the day.
    AmericanEnglish,
    German,
    Spanish,
    French,
    Japanese,
    Arabic,
}

/// All languages, each with its tag (RFC 5646): a primary subtag, or one with its region.
static LANGUAGES: [(&str, Language); 7] = [
    ("en", Language::English),
    ("en-US", Language::AmericanEnglish),
    ("de", Language::German),
    ("es", Language::Spanish),
    ("fr", Language::French),
    ("ja", Language::Japanese),
    ("ar", Language::Arabic),
];

impl Language {
    /// The tag for `lang` and `Content-Language`.
    pub fn tag(self) -> &'static str {
        LANGUAGES.iter().find(|(_, language)| *language == self).map_or("en", |(tag, _)| *tag)
    }

    /// All languages.
    pub fn all() -> impl Iterator<Item = Language> {
        LANGUAGES.iter().map(|(_, language)| *language)
    }

    /// Its name in the language itself.
    pub fn own_name(self) -> &'static str {
        match self {
            Language::English => "English",
            Language::AmericanEnglish => "English (US)",
            Language::German => "Deutsch",
            Language::Spanish => "Español",
            Language::French => "Français",
            Language::Japanese => "日本語",
            Language::Arabic => "العربية",
        }
    }

    /// Whether the language is written from right to left.
    pub fn is_right_to_left(self) -> bool {
        self == Language::Arabic
    }

    /// Returns the language of a tag that `tag` returns.
    pub fn of_tag(tag: &str) -> Option<Language> {
        LANGUAGES.iter().find(|(known, _)| *known == tag).map(|(_, language)| *language)
    }

    /// Returns the language to which an `Accept-Language` value gives the highest weight (RFC 9110 §12.5.4); of several with the same
    /// weight the first. English if the value names none of them.
    pub fn preferred(accept_language: &str) -> Language {
        let mut best = (0.0, Language::English);
        for range in accept_language.split(',') {
            let mut parts = range.split(';');
            let tag = parts.next().unwrap_or_default().trim();
            let primary = tag.split('-').next().unwrap_or_default();
            let named = |name: &str| LANGUAGES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            let known = named(tag).or_else(|| named(primary));
            let weight = parts.find_map(|part| part.trim().strip_prefix("q="));
            let weight = weight.map_or(1.0, |text| text.trim().parse::<f32>().unwrap_or(0.0));
            if let Some((_, language)) = known
                && weight > best.0
                && weight <= 1.0
            {
                best = (weight, *language);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_weight_among_the_known_languages_wins() {
        for (accept, tag) in [
            ("", "en"),
            ("*", "en"),
            ("pt-BR,pt;q=0.9", "en"),
            ("de-AT", "de"),
            ("ar-EG, en;q=0.8", "ar"),
            ("fr;q=0.4, ja;q=0.8, en;q=0.2", "ja"),
            ("nl, ES-mx;q=0.5", "es"),
            ("de;q=0, fr;q=0.1", "fr"),
            ("de;q=x, fr;q=2", "en"),
            ("fr, de", "fr"),
            ("en-us,en;q=0.9", "en-US"),
            ("en-GB,en;q=0.9", "en"),
            ("de;q=0.5, en-US;q=0.4", "de"),
        ] {
            assert_eq!(Language::preferred(accept).tag(), tag, "{accept}");
        }
    }
}
