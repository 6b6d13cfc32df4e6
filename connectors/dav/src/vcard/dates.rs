//! BDAY, ANNIVERSARY and their relatives: days with or without a year in the spellings of both versions.

use jiff::civil::Date;
use model::contacts::{Anniversary, PartialDate};
use vcard::tree::line::VcardLine;

use crate::vcard::lines::{Version, View, escape, has_param, is, line, param, value, with_param, with_raw};
use crate::vcard::lists::{Entry, GroupedLine, MAX_ENTRIES};
use crate::vcard::people::label_of;
use crate::vcard::tag::{LABEL, Label, label};

/// Properties with a day of the year that only one kind of thing happens on.
const ANNIVERSARIES: [(&str, &str); 5] = [
    ("ANNIVERSARY", "wedding"),
    ("X-ANNIVERSARY", "wedding"),
    ("X-EVOLUTION-ANNIVERSARY", "wedding"),
    ("X-KADDRESSBOOK-X-ANNIVERSARY", "wedding"),
    ("DEATHDATE", "death"),
];
/// Apple's day with a label.
const LABELLED: &str = "X-ABDATE";
/// The year that Apple writes for dates without one.
const NO_YEAR: i64 = 1604;

/// Whether a property is a day that is no birthday.
pub fn is_anniversary(line: &VcardLine) -> bool {
    is(line, LABELLED) || ANNIVERSARIES.iter().any(|(name, _)| is(line, name))
}

/// The day that a line says; none where it is not a whole day.
pub fn day(line: &VcardLine) -> Option<PartialDate> {
    if has_param(line, "VALUE", "text") {
        return None;
    }
    let text = value(line);
    let mut date = read(text.trim())?;
    let omitted = param(line, "X-APPLE-OMIT-YEAR").and_then(|year| year.trim().parse::<i64>().ok());
    if date.year.is_some() && date.year == omitted {
        date.year = None;
    }
    Some(date)
}

/// `19850412`, `1985-04-12`, `--0415`, `--04-15`, each with a time behind it or without (RFC 6350 section 4.3, RFC 2426 section
/// 4).
fn read(text: &str) -> Option<PartialDate> {
    let text = text.split(['T', 't', ' ']).next()?;
    let (year, rest) = match text.strip_prefix("--") {
        Some(rest) => (None, rest),
        None => {
            let (year, rest) = text.split_at_checked(4)?;
            (Some(number(year)?), rest.strip_prefix('-').unwrap_or(rest))
        }
    };
    let (month, rest) = rest.split_at_checked(2)?;
    let day = rest.strip_prefix('-').unwrap_or(rest);
    let date = PartialDate { year, month: number(month)?, day: number(day).filter(|_| day.len() == 2)? };
    is_day(&date).then_some(date)
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

/// Whether there is such a day.
pub fn is_day(date: &PartialDate) -> bool {
    // 29 February is a valid day where no year is given.
    let year = i16::try_from(date.year.unwrap_or(NO_YEAR)).ok().filter(|year| (1..=9999).contains(year));
    let day = (i8::try_from(date.month), i8::try_from(date.day));
    matches!((year, day), (Some(year), (Ok(month), Ok(day))) if Date::new(year, month, day).is_ok())
}

/// A line with this day. Parameters that say how the old one was written go.
pub fn day_line(
    name: &str,
    old: Option<&VcardLine>,
    date: &PartialDate,
    version: Version,
) -> VcardLine<'static> {
    let (year, month, day) = (date.year, date.month, date.day);
    let text = match (version, year) {
        (Version::V4, Some(year)) => format!("{year:04}{month:02}{day:02}"),
        (Version::V4, None) => format!("--{month:02}{day:02}"),
        (Version::V3, year) => format!("{:04}-{month:02}-{day:02}", year.unwrap_or(NO_YEAR)),
    };
    let made = match old {
        Some(old) => ["VALUE", "CALSCALE", "X-APPLE-OMIT-YEAR"]
            .iter()
            .fold(with_raw(old, &text), |line, name| with_param(&line, name, None)),
        None => line(name, &[], &text),
    };
    match (version, year) {
        // vCard 3.0 has no days without a year; Apple's way is the one that others read.
        (Version::V3, None) => with_param(&made, "X-APPLE-OMIT-YEAR", Some("1604")),
        _ => made,
    }
}

impl Entry for Anniversary {
    fn all(view: &View) -> Vec<(usize, Self)> {
        let read = |(at, line): &(usize, &VcardLine)| {
            let known =
                ANNIVERSARIES.iter().find(|(name, _)| is(line, name)).map(|(_, kind)| (*kind).to_owned());
            if known.is_none() && !is(line, LABELLED) {
                return None;
            }
            let labelled = || label(view, line).map(Label::into_words);
            let kind = known.or_else(labelled).map(|kind| match kind.as_str() {
                "anniversary" => "wedding".to_owned(),
                _ => kind,
            });
            Some((*at, Anniversary { kind, date: day(line)? }))
        };
        view.lines.iter().filter_map(read).take(MAX_ENTRIES).collect()
    }

    fn key(&self) -> String {
        format!("{:?}", self.kind)
    }

    fn rest(&self) -> String {
        format!("{:?}", self.date)
    }

    fn write(&self, version: Version, old: Option<(&VcardLine, &Self)>) -> GroupedLine {
        let Anniversary { kind, date } = self;
        if let Some((old, _)) = old.filter(|(_, was)| was.kind == *kind) {
            return GroupedLine {
                line: day_line(old.bare_name(), Some(old), date, version),
                beside: Vec::new(),
            };
        }
        let labelled = |label: Option<String>| GroupedLine {
            line: match old {
                Some((old, _)) if is(old, LABELLED) => day_line(LABELLED, Some(old), date, version),
                _ => day_line(LABELLED, None, date, version),
            },
            beside: vec![(LABEL, label.map(|label| escape(&label)))],
        };
        match (kind.as_deref(), version) {
            (Some("wedding"), Version::V4) => {
                GroupedLine { line: day_line("ANNIVERSARY", None, date, version), beside: Vec::new() }
            }
            (Some("death"), Version::V4) => {
                GroupedLine { line: day_line("DEATHDATE", None, date, version), beside: Vec::new() }
            }
            // Apple's programs and those that read Apple's fields; none of them reads X-ANNIVERSARY.
            (Some("wedding"), Version::V3) => labelled(Some("_$!<Anniversary>!$_".into())),
            (kind, _) => labelled(kind.map(|kind| label_of(kind, &["other"]))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn days_are_read_in_every_spelling() {
        let cases = [
            ("19850412", "1985-4-12"),
            ("1985-04-12", "1985-4-12"),
            ("1985-04-12T10:00:00Z", "1985-4-12"),
            ("--0415", "any-4-15"),
            ("--04-15", "any-4-15"),
            ("--0229", "any-2-29"),
            ("1985", "none"),
            ("1985-04", "none"),
            ("---12", "none"),
            ("--04", "none"),
            ("19850231", "none"),
            ("0000-01-01", "none"),
            ("circa 1800", "none"),
            ("", "none"),
            ("+1+1+1+1", "none"),
            ("ä985-04-12", "none"),
        ];
        for (text, expected) in cases {
            let date = read(text);
            let shown = date.map_or("none".to_owned(), |date| {
                let year = date.year.map_or("any".to_owned(), |year| year.to_string());
                format!("{year}-{}-{}", date.month, date.day)
            });
            assert_eq!(shown, expected, "{text}");
        }
    }
}
