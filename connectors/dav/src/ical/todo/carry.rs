//! Carries the excluded and added dates of a recurring to-do along when it is moved, as those of a series of events (see
//! `recurrence::carried`). Its changed instances keep their bytes (see `todo`).

use std::rc::Rc;

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::IcalCst;
use recurrence::{Caps, Length, Series, Start};

use crate::ical::carry::{Move, warn_of_dropped};
use crate::ical::exception::like;
use crate::ical::lines::line;
use crate::ical::rules::recurrence_lines;
use crate::ical::time::{Clock, Moment};
use crate::ical::todo::reader::TodoReader;
use crate::ical::todo::times::{Stamp, TodoZone};
use crate::ical::todo::write::TodoWriter;
use crate::ical::zones::Zone;

/// A to-do as something that recurs.
pub struct RecurringTodo {
    /// The time that its dates count from: the start, or the due date where it has none.
    anchor: Stamp,
    /// RRULE, RDATE, EXDATE and EXRULE, as the model has them.
    lines: Vec<String>,
    series: Series,
}

impl TodoReader {
    /// A to-do as something that recurs; None where it does not, or where its rule cannot be read.
    pub fn recurring(&self, todo: &IcalCst, clock: &Clock) -> Option<RecurringTodo> {
        let lines = recurrence_lines(todo, clock);
        let times = self.times(todo, clock);
        let anchor = times.start.or(times.due).filter(|_| !lines.is_empty())?;
        let zone = self.zone_name(&anchor).to_owned();
        // How long an instance takes has no say in where its dates are.
        let (start, length) = match &anchor.time {
            None => (Start::AllDay { date: anchor.date, zone }, Length::Days(1)),
            Some((time, _)) => {
                (Start::Timed { local: anchor.date.to_datetime(*time), zone }, Length::Exact(0))
            }
        };
        let series = Series::new(&start, length, &lines).ok()?;
        Some(RecurringTodo { anchor, lines, series })
    }

    /// The zone on whose clock a time is; a day and a floating time are on the list's.
    fn zone_name<'r>(&'r self, stamp: &'r Stamp) -> &'r str {
        match &stamp.time {
            Some((_, TodoZone::Zone { name, .. })) => name.as_str(),
            _ => self.base.home.name.as_str(),
        }
    }
}

impl TodoWriter<'_> {
    /// Moves the dates of a to-do that begins at another time than `before`, and adds warnings for those that are dropped.
    /// `is_kept`: the caller does not change the recurrence.
    pub fn carry_dates(&mut self, todo: &mut IcalCst, before: &RecurringTodo, is_kept: bool) -> Outcome<()> {
        let clock = self.clock();
        let Some(after) = self.reader.recurring(todo, &clock) else { return Ok(()) };
        let start = line(todo, "DTSTART").map(|start| like(start, "DTSTART", start.raw_value_str().trim()));
        let Some(start) = start.filter(|_| after.anchor != before.anchor) else { return Ok(()) };
        let carried = recurrence::carried(&before.series, &after.series, is_kept, Caps::default())
            .map_err(|error| Failure::invalid(error.to_string()))?;
        let zone = |stamp: &Stamp| Rc::new(Zone::from_name(self.reader.zone_name(stamp)));
        let (from, to) = (zone(&before.anchor), zone(&after.anchor));
        let way = Move { start: &start, by: carried.shift(), from, to };
        let is_moved = way.by != 0 && is_kept;
        if is_moved {
            // In their place: so a line keeps the name that another client gave its zone.
            way.move_dates(todo, &clock);
        }
        // Of a zone without a name the model knows the instants only.
        let is_named = match clock.read(&start) {
            Some(Moment::Time { zone, .. }) => zone.is_iana(),
            Some(Moment::Day(_)) | None => true,
        };
        if (is_moved || carried.lines != after.lines) && is_named {
            self.base.set_recurrence(todo, &carried.lines);
        }
        warn_of_dropped(&mut self.base, carried.dropped);
        Ok(())
    }
}
