//! RRULE, RDATE, EXDATE and EXRULE, of events and of to-dos, as the model has them.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;
use model::Instant;

use crate::ical::lines::{line, lines, param, raw_line, set_param};
use crate::ical::time::{Clock, Moment, is_floating, time_after, utc};

/// The properties that make a component recur.
const NAMES: [&str; 4] = ["RRULE", "RDATE", "EXDATE", "EXRULE"];

/// The lines that make a component recur, as the model has them: unfolded, with IANA zones. All of them, also where RFC 5545 wants one
/// RRULE and no EXRULE (RFC 2445 had them): their meaning, and faults in them, are left to the code that expands the series. The end of
/// the rule of a floating series is in UTC, as that of all timed ones.
pub fn recurrence_lines(component: &IcalCst, clock: &Clock) -> Vec<String> {
    let floats = ends_floating(component);
    let has_days = has_days(component, clock);
    let all = NAMES.iter().flat_map(|name| lines(component, name));
    let all = all.map(|line| recurrence_line(line, clock, has_days));
    all.map(|said| until_in_utc(&said, clock).filter(|_| floats).unwrap_or(said)).collect()
}

/// Whether its rules end at floating times.
pub fn ends_floating(component: &IcalCst) -> bool {
    line(component, "DTSTART").is_some_and(is_floating)
}

/// A rule, as [`recurrence_line`] has it, with its floating UNTIL in UTC; None where it is no rule or has none.
pub fn until_in_utc(said: &str, clock: &Clock) -> Option<String> {
    let (name, rule) = said.split_once(':').filter(|(name, _)| name.ends_with("RULE"))?;
    let is_until =
        |part: &&str| part.split_once('=').is_some_and(|(name, _)| name.trim().eq_ignore_ascii_case("UNTIL"));
    let part = rule.split(';').find(is_until)?;
    let until = raw_line("UNTIL", &[], part.split_once('=')?.1.trim());
    let at = clock.read(&until).filter(|_| is_floating(&until))?.instant(clock)?;
    let told = format!("UNTIL={}", utc(at));
    let parts: Vec<&str> = rule.split(';').map(|one| if one == part { told.as_str() } else { one }).collect();
    Some(format!("{name}:{}", parts.join(";")))
}

/// Whether the component begins on a day, without a time.
pub fn has_days(component: &IcalCst, clock: &Clock) -> bool {
    let start = line(component, "DTSTART").or_else(|| line(component, "DUE"));
    start.and_then(|start| clock.read(start)).is_some_and(|start| start.day().is_some())
}

/// One of them. `has_days`: of a component that begins on a day.
pub fn recurrence_line(line: &IcalLine, clock: &Clock, has_days: bool) -> String {
    let name = line.name.get().to_ascii_uppercase();
    let mut plain = raw_line(&name, &[], line.raw_value_str().trim());
    let mut instants = None;
    if name == "RDATE" || name == "EXDATE" {
        if let Some(kind) = param(line, "VALUE").filter(|kind| !kind.eq_ignore_ascii_case("DATE-TIME")) {
            set_param(&mut plain, "VALUE", Some(&kind.to_ascii_uppercase()));
        }
        if let Some(tzid) = param(line, "TZID") {
            let zone = clock.zone(&tzid, year(line));
            if zone.rules().is_some() && !has_days {
                instants = Some(in_utc(&plain.raw_value_str(), &tzid, clock));
            } else {
                set_param(&mut plain, "TZID", Some(&zone.name));
            }
        }
    }
    let params: String = plain.params.iter().map(|param| format!(";{param}")).collect();
    format!("{name}{params}:{}", instants.unwrap_or_else(|| plain.raw_value_str().into_owned()))
}

/// Dates of a zone that has no IANA name, written in UTC. Those that cannot be read stay as they are.
fn in_utc(dates: &str, tzid: &str, clock: &Clock) -> String {
    let told = |date: &str| instant(date.trim(), tzid, clock).unwrap_or_else(|| date.to_owned());
    dates.split(',').map(told).collect::<Vec<String>>().join(",")
}

/// A date-time, or a period, in UTC; None for a value that is no time.
fn instant(date: &str, tzid: &str, clock: &Clock) -> Option<String> {
    let read = |value: &str| match clock.read(&raw_line("RDATE", &[("TZID", tzid)], value))? {
        Moment::Time { local, zone } => Some((zone.instant(local)?, local, zone)),
        Moment::Day(_) => None,
    };
    let Some((start, end)) = date.split_once('/') else {
        return Some(utc(Instant::from(read(date)?.0)));
    };
    let (at, local, zone) = read(start)?;
    let end = match end.starts_with(['P', 'p', '+']) {
        true => time_after(local, &zone, at, end).ok()?,
        false => read(end)?.0,
    };
    Some(format!("{}/{}", utc(Instant::from(at)), utc(Instant::from(end))))
}

/// Whether a property of this name makes a component recur.
pub fn is_rule(name: &str) -> bool {
    NAMES.iter().any(|rule| rule.eq_ignore_ascii_case(name))
}

fn year(line: &IcalLine) -> i16 {
    line.raw_value_str().trim().get(..4).and_then(|year| year.parse().ok()).unwrap_or(2000)
}
