//! The visitor's choices, from the query of the page's address. An invalid value counts as absent, except a time zone, which is kept as it
//! was typed.

use base::input::validate;
use jiff::civil::Date;
use model::Instant;
use service::bookings::brand::Color;
use service::locale::Language;
use service::locale::dates::Hours;
use url::form_urlencoded;

/// Most characters of a time zone's name.
const MAX_ZONE: usize = 64;

/// The colour theme of the page. Without a choice the visitor's system decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    Light,
    Dark,
}

impl Theme {
    /// The name in addresses and attributes.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Light => "light",
            Theme::Dark => "dark",
        }
    }
}

/// A state of the page.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The first day of the shown month.
    pub month: Option<Date>,
    pub day: Option<Date>,
    /// The name of a time zone, as it was typed.
    pub zone: Option<String>,
    /// Length of the meeting.
    pub minutes: Option<i64>,
    pub language: Option<Language>,
    pub hours: Option<Hours>,
    pub theme: Option<Theme>,
    /// The colour of the brand; none: the event type's.
    pub color: Option<Color>,
    /// Whether the page is embedded in another site's page.
    pub is_embedded: bool,
    /// The start of the meeting.
    pub start: Option<Instant>,
}

impl Choice {
    /// Reads the query of an address.
    pub fn read(query: &str) -> Choice {
        let mut choice = Choice::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "month" => choice.month = validate::date("month", &format!("{value}-01")).ok(),
                "day" => choice.day = validate::date("day", &value).ok(),
                "tz" => {
                    let zone: String = value.trim().chars().take(MAX_ZONE).collect();
                    choice.zone = Some(zone).filter(|zone| !zone.is_empty());
                }
                "d" => choice.minutes = value.parse().ok(),
                "lang" => choice.language = Language::of_tag(&value),
                "hc" => choice.hours = value.parse().ok().and_then(Hours::of_number),
                "theme" => {
                    choice.theme =
                        [Theme::Light, Theme::Dark].into_iter().find(|theme| theme.name() == &*value);
                }
                "color" => choice.color = Color::read(&value),
                "embed" => choice.is_embedded = &*value == "1",
                "at" => choice.start = value.parse().ok(),
                _ => {}
            }
        }
        choice
    }

    /// The names and values of the query.
    pub fn fields(&self) -> Vec<(&'static str, String)> {
        let mut fields = Vec::new();
        if let Some(month) = self.month {
            fields.push(("month", month.strftime("%Y-%m").to_string()));
        }
        if let Some(day) = self.day {
            fields.push(("day", day.to_string()));
        }
        if let Some(zone) = &self.zone {
            fields.push(("tz", zone.clone()));
        }
        if let Some(minutes) = self.minutes {
            fields.push(("d", minutes.to_string()));
        }
        if let Some(language) = self.language {
            fields.push(("lang", language.tag().to_owned()));
        }
        if let Some(hours) = self.hours {
            fields.push(("hc", hours.number().to_string()));
        }
        if let Some(theme) = self.theme {
            fields.push(("theme", theme.name().to_owned()));
        }
        if let Some(color) = self.color {
            fields.push(("color", color.digits()));
        }
        if self.is_embedded {
            fields.push(("embed", "1".to_owned()));
        }
        if let Some(start) = self.start {
            fields.push(("at", start.to_string()));
        }
        fields
    }

    /// The address of this state, relative to any other of the same page.
    pub fn link(&self) -> String {
        let mut query = form_urlencoded::Serializer::for_suffix("?".to_owned(), 1);
        query.extend_pairs(self.fields());
        query.finish()
    }

    /// The query of this state, to be appended to the path of another page.
    pub fn query(&self) -> String {
        let link = self.link();
        if link == "?" { String::new() } else { link }
    }

    /// The state of the list of times, without a chosen time.
    pub fn without_start(&self) -> Choice {
        Choice { start: None, ..self.clone() }
    }

    /// The choices of presentation, without those of the booking.
    pub fn spoken(&self) -> Choice {
        let Choice { language, hours, theme, color, is_embedded, .. } = *self;
        Choice { language, hours, theme, color, is_embedded, ..Choice::default() }
    }

    /// The choices that stay across the page: zone, duration and presentation.
    pub fn standing(&self) -> Choice {
        Choice { month: None, day: None, start: None, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_from_its_own_address() {
        let query = "month=2026-03&day=2026-03-10&tz=Europe%2FBerlin&d=30&lang=de&hc=12&theme=dark&color=1257c4&embed=1&at=2026-03-10T09%3A00%3A00.000Z";
        assert_eq!(Choice::read(query).link(), format!("?{query}"));
        let unread = Choice::read(
            "month=x&day=2026-02-30&d=many&lang=xx&hc=13&theme=red&color=red&embed=2&at=noon&other=1",
        );
        assert_eq!((unread.link().as_str(), unread.query().as_str()), ("?", ""));
        assert_eq!(Choice::read(query).spoken().query(), "?lang=de&hc=12&theme=dark&color=1257c4&embed=1");
    }
}
