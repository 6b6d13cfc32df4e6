//! A copy of a series as one of its instances: what an exception, and the second half of a cut series, begin as.

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use jiff::Span;
use jiff::civil::{Date, DateTime};
use model::Instant;

use crate::ical::exception::like;
use crate::ical::lines::{line, remove, set_line};
use crate::ical::series::{Editor, no_instance};
use crate::ical::time::{Moment, date, local, utc};
use crate::ical::zones::Zone;

impl Editor<'_> {
    /// A copy of the series as one instance of it, without rules, at its original time.
    pub fn instance_of<'a>(&self, series: &IcalCst<'a>, recurrence_id: &str) -> Outcome<IcalCst<'a>> {
        let clock = self.reader.clock(self.original);
        let body = self.reader.event(series, None, &clock).map_err(Failure::invalid)?;
        let mut copy = series.clone();
        for name in ["RRULE", "RDATE", "EXDATE", "EXRULE", "RECURRENCE-ID"] {
            remove(&mut copy, name);
        }
        let shape = line(series, "DTSTART").ok_or_else(|| no_instance(recurrence_id))?;
        if body.all_day {
            let day: Date = recurrence_id.parse().map_err(|_| no_instance(recurrence_id))?;
            let days = (body.end.as_millis() - body.start.as_millis() + 43_200_000) / 86_400_000;
            let length = Span::new().try_days(days).map_err(|_| no_instance(recurrence_id))?;
            let after = day.checked_add(length).map_err(|_| no_instance(recurrence_id))?;
            set_line(&mut copy, like(shape, "DTSTART", &date(day)));
            if let Some(end) = line(series, "DTEND") {
                set_line(&mut copy, like(end, "DTEND", &date(after)));
            }
            return Ok(copy);
        }
        let at: DateTime = recurrence_id.parse().map_err(|_| no_instance(recurrence_id))?;
        let zone = clock.moment(series, "DTSTART").and_then(|moment| match moment {
            Moment::Time { zone, .. } => Some(zone),
            Moment::Day(_) => None,
        });
        let zone = zone.ok_or_else(|| no_instance(recurrence_id))?;
        let start = zone.instant(at).map(Instant::from).ok_or_else(|| no_instance(recurrence_id))?;
        set_line(&mut copy, like(shape, "DTSTART", &format_recurrence_id(shape, start, &zone)));
        if let Some(end) = line(series, "DTEND") {
            let until =
                Instant::from_millis(start.as_millis() + body.end.as_millis() - body.start.as_millis());
            let end_zone = match clock.read(end) {
                Some(Moment::Time { zone, .. }) => zone,
                _ => zone,
            };
            set_line(&mut copy, like(end, "DTEND", &format_recurrence_id(end, until, &end_zone)));
        }
        Ok(copy)
    }
}

/// An instant as this line spells its own: in UTC or local.
pub fn format_recurrence_id(shape: &IcalLine, at: Instant, zone: &Zone) -> String {
    if shape.raw_value_str().trim().ends_with(['Z', 'z']) {
        utc(at)
    } else {
        local(zone.local(at.timestamp()))
    }
}
