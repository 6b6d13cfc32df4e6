//! The warnings for events and to-dos whose times are in zones that have no IANA name.

use ical::tree::cst::IcalCst;
use model::wire::Warning;

use crate::ical::lines::{line, param};
use crate::ical::time::{Clock, Moment};

/// Most characters of a TZID that a warning quotes.
const MAX_NAME: usize = 80;

/// Returns the warnings for a component whose times are in zones that have no IANA name.
pub fn warnings(component: &IcalCst, clock: &Clock) -> Vec<Warning> {
    let mut named: Vec<String> = Vec::new();
    let mut warnings = Vec::new();
    for time in ["DTSTART", "DTEND", "DUE"].iter().filter_map(|name| line(component, name)) {
        let Some(Moment::Time { zone, .. }) = clock.read(time) else { continue };
        let Some(tzid) = param(time, "TZID").filter(|tzid| !zone.is_iana() && !named.contains(tzid)) else {
            continue;
        };
        let shown: String = tzid.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
        let (code, message) = match zone.rules() {
            Some(_) => (
                "custom_time_zone",
                format!(
                    "the provider's time zone {shown:?} is not an IANA zone: times are shown in UTC, and repeat by the zone's own rules"
                ),
            ),
            None => (
                "unreadable_time_zone",
                format!(
                    "the definition of the provider's time zone {shown:?} cannot be used: times are shown in UTC, those of other years may be wrong, and single instances of a series in it cannot be changed"
                ),
            ),
        };
        warnings.push(Warning { code: code.into(), message, target: Some("timeZone".into()) });
        named.push(tzid);
    }
    warnings
}
