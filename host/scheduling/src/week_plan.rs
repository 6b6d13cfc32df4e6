//! A schedule as windows of time: weekly hours in a zone, and dates with other hours.

use std::collections::BTreeMap;

use jiff::ToSpan;
use jiff::civil::Date;
use model::bounds::scheduling::{MAX_OVERRIDES, MAX_WINDOWS};
use model::scheduling::Schedule;

use crate::hours::{Fault, FaultKind, Minutes, Zone, date, days};
use crate::interval::{Interval, Intervals};

/// The open hours of a host.
#[derive(Clone, Debug)]
pub struct WeekPlan {
    zone: Zone,
    /// Monday first.
    weekly: [Vec<Minutes>; 7],
    overrides: BTreeMap<Date, Vec<Minutes>>,
}

impl WeekPlan {
    /// Reads a schedule. A fault names the field inside it, such as `weekly[0].start`.
    // Contract silent: a day that is an exception and available, without windows. It says nothing, so it is refused; and so is
    // one that is not available and has windows.
    pub fn read(schedule: &Schedule) -> Result<WeekPlan, Fault> {
        let name = &schedule.time_zone;
        if name.is_empty() {
            return Err(fault("timeZone", FaultKind::Missing, "timeZone is required, such as Europe/Berlin"));
        }
        let zone = Zone::named(name).ok_or_else(|| {
            let message = format!("{name:?} is not an IANA time zone, such as Europe/Berlin");
            fault("timeZone", FaultKind::TimeZone, message)
        })?;
        let overrides = overrides(schedule)?;
        Ok(WeekPlan { zone, weekly: weekly(schedule)?, overrides })
    }

    /// The zone of its hours.
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// Returns the uncut windows that overlap `range`, sorted by start. Windows that begin on the same local date and overlap or touch are
    /// merged; those of different dates stay separate, so that the grid of each day begins on that day. Takes time linear in the days of
    /// the range.
    pub fn windows(&self, range: Interval) -> Vec<Interval> {
        let mut out = Vec::new();
        // A window lasts at most 24 hours, plus an hour when the clocks are set back.
        let mut date = self.zone.date(range.start).saturating_sub(2.days());
        let last = self.zone.date(range.end);
        while date <= last {
            out.extend(self.of_date(date).iter().filter(|w| w.overlaps(range)));
            let Ok(next) = date.tomorrow() else { break };
            date = next;
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The windows that begin on a local date.
    fn of_date(&self, date: Date) -> Intervals {
        let weekday = usize::try_from(date.weekday().to_monday_zero_offset()).unwrap_or_default();
        let windows = self.overrides.get(&date).unwrap_or(&self.weekly[weekday]);
        windows.iter().filter_map(|w| self.window(date, *w)).collect()
    }

    fn window(&self, date: Date, minutes: Minutes) -> Option<Interval> {
        let start = self.zone.instant_ms(date, minutes.start)?;
        let end = self.zone.instant_ms(date, minutes.end)?;
        // The window was moved to another date: by a gap at midnight, or because the zone skips the date.
        if self.zone.date(start) != date && !self.zone.has_date(date) {
            return None;
        }
        // A window that is partly in a gap can end before it begins: then it does not exist on that day.
        Some(Interval::new(start, end)).filter(|w| !w.is_empty())
    }
}

fn fault(field: impl Into<String>, kind: FaultKind, message: impl Into<String>) -> Fault {
    Fault { field: field.into(), kind, message: message.into() }
}

/// Returns the fault of a field inside a row.
fn inside(row: &str, fault: Fault) -> Fault {
    Fault { field: format!("{row}.{}", fault.field), ..fault }
}

fn weekly(schedule: &Schedule) -> Result<[Vec<Minutes>; 7], Fault> {
    if schedule.weekly.len() > MAX_WINDOWS {
        let message = format!("weekly has at most {MAX_WINDOWS} rows");
        return Err(fault("weekly", FaultKind::Invalid, message));
    }
    let mut weekly: [Vec<Minutes>; 7] = Default::default();
    for (i, row) in schedule.weekly.iter().enumerate() {
        let within = |fault| inside(&format!("weekly[{i}]"), fault);
        let is_open = days(&row.days).map_err(within)?;
        let window = Minutes::read(&row.start, &row.end).map_err(within)?;
        for (of_day, is_open) in weekly.iter_mut().zip(is_open) {
            of_day.extend(is_open.then_some(window));
        }
    }
    Ok(weekly)
}

fn overrides(schedule: &Schedule) -> Result<BTreeMap<Date, Vec<Minutes>>, Fault> {
    if schedule.overrides.len() > MAX_OVERRIDES {
        let message = format!("overrides has at most {MAX_OVERRIDES} days");
        return Err(fault("overrides", FaultKind::Invalid, message));
    }
    let mut overrides = BTreeMap::new();
    for (i, row) in schedule.overrides.iter().enumerate() {
        let text = &row.date;
        let Some(day) = date(text) else {
            let message = format!("{text:?} is not a date, such as 2026-12-24");
            return Err(fault(format!("overrides[{i}].date"), FaultKind::Invalid, message));
        };
        let field = format!("overrides[{i}].windows");
        if row.available == row.windows.is_empty() {
            let (kind, message) = match row.available {
                true => (FaultKind::Missing, "a day that is available needs windows"),
                false => (FaultKind::Invalid, "a day that is not available has no windows"),
            };
            return Err(fault(field, kind, message));
        }
        if row.windows.len() > MAX_WINDOWS {
            return Err(fault(field, FaultKind::Invalid, format!("at most {MAX_WINDOWS} windows a day")));
        }
        let mut windows = Vec::with_capacity(row.windows.len());
        for (j, window) in row.windows.iter().enumerate() {
            let read = Minutes::read(&window.start, &window.end);
            windows.push(read.map_err(|fault| inside(&format!("{field}[{j}]"), fault))?);
        }
        if overrides.insert(day, windows).is_some() {
            let message = format!("{text} is an exception already: put all its windows into one row");
            return Err(fault(format!("overrides[{i}].date"), FaultKind::Invalid, message));
        }
    }
    Ok(overrides)
}

#[cfg(test)]
mod tests {
    use model::Instant;
    use model::scheduling::{DateOverride, TimeWindow, WeeklyHours};

    use super::*;

    const EVERY_DAY: [i64; 7] = [1, 2, 3, 4, 5, 6, 7];

    fn schedule(zone: &str, days: &[i64], hours: &[(&str, &str)]) -> Schedule {
        let row = |(start, end): &(&str, &str)| WeeklyHours {
            days: days.to_vec(),
            start: (*start).into(),
            end: (*end).into(),
        };
        Schedule { time_zone: zone.into(), weekly: hours.iter().map(row).collect(), overrides: Vec::new() }
    }

    fn exception(date: &str, windows: &[(&str, &str)]) -> DateOverride {
        let window = |(start, end): &(&str, &str)| TimeWindow { start: (*start).into(), end: (*end).into() };
        DateOverride {
            date: date.into(),
            available: !windows.is_empty(),
            windows: windows.iter().map(window).collect(),
        }
    }

    fn ms(text: &str) -> i64 {
        text.parse::<Instant>().unwrap().as_millis()
    }

    /// Returns the windows as local times with offsets, which are easy to check.
    fn format_windows(schedule: &Schedule, from: &str, to: &str) -> Vec<String> {
        let plan = WeekPlan::read(schedule).unwrap();
        let local = |ms| {
            let zoned = Instant::from_millis(ms).timestamp().to_zoned(plan.zone.rules.clone());
            zoned.strftime("%d %H:%M%:z").to_string()
        };
        let found = plan.windows(Interval::new(ms(from), ms(to)));
        found.iter().map(|w| format!("{} – {}", local(w.start), local(w.end))).collect()
    }

    fn field(schedule: &Schedule) -> String {
        WeekPlan::read(schedule).unwrap_err().field
    }

    #[test]
    fn the_night_of_a_change_is_as_long_as_it_is() {
        let night = schedule("Europe/Berlin", &EVERY_DAY, &[("01:30", "03:30")]);
        assert_eq!(
            format_windows(&night, "2026-03-28T23:00:00Z", "2026-03-29T12:00:00Z"),
            ["29 01:30+01:00 – 29 03:30+02:00"],
            "an hour"
        );
        assert_eq!(
            format_windows(&night, "2026-10-24T22:00:00Z", "2026-10-25T12:00:00Z"),
            ["25 01:30+02:00 – 25 03:30+01:00"],
            "three hours"
        );
    }

    #[test]
    fn an_exception_replaces_the_windows_that_begin_on_its_date_and_no_other() {
        let mut nights = schedule("UTC", &EVERY_DAY, &[("22:00", "02:00")]);
        nights.overrides = vec![exception("2026-12-24", &[]), exception("2026-12-25", &[("10:00", "11:00")])];
        assert_eq!(
            format_windows(&nights, "2026-12-23T12:00:00Z", "2026-12-26T12:00:00Z"),
            ["23 22:00+00:00 – 24 02:00+00:00", "25 10:00+00:00 – 25 11:00+00:00"]
        );
    }

    #[test]
    fn windows_of_a_date_that_touch_are_one() {
        let day = schedule("UTC", &[1], &[("12:00", "15:00"), ("09:00", "12:00"), ("16:00", "24:00")]);
        assert_eq!(
            format_windows(&day, "2026-07-06T00:00:00Z", "2026-07-07T00:00:00Z"),
            ["06 09:00+00:00 – 06 15:00+00:00", "06 16:00+00:00 – 07 00:00+00:00"]
        );
    }

    #[test]
    fn a_date_that_the_zone_skipped_has_no_windows() {
        // Apia went from Thursday, 29 December 2011 to Saturday, 31 December.
        let days = schedule("Pacific/Apia", &EVERY_DAY, &[("09:00", "17:00")]);
        assert_eq!(
            format_windows(&days, "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z"),
            ["29 09:00-10:00 – 29 17:00-10:00", "31 09:00+14:00 – 31 17:00+14:00"]
        );
        let fridays = schedule("Pacific/Apia", &[5], &[("09:00", "17:00")]);
        assert!(format_windows(&fridays, "2011-12-29T12:00:00Z", "2011-12-31T12:00:00Z").is_empty());
    }

    #[test]
    fn the_year_has_the_days_that_the_zone_has() {
        let days = |zone: &str, year: i16| {
            let plan = WeekPlan::read(&schedule(zone, &EVERY_DAY, &[("00:00", "24:00")])).unwrap();
            let new_year = |year: i16| plan.zone.instant_ms(Date::constant(year, 1, 1), 0).unwrap();
            let whole = Interval::new(new_year(year), new_year(year + 1));
            let windows = plan.windows(whole);
            assert!(windows.windows(2).all(|w| w[0].end == w[1].start), "{zone}: no gaps and no overlaps");
            let hull = Interval::new(windows[0].start, windows[windows.len() - 1].end);
            assert_eq!(hull, whole, "{zone}");
            windows.len()
        };
        for zone in ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Australia/Lord_Howe", "Africa/Cairo"] {
            assert_eq!(days(zone, 2026), 365, "{zone}");
            assert_eq!(days(zone, 2028), 366, "{zone}");
        }
        assert_eq!(days("Pacific/Apia", 2011), 364);
    }

    #[test]
    fn a_fault_names_its_field() {
        let good = || schedule("UTC", &[1], &[("09:00", "17:00")]);
        assert_eq!(field(&Schedule::default()), "timeZone");
        assert_eq!(field(&schedule("Mars/Olympus", &[1], &[])), "timeZone");
        assert_eq!(field(&schedule("UTC", &[8], &[("09:00", "17:00")])), "weekly[0].days[0]");
        assert_eq!(field(&schedule("UTC", &[1], &[("9", "17:00")])), "weekly[0].start");
        assert_eq!(field(&schedule("UTC", &[1], &[("09:00", "")])), "weekly[0].end");
        let with = |overrides: Vec<DateOverride>| field(&Schedule { overrides, ..good() });
        assert_eq!(with(vec![exception("24.12.2026", &[])]), "overrides[0].date");
        assert_eq!(with(vec![exception("2026-12-24", &[]); 2]), "overrides[1].date");
        assert_eq!(with(vec![exception("2026-12-24", &[("x", "17:00")])]), "overrides[0].windows[0].start");
        let open = DateOverride { available: true, ..exception("2026-12-24", &[]) };
        assert_eq!(with(vec![open]), "overrides[0].windows");
        assert_eq!(field(&schedule("UTC", &[1], &[("09:00", "17:00"); 51])), "weekly");
    }
}
