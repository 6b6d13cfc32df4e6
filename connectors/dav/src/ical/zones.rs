//! Resolves TZIDs to time zones: IANA zones by name, by other names in the VTIMEZONE, or by its offsets; else the VTIMEZONE itself.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;

use ical::tree::cst::IcalCst;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use model::calendar::TimeZoneRules;

use crate::ical::lines::{components, line, line_text, text};
use crate::ical::observances::{History, history, is_small};
use crate::ical::own_zone::OwnZone;

/// The years before and after an event in which a VTIMEZONE must agree with an IANA zone to match it.
const AGREEING_YEARS: i64 = 1;
/// The years after an event whose transitions in a VTIMEZONE are used to find its IANA zone.
const LATER_YEARS: i16 = 3;
/// The maximum number of VTIMEZONEs, counted per requested year, for which one call searches an IANA zone and, if there is none, computes
/// rules for all years.
const MAX_SOUGHT: usize = 300;
/// The seconds between the instants at which zones are compared: weekly, to distinguish zones that change on different Sundays.
const PROBE_S: i64 = 7 * 86_400;

/// The zones that are tried first, so that of several matches the best-known one is chosen.
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

/// The zones that are tried first, and all others. Each list is loaded once, because an object may have many definitions, and only when
/// needed, because loading hundreds of zones takes longer than most calls.
static TRIED_FIRST: LazyLock<Vec<TimeZone>> = LazyLock::new(|| zones(COMMON.iter().copied()));
static TRIED_LAST: LazyLock<Vec<TimeZone>> = LazyLock::new(|| {
    let names: Vec<String> = TimeZoneDatabase::bundled().available().map(|name| name.to_string()).collect();
    zones(names.iter().map(String::as_str).filter(|name| !COMMON.contains(name)))
});

fn zones<'n>(names: impl Iterator<Item = &'n str>) -> Vec<TimeZone> {
    let database = TimeZoneDatabase::bundled();
    names.filter_map(|name| database.get(name).ok()).collect()
}

/// The zone that a TZID stands for.
#[derive(Clone, Debug)]
pub struct Zone {
    /// The IANA name; "UTC" if none matches, and instants are then given in UTC.
    pub name: String,
    clock: TimeZone,
    own: Option<Own>,
}

/// The zone of a VTIMEZONE that matches no IANA zone.
#[derive(Clone, Debug)]
struct Own {
    /// The number of the definition; none if it is too long to be read.
    number: Option<usize>,
    /// The rules for all years; none if the zone is at most known around one year.
    rules: Option<Rc<TimeZoneRules>>,
}

impl Zone {
    /// The IANA zone of this name (also Windows names); UTC for an unknown one.
    pub fn from_name(name: &str) -> Zone {
        match recurrence::zone(name) {
            Ok(zone) => Zone::iana(zone),
            Err(_) => Zone { name: "UTC".into(), clock: TimeZone::UTC, own: None },
        }
    }

    fn iana(clock: TimeZone) -> Zone {
        Zone { name: clock.iana_name().unwrap_or("UTC").to_owned(), clock, own: None }
    }

    fn own(number: Option<usize>, OwnZone { clock, rules }: OwnZone) -> Zone {
        Zone { name: "UTC".into(), clock, own: Some(Own { number, rules: rules.map(Rc::new) }) }
    }

    /// The instant of a local time (RFC 5545 section 3.3.5: the first of two instants; in a gap, by the offset before it).
    pub fn instant(&self, local: DateTime) -> Option<Timestamp> {
        self.clock.to_ambiguous_timestamp(local).compatible().ok()
    }

    /// Returns the local time in this zone at an instant.
    pub fn local(&self, at: Timestamp) -> DateTime {
        self.clock.to_datetime(at)
    }

    /// The local time of an instant, if it resolves to the same instant; none for the second occurrence of a repeated local time.
    pub fn exact_local(&self, at: Timestamp) -> Option<DateTime> {
        Some(self.local(at)).filter(|local| self.instant(*local) == Some(at))
    }

    /// Whether the name stands for an IANA zone.
    pub fn is_iana(&self) -> bool {
        self.own.is_none()
    }

    /// Whether the zone is known in all years, so that a series in it can be expanded and changed.
    pub fn is_known(&self) -> bool {
        self.own.as_ref().is_none_or(|own| own.rules.is_some())
    }

    /// The rules of a zone without an IANA name, as the model has them.
    pub fn rules(&self) -> Option<&Rc<TimeZoneRules>> {
        self.own.as_ref()?.rules.as_ref()
    }

    /// Whether two zones are the same. Their names are not enough, because zones without an IANA name are all called "UTC".
    pub fn is_same(&self, other: &Zone) -> bool {
        match (&self.own, &other.own) {
            (None, None) => self.name == other.name,
            (Some(one), Some(other)) => one.number.is_some() && one.number == other.number,
            _ => false,
        }
    }
}

/// The zones found so far in one call, because many resources contain the same VTIMEZONE.
#[derive(Default)]
pub struct ZoneCache {
    /// The zones by IANA name or alias.
    named: RefCell<HashMap<String, Rc<Zone>>>,
    /// The numbers of VTIMEZONEs by TZID and text, because a TZID may mean different zones in different objects.
    texts: RefCell<HashMap<String, usize>>,
    /// The zones by number of the VTIMEZONE and year.
    defined: RefCell<HashMap<(usize, i16), Rc<Zone>>>,
}

/// The VTIMEZONEs of one object by TZID, with their numbers. The object is searched once, and each definition rendered once.
#[derive(Default)]
pub struct Definitions<'c>(OnceCell<HashMap<String, NumberedZone<'c>>>);

/// A VTIMEZONE and its number; none if it has too many lines.
type NumberedZone<'c> = (&'c IcalCst<'c>, OnceCell<Option<usize>>);

impl<'c> Definitions<'c> {
    /// The first VTIMEZONE with this TZID.
    fn find(&self, calendar: &'c IcalCst<'c>, tzid: &str) -> Option<&NumberedZone<'c>> {
        let all = self.0.get_or_init(|| {
            let mut all = HashMap::new();
            for zone in components(calendar, "VTIMEZONE") {
                if let Some(tzid) = line(zone, "TZID").map(line_text) {
                    all.entry(tzid).or_insert((zone, OnceCell::new()));
                }
            }
            all
        });
        all.get(tzid)
    }
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
            let zone = Rc::new(Zone::iana(zone));
            self.named.borrow_mut().insert(tzid.to_owned(), zone.clone());
            return zone;
        }
        let Some((definition, number)) = definitions.find(calendar, tzid) else {
            return Rc::new(Zone::from_name("UTC"));
        };
        let number = *number.get_or_init(|| {
            let mut texts = self.texts.borrow_mut();
            let next = texts.len();
            is_small(definition).then(|| *texts.entry(format!("{tzid}\n{definition}")).or_insert(next))
        });
        let Some(number) = number else { return Rc::new(Zone::own(None, OwnZone::unreadable())) };
        if let Some(zone) = self.defined.borrow().get(&(number, year)) {
            return zone.clone();
        }
        let mut known = self.defined.borrow_mut();
        // Instants are correct without an IANA name, and searching one means checking every zone.
        let zone = Rc::new(define_zone((definition, number), year, known.len() < MAX_SOUGHT));
        known.insert((number, year), zone.clone());
        zone
    }
}

/// Returns the zone that a VTIMEZONE, with its number, defines around this year.
fn define_zone((definition, number): (&IcalCst, usize), year: i16, is_sought: bool) -> Zone {
    for name in ["X-LIC-LOCATION", "TZID-ALIAS-OF"] {
        if let Some(zone) = text(definition, name).and_then(|location| recurrence::zone(&location).ok()) {
            return Zone::iana(zone);
        }
    }
    let nearby = history(definition, year, i32::from(LATER_YEARS));
    if let Some(zone) = nearby.as_ref().filter(|_| is_sought).and_then(|nearby| agreeing(nearby, year)) {
        return Zone::iana(zone);
    }
    let own = match &nearby {
        Some(nearby) => OwnZone::from_history(definition, nearby, (year, LATER_YEARS), is_sought),
        None => OwnZone::unreadable(),
    };
    Zone::own(Some(number), own)
}

/// The IANA zone that has the same offsets around this year.
fn agreeing(nearby: &History, year: i16) -> Option<TimeZone> {
    let middle = DateTime::new(year, 7, 1, 12, 0, 0, 0).ok()?;
    let middle = TimeZone::UTC.to_timestamp(middle).ok()?.as_second();
    let span = (AGREEING_YEARS * 366 + 183) * 86_400;
    let probes: Vec<(Timestamp, i64)> = (0..=2 * span / PROBE_S)
        .filter_map(|step| {
            let at = middle - span + step * PROBE_S;
            Some((Timestamp::from_second(at).ok()?, nearby.offset_at(at)))
        })
        .collect();
    let fits = |zone: &TimeZone| {
        probes.iter().all(|(at, offset)| i64::from(zone.to_offset(*at).seconds()) == *offset)
    };
    let first = TRIED_FIRST.iter().find(|zone| fits(zone));
    first.or_else(|| TRIED_LAST.iter().find(|zone| fits(zone))).cloned()
}

/// The VTIMEZONE that an event in this zone requires (RFC 5545 section 3.2.19), correct around `at`.
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
        assert!(!zone.is_iana() && zone.is_known());
        let at = zone.instant("2026-03-01T10:17:00".parse().unwrap()).unwrap();
        assert_eq!(at.to_string(), "2026-03-01T10:00:00Z");
        assert_eq!(zone.local(at).to_string(), "2026-03-01T10:17:00");
    }

    #[test]
    fn a_rule_that_never_ends_is_not_walked() {
        let odd = calendar(
            "TZID:Home\r\nBEGIN:STANDARD\r\nDTSTART:16010101T000000\r\nRRULE:FREQ=SECONDLY\r\nTZOFFSETFROM:+0017\r\nTZOFFSETTO:+0017\r\nEND:STANDARD\r\n",
        );
        assert!(home(&odd).name == "UTC" && !home(&odd).is_known());
        let often = odd.replace("SECONDLY", "YEARLY;BYSECOND=1,2,3");
        assert!(home(&often).name == "UTC" && !home(&often).is_known());
        let long = odd.replace("SECONDLY", "YEARLY;UNTIL=99991231T000000Z").replace("1601", "0001");
        assert!(home(&long).name == "UTC" && !home(&long).is_known());
    }
}
