//! The times of an event: from a client's input to the stored form, and to milliseconds for comparisons.

use jiff::ToSpan;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use model::Instant;

use crate::calendar::types::{Event, EventTimes};
use crate::problem::Problem;
use crate::times::{day, local, local_ms, midnight_ms, stored_zone, zone};

impl Event {
    /// Start and end in milliseconds; days begin at the midnight of the calendar's zone.
    pub fn span_ms(&self, calendar_zone: &TimeZone) -> (i64, i64) {
        match self.days() {
            Some((first, end)) => (midnight_ms(first, calendar_zone), midnight_ms(end, calendar_zone)),
            None => (self.body.start.as_millis(), self.body.end.as_millis()),
        }
    }

    /// The first day of an all-day event, and the day after the last one.
    pub fn days(&self) -> Option<(Date, Date)> {
        let (first, end) = (self.body.start_date.as_deref()?, self.body.end_date.as_deref()?);
        self.body.all_day.then(|| (day(first), day(end)))
    }

    /// The zone that the start is anchored in.
    pub fn zone(&self, calendar_zone: &TimeZone) -> TimeZone {
        if self.body.all_day { calendar_zone.clone() } else { stored_zone(&self.body.time_zone) }
    }

    pub fn times(&self) -> EventTimes {
        EventTimes {
            start: self.body.start,
            end: self.body.end,
            time_zone: self.body.time_zone.clone(),
            end_time_zone: self.body.end_time_zone.clone(),
            all_day: self.body.all_day,
            start_date: self.body.start_date.clone(),
            end_date: self.body.end_date.clone(),
        }
    }

    pub fn set_times(&mut self, times: EventTimes) {
        self.body.start = times.start;
        self.body.end = times.end;
        self.body.time_zone = times.time_zone;
        self.body.end_time_zone = times.end_time_zone;
        self.body.all_day = times.all_day;
        self.body.start_date = times.start_date;
        self.body.end_date = times.end_date;
    }

    /// Brings the times into the stored form: days alone, or instants with their zone. Checks that both are of one kind and in order.
    pub fn normalise(&mut self, calendar_zone: &str) -> Result<(), Problem> {
        match self.body.all_day {
            true => self.normalise_days(),
            false => self.normalise_times(calendar_zone),
        }
    }

    fn normalise_days(&mut self) -> Result<(), Problem> {
        let date = |field: &str, text: &Option<String>| {
            let date = text.as_deref().unwrap_or_default().parse::<Date>();
            date.map_err(|_| Problem::field(field, format!("{field} must be a date such as 2026-03-01")))
        };
        let first = date("startDate", &self.body.start_date)?;
        let end = date("endDate", &self.body.end_date)?;
        if end <= first {
            return Err(Problem::field(
                "endDate",
                "endDate must be after startDate: the last day is exclusive",
            ));
        }
        self.set_times(EventTimes {
            start: Instant::default(),
            end: Instant::default(),
            time_zone: String::new(),
            end_time_zone: None,
            all_day: true,
            start_date: Some(first.to_string()),
            end_date: Some(end.to_string()),
        });
        Ok(())
    }

    fn normalise_times(&mut self, calendar_zone: &str) -> Result<(), Problem> {
        let mut times = self.times();
        if times.end < times.start {
            return Err(Problem::field("end", "end must not be before start"));
        }
        if times.time_zone.is_empty() {
            calendar_zone.clone_into(&mut times.time_zone);
        }
        zone(&times.time_zone, "timeZone")?;
        times.end_time_zone = times.end_time_zone.filter(|name| *name != times.time_zone);
        if let Some(name) = &times.end_time_zone {
            zone(name, "endTimeZone")?;
        }
        self.set_times(EventTimes { start_date: None, end_date: None, ..times });
        Ok(())
    }

    /// Moves the start to another local time: the length stays, in days or in real time.
    pub fn move_to(&mut self, start: DateTime, calendar_zone: &TimeZone) {
        if let Some((first, end)) = self.days() {
            let days = first.until(end).map_or(1, |span| span.get_days());
            let last = start.date().checked_add(days.days()).unwrap_or(start.date());
            self.body.start_date = Some(start.date().to_string());
            self.body.end_date = Some(last.to_string());
            return;
        }
        let length_ms = self.body.end.as_millis() - self.body.start.as_millis();
        let start_ms = local_ms(start, &self.zone(calendar_zone));
        self.body.start = Instant::from_millis(start_ms);
        self.body.end = Instant::from_millis(start_ms + length_ms);
    }

    /// The local start, as instances are named: a date for days.
    pub fn local_start(&self, calendar_zone: &TimeZone) -> String {
        match &self.body.start_date {
            Some(day) if self.body.all_day => day.clone(),
            _ => {
                let at = local(self.body.start.as_millis(), &self.zone(calendar_zone));
                at.strftime("%Y-%m-%dT%H:%M:%S").to_string()
            }
        }
    }
}
