//! Parses recurrence lines into name, parameters and value, and the values of RDATE and EXDATE into dates.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::Invalid;
use crate::date::{Basic, DAY, local_seconds, named_day};
use crate::duration::days_and_seconds;
use crate::zones::{Clock, zone};

/// The maximum total length of a series' lines, in bytes.
pub(crate) const MAX_BYTES: usize = 256 * 1024;
/// The maximum total number of dates in RDATE and EXDATE lines.
pub(crate) const MAX_DATES: usize = 10_000;

/// A line, split into its parts and otherwise as written.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The name in upper case.
    pub(crate) name: String,
    /// The parameters between the name and the value, with their leading `;`; may be empty.
    pub(crate) params: String,
    pub(crate) value: String,
}

impl Line {
    pub(crate) fn parse(text: &str) -> Result<Line, Invalid> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err(Invalid::new(text, "has a control character; give one unfolded line per entry"));
        }
        let mut quoted = false;
        let colon = text.find(|c| {
            quoted ^= c == '"';
            c == ':' && !quoted
        });
        let Some((head, value)) = colon.and_then(|colon| text.split_at_checked(colon)) else {
            return Err(Invalid::new(text, "has no value; use RRULE:…, RDATE:… or EXDATE:…"));
        };
        let value = value.strip_prefix(':').unwrap_or(value);
        let (name, params) = head.find(';').map_or((head, ""), |at| head.split_at(at));
        Ok(Line {
            name: name.to_ascii_uppercase(),
            params: params.to_owned(),
            value: value.trim().to_owned(),
        })
    }

    pub(crate) fn text(&self) -> String {
        format!("{}{}:{}", self.name, self.params, self.value)
    }

    /// A parameter's value without quotes.
    pub(crate) fn param(&self, name: &str) -> Option<String> {
        self.params.split(';').find_map(|param| {
            let (key, value) = param.split_once('=')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim_matches('"').to_owned())
        })
    }

    /// The line with these values.
    pub(crate) fn with_values(&self, values: &[&str]) -> Line {
        Line { value: values.join(","), ..self.clone() }
    }
}

/// A date of an RDATE or EXDATE, in the series' time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListedDate {
    pub(crate) at: Moment,
    /// The end of an RDATE period, in seconds since the Unix epoch; none for other dates.
    pub(crate) end: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A whole local day, at its midnight (local seconds).
    Day(i64),
    /// An instant (seconds since the Unix epoch) and its local time in the series' zone, as written or computed.
    Time { epoch: i64, local: i64 },
}

/// A value of a line, and its date if it can be parsed.
pub(crate) type Reading<'l> = (&'l str, Option<ListedDate>);

/// Returns the error for a value that is not a date. The cost is linear in the length of the line.
pub(crate) fn unread(line: &Line, value: &str) -> Invalid {
    let value: String = value.chars().take(40).collect();
    Invalid::new(&line.text(), format!("{value:?} is not a date or time, such as 20260301T090000Z"))
}

/// Reads the dates of RDATE and EXDATE lines in the series' zone.
pub(crate) struct DateReader<'a> {
    pub(crate) series_zone: &'a TimeZone,
    pub(crate) all_day: bool,
}

impl DateReader<'_> {
    /// Returns each value of the line with its date, in the written order. Fails if one cannot be parsed.
    pub(crate) fn read<'l>(&self, line: &'l Line) -> Result<Vec<(&'l str, ListedDate)>, Invalid> {
        let read =
            |(text, date): Reading<'l>| date.map(|date| (text, date)).ok_or_else(|| unread(line, text));
        self.read_each(line)?.into_iter().map(read).collect()
    }

    /// Returns each value of the line with its date, none if it cannot be parsed. Fails if the line's time zone is unknown.
    pub(crate) fn read_each<'l>(&self, line: &'l Line) -> Result<Vec<Reading<'l>>, Invalid> {
        let own = match line.param("TZID") {
            Some(name) => Some(zone(&name).map_err(|e| {
                let name: String = name.chars().take(60).collect();
                Invalid::new(&line.text(), format!("TZID {name:?}: {}", e.reason))
            })?),
            None => None,
        };
        let mut series = Clock::new(self.series_zone);
        let mut written = own.as_ref().map(Clock::new);
        let values = line.value.split(',').map(str::trim).filter(|value| !value.is_empty());
        Ok(values.map(|value| (value, self.one(value, &mut series, written.as_mut()))).collect())
    }

    /// The day of an instant in an all-day series, as local seconds of its midnight.
    fn day_of(&self, epoch: i64) -> Option<i64> {
        let at = Timestamp::from_second(epoch).ok()?;
        let day = named_day(at, self.series_zone.to_datetime(at));
        Some(local_seconds(day.to_datetime(jiff::civil::Time::midnight())))
    }

    fn one(&self, text: &str, series: &mut Clock, own: Option<&mut Clock>) -> Option<ListedDate> {
        let (start, length) = text.split_once('/').map_or((text, None), |(start, rest)| (start, Some(rest)));
        let at = Basic::parse(start)?;
        if self.all_day || matches!(at, Basic::Date(_)) {
            // A timed exclusion of an all-day series, as some clients write it, excludes its day.
            let at = match at {
                Basic::Utc(epoch) if self.all_day => Basic::Date(self.day_of(epoch)?),
                at => at,
            };
            return Some(ListedDate { at: Moment::Day(at.seconds().div_euclid(DAY) * DAY), end: None });
        }
        let mut clock = own;
        let mut resolve = |at: Basic| match (at, clock.as_mut()) {
            (Basic::Utc(epoch), _) => Some(Moment::Time { epoch, local: series.local(epoch * 1000) }),
            (Basic::Local(local), None) => {
                series.resolve(local).map(|r| Moment::Time { epoch: r.epoch, local })
            }
            (Basic::Local(local), Some(other)) => other.resolve(local).map(|r| {
                // In the series' own zone the written local time identifies the instance, even in a gap.
                let told = series.local(r.epoch * 1000);
                let same = series.resolve(local).is_some_and(|own| own.epoch == r.epoch);
                Moment::Time { epoch: r.epoch, local: if same { local } else { told } }
            }),
            (Basic::Date(_), _) => None,
        };
        let at_moment = resolve(at)?;
        let Moment::Time { epoch, .. } = at_moment else { return None };
        let end = match length {
            None => None,
            Some(span) if span.starts_with(['P', '+', 'p']) => {
                let (days, seconds) = days_and_seconds(span)?;
                let days = days.saturating_mul(DAY);
                let last = match at {
                    Basic::Local(local) if days != 0 => {
                        match resolve(Basic::Local(local.saturating_add(days)))? {
                            Moment::Time { epoch, .. } => epoch,
                            Moment::Day(_) => return None,
                        }
                    }
                    _ => epoch.saturating_add(days),
                };
                Some(last.saturating_add(seconds).max(epoch))
            }
            Some(end) => match resolve(Basic::parse(end)?) {
                Some(Moment::Time { epoch: end, .. }) if end >= epoch => Some(end),
                _ => return None,
            },
        };
        Some(ListedDate { at: at_moment, end })
    }
}

#[cfg(test)]
mod tests {
    use super::{DateReader, Line, Moment};
    use crate::date::Basic;
    use crate::zone;

    fn read(line: &str) -> Vec<(String, Moment)> {
        let berlin = zone("Europe/Berlin").unwrap();
        let line = Line::parse(line).unwrap();
        let dates = DateReader { series_zone: &berlin, all_day: false }.read(&line).unwrap();
        dates.into_iter().map(|(text, date)| (text.to_owned(), date.at)).collect()
    }

    #[test]
    fn the_same_instant_in_three_spellings() {
        let expected = Moment::Time {
            epoch: Basic::parse("20260301T080000Z").unwrap().seconds(),
            local: Basic::parse("20260301T090000").unwrap().seconds(),
        };
        for line in [
            "EXDATE:20260301T080000Z",
            "EXDATE:20260301T090000",
            "EXDATE;TZID=Europe/Berlin:20260301T090000",
            "exdate;tzid=\"America/New_York\":20260301T030000",
        ] {
            assert_eq!(read(line)[0].1, expected, "{line}");
        }
    }

    #[test]
    fn a_colon_inside_quotes_is_not_the_end_of_the_parameters() {
        let line = Line::parse("RDATE;X-A=\"b:c\";VALUE=DATE:20260301").unwrap();
        assert_eq!((line.name.as_str(), line.value.as_str()), ("RDATE", "20260301"));
        assert_eq!(line.param("value").as_deref(), Some("DATE"));
    }
}
