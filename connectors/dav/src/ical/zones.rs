//! From TZID to IANA zones: by name, by what the VTIMEZONE says of itself, by its offsets.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use ical::tree::cst::{IcalCst, IcalItem};
use ical::tz::{IcalTz, IcalTzTransition};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::ical::lines::{components, line, line_text, raw_line, set_line, text};

/// Years before and after an event in which a VTIMEZONE has to agree with an IANA zone to be taken for it.
const AGREEING_YEARS: i64 = 1;
/// Years before an event from which on the transitions of its VTIMEZONE are known.
const EARLIER_YEARS: i32 = 10;
/// Longest way from the beginning of an observance's rule to the year that is asked for, years: Outlook's begin in 1601.
const MAX_YEARS: i32 = 600;
/// Most lines of a VTIMEZONE that is read, those of its observances included.
const MAX_DEFINITION_LINES: usize = 2_000;
/// Most VTIMEZONEs, each in each year that is asked for, for which an IANA zone is sought in one call.
const MAX_SOUGHT: usize = 300;
/// Seconds between the instants at which they are compared: weekly, so that changes on other Sundays tell zones apart.
const PROBE_S: i64 = 7 * 86_400;

/// Zones that are tried first: where several fit, the one that people know.
const COMMON: &[&str] = &[
    "Europe/London",
    "Europe/Berlin",
    "Europe/Paris",
    "Europe/Helsinki",
    "Europe/Moscow",
    "Europe/Istanbul",
    "America/New_York",
    "America/Chicago",
    "America/Denver",
    "America/Phoenix",
    "America/Los_Angeles",
    "America/Anchorage",
    "America/Sao_Paulo",
    "Asia/Dubai",
    "Asia/Kolkata",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Australia/Brisbane",
    "Pacific/Auckland",
    "UTC",
];

/// The zones that are tried first, and all others: each read once, because an object may have many definitions, and only when it is
/// needed, because reading hundreds of them takes longer than most calls.
static TRIED_FIRST: LazyLock<Vec<TimeZone>> = LazyLock::new(|| zones(COMMON.iter().copied()));
static TRIED_LAST: LazyLock<Vec<TimeZone>> = LazyLock::new(|| {
    let names: Vec<String> = TimeZoneDatabase::bundled().available().map(|name| name.to_string()).collect();
    zones(names.iter().map(String::as_str).filter(|name| !COMMON.contains(name)))
});

fn zones<'n>(names: impl Iterator<Item = &'n str>) -> Vec<TimeZone> {
    let database = TimeZoneDatabase::bundled();
    names.filter_map(|name| database.get(name).ok()).collect()
}

/// What a TZID stands for.
#[derive(Clone, Debug)]
pub struct Zone {
    /// IANA name; "UTC" where nothing fits, and then only the instants are right.
    pub name: String,
    rules: Rules,
}

#[derive(Clone, Debug)]
enum Rules {
    Iana(TimeZone),
    /// Transitions of a VTIMEZONE that no IANA zone agrees with: instant, offset from then on; and the offset before them all.
    Own {
        transitions: Vec<(i64, i64)>,
        before: i64,
    },
}

impl Zone {
    /// The IANA zone of this name (also Windows names); UTC for an unknown one.
    pub fn named(name: &str) -> Zone {
        match recurrence::zone(name) {
            Ok(zone) => {
                let name = zone.iana_name().unwrap_or("UTC").to_owned();
                Zone { name, rules: Rules::Iana(zone) }
            }
            Err(_) => Zone { name: "UTC".into(), rules: Rules::Iana(TimeZone::UTC) },
        }
    }

    /// The instant of a local time (RFC 5545 section 3.3.5: the first of two; in a gap the offset before it).
    pub fn instant(&self, local: DateTime) -> Option<Timestamp> {
        match &self.rules {
            Rules::Iana(zone) => zone.to_ambiguous_timestamp(local).compatible().ok(),
            Rules::Own { transitions, before } => {
                let wall = TimeZone::UTC.to_timestamp(local).ok()?.as_second();
                let mut offset = *before;
                for (at, next) in transitions {
                    // The old offset still reads this wall time as before the change: it holds, also for a doubled time.
                    if wall - offset < *at {
                        break;
                    }
                    // A time that the change jumps over keeps the old offset, too.
                    if wall - next >= *at {
                        offset = *next;
                    } else {
                        break;
                    }
                }
                Timestamp::from_second(wall - offset).ok()
            }
        }
    }

    /// What this zone's clock shows at an instant.
    pub fn local(&self, at: Timestamp) -> DateTime {
        match &self.rules {
            Rules::Iana(zone) => zone.to_datetime(at),
            Rules::Own { transitions, before } => {
                let second = at.as_second();
                let last = transitions.iter().rev().find(|(from, _)| *from <= second);
                let offset = last.map_or(*before, |(_, offset)| *offset);
                let shifted = Timestamp::from_second(second + offset).unwrap_or(at);
                TimeZone::UTC.to_datetime(shifted)
            }
        }
    }

    /// Whether the name tells the whole truth: an IANA zone stands behind it.
    pub fn is_iana(&self) -> bool {
        matches!(self.rules, Rules::Iana(_))
    }
}

/// Zones found so far in one call: many resources carry the same VTIMEZONE.
#[derive(Default)]
pub struct ZoneCache {
    /// By IANA name, or another name for one.
    named: RefCell<HashMap<String, Rc<Zone>>>,
    /// VTIMEZONEs by TZID and text, with a number for each: the same TZID may mean another zone in another object.
    texts: RefCell<HashMap<String, usize>>,
    /// By the number of a VTIMEZONE and the year.
    defined: RefCell<HashMap<(usize, i16), Rc<Zone>>>,
}

/// The VTIMEZONEs of one object by TZID, with their numbers: looked through once, and each written out once.
#[derive(Default)]
pub struct Definitions<'c>(OnceCell<HashMap<String, (&'c IcalCst<'c>, OnceCell<usize>)>>);

impl<'c> Definitions<'c> {
    /// The first one of this TZID; none of one with more lines than a zone has.
    fn find(&self, calendar: &'c IcalCst<'c>, tzid: &str) -> Option<&(&'c IcalCst<'c>, OnceCell<usize>)> {
        let all = self.0.get_or_init(|| {
            let mut all = HashMap::new();
            for zone in components(calendar, "VTIMEZONE") {
                if let Some(tzid) = line(zone, "TZID").map(line_text) {
                    all.entry(tzid).or_insert((zone, OnceCell::new()));
                }
            }
            all
        });
        all.get(tzid).filter(|(zone, _)| is_small(zone))
    }
}

/// A VTIMEZONE with the history of a zone in it has some hundred lines.
fn is_small(definition: &IcalCst) -> bool {
    let below = components(definition, "STANDARD").chain(components(definition, "DAYLIGHT"));
    let lines = below.map(|observance| observance.items.len()).sum::<usize>();
    definition.items.len() + lines <= MAX_DEFINITION_LINES
}

impl ZoneCache {
    /// The zone of a TZID as this calendar object uses it.
    pub fn zone<'c>(
        &self,
        calendar: &'c IcalCst<'c>,
        definitions: &Definitions<'c>,
        tzid: &str,
        year: i16,
    ) -> Rc<Zone> {
        if let Some(zone) = self.named.borrow().get(tzid) {
            return zone.clone();
        }
        if let Ok(zone) = recurrence::zone(tzid) {
            let name = zone.iana_name().unwrap_or("UTC").to_owned();
            let zone = Rc::new(Zone { name, rules: Rules::Iana(zone) });
            self.named.borrow_mut().insert(tzid.to_owned(), zone.clone());
            return zone;
        }
        let Some((definition, number)) = definitions.find(calendar, tzid) else {
            return Rc::new(Zone::named("UTC"));
        };
        let number = *number.get_or_init(|| {
            let mut texts = self.texts.borrow_mut();
            let next = texts.len();
            *texts.entry(format!("{tzid}\n{definition}")).or_insert(next)
        });
        if let Some(zone) = self.defined.borrow().get(&(number, year)) {
            return zone.clone();
        }
        let mut known = self.defined.borrow_mut();
        // Instants stay right without a name, and a name costs a look at every zone that there is.
        let zone = Rc::new(defined(definition, year, known.len() < MAX_SOUGHT));
        known.insert((number, year), zone.clone());
        zone
    }
}

/// What a VTIMEZONE means around this year.
fn defined(definition: &IcalCst, year: i16, is_sought: bool) -> Zone {
    for name in ["X-LIC-LOCATION", "TZID-ALIAS-OF"] {
        if let Some(zone) = text(definition, name).and_then(|location| recurrence::zone(&location).ok()) {
            return Zone { name: zone.iana_name().unwrap_or("UTC").to_owned(), rules: Rules::Iana(zone) };
        }
    }
    let Some((transitions, before)) = transitions(definition, year) else { return Zone::named("UTC") };
    let agreeing = if is_sought { agreeing(&transitions, before, year) } else { None };
    match agreeing {
        Some(zone) => Zone { name: zone.iana_name().unwrap_or("UTC").to_owned(), rules: Rules::Iana(zone) },
        None => Zone { name: "UTC".into(), rules: Rules::Own { transitions, before } },
    }
}

/// The transitions up to some years after `year` as (instant, offset from then on), and the offset before the first.
fn transitions(definition: &IcalCst, year: i16) -> Option<(Vec<(i64, i64)>, i64)> {
    let observances = || components(definition, "STANDARD").chain(components(definition, "DAYLIGHT"));
    if observances().any(|observance| is_odd(observance, year)) {
        return None;
    }
    let mut recent = definition.clone().into_static();
    begin_lately(&mut recent, year);
    let mut calendar = IcalCst::v2();
    calendar.push_component(recent);
    let decoded = calendar.decode();
    let zone = decoded.components.iter().find_map(IcalTz::of_component)?;
    let all = zone.transitions(i32::from(year) + 3);
    let before = i64::from(all.first()?.from);
    let instant = |t: &IcalTzTransition| (t.local.seconds() - i64::from(t.from), i64::from(t.to));
    Some((all.iter().map(instant).collect(), before))
}

/// A rule that is not yearly, or that has times of day, is no rule of a time zone, and walking it could take for ever; so could a walk
/// through thousands of years.
fn is_odd(observance: &IcalCst, year: i16) -> bool {
    let Some(rule) = line(observance, "RRULE") else { return false };
    let rule = rule.raw_value_str().to_ascii_uppercase();
    let has_times = ["BYHOUR", "BYMINUTE", "BYSECOND"].iter().any(|part| rule.contains(part));
    let begins_early = first_year(observance).is_none_or(|first| first < i32::from(year) - MAX_YEARS);
    !rule.contains("FREQ=YEARLY") || has_times || begins_early && !is_endless(&rule)
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

/// Lets observances that go on for ever begin a few years before `year`: Outlook's begin in 1601, and nobody asks what was
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

/// The IANA zone that has the same offsets around this year.
fn agreeing(transitions: &[(i64, i64)], before: i64, year: i16) -> Option<TimeZone> {
    let middle = DateTime::new(year, 7, 1, 12, 0, 0, 0).ok()?;
    let middle = TimeZone::UTC.to_timestamp(middle).ok()?.as_second();
    let span = (AGREEING_YEARS * 366 + 183) * 86_400;
    let probes: Vec<(Timestamp, i64)> = (0..=2 * span / PROBE_S)
        .filter_map(|step| {
            let at = middle - span + step * PROBE_S;
            let last = transitions.iter().rev().find(|(from, _)| *from <= at);
            Some((Timestamp::from_second(at).ok()?, last.map_or(before, |(_, offset)| *offset)))
        })
        .collect();
    let fits = |zone: &TimeZone| {
        probes.iter().all(|(at, offset)| i64::from(zone.to_offset(*at).seconds()) == *offset)
    };
    let first = TRIED_FIRST.iter().find(|zone| fits(zone));
    first.or_else(|| TRIED_LAST.iter().find(|zone| fits(zone))).cloned()
}

/// The VTIMEZONE that an event in this zone owes (RFC 5545 section 3.2.19), right around `at`.
pub fn definition(name: &str, at: Timestamp) -> Option<IcalCst<'static>> {
    ical::tzdb::vtimezone(name, at.as_second())
}

#[cfg(test)]
mod tests {
    use ical::tree::cst::IcalCst;

    use std::rc::Rc;

    use super::{Definitions, Zone, ZoneCache};

    fn home(calendar: &str) -> Rc<Zone> {
        let calendar = IcalCst::parse(calendar).unwrap();
        ZoneCache::default().zone(&calendar, &Definitions::default(), "Home", 2026)
    }

    fn calendar(vtimezone: &str) -> String {
        format!(
            "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTIMEZONE\r\n{vtimezone}END:VTIMEZONE\r\nEND:VCALENDAR\r\n"
        )
    }

    fn rules(from: &str, to: &str, day: &str, standard: &str) -> String {
        format!(
            "TZID:Home\r\nBEGIN:DAYLIGHT\r\nDTSTART:16010101T020000\r\nRRULE:FREQ=YEARLY;BYDAY={day}\r\nTZOFFSETFROM:{from}\r\n\
             TZOFFSETTO:{to}\r\nEND:DAYLIGHT\r\nBEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nRRULE:FREQ=YEARLY;BYDAY={standard}\r\n\
             TZOFFSETFROM:{to}\r\nTZOFFSETTO:{from}\r\nEND:STANDARD\r\n"
        )
    }

    #[test]
    fn names_locations_and_offsets_lead_to_iana() {
        let berlin = calendar(&rules("+0100", "+0200", "-1SU;BYMONTH=3", "-1SU;BYMONTH=10"));
        let new_york = calendar(&rules("-0500", "-0400", "2SU;BYMONTH=3", "1SU;BYMONTH=11"));
        let located = calendar("TZID:Mine\r\nX-LIC-LOCATION:Asia/Tokyo\r\n");
        let cases = [
            (&berlin, "Home", "Europe/Berlin"),
            (&new_york, "Home", "America/New_York"),
            (&located, "Mine", "Asia/Tokyo"),
            (&located, "W. Europe Standard Time", "Europe/Berlin"),
            (&located, "/freeassociation.sourceforge.net/Europe/Vienna", "Europe/Vienna"),
            (&located, "Europe/Rome", "Europe/Rome"),
            (&located, "No Such Zone", "UTC"),
        ];
        let cache = ZoneCache::default();
        for (text, tzid, expected) in cases {
            let zone = cache.zone(&IcalCst::parse(text).unwrap(), &Definitions::default(), tzid, 2026);
            assert_eq!(zone.name, expected, "{tzid}");
        }
    }

    #[test]
    fn a_zone_of_its_own_still_gives_the_right_instants() {
        let odd = calendar(
            "TZID:Home\r\nBEGIN:STANDARD\r\nDTSTART:20000101T000000\r\nTZOFFSETFROM:+0017\r\nTZOFFSETTO:+0017\r\nEND:STANDARD\r\n",
        );
        let zone = home(&odd);
        assert!(!zone.is_iana());
        let at = zone.instant("2026-03-01T10:17:00".parse().unwrap()).unwrap();
        assert_eq!(at.to_string(), "2026-03-01T10:00:00Z");
        assert_eq!(zone.local(at).to_string(), "2026-03-01T10:17:00");
    }

    #[test]
    fn a_rule_that_never_ends_is_not_walked() {
        let odd = calendar(
            "TZID:Home\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nRRULE:FREQ=SECONDLY\r\nTZOFFSETFROM:+0017\r\nTZOFFSETTO:+0017\r\nEND:STANDARD\r\n",
        );
        assert_eq!(home(&odd).name, "UTC");
        let often = odd.replace("SECONDLY", "YEARLY;BYSECOND=1,2,3");
        assert_eq!(home(&often).name, "UTC");
        let long = odd.replace("SECONDLY", "YEARLY;UNTIL=99991231T000000Z").replace("1601", "0001");
        assert_eq!(home(&long).name, "UTC");
    }
}
