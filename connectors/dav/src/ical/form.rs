//! How DTSTART says its time, and what has to say its own alike: EXDATE, RDATE and RECURRENCE-ID (RFC 5545 sections 3.8.5.1, 3.8.5.2 and
//! 3.8.4.4), and UNTIL (section 3.3.10: a day beside a day, local beside a floating time, else UTC). The model has one form for all
//! timed series, so values that are written from it get the form of the object.

use std::collections::HashSet;
use std::rc::Rc;

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use jiff::civil::{DateTime, Time};
use model::Instant;

use crate::ical::exception::like;
use crate::ical::lines::{all_lines, line, param, raw_line, set_param};
use crate::ical::resource::{self, EVENT, events_mut};
use crate::ical::rules::is_rule;
use crate::ical::select::belongs;
use crate::ical::series::Editor;
use crate::ical::time::{Clock, Moment, date, is_floating, local, utc};
use crate::ical::write::Writer;
use crate::ical::zones::Zone;

/// The last second of a day: an UNTIL that is a day lets the whole day pass.
const END_OF_DAY: Time = Time::constant(23, 59, 59, 0);

/// The form of a DTSTART.
struct Form {
    kind: StampKind,
    /// The zone of its times; of days and floating times the calendar's.
    zone: Rc<Zone>,
}

#[derive(PartialEq, Eq)]
enum StampKind {
    Day,
    Utc,
    Floating,
    /// With this TZID.
    Zoned(String),
}

impl Writer<'_> {
    /// Puts the rules and dates of a component into the form of its DTSTART: those that are not in `before`, which is the component as
    /// it was, and all where DTSTART had another form there.
    pub fn match_start(&self, component: &mut IcalCst, before: Option<&IcalCst>) {
        match_rules(component, before, &self.clock);
    }
}

impl Editor<'_> {
    /// The same for the series of a resource; where its start has another form than it had, also for the RECURRENCE-IDs of its changed
    /// instances.
    pub fn match_start(&self, calendar: &mut IcalCst, writer: &Writer) {
        let before = self.main(self.original).ok();
        let uid = resource::uid(calendar, EVENT);
        let main = self.select(calendar).main;
        let Some(series) = main.and_then(|at| events_mut(calendar).nth(at)) else { return };
        let Some(form) = match_rules(series, before, &writer.clock) else { return };
        for event in events_mut(calendar).filter(|event| belongs(event, uid.as_deref())) {
            for item in &mut event.items {
                let IcalItem::Prop(line) = item else { continue };
                if line.name.get().eq_ignore_ascii_case("RECURRENCE-ID")
                    && let Some(told) = form.dates(line, &writer.clock)
                {
                    *line = told;
                }
            }
        }
    }
}

/// The form of DTSTART where it is not the one of `before`.
fn match_rules(component: &mut IcalCst, before: Option<&IcalCst>, clock: &Clock) -> Option<Form> {
    // In an unknown zone: the line stays as it is.
    let form = Form::from_component(component, clock).filter(|form| form.zone.is_known())?;
    let stays = before
        .and_then(|before| Form::from_component(before, clock))
        .is_some_and(|old| old.kind == form.kind);
    let kept: HashSet<String> = match before.filter(|_| stays) {
        Some(old) => {
            all_lines(old).filter(|line| is_rule(line.name.get())).map(ToString::to_string).collect()
        }
        None => HashSet::new(),
    };
    for item in &mut component.items {
        let IcalItem::Prop(line) = item else { continue };
        if is_rule(line.name.get())
            && !kept.contains(&line.to_string())
            && let Some(told) = form.rule(line, clock)
        {
            *line = told;
        }
    }
    (!stays).then_some(form)
}

impl Form {
    /// None where DTSTART is missing or cannot be read.
    fn from_component(component: &IcalCst, clock: &Clock) -> Option<Form> {
        let start = line(component, "DTSTART")?;
        let (kind, zone) = match clock.read(start)? {
            Moment::Day(_) => (StampKind::Day, clock.home.clone()),
            Moment::Time { zone, .. } if is_utc(&start.raw_value_str()) => (StampKind::Utc, zone),
            Moment::Time { zone, .. } => {
                (param(start, "TZID").map_or(StampKind::Floating, StampKind::Zoned), zone)
            }
        };
        Some(Form { kind, zone })
    }

    /// A line that makes a component recur, in this form; None where it is so already, or cannot be.
    fn rule(&self, line: &IcalLine, clock: &Clock) -> Option<IcalLine<'static>> {
        let name = line.name.get().to_ascii_uppercase();
        if name == "RDATE" || name == "EXDATE" {
            return self.dates(line, clock);
        }
        let raw = line.raw_value_str();
        let parts = raw.split(';').map(str::trim).filter(|part| !part.is_empty());
        let parts: Vec<String> = parts.map(|part| self.part(part, clock)).collect();
        let value = parts.join(";");
        (value != raw).then(|| raw_line(&name, &[], &value))
    }

    /// One part of a rule.
    fn part(&self, part: &str, clock: &Clock) -> String {
        let until = part.split_once('=').filter(|(name, _)| name.trim().eq_ignore_ascii_case("UNTIL"));
        let told = until.and_then(|(_, value)| self.until(value.trim(), clock));
        told.map_or_else(|| part.to_owned(), |told| format!("UNTIL={told}"))
    }

    fn until(&self, text: &str, clock: &Clock) -> Option<String> {
        let said = raw_line("UNTIL", &[], text);
        let (at, zone) = match clock.read(&said)? {
            Moment::Day(day) if self.kind == StampKind::Day => return Some(date(day)),
            Moment::Day(day) => (day.to_datetime(END_OF_DAY), self.zone.clone()),
            moment => self.time(&said, moment)?,
        };
        let instant = zone.instant(at)?;
        Some(match self.kind {
            StampKind::Day => date(self.zone.local(instant).date()),
            StampKind::Floating => local(self.zone.local(instant)),
            StampKind::Utc | StampKind::Zoned(_) => utc(Instant::from(instant)),
        })
    }

    /// The dates of a line in this form; None where they are so already, or one of them cannot be.
    fn dates(&self, line: &IcalLine, clock: &Clock) -> Option<IcalLine<'static>> {
        let is_period = param(line, "VALUE").is_some_and(|kind| kind.eq_ignore_ascii_case("PERIOD"));
        let raw = line.raw_value_str();
        let texts = raw.split(',').map(str::trim).filter(|text| !text.is_empty());
        let values: Option<Vec<String>> = texts.map(|text| self.value(line, text, clock)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        let mut told = raw_line(&line.name.get().to_ascii_uppercase(), &[], &values.join(","));
        let value = match self.kind {
            StampKind::Day => Some("DATE"),
            _ if is_period => Some("PERIOD"),
            _ => None,
        };
        set_param(&mut told, "VALUE", value);
        if let StampKind::Zoned(tzid) = &self.kind {
            set_param(&mut told, "TZID", Some(tzid));
        }
        set_param(&mut told, "RANGE", param(line, "RANGE").as_deref());
        let is_so = told.raw_value_str() == raw
            && ["VALUE", "TZID"].iter().all(|name| param(&told, name) == param(line, name));
        (!is_so).then_some(told)
    }

    /// One value: a date, or a period as its start and its end or length.
    fn value(&self, line: &IcalLine, text: &str, clock: &Clock) -> Option<String> {
        let Some((start, end)) = text.split_once('/') else { return self.date(line, text, clock) };
        let start = self.date(line, start, clock)?;
        if self.kind == StampKind::Day {
            return Some(start);
        }
        let is_length = end.starts_with(['P', 'p', '+', '-']);
        let end = if is_length { end.to_owned() } else { self.date(line, end, clock)? };
        Some(format!("{start}/{end}"))
    }

    /// One date. None for a day in a timed series, which means each instance of that day, and for the second of a doubled local time,
    /// which can only be written in UTC.
    fn date(&self, line: &IcalLine, text: &str, clock: &Clock) -> Option<String> {
        let said = like(line, "RDATE", text);
        let (at, zone) = match clock.read(&said)? {
            Moment::Day(day) => return (self.kind == StampKind::Day).then(|| date(day)),
            moment => self.time(&said, moment)?,
        };
        let instant = zone.instant(at)?;
        match self.kind {
            StampKind::Day if is_utc(text) => {
                Some(date(recurrence::named_day(instant, self.zone.local(instant))))
            }
            StampKind::Day => Some(date(at.date())),
            StampKind::Utc => Some(utc(Instant::from(instant))),
            // Also in a gap, where the local time is the name of the instance.
            StampKind::Floating | StampKind::Zoned(_) if zone.is_same(&self.zone) => Some(local(at)),
            StampKind::Floating | StampKind::Zoned(_) => {
                let shown = self.zone.local(instant);
                (self.zone.instant(shown) == Some(instant)).then(|| local(shown))
            }
        }
    }

    /// A time and its zone: one that names none is in the series' own.
    fn time(&self, said: &IcalLine, moment: Moment) -> Option<(DateTime, Rc<Zone>)> {
        match moment {
            Moment::Time { local, .. } if is_floating(said) => Some((local, self.zone.clone())),
            Moment::Time { local, zone } => Some((local, zone)),
            Moment::Day(_) => None,
        }
    }
}

fn is_utc(text: &str) -> bool {
    text.trim().ends_with(['Z', 'z'])
}

#[cfg(test)]
mod tests {
    use ical::tree::cst::IcalCst;

    use crate::ical::people::Selves;
    use crate::ical::read::Reader;
    use crate::ical::write::Writer;

    const ZONED: &str = "DTSTART;TZID=W. Europe Standard Time:20260302T090000";
    const FLOATING: &str = "DTSTART:20260302T090000";
    const UTC: &str = "DTSTART:20260302T090000Z";
    const DAY: &str = "DTSTART;VALUE=DATE:20260302";

    /// The line beside this DTSTART, in a calendar of Berlin; `is_new`: it was not there before.
    fn match_form(start: &str, line: &str, is_new: bool) -> String {
        let text = format!("BEGIN:VEVENT\r\n{start}\r\n{line}\r\nEND:VEVENT\r\n");
        let mut event = IcalCst::parse(&text).unwrap();
        let (before, calendar) = (event.clone(), IcalCst::v2());
        let reader = Reader::new(Selves::default(), Some("Europe/Berlin"));
        let writer = Writer::new(&reader, &calendar, "2026-03-01T00:00:00Z".parse().unwrap());
        writer.match_start(&mut event, Some(&before).filter(|_| !is_new));
        String::from_utf8(event.to_bytes()).unwrap().lines().nth(2).unwrap().to_owned()
    }

    #[test]
    fn dates_and_ends_are_said_as_the_start() {
        for (start, line, expected) in [
            (ZONED, "EXDATE:20260303T080000Z", "EXDATE;TZID=W. Europe Standard Time:20260303T090000"),
            (ZONED, "EXDATE:20260303T090000", "EXDATE;TZID=W. Europe Standard Time:20260303T090000"),
            (
                UTC,
                "RDATE;VALUE=PERIOD;TZID=Asia/Tokyo:20260303T180000/PT1H",
                "RDATE;VALUE=PERIOD:20260303T090000Z/PT1H",
            ),
            (ZONED, "RRULE:FREQ=DAILY;UNTIL=20260401", "RRULE:FREQ=DAILY;UNTIL=20260401T215959Z"),
            (FLOATING, "EXDATE;TZID=Europe/Berlin:20260303T090000", "EXDATE:20260303T090000"),
            (FLOATING, "RRULE:UNTIL=20260401T070000Z;FREQ=DAILY", "RRULE:UNTIL=20260401T090000;FREQ=DAILY"),
            (UTC, "EXDATE;TZID=Europe/Berlin:20260303T100000", "EXDATE:20260303T090000Z"),
            (UTC, "rrule:freq=daily; until=20260401T090000z", "RRULE:freq=daily;UNTIL=20260401T090000Z"),
            (DAY, "EXDATE:20260303, 20260304", "EXDATE;VALUE=DATE:20260303,20260304"),
            (DAY, "RDATE;TZID=Asia/Tokyo:20260303T000000", "RDATE;VALUE=DATE:20260303"),
            (DAY, "RRULE:FREQ=DAILY;UNTIL=20260401T215959Z", "RRULE:FREQ=DAILY;UNTIL=20260401"),
        ] {
            assert_eq!(match_form(start, line, true), expected, "{start}");
            assert_eq!(match_form(start, line, false), line, "it was there before");
        }
    }

    #[test]
    fn what_cannot_be_said_so_stays() {
        for (start, line) in [
            // The second 2:30 of that night.
            (ZONED, "EXDATE:20261025T013000Z"),
            // Each instance of that day.
            (ZONED, "EXDATE;VALUE=DATE:20260303"),
            (ZONED, "EXDATE:soon"),
            (UTC, "RRULE:FREQ=DAILY;UNTIL=never"),
            (DAY, "RRULE:FREQ=DAILY;UNTIL=20260401"),
        ] {
            assert_eq!(match_form(start, line, true), line);
        }
    }
}
