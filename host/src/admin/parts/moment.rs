//! Moments as people say them, with the exact time beside.

use model::Instant;
use scheduling::hours::Zone;
use service::locale::Language;
use service::locale::dates::{self, Hours};
use service::locale::html::Html;

use crate::admin::texts::{FrameTexts, fill};

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;
const WEEK_MS: i64 = 7 * DAY_MS;

/// How a reader writes times.
#[derive(Clone)]
pub struct TimeFormat {
    pub zone: Zone,
    pub language: Language,
    pub hours: Hours,
    /// Now, in milliseconds.
    pub now: i64,
}

impl TimeFormat {
    /// A moment with its date, time and offset.
    pub fn exact(&self, at_ms: i64) -> String {
        dates::moment(Instant::from_millis(at_ms), &self.zone, self.language, self.hours)
    }

    /// A moment of the last week by how long ago it was, another one by its date.
    fn spoken(&self, texts: &FrameTexts, at_ms: i64) -> String {
        let ago = self.now - at_ms;
        match ago {
            0..MINUTE_MS => texts.just_now.to_owned(),
            MINUTE_MS..HOUR_MS => counted(ago / MINUTE_MS, texts.minutes_ago),
            HOUR_MS..DAY_MS => counted(ago / HOUR_MS, texts.hours_ago),
            DAY_MS..WEEK_MS => counted(ago / DAY_MS, texts.days_ago),
            _ => {
                let local = dates::local(Instant::from_millis(at_ms), &self.zone);
                dates::day(local.date, self.language)
            }
        }
    }
}

/// A text with a number, in the form for this number.
pub fn counted(n: i64, text: &str) -> String {
    fill(text, &[("n", &n.to_string())])
}

/// Adds a moment as people say it; the exact one is its title.
pub fn moment(html: &mut Html, texts: &FrameTexts, format: &TimeFormat, at_ms: i64) {
    html.raw("<time class=\"num\" datetime=\"").text(&Instant::from_millis(at_ms).to_string());
    html.raw("\" title=\"").text(&format.exact(at_ms)).raw("\">").text(&format.spoken(texts, at_ms));
    html.raw("</time>");
}

/// Adds a moment as logs write it, in the reader's zone, to the second; the exact one is its title.
pub fn stamp(html: &mut Html, format: &TimeFormat, at_ms: i64) {
    let local = format.zone.rules.to_datetime(Instant::from_millis(at_ms).timestamp());
    html.raw("<time class=\"num\" dir=\"ltr\" datetime=\"").text(&Instant::from_millis(at_ms).to_string());
    html.raw("\" title=\"").text(&format.exact(at_ms)).raw("\">");
    html.text(&format!("{} {:02}:{:02}:{:02}", local.date(), local.hour(), local.minute(), local.second()));
    html.raw("</time>");
}

/// Adds a moment with its date and time.
pub fn exact_moment(html: &mut Html, format: &TimeFormat, at_ms: i64) {
    html.raw("<time class=\"num\" datetime=\"").text(&Instant::from_millis(at_ms).to_string()).raw("\">");
    html.text(&format.exact(at_ms)).raw("</time>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin::texts::texts;

    #[test]
    fn a_moment_is_said_as_people_say_it() {
        let language = Language::English;
        let now = "2026-03-10T12:00:00Z".parse::<Instant>().unwrap().as_millis();
        let format = TimeFormat { zone: Zone::utc(), language, hours: Hours::TwentyFour, now };
        let spoken = |ago| format.spoken(texts(language).frame, now - ago);
        assert_eq!(spoken(59_999), "just now");
        assert_eq!(spoken(60_000), "1 minute ago");
        assert_eq!(spoken(59 * MINUTE_MS), "59 minutes ago");
        assert_eq!(spoken(HOUR_MS), "1 hour ago");
        assert_eq!(spoken(DAY_MS), "yesterday");
        assert_eq!(spoken(3 * DAY_MS), "3 days ago");
        assert!(spoken(WEEK_MS).contains("3 March 2026"), "{}", spoken(WEEK_MS));
        assert!(spoken(-DAY_MS).contains("11 March 2026"), "what is yet to come has its date");
    }
}
