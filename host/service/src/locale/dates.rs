//! Dates and times in the languages of pages and mail, always with Latin digits: times are typed and copied. Times use the 24-hour clock,
//! or the 12-hour clock where a reader prefers it.

use jiff::civil::Date;
use model::Instant;
use scheduling::hours::Zone;

use crate::locale::Language;

/// The 12-hour or the 24-hour clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hours {
    Twelve,
    #[default]
    TwentyFour,
}

impl Hours {
    /// Returns the clock with this number of hours; none for other numbers than 12 and 24.
    pub fn of_number(number: i64) -> Option<Hours> {
        [Hours::Twelve, Hours::TwentyFour].into_iter().find(|hours| hours.number() == number)
    }

    /// 12 or 24.
    pub fn number(self) -> i64 {
        match self {
            Hours::Twelve => 12,
            Hours::TwentyFour => 24,
        }
    }
}

/// A local time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    pub date: Date,
    /// From 0 to 23.
    pub hour: i8,
    pub minute: i8,
    /// `09:30`
    pub clock: String,
    /// `+01:00`
    pub offset: String,
}

/// An instant in a zone.
pub fn local(at: Instant, zone: &Zone) -> Local {
    let zoned = at.timestamp().to_zoned(zone.rules.clone());
    Local {
        date: zoned.date(),
        hour: zoned.hour(),
        minute: zoned.minute(),
        clock: zoned.strftime("%H:%M").to_string(),
        offset: zoned.strftime("%:z").to_string(),
    }
}

/// Returns a moment by this clock, with the offset of its zone: where clocks are set back, a time of the day occurs twice.
pub fn moment(at: Instant, zone: &Zone, language: Language, hours: Hours) -> String {
    let local = local(at, zone);
    let time = clock(&local, language, hours);
    format!("{}{} {time} (UTC{})", day(local.date, language), comma(language), local.offset)
}

fn comma(language: Language) -> &'static str {
    if language == Language::Arabic { "،" } else { "," }
}

/// A time span in parts that can stand below each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanParts {
    /// The day on which it starts.
    pub day: String,
    /// Start and end, with the day of the end if it differs. Where clocks change in between, each has its offset.
    pub times: String,
    /// The offset that both times share.
    pub offset: Option<String>,
}

/// Returns the parts of a time span by this clock.
pub fn span_parts(start: Instant, end: Instant, zone: &Zone, language: Language, hours: Hours) -> SpanParts {
    let (from, to) = (local(start, zone), local(end, zone));
    let (from_clock, to_clock) = (clock(&from, language, hours), clock(&to, language, hours));
    let end = match from.date == to.date {
        true => to_clock,
        false => format!("{}{} {to_clock}", day(to.date, language), comma(language)),
    };
    let (times, offset) = match from.offset == to.offset {
        true => (format!("{from_clock}–{end}"), Some(from.offset)),
        false => (format!("{from_clock} (UTC{})–{end} (UTC{})", from.offset, to.offset), None),
    };
    SpanParts { day: day(from.date, language), times, offset }
}

/// A time of the day: `14:30`, `2:30 PM`.
pub fn clock(local: &Local, language: Language, hours: Hours) -> String {
    if hours == Hours::TwentyFour {
        return local.clock.clone();
    }
    let is_morning = local.hour < 12;
    let half = |morning, afternoon| if is_morning { morning } else { afternoon };
    let of_half = local.hour % 12;
    // Noon and midnight are 12 o'clock, but 0 o'clock in Japanese.
    let hour = if of_half == 0 && language != Language::Japanese { 12 } else { of_half };
    let time = format!("{hour}:{:02}", local.minute);
    match language {
        Language::English | Language::AmericanEnglish | Language::German | Language::French => {
            format!("{time} {}", half("AM", "PM"))
        }
        Language::Spanish => format!("{time} {}", half("a.\u{a0}m.", "p.\u{a0}m.")),
        Language::Japanese => format!("{}{time}", half("午前", "午後")),
        Language::Arabic => format!("{time} {}", half("ص", "م")),
    }
}

/// Monday first.
const ENGLISH_DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const GERMAN_DAYS: [&str; 7] =
    ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"];
const SPANISH_DAYS: [&str; 7] = ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"];
const FRENCH_DAYS: [&str; 7] = ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"];
const ARABIC_DAYS: [&str; 7] = ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"];
const JAPANESE_DAYS: [&str; 7] = ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"];
const ENGLISH_MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const GERMAN_MONTHS: [&str; 12] = [
    "Januar",
    "Februar",
    "März",
    "April",
    "Mai",
    "Juni",
    "Juli",
    "August",
    "September",
    "Oktober",
    "November",
    "Dezember",
];
const SPANISH_MONTHS: [&str; 12] = [
    "enero",
    "febrero",
    "marzo",
    "abril",
    "mayo",
    "junio",
    "julio",
    "agosto",
    "septiembre",
    "octubre",
    "noviembre",
    "diciembre",
];
const FRENCH_MONTHS: [&str; 12] = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
];
const ARABIC_MONTHS: [&str; 12] = [
    "يناير",
    "فبراير",
    "مارس",
    "أبريل",
    "مايو",
    "يونيو",
    "يوليو",
    "أغسطس",
    "سبتمبر",
    "أكتوبر",
    "نوفمبر",
    "ديسمبر",
];

/// Returns the days of the week in the order in which the language writes them: Saturday first in Arabic, Sunday in American English and in
/// Japanese, else Monday.
pub fn weekdays(language: Language) -> [&'static str; 7] {
    let mut days = *names_of_days(language);
    days.rotate_right(days_before_monday(language));
    days
}

/// Returns the same names shortened for a calendar's columns. Arabic has whole words without their article: one letter can stand for
/// several days.
pub fn short_weekdays(language: Language) -> [String; 7] {
    weekdays(language).map(|name| match language {
        Language::Arabic => name.strip_prefix("ال").unwrap_or(name).to_owned(),
        Language::Japanese => beginning(name, 1),
        _ => beginning(name, 2),
    })
}

fn beginning(name: &str, length: usize) -> String {
    name.chars().take(length).collect()
}

/// Returns the number of days of the week before this date.
pub fn place_in_week(date: Date, language: Language) -> usize {
    let after_monday = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
    (after_monday + days_before_monday(language)) % 7
}

/// `Tuesday, 10 March 2026`
pub fn day(date: Date, language: Language) -> String {
    let (weekday, day, year) = (weekday(date, language), date.day(), date.year());
    let month = month_name(date, language);
    match language {
        Language::English => format!("{weekday}, {day} {month} {year}"),
        Language::AmericanEnglish => format!("{weekday}, {month} {day}, {year}"),
        Language::German => format!("{weekday}, {day}. {month} {year}"),
        Language::Spanish => format!("{weekday}, {day} de {month} de {year}"),
        Language::French if day == 1 => format!("{weekday} 1er {month} {year}"),
        Language::French => format!("{weekday} {day} {month} {year}"),
        Language::Japanese => format!("{year}年{}月{day}日（{weekday}）", date.month()),
        Language::Arabic => format!("{weekday}، {day} {month} {year}"),
    }
}

/// Returns the day without its year, and its weekday in the shortest form: `Tue, 10 March`.
pub fn short_day(date: Date, language: Language) -> String {
    let (name, day) = (weekday(date, language), day_of_month(date, language));
    match language {
        Language::English | Language::AmericanEnglish | Language::Spanish => {
            format!("{}, {day}", beginning(name, 3))
        }
        Language::German => format!("{}, {day}", beginning(name, 2)),
        Language::French => format!("{}. {day}", beginning(name, 3)),
        Language::Japanese => format!("{day}（{}）", beginning(name, 1)),
        Language::Arabic => format!("{name} {day}"),
    }
}

/// The day and its month: `10 March`.
pub fn day_of_month(date: Date, language: Language) -> String {
    let (day, month) = (date.day(), month_name(date, language));
    match language {
        Language::English | Language::Arabic => format!("{day} {month}"),
        Language::AmericanEnglish => format!("{month} {day}"),
        Language::German => format!("{day}. {month}"),
        Language::Spanish => format!("{day} de {month}"),
        Language::French if day == 1 => format!("1er {month}"),
        Language::French => format!("{day} {month}"),
        Language::Japanese => format!("{}月{day}日", date.month()),
    }
}

/// `March 2026`
pub fn month(date: Date, language: Language) -> String {
    let (month, year) = (month_name(date, language), date.year());
    match language {
        Language::Spanish => format!("{month} de {year}"),
        Language::Japanese => format!("{year}年{}月", date.month()),
        _ => format!("{month} {year}"),
    }
}

/// Returns the month without its year, in the form that it has inside a sentence: `March`.
pub fn month_alone(date: Date, language: Language) -> String {
    match language {
        Language::Japanese => format!("{}月", date.month()),
        _ => month_name(date, language).to_owned(),
    }
}

/// Returns the number of days that the language writes before the Monday of a week.
// Contract silent: the first day where the region is not known. It is that of most speakers' regions.
fn days_before_monday(language: Language) -> usize {
    match language {
        Language::AmericanEnglish | Language::Japanese => 1,
        Language::Arabic => 2,
        Language::English | Language::German | Language::Spanish | Language::French => 0,
    }
}

fn names_of_days(language: Language) -> &'static [&'static str; 7] {
    match language {
        Language::English | Language::AmericanEnglish => &ENGLISH_DAYS,
        Language::German => &GERMAN_DAYS,
        Language::Spanish => &SPANISH_DAYS,
        Language::French => &FRENCH_DAYS,
        Language::Japanese => &JAPANESE_DAYS,
        Language::Arabic => &ARABIC_DAYS,
    }
}

fn weekday(date: Date, language: Language) -> &'static str {
    let place = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or(0);
    names_of_days(language).get(place).copied().unwrap_or_default()
}

/// Returns the month's name; empty in Japanese, which writes its number.
fn month_name(date: Date, language: Language) -> &'static str {
    let names = match language {
        Language::English | Language::AmericanEnglish => &ENGLISH_MONTHS,
        Language::German => &GERMAN_MONTHS,
        Language::Spanish => &SPANISH_MONTHS,
        Language::French => &FRENCH_MONTHS,
        Language::Arabic => &ARABIC_MONTHS,
        Language::Japanese => return "",
    };
    let place = usize::try_from(date.month() - 1).unwrap_or(0);
    names.get(place).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_written_as_the_language_writes_it() {
        let date: Date = "2026-03-01".parse().unwrap();
        for (language, written) in [
            (Language::English, "Sunday, 1 March 2026"),
            (Language::AmericanEnglish, "Sunday, March 1, 2026"),
            (Language::German, "Sonntag, 1. März 2026"),
            (Language::Spanish, "domingo, 1 de marzo de 2026"),
            (Language::French, "dimanche 1er mars 2026"),
            (Language::Japanese, "2026年3月1日（日曜日）"),
            (Language::Arabic, "الأحد، 1 مارس 2026"),
        ] {
            assert_eq!(day(date, language), written);
        }
        let places = [Language::AmericanEnglish, Language::English, Language::Arabic]
            .map(|of| place_in_week(date, of));
        assert_eq!(places, [0, 6, 1]);
        let first =
            [Language::AmericanEnglish, Language::English, Language::French].map(|of| weekdays(of)[0]);
        assert_eq!(first, ["Sunday", "Monday", "lundi"]);
    }

    #[test]
    fn a_short_day_is_written_as_the_language_writes_it() {
        let date: Date = "2026-03-01".parse().unwrap();
        for (language, short, of_month) in [
            (Language::English, "Sun, 1 March", "1 March"),
            (Language::AmericanEnglish, "Sun, March 1", "March 1"),
            (Language::German, "So, 1. März", "1. März"),
            (Language::Spanish, "dom, 1 de marzo", "1 de marzo"),
            (Language::French, "dim. 1er mars", "1er mars"),
            (Language::Japanese, "3月1日（日）", "3月1日"),
            (Language::Arabic, "الأحد 1 مارس", "1 مارس"),
        ] {
            assert_eq!(
                (short_day(date, language).as_str(), day_of_month(date, language).as_str()),
                (short, of_month)
            );
        }
    }

    #[test]
    fn a_clock_of_twelve_hours_is_written_as_the_language_writes_it() {
        let zone = Zone::utc();
        let at = |time: &str| local(format!("2026-03-10T{time}:00Z").parse().unwrap(), &zone);
        for (time, language, written) in [
            ("00:05", Language::English, "12:05 AM"),
            ("12:00", Language::English, "12:00 PM"),
            ("14:30", Language::German, "2:30 PM"),
            ("09:30", Language::Spanish, "9:30 a.\u{a0}m."),
            ("12:15", Language::Japanese, "午後0:15"),
            ("14:30", Language::Arabic, "2:30 م"),
        ] {
            assert_eq!(clock(&at(time), language, Hours::Twelve), written);
        }
        assert_eq!(clock(&at("14:30"), Language::English, Hours::TwentyFour), "14:30");
        let short =
            [Language::English, Language::Spanish, Language::Japanese].map(|l| short_weekdays(l)[3].clone());
        assert_eq!(short, ["Th", "ju", "水"]);
        assert_eq!(short_weekdays(Language::Arabic)[..2], ["سبت", "أحد"]);
    }

    /// The parts of a span, joined.
    fn span(start: Instant, end: Instant, zone: &Zone, language: Language, hours: Hours) -> String {
        let SpanParts { day, times, offset } = span_parts(start, end, zone, language, hours);
        let offset = offset.map(|offset| format!(" (UTC{offset})"));
        format!("{day}, {times}{}", offset.unwrap_or_default())
    }

    #[test]
    fn a_meeting_over_a_change_of_clocks_names_both_offsets() {
        let at = |text: &str| text.parse::<Instant>().unwrap();
        for (zone, start, end, language, told) in [
            (
                "Europe/Berlin",
                "2026-10-25T00:45:00Z",
                "2026-10-25T01:15:00Z",
                Language::English,
                "Sunday, 25 October 2026, 02:45 (UTC+02:00)–02:15 (UTC+01:00)",
            ),
            (
                "Europe/Berlin",
                "2026-03-29T00:30:00Z",
                "2026-03-29T01:30:00Z",
                Language::German,
                "Sonntag, 29. März 2026, 01:30 (UTC+01:00)–03:30 (UTC+02:00)",
            ),
            (
                "Australia/Lord_Howe",
                "2026-04-04T14:45:00Z",
                "2026-04-04T15:15:00Z",
                Language::English,
                "Sunday, 5 April 2026, 01:45 (UTC+11:00)–01:45 (UTC+10:30)",
            ),
            // Both times lie in the hour that occurs twice; the shared offset distinguishes them.
            (
                "Europe/Berlin",
                "2026-10-25T01:15:00Z",
                "2026-10-25T01:45:00Z",
                Language::English,
                "Sunday, 25 October 2026, 02:15–02:45 (UTC+01:00)",
            ),
        ] {
            let zone = Zone::named(zone).unwrap();
            assert_eq!(span(at(start), at(end), &zone, language, Hours::TwentyFour), told);
        }
        let zone = Zone::named("Europe/Berlin").unwrap();
        let twice = ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
            .map(|text| moment(at(text), &zone, Language::French, Hours::TwentyFour));
        assert_eq!(
            twice,
            ["dimanche 25 octobre 2026, 02:30 (UTC+02:00)", "dimanche 25 octobre 2026, 02:30 (UTC+01:00)"]
        );
    }

    #[test]
    fn a_meeting_past_midnight_names_both_days() {
        let zone = Zone::named("Europe/Berlin").unwrap();
        let at = |text: &str| text.parse::<Instant>().unwrap();
        let (start, end) = (at("2026-03-10T22:45:00Z"), at("2026-03-10T23:15:00Z"));
        let told = span(start, end, &zone, Language::English, Hours::TwentyFour);
        let expected = "Tuesday, 10 March 2026, 23:45–Wednesday, 11 March 2026, 00:15 (UTC+01:00)";
        assert_eq!(told, expected);
        let american = moment(start, &zone, Language::AmericanEnglish, Hours::Twelve);
        assert_eq!(american, "Tuesday, March 10, 2026, 11:45 PM (UTC+01:00)");
    }

    #[test]
    fn a_meeting_has_its_day_its_times_and_their_offset() {
        let at = |text: &str| text.parse::<Instant>().unwrap();
        let (start, end) = (at("2026-03-10T09:00:00Z"), at("2026-03-10T09:30:00Z"));
        let parts = span_parts(start, end, &Zone::utc(), Language::AmericanEnglish, Hours::Twelve);
        assert_eq!(
            (parts.day.as_str(), parts.times.as_str()),
            ("Tuesday, March 10, 2026", "9:00 AM–9:30 AM")
        );
        assert_eq!(parts.offset.as_deref(), Some("+00:00"));
    }

    #[test]
    fn a_clock_is_known_by_its_hours() {
        assert_eq!([12, 24, 0].map(Hours::of_number), [Some(Hours::Twelve), Some(Hours::TwentyFour), None]);
        let date: Date = "2026-11-01".parse().unwrap();
        let months = [Language::German, Language::Japanese].map(|language| month_alone(date, language));
        assert_eq!(months, ["November", "11月"]);
    }
}
