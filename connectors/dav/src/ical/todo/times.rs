//! DTSTART, DUE and DURATION of a to-do: days, and times with the place where they hold.

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};

use crate::ical::lines::{line, param, put_text, raw_line, set_param};
use crate::ical::time::{Clock, Moment, date, day_after, is_floating, local, time_after};
use crate::ical::todo::reader::TodoReader;
use crate::ical::zones::Zone;

/// A day, or a time on it, as a to-do says it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamp {
    pub date: Date,
    /// None: VALUE=DATE.
    pub time: Option<(Time, TodoZone)>,
}

/// The zone in which a time holds.
#[derive(Clone, Debug, PartialEq)]
pub enum TodoZone {
    /// Wherever its reader is (RFC 5545 section 3.3.5, form 1).
    Floating,
    /// In a zone, by its IANA name, and the TZID that the object has it under. No TZID: UTC, or not in the object yet.
    Zone { name: String, tzid: Option<String> },
}

/// When a to-do is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TodoTimes {
    pub start: Option<Stamp>,
    /// DUE, else DTSTART and DURATION.
    pub due: Option<Stamp>,
}

impl Stamp {
    pub fn day(date: Date) -> Self {
        Stamp { date, time: None }
    }

    /// Returns the value type, and for a date-time whether it has a zone: DUE has to be as DTSTART is (RFC 5545 section 3.8.2.3).
    pub fn shape(&self) -> Shape {
        match &self.time {
            None => Shape::Day,
            Some((_, TodoZone::Floating)) => Shape::Floating,
            Some((_, TodoZone::Zone { .. })) => Shape::Zoned,
        }
    }

    /// The instant; a day begins at its midnight. `home` is the zone of days and of floating times.
    pub fn instant(&self, home: &Zone) -> Option<Timestamp> {
        let time = self.time.as_ref().map_or(Time::midnight(), |(time, _)| *time);
        let local = self.date.to_datetime(time);
        match &self.time {
            Some((_, TodoZone::Zone { name, .. })) => Zone::from_name(name).instant(local),
            _ => home.instant(local),
        }
    }
}

/// The kind of a [`Stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Day,
    Floating,
    Zoned,
}

impl TodoReader {
    /// When a to-do is; what cannot be read counts as missing, so that a wrong date never hides the task.
    pub fn times(&self, todo: &IcalCst, clock: &Clock) -> TodoTimes {
        let start = line(todo, "DTSTART").and_then(|line| stamp(line, clock));
        let due = line(todo, "DUE").and_then(|line| stamp(line, clock));
        let due = due.or_else(|| {
            let duration = line(todo, "DURATION").filter(|_| line(todo, "DUE").is_none())?;
            self.after(start.as_ref()?, duration.raw_value_str().trim())
        });
        TodoTimes { start, due }
    }

    /// A DURATION after a stamp, of the same kind as it.
    pub fn after(&self, start: &Stamp, duration: &str) -> Option<Stamp> {
        let Some((time, place)) = &start.time else {
            return day_after(start.date, duration).ok().map(Stamp::day);
        };
        let zone = match place {
            TodoZone::Floating => self.base.home.as_ref().clone(),
            TodoZone::Zone { name, .. } => Zone::from_name(name),
        };
        let at = start.instant(&self.base.home)?;
        let after = zone.local(time_after(start.date.to_datetime(*time), &zone, at, duration).ok()?);
        Some(Stamp { date: after.date(), time: Some((after.time(), place.clone())) })
    }

    /// The zone that a time is shown in; none where that is the reader's own.
    pub fn zone<'r>(&'r self, place: &'r TodoZone) -> Option<&'r str> {
        match place {
            TodoZone::Floating => self.has_zone.then_some(self.base.home.name.as_str()),
            TodoZone::Zone { name, .. } => Some(name),
        }
    }
}

fn stamp(line: &IcalLine, clock: &Clock) -> Option<Stamp> {
    match clock.read(line)? {
        Moment::Day(date) => Some(Stamp::day(date)),
        Moment::Time { local, .. } if is_floating(line) => {
            Some(Stamp { date: local.date(), time: Some((local.time(), TodoZone::Floating)) })
        }
        Moment::Time { local, zone } if zone.is_iana() => {
            // A TZID beside a UTC time (RFC 5545 section 3.2.19 forbids it) means nothing.
            let is_utc = line.raw_value_str().trim().ends_with(['Z', 'z']);
            let tzid = param(line, "TZID").filter(|_| !is_utc);
            let place = TodoZone::Zone { name: zone.name.clone(), tzid };
            Some(Stamp { date: local.date(), time: Some((local.time(), place)) })
        }
        // A zone that has no name: only the instant can be given.
        Moment::Time { local, zone } => {
            let local = jiff::tz::TimeZone::UTC.to_datetime(zone.instant(local)?);
            let place = TodoZone::Zone { name: "UTC".into(), tzid: None };
            Some(Stamp { date: local.date(), time: Some((local.time(), place)) })
        }
    }
}

/// A time given in UTC, on the to-do's own clock, where its zone has no IANA name; and its TZID.
fn on_own_clock(todo: &IcalCst, name: &str, at: DateTime, clock: &Clock) -> Option<(DateTime, String)> {
    let shape = line(todo, name).or_else(|| line(todo, "DTSTART"))?;
    let tzid = param(shape, "TZID")?;
    let Moment::Time { zone, .. } = clock.read(shape)? else { return None };
    zone.rules()?;
    Some((zone.exact_local(jiff::tz::TimeZone::UTC.to_timestamp(at).ok()?)?, tzid))
}

/// Sets DTSTART or DUE. Parameters of other clients stay, and so does a zone that `clock` knows from the object alone. A zone that the
/// object does not define yet goes into `zones`.
pub fn put_stamp(
    todo: &mut IcalCst,
    name: &str,
    stamp: &Stamp,
    clock: &Clock,
    zones: &mut Vec<(String, Timestamp)>,
) {
    let (value, tzid) = match &stamp.time {
        None => (date(stamp.date), None),
        Some((time, place)) => {
            let at = stamp.date.to_datetime(*time);
            let value = local(at);
            match place {
                TodoZone::Floating => (value, None),
                TodoZone::Zone { tzid: Some(tzid), .. } => (value, Some(tzid.clone())),
                TodoZone::Zone { name: zone, .. } if zone == "UTC" => {
                    match on_own_clock(todo, name, at, clock) {
                        Some((at, tzid)) => (local(at), Some(tzid)),
                        None => (format!("{value}Z"), None),
                    }
                }
                TodoZone::Zone { name, .. } => {
                    zones.extend(Zone::from_name(name).instant(at).map(|at| (name.clone(), at)));
                    (value, Some(name.clone()))
                }
            }
        }
    };
    let named = |item: &&mut IcalItem| matches!(item, IcalItem::Prop(line) if line.name.get().eq_ignore_ascii_case(name));
    match todo.items.iter_mut().find(named) {
        Some(IcalItem::Prop(line)) => {
            put_text(line, &value);
            mark(line, stamp.time.is_none(), tzid.as_deref());
        }
        _ => {
            let mut line = raw_line(name, &[], &value);
            mark(&mut line, stamp.time.is_none(), tzid.as_deref());
            todo.push_line(line);
        }
    }
}

/// VALUE and TZID as they go with the value.
fn mark(line: &mut IcalLine, is_day: bool, tzid: Option<&str>) {
    match (is_day, param(line, "VALUE")) {
        (true, _) => set_param(line, "VALUE", Some("DATE")),
        (false, Some(_)) => set_param(line, "VALUE", None),
        (false, None) => {}
    }
    if param(line, "TZID").as_deref() != tzid {
        set_param(line, "TZID", tzid);
    }
}
