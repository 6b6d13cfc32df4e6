//! RRULE, RDATE, EXDATE and EXRULE, of events and of to-dos, as the model has them.

use ical::tree::cst::IcalCst;
use ical::tree::line::IcalLine;

use crate::ical::lines::{lines, param, raw_line, set_param};
use crate::ical::time::Clock;

/// The properties that make a component recur.
const NAMES: [&str; 4] = ["RRULE", "RDATE", "EXDATE", "EXRULE"];

/// The lines that make a component recur, as the model has them: unfolded, with IANA zones. All of them, also where RFC 5545 wants one
/// RRULE and no EXRULE (RFC 2445 had them): what they mean, and whether they can be read, is for whoever expands the series.
pub fn recurrence_lines(component: &IcalCst, clock: &Clock) -> Vec<String> {
    NAMES.iter().flat_map(|name| lines(component, name)).map(|line| recurrence_line(line, clock)).collect()
}

/// One of them.
pub fn recurrence_line(line: &IcalLine, clock: &Clock) -> String {
    let name = line.name.get().to_ascii_uppercase();
    let mut plain = raw_line(&name, &[], line.raw_value_str().trim());
    if name == "RDATE" || name == "EXDATE" {
        if let Some(kind) = param(line, "VALUE").filter(|kind| !kind.eq_ignore_ascii_case("DATE-TIME")) {
            set_param(&mut plain, "VALUE", Some(&kind.to_ascii_uppercase()));
        }
        if let Some(tzid) = param(line, "TZID") {
            let zone = clock.zone(&tzid, year(line));
            set_param(&mut plain, "TZID", Some(&zone.name));
        }
    }
    let params: String = plain.params.iter().map(|param| format!(";{param}")).collect();
    format!("{name}{params}:{}", plain.raw_value_str())
}

/// Whether a property of this name makes a component recur.
pub fn is_rule(name: &str) -> bool {
    NAMES.iter().any(|rule| rule.eq_ignore_ascii_case(name))
}

fn year(line: &IcalLine) -> i16 {
    line.raw_value_str().trim().get(..4).and_then(|year| year.parse().ok()).unwrap_or(2000)
}
