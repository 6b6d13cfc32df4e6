//! The observances of a VTIMEZONE (RFC 5545 section 3.6.5) as the changes of its clock, in bounded time for any input.

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tree::line::IcalLine;
use ical::tz::IcalTz;

use crate::ical::lines::{components, line, lines, raw_line, set_line};

/// Years before an event from which on the transitions of its VTIMEZONE are known.
const EARLIER_YEARS: i32 = 10;
/// Longest way from the beginning of an observance's rule to the year that is asked for, years: Outlook's begin in 1601.
const MAX_YEARS: i32 = 600;
/// Most lines of a VTIMEZONE that is read, those of its observances included.
const MAX_DEFINITION_LINES: usize = 2_000;
/// Most observances of a VTIMEZONE that is read: the longest histories of zones have some 250.
const MAX_OBSERVANCES: usize = 400;
/// Most onsets that all observances of a VTIMEZONE may have together.
const MAX_ONSETS: usize = 5_000;
/// Longest rule of an observance, bytes: one that lists seven days of a month has some 80.
const MAX_RULE_BYTES: usize = 300;
/// Years that the rules of all observances of a VTIMEZONE may be walked through together.
const MAX_WALKED_YEARS: i32 = 3_000;
/// The last year that a date can have.
const LAST_YEAR: i32 = 9_999;
/// Furthest from UTC, seconds. The zones that there are reach from -15:14 to +15:13.
const MAX_OFFSET_S: i64 = 18 * 3_600;

/// The offsets of a zone over time.
#[derive(Debug)]
pub struct History {
    /// Instants (seconds since the Unix epoch) and the offsets from then on (seconds east of UTC), in order.
    pub transitions: Vec<(i64, i64)>,
    /// The offset before them all.
    pub before: i64,
}

impl History {
    /// The offset at an instant.
    pub fn offset_at(&self, second: i64) -> i64 {
        let after = self.transitions.partition_point(|(from, _)| *from <= second);
        let last = after.checked_sub(1).and_then(|at| self.transitions.get(at));
        last.map_or(self.before, |(_, offset)| *offset)
    }
}

/// A VTIMEZONE with the history of a zone in it has some hundred lines.
pub fn is_small(definition: &IcalCst) -> bool {
    let lines = observances(definition).map(|observance| observance.items.len()).sum::<usize>();
    definition.items.len() + lines <= MAX_DEFINITION_LINES
}

/// The observances, STANDARD before DAYLIGHT.
fn observances<'c, 'a>(definition: &'c IcalCst<'a>) -> impl Iterator<Item = &'c IcalCst<'a>> {
    components(definition, "STANDARD").chain(components(definition, "DAYLIGHT"))
}

/// The changes of a zone's clock from ten years before `year` (where its rules are older than that) to `later` years after it. None
/// where the definition has no observance that can be read, rules that no time zone has, or more than can be looked at.
pub fn history(definition: &IcalCst, year: i16, later: i32) -> Option<History> {
    let is_too_long = observances(definition).nth(MAX_OBSERVANCES).is_some();
    if is_too_long || observances(definition).any(|observance| is_odd(observance, year)) {
        return None;
    }
    let mut recent = definition.clone().into_static();
    begin_lately(&mut recent, year);
    let through = i32::from(year) + later;
    end_soon(&mut recent, (through + 1).min(LAST_YEAR))?;
    let mut calendar = IcalCst::v2();
    calendar.push_component(recent);
    let decoded = calendar.decode();
    let zone = decoded.components.iter().find_map(IcalTz::of_component)?;
    let mut onsets: Vec<(i64, i64, i64)> = Vec::new();
    for observance in &zone.observances {
        let (from, to) = (i64::from(observance.from), i64::from(observance.to));
        if from.abs() > MAX_OFFSET_S || to.abs() > MAX_OFFSET_S {
            return None;
        }
        for onset in observance.onsets.expand() {
            if onsets.len() == MAX_ONSETS {
                return None;
            }
            // Onsets are given in the local time before the change.
            onsets.push((onset.start.seconds() - from, from, to));
            if onset.start.year > through {
                break;
            }
        }
    }
    onsets.sort_unstable();
    let (_, before, _) = *onsets.first()?;
    Some(History { transitions: onsets.into_iter().map(|(at, _, to)| (at, to)).collect(), before })
}

/// A rule that is not yearly, or that has times of day, is no rule of a time zone, and walking it could take for ever; so could a walk
/// through thousands of years.
fn is_odd(observance: &IcalCst, year: i16) -> bool {
    let begins_early = first_year(observance).is_none_or(|first| first < i32::from(year) - MAX_YEARS);
    let is_odd = |rule: &IcalLine| {
        let rule = rule.raw_value_str().to_ascii_uppercase();
        let has_times = ["BYHOUR", "BYMINUTE", "BYSECOND"].iter().any(|part| rule.contains(part));
        // Of a part that comes twice the last one counts.
        let is_yearly = rule.contains("FREQ=YEARLY") && rule.matches("FREQ").count() == 1;
        rule.len() > MAX_RULE_BYTES || !is_yearly || has_times || begins_early && !is_endless(&rule)
    };
    line(observance, "EXRULE").is_some() || lines(observance, "RRULE").any(is_odd)
}

fn first_year(observance: &IcalCst) -> Option<i32> {
    line(observance, "DTSTART")?.raw_value_str().trim().get(..4)?.parse().ok()
}

fn is_endless(rule: &str) -> bool {
    let is_bound = |part: &str| {
        ["UNTIL=", "COUNT=", "INTERVAL="].iter().any(|bound| part.starts_with(bound)) && part != "INTERVAL=1"
    };
    !rule.split(';').any(|part| is_bound(part.trim()))
}

/// Lets observances that go on for ever begin a few years before `year`: Outlook's begin in 1601, and no caller needs what was
/// between. The first transition may then be on another day than the rule says; the years that count come after it.
fn begin_lately(definition: &mut IcalCst<'static>, year: i16) {
    let first = i32::from(year) - EARLIER_YEARS;
    for item in &mut definition.items {
        let IcalItem::Component(observance) = item else { continue };
        let is_endless = line(observance, "RDATE").is_none()
            && line(observance, "RRULE")
                .is_some_and(|rule| is_endless(&rule.raw_value_str().to_ascii_uppercase()));
        let start = line(observance, "DTSTART").map(|start| start.raw_value_str().trim().to_owned());
        if let Some((began, rest)) = start.as_deref().and_then(|start| start.split_at_checked(4))
            && is_endless
            && began.parse().is_ok_and(|began: i32| began < first)
        {
            set_line(observance, raw_line("DTSTART", &[], &format!("{first:04}{rest}")));
        }
    }
}

/// Ends the rules of all observances with the last year that is asked for: one that names a day that never comes would be walked to the
/// year 9999. None where that is too long a walk.
fn end_soon(definition: &mut IcalCst<'static>, through: i32) -> Option<()> {
    let mut years = 0;
    for item in &mut definition.items {
        let IcalItem::Component(observance) = item else { continue };
        let first = first_year(observance).unwrap_or(through);
        for item in &mut observance.items {
            let IcalItem::Prop(line) = item else { continue };
            if !line.name.get().eq_ignore_ascii_case("RRULE") {
                continue;
            }
            let rule = line.raw_value_str().trim().to_owned();
            let last = until_year(&rule).filter(|until| *until <= through);
            if last.is_none() {
                // Of two the last one counts.
                *line = raw_line("RRULE", &[], &format!("{rule};UNTIL={through:04}1231T235959"));
            }
            years += (last.unwrap_or(through) - first).max(0) + 1;
        }
    }
    (years <= MAX_WALKED_YEARS).then_some(())
}

fn until_year(rule: &str) -> Option<i32> {
    let mut parts = rule.split(';').filter_map(|part| part.split_once('='));
    let (_, until) = parts.rfind(|(name, _)| name.trim().eq_ignore_ascii_case("UNTIL"))?;
    until.trim().get(..4)?.parse().ok()
}
