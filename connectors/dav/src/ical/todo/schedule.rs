//! When a task is, written: DTSTART and DUE have one value type and the right order (RFC 5545 section 3.8.2.3), and what recurs
//! has a start (section 3.8.2.4). Servers with sabre's checks refuse the rest.

use connector_sdk::{Failure, Outcome};
use ical::tree::cst::IcalCst;
use jiff::civil::Time;
use model::tasks::Task;

use crate::collection::changed::FieldSet;
use crate::ical::lines::{line, remove};
use crate::ical::todo::times::{Shape, Stamp, TodoTimes, TodoZone, put_stamp};
use crate::ical::todo::write::{TodoWriter, day, time_of_day};

/// Fields that say when a task is due.
const DUE: [&str; 3] = ["dueDate", "dueTime", "timeZone"];

impl TodoWriter<'_> {
    /// DTSTART, DUE and the recurrence, which needs one of them.
    pub fn set_times(
        &mut self,
        todo: &mut IcalCst,
        task: &Task,
        changed: &FieldSet,
        old: &TodoTimes,
    ) -> Outcome<()> {
        let mut new = old.clone();
        if changed.has("startDate") {
            new.start = wanted_start(task, old)?;
        }
        if DUE.iter().any(|name| changed.has(name)) {
            new.due = self.wanted_due(task, changed, old)?;
        }
        self.order(&mut new, old, changed);
        let wanted = task.recurrence.iter().any(|line| !line.trim().is_empty());
        let recurs = if changed.has("recurrence") { wanted } else { is_recurring(todo) };
        let anchored = !recurs || self.anchor(&mut new, old);
        self.put_times(todo, &new, old, changed);
        if changed.has("recurrence") {
            if anchored {
                self.base.set_recurrence(todo, &task.recurrence);
            } else {
                self.cannot_keep("recurrence", "a task without start and due date cannot recur");
            }
        }
        Ok(())
    }

    /// The due date as the task has it; spelled as the to-do spells its times, where it means the same.
    fn wanted_due(&mut self, task: &Task, changed: &FieldSet, old: &TodoTimes) -> Outcome<Option<Stamp>> {
        let date = task.due_date.as_deref().map(|text| day("dueDate", text)).transpose()?;
        if task.due_time.is_some() && date.is_none() && changed.has("dueTime") {
            self.cannot_keep("dueTime", "a time without a due date is not kept");
        }
        if task.time_zone.is_some() && (date.is_none() || task.due_time.is_none()) && changed.has("timeZone")
        {
            self.cannot_keep("timeZone", "a time zone without a due time is not kept");
        }
        let (Some(date), Some(time)) = (date, task.due_time.as_deref()) else {
            return Ok(date.map(Stamp::day));
        };
        let time = time_of_day("dueTime", time)?;
        // A time without a zone is one of the list.
        let home = self.reader.has_zone.then(|| self.reader.base.home.name.clone());
        let zone = task.time_zone.as_deref().map(iana).transpose()?.or(home);
        let times = [&old.due, &old.start].into_iter().flatten().filter_map(|stamp| stamp.time.as_ref());
        let mut places = times.map(|(_, place)| place);
        let known = places.find(|place| self.reader.zone(place) == zone.as_deref()).cloned();
        let place = known.unwrap_or(match zone {
            Some(name) => TodoZone::Zone { name, tzid: None },
            None => TodoZone::Floating,
        });
        // Seconds are more than the model has: they stay as long as hour and minute do.
        let was = old.due.as_ref().and_then(|due| due.time.as_ref()).map(|(time, _)| *time);
        let same = was.filter(|was| (was.hour(), was.minute()) == (time.hour(), time.minute()));
        Ok(Some(Stamp { date, time: Some((same.unwrap_or(time), place)) }))
    }

    /// Makes start and due consistent; a field that cannot be is left as it was.
    fn order(&mut self, new: &mut TodoTimes, old: &TodoTimes, changed: &FieldSet) {
        self.align(new, old);
        // The provider has accepted faults that were there before.
        if self.is_ordered(new) || !self.is_ordered(old) {
            return;
        }
        if changed.has("startDate") {
            self.cannot_keep("startDate", "a task cannot start after it is due");
            new.start = old.start.clone();
            self.align(new, old);
        }
        if !self.is_ordered(new) {
            self.cannot_keep("dueDate", "a task cannot be due before it starts");
            *new = old.clone();
        }
    }

    fn is_ordered(&self, times: &TodoTimes) -> bool {
        let (Some(start), Some(due)) = (&times.start, &times.due) else { return true };
        if start.time.is_none() || due.time.is_none() {
            return start.date <= due.date;
        }
        let home = &self.reader.base.home;
        start.instant(home) <= due.instant(home)
    }

    /// Gives the start the value type of the due date, of which the model has more.
    fn align(&mut self, new: &mut TodoTimes, old: &TodoTimes) {
        let shape = |stamp: &Option<Stamp>| stamp.as_ref().map(Stamp::shape);
        let as_before = (shape(&new.start), shape(&new.due)) == (shape(&old.start), shape(&old.due));
        let (Some(start), Some(due)) = (new.start.as_mut(), &new.due) else { return };
        let (time, place) = (start.time.clone(), due.time.clone().map(|(_, place)| place));
        let midnight = |place: Option<TodoZone>| place.map(|place| (Time::midnight(), place));
        let mut lost = None;
        match (start.shape(), due.shape()) {
            // A mixture that another client made, and the provider took, stays one.
            (from, to) if from != to && as_before => {}
            (Shape::Day, _) => start.time = midnight(place),
            (_, Shape::Day) => {
                let is_midnight = time.is_some_and(|(time, _)| time == Time::midnight());
                lost = (!is_midnight).then_some("a start has a time only where the due date has one");
                start.time = None;
            }
            (Shape::Floating, Shape::Zoned) => {
                let home = self.reader.has_zone.then(|| self.reader.base.home.name.clone());
                let home = home.map(|name| TodoZone::Zone { name, tzid: None });
                start.time = time.map(|(time, _)| time).zip(home.or(place));
            }
            (Shape::Zoned, Shape::Floating) => {
                lost = Some("a start has a zone only where the due date has one");
                start.time = time.map(|(time, _)| (time, TodoZone::Floating));
            }
            _ => {}
        }
        let is_later = |start: &Stamp| {
            let home = &self.reader.base.home;
            start.time.is_some() && due.time.is_some() && start.instant(home) > due.instant(home)
        };
        if start.date <= due.date && is_later(start) {
            lost = Some("its time was later than the due time");
            start.time = midnight(due.time.clone().map(|(_, place)| place));
        }
        if let Some(why) = lost {
            self.cannot_keep("startDate", &format!("the start has lost its time: {why}"));
        }
    }

    /// Gives a recurring task the DTSTART that it needs (RFC 5545 section 3.8.2.4). False: it has no date to begin with.
    fn anchor(&mut self, new: &mut TodoTimes, old: &TodoTimes) -> bool {
        if new.start.is_some() {
            return true;
        }
        if let Some(due) = &new.due {
            let why = "a recurring task needs a start in CalDAV; it is the due date";
            self.base.warn("start_added", why, "startDate");
            new.start = Some(due.clone());
            return true;
        }
        let Some(start) = &old.start else { return false };
        self.cannot_keep("startDate", "a recurring task without a due date keeps its start");
        new.start = Some(start.clone());
        true
    }

    /// A to-do with a DURATION keeps it if it still leads to the due date.
    fn put_times(&mut self, todo: &mut IcalCst, new: &TodoTimes, old: &TodoTimes, changed: &FieldSet) {
        let clock = self.clock();
        match &new.start {
            Some(start) if new.start != old.start => {
                put_stamp(todo, "DTSTART", start, &clock, &mut self.base.zones);
            }
            // Also one that could not be read.
            None if changed.has("startDate") => remove(todo, "DTSTART"),
            _ => {}
        }
        if line(todo, "DUE").is_none()
            && let Some(duration) = line(todo, "DURATION").map(|line| line.raw_value_str().trim().to_owned())
        {
            let until = new.start.as_ref().and_then(|start| self.reader.after(start, &duration));
            if until == new.due {
                return;
            }
        } else if new.due == old.due && (new.due.is_some() || !changed.has("dueDate")) {
            return;
        }
        remove(todo, "DURATION");
        match &new.due {
            Some(due) => put_stamp(todo, "DUE", due, &clock, &mut self.base.zones),
            None => remove(todo, "DUE"),
        }
    }
}

/// The start as the task has it: another day, at the time of day that it had.
fn wanted_start(task: &Task, old: &TodoTimes) -> Outcome<Option<Stamp>> {
    let Some(text) = task.start_date.as_deref() else { return Ok(None) };
    let date = day("startDate", text)?;
    let time = old.start.as_ref().and_then(|start| start.time.clone());
    Ok(Some(Stamp { date, time }))
}

fn is_recurring(todo: &IcalCst) -> bool {
    ["RRULE", "RDATE"].iter().any(|name| line(todo, name).is_some())
}

/// The IANA name that times are read back with.
fn iana(name: &str) -> Outcome<String> {
    let unknown = || Failure::invalid("timeZone is not the name of a time zone");
    let zone = recurrence::zone(name).map_err(|_| unknown())?;
    let name = zone.iana_name().ok_or_else(unknown)?;
    Ok(if name == "Etc/UTC" { "UTC".to_owned() } else { name.to_owned() })
}
