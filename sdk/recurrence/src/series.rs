//! A series and its instances: what falls into a range, whether an instance exists, which one is next.

use ical::recur::IcalRecurRule;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::Instant;
use model::calendar::Event;

use crate::Error;
use crate::Invalid;
use crate::Occurrence;
use crate::date::{Basic, DAY, local_seconds, parse_recurrence_id, recurrence_id};
use crate::line::{DateReader, Line, ListedDate, MAX_BYTES, MAX_DATES, Moment};
use crate::rule::{Rule, is_sub_daily};
use crate::walk::{Budget, Walk};
use crate::zones::{Clock, zone};

/// Longest way from one local time to an instant of the same zone's clock, both as local seconds: the longest gap, UTC's distance.
const SKEW: i64 = 2 * DAY;
/// Where a series begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A local time in a zone.
    Timed { local: DateTime, zone: String },
    /// A day; the zone places its midnight on the time line.
    AllDay { date: Date, zone: String },
}

/// How long each instance takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Milliseconds of real time, whatever the clocks do meanwhile.
    Exact(i64),
    /// Whole days of an all-day series, at least 1.
    Days(i64),
}

/// A series, read and ready to be asked.
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) zone: TimeZone,
    pub(crate) zone_name: String,
    pub(crate) all_day: bool,
    /// Local seconds of the start.
    pub(crate) start: i64,
    /// What the start has below a second, milliseconds.
    pub(crate) millis: i64,
    length: Length,
    /// As written, in order.
    pub(crate) lines: Vec<Line>,
    pub(crate) rule: Option<Rule>,
    /// The rule with everything that the start supplies.
    completed: Option<IcalRecurRule>,
    added: Vec<ListedDate>,
    /// Excluded instants (seconds since the Unix epoch), sorted.
    excluded: Vec<i64>,
    /// Excluded local days (local seconds of midnight), sorted.
    excluded_days: Vec<i64>,
}

/// An instance on both clocks, as found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// Seconds since the Unix epoch.
    pub(crate) epoch: i64,
    /// Its name: the local second that the rule or the line says.
    pub(crate) local: i64,
    /// The rule (or DTSTART) says it; false: an RDATE.
    pub(crate) by_rule: bool,
    /// RDATE periods: their own end.
    pub(crate) end: Option<i64>,
}

impl Series {
    /// Reads the series that an event of type `series` stores. Fails with `Invalid`, which names the line.
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
        let zone_of = zone(&event.time_zone)?;
        let local = zone_of.to_datetime(event.start.timestamp());
        let ms = event.end.as_millis().saturating_sub(event.start.as_millis());
        Series::new(
            &Start::Timed { local, zone: event.time_zone.clone() },
            Length::Exact(ms),
            &event.recurrence,
        )
    }

    /// A series of its parts. The lines are read liberally (see [`crate::validate`] for what input must look like).
    pub fn new(start: &Start, length: Length, lines: &[String]) -> Result<Series, Invalid> {
        let (local, name, all_day) = match start {
            Start::Timed { local, zone } => (*local, zone, false),
            Start::AllDay { date, zone } => (date.to_datetime(jiff::civil::Time::midnight()), zone, true),
        };
        if !(1..=9998).contains(&local.year()) {
            return Err(Invalid::new(&local.to_string(), "a series starts in the years 1 to 9998"));
        }
        let mut series = Series {
            zone: zone(name)?,
            zone_name: name.clone(),
            all_day,
            start: local_seconds(local),
            millis: i64::from(local.subsec_nanosecond()) / 1_000_000,
            length: match length {
                Length::Exact(ms) => Length::Exact(ms.max(0)),
                Length::Days(days) => Length::Days(days.max(1)),
            },
            lines: Vec::new(),
            rule: None,
            completed: None,
            added: Vec::new(),
            excluded: Vec::new(),
            excluded_days: Vec::new(),
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
                "RRULE" if self.rule.is_some() => {
                    return Err(Invalid::new(text, "is a second RRULE; a series has at most one"));
                }
                "RRULE" => {
                    let rule = Rule::parse(&line)?;
                    self.completed = Some(rule.completed(self.start));
                    self.rule = Some(rule);
                }
                "RDATE" | "EXDATE" => self.read_dates(&line)?,
                _ => return Err(Invalid::new(text, "is not RRULE, RDATE or EXDATE")),
            }
            self.lines.push(line);
        }
        if self.added.len() + self.excluded.len() + self.excluded_days.len() > MAX_DATES {
            return Err(Invalid::new("recurrence", format!("lists more than {MAX_DATES} dates")));
        }
        self.excluded.sort_unstable();
        self.excluded_days.sort_unstable();
        Ok(())
    }

    fn read_dates(&mut self, line: &Line) -> Result<(), Invalid> {
        let dates = self.date_reader().read(line)?;
        let adds = line.name == "RDATE";
        for (text, date) in dates {
            match date.at {
                Moment::Day(day) if adds && !self.all_day => {
                    // A day without a time takes the time of day of the start.
                    let local = day + self.start.rem_euclid(DAY);
                    let epoch = Clock::new(&self.zone).resolve(local).map(|r| r.epoch);
                    let epoch = epoch
                        .ok_or_else(|| Invalid::new(&line.text(), format!("{text:?} is out of range")))?;
                    self.added.push(ListedDate { at: Moment::Time { epoch, local }, end: None });
                }
                _ if adds => self.added.push(date),
                Moment::Day(day) => self.excluded_days.push(day),
                Moment::Time { epoch, .. } => self.excluded.push(epoch),
            }
        }
        Ok(())
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
        self.is_excluded(&Found { epoch, local, by_rule: true, end: None })
    }

    /// The same start and length with other lines.
    pub(crate) fn with_lines(&self, lines: &[String]) -> Result<Series, Invalid> {
        let mut other = Series {
            lines: Vec::new(),
            rule: None,
            completed: None,
            added: Vec::new(),
            excluded: Vec::new(),
            excluded_days: Vec::new(),
            ..self.clone()
        };
        other.read(lines)?;
        Ok(other)
    }

    pub(crate) fn is_excluded(&self, found: &Found) -> bool {
        let day = found.local.div_euclid(DAY) * DAY;
        (!self.all_day && self.excluded.binary_search(&found.epoch).is_ok())
            || (!self.excluded_days.is_empty() && self.excluded_days.binary_search(&day).is_ok())
    }

    /// Whether UNTIL lets an instance pass that the rule generated.
    fn within_until(&self, until: Basic, local: i64, epoch: i64) -> bool {
        match until {
            Basic::Date(day) => local.div_euclid(DAY) <= day.div_euclid(DAY),
            _ if self.all_day => local.div_euclid(DAY) <= until.seconds().div_euclid(DAY),
            Basic::Local(last) => local <= last,
            Basic::Utc(last) => epoch <= last,
        }
    }

    /// Visits what DTSTART and the rule generate with original starts from about `from` to about `to` (local seconds, a margin
    /// included), in local order, exclusions not applied. With a COUNT the walk begins at the start, and the visitor is told each
    /// instance's number (1 is DTSTART). The visitor returns false to stop.
    pub(crate) fn generated(
        &self,
        from: i64,
        to: i64,
        budget: &mut Budget,
        visit: &mut dyn FnMut(Found, u32) -> bool,
    ) -> Result<(), Error> {
        let mut clock = Clock::new(&self.zone);
        let found = |epoch: i64, local: i64| Found { epoch, local, by_rule: true, end: None };
        let Some(first) = clock.resolve(self.start) else { return Ok(()) };
        if !visit(found(first.epoch, self.start), 1) {
            return Ok(());
        }
        let (Some(rule), Some(completed)) = (&self.rule, &self.completed) else { return Ok(()) };
        let to = match rule.until {
            Some(until) => to.min(until.seconds().saturating_add(SKEW)),
            None => to,
        };
        // A candidate in a gap may lie after the start though its local time lies before.
        let floor = self.start - clock.margin(self.start);
        let from = if rule.count.is_some() { floor } else { from.max(floor) };
        let mut walk = Walk::new(completed, self.start, from, to);
        let mut number = 1;
        while rule.count.is_none_or(|count| number < count) {
            let Some(local) = walk.next(budget)? else { break };
            let Some(at) = clock.resolve(local) else { break };
            // All-day instances are days: no clock can skip them.
            let later = if self.all_day { local > self.start } else { at.epoch > first.epoch };
            let missing = at.gap > 0 && !self.all_day && (is_sub_daily(completed.freq) || at.gap >= DAY);
            if !later || missing || rule.until.is_some_and(|until| !self.within_until(until, local, at.epoch))
            {
                continue;
            }
            number += 1;
            if !visit(found(at.epoch, local), number) {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn added(&self) -> impl Iterator<Item = Found> + '_ {
        let mut clock = Clock::new(&self.zone);
        self.added.iter().filter_map(move |date| match date.at {
            Moment::Day(local) => {
                clock.resolve(local).map(|r| Found { epoch: r.epoch, local, by_rule: false, end: None })
            }
            Moment::Time { epoch, local } => Some(Found { epoch, local, by_rule: false, end: date.end }),
        })
    }

    /// Every instance with an original start in `[from, to)` (milliseconds since the Unix epoch), exclusions applied, in order,
    /// each once. `TooManyInstances` where more than `max` of them start at `sure` or later.
    pub(crate) fn found(
        &self,
        from_ms: i64,
        to_ms: i64,
        sure_ms: i64,
        max: usize,
        budget: &mut Budget,
    ) -> Result<Vec<Found>, Error> {
        let mut clock = Clock::new(&self.zone);
        let (from, to) = (clock.local(from_ms), clock.local(to_ms));
        let (from, to) = (from - clock.margin(from), to + clock.margin(to));
        let inside =
            |found: &Found| (from_ms..to_ms).contains(&self.start_ms(found)) && !self.is_excluded(found);
        let mut all = Vec::new();
        let mut sure = 0;
        // Twice: two candidates may turn out to be one instance.
        let limit = max.saturating_mul(2);
        self.generated(from, to, budget, &mut |found, _| {
            if inside(&found) {
                sure += usize::from(self.start_ms(&found) >= sure_ms);
                all.push(found);
            }
            sure <= limit
        })?;
        if sure > limit {
            return Err(Error::TooManyInstances(max));
        }
        all.extend(self.added().filter(inside));
        // The name of an instance is its existing local time; an RDATE's own end wins over the rule's.
        all.sort_by_key(|f| {
            (f.epoch, if self.all_day { f.local } else { 0 }, !f.by_rule, std::cmp::Reverse(f.local))
        });
        let same = |a: &Found, b: &Found| a.epoch == b.epoch && (!self.all_day || a.local == b.local);
        all.dedup_by(|next, kept| {
            let double = same(next, kept);
            if double {
                kept.end = kept.end.or(next.end);
            }
            double
        });
        Ok(all)
    }

    pub(crate) fn start_ms(&self, found: &Found) -> i64 {
        found.epoch * 1000 + self.millis
    }

    pub(crate) fn occurrence(&self, found: &Found) -> Occurrence {
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
                let end = found.end.map_or(start.as_millis().saturating_add(ms), |end| end * 1000);
                Occurrence {
                    recurrence_id: id,
                    start,
                    end: Instant::from_millis(end),
                    start_date: None,
                    end_date: None,
                }
            }
        }
    }

    /// How long before a range an instance may begin that still reaches into it, milliseconds.
    pub(crate) fn reach_ms(&self) -> i64 {
        let own = match self.length {
            Length::Exact(ms) => ms,
            Length::Days(days) => (days + 2) * DAY * 1000,
        };
        let periods = self.added().filter_map(|found| found.end.map(|end| (end - found.epoch) * 1000)).max();
        own.max(periods.unwrap_or(0))
    }
}
