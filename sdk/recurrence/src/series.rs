//! A parsed series: its start, the length of an instance, its rules and its dates.

use std::cmp::Reverse;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::Instant;
use model::calendar::Event;

use crate::Error;
use crate::Invalid;
use crate::date::{Basic, DAY, local_seconds, parse_recurrence_id, recurrence_id};
use crate::duration::days_and_seconds;
use crate::line::{DateReader, Line, MAX_BYTES, MAX_DATES, Moment, unread};
use crate::occurrence::Occurrence;
use crate::own_zone::zone_of;
use crate::rule::{Repeat, Rule};
use crate::zones::{Clock, zone};

/// The maximum number of RRULE and EXRULE lines together: each needs a separate walk.
const MAX_RULES: usize = 20;
/// The maximum number of faults of dates that are kept.
const MAX_FAULTS: usize = 10;

/// The start of a series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A local time in a zone.
    Timed {
        /// The local date and time of the first instance.
        local: DateTime,
        /// The name of the time zone, as the event has it.
        zone: String,
    },
    /// A day. The zone determines the instant of its midnight.
    AllDay {
        /// The day of the first instance.
        date: Date,
        /// The name of the time zone, as the event has it.
        zone: String,
    },
}

/// The maximum length in days: all years that can be represented.
const MAX_DAYS: i64 = 366 * 9_999;

/// The length of each instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Milliseconds of elapsed time, whatever the zone's transitions.
    Exact(i64),
    /// Whole days of an all-day series, at least 1.
    Days(i64),
    /// Calendar days, then milliseconds of elapsed time: a DURATION with days (RFC 5545 §3.8.5.3).
    Nominal {
        /// Calendar days.
        days: i64,
        /// Milliseconds of elapsed time after the days.
        ms: i64,
    },
}

/// A parsed series.
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) zone: TimeZone,
    pub(crate) zone_name: String,
    pub(crate) all_day: bool,
    /// The start in local seconds.
    pub(crate) start: i64,
    /// The fraction of a second of the start, milliseconds.
    pub(crate) millis: i64,
    length: Length,
    /// The lines as written, in order.
    pub(crate) lines: Vec<Line>,
    /// The RRULE and EXRULE lines, in order.
    pub(crate) repeats: Vec<Repeat>,
    /// The RDATE instances, in the order of [`Series::key`].
    pub(crate) added: Vec<FoundInstance>,
    /// Excluded instants (seconds since the Unix epoch), sorted.
    excluded: Vec<i64>,
    /// Excluded local days (local seconds of midnight), sorted.
    excluded_days: Vec<i64>,
    faults: Vec<Invalid>,
}

/// An instance by its instant and its local time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FoundInstance {
    /// Seconds since the Unix epoch.
    pub(crate) epoch: i64,
    /// The local second that the rule or the line gives; it identifies the instance.
    pub(crate) local: i64,
    /// Whether the rule or DTSTART gives the instance; false for an RDATE.
    pub(crate) by_rule: bool,
    /// The end of an RDATE period; none for other instances.
    pub(crate) end: Option<i64>,
}

impl Series {
    /// Parses the series of an event of type `series`. Fails with `Invalid`, which names the line.
    pub fn parse(event: &Event) -> Result<Series, Invalid> {
        if event.all_day {
            let text = event.start_date.as_deref().unwrap_or_default();
            let day = |text: &str| {
                text.parse::<Date>().map_err(|_| {
                    Invalid::new(text, "is not a date; give startDate and endDate as YYYY-MM-DD")
                })
            };
            let date = day(text)?;
            let end = event.end_date.as_deref().map(day).transpose()?;
            let days = end.map_or(1, |end| i64::from((end - date).get_days()));
            let start = Start::AllDay { date, zone: event.time_zone.clone() };
            return Series::new(&start, Length::Days(days.max(1)), &event.recurrence);
        }
        let zone = zone_of(event)?;
        let local = zone.to_datetime(event.start.timestamp());
        let ms = event.end.as_millis().saturating_sub(event.start.as_millis());
        let length = match event.duration.as_deref().and_then(days_and_seconds) {
            Some((days, seconds)) if days > 0 && seconds >= 0 => {
                Length::Nominal { days, ms: seconds.saturating_mul(1000) }
            }
            _ => Length::Exact(ms),
        };
        let start = Start::Timed { local, zone: event.time_zone.clone() };
        Series::in_zone(&start, zone, length, &event.recurrence)
    }

    /// Creates a series from its parts. The lines are parsed leniently; [`crate::validate`] has the strict rules for input.
    pub fn new(start: &Start, length: Length, lines: &[String]) -> Result<Series, Invalid> {
        let (Start::Timed { zone: name, .. } | Start::AllDay { zone: name, .. }) = start;
        Series::in_zone(start, zone(name)?, length, lines)
    }

    /// Creates a series in `zone`, which may be a zone without a name.
    fn in_zone(start: &Start, zone: TimeZone, length: Length, lines: &[String]) -> Result<Series, Invalid> {
        let (local, name, all_day) = match start {
            Start::Timed { local, zone } => (*local, zone, false),
            Start::AllDay { date, zone } => (date.to_datetime(jiff::civil::Time::midnight()), zone, true),
        };
        if !(1..=9998).contains(&local.year()) {
            return Err(Invalid::new(&local.to_string(), "a series starts in the years 1 to 9998"));
        }
        let mut series = Series {
            zone,
            zone_name: name.clone(),
            all_day,
            start: local_seconds(local),
            millis: i64::from(local.subsec_nanosecond()) / 1_000_000,
            length: match length {
                Length::Exact(ms) => Length::Exact(ms.max(0)),
                Length::Days(days) => Length::Days(days.max(1)),
                Length::Nominal { days, ms } => {
                    Length::Nominal { days: days.clamp(0, MAX_DAYS), ms: ms.max(0) }
                }
            },
            lines: Vec::new(),
            repeats: Vec::new(),
            added: Vec::new(),
            excluded: Vec::new(),
            excluded_days: Vec::new(),
            faults: Vec::new(),
        };
        series.read(lines)?;
        Ok(series)
    }

    fn read(&mut self, lines: &[String]) -> Result<(), Invalid> {
        if lines.iter().map(String::len).sum::<usize>() > MAX_BYTES {
            return Err(Invalid::new("recurrence", format!("is longer than {MAX_BYTES} bytes")));
        }
        for text in lines.iter().filter(|text| !text.trim().is_empty()) {
            let line = Line::parse(text)?;
            match line.name.as_str() {
                "RRULE" | "EXRULE" if self.repeats.len() == MAX_RULES => {
                    return Err(Invalid::new(text, format!("is one of more than {MAX_RULES} rules")));
                }
                "RRULE" | "EXRULE" => {
                    let rule = Rule::parse(&line)?;
                    let completed = rule.completed(self.start);
                    self.repeats.push(Repeat { rule, completed, excludes: line.name == "EXRULE" });
                }
                "RDATE" | "EXDATE" => self.read_dates(&line),
                _ => return Err(Invalid::new(text, "is not RRULE, RDATE, EXDATE or EXRULE")),
            }
            self.lines.push(line);
        }
        if self.added.len() + self.excluded.len() + self.excluded_days.len() > MAX_DATES {
            return Err(Invalid::new("recurrence", format!("lists more than {MAX_DATES} dates")));
        }
        self.excluded.sort_unstable();
        self.excluded_days.sort_unstable();
        let mut added = std::mem::take(&mut self.added);
        added.sort_by_key(|found| self.key(found));
        self.added = added;
        Ok(())
    }

    /// Adds the dates of a line; those that cannot be parsed become faults.
    fn read_dates(&mut self, line: &Line) {
        let adds = line.name == "RDATE";
        let mut clock = Clock::new(&self.zone);
        let dates = match self.date_reader().read_each(line) {
            Ok(dates) => dates,
            Err(fault) => return self.add_fault(|| fault),
        };
        for (text, date) in dates {
            let Some(date) = date else {
                self.add_fault(|| unread(line, text));
                continue;
            };
            match date.at {
                Moment::Day(day) if adds => {
                    // A day without a time gets the time of day of the start.
                    let local = if self.all_day { day } else { day + self.start.rem_euclid(DAY) };
                    match clock.resolve(local) {
                        Some(at) => {
                            self.added.push(FoundInstance {
                                epoch: at.epoch,
                                local,
                                by_rule: false,
                                end: None,
                            });
                        }
                        None => self.add_fault(|| Invalid::new(text, "is out of range")),
                    }
                }
                Moment::Time { epoch, local } if adds => {
                    self.added.push(FoundInstance { epoch, local, by_rule: false, end: date.end });
                }
                Moment::Day(day) => self.excluded_days.push(day),
                Moment::Time { epoch, .. } => self.excluded.push(epoch),
            }
        }
    }

    fn add_fault(&mut self, fault: impl FnOnce() -> Invalid) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault());
        }
    }

    /// The first ten dates of RDATE and EXDATE that cannot be parsed, each with its line. The series is expanded without them.
    pub fn faults(&self) -> &[Invalid] {
        &self.faults
    }

    pub(crate) fn date_reader(&self) -> DateReader<'_> {
        DateReader { series_zone: &self.zone, all_day: self.all_day }
    }

    /// The local second that a recurrence id names.
    pub(crate) fn local_of(&self, recurrence_id: &str) -> Result<i64, Error> {
        parse_recurrence_id(recurrence_id, self.all_day)
            .ok_or_else(|| Error::NoSuchInstance(recurrence_id.chars().take(40).collect()))
    }

    /// The instant of a local second, in seconds since the Unix epoch.
    pub(crate) fn epoch_of(&self, local: i64) -> Option<i64> {
        Clock::new(&self.zone).resolve(local).map(|r| r.epoch)
    }

    /// The original start that a recurrence id (as `Event.recurrenceId`) names, whether or not the instance exists.
    pub fn original_start(&self, recurrence_id: &str) -> Option<Instant> {
        let local = parse_recurrence_id(recurrence_id, self.all_day)?;
        self.epoch_of(local).map(|epoch| Instant::from_millis(epoch * 1000 + self.millis))
    }

    /// The local second that the series' zone shows at an instant.
    pub(crate) fn local_at(&self, epoch: i64) -> i64 {
        Clock::new(&self.zone).local(epoch.saturating_mul(1000))
    }

    /// Whether an EXDATE names this instance.
    pub(crate) fn excludes(&self, epoch: i64, local: i64) -> bool {
        self.is_excluded(&FoundInstance { epoch, local, by_rule: true, end: None })
    }

    /// The series with other lines.
    pub(crate) fn with_lines(&self, lines: &[String]) -> Result<Series, Invalid> {
        let mut other = Series {
            lines: Vec::new(),
            repeats: Vec::new(),
            added: Vec::new(),
            excluded: Vec::new(),
            excluded_days: Vec::new(),
            faults: Vec::new(),
            ..self.clone()
        };
        other.read(lines)?;
        Ok(other)
    }

    /// The series that continues from an instance with these lines, the result of [`crate::remainder_from`]. Fails with `NoSuchInstance` if
    /// the id is not of the series' kind (date or time).
    pub fn continued(&self, recurrence_id: &str, lines: &[String]) -> Result<Series, Error> {
        let start = self.local_of(recurrence_id)?;
        Ok(Series { start, ..self.clone() }.with_lines(lines)?)
    }

    pub(crate) fn is_excluded(&self, found: &FoundInstance) -> bool {
        let day = found.local.div_euclid(DAY) * DAY;
        (!self.all_day && self.excluded.binary_search(&found.epoch).is_ok())
            || (!self.excluded_days.is_empty() && self.excluded_days.binary_search(&day).is_ok())
    }

    /// Whether an instance of the rule is not after UNTIL.
    pub(crate) fn is_within(&self, until: Basic, local: i64, epoch: i64) -> bool {
        match until {
            Basic::Date(day) => local.div_euclid(DAY) <= day.div_euclid(DAY),
            _ if self.all_day => local.div_euclid(DAY) <= until.seconds().div_euclid(DAY),
            Basic::Local(last) => local <= last,
            Basic::Utc(last) => epoch <= last,
        }
    }

    /// The instance at DTSTART; none outside the years of jiff.
    pub(crate) fn first(&self) -> Option<FoundInstance> {
        let epoch = self.epoch_of(self.start)?;
        Some(FoundInstance { epoch, local: self.start, by_rule: true, end: None })
    }

    /// The sort key of an instance: the instant, then the day for all-day ones that share a midnight. Of two equal instances the one of the
    /// rule comes first, then the one whose local time exists.
    pub(crate) fn key(&self, found: &FoundInstance) -> (i64, i64, bool, Reverse<i64>) {
        (found.epoch, if self.all_day { found.local } else { 0 }, !found.by_rule, Reverse(found.local))
    }

    /// Whether two found instances are the same instance.
    pub(crate) fn is_same(&self, a: &FoundInstance, b: &FoundInstance) -> bool {
        a.epoch == b.epoch && (!self.all_day || a.local == b.local)
    }

    pub(crate) fn start_ms(&self, found: &FoundInstance) -> i64 {
        found.epoch * 1000 + self.millis
    }

    pub(crate) fn occurrence(&self, found: &FoundInstance) -> Occurrence {
        let start = Instant::from_millis(self.start_ms(found));
        let id = recurrence_id(found.local, self.all_day);
        match self.length {
            Length::Days(days) => {
                let last = found.local + days * DAY;
                let end = self.epoch_of(last).unwrap_or(found.epoch + days * DAY);
                Occurrence {
                    start_date: Some(id.clone()),
                    end_date: Some(recurrence_id(last, true)),
                    recurrence_id: id,
                    start,
                    end: Instant::from_millis(end * 1000),
                }
            }
            Length::Exact(ms) => {
                let end =
                    found.end.map_or(start.as_millis().saturating_add(ms), |end| end.saturating_mul(1000));
                timed_occurrence(id, start, end)
            }
            Length::Nominal { days, ms } => {
                let last = || {
                    let day = self.epoch_of(found.local + days * DAY).unwrap_or(found.epoch + days * DAY);
                    day.saturating_mul(1000).saturating_add(self.millis).saturating_add(ms)
                };
                timed_occurrence(id, start, found.end.map_or_else(last, |end| end.saturating_mul(1000)))
            }
        }
    }

    /// The time in milliseconds that an instance of a rule can begin before a range and still overlap it.
    pub(crate) fn reach_ms(&self) -> i64 {
        match self.length {
            Length::Exact(ms) => ms,
            Length::Days(days) => (days + 2) * DAY * 1000,
            Length::Nominal { days, ms } => ((days + 2) * DAY * 1000).saturating_add(ms),
        }
    }
}

fn timed_occurrence(recurrence_id: String, start: Instant, end: i64) -> Occurrence {
    Occurrence { recurrence_id, start, end: Instant::from_millis(end), start_date: None, end_date: None }
}
