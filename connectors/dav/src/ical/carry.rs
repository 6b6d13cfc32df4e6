//! Carries the excluded and added dates of a changed series along, and its changed instances.

use std::rc::Rc;

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp};
use model::Instant;
use recurrence::{Caps, CarriedSeries, Series};

use crate::ical::before::Before;
use crate::ical::exception::{id_line, like};
use crate::ical::known_zone::unknown_zone;
use crate::ical::lines::{line, param, set_line, set_param};
use crate::ical::people::organizes;
use crate::ical::resource::{events_mut, remove_events, touch};
use crate::ical::series::Editor;
use crate::ical::time::{Clock, Moment, date, is_floating, local, utc, utc_line, zoned_line};
use crate::ical::write::Writer;
use crate::ical::zones::Zone;

/// Seconds of a day.
const DAY_S: i64 = 86_400;
/// Most dates and instances that are named one by one as gone.
const MAX_NAMED: usize = 50;

/// The warning for a dropped one.
const GONE: &str =
    "the series has no instance with this original start any more; what was said of it is dropped";

/// How the dates of a series and the times of its changed instances move.
pub struct Move<'l> {
    /// DTSTART of the series as it is now.
    pub start: &'l IcalLine<'static>,
    /// Seconds of local time.
    pub by: i64,
    /// The zone of the series before.
    pub from: Rc<Zone>,
    pub to: Rc<Zone>,
}

/// Warns of instances that a series has no place for any more, by their original starts.
pub fn warn_of_dropped(writer: &mut Writer, mut gone: Vec<String>) {
    gone.sort();
    gone.dedup();
    for id in gone.iter().take(MAX_NAMED) {
        writer.warn("exception_dropped", GONE, id);
    }
    if gone.len() > MAX_NAMED {
        let others = format!("{GONE}; so it is with {} more", gone.len() - MAX_NAMED);
        writer.warn("exception_dropped", &others, "recurrence");
    }
}

impl Editor<'_> {
    /// Carries the dates and instances of a changed series along, and adds warnings for those that are dropped.
    pub fn carry(
        &self,
        calendar: &mut IcalCst,
        writer: &mut Writer,
        before: &Before,
        uid: Option<&str>,
    ) -> Outcome<()> {
        let Ok(body) = self.main_event(calendar) else { return self.drop_orphans(calendar, writer, uid) };
        let (from, to) = (before.zone.clone(), self.start_zone(self.main(calendar)?));
        let recurred = self.main_event(self.original).is_ok_and(|event| !event.recurrence.is_empty());
        if (recurred && !from.is_known()) || (!body.recurrence.is_empty() && !to.is_known()) {
            return Err(unknown_zone());
        }
        let (Some(old), Ok(after), false) = (before.series, Series::parse(&body), body.recurrence.is_empty())
        else {
            return self.drop_orphans(calendar, writer, uid);
        };
        let carried = recurrence::carried(old, &after, before.is_kept, Caps::default())
            .map_err(|error| Failure::invalid(error.to_string()))?;
        let Some(main) = self.select(calendar).main else { return Ok(()) };
        let Some(series) = events_mut(calendar).nth(main) else { return Ok(()) };
        let clock = self.reader.clock(self.original);
        let start = line(series, "DTSTART").map(|start| like(start, "DTSTART", start.raw_value_str().trim()));
        let Some(start) = start else { return Ok(()) };
        let way = Move { start: &start, by: carried.shift(), from, to };
        let is_moved = way.by != 0 && before.is_kept;
        if is_moved {
            // In their place: so a line keeps the name that another client gave its zone.
            way.move_dates(series, &clock);
        }
        if is_moved || carried.lines != body.recurrence {
            // Lines that say it by now stay as they are.
            writer.set_recurrence(series, &carried.lines);
        }
        let mut gone = carried.dropped.clone();
        let id_of = self.exceptions(uid);
        remove_events(calendar, |event| {
            let id = id_of(event).filter(|id| carried.new_id(id).is_none());
            gone.extend(id.clone());
            id.is_some()
        });
        if carried.renames() {
            let way = Move { by: before.moved.unwrap_or(way.by), ..way };
            self.move_exceptions(calendar, &carried, &way, &id_of);
        }
        warn_of_dropped(writer, gone);
        Ok(())
    }

    fn move_exceptions(
        &self,
        calendar: &mut IcalCst,
        carried: &CarriedSeries,
        way: &Move,
        id_of: &dyn Fn(&IcalCst) -> Option<String>,
    ) {
        let clock = self.reader.clock(self.original);
        for component in events_mut(calendar) {
            let Some(id) = id_of(component).and_then(|id| carried.new_id(&id)) else { continue };
            let range = line(component, "RECURRENCE-ID").and_then(|line| param(line, "RANGE"));
            let mut named = id_line(way.start, &id);
            set_param(&mut named, "RANGE", range.as_deref());
            set_line(component, named);
            for name in ["DTSTART", "DTEND"] {
                if let Some(moved) = line(component, name).and_then(|line| way.move_time(line, name, &clock))
                {
                    set_line(component, moved);
                }
            }
            touch(component, self.now, organizes(component, &self.reader.selves));
        }
    }

    /// Returns the local time in this zone at the start of a component.
    pub fn local_start(&self, component: &IcalCst, zone: &Zone) -> Option<DateTime> {
        let clock = self.reader.clock(self.original);
        let at = clock.moment(component, "DTSTART")?.instant(&clock)?;
        Some(zone.local(at.timestamp()))
    }

    /// The series as it is, where its rule can be read, and its zone: the source of [`Before`].
    pub fn as_it_was(&self, calendar: &IcalCst) -> Outcome<(Option<Series>, Rc<Zone>)> {
        let series = self.main_event(calendar).ok().and_then(|event| Series::parse(&event).ok());
        Ok((series, self.start_zone(self.main(calendar)?)))
    }
}

impl Move<'_> {
    /// Moves the EXDATEs and RDATEs of a series, or of a recurring to-do, with it; each line keeps its zone and its value type.
    pub fn move_dates(&self, series: &mut IcalCst, clock: &Clock) {
        for item in &mut series.items {
            let IcalItem::Prop(line) = item else { continue };
            let name = line.name.get().to_ascii_uppercase();
            if name != "EXDATE" && name != "RDATE" {
                continue;
            }
            let moved = |value: &str| {
                self.date(&like(line, &name, value.trim()), clock).unwrap_or_else(|| value.to_owned())
            };
            let values: Vec<String> = line.raw_value_str().split(',').map(moved).collect();
            let moved = like(line, &name, &values.join(","));
            *line = moved;
        }
    }

    /// An excluded or added date, moved: in the zone that its line names, and where that names none in the series'.
    fn date(&self, existing: &IcalLine, clock: &Clock) -> Option<String> {
        let (at, zone) = match clock.read(existing)? {
            Moment::Day(day) => return self.day(day),
            Moment::Time { local, zone } => (local, zone),
        };
        if is_utc(existing) {
            return Some(utc(Instant::from(self.instant(zone.instant(at)?)?)));
        }
        if self.from.is_same(&self.to) {
            return Some(local(at.checked_add(SignedDuration::from_secs(self.by)).ok()?));
        }
        let (was, is) = if is_floating(existing) { (&self.from, &self.to) } else { (&zone, &zone) };
        Some(local(is.local(self.instant(was.instant(at)?)?)))
    }

    /// A time of a changed instance, moved with its series. Told in the series' zone where it was so before.
    fn move_time(&self, existing: &IcalLine, name: &str, clock: &Clock) -> Option<IcalLine<'static>> {
        match clock.read(existing)? {
            Moment::Day(day) => Some(like(existing, name, &self.day(day)?)),
            Moment::Time { local: at, zone } => {
                let is_utc = is_utc(existing);
                let stays = self.from.is_same(&self.to);
                if is_utc || (zone.is_same(&self.from) && !stays) {
                    return self.time_line(name, self.instant(zone.instant(at)?)?, is_utc);
                }
                let moved = match stays {
                    true => at.checked_add(SignedDuration::from_secs(self.by)).ok()?,
                    false => zone.local(self.instant(zone.instant(at)?)?),
                };
                Some(like(existing, name, &local(moved)))
            }
        }
    }

    /// An instant, moved by the shift on the series' old clock, and read on its new clock.
    fn instant(&self, at: Timestamp) -> Option<Timestamp> {
        let moved = self.from.local(at).checked_add(SignedDuration::from_secs(self.by)).ok()?;
        self.to.instant(moved)
    }

    /// A day, moved by whole days: what stands for all of a day does not go to another one with an hour.
    fn day(&self, day: Date) -> Option<String> {
        let by = SignedDuration::from_secs(self.by / DAY_S * DAY_S);
        Some(date(day.to_datetime(Time::midnight()).checked_add(by).ok()?.date()))
    }

    fn time_line(&self, name: &str, at: Timestamp, is_utc: bool) -> Option<IcalLine<'static>> {
        let at = Instant::from(at);
        let tzid = param(self.start, "TZID").filter(|_| !is_utc);
        Some(match tzid {
            Some(tzid) => zoned_line(name, at, &self.to, &tzid),
            None if is_utc || self::is_utc(self.start) => utc_line(name, at),
            None => like(self.start, name, &local(self.to.local(at.timestamp()))),
        })
    }
}

fn is_utc(line: &IcalLine) -> bool {
    line.raw_value_str().trim().ends_with(['Z', 'z'])
}
